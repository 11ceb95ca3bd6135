"""Experiments of lesson 15: what a model learns from the targets that it is given.

All conversations are made up. A prompt is `USER`, letters, `END`, `ASSISTANT`, and an
answer is letters and `END`. The answers are drawn at random, so a model can only know
them by heart. Rows are pairs of ids and labels, aligned. Each experiment is repeated,
once for each of its `seeds`, which fixes the letters, the model's first weights, and
the order of the rows. Losses are in nats.
"""

from __future__ import annotations

import copy
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.foundation import (
    IGNORED,
    AttentionModel,
    Interval,
    Length,
    Seed,
    Several,
    adam_with_linear_decay,
    checked,
    confidence_interval,
    learn,
    one_thread,
    progress_bar,
)
from course_lib.scored_tokens import (
    Per,
    evaluation_loss,
    mean_loss,
    stop_rate,
    target_weights,
)

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import SFTTrainer

END, PAD, USER, ASSISTANT, FIRST_LETTER = range(5)
NUM_LETTERS = 32
VOCAB_SIZE = FIRST_LETTER + NUM_LETTERS

Seeds = Annotated[Sequence[int], Several("integers, one for each run")]
Example = tuple[list[int], list[int]]
"""The ids of a prompt, and those of its answer."""
Row = tuple[list[int], list[int]]
"""The ids of a conversation, and its labels."""
LabelWay = Callable[[list[int], list[int]], list[int]]
"""Takes a prompt and its answer. Returns the labels of both."""


class Answers(NamedTuple):
    """What trained models write, one number for each run."""

    reported: np.ndarray  #: the training loss, over the last ten steps
    answers: np.ndarray  #: the loss of the whole answers, with their ends
    words: np.ndarray  #: the share of answers with the right letters, ended or not
    stops: np.ndarray  #: the share of answers that end
    right: np.ndarray  #: the share of answers that end after the right letters


class Lengths(NamedTuple):
    """What models make of prompts that have a short and a long answer, for each run."""

    short: np.ndarray  #: the probability of the short answer, shape (runs,)
    letters: np.ndarray  #: letters in a sampled answer, the mean, shape (runs,)
    losses: np.ndarray  #: of each row, summed over its targets, shape (runs, rows)
    counts: np.ndarray  #: targets of each row, shape (rows,)


# Does it stop?


@checked
def train_to_answer(
    ways: Mapping[str, LabelWay],
    seeds: Seeds,
    *,
    num_updates: Length = 120,
    constant: int = 0,
) -> dict[str, Answers]:
    """Teach models 32 answers by heart, with labels made in several ways.

    Args:
        ways: name to a function that makes the labels of a prompt and its answer.
        seeds: a seed for each run.
        num_updates: optimizer steps; each reads all 32 rows.
        constant: letters that all prompts begin with.
    """
    found = {name: [] for name in ways}
    for seed in progress_bar(seeds, "runs", unit="run"):
        examples = make_examples(seed, constant=constant)
        for name, labels_of in ways.items():
            rows = [(p + a, labels_of(p, a)) for p, a in examples]
            model, losses = train_on_rows(rows, seed, num_updates)
            found[name].append([np.mean(losses[-10:]), *judged(model, examples)])
    return {name: Answers(*np.array(runs).T) for name, runs in found.items()}


@checked
def train_from_a_base(
    ways: Mapping[str, LabelWay], seeds: Seeds, *, num_updates: Length = 60
) -> dict[str, Answers]:
    """Do the same with models that already know 16 answers, with their ends.

    The base is trained on everything in 16 rows, and then fine-tuned on 16 others with
    the labels of each way, at a third of the learning rate.
    """
    found = {name: [] for name in ways}
    for seed in progress_bar(seeds, "runs", unit="run"):
        examples = make_examples(seed)
        order = np.random.default_rng(seed).permutation(len(examples))
        known, new = ([examples[i] for i in half] for half in (order[:16], order[16:]))
        rows = [(p + a, [IGNORED, *(p + a)[1:]]) for p, a in known]
        base, _ = train_on_rows(rows, seed, 120)
        for name, labels_of in ways.items():
            rows = [(p + a, labels_of(p, a)) for p, a in new]
            model, losses = train_on_rows(
                rows, seed, num_updates, learning_rate=3e-3, base=base
            )
            found[name].append([np.mean(losses[-10:]), *judged(model, new)])
    return {name: Answers(*np.array(runs).T) for name, runs in found.items()}


