"""Exercises of lesson 01: make examples, find a shift, mask, add up, convert, and catch
a model that peeks."""

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
        "You need two slices of the same length. Which of them starts one id later?",
        "`ids[a : b]` has b - a items. Say for each of the two slices where it begins, "
        "and then add the length.",
    ),
)
def make_example(
    ids: list[int], start: int, context_length: int
) -> tuple[list[int], list[int]]:
    """Return the inputs and the targets of the window at `start`."""
    inputs = ids[start : start + context_length]
    targets = ids[start + 1 : start + 1 + context_length]
    return inputs, targets


make_example.slips("""
    ids[start : start + context_length] => ids[start : start + context_length + 1]
        the inputs are the whole window. Its last id is only a target, which leaves T
        inputs and T targets.
    ids[start : start + context_length] => ids[start:context_length]
        the slice of the inputs ends without `start`, so it is right only at the
        beginning of the stream.
    ids[start : start + context_length] => ids[start:-1]
    ids[start : start + context_length] => ids[start:]
        the inputs go on to the end of the stream. There should be T of them.
    ids[start : start + context_length] => ids[:context_length]
        the inputs are always the first T ids of the stream. They should begin at
        `start`.
    ids[start : start + context_length] => list(range(start, start + context_length))
        these are positions in the stream. Return the ids that you find there.
    start + 1 : start + 1 + context_length => start : start + context_length
        no shift. Each target is its own input, so a model that copies gets a loss of 0.
    start + 1 : start + 1 + context_length => start + 2 : start + 2 + context_length
        a double shift. The targets are two ids ahead, and near the end there are too
        few of them.
    start + 1 : start + 1 + context_length => start - 1 : start - 1 + context_length
        shifted the wrong way: each target is the id *before* its input.
    start + 1 : start + 1 + context_length => \
    max(0, start - 1) : start + context_length - 1
        the targets look back, to the ids *before* the inputs.
    start + 1 + context_length => start + 2 + context_length
        there is one target too many, because the slice begins one later but ends two
        later.
    start + 1 + context_length => context_length + 1
        the slice of the targets ends without `start`, so it is right only at the
        beginning of the stream.
    start + 1 + context_length => start + context_length
        there is one target too few. If their slice begins one later, it must also end
        one later.
    start + 1 : start + 1 + context_length => start + 1 :
        the targets go on to the end of the stream. There should be T of them, as many
        as inputs.
    start + 1 : start + 1 + context_length => 1 : context_length + 1
        `start` is used only for the inputs, so the targets belong to another window.
    start + 1 : start + 1 + context_length => \
    start + context_length : start + 2 * context_length
        the targets are the T ids *after* all the inputs. They should be the window
        again, one position later.
    ids[start + 1 : start + 1 + context_length] => ids[start + context_length]
        this is a single target. A window asks T questions, one at each of its inputs.
    ids[start + 1 : start + 1 + context_length] => [ids[start + context_length]]
        this is a list of one target. A window asks T questions, one at each of its
        inputs.
    ids[start + 1 : start + 1 + context_length] => inputs[1:] + inputs[:1]
        a roll. The last input is asked for the first id of its own window. Read one id
        more instead.
    ids[start + 1 : start + 1 + context_length] => [token + 1 for token in inputs]
        the targets are computed, not read. Only in the stream 0, 1, 2, … is the next id
        one more.
    ids[start + 1 : start + 1 + context_length] => [*inputs[1:], 0]
        the last target is made up. It should be the id that follows the inputs in the
        stream, so read one more id.
    return inputs, targets => return targets, inputs
        inputs and targets are swapped, so the model would learn to predict the previous
        token.
    return inputs, targets => return inputs
        only the inputs are returned. Return both: `inputs, targets`.
    return inputs, targets => return inputs, targets[::-1]
        the targets are in reverse order. Target t belongs to input t.
    return inputs, targets => return list(zip(inputs, targets))
        these are pairs of an input and a target. Return two lists: all inputs, then all
        targets.
""")


