"""Loaders in loops that are not ours: accelerate's, `Trainer`'s, and that of a run that is killed."""

import re
import sys
from collections.abc import Callable
from functools import partial

import datasets
import numpy as np
import psutil
import pytest
import torch
import transformers  # what it holds is imported when it is used
from accelerate import Accelerator, DataLoaderConfiguration, skip_first_batches
from accelerate.data_loader import prepare_data_loader
from torch.utils.data import DataLoader, IterableDataset

from course_lib.document_boundaries import PackingCollator
from course_lib.document_packing import pack_documents
from course_lib.foundation import CharTokenizer, run_ranks
from course_lib.foundation.processes import process_context
from course_lib.long_documents import PaddingCollator, StreamingTextDataset
from course_lib.next_token_shifting import next_token_loss
from course_lib.sliding_windows import SlidingWindowDataset, WindowLoader, make_dataloader
from course_lib.token_shards import ShardedStream, write_shards
from loops_in_processes import (
    MAKERS,
    chunks_of_this_rank,
    numbers,
    of_this_rank,
    places,
    read_for_ever,
    starts_in,
)

V, T = 16, 8


# A run that is killed.


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_run_that_is_killed_leaves_nobody_behind():
    context, runs, others = process_context(), {}, {}
    for method in ("fork", "spawn"):  # side by side, because they mostly wait
        mine, theirs = context.Pipe()
        runs[method] = context.Process(target=read_for_ever, args=(theirs, method)), mine
        runs[method][0].start()
    for method, (run, mine) in runs.items():
        num_loaders = mine.recv()
        others[method] = psutil.Process(run.pid).children(recursive=True)
        assert len(others[method]) >= 2 * num_loaders
    for run, _ in runs.values():
        run.kill()
        run.join()
    _, alive = psutil.wait_procs([process for some in others.values() for process in some], timeout=60)
    for process in alive:
        process.kill()
    assert [method for method, some in others.items() if set(some) & set(alive)] == []


# Options of a DataLoader.


def note_its_number(path, worker: int) -> None:
    (path / str(worker)).touch()


@pytest.mark.parametrize("make", MAKERS)
def test_options_of_a_dataloader_are_passed_on(make, tmp_path):
    options = {"persistent_workers": True, "prefetch_factor": 3, "timeout": 60, "multiprocessing_context": "fork"}
    begin = partial(note_its_number, tmp_path)
    loader = make(numbers(54), 5, base_seed=7, num_workers=2, worker_init_fn=begin, **options)
    assert (loader.prefetch_factor, loader.persistent_workers, loader.timeout) == (3, True, 60)
    plain = make(numbers(54), 5, base_seed=7)
    assert [starts_in(loader) for _ in range(3)] == [starts_in(plain) for _ in range(3)]
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1"}
    workers = psutil.Process().children()
    starts_in(loader)
    assert psutil.Process().children() == workers != []  # they have lived on


@pytest.mark.filterwarnings("ignore:.*pin_memory.*")  # nothing to pin it for
@pytest.mark.parametrize("num_workers", [0, 2])
def test_batches_that_are_to_be_pinned_are_the_same(num_workers):
    loader = make_dataloader(numbers(54), 5, base_seed=7, num_workers=num_workers, pin_memory=True)
    assert starts_in(loader) == starts_in(make_dataloader(numbers(54), 5, base_seed=7))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", ["sampler", "batch_sampler", "collate_fn", "generator", "in_order", "anything"])
def test_options_that_would_change_the_batches_are_refused(make, name):
    # Those that people bring from PyTorch are answered by what to write.
    words = f"loader_options must be of multiprocessing_context, .* got {name}: |has no argument '{name}'"
    with pytest.raises(TypeError, match=words):
        make(numbers(54), 5, base_seed=7, **{name: None})


# accelerate.


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("options", [{}, {"dispatch_batches": True}], ids=["shard", "dispatch"])
def test_accelerate_yields_the_same_batches(make, num_workers, options):
    loader = make(numbers(54, 3), 5, base_seed=7, num_workers=num_workers)
    prepared = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(**options)).prepare(loader)
    plain = make(numbers(54, 3), 5, base_seed=7)
    assert len(prepared) == len(plain) == 11
    for _ in range(2):  # epoch follows epoch there, too
        for got, wanted in zip(prepared, plain, strict=True):
            assert all(map(torch.equal, got, wanted))


def test_accelerate_deals_the_batches_out_to_ranks():
    cases = [(MAKERS[0], False, 2), (MAKERS[1], True, 0)]
    for (make, drop_last, _), *of_ranks in zip(cases, *run_ranks(of_this_rank, 2, cases), strict=True):
        plain = make(numbers(49), 5, base_seed=7, drop_last=drop_last)
        for first, second in zip(*of_ranks, strict=True):
            whole = starts_in(plain)
            assert len(first) == len(second) == (4 if drop_last else 5)
            dealt = [batch for both in zip(first, second, strict=True) for batch in both]
            if not drop_last:  # accelerate fills the last batch up, with the first windows
                assert dealt[-1][3:] == whole[0][:2]
                dealt[-1] = dealt[-1][:3]
            assert dealt == whole[: len(dealt)]


