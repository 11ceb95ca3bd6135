"""Experiments of lesson 13: what it costs to read a source again, and how many near
copies a signature finds.

A training is repeated, once for each of its `seeds` (see `runs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

import numpy as np
import torch

from course_lib.experiments.runs import Seeds, each_run
from course_lib.foundation import (
    AttentionModel,
    Ids,
    Interval,
    Length,
    Several,
    candidate_pairs,
    checked,
    confidence_interval,
    minhash,
)
from course_lib.mixing_sources import (
    MixedWindows,
    MixtureOrder,
    make_mixture_loader,
)
from course_lib.sliding_windows import SlidingWindowDataset, count_windows
from course_lib.stride_tradeoffs import prediction_losses
from course_lib.teaching import evaluate, train

MOST_READINGS = 1000  # of any source, as many as an experiment may want
VERDICTS = ("falls", "not clear", "rises")


class Reading(NamedTuple):
    """How much of a source is read: so many of its windows, so often."""

    windows: int
    times: int
    share: float  #: of all draws that go to this source; the others have the rest


class Losses(NamedTuple):
    """Bits per token of trained models, one number for each run."""

    new_text: np.ndarray  #: on new text of the kind of the source that is repeated
    seen: np.ndarray  #: on the windows of this source that the model has read


class Comparison(NamedTuple):
    """How the loss on new text changes from one reading to another."""

    change: Interval  #: bits per token, of the differences between runs with one seed
    verdict: str  #: one of `VERDICTS`
    rows: list[list[str]]  #: reading, new text, seen, change: of each of the two


@checked
def train_with_repeats(
    others: Mapping[str, Ids],
    source: Ids,
    new_text: Ids,
    readings: Mapping[str, tuple[int, int, float]],
    context_length: Length,
    batch_size: Length,
    *,
    vocab_size: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, Losses]:
    """Train models on a mixture in which one source is read so often.

    Args:
        others: name to the ids of each other source; they share the rest of the draws
            equally.
        source: ids of the source to repeat. To read an eighth of its windows, a run
            takes every eighth, and the next run begins one window later.
        new_text: ids of the same kind that nothing trains on.
        readings: name to a `Reading`. A run has as many draws as it takes to read the
            windows so often with this share.
        context_length, batch_size: T and B. A last batch that isn't full is dropped.
        vocab_size: V, of the tokenizer that all ids come from.
        learning_rate: of the first step.
        seeds: a seed for each run.

    Returns the losses for each reading.
    """
    T, datasets = context_length, {}
    for name, ids in others.items():
        datasets[name] = SlidingWindowDataset(ids, T, T)
    found = {}
    for name, reading in readings.items():
        windows, times, share = Reading(*reading)
        losses = []
        for run, seed in each_run(seeds, name):
            step = count_windows(len(source), T, T) // windows  # 8: every eighth window
            few = source[run % step * T :][: ((windows - 1) * step + 1) * T + 1]
            repeated = SlidingWindowDataset(few, T, step * T)
            mixed = MixedWindows({**datasets, "repeated": repeated})
            weights = dict.fromkeys(others, (1 - share) / len(others))
            weights["repeated"] = share
            draws = round(windows * times / share)
            how = {"base_seed": seed, "max_epochs": MOST_READINGS}
            mixture = MixtureOrder(mixed.num_windows, weights, draws, **how)
            loader = make_mixture_loader(mixed, mixture, batch_size, drop_last=True)
            torch.manual_seed(seed)
            model = AttentionModel(vocab_size, positions="rotary")
            updates = {"num_updates": len(loader), "learning_rate": learning_rate}
            train(model, loader, **updates, progress=False)
            seen = prediction_losses(model, *repeated[:]).mean() / np.log(2)
            losses.append([evaluate(model, new_text, T).bits_per_token, seen])
        found[name] = Losses(*np.array(losses).T)
    return found


def compare_readings(runs: Mapping[str, Losses], before: str, after: str) -> Comparison:
    """Compare two readings run by run, and write the rows of a table that shows them.

    The verdict is *not clear* if the interval of the change contains 0.

    Args:
        runs: what `train_with_repeats` returns.
        before, after: names of two of its readings.
    """
    change = confidence_interval(runs[after].new_text - runs[before].new_text)
    verdict = VERDICTS[1 + int(np.sign(change.mean)) * change.excludes_zero]
    rows = [
        [reading, *(f"{losses.mean():.2f}" for losses in runs[reading]), ""]
        for reading in (before, after)
    ]
    rows[1][-1] = f"{change:+.2f}"
    return Comparison(change, verdict, rows)


@checked
def share_of_pairs_found(
    common: Annotated[Iterable[int], Several("integers from 0 to 60")],
    num_bands: Length,
    *,
    num_pairs: Length = 400,
) -> np.ndarray:
    """Return the share of pairs that agree in a band of their MinHash signatures.

    A pair has two sets of 60 items each, of which `common` are in both: so similarity
    is `common / (120 - common)`. Each signature has 128 numbers.
    """
    shares = []
    for number in common:
        found = 0
        for pair in range(num_pairs):
            ours = {f"{pair} {item}" for item in range(60)}
            theirs = {f"{pair} {item}" for item in range(60 - number, 120 - number)}
            signatures = np.stack([minhash(ours), minhash(theirs)])
            found += bool(candidate_pairs(signatures, num_bands))
        shares.append(found / num_pairs)
    return np.array(shares)
