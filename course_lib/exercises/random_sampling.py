"""Exercises of lesson 03: offsets, alignments, and what an epoch covers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false


def _streams(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5):
        for offset in range(num_steps):
            yield from (
                (num_tokens, num_steps, offset)
                for num_tokens in (0, 1, 2, 5, 6, 7, 11, 35)
            )
    for _ in range(20):
        num_steps = random.randrange(2, 20)
        yield random.randrange(200), num_steps, random.randrange(num_steps)


def _lengths_and_steps(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5, 8):
        lengths = {0, 1, 2, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33, 35, 36, 40}
        yield from ((num_tokens, num_steps) for num_tokens in sorted(lengths))
    for _ in range(20):
        yield random.randrange(20, 200), random.randrange(2, 20)


@exercise(
    cases=_lengths_and_steps,
    hints=(
        "Take T = 5 and 32 ids, and count the subsequences at offset 0, at offset 1, "
        "and so on. Where does the count change?",
        "At offset 0 some ids after the last target stay unused. How many are they? An "
        "offset that skips no more ids than these costs nothing. And if there is no "
        "subsequence even at offset 0, can you lose one?",
    ),
)
def offsets_that_lose(num_tokens: int, num_steps: int) -> int:
    """Return how many of the offsets leave fewer subsequences than offset 0."""
    whole, spare = divmod(num_tokens - 1, num_steps)
    return num_steps - 1 - spare if whole > 0 else 0


offsets_that_lose.slips("""
    divmod(num_tokens - 1 => divmod(num_tokens
        the id for the last target is forgotten. Only N - 1 of the N ids can be inputs.
    if whole > 0 else 0 =>
    whole > 0 => num_tokens > 1
        a stream too short for any subsequence has none to lose.
    num_steps - 1 - spare => num_steps - spare
        one too many: either the offset that skips exactly the unused ids, which costs
        nothing, or offset T, which cuts like 0.
    num_steps - 1 - spare => spare + 1
    num_steps - 1 - spare if whole > 0 else 0 => spare + 1 if whole > 0 else num_steps
        the offsets that cost *nothing* are counted, offset 0 among them.
    num_steps - 1 - spare => spare
        the ids that offset 0 leaves unused are counted. An offset that skips no more
        than these costs nothing. Count the other offsets.
    num_steps - 1 - spare => num_steps - 2 - spare
    num_steps - 1 - spare => max(0, num_steps - 2 - spare)
        one too few. The offsets are 0 … T - 1, so the largest is T - 1.
    divmod(num_tokens - 1, num_steps) => divmod(num_tokens, num_steps + 1)
        one extra id is kept for each subsequence. Neighbors share theirs, so only the
        last one needs an extra id.
""")


@offsets_that_lose.right_way("""
    o - 1) => o)
        the id for the last target is forgotten…
    max(0, ...) => (...)
        a stream too short for any subsequence…
    range(num_steps) => range(num_steps + 1)
        one too many…
    range(num_steps) => range(num_steps - 1)
        one too few…
    count < counts => count == counts
        the offsets that cost *nothing*…
    count < counts => count <= counts
        the offsets that leave *as many* are counted together with those that leave
        fewer: compare with `<`.
    sum(count < counts[0] for count in counts) => \
    next((o for o, count in enumerate(counts) if count < counts[0]), 0)
        this is the first offset that loses something. Count all that do.
    o - 1) // num_steps => o) // (num_steps + 1)
        one extra id is kept for each…
    // num_steps) for => - num_steps + 1) for
    // num_steps) for => / num_steps) for
        not only whole subsequences are counted, so every larger offset leaves fewer.
        (`/` counts parts of them, and N - T - o counts windows of stride 1.)
