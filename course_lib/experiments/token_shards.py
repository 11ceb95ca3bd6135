"""Experiments of lesson 11: a run that is cut off, what copies on both sides of the
split do to a loss, what a disk delivers, and a run of `Trainer` that is resumed."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from course_lib.experiments.runs import (
    Seeds,
    each_run,
    shuffled_windows,
    train_convolution,
)
from course_lib.foundation import (
    CharTokenizer,
    Count,
    FilePath,
    Ids,
    Length,
    Several,
    checked,
    encode_corpus,
)
from course_lib.teaching import evaluate

# A run that is cut off


class CountingTokenizer(CharTokenizer):
    """A tokenizer of characters that counts the texts which it encodes.

    The class counts, because what a tokenizer holds itself belongs to its settings, and
    a run may only be continued with the same ones.
    """

    encoded = 0

    def encode(self, text: str) -> np.ndarray:
        CountingTokenizer.encoded += 1
        return super().encode(text)


def cut_off(texts: Iterable[str], after: int) -> Iterator[str]:
    """Yield the first `after` texts, and then interrupt the program, as Ctrl+C does."""
    for number, text in enumerate(texts):
        if number == after:
            raise KeyboardInterrupt
        yield text


# Copies on both sides of the split

Texts = Annotated[Iterable[str], Several("texts")]
Split = Callable[[int], tuple[list[str], list[str], list[str]]]
"""Takes the seed of a run. Returns texts for `val`, fresh ones, and all the others."""


class CopyLosses(NamedTuple):
    """Bits per character of trained models, one number for each run."""

    val: np.ndarray  #: on the texts whose copies are in the training text
    fresh: np.ndarray  #: on texts that the model hasn't seen


def character_ids_of(texts: Iterable[str], alphabet: CharTokenizer) -> np.ndarray:
    """Return the characters of texts as one stream, with an end of text after each."""
    end = alphabet.end_of_text_id
    return encode_corpus(texts, alphabet, end_of_text_id=end, progress=False)


@checked
def train_with_copies(
    texts: Texts,
    split_of: Split,
    copies: Annotated[Iterable[int], Several("numbers of copies")],
    *,
    context_length: Length,
    stride: Length,
    batch_size: Length,
    num_updates: Length,
    learning_rate: float,
    seeds: Seeds,
) -> dict[int, CopyLosses]:
    """Train small models on texts that hold each text of `val` so many times.

    Args:
        texts: all of them; their characters are the tokens.
        split_of: takes a seed, and returns the texts of `val`, fresh ones, and others.
        copies: how often the training text repeats `val`: 0 for not at all.
        context_length, stride, batch_size: T, S and B in training. T also in the
            evaluation, whose windows lie end to end.
        num_updates, learning_rate: optimizer steps, and the rate of the first one.
        seeds: a seed for each run.

    Returns the losses for each number of copies.
    """
    alphabet, losses = CharTokenizer("".join(texts)), {}
    shape = (context_length, stride, batch_size)
    how = {"num_updates": num_updates, "learning_rate": learning_rate}
    for repeats in copies:
        both = []
        for _, seed in each_run(seeds, f"{repeats} copies"):
            val, fresh, others = split_of(seed)
            training_ids = character_ids_of(others + val * repeats, alphabet)
            batches = shuffled_windows(training_ids, *shape, seed)
            model = train_convolution(batches, alphabet.vocab_size, seed, **how)
            for exam in (val, fresh):
                ids = character_ids_of(exam, alphabet)
                both.append(evaluate(model, ids, context_length).bits_per_token)
        losses[repeats] = CopyLosses(*np.reshape(both, (len(seeds), 2)).T)
    return losses


# Orders, by what they put into a batch


@checked
def mix_deviation(order: Ids, num_sources: Length, batch_size: Length) -> float:
    """Say how far batches are from the mix of a file of sources that lie end to end.

    The sources are of one size. For each batch, and for each source, this is the
    absolute difference between the source's share in the batch and in the file. The
    mean is returned, in percentage points.
    """
    batches = order[: len(order) // batch_size * batch_size].reshape(-1, batch_size)
    sources = batches.astype(np.int64) * num_sources // len(order)
    shares = [(sources == source).mean(axis=1) for source in range(num_sources)]
    return float(100 * np.abs(np.array(shares) - 1 / num_sources).mean())


# Memory and disk


def resident_megabytes() -> np.ndarray:
    """Return the memory of this process that is in use, in MB: its own, and of files.

    Linux tells; elsewhere both are 0.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = dict(line.split(":", 1) for line in lines)
    kinds = ("RssAnon", "RssFile")
    return np.array([int(found.get(k, "0").split()[0]) * 1024 / 1e6 for k in kinds])


@checked
def bytes_delivered(
    path: FilePath,
    way: Literal["memory map", "memory map, MADV_RANDOM", "pread"],
    window_bytes: Length,
    *,
    num_windows: Length = 500,
    seed: Count = 0,
) -> float:
    """Return how many bytes a cold disk delivers for each byte of random windows.

    No window comes twice, because it would be in memory the second time. First, the
    system is asked to drop the file from memory. Linux alone counts what a process has
    read (in /proc/self/io); elsewhere this is nan.
    """
    if not Path("/proc/self/io").is_file():
        return float("nan")
    with open(path, "rb") as file:
        os.fsync(file.fileno())  # only what is on the disk can be dropped from memory
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        if way == "memory map, MADV_RANDOM":
            mapped.madvise(mmap.MADV_RANDOM)
        places = np.random.default_rng(seed).choice(
            len(mapped) // window_bytes, size=num_windows, replace=False
        )
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = _bytes_read()
        for start in (places * window_bytes).tolist():
            if way == "pread":
                os.pread(file.fileno(), window_bytes, start)
            else:
                mapped[start : start + window_bytes]
        return (_bytes_read() - before) / (num_windows * window_bytes)


def _bytes_read() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


# `Trainer`


@checked
def losses_of_trainer(
    make_trainer: Callable,
    vocab_size: Length,
    folder: FilePath,
    *,
    num_steps: Length,
    save_steps: Length,
    resume_from: str | None = None,
) -> list[float]:
    """Train a tiny GPT-2 with a `Trainer`, and return the loss of each of its steps.

    Args:
        make_trainer: a subclass of `transformers.Trainer`, or a function that makes one
            of a model and of `TrainingArguments`.
        vocab_size: of the model's ids.
        folder: for the checkpoints, one after every `save_steps` steps.
        num_steps: at which step the run ends.
        resume_from: the folder of a checkpoint to carry on from.
    """
    import transformers

    transformers.set_seed(0)
    sizes = {"n_embd": 24, "n_layer": 1, "vocab_size": vocab_size}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes))
    quiet = {"use_cpu": True, "report_to": [], "disable_tqdm": True}
    steps = {"max_steps": num_steps, "save_steps": save_steps, "logging_steps": 1}
    settings = transformers.TrainingArguments(str(folder), **steps, **quiet)
    trainer = make_trainer(model, settings)
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=resume_from)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