@checked
def make_examples(
    seed: Seed, num_examples: Length = 32, longest: Length = 6, *, constant: int = 0
) -> list[Example]:
    """Return prompts of one letter, each another, with answers of 1 to 6 letters."""
    draw = np.random.default_rng(seed)
    before = letters(draw, constant)
    return [
        (
            [USER, *before, FIRST_LETTER + number, END, ASSISTANT],
            [*letters(draw, draw.integers(1, longest + 1)), END],
        )
        for number in range(num_examples)
    ]


def judged(model: AttentionModel, examples: Sequence[Example]) -> list[float]:
    """Return the loss of the answers with their ends, and the shares of answers with
    the right letters, of those that end, and of those that end after them."""
    rows = [(p + a, [IGNORED] * len(p) + a) for p, a in examples]
    ids, labels = as_batch(rows)
    with torch.no_grad():
        loss = mean_loss(target_losses(model, ids, labels), labels).item()
    written = write_answers(model, [prompt for prompt, _ in examples])
    pairs = [(ids, answer) for ids, (_, answer) in zip(written, examples, strict=True)]
    words = np.mean([ids[: len(answer) - 1] == answer[:-1] for ids, answer in pairs])
    right = np.mean([ids == answer for ids, answer in pairs])
    return [loss, float(words), stop_rate(written, END), float(right)]


@torch.no_grad()
def write_answers(
    model: AttentionModel, prompts: Sequence[Sequence[int]], most: int = 20
) -> list[list[int]]:
    """Write the likeliest id, again and again, up to `END` or to so many ids.

    All prompts must be equally long.
    """
    ids = torch.tensor(prompts)
    for _ in range(most):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(dim=-1)], dim=1)
    written = ids[:, len(prompts[0]) :].tolist()
    return [row[: row.index(END) + 1] if END in row else row for row in written]


def answer_rows(found: Mapping[str, Answers]) -> list[list[str]]:
    """Lay out each way, with the intervals of what is in `Answers`."""
    return [
        [name, *(f"{confidence_interval(values):.2f}" for values in runs)]
        for name, runs in found.items()
    ]


# How long does it answer?


@checked
def train_on_two_lengths(
    means: Mapping[str, Per],
    seeds: Seeds,
    *,
    short: Length = 1,
    long: Length = 12,
    num_updates: Length = 120,
) -> dict[str, Lengths]:
    """Teach models 16 prompts, each with a short and a long answer, by several means.

    Args:
        means: name to the `per` of `mean_loss`.
        seeds: a seed for each run.
        short, long: letters of the answers. All short ones begin with the same letter,
            and all long ones with another, so the first letter is the choice.
        num_updates: optimizer steps; each reads all 32 rows, in a new order.
    """
    found = {name: [] for name in means}
    for seed in progress_bar(seeds, "runs", unit="run"):
        rows = two_answers_each(seed, short, long)
        prompts = [ids[:4] for ids, _ in rows[::2]]
        for name, per in means.items():
            model, _ = train_on_rows(rows, seed, num_updates, per=per)
            first = model(torch.tensor(prompts))[:, -1].softmax(dim=-1)
            chance = first[:, FIRST_LETTER].mean().item()
            length = sampled_length(model, prompts * 16, seed, most=long + 4)
            found[name].append((chance, length, losses_of(model, rows)))
    counts = np.array([sum(label >= 0 for label in labels) for _, labels in rows])
    return {
        name: Lengths(*map(np.array, zip(*runs, strict=True)), counts)
        for name, runs in found.items()
    }


@checked
def expected_share(per: Per, *, short: Length = 1, long: Length = 12) -> float:
    """Return the probability of a short answer that the weights alone would give.

    Half of the answers are short. But the model is asked for the first letters, so what
    counts is how much the first letters of the short answers weigh, among those of all.
    For parts of some rows, that is the mean over 500 orders of the rows.
    """
    ids, labels = as_batch(two_answers_each(0, short, long))
    generator = torch.Generator().manual_seed(0)
    total = torch.zeros(2, dtype=torch.float64)
    for _ in range(500):
        order = torch.randperm(len(ids), generator=generator)
        weights = target_weights(labels[order], per)[:, 4]
        total += torch.bincount(ids[order][:, 4] - FIRST_LETTER, weights)
    return (total[0] / total.sum()).item()


