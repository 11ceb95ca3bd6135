"""Small tokenizers of every common kind, each with what it puts around a text: for all that encodes."""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest
from tokenizers import Tokenizer, processors
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from course_lib.bpe import BPETokenizer, train_byte_level_bpe
from course_lib.foundation import END_OF_TEXT, CharTokenizer
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

END, BOS, CLS, SEP = range(4)
NAMES = (END_OF_TEXT, "<s>", "[CLS]", "[SEP]", "<pad>")
TEXTS = ["low lower lowest", "", f"new {END_OF_TEXT}<s>[SEP] newest", "low"]


class Kind(NamedTuple):
    make: Callable[[], object]
    begin: list[int]
    end: list[int]
    end_of_text_id: int | None = None  # what has to be said


@cache
def trained() -> str:
    tokenizer = train_byte_level_bpe(["low lower lowest newest"], vocab_size=275, special_tokens=NAMES, progress=False)
    return tokenizer.to_str()


def library(template: str | None = None) -> Tokenizer:
    """One of `tokenizers`, that of GPT-2 and Qwen, of Llama, or of BERT; it cuts and pads, which must not matter."""
    tokenizer = Tokenizer.from_str(trained())
    byte_level = processors.ByteLevel()
    if template is None:
        tokenizer.post_processor = byte_level
    else:
        special = [(name, number) for number, name in enumerate(NAMES)]
        tokenizer.post_processor = processors.Sequence(
            [byte_level, processors.TemplateProcessing(single=template, special_tokens=special)]
        )
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(pad_id=4, length=5)
    return tokenizer


def wrapped(template: str | None = None, **names: str) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=library(template), pad_token="<pad>", **names)


def tiktoken(**special: int) -> object:
    made = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    return made.Encoding("small", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=special)


KINDS = {
    "lesson 6": Kind(lambda: BPETokenizer(special_tokens=[END_OF_TEXT]), [], [END]),
    "lesson 6, by the library": Kind(lambda: Tokenizer.from_str(trained()), [], [END], END),
    "lesson 7": Kind(lambda: build_tokenizer(TEXTS, vocab_size=270, progress=False), [], [END]),
    "lesson 7, wrapped": Kind(
        lambda: wrap_tokenizer(build_tokenizer(TEXTS, vocab_size=270, progress=False), model_max_length=3), [], [END]
    ),
    "characters": Kind(lambda: CharTokenizer("".join(TEXTS)), [], [CharTokenizer("".join(TEXTS)).end_of_text_id]),
    "GPT-2": Kind(library, [], [END], END),
    "GPT-2, wrapped": Kind(lambda: wrapped(eos_token=END_OF_TEXT, bos_token=END_OF_TEXT), [], [END]),
    "Llama": Kind(lambda: library("<s> $A"), [BOS], []),
    "Llama, ended": Kind(lambda: library("<s> $A"), [BOS], [END], END),
    "Llama, wrapped": Kind(lambda: wrapped("<s> $A", bos_token="<s>", eos_token=END_OF_TEXT), [BOS], [END]),
    "BERT": Kind(lambda: library("[CLS] $A [SEP]"), [CLS], [SEP]),
    "BERT, wrapped": Kind(lambda: wrapped("[CLS] $A [SEP]", cls_token="[CLS]", sep_token="[SEP]"), [CLS], [SEP]),
    "T5, without Rust": Kind(ByT5Tokenizer, [], [1]),
    "tiktoken": Kind(lambda: tiktoken(**{END_OF_TEXT: 256}), [], [256]),
    "tiktoken, no end": Kind(tiktoken, [], [70_000], 70_000),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def body(tokenizer: object, text: str) -> list[int]:
    """The ids of a text as it is: nothing put around it, and no name in it taken for a special token."""
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(tokenizer, "encode_batch_fast"):
        tokenizer = Tokenizer.from_str(tokenizer.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        return tokenizer.encode(text, add_special_tokens=False).ids
    if isinstance(tokenizer, ByT5Tokenizer):
        return [byte + 3 for byte in text.encode()]
    return list(getattr(tokenizer, "encode_ordinary", tokenizer.encode)(text))


def framed(kind: Kind, tokenizer: object, text: str) -> list[int]:
    """What every encoder of the course is to make of a text."""
    return [*kind.begin, *body(tokenizer, text), *kind.end]


def refuses(error: type[Exception], message: str, call, *arguments, **options) -> None:
    """A call, or reading what it returns to its end, is refused in these words."""

    def to_its_end() -> None:
        result = call(*arguments, **options)
        if hasattr(result, "__next__"):
            list(result)

    with pytest.raises(error, match=re.escape(message)):
        to_its_end()
