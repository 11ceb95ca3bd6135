"""Experiments of lesson 04: what a recurrent model remembers if its state is carried,
or reset, in training and in reading.

Each experiment is repeated, once for each of its `seeds`, which fixes all that is drawn
at random. So run i with one training and run i with another read the same text, and may
be compared in pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

import numpy as np
import torch

from course_lib.experiments.runs import Seeds, character_ids, each_run, parts_of_run
from course_lib.foundation import Finite, GRUModel, Length, Text, checked
from course_lib.sequential_partitioning import (
    RecallStream,
    Scheme,
    make_recall_stream,
    token_logits,
    token_losses,
    train_on_epochs,
)

BATCH_SIZE, HIDDEN_SIZE = 64, 32
FAR_APART = (32, 63)  # tokens of filler in the records that are longer than any before
NUM_HELD_OUT = 3_201

Rate = Annotated[float, Finite(above=0)]
Training = tuple[Scheme, bool]
"""A scheme of batches, and whether the state is carried from batch to batch."""


class Recall(NamedTuple):
    """Shares of right answers, 0 to 1, one number for each run."""

    read_reset: np.ndarray  #: new records, read with the state reset at every window
    read_carried: np.ndarray  #: the same records, with the state carried
    far_apart: np.ndarray  #: records of 32 to 63 tokens of filler, with it carried


class Bits(NamedTuple):
    """Bits per character of unseen text, one number for each run."""

    read_reset: np.ndarray  #: read with the state reset at every window
    read_carried: np.ndarray  #: read with the state carried


@checked
def compare_recall(
    trainings: Mapping[str, Training],
    num_steps: Length,
    *,
    num_updates: Length,
    learning_rate: Rate,
    seeds: Seeds,
) -> dict[str, Recall]:
    """Train a small GRU on records in each way, once for each seed, and question it.

    It trains on 3,000 records with up to 2 * num_steps tokens of filler, in batches of
    64 rows. Then it reads 300 new ones in two ways, and 300 longer ones.

    Args:
        trainings: name to a scheme of batches, and whether the state is carried.
        num_steps: T, in training and in reading.
        num_updates, learning_rate: as in `train_on_epochs`.
        seeds: a seed for each run.
    """
    shares = {}
    for name in trainings:
        scheme, carry_state = trainings[name]
        found = []
        for _, seed in each_run(seeds, name):
            generator = torch.Generator().manual_seed(seed)
            fillers = (2 * num_steps, 2 * num_steps, FAR_APART[1])
            training, new, longer = (
                make_recall_stream(records, filler, generator=generator)
                for records, filler in zip((3_000, 300, 300), fillers, strict=True)
            )
            torch.manual_seed(seed)
            model = GRUModel(training.vocab_size, hidden_size=HIDDEN_SIZE)
            train_on_epochs(
                model,
                training.ids,
                scheme,
                BATCH_SIZE,
                num_steps,
                num_updates=num_updates,
                learning_rate=learning_rate,
                carry_state=carry_state,
                generator=torch.Generator().manual_seed(seed),
                progress=False,
            )
            found.append(
                [
                    share_right(model, new, num_steps, carry_state=False),
                    share_right(model, new, num_steps, carry_state=True),
                    share_right(
                        model, longer, num_steps, carry_state=True, filler=FAR_APART[0]
                    ),
                ]
            )
        shares[name] = Recall(*np.array(found).T)
    return shares


def share_right(
    model: GRUModel,
    records: RecallStream,
    num_steps: int,
    *,
    carry_state: bool,
    filler: int = 1,
) -> float:
    """Return the share of right answers among keys that stand in an earlier window.

    Only records with at least `filler` tokens of filler count.
    """
    queries = records.answer_positions - 1
    logits = token_logits(model, records.ids, num_steps, carry_state=carry_state)
    guesses = logits[queries, :4].argmax(dim=1).numpy()
    right = guesses == records.ids[records.answer_positions]
    earlier = records.key_positions < queries // num_steps * num_steps
    counted = earlier & (queries - records.key_positions > filler)
    return float(right[counted].mean())


@checked
def compare_on_text(
    text: Text,
    trainings: Mapping[str, Training],
    num_steps: Length,
    *,
    num_updates: Length,
    learning_rate: Rate,
    seeds: Seeds,
) -> dict[str, Bits]:
    """Train a small GRU on a text in each way, and let it read unseen text in two ways.

    Each run holds out another 3,201 characters, and trains on all others, in batches of
    64 rows. The arguments are those of `compare_recall`.
    """
    ids, vocab_size = character_ids(text)
    bits = {}
    for name in trainings:
        scheme, carry_state = trainings[name]
        found = []
        for run, seed in each_run(seeds, name):
            training_ids, new_ids = parts_of_run(ids, run, len(seeds), NUM_HELD_OUT)
            torch.manual_seed(seed)
            model = GRUModel(vocab_size, hidden_size=HIDDEN_SIZE)
            train_on_epochs(
                model,
                training_ids,
                scheme,
                BATCH_SIZE,
                num_steps,
                num_updates=num_updates,
                learning_rate=learning_rate,
                carry_state=carry_state,
                generator=torch.Generator().manual_seed(seed),
                progress=False,
            )
            ways = [
                token_losses(model, new_ids, num_steps, carry_state=carry)
                for carry in (False, True)
            ]
            found.append([losses.mean().item() / np.log(2) for losses in ways])
        bits[name] = Bits(*np.array(found).T)
    return bits
