"""Experiments of lesson 14: what a mistake in a loader costs, and whether the training
loss tells of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import torch

from course_lib.experiments.runs import Batch, Losses, Seeds, each_run, parts_of_run
from course_lib.foundation import AttentionModel, Ids, Length, Text, checked
from course_lib.sliding_windows import gather_windows, window_starts
from course_lib.teaching import evaluate, train

# Takes the ids, and the number of an epoch. Returns the batches of that epoch.
MakeLoader = Callable[[np.ndarray, int], Iterable[Batch]]
# Takes the files, as arrays of starts, a rank and a seed. Returns the files it reads.
Share = Callable[[Sequence[np.ndarray], int, int], Sequence[np.ndarray]]
Way = tuple[MakeLoader, object]  # with the tokenizer that makes its ids


class Costs(NamedTuple):
    """Losses of trained models, one number for each run."""

    training: np.ndarray  #: nats per token, in the last ten batches
    new_text: np.ndarray  #: bits per byte


@checked
def train_each_way(
    text: Text,
    ways: Mapping[str, Way],
    context_length: Length,
    *,
    vocab_size: Length,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, Costs]:
    """Train a model in each way, on nine tenths of a text, and test it on the rest.

    Args:
        text: it turns like a wheel, so that each run holds out another tenth of it.
        ways: name to a loader, and the tokenizer that makes its ids. It's called with
            the ids and the number of an epoch, and may have mistakes in it.
        context_length, vocab_size: T of the test, and V of all tokenizers.
        num_updates, learning_rate: optimizer steps, and the rate of the first one.
        seeds: a seed for each run.
    """
    measured = {}
    for name, (make_loader, tokenizer) in ways.items():
        costs = []
        for run, seed in each_run(seeds, name):
            turn, cut = run * len(text) // len(seeds), len(text) * 9 // 10
            turned = text[turn:] + text[:turn]
            training_text, new_text = turned[:cut], turned[cut:]
            training_ids = np.array(tokenizer.encode(training_text).ids)
            new_ids = np.array(tokenizer.encode(new_text).ids)

            torch.manual_seed(seed)
            model = AttentionModel(vocab_size, positions="rotary")
            epochs = (make_loader(training_ids, n) for n in count(1_000 * seed))
            batches = chain.from_iterable(epochs)
            how = {"num_updates": num_updates, "learning_rate": learning_rate}
            losses = train(model, batches, **how, progress=False)

            num_bytes = len(new_text.encode())
            test = evaluate(model, new_ids, context_length, num_bytes=num_bytes)
            costs.append((np.mean(losses[-10:]), test.bits_per_byte))
        measured[name] = Costs(*np.transpose(costs))
    return measured


@checked
def train_on_ranks(
    ids: Ids,
    vocab_size: Length,
    shares: Mapping[str, Share],
    num_ranks: Length,
    context_length: Length,
    batch_size: Length,
    *,
    num_files: Length,
    num_epochs: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[str, Losses]:
    """Train a model as ranks do that share the files of a stream, and add up gradients.

    A step is a batch of each rank, in one batch: that gives the same gradient. Nine
    tenths of the stream are cut into files, and the rest is for validation.

    Args:
        ids, vocab_size: the stream, and V.
        shares: name to a function from all files (arrays of starts), a rank and a seed
            to the files that this rank reads, in its order.
        num_ranks, context_length, batch_size: R, T, and B of each rank.
        num_files, num_epochs: files of a run, and how often their ranks read them.
        learning_rate: of the first step.
        seeds: a seed for each run. Its ranks may add up to 99 to a hundred times that.
    """
    measured, num_held_out = {}, len(ids) - len(ids) * 9 // 10
    for name, share_of in shares.items():
        losses = []
        for run, seed in each_run(seeds, name):
            training_ids, new_ids = parts_of_run(ids, run, len(seeds), num_held_out)
            starts = window_starts(len(training_ids), context_length, context_length)
            files = np.array_split(starts, num_files)
            read = [
                np.concatenate(share_of(files, rank, 100 * seed))
                for rank in range(num_ranks)
            ]
            num_steps = min(map(len, read)) // batch_size  # all ranks make as many
            in_step = [starts[: num_steps * batch_size] for starts in read]
            in_step = np.reshape(in_step, (num_ranks, num_steps, batch_size))
            batches = [
                gather_windows(training_ids, in_step[:, step].ravel(), context_length)
                for step in range(num_steps)
            ]
            torch.manual_seed(seed)
            model = AttentionModel(vocab_size, positions="rotary")
            updates = {"num_updates": num_epochs * num_steps}
            how = updates | {"learning_rate": learning_rate, "progress": False}
            curve = train(model, num_epochs * batches, **how)
            new_loss = evaluate(model, new_ids, context_length).bits_per_token
            losses.append((np.mean(curve[-10:]) / np.log(2), new_loss))
        measured[name] = Losses(*np.transpose(losses))
    return measured
