"""Arguments of other programs are answered by what to write here."""

import importlib
import inspect
import re

import pytest

from course_lib.foundation.arguments import named_elsewhere
from course_lib.foundation.known_names import ELSEWHERE
from course_lib.token_shards import ShardedStream, load_shard

MODULES = ("foundation", "sliding_windows", "random_sampling", "sequential_partitioning", "bpe", "tokenizer_pipeline")
MODULES += (
    "long_documents",
    "document_packing",
    "document_boundaries",
    "token_shards",
    "mixing_sources",
    "auditing_loaders",
)
PLACES = [importlib.import_module(f"course_lib.{module}") for module in MODULES]
KNOWN = [(name, argument) for name, elsewhere in ELSEWHERE.items() for argument in elsewhere]


def here(name: str) -> object:
    """What a lesson, or the foundation, calls by this name."""
    return next(getattr(place, name) for place in PLACES if hasattr(place, name))


def arguments_of(name: str) -> set[str]:
    return set(inspect.signature(here(name)).parameters)


@pytest.mark.parametrize(("name", "argument"), KNOWN)
def test_an_argument_that_is_known_from_elsewhere_is_answered_by_what_to_write(name, argument):
    assert argument not in arguments_of(name)
    with pytest.raises(TypeError, match=rf"^{name} has no argument '{argument}': ") as answer:
        here(name)(**{argument: 3})
    words = str(answer.value).split(": ", 1)[1]
    known = arguments_of(name) | arguments_of("SlidingWindowDataset") | set(dir(here(name)))
    known |= {"len", "transformers"} | {there for place in PLACES for there in dir(place)}
    for wanted in re.findall(r"`(\w+)`", words):
        # `write_shards` documents its **settings
        assert wanted in known or f"`{wanted}`" in here(name).__doc__, words
    if asked := re.match(r"use `(\w+)`(?! of)", words):
        assert asked[1] in arguments_of(name) or f"`{asked[1]}`" in here(name).__doc__, words


def test_each_known_name_of_the_sources_is_among_them():
    asked = {
        "StreamingTextDataset": {"overlap_size", "precompute_total_samples", "total_sample", "hf_dataset"},
        "make_dataloader": {"generator", "epoch"},
        "load_shard": {"shard_idx"},
        "train_byte_level_bpe": {"trim_offsets", "continuing_subword_prefix"},
        "pack_examples": {"feature", "packed", "packing_strategy", "overflow", "add_eos"},
        "PackingCollator": {"padding", "return_tensors"},
    }
    assert all(names <= ELSEWHERE[function].keys() for function, names in asked.items())


def test_a_name_that_nobody_knows_is_pythons_own_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'contxt'"):
        here("count_windows")(10, contxt=3)


def test_a_function_without_checks_is_answered_too_and_else_called_as_it_is():
    def load_shard(where: str, *, fast: bool = False) -> tuple[str, bool]:
        """Some words."""
        return where, fast

    load_shard.__qualname__ = "load_shard"
    answering = named_elsewhere(load_shard)
    assert answering("here", fast=True) == ("here", True)
    assert answering.__doc__ == "Some words."
    with pytest.raises(TypeError, match="load_shard has no argument 'shard_idx': use `shard_index`"):
        answering("here", shard_idx=1)


@pytest.mark.parametrize("call", [load_shard, ShardedStream])
def test_whoever_leaves_out_the_folder_is_told_that_it_comes_first(call, tmp_path):
    with pytest.raises(TypeError, match=r"^split must be one of 'train', 'val', got 0: the folder of the shards comes"):
        call("train", 0)
    with pytest.raises(ValueError, match=r"^split must be one of 'train', 'val', got 'test'"):
        call(tmp_path, "test", **({"shard_index": 0} if call is load_shard else {}))
