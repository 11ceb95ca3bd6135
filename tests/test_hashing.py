"""A tokenizer has a name, which is that of what it knows."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from any_tokenizer import TEXTS, each_kind, library, refuses
from course_lib.foundation import (
    CharTokenizer,
    encode_each,
)
from course_lib.token_shards.hashing import tokenizer_hash

ROOT = Path(__file__).parent.parent


# tokenizer_hash


class Tokens:
    def __init__(self, **state):
        vars(self).update(state)

    def encode(self, text):
        return []


MIDDLE = np.arange(2_000) == 1_000
STATES = [
    {},
    {"table": np.arange(2_000)},
    {"table": np.arange(2_000) + MIDDLE},
    {"table": np.arange(2_000, dtype=np.int32)},
    {"table": np.arange(2_000).reshape(2, 1_000)},
    {"table": torch.arange(2_000) + torch.from_numpy(MIDDLE), "kind": "torch"},
    {"_shift": 1},
    {"_shift": True},
    {"_shift": 1.0},
    {"names": {"a", "b", "c", "d"}},
    {"names": ["a", "b", "c", "d"]},
    {"names": {"a": 1, "b": Path("c")}},
    {"names": Tokens(more=Tokens())},
    {"names": len},
    {"names": np.float32(0.1)},
    {"names": np.array(["a", None], dtype=object)},
]


@each_kind
def test_a_tokenizer_has_one_hash_before_and_after_use_and_as_a_copy(kind):
    tokenizer = kind.make()
    name = tokenizer_hash(tokenizer)
    list(encode_each(TEXTS, tokenizer, end_of_text_id=kind.end_of_text_id))
    assert tokenizer_hash(tokenizer) == tokenizer_hash(kind.make()) == name
    assert tokenizer_hash(pickle.loads(pickle.dumps(tokenizer))) == name


def test_a_tokenizer_is_named_by_all_that_it_knows_in_any_process():
    names = [tokenizer_hash(Tokens(**state)) for state in STATES]
    assert len(set(names)) == len(names)
    assert [tokenizer_hash(pickle.loads(pickle.dumps(Tokens(**state)))) for state in STATES] == names
    assert tokenizer_hash(Tokens(names={"b": 1, "a": 2})) == tokenizer_hash(Tokens(names={"a": 2, "b": 1}))
    assert tokenizer_hash(Tokens(t=np.arange(3, dtype=">i4"))) == tokenizer_hash(Tokens(t=np.arange(3, dtype="<i4")))
    assert tokenizer_hash(CharTokenizer("abc")) != tokenizer_hash(CharTokenizer("abd"))
    program = "import test_hashing as t; print([t.tokenizer_hash(t.Tokens(**state)) for state in t.STATES])"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'tests')]}; {program}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{names}\n"


def test_what_no_file_can_hold_has_no_name():
    around = Tokens()
    around.me = around
    for tokenizer in (Tokens(f=lambda text: text), Tokens(file=sys.__stdout__), around):
        with pytest.raises(TypeError, match=r"tokenizer must hold what a file can hold, but .* a method __getstate__"):
            tokenizer_hash(tokenizer)
    for other in (5, CharTokenizer):
        refuses(TypeError, "tokenizer must be a tokenizer, got", tokenizer_hash, other)


def test_what_is_switched_off_is_no_part_of_the_name():
    tokenizer = library()
    name = tokenizer_hash(tokenizer)
    tokenizer.model.dropout = 0.1
    assert tokenizer_hash(tokenizer) == name