@make_example.right_way("""
    start : start + context_length + 1 => start : start + context_length
        the window has T ids instead of T + 1. Cut in two, it leaves only T - 1
        predictions.
    start : start + context_length + 1 => start : start + context_length + 2
        an inclusive bound. Both halves have T + 1 ids, wherever the stream is long
        enough.
    start : start + context_length + 1 => : context_length + 1
        `start` is ignored: every window begins at 0.
    start : start + context_length + 1 => start : context_length + 1
        `context_length` is a length, not a position. Add it to `start` to get the end
        of a slice.
    start : start + context_length + 1 => start :
        the window runs to the end of the stream, but it should have only
        `context_length` inputs.
    start : start + context_length + 1 => \
    start * context_length : start * context_length + context_length + 1
        `start` is a position in the stream, not the number of a window.
    start : start + context_length + 1 => start * (context_length + 1) : \
    (start + 1) * (context_length + 1)
        the start is multiplied by T + 1. It is a position in the stream.
    start : start + context_length + 1 => max(0, start - 1) : \
    max(0, start - 1) + context_length + 1
        positions count from 0, so `ids[start]` is already the first input.
    start : start + context_length + 1 => start + 1 : start + context_length + 2
        the window begins one id too late, at `start + 1`, so that you get the inputs
        and targets of the next window.
    start : start + context_length + 1 => context_length : context_length + start + 1
        `start` and `context_length` are swapped.
    return window[:-1], window[1:] => return window
        the window is not cut in two. All of its T + 1 ids come back.
    window[:-1], window[1:] => window[1:], window[:-1]
        inputs and targets are swapped…
    window[:-1], => window,
        the inputs are the whole window…
    , window[1:] => , window[:-1]
        no shift…
    , window[1:] => , [window[-1]]
        this is a list of one target…
""")
def cut_in_two(ids, start, context_length):
    window = ids[start : start + context_length + 1]
    return window[:-1], window[1:]


@make_example.right_way("""
    = start, => = 0,
        `start` is ignored: every…
    = start, => = start * context_length,
        `start` is a position in…
    = start, => = start * (context_length + 1),
        the start is multiplied…
    = start, => = max(0, start - 1),
        positions count from 0…
    = start, => = start - 1,
        positions count from 0, so this window begins one id too early, and for `start`
        0 at the wrong end.
    = start, => = start + 1,
        the window begins one id too late…
    = start, context_length => = start, context_length + 1
        an inclusive bound…
    = start, context_length => = start, context_length - 1
        the window has T ids instead…
    first + 1 : first + 1 => first : first
        no shift…
    ids[first : first + length], => ids[first : length],
        the slice of the inputs ends…
    first + 1 + length => first + length
        there is one target too few…
    = start, context_length => = context_length, start
        `start` and `context_length` are swapped…
""")
def from_first(ids, start, context_length):
    first, length = start, context_length
    return ids[first : first + length], ids[first + 1 : first + 1 + length]


@make_example.right_way("""
    ids[start + i] => ids[i] ; ids[start + i + 1] => ids[i + 1]
        `start` is ignored: every…
    range(context_length) => range(context_length + 1)
        the loop has T + 1 rounds. It needs only T, because each adds an input *and* its
        target.
""")
def id_by_id(ids, start, context_length):
    inputs, targets = [], []
    for i in range(context_length):
        inputs.append(ids[start + i])
        targets.append(ids[start + i + 1])
    return inputs, targets


make_example.answers("""
    (ids[start:], ids[start + 1 :])
        both the inputs and the targets go on to the end of the stream. There should be
        T of each.
    (ids[:context_length], ids[1:context_length])
        `start` is ignored, and there is one target too few. There should be as many
        targets as inputs.
""")


def _batches_of_some_shift(random: Random) -> Iterator[Case]:
    yield [[5, 6, 7, 8]], [[7, 8, 9, 5]]
    yield [[3]], [[3]]
    # one row fits a smaller shift, or one place does, but not all of them
    yield [[4, 4, 4, 4], [1, 2, 3, 5]], [[4, 4, 4, 4], [2, 3, 5, 1]]
    yield [[1, 2, 3, 5], [4, 4, 4, 4]], [[2, 3, 5, 1], [4, 4, 4, 4]]
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
        "Place t of the targets is compared with place t + d of the inputs. For which "
        "t does a row of T inputs have a place t + d? And when may you say that d is "
        "wrong: as soon as one place differs, or only when all do?",
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


