"""Lesson 15: which tokens of a conversation are scored, and how much each one weighs.

Fine-tuning has the loss of lesson 1. What differs are the labels, which leave most of a
conversation out, and the means, of which there are several. Labels are aligned with
their ids here, as `transformers` wants them, and the model shifts them. So the label at
place 0 is never predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import torch

from course_lib.foundation import (
    IGNORED,
    Length,
    Several,
    as_ids,
    check_choice,
    check_integer,
    checked,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Which = Literal["everything", "answers", "last answer"]
Per = Literal["token", "example"] | int
"""What has one vote in a mean: a token, an example, or a part of so many rows."""

# Which tokens count.


@checked
def turn_labels(
    roles: Annotated[Sequence[str], Several("roles")],
    turns: Annotated[Sequence[Sequence[int]], Several("lists of ids")],
    which: Which = "answers",
) -> list[int]:
    """Return the labels of a conversation, one for each of its ids.

    Args:
        roles: who wrote each turn, such as "user" or "assistant".
        turns: the ids of each turn, with the one that ends it.
        which: score everything, all of the assistant's turns, or only the last of them.
    """
    _check_turns(roles, turns)
    answers = [i for i, role in enumerate(roles) if role == "assistant"]
    scored = {"everything": range(len(turns)), "answers": answers}
    scored["last answer"] = answers[-1:]
    labels = []
    for i, ids in enumerate(turns):
        labels += map(int, ids) if i in scored[which] else [IGNORED] * len(ids)
    return [IGNORED, *labels[1:]]  # nothing comes before the first id


def _check_turns(roles: Sequence[str], turns: Sequence[Sequence[int]]) -> None:
    if len(roles) != len(turns) or not any(len(ids) for ids in turns):
        wanted = f"a list of ids for each of {len(roles)} roles, not all of them empty"
        raise ValueError(f"turns must be {wanted}, got {list(turns)!r:.60}")
    for ids in turns:
        as_ids("turns", ids)


def answer_start(prompt_ids: Sequence[int], ids: Sequence[int]) -> int:
    """Return the place where the answer begins, after what both lists begin with.

    The ids of a prompt needn't be the first ids of the prompt with its answer: a token
    may reach across the border. TRL 1.16 splits at the same place.

    Args:
        prompt_ids: the prompt, tokenized alone.
        ids: the prompt with its answer, tokenized together.
    """
    place = 0
    while place < min(len(prompt_ids), len(ids)) and prompt_ids[place] == ids[place]:
        place += 1
    return place


# How much each of them weighs.


@checked
def mean_loss(
    losses: torch.Tensor, labels: torch.Tensor, per: Per = "token"
) -> torch.Tensor:
    """Return the mean loss of a batch, as a scalar through which gradients flow.

    Args:
        losses: of each label after the first, shape (B, L - 1), in nats.
        labels: aligned with the ids, -100 where nothing is scored, shape (B, L).
        per: "token": all targets weigh the same. "example": the mean of each row weighs
            the same. A number: the mean of each part of so many rows does.

    A part in which nothing is scored is left out. Without any target, the mean is nan.
    """
    scored = labels[:, 1:] != IGNORED
    _check_losses(losses, scored)
    rows = _rows_in_a_part(per, len(labels))
    sums = (losses * scored).sum(dim=1).split(rows)
    counts = scored.sum(dim=1).split(rows)
    parts = zip(sums, counts, strict=True)
    means = [loss.sum() / count.sum() for loss, count in parts if count.sum() > 0]
    return torch.stack(means).mean() if means else losses.sum() * torch.nan


@checked
def target_weights(labels: torch.Tensor, per: Per = "token") -> torch.Tensor:
    """Return how much each label weighs in `mean_loss`, float64, shape (B, L).

    The weights add up to 1, and are 0 where nothing is scored, and at place 0.
    """
    if labels.ndim != 2:
        raise ValueError(f"labels must have shape (B, L), got {tuple(labels.shape)}")
    scored = (labels != IGNORED).double()
    scored[:, 0] = 0  # nothing predicts it
    parts = scored.split(_rows_in_a_part(per, len(labels)))
    parts = [part / part.sum() if part.any() else part for part in parts]
    return torch.cat(parts) / max(1, sum(bool(part.any()) for part in parts))


def _check_losses(losses: torch.Tensor, scored: torch.Tensor) -> None:
    if losses.shape != scored.shape:  # or a broadcast would make a wrong mean of them
        wanted = f"{tuple(scored.shape)}, (B, L - 1)"
        raise ValueError(f"losses must have shape {wanted}, got {tuple(losses.shape)}")


def _rows_in_a_part(per: Per, num_rows: int) -> int:
    if isinstance(per, str):
        rows = {"token": max(1, num_rows), "example": 1}
        return rows[check_choice("per", per, rows)]
    return check_integer("per", per, minimum=1)


@checked
def evaluation_loss(
    sums: Annotated[Sequence[float], Several("numbers")],
    counts: Annotated[Sequence[int], Several("integers")],
    batch_size: Length,
) -> float:
    """Return what a `Trainer` in one process reports as `eval_loss`.

    It takes the mean over the tokens of each batch, and then the mean over all batches,
    in which a batch weighs as much as it has rows (transformers 5.24,
    `Trainer.evaluation_loop`).

    Args:
        sums: the loss of each example, summed over its targets, in nats.
        counts: how many targets it has, at least 1.
        batch_size: examples in a batch; the last may be smaller.
    """
    sums, counts = np.asarray(sums), np.asarray(counts)
    _check_counts(sums, counts)
    total = 0.0
    for first in range(0, len(sums), batch_size):
        batch = slice(first, first + batch_size)
        mean = sums[batch].sum() / counts[batch].sum()
        total += len(sums[batch]) * mean
    return float(total / len(sums))


def _check_counts(sums: np.ndarray, counts: np.ndarray) -> None:
    if not len(sums) or counts.shape != sums.shape or counts.min() < 1:
        wanted = f"a number of targets, at least 1, for each of {len(sums)} examples"
        raise ValueError(f"counts must be {wanted}, got {counts.tolist()!r:.60}")


def stop_rate(answers: Sequence[Sequence[int]], end_id: int) -> float:
    """Return the share of generated answers in which the model has ended its turn."""
    if not len(answers):
        raise ValueError("answers must not be empty")
    return sum(end_id in answer for answer in answers) / len(answers)


# What a chat template says of a conversation.


def audit_chat_template(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[Mapping[str, str]],
    chat_template: str | None = None,
) -> dict[str, bool]:
    """Say whether labels made with a chat template are those of the answers.

    An answer is what the model has to write, so it begins where the template's
    generation prompt ends. It goes up to an added token, which ends the turn. That
    needn't be `eos_token`.

    Args:
        tokenizer: with the tokens that the template writes.
        messages: a conversation, each turn with its `role` and `content`.
        chat_template: Jinja, with `{% generation %}` around what the assistant says;
            None: the tokenizer's own.

    Returns, by name, whether each of five tests is passed.
    """
    render = partial(_ids_and_scored, tokenizer, chat_template)
    earlier, answers, kept = _turn_by_turn(tokenizer, messages, render)
    ids, scored = render(messages)
    return {
        "something is scored": scored != [],
        "answered turns stay as they were": all(ids[: len(e)] == e for e in earlier),
        "rows begin with their prompts": all(kept),
        "exactly the answers are scored": _are_answers(tokenizer, scored, answers),
        "the end of each answer is scored": sum(e for _, e in scored) == len(answers),
    }


def _ids_and_scored(
    tokenizer: PreTrainedTokenizerBase,
    chat_template: str | None,
    turns: Sequence[Mapping[str, str]],
    **prompt: bool,
) -> tuple[list[int], list[tuple[list[int], bool]]]:
    """Return the ids of some turns, and each run of ids that the template marks: those
    without its end, and whether it has one."""
    how = {"return_dict": True, "return_assistant_tokens_mask": True, **prompt}
    made = tokenizer.apply_chat_template(turns, chat_template=chat_template, **how)
    ids, marks = made["input_ids"], made["assistant_masks"]
    scored = []
    for marked, run in groupby(zip(marks, ids, strict=True), itemgetter(0)):
        if marked:
            own, has_end = _without_end(tokenizer, [token for _, token in run])
            scored.append((own, has_end))
    return ids, scored


def _without_end(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]
) -> tuple[list[int], bool]:
    """Return the ids of a turn up to what ends it, and whether anything does.

    Many templates write a line break after a turn's end, and Phi-3's writes one more
    end after the last turn.
    """
    ids, has_end = list(ids), False
    ends = {*tokenizer.get_added_vocab().values(), tokenizer.eos_token_id}
    while ids and (ids[-1] in ends or not tokenizer.decode(ids[-1:]).strip()):
        has_end |= ids.pop() in ends
    return ids, has_end


def _are_answers(
    tokenizer: PreTrainedTokenizerBase,
    scored: Sequence[tuple[list[int], bool]],
    answers: Sequence[list[int]],
) -> bool:
    """Say whether what is scored are the answers, id by id, and nothing else.

    A prompt may end with a line break. Some templates mark it, too, which does no harm.
    """
    if len(scored) != len(answers):
        return False
    for (ids, _), answer in zip(scored, answers, strict=True):
        first = len(ids) - len(answer)
        if ids[first:] != answer or tokenizer.decode(ids[:first]).strip():
            return False
    return True


def _turn_by_turn(
    tokenizer: object, messages: object, render: Callable
) -> tuple[list[list[int]], list[list[int]], list[bool]]:
    """Return for each answer the ids up to it, its own ids, both without its end, and
    whether all tokens of its prompt stand before it.

    What comes before an answer isn't rendered without it, except as its prompt: some
    templates refuse a system prompt alone.
    """
    if not hasattr(tokenizer, "apply_chat_template"):
        wanted = "one of transformers, with apply_chat_template"
        raise TypeError(f"tokenizer must be {wanted}, got {type(tokenizer).__name__}")
    turns = messages if isinstance(messages, Sequence) else [None]
    roles = [turn.get("role") if isinstance(turn, Mapping) else None for turn in turns]
    if None in roles or "assistant" not in roles[1:] or roles[0] == "assistant":
        wanted = "with a role, the assistant's among them, but not as the first"
        raise ValueError(
            f"messages must be a list of mappings {wanted}, got {messages!r:.60}"
        )
    earlier, answers, kept = [], [], []
    for turn, role in enumerate(roles):
        if role == "assistant":
            ids, _ = render(messages[: turn + 1])
            prompt, _ = render(messages[:turn], add_generation_prompt=True)
            earlier.append(_without_end(tokenizer, ids)[0])
            start = answer_start(prompt, ids)
            own, _ = _without_end(tokenizer, ids[start:])
            answers.append(own)
            kept.append(start == len(prompt))
    return earlier, answers, kept