""")
def offsets_compared(num_tokens, num_steps):
    counts = [max(0, (num_tokens - o - 1) // num_steps) for o in range(num_steps)]
    return sum(count < counts[0] for count in counts)


offsets_that_lose.answers("""
    num_steps - 1
        all offsets except 0 are counted. But a small one may skip only ids that offset
        0 leaves unused.
    (num_tokens - 1) % num_steps
        the ids that offset 0 leaves unused are counted…
    int(num_tokens > num_steps)
    max(0, (num_tokens - 1) // num_steps) - max(0, num_tokens // num_steps - 1)
        this is the most that an offset can cost, one subsequence. Count the offsets
        that cost it.
    max(0, (num_tokens - 1) // num_steps)
        the subsequences at offset 0 are counted, not the offsets that have fewer.
    max(0, num_tokens - num_steps)
        the subsequences of all offsets are counted, not the offsets that have fewer.
""")


def _epochs(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3, 5):
        for num_steps in (2, 3, 5):
            lengths = {0, 1, 4, num_steps * (batch_size + 1), 33, 35, 40}
            for num_tokens in sorted(lengths):
                yield from (
                    (num_tokens, batch_size, num_steps, offset)
                    for offset in range(num_steps)
                )


@exercise(
    cases=_epochs,
    hints=(
        "Count the subsequences first, then the batches that they fill.",
        "What happens to subsequences that do not fill a batch? And what does `//` do "
        "with a negative number? Try (0, 1, 5, 3).",
    ),
)
def num_batches(num_tokens: int, batch_size: int, num_steps: int, offset: int) -> int:
    """Return how many full batches an epoch has at this offset."""
    return max(0, (num_tokens - offset - 1) // num_steps) // batch_size


num_batches.slips("""
    max(0, ...) => (...)
        a stream with no id after the offset gives a negative count, because // rounds
        down.
    - offset =>
        the offset is not subtracted, but the number of batches depends on it.
    - 1) => )
        the last target is forgotten: one id must remain after the last subsequence.
    - 1) => - 2)
        two ids are kept back, but the last target needs only one. (The offset is
        subtracted already.)
    - 1) => - batch_size)
        one extra id is kept for each row of a batch. All subsequences together need
        only one, wherever they are.
    (num_tokens - offset - 1) // num_steps => -(-(num_tokens - offset - 1) // num_steps)
        a subsequence that is not full counts as one. Here it is dropped.
    - 1) // num_steps => ) // (num_steps + 1)
        one extra id is kept for each subsequence. Neighbors share theirs, so only the
        last one needs an extra id.
    (num_tokens - offset - 1) // num_steps => num_tokens - offset - num_steps
        those are windows of stride 1, which overlap. Disjoint subsequences are T apart.
    // num_steps =>
        these are batches of B ids, not of B subsequences: also divide by T.
    // batch_size =>
        subsequences are counted, not batches of them.
    return ... // batch_size => return -(-... // batch_size)
        a batch that is not full counts as one. Here it is dropped.
    return ... // batch_size => return round(... / batch_size)
        rounded to the nearest number, so half a batch counts as one. Round down.
    // batch_size => % batch_size
        that is the number left over. `%` gives the remainder, and `//` the number of
        batches.
    // batch_size => * batch_size
        the numbers are multiplied. B subsequences are one batch: divide.
    // batch_size => // batch_size + 1
        one more than fit. Subsequences that do not fill a batch are dropped, so they
        make no batch.
    return ... // batch_size => return max(0, ... // batch_size - 1)
        one batch is subtracted for the subsequences that are dropped, but `//` has
        dropped them already.
    return ... // batch_size => return max(1, ... // batch_size)
        never fewer than one. But a stream that is too short for a full batch gives 0.
    return ... // batch_size => return max(0, (... - 1) // batch_size)
        one subsequence is kept back for the last target, which is only one *id* and is
        subtracted already.
""")


@num_batches.right_way("""
    max(0, ...) => (...)
        a stream with no id after the offset…
    - offset =>
        the offset is not subtracted…
    - 1) => )
        the last target is forgotten…
    - 1) // (batch_size * num_steps) => ) // (batch_size * num_steps + 1)
        one extra id is kept for each batch. Batches are made of shuffled subsequences,
        and all of these together need only one.
    // (batch_size * num_steps) => // batch_size
        these are batches of B ids…
    // (batch_size * num_steps) => // num_steps
        subsequences are counted…
    return max(0, => return -(-max(0, ; * num_steps) => * num_steps))
        a batch that is not full…
    // (batch_size => % (batch_size
        that is the number left over…
    * num_steps) => * num_steps) + 1
        one more than fit…