find_shift.slips("""
    in range(length) => in range(1, length)
    in range(length) => in range(1, length) ; \
    raise ValueError("no shift fits") => return length
    in range(length) => in range(1, length) ; \
    raise ValueError("no shift fits") => return
    in range(length) => in range(1, length) ; \
    raise ValueError("no shift fits") => return -1
    row[d:] == asked[: length - d] => row[d:] == asked[:-d]
        d = 0 is never found, a loader that does not shift at all. Begin the search at
        0, and end the slice at T - d: `[:-0]` is empty.
    in range(length) => in range(length - 1)
        the search ends one too early: d = T - 1 is possible, since one place is left to
        compare.
    in range(length) => in reversed(range(length))
        the largest d that fits is returned. Return the smallest: search from 0 on.
    in range(length) => in range(2)
        only 0 and 1 are tried. A double shift has d = 2, and there may be more.
    if all( => if any(
        one row that fits is taken as enough. Every row must fit: `all`, not `any`.
    zip(inputs, targets, strict=True) => zip(inputs[:1], targets[:1], strict=True)
        only the first row is compared. It may fit a smaller d by chance: compare all
        rows.
    zip(inputs, targets, strict=True) => zip(inputs[-1:], targets[-1:], strict=True)
        only the last row is compared. It may fit a smaller d by chance: compare all
        rows.
    zip(inputs, targets, strict=True) => zip(targets, inputs, strict=True)
        the two are swapped: that asks how far the inputs are ahead of the targets.
    row[d:] == asked[: length - d] => row[d] == asked[0]
        only the first target of each row is compared. Ids repeat, so compare every
        place that has an input t + d.
    row[d:] == asked[: length - d] => row[-1] == asked[length - 1 - d]
        only the last place of each row is compared. Ids repeat, so compare every place
        that has an input t + d.
    row[d:] == asked[: length - d] => row[d:] == asked[d:]
        both rows are cut at d, which compares places with the same number. Place t of
        the targets belongs to place t + d of the inputs.
    row[d:] == asked[: length - d] => row[: length - d] == asked[d:]
    row[d:] == asked[: length - d] => row[: length - d] == asked[d:] ; \
    raise ValueError("no shift fits") => return 0
    row[d:] == asked[: length - d] => row[: length - d] == asked[d:] ; \
    raise ValueError("no shift fits") => return -1
        the two are swapped…
    row[d:] == asked[: length - d] => row[d : d + 1] == asked[:1]
        only the first target of each row…
    row[d:] == asked[: length - d] => row[d:] + row[:d] == asked
    row[d:] == asked[: length - d] => row[d:] + row[:d] == asked ; \
    raise ValueError("no shift fits") => return
    row[d:] == asked[: length - d] => row[d:] + row[:d] == asked ; \
    raise ValueError("no shift fits") => return -1
        a roll: the last d targets are compared with the beginning of the row, although
        they have no input t + d.
    row[d:] == asked[: length - d] => row[d:-1] == asked[: length - d - 1]
        the last place of each row is not compared, although it has an input t + d.
    row[d:] == asked[: length - d] => row[d + 1 :] == asked[1 : length - d]
        the first place of each row is not compared, although it has an input t + d.
    row[d:] == asked[: length - d] => set(row[d:]) == set(asked[: length - d])
    row[d:] == asked[: length - d] => sorted(row[d:]) == sorted(asked[: length - d])
        the ids are compared without their order. Compare them place by place.
    return d => return d + 1
        one too many: a loader that does not shift has d = 0.
    return d => return -d
        the sign: the targets are ahead of the inputs, so d is not negative.
    return d => return length - d
        the number of places that were compared is returned. Return d itself.
    return d => return True
        whether a d was found is returned. Return which one.
""")


find_shift.answers("""
    targets[0][0] - inputs[0][0]
        ids are subtracted. Only in a stream 0, 1, 2, … does that give a distance.
    inputs[0].index(targets[0][0])
        the first place with the id of the first target is returned. Ids repeat: every
        place of every row must fit.
    1
        1 for every batch. That is the right shift, but is it the one of this loader?
    0 if inputs == targets else 1
        0 or 1 for every batch. A double shift has d = 2, and there may be more.
""")


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
        "Write a window down with its targets below it, and cross out the padding. How "
        "many targets does a text of 4 ids leave?",
        "The target of input t is the id at t + 1 of the window. So check whether t + "
        "1, not t, is a position of the text.",
    ),
)
def padded_targets(window: list[int], length: int) -> list[int]:
    """Return the targets of a padded window, with -100 in place of each padding."""
    return [target if t + 1 < length else -100 for t, target in enumerate(window[1:])]


padded_targets.slips("""
    t + 1 < length => t < length
        an off-by-one. This mask is right for the inputs, but the targets end one
        position earlier.
    t + 1 < length => t <= length
        the mask begins too late, so that padding is scored.
    t + 1 < length => t + 2 < length
        one target too many is masked. The last id of the text is a target that counts.
    t + 1 < length => target != PAD
        the padding is recognized by the id 0. The pad id may be another, and a real
        token may have the id 0. Use `length`.
    t + 1 < length => target != window[-1]
        the padding is recognized by the last id of the window. A real token with that
        id gets lost. Use `length`.
    t + 1 < length => length == len(window) or target != window[length]
        the padding is recognized by the id right after the text. A real token with that
        id gets lost. Use `length` alone.
    t + 1 < length => target and t + 1 < length
        the id 0 is also masked within the text, where it is a token like any other.
    t + 1 < length => any(window[t + 1 :])
        the padding is recognized by zeros at the end. But a text may end with the id 0,
        and the pad id may be another. Use `length`.
    t + 1 < length => 0 not in window[1 : t + 2]
        everything after the first id 0 is masked. But a real token may have that id,
        and the padding may have another. Use `length`.
    t + 1 < length => t >= len(window) - length
        the padding is at the end of the window, not at its beginning.
    t + 1 < length => t + 1 < length or not length and t + 2 < len(window)
        if `length` is 0, then `length - 1` is -1, which counts from the end. A window
        that is all padding has nothing to score.
    t + 1 < length => True
        nothing is masked. The model would be rewarded for predicting padding.
    t + 1 < length => False
        all targets are masked. Those of the text must be scored.
    else -100 => else 0
        0 is an id like any other, and would be scored. A target that does not count is
        marked by -100.
    else -100 => else None
        None is not an integer. A target that does not count is marked by -100.
    else -100 => else 100
        100 has the wrong sign. A target that does not count is marked by -100.
    target if t + 1 < length else -100 => -100 if t + 1 < length else target
        the mask is inverted: the padding is kept, and the text is left out.
    window[1:] => window[:-1]
        the targets are not shifted: they are the inputs.
    window[1:] => window
        masked, but not shifted. A window has one target fewer than it has ids.
    window[1:])] => [*window[1:], -100])]
        there is one entry too many. A window of T + 1 ids has T targets, because
        nothing follows its last id.
    return [...] => return (window[:-1], [...])
        return only the targets, without the inputs.
    return [...] => return [...] if length else []
        there are no targets if `length` is 0. Return T of them, each -100.
""")