def two_answers_each(seed: int, short: int, long: int) -> list[Row]:
    """Return rows in pairs: the same prompt with its short and its long answer."""
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(16):
        prompt = [USER, FIRST_LETTER + number, END, ASSISTANT]
        for first, length in ((0, short), (1, long)):
            answer = [FIRST_LETTER + first, *letters(draw, length - 1), END]
            rows.append((prompt + answer, [IGNORED] * len(prompt) + answer))
    return rows


@torch.no_grad()
def sampled_length(
    model: AttentionModel, prompts: list[list[int]], seed: int, most: int
) -> float:
    """Return how many letters a sampled answer has, in the mean over all prompts."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.tensor(prompts)
    for _ in range(most):
        chances = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, chances.multinomial(1, generator=generator)], dim=1)
    ended = (ids[:, len(prompts[0]) :] == END).cumsum(dim=1) > 0
    return (~ended).sum(dim=1).double().mean().item()


@torch.no_grad()
def losses_of(model: AttentionModel, rows: Sequence[Row]) -> np.ndarray:
    """Return the loss of each row, summed over its targets."""
    inputs, labels = as_batch(rows)
    return target_losses(model, inputs, labels).sum(dim=1).double().numpy()


def length_rows(
    found: Mapping[str, Lengths], expected: Mapping[str, float]
) -> list[list[str]]:
    """Lay out each mean: what theory expects, P(short), letters in an answer."""
    return [
        [
            name,
            f"{expected[name]:.3f}" if name in expected else "",
            f"{confidence_interval(runs.short):.3f}",
            f"{confidence_interval(runs.letters):.1f}",
        ]
        for name, runs in found.items()
    ]


@checked
def evaluate_by_batch_size(
    found: Mapping[str, Lengths], batch_sizes: Iterable[int], seeds: Seeds
) -> dict[str, dict[int, Interval]]:
    """Return the `eval_loss` of trained models, by the batch size of the evaluation.

    Args:
        found: what `train_on_two_lengths` has returned.
        batch_sizes: how many of the rows a batch holds.
        seeds: of the same runs. They fix the order of the rows.
    """
    intervals = {}
    for name, runs in found.items():
        orders = [np.random.default_rng(seed).permutation(32) for seed in seeds]
        pairs = list(zip(runs.losses, orders, strict=True))
        intervals[name] = {
            size: confidence_interval(
                [evaluation_loss(sums[o], runs.counts[o], size) for sums, o in pairs]
            )
            for size in batch_sizes
        }
    return intervals


# Of all of these


def letters(draw: np.random.Generator, count: int) -> list[int]:
    return draw.integers(FIRST_LETTER, VOCAB_SIZE, int(count)).tolist()


def as_batch(rows: Iterable[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad rows on the right, and return their ids and their labels, shape (B, L)."""
    ids, labels = zip(*rows, strict=True)
    length = max(map(len, ids))
    return (
        torch.tensor([row + [PAD] * (length - len(row)) for row in ids]),
        torch.tensor([row + [IGNORED] * (length - len(row)) for row in labels]),
    )


def target_losses(
    model: AttentionModel, ids: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Return the loss of each label after the first, 0 where it is -100."""
    logits = model(ids[:, :-1]).transpose(1, 2)
    return F.cross_entropy(
        logits, labels[:, 1:], reduction="none", ignore_index=IGNORED
    )


@one_thread()
def train_on_rows(
    rows: Sequence[Row],
    seed: int,
    num_updates: int,
    *,
    per: Per = "token",
    learning_rate: float = 1e-2,
    base: AttentionModel | None = None,
) -> tuple[AttentionModel, list[float]]:
    """Train a small transformer on all rows in each step. Return it with its losses.

    The order of the rows is new in each step, which matters where `per` is a number.
    """
    torch.manual_seed(seed)
    model = AttentionModel(VOCAB_SIZE, num_heads=4, num_layers=2, max_length=64)
    if base is not None:
        model = copy.deepcopy(base)
    optimizer, schedule = adam_with_linear_decay(model, learning_rate, num_updates)
    generator = torch.Generator().manual_seed(seed)
    ids, labels = as_batch(rows)
    losses = []
    for step in range(num_updates):
        order = torch.randperm(len(rows), generator=generator)
        each = target_losses(model, ids[order], labels[order])
        loss = mean_loss(each, labels[order], per)
        losses.append(learn(loss, optimizer, schedule, step))
    return model.eval(), losses


# What the libraries do.


def chat_tokenizer(
    messages: Sequence[Mapping[str, str]], template: str, *, bos_token: str = ""
) -> PreTrainedTokenizerFast:
    """Return a tokenizer to which each word of a conversation is one token.

    Args:
        messages: the conversation. Other words come in pieces.
        template: its chat template.
        bos_token: what it puts before each text.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast

    ends = ["<|end|>", "<|pad|>", *([bos_token] if bos_token else [])]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    how = {"special_tokens": ends, "initial_alphabet": alphabet, "show_progress": False}
    texts = [f"{m['content']} {m['role']}: {m['content']}" for m in messages]
    tokenizer.train_from_iterator(texts * 2, BpeTrainer(vocab_size=1000, **how))
    names = {"eos_token": ends[0], "pad_token": ends[1]}
    if bos_token:
        names["bos_token"] = bos_token
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos_token} $A", special_tokens=[(bos_token, 2)]
        )
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    wrapped.chat_template = template
    return wrapped