""")
def divided_once(num_tokens, batch_size, num_steps, offset):
    return max(0, num_tokens - offset - 1) // (batch_size * num_steps)


num_batches.answers("""
    max(0, (num_tokens - 1) // num_steps // batch_size - offset)
        the offset is subtracted from the number of batches. But it is a number of ids:
        subtract it before you divide.
    (num_tokens - offset - 1) / num_steps / batch_size
        a count is a whole number: divide with `//`.
    int((num_tokens - offset - 1) / num_steps / batch_size)
        right, except for some streams with no id after the offset: `int` rounds
        towards 0, which hides most negative counts, but not all.
""")


def _shuffled_epochs(random: Random) -> Iterator[Case]:
    for num_steps in (1, 3, 5, 8):
        for offset in range(num_steps):
            starts = [offset + k * num_steps for k in range(7)]
            random.shuffle(starts)
            # the others are left over: the smallest may be among them
            yield starts[:4], num_steps
            yield starts[4:], num_steps
    yield [22], 5
    yield [9, 6], 3


@exercise(
    cases=_shuffled_epochs,
    hints=(
        "Take T = 5 and the offset 2, and write down the first five starts. What do "
        "they have in common that the starts of offset 3 do not have?",
        "The starts 2, 7, 12, 17 are 2 + 0 * 5, 2 + 1 * 5, 2 + 2 * 5 and 2 + 3 * 5. "
        "Which operation takes the 3 * 5 away from 17 again?",
    ),
)
def offset_of(starts: list[int], num_steps: int) -> int:
    """Return the offset of an epoch from the shuffled starts of its full batches."""
    return starts[0] % num_steps


offset_of.slips("""
    starts[0] % num_steps => starts[0] // num_steps
        divided, but you want the remainder. `//` gives the number of the subsequence.
    % num_steps => % len(starts)
        the remainder of the division by the number of starts. The starts are T apart.
    % num_steps => % (num_steps + 1)
        the remainder of the division by T + 1. The starts are T apart.
    % num_steps => % (num_steps - 1)
        the remainder of the division by T - 1. The starts are T apart.
    starts[0] => -starts[0]
        this is how far it is to the next multiple of T. The offset is the distance from
        the last one.
    starts[0] % num_steps => num_steps - starts[0] % num_steps
        this is how far it is to the next multiple of T, and T at a multiple. The offset
        is the distance from the last one.
    starts[0] % num_steps => num_steps % starts[0]
        divided the wrong way round: T % start. Divide the start by T.
    starts[0] % num_steps => [start % num_steps for start in starts]
        a remainder for each start. They are all the same, so return one of them.
    starts[0] => (starts[0] - 1)
        1 is subtracted from the start first. But starts and offset both count from 0:
        subtract nothing.
    % num_steps => % num_steps + 1
        an offset counts from 0: it is the remainder itself, not one more.
    starts[0] => sum(starts)
        the starts are summed, so the offset is in there once for each start. One start
        is enough.
    starts[0] => sum(starts) // len(starts)
        the mean of the starts need not be a start itself, so it need not be a multiple
        of T above the offset. One start is enough.
    starts[0] => math.gcd(*starts)
        the greatest common divisor of the starts. Starts that are T apart share a
        remainder, not a divisor.
    % num_steps =>
        the first start in the log. After shuffling, it can be any of them.
""")


@offset_of.right_way("""
    while offset >= => if offset >=
        T is subtracted only once from the smallest start, which may be several T above
        the offset.
    offset >= num_steps => offset > num_steps
        this gives T where the offset is 0. Subtract T as often as you can, down to 0.
""")
def t_taken_off(starts, num_steps):
    offset = min(starts)
    while offset >= num_steps:
        offset -= num_steps
    return offset


offset_of.answers("""
    min(starts) % (num_steps + 1)
    max(starts) % (num_steps + 1)
    starts[-1] % (num_steps + 1)
        the remainder of the division by T + 1…
    min(starts) % (num_steps - 1) if num_steps > 1 else 0
    starts[0] % (num_steps - 1) if num_steps > 1 else 0
        the remainder of the division by T - 1…
    starts[0] - num_steps * (starts[0] > num_steps)
    starts[0] - num_steps * (starts[0] >= num_steps)
        T is taken off the first start at most once, which may be several T above the
        offset.
    max(0, min(starts) - 1)
    min(starts) - 1
        1 is subtracted from the smallest start. But starts count from 0, and the first
        subsequence may have been left over.
    min(starts) % len(starts)
        the remainder of the division by the number of starts…
    max(starts) // num_steps
        the largest start is divided, which gives the number of its subsequence. The
        offset is the remainder.
    (starts[0] - 1) % num_steps + 1 if starts[0] else 0
        from a multiple of T, the last T is not subtracted: go on down to 0.
    min(starts)
        the smallest start in the log. It is the offset only if the first subsequence
        was not left over.
    min(starts) // num_steps
        the smallest start is divided, which gives the number of its subsequence. The
        offset is the remainder.
    min(starts) - num_steps
        T is subtracted from the smallest start, whether it is needed or not.
    starts[-1]
        the last start in the log. After shuffling, it can be any of them.
    max(starts)
        the largest start. The offset is the remainder of any start, divided by T.
    abs(starts[1] - starts[0])
    abs(starts[1] - starts[0]) if len(starts) > 1 else starts[0]
        the distance between two starts in the list is a multiple of T, whatever the
        offset is.
    sorted(starts)[1] - sorted(starts)[0]
    sorted(starts)[1] - sorted(starts)[0] if len(starts) > 1 else starts[0]
        the distance between the two smallest starts is a multiple of T, whatever the
        offset is.
    math.gcd(*starts)
        the greatest common divisor of the starts…
    max(starts) - (len(starts) - 1) * num_steps
        you count back from the largest start to the first one. But some starts are
        missing from the log, and they may be any.
    max(starts) - len(starts) * num_steps
        you subtract T from the largest start for each start in the log, as if none were
        missing. But some are, and they may be any.
""")


def _targets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 3, 5):
        for offset in range(num_steps):
            yield from ((position, offset, num_steps) for position in range(13))


@exercise(
    cases=_targets,
    hints=(
        "Draw the first two subsequences after an offset of 2 with T = 3. The first "
        "target has a context of 1 token. What about the next one?",
        "Which positions are targets of the *second* subsequence, and how much context "
        "does its first target have? Write the contexts in a row: they repeat. Where "
        "does the row begin?",
    ),
)
def left_context(position: int, offset: int, num_steps: int) -> int:
    """Return how much context the token at `position` has as a target, or 0."""
    if position <= offset:
        return 0
    return (position - offset - 1) % num_steps + 1


left_context.slips("""
    <= offset => < offset
        the first input is not a target, so at the offset itself the context is 0.
    <= offset => <= offset + 1
        the token at offset + 1 is the first target: it has one token of context.
    <= offset => < offset + num_steps
        the first subsequence is skipped. Its targets have the contexts 1, 2, …, T, like
        those of all others.
    <= offset => < 0
        tokens up to the offset are never a target, so their context is 0.
    <= offset => <= 0
    <= offset => < 1
        tokens before the offset are not targets either: their context is 0.
    - offset - 1) => - 1)
        the offset is ignored in the remainder, but it moves all cuts.
    - offset - 1) => + offset - 1)
        the offset is added. Count positions from the offset on: subtract it.
    - 1) => )
        the contexts 1, 2, …, T begin with 1 at offset + 1, so the number that you
        divide by T must be 0 there.
    + 1 =>
        the context starts at 1, because the first target has one input to its left.
    + 1 => + 2
        the token itself is counted. Its context is only the tokens to its left.
    % num_steps => // num_steps
        divided, but you want the remainder. `//` gives the number of the subsequence.
    return (position - offset - 1) % num_steps + 1 => \
        return num_steps - (position - offset - 1) % num_steps
        the wrong way round: after each cut the context grows, 1, 2, …, T.
    % num_steps => % (num_steps + 1)
        the contexts repeat after T tokens, not after T + 1: 1, 2, …, T, and then 1.
    return (position - offset - 1) % num_steps + 1 => return num_steps
        you return T for every target. Only the last target of a subsequence has that
        much context.
    return (position - offset - 1) % num_steps + 1 => \
        return min(num_steps, position - offset)
        the context grows to T and stays there. It begins again at 1 after every cut.
    (position - offset - 1) % num_steps + 1 => position - offset
        the context grows without end. It begins again at 1 after every cut.
    position <= offset => offset <= position ; \
    position - offset - 1 => offset - position - 1
        position and offset are exchanged: subtract the offset from the position.