@padded_targets.right_way("""
    return masked[1:] => return masked
        masked, but not shifted…
    return masked[1:] => return masked[:-1]
        the targets are not shifted…
    return masked[1:] => return [*masked[1:], -100]
        there is one entry too many…
    masked[length:] => masked[length or len(window) :] ; \
    (len(window) - length) => (len(window) - length if length else 0)
        a window with `length` 0 is left as it is. All of it is padding, so nothing in
        it may be scored.
    masked[length:] = [-100] * (len(window) - length) => masked[length:] = [-100]
        a single -100 marks all of the padding. Each target that is padding gets one.
    masked[length:] = [-100] * (len(window) - length) => masked[length:] = []
        the padding is left out. Mark it instead, so that there is one entry for each
        target.
    [-100] => [0]
        0 is an id like any other…
    [-100] => [None]
        None is not an integer…
""")
def masked_then_shifted(window, length):
    masked = list(window)
    masked[length:] = [-100] * (len(window) - length)
    return masked[1:]


padded_targets.answers("""
    window[1:length]
        the padding is left out…
    window[:length] + [-100] * (len(window) - length)
        masked, but not shifted…
    [*(window[:length] + [-100] * (len(window) - length))[1:], -100]
        there is one entry too many…
    window[1:length] + [-100] * (len(window) - length)
        if `length` is 0, then `window[1:0]` is empty and cannot have length -1, so
        there is one -100 too many.
    window[1:][: length - 1] + [-100] * (len(window) - length)
        if `length` is 0, the slice up to `length - 1` should be empty. But -1 counts
        from the end, and the slice keeps all targets except the last.
    window[1:length] + [-100] * (len(window) - length + 1)
        there is one -100 too many at the end. A window of T + 1 ids has T targets.
    [*window[1:length], -100] if length < len(window) else window[1:length]
    [*window[1:length], -100]
        a single -100 marks all…
""")


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
        "The chain rule multiplies probabilities, so we add their logarithms. Write "
        "down the softmax of one target, take its logarithm, and simplify.",
        "Each position leaves a logit minus the log of a sum of exponentials. If `exp` "
        "overflows, remember that a softmax does not change when you subtract the same "
        "number from all logits of a row. Which number helps?",
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


def _log_of_a_softmax(row, target):
    with np.errstate(all="ignore"):
        exponentials = np.exp(np.array(row))
        return float(np.log(exponentials[target] / exponentials.sum()))