@pytest.mark.parametrize("make", MAKERS)
def test_a_share_is_not_dealt_out_again(make):
    with pytest.raises(ValueError, match=r"world_size must be .*1"):
        Accelerator(cpu=True).prepare(make(numbers(54), 5, base_seed=7, rank=1, world_size=2))


SHARE_OF_A_STREAM = r"^world_size must be 1 where .*accelerate.*got 2: leave rank and world_size out"


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_stream_is_dealt_out_by_accelerate_and_a_share_of_it_is_refused_on_all_ranks(num_workers):
    (first, told), (second, told_too) = run_ranks(chunks_of_this_rank, 2, num_workers)
    whole = [[document, number] for document in range(11) for number in range(document + 2)]  # with its end
    delivered = first + second
    assert len(delivered) == 78 > len(whole) == 77  # an odd number, so one comes twice
    assert sorted(map(list, {*map(tuple, delivered)})) == whole
    for words in (told, told_too):
        assert re.match(SHARE_OF_A_STREAM, words)


class Wrapped(IterableDataset):
    """What somebody puts around a stream, and passes no epoch on."""

    def __init__(self, stream: StreamingTextDataset):
        self.stream = stream

    def __iter__(self):
        yield from self.stream


@pytest.mark.parametrize("wrap", [None, Wrapped])
@pytest.mark.parametrize("put_on_device", [True, False], ids=["dispatch", "shard"])
def test_a_share_of_a_stream_is_refused_however_accelerate_reads_it(put_on_device, wrap):
    Accelerator(cpu=True)
    share = StreamingTextDataset(SMALL, CharTokenizer("abcdefgh"), max_length=T, rank=1, world_size=2)
    loader = DataLoader(wrap(share) if wrap else share, 4, collate_fn=places)
    settings = {"device": torch.device("cpu"), "num_processes": 2, "process_index": 1}
    prepared = prepare_data_loader(loader, put_on_device=put_on_device, **settings)
    with pytest.raises(ValueError, match=SHARE_OF_A_STREAM):
        next(iter(prepared))
    assert len([*DataLoader(share, 4, collate_fn=places)]) > 0  # in a loop of one's own, although accelerate is there


def test_a_trainer_refuses_a_share_of_a_stream(tmp_path):
    trainer = trainer_for(tmp_path, "chunks")
    trainer.train_dataset = StreamingTextDataset(
        SMALL, CharTokenizer("abcdefgh"), max_length=T, base_seed=7, rank=0, world_size=2
    )
    with pytest.raises(ValueError, match=SHARE_OF_A_STREAM):
        trainer.train()


@pytest.mark.parametrize("make", MAKERS)
def test_a_loader_that_was_resumed_goes_on_where_accelerate_reads_it(make):
    saved, again = make(numbers(54), 5, base_seed=7), make(numbers(54), 5, base_seed=7)
    saved.set_epoch(3)
    whole = starts_in(saved)
    saved.set_epoch(3)
    for _ in zip(range(4), saved, strict=False):
        pass
    again.load_state_dict(saved.state_dict())
    prepared = Accelerator(cpu=True).prepare(again)
    with pytest.raises(ValueError, match=r"epoch must be .*3"):
        next(iter(prepared))  # it counts from 0
    prepared.set_epoch(3)
    assert starts_in(prepared) == whole[4:]
    saved.set_epoch(4)
    assert starts_in(prepared) == starts_in(saved)
    with pytest.raises(ValueError, match="state_dict must be"):
        again.state_dict()
    skipping = skip_first_batches(prepared, 4)
    skipping.set_epoch(3)
    assert starts_in(skipping) == whole[4:]
    again.set_epoch(3)
    next(iter(again))  # read itself, it knows
    assert again.state_dict()["epoch"] == 3


@pytest.mark.parametrize("make", MAKERS)
def test_accelerate_skips_batches_of_one_rank_in_the_epoch_that_is_set(make):
    Accelerator(cpu=True)
    settings = {"num_processes": 2, "process_index": 1, "put_on_device": False}
    prepared = prepare_data_loader(make(numbers(61), 5, base_seed=7), **settings)
    resumed = prepare_data_loader(make(numbers(61), 5, base_seed=7, num_workers=2), **settings)
    epochs = [starts_in(prepared) for _ in range(2)]
    skipping = skip_first_batches(resumed, 4)
    skipping.set_epoch(1)  # as Trainer does when it goes on in its second epoch
    assert starts_in(skipping) == epochs[1][4:]


# transformers' Trainer.


def llama() -> transformers.LlamaForCausalLM:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=V, initializer_range=0.1, **sizes))


class Ends:
    """All that the collators ask of a tokenizer."""

    pad_token_id, eos_token_id, vocab_size = 0, 1, V
    padding_side = "right"

    def get_vocab(self) -> dict[str, int]:
        return {str(number): number for number in range(V)}


class WithLoader(transformers.Trainer):
    """A trainer that reads a loader of the course."""

    make_loader: Callable[[], WindowLoader]

    def get_train_dataloader(self) -> DataLoader:
        loader = self.make_loader()
        return self.accelerator.prepare(loader) if self.prepares else loader