""")


@left_context.right_way("""
    distance = position - offset => distance = position - offset + 1
        positions count from the offset itself here, so the first input counts as a
        target.
    distance = position - offset => distance = position
        the offset is ignored, but it moves all cuts.
    distance <= 0 => distance <= 1
        the token at offset + 1 is…
    (distance - 1) % num_steps + 1 => min(num_steps, distance)
        the context grows to T and stays…
    (distance - 1) % num_steps + 1 => distance % num_steps
        the token at offset + T has the longest context, T, not 0.
    (distance - 1) % num_steps + 1 => (distance - 1) % num_steps
        the context starts at 1…
    (distance - 1) % num_steps + 1 => distance
        the context grows without end…
""")
def counted_from_the_offset(position, offset, num_steps):
    distance = position - offset
    if distance <= 0:
        return 0
    return (distance - 1) % num_steps + 1


@left_context.right_way("""
    <= offset => < offset
        the first input is not a target…
    (position - offset) % => position %
        the offset is ignored in the remainder…
    or num_steps =>
        the token at offset + T has the longest context, T, not 0.
    % num_steps or => // num_steps or
        divided, but you want…
""")
def t_where_nothing_remains(position, offset, num_steps):
    return 0 if position <= offset else (position - offset) % num_steps or num_steps


left_context.answers("""
    (position - offset) % (num_steps + 1) if position > offset else 0
        the contexts repeat after T tokens…
    (position - 1) % num_steps + 1 if position else 0
        the offset is ignored, but…
    (position - offset) % num_steps
        two things: the token at offset + T has the context T, not 0, and tokens before
        the offset have the context 0.
    min(position, num_steps)
        the context grows to T and stays there, as if windows of stride 1 ended at every
        token. It begins again at 1 after every cut.
    position % num_steps
        the offset is ignored, and the last target of a subsequence gets 0 instead of T.
    position % num_steps + 1
        this counts inputs, not targets, from 1 after a cut, and it ignores the offset.