joint_log_probability.slips("""
    row[target] - largest - log_of_sum => row[target] - log_of_sum
        the largest logit is subtracted inside the sum of the exponentials only.
        Subtract it from the target's logit as well, because it has to cancel.
    row[target] - largest - log_of_sum => row[target]
        logits are not yet log-probabilities. Subtract the log of the sum of all
        exponentials.
    row[target] - largest => largest - largest
        the likeliest id of each row is scored. Score the target, whether it is likely
        or not.
    row[target] - largest - log_of_sum => math.log(row[target])
        logits are not probabilities. They may be negative, and then have no logarithm.
        A softmax comes first.
    row[target] - largest - log_of_sum => math.log(row[target] / sum(row))
        a logit is divided by the sum of the logits. A softmax divides exponentials.
    row[target] - largest - log_of_sum => math.exp(row[target] - largest - log_of_sum)
        the probabilities are added. The probability of all targets together is their
        product, so add the logarithms.
    total = 0.0 => total = 1.0 ; total += => total *=
        this is a product of logarithms. Probabilities are multiplied, so their
        logarithms are added.
    total += => total =
        only the last target is scored. The chain rule has one factor for each target.
    row[target] - largest - log_of_sum => _log_of_a_softmax(row, target)
        `exp` of a large logit is infinite, which makes the result NaN or infinite.
        Subtract the row's largest logit first, which leaves the softmax unchanged.
    largest = max(row) => largest = 0.0
        `exp` of a large logit overflows. Subtract the row's largest logit first, which
        leaves the softmax unchanged.
    zip(logits, targets, strict=True) => zip(logits[:-1], targets[1:], strict=True)
        shifted again. `logits[t]` already belong to `targets[t]`.
    zip(logits, targets, strict=True) => zip(logits[1:], targets, strict=False)
        the first row of logits is skipped. `logits[t]` already belong to `targets[t]`.
    zip(logits, targets, strict=True) => zip(logits[:1], targets[:1], strict=True)
        only the first target is scored. The chain rule has one factor for each target.
    for score in row => for other in logits for score in other ; \
    largest = max(row) => largest = max(map(max, logits))
        there is one softmax over all positions together. Each row needs its own,
        because one id comes at each position.
    return total => return total / len(targets)
        this is a mean. Apart from its sign it is the loss, but the joint probability
        needs the sum.
    return total => return -total
        the sign is wrong. Logs of probabilities are negative, and minus their sum is
        the loss.
    return total => return -total / len(targets)
        this is the mean loss. The joint probability needs the sum, and the logarithm
        without the minus.
    return total => return total / math.log(2)
        the base of this logarithm is 2. Return the natural log, `math.log`.
    return total => return total / math.log(10)
        the base of this logarithm is 10. Return the natural log, `math.log`.
    return total => return math.exp(total)
        this is a probability instead of its logarithm. For a page of text it underflows
        to 0.0.
""")


joint_log_probability.answers("""
    sum(joint_log_probability.reference([[row[target] for row in logits]], [position]) \
    for position, target in enumerate(targets))
        the softmax runs over the positions. Each row is one position, and has a softmax
        of its own over the vocabulary.
    math.log(sum(math.exp(joint_log_probability.reference([row], [target])) \
    for row, target in zip(logits, targets)))
        the probabilities are added before the logarithm. But they multiply, so add
        their logarithms.
    math.log(math.prod(math.exp(joint_log_probability.reference([row], [target])) \
    for row, target in zip(logits, targets)))
        a product of probabilities, with one logarithm at the end. On a long text the
        product underflows. Add logs instead.
    sum(math.log(math.exp(joint_log_probability.reference([row], [target]))) \
    for row, target in zip(logits, targets))
        a softmax, then its logarithm. A small probability is 0 before the logarithm
        sees it. Take the logarithm of the formula, not of its result.
""")


@joint_log_probability.mistake(
    "a softmax, then its logarithm. A small probability is 0 before the logarithm sees "
    "it, and the log of 0 is minus infinity. Take the logarithm of the formula."
)
def log_of_softmax_to_infinity(logits, targets):
    with np.errstate(all="ignore"):
        total = 0.0
        for row, target in zip(logits, targets, strict=True):
            exponentials = np.exp(np.array(row) - max(row))
            total += np.log(exponentials[target] / exponentials.sum())
    return float(total)


