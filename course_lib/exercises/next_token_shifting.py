"""Exercises of lesson 01: make examples, mask, add up, convert, and catch what
peeks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise

PAD = 0


def _streams_with_starts(random: Random) -> Iterator[Case]:
    for context_length in range(1, 6):
        for extra in range(3):
            ids = list(range(10, 10 + context_length + 1 + extra))
            yield from ((ids, start, context_length) for start in range(extra + 1))
            yield [random.randrange(50) for _ in ids], extra, context_length


@exercise(
    cases=_streams_with_starts,
    hints=(
        "Two slices of the same length: which one starts one id later?",
        "`ids[a : a + T]` has T items. The inputs start at `start`, the targets at "
        "`start + 1`.",
    ),
)
def make_example(
    ids: list[int], start: int, context_length: int
) -> tuple[list[int], list[int]]:
    """Return the inputs and the targets of the window at `start`, `context_length` ids
    each."""
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
    return ids[start : start + context_length], ids[
        start + 2 : start + 2 + context_length
    ]


@make_example.mistake(
    "an inclusive bound. Both halves have T + 1 ids, where the stream has so many."
)
def inclusive_bound(ids, start, context_length):
    return ids[start : start + context_length + 1], ids[
        start + 1 : start + context_length + 2
    ]


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
    return ids[start + 1 : start + 1 + context_length], ids[
        start : start + context_length
    ]


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
    "the targets are the T ids *after* the inputs, and not the same ids one position "
    "later."
)
def following_block(ids, start, context_length):
    first = ids[start : start + context_length]
    return first, ids[start + context_length : start + 2 * context_length]


@make_example.mistake("`start` is ignored: every window begins at 0.")
def always_the_first(ids, start, context_length):
    return ids[:context_length], ids[1 : context_length + 1]


def _padded_windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        for length in range(1, size + 1):
            # the pad id may stand in a text too
            text = [random.choice((PAD, 5, 6, 7)) for _ in range(length)]
            yield text + [PAD] * (size - length), length
            yield list(range(1, length + 1)) + [PAD] * (size - length), length


@exercise(
    cases=_padded_windows,
    hints=(
        "Which is the last position of the inputs whose target is still a real id?",
        "The target at t is the id at t + 1 of the window. It is real if t + 1 < "
        "length.",
    ),
)
def padded_targets(window: list[int], length: int) -> list[int]:
    """Return the targets of a padded window, with -100 in place of each padding.

    The first `length` ids of the window are text, the others padding. The pad id may
    occur in a text too.
    """
    return [target if t + 1 < length else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "an off-by-one. The mask is right for the inputs, but targets end one position "
    "earlier."
)
def mask_of_inputs(window, length):
    return [target if t < length else -100 for t, target in enumerate(window[1:])]


@padded_targets.mistake(
    "the padding is told by its id. A real token with that id is lost: use `length`."
)
def mask_by_id(window, length):
    return [target if target != PAD else -100 for target in window[1:]]


@padded_targets.mistake(
    "nothing is masked. The model would be praised for predicting padding."
)
def no_mask(window, length):
    return window[1:]


@padded_targets.mistake("the targets are not shifted: they are the inputs, masked.")
def unshifted_mask(window, length):
    return [target if t < length else -100 for t, target in enumerate(window[:-1])]


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


def _logits_and_targets(random: Random) -> Iterator[Case]:
    # exp() of these overflows, or leaves only zeros
    yield (
        [[800.0, 790.0], [-800.0, -790.0]],
        [0, 1],
    )
    # a product of so many probabilities underflows
    yield (
        [[0.0, 0.5]] * 2000,
        [0] * 2000,
    )
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
        "The chain rule multiplies probabilities, so logarithms are added.",
        "At each position: the logit of the target, minus the log of the sum of all "
        "`exp(logit)` of that row. If `exp` overflows, subtract the largest logit of "
        "the row from all of them first: the softmax stays the same.",
    ),
)
def joint_log_probability(logits: list[list[float]], targets: list[int]) -> float:
    """Return the natural log of the probability that the model gives to all `targets`
    together.

    `logits[t]` has one score for each id of the vocabulary; a softmax makes
    probabilities of them.
    """
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        largest = max(row)  # subtracted and added again, so that exp() cannot overflow
        total += (
            row[target]
            - largest
            - math.log(sum(math.exp(score - largest) for score in row))
        )
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
    "the sign. Logs of probabilities are negative; minus their sum is the loss."
)
def negated(logits, targets):
    return -joint_log_probability.reference(logits, targets)


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


def _losses(random: Random) -> Iterator[Case]:
    yield ([0.0],)
    yield ([1.0],)
    for count in range(2, 8):
        yield ([round(random.uniform(0, 6), 2) for _ in range(count)],)


@exercise(
    cases=_losses,
    hints=(
        "Perplexity is the number of equally likely choices that would give the same "
        "mean loss.",
        "The loss of one choice in n is ln n. So: `exp` of what?",
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


@perplexity.mistake(
    "a sum instead of a mean: the result grows with the length of the text."
)
def exponential_of_sum(losses):
    return math.exp(sum(losses))


@perplexity.mistake("the mean loss itself. Perplexity is its exponential.")
def mean_loss(losses):
    return sum(losses) / len(losses)


@perplexity.mistake(
    "the sign: losses are *minus* the logarithms of probabilities already."
)
def minus_mean(losses):
    return math.exp(-sum(losses) / len(losses))


def _losses_of_texts(random: Random) -> Iterator[Case]:
    for text in ("a", "word", "naïve", "Größe", "三人行", "\N{GRINNING FACE}", "x ≤ y"):
        for num_tokens in {1, len(text), max(1, len(text) // 2)}:
            yield round(random.uniform(0.5, 4), 2), num_tokens, text


@exercise(
    cases=_losses_of_texts,
    hints=(
        "Three steps: the nats of the whole text, then bits, then per byte.",
        "One bit is ln 2 nats. `text.encode()` are the UTF-8 bytes.",
    ),
)
def text_bits_per_byte(nats_per_token: float, num_tokens: int, text: str) -> float:
    """Return the loss of `text` in bits per UTF-8 byte, given its mean loss per token
    and its number of tokens."""
    bits = nats_per_token * num_tokens / math.log(2)
    return bits / len(text.encode())


@text_bits_per_byte.mistake(
    "characters are counted, not bytes: `len(text.encode())` differs for é, 三 and "
    "emoji."
)
def bits_per_character(nats_per_token, num_tokens, text):
    return nats_per_token * num_tokens / math.log(2) / len(text)


@text_bits_per_byte.mistake(
    "these are nats. A bit is ln 2 = 0.693 nats, so there are more bits than nats."
)
def nats_per_byte(nats_per_token, num_tokens, text):
    return nats_per_token * num_tokens / len(text.encode())


@text_bits_per_byte.mistake(
    "the loss is per token: multiply by `num_tokens` to get that of the text."
)
def one_token_only(nats_per_token, num_tokens, text):
    return nats_per_token / math.log(2) / len(text.encode())


@text_bits_per_byte.mistake(
    "multiplied by ln 2 instead of divided: bits are the smaller unit."
)
def multiplied(nats_per_token, num_tokens, text):
    return nats_per_token * num_tokens * math.log(2) / len(text.encode())


def _running_sum(ids):
    return [sum(ids[: t + 1]) for t in range(len(ids))]


def _itself(ids):
    return list(ids)


def _position(ids):
    return list(range(len(ids)))


def _next_one(ids):
    return [*ids[1:], 0]


def _mean_of_all(ids):
    return [sum(ids) / len(ids)] * len(ids)


def _only_the_first_peeks(ids):
    return [ids[min(1, len(ids) - 1)], *ids[1:]]


def _previous_one(ids):
    return [0, *ids[:-1]]


def _toy_models(random: Random) -> Iterator[Case]:
    toys = (
        _running_sum,
        _itself,
        _position,
        _next_one,
        _mean_of_all,
        _only_the_first_peeks,
        _previous_one,
    )
    for length in (2, 3, 5, 8):
        yield from ((toy, [random.randrange(9) for _ in range(length)]) for toy in toys)


@exercise(
    cases=_toy_models,
    hints=(
        "Change one id, call the model again, and compare the outputs before that id.",
        "Do it for every position from 1 on: `model(altered)[:position]` must equal "
        "`model(ids)[:position]`.",
    ),
)
def peeks(model, ids: list[int]) -> bool:
    """Return whether an output of `model` depends on a later id.

    The model maps a list of ids to a list of as many outputs; the output at t may use
    the ids up to t.
    """
    honest = model(ids)
    for position in range(1, len(ids)):
        altered = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        if model(altered)[:position] != honest[:position]:
            return True
    return False


@peeks.mistake(
    "the output at the changed position is compared too. It may use its own input."
)
def blames_the_present(model, ids):
    for position in range(1, len(ids)):
        altered = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        if model(altered)[: position + 1] != model(ids)[: position + 1]:
            return True
    return False


@peeks.mistake(
    "only the last id is changed. A model may peek somewhere else: try every position."
)
def changes_the_last_only(model, ids):
    return model([*ids[:-1], ids[-1] + 1])[:-1] != model(ids)[:-1]


@peeks.mistake(
    "any difference counts as peeking. Later outputs may, and should, depend on the "
    "id that was changed."
)
def any_difference(model, ids):
    return any(
        model([*ids[:p], ids[p] + 1, *ids[p + 1 :]]) != model(ids)
        for p in range(len(ids))
    )


def _windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        yield (list(range(size)),)
        yield ([random.randrange(20) for _ in range(size)],)


def aligned_pairs(window: list[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(window))


@bug_or_not(
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "A roll has no end to fall off: the last input is asked to predict the "
        "*first* token of its own window. One target in T is noise, and the loss "
        "still looks plausible. Only the (T + 1)-th id of the window can fill that "
        "place."
    ),
)
def rolled_targets(window: list[int]) -> list[tuple[int, int]]:
    inputs = window
    targets = window[1:] + window[:1]  # torch.roll(window, -1)
    return list(zip(inputs, targets, strict=True))


@bug_or_not(
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "The labels are shifted once when they are made, and again inside the model, "
        "as models of `transformers` do. Each input is asked for the token after the "
        "next. Nothing fails; the loss just stays too high. For such a model, labels "
        "are the inputs themselves."
    ),
)
def labels_for_transformers(window: list[int]) -> list[tuple[int, int]]:
    inputs, labels = window[:-1], window[1:]
    # inside the model: logits[:-1] are scored against labels[1:]
    return list(zip(inputs[:-1], labels[1:], strict=True))


@bug_or_not(
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "Two slices of the stream, one position apart, are the same as one window of "
        "T + 1 ids split in two. It costs a second read, but every pair is right."
    ),
)
def two_slices(window: list[int]) -> list[tuple[int, int]]:
    start, context_length = 0, len(window) - 1
    x = window[start : start + context_length]
    y = window[start + 1 : start + 1 + context_length]
    return list(zip(x, y, strict=True))


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