""")


def _highest_offsets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 3, 5, 8):
        yield from (
            (highest, num_steps)
            for highest in sorted(
                {0, num_steps // 2, num_steps - 1, num_steps, num_steps + 1}
                | {2 * num_steps - 1, 2 * num_steps, 3 * num_steps + 1}
            )
        )


@exercise(
    cases=_highest_offsets,
    hints=(
        "Two offsets make the same cuts if they differ by a multiple of T.",
        "Divide each of 0 ... highest by T, take the remainder, and count how often "
        "each remainder comes.",
    ),
)
def alignment_counts(highest: int, num_steps: int) -> list[int]:
    """Return how many of the offsets 0 ... `highest` fall on each alignment."""
    counts = [0] * num_steps
    for offset in range(highest + 1):
        counts[offset % num_steps] += 1
    return counts


alignment_counts.slips("""
    range(highest + 1) => range(highest)
        `highest` itself is one of the offsets, but a `range` stops before its end.
    range(highest + 1) => range(1, highest + 1)
        0 is one of the offsets: count from 0, not from 1.
    range(highest + 1) => range(highest + 2)
        one offset too many: `highest` is the last one.
    range(highest + 1) => range(1, highest + 2)
        you take the offsets 1 … highest + 1. They are 0 … highest.
    counts[offset % num_steps] => counts[min(offset, num_steps - 1)]
        offsets from T on are all counted as T - 1. But T cuts like 0, T + 1 like 1.
    range(highest + 1) => range(min(highest + 1, num_steps))
        the offsets beyond T - 1 are left out. But these repeat alignments, which is
        what you are to count.
    [0] * num_steps => [0] * (num_steps + 1)
        T + 1 entries. The alignments are 0 … T - 1, and an offset of T has alignment 0.
    [0] * num_steps => [1] * num_steps
        the counts begin at 1, before any offset has come.
    counts[offset % num_steps] => counts[-offset % num_steps]
        this is how far it is to the next multiple of T. Two offsets cut alike if they
        are equally far from the last one.
    counts[offset % num_steps] += 1 => \
        counts[offset // num_steps % num_steps] += offset < num_steps**2
        `//` numbers the blocks of T offsets. Two offsets cut alike if `%` gives the
        same remainder.
    counts[offset % num_steps] += 1 => counts[offset % (num_steps + 1) % num_steps] \
        += offset % (num_steps + 1) < num_steps
        the remainder of the division by T + 1. Offset 0 and offset T cut alike.
    return counts => return [count for count in counts if count]
        an alignment that never occurs has the count 0, so there are always T entries.
    return counts => return counts[::-1]
        the remainder of (highest + 1) / T goes to the *first* alignments, not to the
        last.
    return counts => return [count / max(1, sum(counts)) for count in counts]
        these are shares, which add up to 1. Return the counts, which add up to
        highest + 1.
    return counts => return [sum(counts[: k + 1]) for k in range(num_steps)]
        running totals. Each alignment has a count of its own.
    return counts => return {k: count for k, count in enumerate(counts) if count}
        a `dict` from alignment to count. Return a list, with the count of alignment k
        at index k, and 0 for an alignment that never occurs.
""")


@alignment_counts.right_way("""
    highest + 1 => highest
        `highest` itself is one of the offsets…
    (k < rest) => 0
        the counts need not be equal: the remainder of (highest + 1) / T goes to the
        first alignments, one each.
    (k < rest) => 1
        the same count for each, rounded up. Only the first alignments get one more, as
        many as the remainder of (highest + 1) / T.
    (k < rest) => (k == 0) * rest
        here alignment 0 gets the whole remainder of (highest + 1) / T. It goes to the
        first alignments, one each.
    (k < rest) => (k == num_steps - 1) * rest
        here the last alignment gets the whole remainder of (highest + 1) / T. It goes
        to the first alignments, one each.
    (k < rest) => (k >= num_steps - rest)
        the remainder of (highest + 1) / T goes to the *first*…
    range(num_steps) => range(num_steps + 1)
        T + 1 counts. There are T alignments, 0 … T - 1, because T cuts like 0.
""")
def shares_and_the_rest(highest, num_steps):
    share, rest = divmod(highest + 1, num_steps)
    return [share + (k < rest) for k in range(num_steps)]


alignment_counts.answers("""
    [len(range(k, highest + 1, num_steps + 1)) for k in range(num_steps + 1)]
        T + 1 counts…
    [1] * (highest + 1)
        one entry for each offset. Return one for each alignment, T of them.
    [offset % num_steps for offset in range(highest + 1)]
        these are the alignments themselves. Count how often each one comes.
    [(highest + 1) / num_steps] * num_steps
        the counts need not be equal, because an offset has one alignment, not a part of
        each.
    [list(range(k, highest + 1, num_steps)) for k in range(num_steps)]
        these are the offsets themselves, alignment by alignment. Count them.
""")


def _coverages(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5, 10):
        yield from ((num_epochs, num_steps) for num_epochs in (0, 1, 2, 3, 5, 50))


@exercise(
    cases=_coverages,
    hints=(
        "Each alignment gives the token a different context. How likely is alignment 0 "
        "in an epoch, and how likely is each of the others?",
        "Take one alignment, which comes in an epoch with the chance p. How likely is "
        "it that all epochs miss it? And how likely is it then that it has come at "
        "least once? How do you average these chances into the share?",
    ),
)
def inclusive_coverage(num_epochs: int, num_steps: int) -> float:
    """Return the expected share of the pairs seen, for offsets from 0 ... T."""
    likely = 1 - (1 - 2 / (num_steps + 1)) ** num_epochs
    others = 1 - (1 - 1 / (num_steps + 1)) ** num_epochs
    return (likely + (num_steps - 1) * others) / num_steps


inclusive_coverage.slips("""
    (1 - 2 / (num_steps + 1)) => (1 - 1 / (num_steps + 1))
        as if T + 1 offsets made T + 1 alignments. Offset T cuts like offset 0, so
        alignment 0 has the chance 2 / (T + 1).
    (1 - 2 / (num_steps + 1)) => (1 - 1 / num_steps)
        alignment 0 is given the chance 1 / T. Two of the T + 1 offsets, 0 and T, have
        this alignment, so its chance is 2 / (T + 1).
    2 / (num_steps + 1) => 2 / num_steps ; 1 / (num_steps + 1) => 1 / num_steps
    2 / (num_steps + 1) => min(1, 2 / num_steps) ; \
    1 / (num_steps + 1) => 1 / num_steps
        the chances are 2/T and 1/T, which is more than 1 in all. There are T + 1
        offsets.
    (1 - 2 / (num_steps + 1)) => (2 / (num_steps + 1)) ; \
    (1 - 1 / (num_steps + 1)) => (1 / (num_steps + 1))
        the chance of seeing a pair is raised to the power, which gives the chance of
        seeing it in *every* epoch. Raise the chance of missing it.
    + (num_steps - 1) * => + num_steps *
        one alignment too many: besides alignment 0 there are T - 1, not T.
    (likely + (num_steps - 1) * others) / num_steps => (likely + others) / 2
        the mean of the two kinds. But alignment 0 is only one of T, and the other T - 1
        are of the other kind.
    (likely + (num_steps - 1) * others) / num_steps => likely
        this is alignment 0 alone. The T - 1 others are less likely: take the mean of
        all T.
    (likely + (num_steps - 1) * others) / num_steps => \
        (2 * likely + (num_steps - 1) * others) / (num_steps + 1)
        the mean is weighted by how likely the alignments are. But the share counts
        pairs, and each alignment brings equally many, so each has the weight 1 / T.
    * others) / num_steps => * others) / (num_steps + 1)
        divided by T + 1. But there are T contexts, 1 … T, so divide by T.
    * others) / num_steps => * others)
        the sum over the alignments says how many contexts of a token are seen. Divide
        it by T.
    return ... / num_steps => return 1 - ... / num_steps
        this is the share that has not been seen.
    return ... / num_steps => return 100 * ... / num_steps
        a share is between 0 and 1, but this is a percentage.
    return ... / num_steps => return round(... / num_steps, 2)
        rounded. Return the share as it is.
    likely = 1 - ... ** num_epochs => likely = 1 - ... ** max(0, num_epochs - 1) ; \
    others = 1 - ... ** num_epochs => others = 1 - ... ** max(0, num_epochs - 1)
        one epoch too few: the first one also counts.
    likely = 1 - ... ** num_epochs => likely = 1 - ... ** (num_epochs + 1) ; \
    others = 1 - ... ** num_epochs => others = 1 - ... ** (num_epochs + 1)
        one epoch is counted twice: after no epoch nothing has been seen.
    likely = 1 - (1 - ...) ** => likely = (...) ** ; \
    others = 1 - (1 - ...) ** => others = (...) **
        this is the chance that *every* epoch shows a pair. One epoch is enough.
