"""Exercises of lesson 01: make examples, mask, add up, convert, and catch what
peeks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from random import Random

import numpy as np

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false

PAD = 0


def _streams_with_starts(random: Random) -> Iterator[Case]:
    for context_length in range(1, 6):
        for extra in range(4):
            ids = list(range(10, 10 + context_length + 1 + extra))
            yield from ((ids, start, context_length) for start in range(extra + 1))
            yield [random.randrange(50) for _ in ids], extra, context_length
        longer = [random.randrange(50) for _ in range(4 * context_length)]
        yield from ((longer, start, context_length) for start in (1, context_length))


@exercise(
    cases=_streams_with_starts,
    hints=(
        "Two slices of the same length: which one starts one id later?",
        "`ids[a : b]` has b - a items. Say for each of the two slices at which "
        "position it begins, then add the length.",
    ),
)
def make_example(
    ids: list[int], start: int, context_length: int
) -> tuple[list[int], list[int]]:
    """Return the inputs and the targets of the window at `start`."""
    inputs = ids[start : start + context_length]
    targets = ids[start + 1 : start + 1 + context_length]
    return inputs, targets


@make_example.mistake(
    "no shift. Each target is its own input, and a model that copies gets a loss of 0."
)
def no_shift(ids, start, context_length):
    return ids[start : start + context_length], ids[start : start + context_length]


@make_example.mistake(
    "a double shift. The targets are two ids ahead; near the end there are too few of "
    "them."
)
def double_shift(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, ids[start + 2 : start + 2 + context_length]


@make_example.mistake(
    "an inclusive bound. Both halves have T + 1 ids, where the stream has so many."
)
def inclusive_bound(ids, start, context_length):
    inputs = ids[start : start + context_length + 1]
    return inputs, ids[start + 1 : start + context_length + 2]


@make_example.mistake(
    "the inputs are the whole window. Its last id is a target only: T inputs, T "
    "targets."
)
def inputs_one_too_many(ids, start, context_length):
    window = ids[start : start + context_length + 1]
    return window, window[1:]


@make_example.mistake(
    "the targets are one too many: their slice begins one later and ends two later."
)
def targets_one_too_many(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, ids[start + 1 : start + context_length + 2]


@make_example.mistake(
    "the slice of the targets ends without `start`: it is right at the beginning of "
    "the stream alone."
)
def targets_end_without_start(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, ids[start + 1 : context_length + 1]


@make_example.mistake(
    "the slice of the inputs ends without `start`: it is right at the beginning of "
    "the stream alone."
)
def inputs_end_without_start(ids, start, context_length):
    targets = ids[start + 1 : start + 1 + context_length]
    return ids[start:context_length], targets


@make_example.mistake(
    "a window of T ids instead of T + 1. Cut in two, it leaves only T - 1 predictions."
)
def window_too_short(ids, start, context_length):
    window = ids[start : start + context_length]
    return window[:-1], window[1:]


@make_example.mistake(
    "inputs and targets are exchanged: the model would learn to predict the previous "
    "token."
)
def backwards(ids, start, context_length):
    inputs = ids[start + 1 : start + 1 + context_length]
    return inputs, ids[start : start + context_length]


@make_example.mistake(
    "shifted the wrong way: each target is the id *before* its input."
)
def shifted_to_the_past(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, ids[start - 1 : start - 1 + context_length]


@make_example.mistake(
    "the targets are one short: if their slice begins one later, it must end one "
    "later as well."
)
def targets_one_short(ids, start, context_length):
    return ids[start : start + context_length], ids[start + 1 : start + context_length]


@make_example.mistake(
    "a single target. A window asks T questions, one at each of its inputs."
)
def last_target_only(ids, start, context_length):
    return ids[start : start + context_length], ids[start + context_length]


@make_example.mistake(
    "a list of one target. A window asks T questions, one at each of its inputs."
)
def list_of_the_last_target(ids, start, context_length):
    return ids[start : start + context_length], [ids[start + context_length]]


@make_example.mistake(
    "the targets are the T ids *after* the inputs, and not the same ids one position "
    "later."
)
def following_block(ids, start, context_length):
    first = ids[start : start + context_length]
    return first, ids[start + context_length : start + 2 * context_length]


@make_example.mistake("`start` is ignored: every window begins at 0.")
def always_the_first(ids, start, context_length):
    return ids[:context_length], ids[1 : context_length + 1]


@make_example.mistake(
    "`start` is a position in the stream, and not the number of a window."
)
def start_counts_windows(ids, start, context_length):
    start = start * context_length
    inputs = ids[start : start + context_length]
    return inputs, ids[start + 1 : start + 1 + context_length]


@make_example.mistake(
    "`context_length` is a length. The slice ends at `start + context_length`."
)
def length_as_an_end(ids, start, context_length):
    return ids[start:context_length], ids[start + 1 : context_length + 1]


@make_example.mistake(
    "the window runs to the end of the stream: it has `context_length` inputs only."
)
def to_the_end(ids, start, context_length):
    return ids[start:-1], ids[start + 1 :]


@make_example.mistake(
    "the positions count from 0: `ids[start]` is the first input already."
)
def counted_from_one(ids, start, context_length):
    inputs = ids[max(0, start - 1) : max(0, start - 1) + context_length]
    return inputs, ids[start : start + context_length]


@make_example.mistake(
    "a roll. The last input is asked for the first id of its own window; read one id "
    "more."
)
def rolled(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, inputs[1:] + inputs[:1]


@make_example.mistake(
    "the targets are computed, not read. Only in a stream 0, 1, 2, … is the next id "
    "one more."
)
def one_more(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, [token + 1 for token in inputs]


@make_example.mistake(
    "pairs of an input and a target. Return two lists: all inputs, then all targets."
)
def pairs(ids, start, context_length):
    window = ids[start : start + context_length + 1]
    return list(itertools.pairwise(window))


@make_example.mistake("the window is not cut in two: all of its T + 1 ids come back.")
def uncut(ids, start, context_length):
    return ids[start : start + context_length + 1]


@make_example.mistake("the inputs alone. Return both: `inputs, targets`.")
def inputs_alone(ids, start, context_length):
    return ids[start : start + context_length]


@make_example.mistake(
    "`start` counts from 0: the window begins one id too early, or nowhere for 0."
)
def start_from_one(ids, start, context_length):
    return (
        ids[start - 1 : start - 1 + context_length],
        ids[start : start + context_length],
    )


@make_example.mistake(
    "the targets go on to the end of the stream. They are T, as the inputs."
)
def targets_to_the_end(ids, start, context_length):
    return ids[start : start + context_length], ids[start + 1 :]


@make_example.mistake(
    "positions in the stream. What is asked for are the ids that stand there."
)
def positions_for_ids(ids, start, context_length):
    inputs = list(range(start, start + context_length))
    return inputs, [position + 1 for position in inputs]


@make_example.mistake(
    "the last target is made up. It is the id that follows the inputs in the stream: "
    "read one id more."
)
def made_up_last_target(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, [*inputs[1:], 0]


@make_example.mistake(
    "`start` is used for the inputs alone: the targets belong to another window."
)
def targets_of_the_first_window(ids, start, context_length):
    return ids[start : start + context_length], ids[1 : context_length + 1]


@make_example.mistake("`start` and `context_length` are exchanged.")
def exchanged_start_and_length(ids, start, context_length):
    return (
        ids[context_length : context_length + start],
        ids[context_length + 1 : context_length + 1 + start],
    )


@make_example.mistake("the targets look back, to the ids *before* the inputs.")
def targets_before(ids, start, context_length):
    return (
        ids[start : start + context_length],
        ids[max(0, start - 1) : start + context_length - 1],
    )


@make_example.mistake(
    "the targets stand in reverse order. Target t belongs to input t."
)
def reversed_targets(ids, start, context_length):
    return (
        ids[start : start + context_length],
        ids[start + 1 : start + 1 + context_length][::-1],
    )


@make_example.mistake(
    "the inputs, and the targets too, go on to the end of the stream: they are T."
)
def both_to_the_end(ids, start, context_length):
    return ids[start:], ids[start + 1 :]


@make_example.mistake(
    "`start` is ignored, and the targets are one short: they are T, as the inputs."
)
def first_window_one_short(ids, start, context_length):
    return ids[:context_length], ids[1:context_length]


@make_example.mistake(
    "the window begins one id too late, at `start + 1`: inputs and targets are those "
    "of the next window."
)
def one_too_late(ids, start, context_length):
    first = start + 1
    inputs = ids[first : first + context_length]
    return inputs, ids[first + 1 : first + context_length + 1]


def at_start_times(factor, ids, start, context_length):
    first = start * factor(context_length)
    window = ids[first : first + context_length + 1]
    return window[:-1], window[1:]


make_example.combine(
    at_start_times,
    {
        "`start` is a position in the stream, and not the number of a window": int,
        "the start is multiplied by T + 1. It is a position in the stream": (
            lambda context_length: context_length + 1
        ),
    },
)


def _padded_windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        for length in range(size + 1):
            # the pad id may stand in a text too, and need not be 0
            for pad in (PAD, 9):
                text = [random.choice((pad, 5, 6, 7)) for _ in range(length)]
                yield text + [pad] * (size - length), length
            yield list(range(1, length + 1)) + [PAD] * (size - length), length
    yield [7, PAD, PAD, PAD, 8, PAD], 5
    yield [5, 6, 9, 9, 9, 9], 4


@exercise(
    cases=_padded_windows,
    hints=(
        "Write one window down, its targets below it, and cross out what is padding. "
        "How many targets are left of a text of 4 ids?",
        "The target of input t is the id at t + 1 of the window. So ask of t + 1, not "
        "of t, whether it is a position of the text.",
    ),
)
def padded_targets(window: list[int], length: int) -> list[int]:
    """Return the targets of a padded window, with -100 in place of each padding."""
    return [target if t + 1 < length else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "an off-by-one. The mask is right for the inputs, but targets end one position "
    "earlier."
)
def mask_of_inputs(window, length):
    return [target if t < length else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "one too many is masked: the last id of the text is a target that counts."
)
def one_too_many_masked(window, length):
    return [target if t + 2 < length else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "the padding is told by the id 0. The pad id may be another, and a real token may "
    "have it: use `length`."
)
def mask_by_id(window, length):
    return [target if target != PAD else -100 for target in window[1:]]


@padded_targets.mistake(
    "the padding is told by its id, that of the window's end. A real token with that "
    "id is lost: use `length`."
)
def mask_by_last_id(window, length):
    return [target if target != window[-1] else -100 for target in window[1:]]


@padded_targets.mistake(
    "nothing is masked. The model would be praised for predicting padding."
)
def no_mask(window, length):
    return window[1:]


@padded_targets.mistake(
    "0 is an id like any other, and would be scored. What marks a target that does not "
    "count is -100."
)
def zero_for_a_mask(window, length):
    return [target if t + 1 < length else 0 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "None is no integer. What marks a target that does not count is -100."
)
def none_for_a_mask(window, length):
    return [target if t + 1 < length else None for t, target in enumerate(window[1:])]


@padded_targets.mistake("the targets are not shifted: they are the inputs, masked.")
def unshifted_mask(window, length):
    return [target if t < length else -100 for t, target in enumerate(window[:-1])]


@padded_targets.mistake(
    "the mask is right, but its targets are not shifted: they are the inputs."
)
def inputs_with_the_right_mask(window, length):
    return [target if t + 1 < length else -100 for t, target in enumerate(window[:-1])]


@padded_targets.mistake(
    "the mask is upside down: the padding is kept, and the text is left out."
)
def inverted_mask(window, length):
    return [-100 if t + 1 < length else target for t, target in enumerate(window[1:])]


@padded_targets.mistake("all targets are masked. Those of the text must be scored.")
def all_masked(window, length):
    return [-100] * (len(window) - 1)


@padded_targets.mistake(
    "padding is marked, not left out: keep one entry for each target."
)
def leaves_padding_out(window, length):
    return window[1:length]


@padded_targets.mistake(
    "masked, but not shifted: there is one target less than ids in the window."
)
def masked_window(window, length):
    return window[:length] + [-100] * (len(window) - length)


@padded_targets.mistake(
    "one entry too many. A window of T + 1 ids has T targets; the last id is followed "
    "by nothing."
)
def one_entry_too_many(window, length):
    masked = window[:length] + [-100] * (len(window) - length)
    return [*masked[1:], -100]


@padded_targets.mistake(
    "right but for `length` 0: `window[1:0]` is empty, and not of length -1. Then "
    "there is one -100 too many."
)
def one_too_many_for_length_0(window, length):
    return window[1:length] + [-100] * (len(window) - length)


@padded_targets.mistake(
    "right but for `length` 0: `length - 1` is then -1, which counts from the end. A "
    "window of padding alone has nothing to score."
)
def negative_position(window, length):
    targets = window[1:]
    targets[length - 1 :] = [-100] * len(targets[length - 1 :])
    return targets


@padded_targets.mistake(
    "the padding stands at the end of the window, and not at its beginning."
)
def masked_at_the_left(window, length):
    pads = len(window) - length
    return [target if t >= pads else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake("the targets alone are wanted, without the inputs.")
def with_inputs(window, length):
    targets = [
        target if t + 1 < length else -100 for t, target in enumerate(window[1:])
    ]
    return window[:-1], targets


@padded_targets.mistake(
    "100 with the wrong sign: what marks a target that does not count is -100."
)
def without_the_sign(window, length):
    return [t if i < length else 100 for i, t in enumerate(window[1:], 1)]


@padded_targets.mistake(
    "one -100 too many at the end: a window of T + 1 ids has T targets."
)
def one_mask_too_many(window, length):
    return window[1:length] + [-100] * (len(window) - length + 1)


@padded_targets.mistake(
    "the padding is told by its id, the one behind the text. A real token with that id "
    "is lost: use `length` alone."
)
def told_by_the_first_padding(window, length):
    if length >= len(window):
        return window[1:]
    return [-100 if t == window[length] else t for t in window[1:]]


@padded_targets.mistake(
    "no targets at all for `length` 0. There are T, and each of them is -100."
)
def empty_for_no_text(window, length):
    return padded_targets.reference(window, length) if length else []


@padded_targets.mistake(
    "the padding is told by zeros at the end. A text may end with the id 0, and "
    "padding may be another: use `length`."
)
def told_by_trailing_zeros(window, length):
    targets = window[1:]
    kept = max((i + 1 for i, t in enumerate(targets) if t), default=0)
    return targets[:kept] + [-100] * (len(targets) - kept)


@padded_targets.mistake(
    "a single -100 for all of the padding. Each target that is padding gets one."
)
def single_mask(window, length):
    text = window[1:length] if length else []
    return [*text, -100] if length < len(window) else text


@padded_targets.mistake(
    "within the text the id 0 is masked as well. It is a token like any other there."
)
def zeros_masked_too(window, length):
    return [t if t and i < length else -100 for i, t in enumerate(window[1:], 1)]


@padded_targets.mistake(
    "one -100 for all of the padding. Every target that is padding needs one of its "
    "own."
)
def one_for_all(window, length):
    return [*window[1:length], -100]


@padded_targets.mistake(
    "right but for `length` 0: then `length - 1` is -1, and the slice up to there ends "
    "before the last target, instead of being empty."
)
def slices_to_minus_one(window, length):
    targets = window[1:]
    return targets[: length - 1] + [-100] * (len(targets) - length + 1)


@padded_targets.mistake(
    "everything behind the first id 0 is masked. A real token may have that id, and "
    "the padding may have another: use `length`."
)
def from_the_first_zero(window, length):
    targets = window[1:]
    kept = targets.index(0) if 0 in targets else len(targets)
    return targets[:kept] + [-100] * (len(targets) - kept)


def _logits_and_targets(random: Random) -> Iterator[Case]:
    # exp() of these overflows, or leaves only zeros
    yield [[800.0, 790.0], [-800.0, -790.0]], [0, 1]
    yield [[800.0, -800.0]], [1]  # a probability below the smallest float
    # a product of so many probabilities underflows
    yield [[0.0, 5.0]] * 200, [0] * 200
    for length in range(1, 6):
        for vocab_size in (2, 3, 5):
            logits = [
                [round(random.gauss(0, 2), 2) for _ in range(vocab_size)]
                for _ in range(length)
            ]
            yield logits, [random.randrange(vocab_size) for _ in range(length)]


@exercise(
    cases=_logits_and_targets,
    hints=(
        "The chain rule multiplies probabilities, so logarithms are added. Write down "
        "the softmax of one target, take its logarithm, and simplify.",
        "What is left at each position is a logit minus the log of a sum of "
        "exponentials. If `exp` overflows, use that a softmax does not change when the "
        "same number is taken off all logits of a row. Which number helps?",
    ),
)
def joint_log_probability(logits: list[list[float]], targets: list[int]) -> float:
    """Return the natural log of the model's probability of all `targets` together."""
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        largest = max(row)  # subtracted and added again, so that exp() cannot overflow
        log_of_sum = math.log(sum(math.exp(score - largest) for score in row))
        total += row[target] - largest - log_of_sum
    return total