STREAM = np.random.default_rng(0).integers(2, V, 12 * T + 1)
WINDOWS = SlidingWindowDataset(STREAM, T, T)  # 12 of them: with batches of 4, an epoch is three steps


def losses_of(trainer: transformers.Trainer, **how) -> list[float]:
    trainer.train(**how)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def trainer_for(folder, source: str, *, saves: bool = False) -> transformers.Trainer:
    settings = transformers.TrainingArguments(
        str(folder), max_steps=8, save_strategy="steps" if saves else "no", save_steps=1, save_total_limit=None,
        logging_steps=1, logging_first_step=True, learning_rate=1e-2, per_device_train_batch_size=4, use_cpu=True,
        report_to=[], disable_tqdm=True, lr_scheduler_type="constant",
    )  # fmt: skip
    if not source.startswith("loader"):
        dataset, collator = SOURCES[source](folder)
        return transformers.Trainer(llama(), settings, data_collator=collator, train_dataset=dataset)
    trainer = WithLoader(llama(), settings)
    make = MAKERS[1] if "shards" in source else MAKERS[0]
    workers = 2 if "workers" in source else 0
    trainer.make_loader = lambda: make(WINDOWS.as_rows(), 4, base_seed=7, num_workers=workers)
    if "PyTorch" in source:
        how = {"shuffle": True, "collate_fn": transformers.default_data_collator}
        trainer.make_loader = lambda: DataLoader(WINDOWS.as_rows(), 4, **how)
    trainer.prepares = "prepared" in source
    return trainer


def shards(folder) -> ShardedStream:
    tokenizer = CharTokenizer("abcdefgh")
    documents = ["abcdefgh" * k for k in range(1, 9)]
    write_shards(documents, tokenizer, folder / "shards", shard_size=50, progress=False)
    return ShardedStream(folder / "shards", "train")


DOCUMENTS = [STREAM[: 3 + 2 * k] for k in range(12)]
PADDING, PACKING = PaddingCollator(Ends()), PackingCollator(Ends())
SMALL = datasets.Dataset.from_dict({"text": ["abcdefgh" * k for k in range(1, 13)]})
SOURCES = {
    "shards": lambda folder: (SlidingWindowDataset(shards(folder), T, T).as_rows(), None),
    "chunks": lambda _: (StreamingTextDataset(SMALL, CharTokenizer("abcdefgh"), max_length=T, base_seed=7), PADDING),
    "packs": lambda _: (pack_documents(DOCUMENTS, 24), PACKING),
}


@pytest.mark.parametrize(
    "source", [*SOURCES, "loader shards workers", "loader prepared", "loader of PyTorch, prepared"]
)
def test_a_trainer_that_is_resumed_has_the_losses_of_one_that_was_not(tmp_path, source):
    whole = losses_of(trainer_for(tmp_path / "whole", source, saves=True))
    assert len(set(whole)) == 8
    for saved in (2, 3, 5):  # within the first epoch, at its end, within the second
        checkpoint = tmp_path / "whole" / f"checkpoint-{saved}"
        again = losses_of(trainer_for(tmp_path / "again", source), resume_from_checkpoint=str(checkpoint))
        assert again[saved:] == whole[saved:]


class ComparesTheLoss(transformers.Trainer):
    """A trainer that compares each step's loss with the mean that the model itself gives."""

    def training_step(self, model, inputs, num_items_in_batch=None):
        loss = super().training_step(model, inputs, num_items_in_batch)
        with torch.no_grad():
            assert torch.allclose(loss, model(**inputs).loss)
        return loss


@pytest.mark.parametrize("source", SOURCES)
def test_a_trainer_divides_the_loss_of_a_gpt2_by_the_predictions_alone(tmp_path, source):
    # Of models whose `loss_type` it doesn't know, `Trainer` (5.24) counts the label at place 0, too.
    sizes = {"vocab_size": V, "n_positions": 32, "n_layer": 1, "n_head": 2, "n_embd": 16}
    without_dropout = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **without_dropout))
    settings = trainer_for(tmp_path, source).args
    dataset, collator = SOURCES[source](tmp_path)
    ComparesTheLoss(model, settings, data_collator=collator, train_dataset=dataset).train()


def test_rows_make_the_predictions_of_the_pairs():
    model = llama()
    for row, (inputs, targets) in zip(WINDOWS.as_rows(), WINDOWS, strict=True):
        assert torch.equal(row["input_ids"][:-1], inputs)
        assert torch.equal(row["labels"][1:], targets)
        with torch.no_grad():
            theirs = model(**{name: ids[None] for name, ids in row.items()}).loss
            ours = next_token_loss(model(inputs[None]).logits, targets[None])
        assert torch.allclose(theirs, ours)
        row["labels"][:] = -100
        assert torch.equal(row["input_ids"][:-1], inputs)
    assert [batch["labels"].shape for batch in make_dataloader(WINDOWS.as_rows(), 5, base_seed=0)] == [
        (5, T + 1), (5, T + 1), (2, T + 1)
    ]  # fmt: skip