@joint_log_probability.mistake(
    "a small number is added to keep the logarithm finite. It changes the result, "
    "because a probability may be even smaller. Take the logarithm of the formula."
)
def with_a_small_number(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        exponentials = np.exp(np.array(row) - max(row))
        total += np.log(exponentials[target] / exponentials.sum() + 1e-9)
    return float(total)


@joint_log_probability.mistake(
    "a product of probabilities, with one logarithm at the end. The product underflows "
    "to 0, and the log of 0 is minus infinity. Add logs instead."
)
def log_of_product_to_infinity(logits, targets):
    total = 1.0
    for row, target in zip(logits, targets, strict=True):
        exponentials = np.exp(np.array(row) - max(row))
        total *= exponentials[target] / exponentials.sum()
    with np.errstate(all="ignore"):
        return float(np.log(total))


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


text_bits_per_byte.slips("""
    len(text.encode()) => len(text)
        characters are counted, not bytes. `len(text.encode())` differs for é, 三 and
        emoji.
    len(text.encode()) => len(text.split())
        words are counted, not bytes. Use `len(text.encode())`.
    text.encode() => text.encode("utf-16")
    text.encode() => text.encode("utf-16-le")
        these are the bytes of UTF-16. `text.encode()` without an argument is UTF-8.
    text.encode() => text.encode("ascii")
        ASCII has no byte for é or 三. `text.encode()` without an argument is UTF-8.
    len(text.encode()) => max(1, len(text.encode("ascii", "ignore")))
        the characters outside ASCII are left out, but they also belong to the text. Use
        `text.encode()`.
    len(text.encode()) => max(1, len(text.encode()) - 1)
        there is one byte too few. Count all bytes of the text, even the first.
    text.encode() => text.strip().encode()
        spaces and newlines at the ends of the text are left out, but they are also
        bytes.
    len(text.encode()) => (8 * len(text.encode()))
        the result is also divided by 8. Bits *per byte* need the number of bytes, not
        of their bits.
    len(text.encode()) => num_predicted
        that is in bits per *token*. Divide by the bytes of the text instead.
    bits / len(text.encode()) => bits
        those are the bits of the whole text. Divide them by the number of its bytes.
    bits / => bits //
        `//` rounds down. Bits per byte are a fraction, so divide with `/`.
    bits / len(text.encode()) => len(text.encode()) / bits
        these are bytes per bit. The question is the other way round.
    / math.log(2) =>
        these are nats. A bit is ln 2 = 0.693 nats, so there are more bits than nats.
    / math.log(2) => * math.log(2)
        multiplied by ln 2 instead of divided. Bits are the smaller unit, so there are
        more of them.
    / math.log(2) => / 2
        divided by 2 instead of ln 2 = 0.693. A bit is the logarithm of 2, in nats.
    math.log(2) => 0.69
    math.log(2) => 0.693
        ln 2 is rounded. Use `math.log(2)`.
    nats_per_token * num_predicted / math.log(2) => \
    math.log2(nats_per_token) * num_predicted
    nats_per_token * num_predicted / math.log(2) => \
    math.log2(nats_per_token * num_predicted)
    nats_per_token * num_predicted / math.log(2) => \
    math.log2(math.exp(nats_per_token) * num_predicted)
        this takes the logarithm of the loss. The loss is already a logarithm, of base
        e, and only its unit changes.
    nats_per_token * num_predicted / math.log(2) => \
    math.exp(nats_per_token) * num_predicted
        `exp` makes a perplexity of it. A bit is ln 2 nats, so divide by `math.log(2)`.
    * num_predicted =>
        the loss is per token. Multiply by `num_predicted` to get the loss of the text.
    * num_predicted => / num_predicted
        divided by the tokens. The loss is already per token, so multiply by their
        number.
    * num_predicted => * (num_predicted - 1)
        one token is subtracted. `num_predicted` is already the number of predictions.
    * num_predicted => * (num_predicted + 1)
        one token is added. `num_predicted` is already the number of predictions.
""")


text_bits_per_byte.answers("""
    nats_per_token / math.log(2) / num_predicted
        divided by the number of tokens instead of bytes. The loss is already per token,
        so multiply by the tokens.
    nats_per_token / math.log(2) * len(text.encode()) / num_predicted
        bytes and tokens are swapped. Multiply by the tokens, and divide by the bytes.
""")


# At t, each toy returns a sum of ids with whole weights, so that any change of an id
# that it depends on moves it.


def _running_sum(ids):
    """output t is the sum of the ids 0 to t"""
    return [sum(ids[: t + 1]) for t in range(len(ids))]


def _itself(ids):
    """output t is id t"""
    return list(ids)


def _position(ids):
    """output t is t, whatever the ids are"""
    return list(range(len(ids)))


def _number_of_ids(ids):
    """each output is the number of ids"""
    return [len(ids)] * len(ids)


def _next_one(ids):
    """output t is id t + 1, and the last output is 0"""
    return [*ids[1:], 0]


def _sum_of_all(ids):
    """each output is the sum of all ids"""
    return [sum(ids)] * len(ids)


def _only_the_first_peeks(ids):
    """output 0 is id 1, or the only id; every other output t is id t"""
    return [ids[min(1, len(ids) - 1)], *ids[1:]]


def _the_first_peeks_at_the_last(ids):
    """output 0 is the last id, every other output t is id t"""
    return [ids[-1], *ids[1:]]


def _two_ahead(ids):
    """output t is id t + 2, or 0 where there is none"""
    return [*ids[2:], 0, 0][: len(ids)]


def _only_at_the_last_pair(ids):
    """the last two outputs are the last id, every other output t is id t"""
    return [*ids[:-2], *([ids[-1]] * min(2, len(ids)))]


def _the_third_peeks_at_the_fourth(ids):
    """output 2 is id 3, if there is one; every other output t is id t"""
    return [*ids[:2], *ids[3:4], *ids[3:]] if len(ids) > 3 else list(ids)


def _the_last_remembers_the_second(ids):
    """the last output is id 1, every other output t is id t"""
    return [*ids[:-1], ids[min(1, len(ids) - 1)]]


def _previous_one(ids):
    """output t is id t - 1, and output 0 is 0"""
    return [0, *ids[:-1]]


def _first_id(ids):
    """each output is id 0"""
    return [ids[0]] * len(ids)


def _two_peek_and_cancel_out(ids):
    """of 3 ids or more, outputs 0 and 1 are the last id and its negative"""
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
        "You cannot look inside the model, you can only call it. If a model peeks, "
        "what happens to its outputs when you change a later id?",
        "Change the id at one position in a copy, and compare the outputs *before* "
        "that position with those of the unchanged list. Which positions must you try, "
        "and when may you say that no output peeks?",
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


peeks.slips("""
    [:position] != honest[:position] => [: position + 1] != honest[: position + 1]
    range(1, len(ids)) => range(len(ids)) ; [:position] != honest[:position] => \
    [: position + 1] != honest[: position + 1]
        the output at the changed position is also compared, although it may use its own
        input.
    [:position] != honest[:position] => [: position - 1] != honest[: position - 1]
        the output just before the change is left out, although it is the likeliest to
        peek.
    [:position] != honest[:position] => [position - 1] != honest[position - 1]
        only the output just before the change is compared. But a model may look two
        ahead, so compare all outputs before it.
    [:position] != honest[:position] => [0] != honest[0]
        only output 0 is compared, but every output before the change could give the
        model away.
    [:position] != honest[:position] => != honest
    range(1, len(ids)) => range(len(ids)) ; [:position] != honest[:position] => \
    != honest
        any difference counts as peeking. But later outputs may, and should, depend on
        the id that was changed.
    [:position] != honest[:position] => [position + 1 :] != honest[position + 1 :]
    [:position] != honest[:position] => [position:] != honest[position:]
    range(1, len(ids)) => range(len(ids)) ; [:position] != honest[:position] => \
    [position + 1 :] != honest[position + 1 :]
    range(1, len(ids)) => range(len(ids)) ; [:position] != honest[:position] => \
    [position:] != honest[position:]
        the outputs after the change are compared. They may move, while those before it
        may not.
    model(altered)[:position] != honest[:position] => \
    sum(model(altered)[:position]) != sum(honest[:position])
        sums of outputs are compared, in which two changes may cancel out. Compare the
        outputs themselves.
    range(1, len(ids)) => range(len(ids) - 1, len(ids))
        only the last id is changed. A model may peek somewhere else, so try every
        position.
    range(1, len(ids)) => range(1, len(ids) - 1)
        the last id is never changed, because `range` stops before its end. A model may
        peek only there.
    range(1, len(ids)) => range(max(1, len(ids) - 1), len(ids)) ; \
    [:position] != honest[:position] => [-2] != honest[-2]
        only the last id is changed, and only the output before it is compared. Try
        every position, and all outputs before it.
    range(1, len(ids)) => range(1, min(2, len(ids)))
        only the second id is changed, because the loop returns in its first round.
        Return False after the loop.
    range(1, len(ids)) => range(1, min(2, len(ids))) ; return False => \
    return False if len(ids) > 1 else None
        only the second id is changed, because the loop returns in its first round;
        without a round you return `None`. Return False after the loop.
    range(1, len(ids)) => [len(ids) // 2]
        only the middle id is changed. A model may peek somewhere else, so try them all.
    ids[position] + 1, => 0,
    ids[position] + 1, => -ids[position],
        an id that is 0 does not change when you set it to 0, or flip its sign. Add 1 to
        it instead.
    ids[position] + 1, => 1,
        the id is replaced by 1, which changes nothing if it is 1 already. Add 1 to it
        instead.
    altered = [...] => altered = ids = [...]
    range(1, len(ids)) => range(len(ids)) ; altered = [...] => altered = ids = [...]
        the changes pile up. Begin each round with a fresh copy of `ids`, so that only
        one id differs.
    return True => return position
        the position at which the model peeks is returned. Return whether it peeks, True
        or False.
    return False => return None
        if the model does not peek, `None` is returned. Return False.
    return True => return False ; return False => return True
        the answer is inverted. True means that the model peeks.
""")


peeks.answers("""
    False
        False for every model. Do you really change an id, in a copy, between the two
        calls that you compare?
    True
        True for every model, even one that does not look at its ids at all.
    any(model(ids[:n]) != model(ids)[:n] for n in range(1, len(ids)))
    model(ids[:-1]) != model(ids)[:-1]
        the model is called on shorter texts. Where no next id exists, its output may
        look as if there were one, and the length may count. Change an id, and keep the
        length.
    any(model(ids[:n]) != model(ids)[: n + 1] for n in range(1, len(ids) + 1))
        lists of different lengths are compared, and these are never equal. A text of p
        ids has p outputs.
    model(ids[: len(ids) // 2]) != model(ids)[: len(ids) // 2]
        the model is called on half of the text. But the length may count, and the model
        may peek within a half. Change an id, and keep the length.
    any(model([token]) != model(ids)[t : t + 1] for t, token in enumerate(ids))
        each id is given to the model alone. An output may use all ids up to its own, so
        keep them.
    model(ids[1:]) != model(ids)[1:]
        the text without its first id is compared. But outputs may depend on the first
        id, so change a later one.
    any(model(ids)[t] == ids[t + 1] for t in range(len(ids) - 1))
    any(output in ids[t + 1 :] for t, output in enumerate(model(ids)))
        an output is compared with later ids. They may be equal by chance, and a leak
        need not be a copy. Change an id, and see what moves.
    model(ids)[:-1] == ids[1:]
        the outputs are compared with the ids. Change an id instead, and see what moves.
    model([ids[0] + 1, *ids[1:]])[1:] != model(ids)[1:]
        only the first id is changed, and no output comes before it.
    model([ids[0] + 1, *ids[1:]]) != model(ids)
        only the first id is changed, although all outputs may depend on it. Change the
        later ids, and compare the outputs before them.
    model([*ids[:-1], ids[-1] + 1])[0] != model(ids)[0]
        only the last id is changed, and only output 0 is compared, which in a text of
        one id is its own output. Try every position, and all outputs before it.
    model([*ids[:-1], ids[-1] + 1]) != model(ids)
        only the last id is changed, and its own output is also compared. Try every
        position, and compare the outputs *before* it.
    all(model([*ids[:p], ids[p] + 1, *ids[p + 1 :]])[:p] != model(ids)[:p] \
    for p in range(1, len(ids)))
        *every* later id must move an output here. A single one is enough: `any`, not
        `all`.
    model(ids[::-1]) != model(ids)
        ids change places, for example in reverse order. That also changes the earlier
        ids of an output, which it may use.
    model(ids[::-1])[::-1] != model(ids)
        the ids are put in reverse order, and the outputs back. A model that uses
        earlier ids fails that test without peeking. Change single ids.
""")


# -- Bug or not? ----------------------------------------------------------------------


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
        "A roll puts the first id at the end. It therefore makes one pair too many, in "
        "which the last id is asked for the *first* id of its own window. That target "
        "is noise, although the loss still looks plausible. A window of T + 1 ids has "
        "only T pairs."
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
        "It looks as if the shift were missing, but the model makes it. It drops the "
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
        "It is one step, seen from two sides. If you drop the first id of the window, "
        "the rest moves to the left and gives the targets. If you put an id in front "
        "of the targets and drop their last id, they move to the right and give the "
        "inputs. A text may say either word, so check which id is below which."
    ),
)
def shifted_right_or_left(window: list[int]) -> list[tuple[int, int]]:
    targets = window[1:]
    inputs = [window[0], *targets[:-1]]
    return list(zip(inputs, targets, strict=True))