def tiny_llama(vocab_size: int = 512, seed: int = 0) -> LlamaForCausalLM:
    """Return an untrained model of `transformers`, of one layer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "initializer_range": 0.1}
    config = LlamaConfig(vocab_size=vocab_size, **sizes, **heads, pad_token_id=1)
    return LlamaForCausalLM(config)


def sft_trainer(
    rows: Sequence[Mapping], tokenizer: PreTrainedTokenizerFast, **options: object
) -> SFTTrainer:
    """Return TRL's trainer for a data set, as it stands before its first step.

    Args:
        rows: mappings, with `messages`, `text`, or `prompt` and `completion`.
        tokenizer: wrapped, with the chat template that is to be used.
        options: of `SFTConfig`. All that isn't given stays as TRL has it, except for
            what is written to the disk and to the screen.
    """
    import datasets
    from trl import SFTConfig, SFTTrainer

    quiet = {"report_to": [], "disable_tqdm": True, "save_strategy": "no"}
    quiet |= {"use_cpu": True, "bf16": False}
    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        # 1.16 sets an option that transformers 5.24 calls by another name
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return SFTTrainer(
                model=tiny_llama(len(tokenizer)),
                args=SFTConfig(output_dir=folder, **quiet | options),
                train_dataset=datasets.Dataset.from_list(list(rows)),
                processing_class=tokenizer,
            )
    finally:
        if shown:
            datasets.enable_progress_bars()


def rows_of_trl(
    rows: Sequence[Mapping], tokenizer: PreTrainedTokenizerFast, **options: object
) -> list[Row]:
    """Return the ids and the labels that TRL makes of each row; see `sft_trainer`."""
    prepared = sft_trainer(rows, tokenizer, **options).train_dataset
    return [(row["input_ids"], row.get("labels", row["input_ids"])) for row in prepared]


def scored_text(
    ids: Sequence[int], labels: Sequence[int], tokenizer: PreTrainedTokenizerFast
) -> str:
    """Return ids as text, with parentheses around what isn't scored."""
    pieces = [
        tokenizer.decode([i]) if label >= 0 else f"({tokenizer.decode([i])})"
        for i, label in zip(ids, labels, strict=True)
    ]
    return "".join(pieces).replace(")(", "")


def trainer_logs(rows: Sequence[Row], **options: object) -> list[dict[str, float]]:
    """Train a tiny model with the `Trainer` of `transformers`, one row in each step.

    Args:
        rows: ids and labels.
        options: of `TrainingArguments`.

    Returns the loss and the norm of the gradient that it logs for each step.
    """
    from transformers import PrinterCallback, Trainer, TrainingArguments

    quiet = {"report_to": [], "disable_tqdm": True, "save_strategy": "no"}
    steps = {"max_steps": len(rows), "logging_steps": 1, "use_cpu": True}
    steps |= {"per_device_train_batch_size": 1}
    data = [{"input_ids": ids, "labels": labels} for ids, labels in rows]

    def collate(batch: list[dict]) -> dict[str, torch.Tensor]:
        return {name: torch.tensor([values]) for name, values in batch[0].items()}

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=tiny_llama(),
            args=TrainingArguments(output_dir=folder, **quiet, **steps, **options),
            train_dataset=data,
            data_collator=collate,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return [log for log in trainer.state.log_history if "grad_norm" in log]