@joint_log_probability.mistake(
    "logits are not log-probabilities yet: subtract the log of the sum of all "
    "exponentials."
)
def not_normalized(logits, targets):
    return sum(row[target] for row, target in zip(logits, targets, strict=True))


@joint_log_probability.mistake(
    "a mean. That is the loss, but for its sign; the joint probability needs the sum."
)
def mean_instead_of_sum(logits, targets):
    return joint_log_probability.reference(logits, targets) / len(targets)


@joint_log_probability.mistake(
    "the mean loss. The joint probability needs the sum, and the logarithm without the "
    "minus."
)
def mean_loss_of_logits(logits, targets):
    return -joint_log_probability.reference(logits, targets) / len(targets)


@joint_log_probability.mistake(
    "the sign. Logs of probabilities are negative; minus their sum is the loss."
)
def negated(logits, targets):
    return -joint_log_probability.reference(logits, targets)


@joint_log_probability.mistake(
    "the base. The natural log is asked for, `math.log`; this one is in bits."
)
def in_bits(logits, targets):
    return joint_log_probability.reference(logits, targets) / math.log(2)


@joint_log_probability.mistake(
    "the base. The natural log is asked for, `math.log`; this one has base 10."
)
def base_ten(logits, targets):
    return joint_log_probability.reference(logits, targets) / math.log(10)