# With other numbers by seed.


@numbers(
    ask="A batch holds {batch_size} windows of {window} ids each. In how many places "
    "is a next token predicted, and scored?",
    draw=lambda rng: {
        "batch_size": rng.randrange(4, 65),
        "window": rng.randrange(9, 260),
    },
    hints=(
        "Each input needs the id that follows it. How many inputs does that leave?",
    ),
)
def predictions_of_batch(batch_size: int, window: int) -> int:
    return batch_size * (window - 1)


predictions_of_batch.answers("""
    batch_size * window
        these are all ids of the batch. The last id of each window has no next one in
        it.
    batch_size * window - 1
        one is subtracted for the whole batch, but each of its windows has a last id.
    window - 1
        these are the predictions of one window. A batch holds several windows.
""")


@numbers(
    ask="A text of {num_bytes:,} bytes is {num_predicted:,} predicted tokens long, and "
    "a model's mean loss on them is {loss} nats a token. How many bits a byte is that?",
    draw=lambda rng: {
        "num_bytes": rng.randrange(20_000, 90_000),
        "num_predicted": rng.randrange(5_000, 15_000),
        "loss": rng.randrange(150, 450) / 100,
    },
    hints=(
        "Take all nats of the text first, then all its bits, then those of one byte.",
        "A bit is ln 2 nats, so divide.",
    ),
)
def bits_a_byte(num_bytes: int, num_predicted: int, loss: float) -> float:
    return loss * num_predicted / math.log(2) / num_bytes


bits_a_byte.answers("""
    loss * num_predicted / num_bytes
        these are nats a byte. Divide by ln 2 to get bits.
    loss / math.log(2)
        these are bits a token. How many tokens are there to a byte?
    loss * num_predicted * math.log(2) / num_bytes
        multiplied by ln 2. There are more bits than nats, so divide by it.
    loss * num_bytes / math.log(2) / num_predicted
        bytes and tokens are swapped.
""")


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


perplexity_of_parts.answers("""
    math.exp((loss + other_loss) / 2)
        this is the mean of the two means, in which a token of the short part counts for
        more than the others.
    (first * math.exp(loss) + second * math.exp(other_loss)) / (first + second)
        this is the mean of the two perplexities. Take the mean of the losses first, and
        then e to that power.
    2 ** ((first * loss + second * other_loss) / (first + second))
        this is 2 to the mean loss. The loss is in nats, so it should be e.
    (first * loss + second * other_loss) / (first + second)
        this is the mean loss itself. Perplexity is e to that power.
""")