""")


@inclusive_coverage.right_way("""
    (k == 0) => (k in (0, num_steps - 1))
        two alignments are given the chance 2 / (T + 1). Offset T adds to alignment 0
        alone.
    1 + (k == 0)) / (num_steps + 1) => 1 + (k == 0)) / num_steps
        the chances are 2/T and 1/T…
    for k in range(num_steps) => for k in range(num_steps + 1)
        one alignment too many: besides…
    1 + (k == 0) => 1
        as if T + 1 offsets made…
""")
def mean_of_shares(num_epochs, num_steps):
    chances = [(1 + (k == 0)) / (num_steps + 1) for k in range(num_steps)]
    return sum(1 - (1 - chance) ** num_epochs for chance in chances) / num_steps


inclusive_coverage.answers("""
    1 - (1 - 1 / num_steps) ** num_epochs
        as if all alignments were equally likely. Here two of the offsets, 0 and T, give
        alignment 0.
    1 / num_steps
        this is the share of one epoch. Each further epoch misses a pair with the same
        chance: multiply these.
    min(1.0, num_epochs / (num_steps + 1))
    num_epochs / (num_steps + 1)
        the epochs are added, although the pairs of two epochs overlap by chance. And
        one epoch shows 1 / T of the pairs, whatever the number of offsets.
    min(1.0, num_epochs / num_steps)
        two epochs may have the same alignment. Their shares overlap, so they don't add
        up.
    num_epochs / num_steps
        a share cannot be more than 1: the pairs of several epochs overlap.
    1 - (1 - (num_steps + 3) / (num_steps + 1) ** 2) ** num_epochs
        the mean is taken before the power. Each alignment has its own chance of being
        missed by all epochs: take the power first, and then the mean.
