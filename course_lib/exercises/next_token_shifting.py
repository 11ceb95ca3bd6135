"""Exercises of lesson 01: make examples, find a shift, mask, convert, and catch a model
that peeks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from random import Random

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false

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
        "You need two slices of the same length. Which of them starts one id later?",
        "`ids[a : b]` has b - a items. Work out where each of your two slices begins, "
        "and add the length to find where it ends.",
    ),
)
def make_example(
    ids: list[int], start: int, context_length: int
) -> tuple[list[int], list[int]]:
    """Return the inputs and the targets of the window at `start`."""
    inputs = ids[start : start + context_length]
    targets = ids[start + 1 : start + 1 + context_length]
    return inputs, targets


make_example.mistake(
    "you don't shift: your targets are the inputs again, and a model that only copies "
    "would get a loss of 0.",
    lambda ids, start, T: (ids[start : start + T], ids[start : start + T]),
)
make_example.mistake(
    "you take the whole window as inputs, although its last id is only a target.",
    lambda ids, start, T: (ids[start : start + T + 1], make_example(ids, start, T)[1]),
)
make_example.mistake(
    "you read one id too few. T inputs and their T targets take T + 1 ids.",
    lambda ids, start, T: (ids[start : start + T], ids[start + 1 : start + T]),
    lambda ids, start, T: make_example(ids, start, T - 1),
)
make_example.mistake(
    "you leave `start` out somewhere. The inputs begin at `start`, and their slice "
    "ends at `start + context_length`.",
    lambda ids, start, T: make_example(ids, 0, T),
    lambda ids, start, T: (ids[start:T], ids[start + 1 : T + 1]),
)
make_example.mistake(
    "you return a single target, but a window asks T questions, one at each of its "
    "inputs.",
    lambda ids, start, T: (ids[start : start + T], ids[start + T]),
    lambda ids, start, T: (ids[start : start + T], [ids[start + T]]),
)
make_example.mistake(
    "you take the next block of T ids as targets, but each input is asked for the very "
    "next id. Shift by one place, not by T.",
    lambda ids, start, T: (ids[start : start + T], ids[start + T : start + 2 * T]),
)


def _batches_of_some_shift(random: Random) -> Iterator[Case]:
    yield [[5, 6, 7, 8]], [[7, 8, 9, 5]]
    yield [[3]], [[3]]
    # one row fits a smaller shift, or one place does, but not all of them
    yield [[4, 4, 4, 4], [1, 2, 3, 5]], [[4, 4, 4, 4], [2, 3, 5, 1]]
    yield [[1, 2, 3, 5], [4, 4, 4, 4]], [[2, 3, 5, 1], [4, 4, 4, 4]]
    alike = [4, 4, 4, 4]
    for place in (1, 2):  # of the only row that decides
        inputs, targets = [alike] * 4, [alike] * 4
        inputs[place], targets[place] = [1, 2, 3, 5], [3, 5, 1, 2]
        yield inputs, targets
    yield [[1, 1, 2, 3]], [[1, 2, 3, 1]]
    yield [[2, 3, 1, 2, 4]], [[1, 2, 4, 2, 3]]
    yield [[6, 7, 6, 8]], [[6, 8, 6, 7]]
    yield [[1, 2, 1, 2, 1, 2]], [[2, 1, 2, 1, 2, 1]]
    for length in range(2, 8):
        for shift in range(min(length, 4)):
            for num_rows in (1, 2, 3):
                for ids in (range(10, 90), [random.randrange(4) for _ in range(80)]):
                    starts = [random.randrange(60) for _ in range(num_rows)]
                    yield (
                        [list(ids[s : s + length]) for s in starts],
                        [list(ids[s + shift : s + shift + length]) for s in starts],
                    )


@exercise(
    cases=_batches_of_some_shift,
    hints=(
        "Try d = 0, then d = 1, and so on. How would you check a single d on a single "
        "row?",
        "Compare place t of the targets with place t + d of the inputs. For which t "
        "does a row of T inputs have a place t + d? And when is d wrong, as soon as "
        "one place differs, or only if all of them do?",
    ),
)
def find_shift(inputs: list[list[int]], targets: list[list[int]]) -> int:
    """Return how many places the targets are ahead of the inputs."""
    length = len(inputs[0])
    for d in range(length):
        rows = zip(inputs, targets, strict=True)
        if all(row[d:] == asked[: length - d] for row, asked in rows):
            return d
    raise ValueError("no shift fits")


def _fitting(
    X: list[list[int]],
    Y: list[list[int]],
    fits=lambda x, y, d: x[d:] == y[: len(y) - d],
) -> list[int]:
    """Return all shifts that fit in all rows."""
    rows = list(zip(X, Y, strict=True))
    return [d for d in range(len(X[0])) if all(fits(x, y, d) for x, y in rows)]


find_shift.mistake(
    "you never find d = 0, a loader that doesn't shift at all. Begin the search there, "
    "and beware of the slice `[:-0]`, which is empty.",
    lambda X, Y: next((d for d in _fitting(X, Y) if d > 0), None),
)
find_shift.mistake(
    "you're satisfied if one row fits, or a few, but they may fit a smaller d by "
    "chance, so every row must fit.",
    lambda X, Y: find_shift(X[:1], Y[:1]),
    lambda X, Y: min(find_shift([x], [y]) for x, y in zip(X, Y, strict=True)),
    lambda X, Y: find_shift(X[:2], Y[:2]),
    lambda X, Y: find_shift([X[0], X[-1]], [Y[0], Y[-1]]),
)
find_shift.mistake(
    "you compare a single place, but ids repeat. Compare all places that have an input "
    "d places further on.",
    lambda X, Y: _fitting(X, Y, lambda x, y, d: x[d] == y[0])[0],
    lambda X, Y: X[0].index(Y[0][0]),
)
find_shift.mistake(
    "you ask how far the inputs are ahead of the targets, but it's the other way "
    "around.",
    lambda X, Y: next(iter(_fitting(Y, X)), None),
)
find_shift.mistake(
    "you roll the rows, so you compare the last d targets with the first d inputs. "
    "Leave those targets out.",
    lambda X, Y: next(iter(_fitting(X, Y, lambda x, y, d: x[d:] + x[:d] == y)), None),
)
find_shift.mistake(
    "you subtract ids, which gives a distance only in a stream that counts 0, 1, 2, "
    "and so on.",
    lambda X, Y: Y[0][0] - X[0][0],
)


def _padded_windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        for length in range(size + 1):
            # the pad id may also occur in a text, and need not be 0
            for pad in (PAD, 9):
                text = [random.choice((pad, 5, 6, 7)) for _ in range(length)]
                yield text + [pad] * (size - length), length
            yield list(range(1, length + 1)) + [PAD] * (size - length), length
    yield [7, PAD, PAD, PAD, 8, PAD], 5
    yield [5, 6, 9, 9, 9, 9], 4


@exercise(
    cases=_padded_windows,
    hints=(
        "Write down a window with its targets below it, and cross out the padding. How "
        "many targets does a text of 4 ids leave?",
        "The target of input t is the id at t + 1 of the window. So check whether t + "
        "1, not t, is a position of the text.",
    ),
)
def padded_targets(window: list[int], length: int) -> list[int]:
    """Return the targets of a padded window, with -100 in place of each padding."""
    return [target if t + 1 < length else -100 for t, target in enumerate(window[1:])]


def _masked_from(window: list[int], first: int) -> list[int]:
    return [-100 if t >= first else id for t, id in enumerate(window[1:])]


padded_targets.mistake(
    "you put the mask where it fits the inputs, but target t is the id at t + 1, so "
    "the targets end one place earlier.",
    lambda window, length: _masked_from(window, length),
)
padded_targets.mistake(
    "you recognize padding by its id, but a real token may have the same id. Go by "
    "`length`.",
    lambda window, length: [-100 if id == PAD else id for id in window[1:]],
    lambda window, length: [-100 if id == window[-1] else id for id in window[1:]],
)
padded_targets.mistake(
    "you mask, but you don't shift. The targets are the window without its first id.",
    lambda window, length: window[:length] + [-100] * (len(window) - length),
    lambda window, length: (window[:length] + [-100] * (len(window) - length))[:-1],
)
padded_targets.mistake(
    "you mark padding with 0, which is an id like any other and would be scored. Mark "
    "it with -100.",
    lambda window, length: [
        PAD if target == -100 else target for target in padded_targets(window, length)
    ],
)
padded_targets.mistake(
    "if `length` is 0, you return too many targets. A window that's all padding has T "
    "of them, like any other, and each is -100.",
    lambda window, length: window[1:length] + [-100] * (len(window) - length),
    lambda window, length: window[1:][: length - 1] + [-100] * (len(window) - length),
)
padded_targets.mistake(
    "you mask one target too many. The last id of the text is a target that counts.",
    lambda window, length: _masked_from(window, length - 2),
)


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
        "Take three steps: first the nats of the whole text, then its bits, then bits "
        "per byte.",
        "How many nats are there in the whole text? Is one nat more than one bit, or "
        "less? And what does `text.encode()` return?",
    ),
)
def text_bits_per_byte(nats_per_token: float, num_predicted: int, text: str) -> float:
    """Return the loss of `text` in bits per UTF-8 byte."""
    bits = nats_per_token * num_predicted / math.log(2)
    return bits / len(text.encode())


text_bits_per_byte.mistake(
    "you count characters, not bytes, although é, 三 and emoji take more than one.",
    lambda nats, count, text: nats * count / math.log(2) / len(text),
)
text_bits_per_byte.mistake(
    "you stop at nats. A bit is ln 2 = 0.693 nats, so divide by that.",
    lambda nats, count, text: nats * count / len(text.encode()),
)
text_bits_per_byte.mistake(
    "you use the wrong factor. A bit is ln 2 nats, so divide by `math.log(2)`.",
    lambda nats, count, text: nats * count * math.log(2) / len(text.encode()),
    lambda nats, count, text: nats * count / 2 / len(text.encode()),
)
text_bits_per_byte.mistake(
    "you forget that the loss is per token. Multiply it by `num_predicted`, and then "
    "divide by the bytes of the text.",
    lambda nats, count, text: nats / math.log(2) / len(text.encode()),
    lambda nats, count, text: nats / math.log(2),
)
text_bits_per_byte.mistake(
    "you return the bits of the whole text. Divide them by its number of bytes.",
    lambda nats, count, text: nats * count / math.log(2),
)
text_bits_per_byte.mistake(
    "you take the logarithm of the loss, but it's a logarithm already. Only its unit "
    "has to change.",
    lambda nats, count, text: math.log2(nats) * count / len(text.encode()),
    lambda nats, count, text: math.log2(nats * count) / len(text.encode()),
)


# Toy models, each with what it does, for a reader who cannot look inside. An output is
# a sum or a difference of ids, so changing one id that it depends on always moves it.
TOYS = (
    ("output t is the sum of the ids 0 to t", lambda ids: [*itertools.accumulate(ids)]),
    ("each output is the number of ids", lambda ids: [len(ids)] * len(ids)),
    ("output t is id t + 1, and the last output is 0", lambda ids: [*ids[1:], 0]),
    (
        "output 0 is the last id, and every other output t is id t",
        lambda ids: [ids[-1], *ids[1:]],
    ),
    (
        "output t is id t + 2, or 0 where there is none",
        lambda ids: [*ids[2:], 0, 0][: len(ids)],
    ),
    (
        "output t is id t + 2 minus id t + 1, or 0 where there is no id t + 2",
        lambda ids: (
            [b - a for a, b in itertools.pairwise([*ids[1:]])] + [0] * min(2, len(ids))
        ),
    ),
    (
        "the last two outputs are the last id, and every other output t is id t",
        lambda ids: [*ids[:-2], *ids[-1:] * min(2, len(ids))],
    ),
    (
        "output 2 is id 3, if there is one, and every other output t is id t",
        lambda ids: [*ids[:2], *(ids[3:4] or ids[2:3]), *ids[3:]],
    ),
    (
        "output 1 is id 4, if there is one, and every other output t is id t",
        lambda ids: [*ids[:1], *(ids[4:5] or ids[1:2]), *ids[2:]],
    ),
    (
        "output 2 is id 6, if there is one, and every other output t is id t",
        lambda ids: [*ids[:2], *(ids[6:7] or ids[2:3]), *ids[3:]],
    ),
    ("output t is id t - 1, and output 0 is 0", lambda ids: [0, *ids[:-1]]),
    (
        "with 3 ids or more, outputs 0 and 1 are the last id and its negative, and "
        "every other output t is id t; with fewer, all outputs are 0",
        lambda ids: [ids[-1], -ids[-1], *ids[2:]] if len(ids) > 2 else [0] * len(ids),
    ),
)
for _words, _toy in TOYS:
    _toy.__name__, _toy.__doc__ = "toy", _words


def _toy_models(random: Random) -> Iterator[Case]:
    for length in (1, 2, 3, 5, 8):
        for _, toy in TOYS:
            yield toy, [random.randrange(9) for _ in range(length)]
            yield toy, [0] * length


@exercise(
    cases=_toy_models,
    hints=(
        "You can't look inside the model, you can only call it. If a model peeks, what "
        "happens to its outputs when you change a later id?",
        "Change the id at one position in a copy, and compare the outputs *before* "
        "that position with those of the unchanged list. Which positions do you have "
        "to try, and when can you be sure that no output peeks?",
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


def _moved(model, ids: list[int], place: int) -> list[int]:
    """Return the outputs of the model, with the id at a place changed."""
    return model([*ids[:place], ids[place] + 1, *ids[place + 1 :]])


peeks.mistake(
    "you also compare outputs that may change. The one at the changed position, and "
    "those after it, may depend on the id there.",
    lambda model, ids: any(
        _moved(model, ids, p)[: p + 1] != model(ids)[: p + 1] for p in range(len(ids))
    ),
    lambda model, ids: any(
        _moved(model, ids, p) != model(ids) for p in range(len(ids))
    ),
)
peeks.mistake(
    "you change only one id, but the model may peek at another. Try every position, "
    "and return False only after the loop.",
    lambda model, ids: _moved(model, ids, len(ids) - 1)[:-1] != model(ids)[:-1],
    lambda model, ids: len(ids) > 1 and _moved(model, ids, 1)[0] != model(ids)[0],
)
peeks.mistake(
    "you compare only one output, but a model may look two places ahead. Compare all "
    "the outputs before the change.",
    lambda model, ids: any(
        _moved(model, ids, p)[p - 1] != model(ids)[p - 1] for p in range(1, len(ids))
    ),
    lambda model, ids: any(
        _moved(model, ids, p)[0] != model(ids)[0] for p in range(1, len(ids))
    ),
)
peeks.mistake(
    "you set ids to 0, which changes nothing where an id is 0 already. Add 1 instead.",
    lambda model, ids: any(
        model([*ids[:p], 0, *ids[p + 1 :]])[:p] != model(ids)[:p]
        for p in range(1, len(ids))
    ),
)
peeks.mistake(
    "you call the model on a shorter text, but its outputs may depend on the length. "
    "Keep the length, and change an id.",
    lambda model, ids: any(
        model(ids[:n]) != model(ids)[:n] for n in range(1, len(ids))
    ),
    lambda model, ids: model(ids[:-1]) != model(ids)[:-1],
)
peeks.mistake(
    "you compare outputs with ids. But a leak needn't be a copy, and equal numbers may "
    "be chance. Change an id, and see which outputs move.",
    lambda model, ids: any(
        output == id for output, id in zip(model(ids), ids[1:], strict=False)
    ),
    lambda model, ids: model(ids)[:-1] == ids[1:],
)


# Bug or not?


def _windows(random: Random) -> Iterator[Case]:
    for size in range(2, 8):
        yield (list(range(size)),)
        yield ([random.randrange(20) for _ in range(size)],)


def aligned_pairs(window: list[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(window))


@bug_or_not(
    purpose="To pair each id of a window of T + 1 ids, except the last, with the id "
    "that follows it in the text.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "A roll puts the first id at the end. So there's one pair too many, in which "
        "the last id has to predict the *first* id of its own window. That target is "
        "noise, although the loss still looks plausible. A window of T + 1 ids has "
        "only T pairs."
    ),
)
def rolled_targets(window: list[int]) -> list[tuple[int, int]]:
    inputs = window
    targets = window[1:] + window[:1]  # torch.roll(window, -1)
    return list(zip(inputs, targets, strict=True))


@bug_or_not(
    purpose="To hand a window to a model of the `transformers` library, so that each "
    "id is scored against the one that follows it. Like most of them, this one shifts "
    "the labels itself, as the last line shows.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "It looks as if the shift were missing, but the model shifts. It drops the "
        "last logits and the first label, and then each input is scored against the "
        "next id. If you also shift the labels yourself, you get a double shift. Then "
        "nothing fails, each input is asked for the token after the next, and the loss "
        "stays too high. So find out where the shift happens."
    ),
)
def labels_for_transformers(window: list[int]) -> list[tuple[int, int]]:
    inputs = window
    labels = list(window)
    # inside the model: logits[:-1] are scored against labels[1:]
    return list(zip(inputs[:-1], labels[1:], strict=True))


@true_or_false(
    claim="One text says that the inputs are the targets *shifted right*, with the "
    "window's first id in the place that becomes free. Another says that the targets "
    "are the window *shifted left*. Both mean the same pairs of an input and a target.",
    reference=aligned_pairs,
    cases=_windows,
    explanation=(
        "It's one step, seen from two sides. If you drop the first id of the window, "
        "the rest moves to the left and gives the targets. If you put an id in front "
        "of the targets and drop their last id, they move to the right and give the "
        "inputs. A text may use either word, so check which id is below which."
    ),
)
def shifted_right_or_left(window: list[int]) -> list[tuple[int, int]]:
    targets = window[1:]
    inputs = [window[0], *targets[:-1]]
    return list(zip(inputs, targets, strict=True))
