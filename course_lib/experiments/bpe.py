"""Experiments of lesson 06: how well a small model predicts new text, if only its
tokenizer differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch

from course_lib.experiments.runs import Seeds, each_run, shuffled_windows
from course_lib.foundation import (
    Count,
    GRUModel,
    Ids,
    Length,
    Text,
    check_integer,
    checked,
)
from course_lib.teaching import evaluate, train


class AnyTokenizer(Protocol):
    """What turns texts into ids from 0 to vocab_size - 1, and back."""

    vocab_size: int

    def encode(self, text: str) -> Ids: ...
    def decode(self, ids: Ids) -> str: ...


class Scores(NamedTuple):
    """The loss on new text in two units, one number for each run."""

    nats_per_token: np.ndarray
    bits_per_byte: np.ndarray


@checked
def text_of_run(text: Text, run: Count, num_runs: Length) -> tuple[str, str]:
    """Give each run another tenth of one text to score, and the rest to train on.

    The text turns like a wheel, by run / num_runs of its length. Then its last tenth is
    the new text. (`parts_of_run` does the same to ids, but here each tokenizer makes
    its own.)
    """
    check_integer("run", run, minimum=0, maximum=num_runs - 1)
    first, cut = run * len(text) // num_runs, int(0.9 * len(text))
    turned = text[first:] + text[:first]
    return turned[:cut], turned[cut:]


def count_scored_bytes(tokenizer: AnyTokenizer, text: str, ids: Ids) -> int:
    """Count the UTF-8 bytes of all tokens of a text but the first, which nothing
    predicts. If that one ends in the middle of a character, only a tokenizer with
    `decode_bytes` can tell how many bytes it has; from others, that's a ValueError."""
    if hasattr(tokenizer, "decode_bytes"):
        return len(text.encode()) - len(tokenizer.decode_bytes(ids[:1]))
    first = tokenizer.decode(ids[:1])
    if not text.startswith(first):
        raise ValueError(f"text must begin with a whole character, got {first!r}")
    return len(text.encode()) - len(first.encode())


@checked
def score_tokenizers(
    text: Text,
    tokenizers_for: Callable[[str], Mapping[str, AnyTokenizer]],
    context_length: Length,
    batch_size: Length,
    *,
    hidden_size: Length,
    learning_rate: float,
    num_scored: Length,
    seeds: Seeds,
) -> dict[str, Scores]:
    """Train a GRU once through nine tenths of a text with each tokenizer, and measure
    its loss on the beginning of the last tenth.

    Args:
        text: what is divided, in another way for each run.
        tokenizers_for: takes the text that a run trains on, and returns tokenizers by
            name, which can also encode the rest.
        context_length, batch_size: T and B. The stride is T.
        hidden_size: H, the width of the embedding and of the model's state.
        learning_rate: of the first step. It falls to zero.
        num_scored: how many characters of the last tenth are scored.
        seeds: a seed for each run.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for run, seed in each_run(seeds):
        to_read, new_text = text_of_run(text, run, len(seeds))
        to_score = new_text[:num_scored]
        for name, tokenizer in tokenizers_for(to_read).items():
            torch.manual_seed(seed)
            windows = (context_length, context_length)  # T, and the stride
            ids = tokenizer.encode(to_read)
            batches = shuffled_windows(ids, *windows, batch_size, seed)
            model = GRUModel(tokenizer.vocab_size, hidden_size)
            how = {"num_updates": len(batches), "learning_rate": learning_rate}
            train(model, batches, **how, progress=False)
            ids = tokenizer.encode(to_score)
            num_bytes = count_scored_bytes(tokenizer, to_score, ids)
            scored = evaluate(model, ids, context_length, num_bytes=num_bytes)
            loss = scored.nats_per_token, scored.bits_per_byte
            found.setdefault(name, []).append(loss)
    return {name: Scores(*np.array(losses).T) for name, losses in found.items()}