""")


# -- Bug or not? ----------------------------------------------------------------------


def starts_in_stream(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    return [
        offset + k * num_steps
        for k in range(max(0, (num_tokens - offset - 1) // num_steps))
    ]


@bug_or_not(
    purpose="Return the ids at which the subsequences after an offset start. The ids "
    "of the stream are their own positions, 0, 1, 2, …, and each subsequence needs all "
    "of its targets.",
    reference=starts_in_stream,
    cases=_streams,
    explanation=(
        "If we cut off the skipped ids first, positions count from the offset on. "
        "Position 0 of the rest is position `offset` of the stream, and the windows "
        "stay the same. The - 1 still keeps an id for the last target. If the rest is "
        "empty, the count is negative, and the range of a negative number is empty."
    ),
)
def sliced_before_counting(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    stream = list(range(num_tokens))
    rest = stream[offset:]
    count = (len(rest) - 1) // num_steps
    return [rest[k * num_steps] for k in range(count)]


def _orders(random: Random) -> Iterator[Case]:
    for num_tokens, num_steps in ((7, 3), (11, 5), (20, 4), (60, 8)):
        order = list(range((num_tokens - 1) // num_steps))
        for _ in range(3):
            random.shuffle(order)
            yield num_tokens, num_steps, list(order)


def contexts_in_order(num_tokens: int, num_steps: int, order: list[int]) -> list[int]:
    contexts = [0] * num_tokens
    for target in range(1, (num_tokens - 1) // num_steps * num_steps + 1):
        contexts[target] = (target - 1) % num_steps + 1
    return contexts


def contexts_as_shuffled(
    num_tokens: int, num_steps: int, order: list[int]
) -> list[int]:
    contexts = [0] * num_tokens
    for number in order:
        for step in range(num_steps):
            contexts[number * num_steps + step + 1] = step + 1
    return contexts


@true_or_false(
    claim="With stride T, some tokens have a short context in every epoch. "
    "*Shuffling the starts* helps against this, because in the new order some tokens "
    "have a different context.",
    reference=lambda *case: contexts_as_shuffled(*case) != contexts_in_order(*case),
    cases=_orders,
    explanation=(
        "Shuffling changes *when* a window comes, but not which tokens it contains. "
        "Each token keeps its place in its window, and therefore its context. Only "
        "another offset moves the cuts. We shuffle for another reason: it makes "
        "neighboring batches less alike."
    ),
)
def shuffling_changes_contexts(
    num_tokens: int, num_steps: int, order: list[int]
) -> bool:
    return True


def all_on_one_alignment(starts: list[int], num_steps: int) -> bool:
    return len({start % num_steps for start in starts}) == 1


def _examples_of_starts(random: Random) -> Iterator[Case]:
    yield from (([3, 10, 6], num_steps) for num_steps in range(1, 12))


@true_or_false(
    claim="A textbook gives 3, 10 and 6 as an example of the random starts of one "
    "epoch, and says that such windows overlap. In the scheme of this lesson, these "
    "three can be starts of one epoch *only if T = 1*, and then no windows share an "
    "input.",
    reference=all_on_one_alignment,
    cases=_examples_of_starts,
    explanation=(
        "The starts of one epoch differ by multiples of T. Here they differ by 3, 4 "
        "and 7, and only 1 divides all three. The textbook describes another scheme, "
        "in which each start is drawn on its own. There, windows may overlap, and an "
        "epoch may reach a token several times or not at all."
    ),
)
def starts_only_if_t_is_1(starts: list[int], num_steps: int) -> bool:
    return num_steps == 1


def _seeds(random: Random) -> Iterator[Case]:
    yield from ((seed, num_epochs) for seed in (0, 1, 7) for num_epochs in (2, 3, 5))


def one_generator_for_all_epochs(seed: int, num_epochs: int) -> list[int]:
    generator = Random(seed)
    return [generator.randrange(1000) for _ in range(num_epochs)]


@bug_or_not(
    purpose="Draw the offsets for all epochs of a run with T = 1000. With the same "
    "seed the run can be repeated, and its epochs are independent of each other.",
    reference=one_generator_for_all_epochs,
    cases=_seeds,
    explanation=(
        "Each epoch makes a new generator from the same seed, so it draws the same "
        "offset as the epoch before. The random scheme has become a fixed one. Make "
        "the generator once, before the first epoch, or derive its seed from the epoch."
    ),
)
def offsets_of_a_run(seed: int, num_epochs: int) -> list[int]:
    offsets = []
    for _ in range(num_epochs):
        generator = Random(seed)
        offsets.append(generator.randrange(1000))
    return offsets


# With other numbers by seed.


@numbers(
    ask="A stream has {num_tokens:,} ids. The offset of this epoch is {offset}, "
    "T = {num_steps}, {batch_size} subsequences make a batch, and a batch that is not "
    "full is dropped. How many ids are an input in this epoch?",
    draw=lambda rng: {
        "num_tokens": rng.randrange(2_000, 9_000),
        "num_steps": (num_steps := rng.randrange(12, 40)),
        "offset": rng.randrange(1, num_steps),
        "batch_size": rng.randrange(5, 20),
    },
    hints=(
        "How many subsequences fit after the offset, how many full batches do they "
        "make, and how many inputs are there in a batch?",
    ),
)
def inputs_of_epoch(
    num_tokens: int, num_steps: int, offset: int, batch_size: int
) -> int:
    subsequences = (num_tokens - offset - 1) // num_steps
    return subsequences // batch_size * batch_size * num_steps


inputs_of_epoch.answers("""
    (num_tokens - offset - 1) // num_steps * num_steps
        this includes the subsequences that are left over. They are dropped.
    num_tokens - offset - 1
        these are all ids after the offset, including the tail.
    (num_tokens - offset - 1) // num_steps // batch_size * batch_size
        these are subsequences, not inputs: each has T inputs.
    (num_tokens - offset - 1) // num_steps // batch_size
        these are batches, not inputs: each has B times T inputs.