@joint_log_probability.mistake(
    "a probability instead of its logarithm. For a page of text it underflows to 0.0."
)
def probability(logits, targets):
    return math.exp(joint_log_probability.reference(logits, targets))


@joint_log_probability.mistake(
    "`exp` of a large logit overflows. Subtract the row's largest logit first: the "
    "softmax stays the same."
)
def overflows(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        total += row[target] - math.log(sum(math.exp(score) for score in row))
    return total


@joint_log_probability.mistake(
    "`exp` of a large logit is infinite, and so the result is NaN or infinite. "
    "Subtract the row's largest logit first: the softmax stays the same."
)
def overflows_to_nan(logits, targets):
    with np.errstate(all="ignore"):
        total = 0.0
        for row, target in zip(logits, targets, strict=True):
            exponentials = np.exp(np.array(row))
            total += np.log(exponentials[target] / exponentials.sum())
    return float(total)


@joint_log_probability.mistake(
    "a softmax, then its logarithm. A small probability is 0 before the logarithm sees "
    "it: take the logarithm of the formula, not of its result."
)
def log_of_softmax(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        exponentials = [math.exp(score - max(row)) for score in row]
        total += math.log(exponentials[target] / sum(exponentials))
    return total


@joint_log_probability.mistake(
    "a softmax, then its logarithm. A small probability is 0 before the logarithm sees "
    "it, and the log of 0 is minus infinity: take the logarithm of the formula."
)
def log_of_softmax_to_infinity(logits, targets):
    with np.errstate(all="ignore"):
        total = 0.0
        for row, target in zip(logits, targets, strict=True):
            exponentials = np.exp(np.array(row) - max(row))
            total += np.log(exponentials[target] / exponentials.sum())
    return float(total)


@joint_log_probability.mistake(
    "the small number that is added, so that no logarithm is infinite, changes the "
    "result: a probability may be smaller than it. Take the logarithm of the formula."
)
def with_a_small_number(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        exponentials = np.exp(np.array(row) - max(row))
        total += np.log(exponentials[target] / exponentials.sum() + 1e-9)
    return float(total)


@joint_log_probability.mistake(
    "the softmax goes over the positions. Each row, one position, has a softmax of its "
    "own, over the vocabulary."
)
def softmax_along_the_text(logits, targets):
    columns = [list(column) for column in zip(*logits, strict=True)]
    return sum(
        joint_log_probability.reference([columns[target]], [position])
        for position, target in enumerate(targets)
    )


@joint_log_probability.mistake(
    "a product of probabilities, and one logarithm at the end. On a long text the "
    "product underflows: add logs."
)
def log_of_product(logits, targets):
    product = 1.0
    for row, target in zip(logits, targets, strict=True):
        product *= math.exp(row[target] - max(row)) / sum(
            math.exp(score - max(row)) for score in row
        )
    return math.log(product)


@joint_log_probability.mistake(
    "a product of probabilities, and one logarithm at the end: it underflows to 0, and "
    "the log of 0 is minus infinity. Add logs."
)
def log_of_product_to_infinity(logits, targets):
    total = 1.0
    for row, target in zip(logits, targets, strict=True):
        exponentials = np.exp(np.array(row) - max(row))
        total *= exponentials[target] / exponentials.sum()
    with np.errstate(all="ignore"):
        return float(np.log(total))


@joint_log_probability.mistake(
    "the likeliest id of each row is scored. Score the target, likely or not."
)
def likeliest(logits, targets):
    best = [row.index(max(row)) for row in logits]
    return joint_log_probability.reference(logits, best)


@joint_log_probability.mistake(
    "shifted again: `logits[t]` belong to `targets[t]` already."
)
def shifted_again(logits, targets):
    return joint_log_probability.reference(logits[:-1], targets[1:])


@joint_log_probability.mistake(
    "the last target alone. The chain rule has one factor for each target."
)
def last_factor(logits, targets):
    return joint_log_probability.reference(logits[-1:], targets[-1:])


@joint_log_probability.mistake(
    "the largest logit is subtracted in the sum of the exponentials, but not added "
    "again: take it off the target's logit too."
)
def largest_not_added(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        total += row[target] - math.log(sum(math.exp(s - max(row)) for s in row))
    return total


@joint_log_probability.mistake(
    "logits are no probabilities: they may be negative, and have no logarithm. A "
    "softmax comes first."
)
def log_of_logits(logits, targets):
    return sum(math.log(row[t]) for row, t in zip(logits, targets, strict=True))


@joint_log_probability.mistake(
    "divided by the sum of the logits. A softmax divides exponentials."
)
def share_of_logits(logits, targets):
    return sum(
        math.log(row[target] / sum(row))
        for row, target in zip(logits, targets, strict=True)
    )


@joint_log_probability.mistake(
    "a product of logarithms. Probabilities are multiplied, so their logarithms are "
    "added."
)
def product_of_logarithms(logits, targets):
    return math.prod(
        joint_log_probability.reference([row], [target])
        for row, target in zip(logits, targets, strict=True)
    )


@joint_log_probability.mistake(
    "the first target alone. The chain rule has one factor for each target."
)
def first_target_alone(logits, targets):
    return joint_log_probability.reference(logits[:1], targets[:1])


@joint_log_probability.mistake(
    "the probabilities are added before the logarithm. They are multiplied: add their "
    "logarithms."
)
def logarithm_of_a_sum(logits, targets):
    return math.log(
        sum(
            math.exp(joint_log_probability.reference([row], [target]))
            for row, target in zip(logits, targets, strict=True)
        )
    )


@joint_log_probability.mistake(
    "the first row of logits is skipped: `logits[t]` belong to `targets[t]` already."
)
def skips_the_first_row(logits, targets):
    rows = logits[1:]
    return joint_log_probability.reference(rows, targets[: len(rows)])


@joint_log_probability.mistake(
    "one softmax over all positions together. Each row has its own: one id comes at "
    "each position."
)
def softmax_over_everything(logits, targets):
    everything = [score for row in logits for score in row]
    largest = max(everything)
    total = math.log(sum(math.exp(score - largest) for score in everything))
    return sum(
        row[target] - largest - total
        for row, target in zip(logits, targets, strict=True)
    )


@joint_log_probability.mistake(
    "the probabilities are added. That all targets come has the product of them as its "
    "probability: add their logarithms."
)
def adds_probabilities(logits, targets):
    return sum(
        math.exp(joint_log_probability.reference([row], [target]))
        for row, target in zip(logits, targets, strict=True)
    )


def _losses(random: Random) -> Iterator[Case]:
    yield ([0.0],)
    yield ([1.0],)
    for count in range(2, 8):
        yield ([round(random.uniform(0, 6), 2) for _ in range(count)],)
    yield ([round(random.uniform(1, 4), 2) for _ in range(1000)],)


@exercise(
    cases=_losses,
    hints=(
        "Perplexity is the number of equally likely choices that would give the same "
        "mean loss.",
        "The loss of one choice in n is ln n nats. Which function turns ln n into n?",
    ),
)
def perplexity(losses: list[float]) -> float:
    """Return the perplexity of a text, from the loss of each of its tokens in nats."""
    return math.exp(sum(losses) / len(losses))


@perplexity.mistake(
    "the mean comes last. One surprising token would outweigh all others: average "
    "first, then `exp`."
)
def mean_of_exponentials(losses):
    return sum(math.exp(loss) for loss in losses) / len(losses)


@perplexity.mistake("the base. These losses are nats: the base is e, not 2.")
def base_two(losses):
    return 2 ** (sum(losses) / len(losses))


@perplexity.mistake("the base. These losses are nats: the base is e, not 10.")
def base_ten_of_losses(losses):
    return 10 ** (sum(losses) / len(losses))


@perplexity.mistake(
    "two units in one formula: divided by ln 2 the mean is in bits, and `exp` wants "
    "nats. Take `exp` of nats, or 2 to the power of bits."
)
def exponential_of_bits(losses):
    return math.exp(sum(losses) / len(losses) / math.log(2))


@perplexity.mistake(
    "2 to the power of the mean times ln 2. Nats become bits by *dividing* by ln 2."
)
def two_to_the_wrong_bits(losses):
    return 2 ** (sum(losses) / len(losses) * math.log(2))


@perplexity.mistake(
    "a sum instead of a mean: the result grows with the length of the text."
)
def exponential_of_sum(losses):
    return math.exp(sum(losses))


@perplexity.mistake(
    "a sum instead of a mean: the result grows with the length of the text, until it "
    "is infinite."
)
def infinite_exponential_of_sum(losses):
    with np.errstate(all="ignore"):
        return float(np.exp(np.sum(losses)))


@perplexity.mistake(
    "`exp` of the sum, divided by the number of tokens. Divide first, inside `exp`."
)
def divided_too_late(losses):
    return math.exp(sum(losses)) / len(losses)


@perplexity.mistake(
    "right for a short text. For a long one `exp` of the sum overflows before the root "
    "is taken: divide inside `exp`."
)
def root_of_the_exponential(losses):
    return math.exp(sum(losses)) ** (1 / len(losses))


@perplexity.mistake(
    "right for a short text. For a long one the product is infinite before the root is "
    "taken: `exp` of the mean is the same number."
)
def root_of_the_product(losses):
    return math.prod(math.exp(loss) for loss in losses) ** (1 / len(losses))


@perplexity.mistake("the mean loss itself. Perplexity is its exponential.")
def mean_loss(losses):
    return sum(losses) / len(losses)


@perplexity.mistake(
    "the mean loss in bits. Perplexity is a number of choices: e to the mean in nats."
)
def mean_in_bits(losses):
    return sum(losses) / len(losses) / math.log(2)


@perplexity.mistake(
    "the sign: losses are *minus* the logarithms of probabilities already."
)
def minus_mean(losses):
    return math.exp(-sum(losses) / len(losses))


@perplexity.mistake(
    "the logarithm of the mean. Losses are logarithms already: the way back is `exp`."
)
def logarithm_of_mean(losses):
    return math.log(sum(losses) / len(losses))


@perplexity.mistake(
    "divided by one less than the number of losses: this is a mean, not a spread."
)
def one_less(losses):
    return math.exp(sum(losses) / (len(losses) - 1))


@perplexity.mistake(
    "a rounded number. A perplexity need not be whole: 5.6 choices are possible."
)
def rounded(losses):
    return round(math.exp(sum(losses) / len(losses)))


@perplexity.mistake("the median. Perplexity is made of the mean of all losses.")
def median(losses):
    return float(np.exp(np.median(losses)))


@perplexity.mistake(
    "the middle loss instead of the mean: a perplexity is `exp` of the mean."
)
def of_the_median(losses):
    return math.exp(sorted(losses)[len(losses) // 2])


@perplexity.mistake(
    "divided by one token less. A mean is divided by the number of losses."
)
def one_token_less(losses):
    return math.exp(sum(losses) / max(1, len(losses) - 1))


@perplexity.mistake(
    "divided by one token more. Each loss is a target already: divide by their number."
)
def one_token_more(losses):
    return math.exp(sum(losses) / (len(losses) + 1))


@perplexity.mistake("the last token alone. The mean goes over all tokens.")
def of_the_last(losses):
    return math.exp(losses[-1])


@perplexity.mistake(
    "the mean is rounded down by `//`. It is a fraction: divide with `/`."
)
def of_the_whole_mean(losses):
    return math.exp(sum(losses) // len(losses))


@perplexity.mistake("the worst token alone. The mean goes over all tokens.")
def of_the_largest(losses):
    return math.exp(max(losses))


@perplexity.mistake("e is not 2.718: it has more digits. Take `math.exp`.")
def rounded_base(losses):
    return 2.718 ** (sum(losses) / len(losses))


@perplexity.mistake(
    "one choice is taken off. exp(0) = 1 choice is right: no doubt at all."
)
def less_one(losses):
    return math.expm1(sum(losses) / len(losses))


@perplexity.mistake(
    "one over the mean *probability*. Perplexity is one over the geometric mean: `exp` "
    "of the mean loss."
)
def of_the_mean_probability(losses):
    return len(losses) / sum(math.exp(-loss) for loss in losses)


@perplexity.mistake(
    "a sum of exponentials. Average the losses first, then take `exp` once."
)
def sum_of_exponentials(losses):
    return sum(math.exp(loss) for loss in losses)


@perplexity.mistake("e *times* the mean. It is e to the power of the mean.")
def times_e(losses):
    return math.e * sum(losses) / len(losses)


@perplexity.mistake("rounded. Return the perplexity as it is.")
def rounded_to_cents(losses):
    return round(math.exp(sum(losses) / len(losses)), 2)


def _losses_of_texts(random: Random) -> Iterator[Case]:
    texts = (
        "a",
        "word",
        "naïve",
        "Größe",
        "三人行",
        "\N{GRINNING FACE}",
        "x ≤ y",
        " é\n",
    )
    for text in texts:
        counts = {1, len(text), max(1, len(text) // 2), len(text.encode())}
        for num_predicted in sorted(counts):
            yield round(random.uniform(0.5, 4), 2), num_predicted, text


@exercise(
    cases=_losses_of_texts,
    hints=(
        "Three steps: the nats of the whole text, then bits, then per byte.",
        "How many nats has the whole text? How many bits is one nat, more than 1 or "
        "less? And what does `text.encode()` return?",
    ),
)
def text_bits_per_byte(nats_per_token: float, num_predicted: int, text: str) -> float:
    """Return the loss of `text` in bits per UTF-8 byte."""
    bits = nats_per_token * num_predicted / math.log(2)
    return bits / len(text.encode())


@text_bits_per_byte.mistake(
    "characters are counted, not bytes: `len(text.encode())` differs for é, 三 and "
    "emoji."
)
def bits_per_character(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2) / len(text)


@text_bits_per_byte.mistake(
    "these are nats. A bit is ln 2 = 0.693 nats, so there are more bits than nats."
)
def nats_per_byte(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / len(text.encode())


@text_bits_per_byte.mistake(
    "these are nats, and per character: a bit is ln 2 nats, and é has two bytes."
)
def nats_per_character(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / len(text)


@text_bits_per_byte.mistake(
    "the loss is per token: multiply by `num_predicted` to get that of the text."
)
def one_token_only(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2) / len(text.encode())


@text_bits_per_byte.mistake(
    "that is in bits per *token*. The bytes of the text are still to come."
)
def bits_per_token(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2)


@text_bits_per_byte.mistake(
    "those are the bits of the whole text. Divide them by its number of bytes."
)
def bits_of_the_text(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2)


@text_bits_per_byte.mistake(
    "bytes and tokens are exchanged: multiply by the tokens, divide by the bytes."
)
def inverted(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2) * len(text.encode()) / num_predicted


@text_bits_per_byte.mistake(
    "divided by the tokens once more. The loss is per token already: multiply by them."
)
def divided_by_tokens(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2) / num_predicted / len(text.encode())


@text_bits_per_byte.mistake(
    "multiplied by ln 2 instead of divided: bits are the smaller unit."
)
def multiplied(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted * math.log(2) / len(text.encode())


@text_bits_per_byte.mistake(
    "divided by 2 instead of ln 2 = 0.693. A bit is the logarithm of 2, in nats."
)
def divided_by_two(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / 2 / len(text.encode())


@text_bits_per_byte.mistake(
    "the logarithm of the loss. The loss is a logarithm already, of base e: only its "
    "unit changes."
)
def logarithm_again(nats_per_token, num_predicted, text):
    return math.log2(nats_per_token) * num_predicted / len(text.encode())


@text_bits_per_byte.mistake(
    "divided by 8 as well. Bits *per byte* are asked for: the bytes are counted, not "
    "their bits."
)
def per_bit(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2) / (8 * len(text.encode()))


@text_bits_per_byte.mistake(
    "one token is taken off. `num_predicted` counts the predictions: all of them count."
)
def one_prediction_less(nats_per_token, num_predicted, text):
    return nats_per_token * (num_predicted - 1) / math.log(2) / len(text.encode())


@text_bits_per_byte.mistake("words are counted, not bytes: `len(text.encode())`.")
def bits_per_word(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2) / len(text.split())


@text_bits_per_byte.mistake(
    "the bytes of UTF-16. `text.encode()` without an argument is UTF-8."
)
def bytes_of_utf16(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2) / len(text.encode("utf-16"))


@text_bits_per_byte.mistake(
    "one token is added. `num_predicted` counts the predictions: there are no more."
)
def one_token_added(nats_per_token, num_predicted, text):
    nats = nats_per_token * (num_predicted + 1)
    return nats / math.log(2) / len(text.encode())


@text_bits_per_byte.mistake(
    "the bytes of UTF-16, without its mark. `text.encode()` is UTF-8."
)
def bytes_of_utf_16_alone(nats_per_token, num_predicted, text):
    nats = nats_per_token * num_predicted
    return nats / math.log(2) / len(text.encode("utf-16-le"))


@text_bits_per_byte.mistake("ln 2 is rounded to 0.69. Take `math.log(2)`.")
def rounded_to_two_digits(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / 0.69 / len(text.encode())


@text_bits_per_byte.mistake("ln 2 is rounded to 0.693. Take `math.log(2)`.")
def rounded_to_three_digits(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / 0.693 / len(text.encode())


@text_bits_per_byte.mistake(
    "the characters that are not ASCII are left out. They are bytes of the text as "
    "well: `text.encode()`."
)
def ascii_alone(nats_per_token, num_predicted, text):
    num_bytes = len(text.encode("ascii", "ignore"))
    return nats_per_token * num_predicted / math.log(2) / max(1, num_bytes)


@text_bits_per_byte.mistake(
    "one byte too few: all bytes of the text are counted, the first as well."
)
def one_byte_less(nats_per_token, num_predicted, text):
    num_bytes = max(1, len(text.encode()) - 1)
    return nats_per_token * num_predicted / math.log(2) / num_bytes


@text_bits_per_byte.mistake(
    "blanks at the ends of the text are left out. They are bytes as well."
)
def without_outer_blanks(nats_per_token, num_predicted, text):
    num_bytes = len(text.strip().encode())
    return nats_per_token * num_predicted / math.log(2) / num_bytes


@text_bits_per_byte.mistake(
    "`//` rounds down. Bits per byte are a fraction: divide with `/`."
)
def whole_bits(nats_per_token, num_predicted, text):
    return nats_per_token * num_predicted / math.log(2) // len(text.encode())


@text_bits_per_byte.mistake(
    "`exp` makes a perplexity. Bits are ln 2 nats each: divide by `math.log(2)`."
)
def perplexity_per_byte(nats_per_token, num_predicted, text):
    return math.exp(nats_per_token) * num_predicted / len(text.encode())


@text_bits_per_byte.mistake("bytes per bit. It is asked the other way round.")
def bytes_per_bit(nats_per_token, num_predicted, text):
    return len(text.encode()) * math.log(2) / (nats_per_token * num_predicted)


@text_bits_per_byte.mistake(
    "ASCII has no byte for é or 三. `text.encode()` without an argument is UTF-8."
)
def ascii_or_nothing(nats_per_token, num_predicted, text):
    num_bytes = len(text.encode("ascii"))
    return nats_per_token * num_predicted / math.log(2) / num_bytes


@text_bits_per_byte.mistake(
    "divided by the number of tokens, and not by that of bytes. The loss is per token "
    "already: multiply by the tokens for the whole text, then divide by its bytes."
)
def divides_by_the_tokens(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2) / num_predicted


# What each toy returns at t is a sum of ids with whole weights, so each change of an id
# that it depends on moves it, whatever the change is.


def _running_sum(ids):
    return [sum(ids[: t + 1]) for t in range(len(ids))]


def _itself(ids):
    return list(ids)


def _position(ids):
    return list(range(len(ids)))


def _number_of_ids(ids):
    return [len(ids)] * len(ids)


def _next_one(ids):
    return [*ids[1:], 0]


def _sum_of_all(ids):
    return [sum(ids)] * len(ids)


def _only_the_first_peeks(ids):
    return [ids[min(1, len(ids) - 1)], *ids[1:]]


def _the_first_peeks_at_the_last(ids):
    return [ids[-1], *ids[1:]]


def _two_ahead(ids):
    return [*ids[2:], 0, 0][: len(ids)]


def _only_at_the_last_pair(ids):
    return [*ids[:-2], *([ids[-1]] * min(2, len(ids)))]


def _the_third_peeks_at_the_fourth(ids):
    return [*ids[:2], *ids[3:4], *ids[3:]] if len(ids) > 3 else list(ids)


def _the_last_remembers_the_second(ids):
    return [*ids[:-1], ids[min(1, len(ids) - 1)]]


def _previous_one(ids):
    return [0, *ids[:-1]]


def _first_id(ids):
    return [ids[0]] * len(ids)


def _two_peek_and_cancel_out(ids):
    return [ids[-1], -ids[-1], *ids[2:]] if len(ids) > 2 else [0] * len(ids)


def _toy_models(random: Random) -> Iterator[Case]:
    toys = (
        _running_sum,
        _itself,
        _position,
        _number_of_ids,
        _next_one,
        _sum_of_all,
        _only_the_first_peeks,
        _the_first_peeks_at_the_last,
        _two_ahead,
        _only_at_the_last_pair,
        _the_third_peeks_at_the_fourth,
        _the_last_remembers_the_second,
        _previous_one,
        _first_id,
        _two_peek_and_cancel_out,
    )
    for length in (1, 2, 3, 5, 8):
        for toy in toys:
            yield toy, [random.randrange(9) for _ in range(length)]
            yield toy, [0] * length
            yield toy, [1] * length


@exercise(
    cases=_toy_models,
    hints=(
        "You cannot look inside the model, only call it. What happens to the outputs "
        "of a model that peeks if you change a later id?",
        "Change the id at one position in a copy, and compare the outputs *before* "
        "that position with those of the unchanged list. Which positions must you try, "
        "and when may you say that none peeks?",
    ),
)
def peeks(model, ids: list[int]) -> bool:
    """Return whether an output of `model` depends on a later id."""
    honest = model(ids)
    for position in range(1, len(ids)):
        altered = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        if model(altered)[:position] != honest[:position]:
            return True
    return False


def _changed(ids, position):
    return [*ids[:position], ids[position] + 1, *ids[position + 1 :]]


@peeks.mistake(
    "the output at the changed position is compared too. It may use its own input."
)
def blames_the_present(model, ids):
    return any(
        model(_changed(ids, p))[: p + 1] != model(ids)[: p + 1]
        for p in range(1, len(ids))
    )


@peeks.mistake(
    "the output at the changed position is compared too, even that of the first id. It "
    "may use its own input."
)
def blames_the_first(model, ids):
    return any(
        model(_changed(ids, p))[: p + 1] != model(ids)[: p + 1] for p in range(len(ids))
    )


@peeks.mistake(
    "only the last id is changed. A model may peek somewhere else: try every position."
)
def changes_the_last_only(model, ids):
    return model([*ids[:-1], ids[-1] + 1])[:-1] != model(ids)[:-1]


@peeks.mistake(
    "the last id is never changed: `range` stops before its end. A model may peek "
    "there alone."
)
def never_the_last(model, ids):
    return any(
        model(_changed(ids, p))[:p] != model(ids)[:p] for p in range(1, len(ids) - 1)
    )


@peeks.mistake(
    "only the second id is changed: the loop returns in its first round. Return False "
    "after the loop."
)
def returns_in_the_first_round(model, ids):
    return len(ids) > 1 and model(_changed(ids, 1))[:1] != model(ids)[:1]


@peeks.mistake(
    "only the second id is changed: the loop returns in its first round, and without a "
    "round, `None`. Return False after the loop."
)
def returns_in_the_first_round_or_none(model, ids):
    for position in range(1, len(ids)):
        return model(_changed(ids, position))[:position] != model(ids)[:position]


@peeks.mistake("only the first id is changed, and nothing stands before it.")
def changes_the_first_only(model, ids):
    return model([ids[0] + 1, *ids[1:]])[1:] != model(ids)[1:]


@peeks.mistake(
    "only the output just before the change is compared. A model may look two ahead: "
    "compare all outputs before it."
)
def neighbor_only(model, ids):
    return any(
        model(_changed(ids, p))[p - 1] != model(ids)[p - 1] for p in range(1, len(ids))
    )


@peeks.mistake(
    "only output 0 is compared. Each output before the change could give it away."
)
def first_output_only(model, ids):
    return any(model(_changed(ids, p))[0] != model(ids)[0] for p in range(1, len(ids)))


@peeks.mistake(
    "the output just before the change is left out, and it is the likeliest to peek."
)
def stops_too_early(model, ids):
    return any(
        model(_changed(ids, p))[: p - 1] != model(ids)[: p - 1]
        for p in range(1, len(ids))
    )


@peeks.mistake(
    "any difference counts as peeking. Later outputs may, and should, depend on the "
    "id that was changed."
)
def any_difference(model, ids):
    return any(model(_changed(ids, p)) != model(ids) for p in range(len(ids)))


@peeks.mistake(
    "any difference counts as peeking: the output at the changed id, and all after it, "
    "may move."
)
def any_difference_but_the_first(model, ids):
    return any(model(_changed(ids, p)) != model(ids) for p in range(1, len(ids)))


@peeks.mistake(
    "the outputs *after* the change are compared. They may move; those before it may "
    "not."
)
def compares_the_future(model, ids):
    return any(
        model(_changed(ids, p))[p + 1 :] != model(ids)[p + 1 :] for p in range(len(ids))
    )


@peeks.mistake(
    "the outputs from the changed id on are compared. They may move; those before it "
    "may not."
)
def compares_from_the_change_on(model, ids):
    return any(
        model(_changed(ids, p))[p:] != model(ids)[p:] for p in range(1, len(ids))
    )


@peeks.mistake("the answer is upside down: True means that the model peeks.")
def upside_down(model, ids):
    return not peeks.reference(model, ids)


@peeks.mistake(
    "where the id is 0 nothing changes: to set it to 0, or to change its sign, leaves "
    "it as it is. Add 1 to it."
)
def replaces_by_zero(model, ids):
    return any(
        model([*ids[:p], 0, *ids[p + 1 :]])[:p] != model(ids)[:p]
        for p in range(1, len(ids))
    )


@peeks.mistake(
    "the id is replaced by 1. Where it is 1 already nothing changes: add 1 to it."
)
def replaces_by_one(model, ids):
    return any(
        model([*ids[:p], 1, *ids[p + 1 :]])[:p] != model(ids)[:p]
        for p in range(1, len(ids))
    )


@peeks.mistake(
    "the changes pile up. Begin each round with a fresh copy of `ids`, so that a "
    "single id differs."
)
def piles_up(model, ids):
    altered = list(ids)
    for position in range(1, len(ids)):
        altered[position] += 1
        if model(altered)[:position] != model(ids)[:position]:
            return True
    return False


@peeks.mistake(
    "the model is called on shorter texts. What it puts where no next id exists may "
    "look like one, and its length may count: change an id, and keep the length."
)
def compares_with_prefixes(model, ids):
    return any(
        model(ids[:length]) != model(ids)[:length] for length in range(1, len(ids))
    )


@peeks.mistake(
    "an output is compared with a later id. Equal by chance is no proof, and a leak "
    "need not copy: change an id, and see what moves."
)
def compares_values(model, ids):
    return any(model(ids)[t] == ids[t + 1] for t in range(len(ids) - 1))


@peeks.mistake(
    "the outputs are compared with the ids. Change an id instead, and see what moves."
)
def equal_to_the_next_ids(model, ids):
    return model(ids)[:-1] == ids[1:]


@peeks.mistake(
    "False for every model. Is an id really changed, in a copy, between the two calls "
    "that are compared?"
)
def never(model, ids):
    return False


@peeks.mistake("True for every model, even one that does not look at its ids at all.")
def always(model, ids):
    return True


@peeks.mistake(
    "only the last id is changed, and its own output is compared too. Try every "
    "position, and compare the outputs *before* it."
)
def last_changed_all_compared(model, ids):
    return model(_changed(ids, len(ids) - 1)) != model(ids)


@peeks.mistake(
    "only the first id is changed, and all outputs may depend on that one. Change the "
    "later ids, and compare the outputs before them."
)
def first_changed_all_compared(model, ids):
    return model(_changed(ids, 0)) != model(ids)


@peeks.mistake(
    "*every* later id must move an output here. A single one is enough: `any`, not "
    "`all`."
)
def all_for_any(model, ids):
    honest = model(ids)
    return all(model(_changed(ids, p))[:p] != honest[:p] for p in range(1, len(ids)))


@peeks.mistake(
    "the ids are put in reverse order. That changes the earlier ids of an output as "
    "well, and these it may use."
)
def reversed_ids(model, ids):
    return model(ids[::-1]) != model(ids)


@peeks.mistake(
    "the ids are put in reverse order, and the outputs back. A model that uses earlier "
    "ids is no palindrome: change single ids."
)
def there_and_back(model, ids):
    return model(ids[::-1])[::-1] != model(ids)


@peeks.mistake(
    "an output is compared with all later ids. Equal by chance is no proof, and a leak "
    "need not copy: change an id, and see what moves."
)
def among_later_ids(model, ids):
    return any(output in ids[t + 1 :] for t, output in enumerate(model(ids)))


@peeks.mistake(
    "only the middle id is changed. A model may peek somewhere else: try them all."
)
def middle_only(model, ids):
    middle = len(ids) // 2
    return model(_changed(ids, middle))[:middle] != model(ids)[:middle]


@peeks.mistake(
    "the position at which it peeks, or `None`. Whether it does, True or False."
)
def position_that_leaks(model, ids):
    honest = model(ids)
    for p in range(1, len(ids)):
        if model(_changed(ids, p))[:p] != honest[:p]:
            return p
    return None


@peeks.mistake(
    "each id is given to the model alone. An output may use all ids up to its own: "
    "keep them."
)
def one_id_at_a_time(model, ids):
    honest = model(ids)
    return any(model([token]) != honest[t : t + 1] for t, token in enumerate(ids))


@peeks.mistake(
    "only the last id is changed, and only the output before it compared. Try every "
    "position, and all outputs before it."
)
def last_pair_only(model, ids):
    return len(ids) > 1 and model(_changed(ids, len(ids) - 1))[-2] != model(ids)[-2]


@peeks.mistake(
    "sums of outputs are compared: two that move may cancel out. Compare the outputs "
    "themselves."
)
def compares_sums(model, ids):
    honest = model(ids)
    return any(
        sum(model(_changed(ids, p))[:p]) != sum(honest[:p]) for p in range(1, len(ids))
    )


@peeks.mistake(
    "the text without its first id is compared. Outputs may depend on the first id: "
    "change a later one."
)
def without_the_first_id(model, ids):
    return model(ids[1:]) != model(ids)[1:]


@peeks.mistake(
    "the model is called on half of the text. Its length may count, and it may peek "
    "within a half: change an id, and keep the length."
)
def half_of_the_text(model, ids):
    half = len(ids) // 2
    return model(ids[:half]) != model(ids)[:half]


@peeks.mistake(
    "outputs of unequal number are compared: a text of p ids has p outputs, and lists "
    "of different lengths are never equal."
)
def prefixes_of_other_lengths(model, ids):
    lengths = range(1, len(ids) + 1)
    return any(model(ids[:n]) != model(ids)[: n + 1] for n in lengths)


@peeks.mistake(
    "the outputs from the changed position on are compared. These may move: a model "
    "that peeks moves one *before* it."
)
def compares_what_follows(model, ids):
    before = model(list(ids))
    for position in range(len(ids)):
        changed = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        if model(changed)[position:] != before[position:]:
            return True
    return False


# -- Bug or not? ----------------------------------------------------------------------


def _windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        yield (list(range(size)),)
        yield ([random.randrange(20) for _ in range(size)],)


def aligned_pairs(window: list[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(window))


@bug_or_not(
    purpose="To pair each id of a window of T + 1 ids, but the last, with the id that "
    "follows it in the text.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "A roll has no end to fall off: one pair too many, in which the last id is "
        "asked for the *first* of its own window. That target is noise, and the loss "
        "still looks plausible. A window of T + 1 ids has T pairs."
    ),
)
def rolled_targets(window: list[int]) -> list[tuple[int, int]]:
    inputs = window
    targets = window[1:] + window[:1]  # torch.roll(window, -1)
    return list(zip(inputs, targets, strict=True))


@bug_or_not(
    purpose="To hand a window to a model of the library `transformers`, so that each "
    "id is scored against the one that follows it. These models shift the labels "
    "themselves, as the last line shows.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "It looks like a missing shift, and is none: the model drops the last logits "
        "and the first label, and so aligns them. Whoever shifts the labels before "
        "makes it a double shift: nothing fails, each input is asked for the token "
        "after the next, and the loss stays too high. So find out who shifts."
    ),
)
def labels_for_transformers(window: list[int]) -> list[tuple[int, int]]:
    inputs = window
    labels = list(window)
    # inside the model: logits[:-1] are scored against labels[1:]
    return list(zip(inputs[:-1], labels[1:], strict=True))


@true_or_false(
    claim="“The inputs are the targets, *shifted right*, with the window's first id "
    "in the place that becomes free” and “the targets are the window, *shifted left*” "
    "make the same pairs of an input and a target.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "It is one step, seen from two sides. Written from left to right, a list whose "
        "first id is dropped moves to the left: those are the targets. A list that "
        "gets an id in front moves to the right: those are the inputs. So a text may "
        "say either word; check what stands under what."
    ),
)
def shifted_right_or_left(window: list[int]) -> list[tuple[int, int]]:
    targets = window[1:]
    inputs = [window[0], *targets[:-1]]
    return list(zip(inputs, targets, strict=True))


def _batches_of_losses(random: Random) -> Iterator[Case]:
    for full_batches in range(1, 4):
        for last in range(1, 5):
            sizes = [4] * full_batches + [last]
            yield (
                [
                    [round(random.uniform(0, 4), 2) for _ in range(size)]
                    for size in sizes
                ],
            )


def mean_over_tokens(batches: list[list[float]]) -> float:
    losses = [loss for batch in batches for loss in batch]
    return sum(losses) / len(losses)


@bug_or_not(
    purpose="To return the mean loss per token of a text that was scored in batches. "
    "Each batch is the list of its tokens' losses; the last one may be shorter.",
    reference=mean_over_tokens,
    cases=_batches_of_losses,
    explanation=(
        "A mean of means weighs every batch the same, so each token of a short last "
        "batch counts for more. Add up the losses and the tokens, and divide once."
    ),
)
def average_of_batch_losses(batches: list[list[float]]) -> float:
    means = [sum(batch) / len(batch) for batch in batches]
    return sum(means) / len(means)


# With other numbers by seed.


@numbers(
    ask="A batch holds {batch_size} windows of {window} ids each. In how many places "
    "is a next token predicted, and scored?",
    draw=lambda rng: {
        "batch_size": rng.randrange(4, 65),
        "window": rng.randrange(9, 260),
    },
    hints=("How many inputs has a window, if each needs the id that follows it?",),
)
def predictions_of_batch(batch_size: int, window: int) -> int:
    return batch_size * (window - 1)


@predictions_of_batch.mistake(
    "all ids of the batch. The last of each window has no next one in it."
)
def every_id_predicts(batch_size, window):
    return batch_size * window


@predictions_of_batch.mistake(
    "one for the whole batch is taken off: each of its windows has a last id."
)
def one_last_id(batch_size, window):
    return batch_size * window - 1


@predictions_of_batch.mistake("those of one window. A batch holds several.")
def one_window_alone(batch_size, window):
    return window - 1


@numbers(
    ask="A text of {num_bytes:,} bytes is {num_predicted:,} predicted tokens long, and "
    "a model's mean loss on them is {loss} nats a token. How many bits a byte is that?",
    draw=lambda rng: {
        "num_bytes": rng.randrange(20_000, 90_000),
        "num_predicted": rng.randrange(5_000, 15_000),
        "loss": rng.randrange(150, 450) / 100,
    },
    hints=(
        "First all nats of the text, then all its bits, then those of one byte.",
        "A bit is ln 2 nats: divide.",
    ),
)
def bits_a_byte(num_bytes: int, num_predicted: int, loss: float) -> float:
    return loss * num_predicted / math.log(2) / num_bytes


@bits_a_byte.mistake("nats a byte: divide by ln 2 as well.")
def nats_a_byte(num_bytes, num_predicted, loss):
    return loss * num_predicted / num_bytes


@bits_a_byte.mistake("bits a token. How many tokens does a byte have?")
def bits_a_token(num_bytes, num_predicted, loss):
    return loss / math.log(2)


@bits_a_byte.mistake("times ln 2. There are more bits than nats: divide by it.")
def times_ln_2(num_bytes, num_predicted, loss):
    return loss * num_predicted * math.log(2) / num_bytes


@bits_a_byte.mistake("bytes and tokens are exchanged.")
def bytes_for_tokens(num_bytes, num_predicted, loss):
    return loss * num_bytes / math.log(2) / num_predicted


@numbers(
    ask="On the first {first:,} tokens of a text the mean loss is {loss} nats, on the "
    "other {second:,} it is {other_loss} nats. What is the perplexity of all of it?",
    draw=lambda rng: {
        "first": rng.randrange(100, 1_000),
        "loss": rng.randrange(300, 400) / 100,
        "second": rng.randrange(2_000, 9_000),
        "other_loss": rng.randrange(150, 250) / 100,
    },
    hints=(
        "Perplexity is e to the mean loss. How many tokens does each mean stand for?",
    ),
)
def perplexity_of_parts(
    first: int, loss: float, second: int, other_loss: float
) -> float:
    return math.exp((first * loss + second * other_loss) / (first + second))


@perplexity_of_parts.mistake(
    "the mean of the two means: it counts a token of the short part more than others."
)
def mean_of_means(first, loss, second, other_loss):
    return math.exp((loss + other_loss) / 2)


@perplexity_of_parts.mistake(
    "the mean of the two perplexities. Take the mean of the losses, and then e to it."
)
def mean_of_perplexities(first, loss, second, other_loss):
    parts = first * math.exp(loss) + second * math.exp(other_loss)
    return parts / (first + second)


@perplexity_of_parts.mistake("2 to the mean loss. In nats, it is e to it.")
def two_to_the_loss(first, loss, second, other_loss):
    return 2 ** ((first * loss + second * other_loss) / (first + second))


@perplexity_of_parts.mistake("the mean loss itself. Perplexity is e to it.")
def the_loss_itself(first, loss, second, other_loss):
    return (first * loss + second * other_loss) / (first + second)