""")


@numbers(
    ask="The offset is {offset}, and T = {num_steps}. The token at position "
    "{position}, counted from 0, is a target. How many inputs does its context have?",
    draw=lambda rng: {
        "num_steps": (num_steps := rng.randrange(8, 40)),
        "offset": rng.randrange(1, num_steps),
        "position": rng.randrange(100, 900),
    },
    hints=(
        "The first target after the offset has a context of 1. Which position is it?",
    ),
)
def context_of_target(num_steps: int, offset: int, position: int) -> int:
    return (position - offset - 1) % num_steps + 1


context_of_target.answers("""
    (position - offset) % num_steps + 1
        this is its place as an input. As a target, it belongs to the input before it.
    (position - 1) % num_steps + 1
        the offset is missing, but it moves all cuts.
    (position - offset - 1) % num_steps
        one too few: the first target has a context of 1, not 0.
""")


@numbers(
    ask="T = {num_steps}, and each of {num_epochs} epochs draws a new offset. Pair "
    "each token far from both ends with each length of its context, 1 to T. What share "
    "of these pairs can we expect to see at least once?",
    draw=lambda rng: {
        "num_steps": rng.randrange(8, 33),
        "num_epochs": rng.randrange(4, 30),
    },
    hints=(
        "A pair comes in an epoch with probability 1 / T. How likely is it that it "
        "never comes?",
    ),
)
def share_of_pairs(num_steps: int, num_epochs: int) -> float:
    return 1 - (1 - 1 / num_steps) ** num_epochs


share_of_pairs.answers("""
    num_epochs / num_steps
        as if no pair came twice. But offsets are drawn independently.
    (1 - 1 / num_steps) ** num_epochs
        this is the share of pairs that have *not* come.
    1 / num_steps
        this is the share of a single epoch.
""")
