"""Exercises of lesson 03: batches, offsets, contexts and alignments."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


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
        "What happens to subsequences that don't fill a batch? And what does `//` do "
        "with a negative number? Try `num_batches(0, 1, 5, 3)`.",
    ),
)
def num_batches(num_tokens: int, batch_size: int, num_steps: int, offset: int) -> int:
    """Return how many full batches an epoch has at this offset."""
    return max(0, (num_tokens - offset - 1) // num_steps) // batch_size


def _subsequences(num_tokens: int, num_steps: int, offset: int) -> int:
    return max(0, (num_tokens - offset - 1) // num_steps)


num_batches.mistake(
    "you return a negative count when no id is left after the offset, because `//` "
    "rounds down.",
    lambda N, B, T, offset: (N - offset - 1) // T // B,
    lambda N, B, T, offset: (N - offset - 1) // (B * T),
)
num_batches.mistake(
    "you forget the offset. The ids that it skips are in no batch.",
    lambda N, B, T, offset: num_batches(N, B, T, 0),
    lambda N, B, T, offset: (N - 1) // T // B,
)
num_batches.mistake(
    "you forget the last target. One id has to be left after the last subsequence.",
    lambda N, B, T, offset: max(0, N - offset) // T // B,
)
num_batches.mistake(
    "you keep an extra id for each subsequence, or for each batch, but neighbors "
    "share theirs, and only the last subsequence needs one.",
    lambda N, B, T, offset: max(0, N - offset) // (T + 1) // B,
    lambda N, B, T, offset: max(0, N - offset) // (B * T + 1),
)
num_batches.mistake(
    "you count a batch that isn't full, or a subsequence that isn't. Both are dropped "
    "here.",
    lambda N, B, T, offset: -(-_subsequences(N, T, offset) // B),
    lambda N, B, T, offset: max(0, -(-(N - offset - 1) // T)) // B,
)
num_batches.mistake(
    "you divide by B or by T alone, but a batch is B subsequences of T inputs each.",
    lambda N, B, T, offset: _subsequences(N, T, offset),
    lambda N, B, T, offset: max(0, N - offset - 1) // B,
)


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
        "they have in common that the starts of offset 3 don't?",
        "The starts 2, 7, 12, 17 are 2 + 0 * 5, 2 + 1 * 5, 2 + 2 * 5 and 2 + 3 * 5. "
        "Which operation takes the 3 * 5 away from 17 again?",
    ),
)
def offset_of(starts: list[int], num_steps: int) -> int:
    """Return the offset of an epoch from the shuffled starts of its full batches."""
    return starts[0] % num_steps


offset_of.mistake(
    "you return a start as it is, but after the shuffle, the start that equals the "
    "offset may come anywhere, or be left over.",
    lambda starts, T: starts[0],
    lambda starts, T: min(starts),
)
offset_of.mistake(
    "you take the quotient, which is the number of the subsequence, but you have to "
    "take the remainder.",
    lambda starts, T: starts[0] // T,
    lambda starts, T: min(starts) // T,
)
offset_of.mistake(
    "you subtract T at most once, but a start may be several times T above the offset.",
    lambda starts, T: starts[0] - T * (starts[0] >= T),
    lambda starts, T: min(starts) - T * (min(starts) >= T),
)
offset_of.mistake(
    "you subtract 1, or add it, but starts and offset both count from 0.",
    lambda starts, T: (starts[0] - 1) % T,
    lambda starts, T: starts[0] % T + 1,
)
offset_of.mistake(
    "you count back from the largest start to the first, but any of the starts may be "
    "missing from the log.",
    lambda starts, T: max(starts) - (len(starts) - 1) * T,
    lambda starts, T: max(starts) - len(starts) * T,
)


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
        "does its first target have? Write the contexts side by side, and you'll see "
        "them repeat. Where do they begin?",
    ),
)
def left_context(position: int, offset: int, num_steps: int) -> int:
    """Return how much context the token at `position` has as a target, or 0."""
    if position <= offset:
        return 0
    return (position - offset - 1) % num_steps + 1


left_context.mistake(
    "you count the token itself, but its context is only what comes before it.",
    lambda p, offset, T: 0 if p < offset else (p - offset) % T + 1,
    lambda p, offset, T: 0 if p <= offset else (p - offset) % T + 1,
    lambda p, offset, T: (p - offset) % T + 1,
)
left_context.mistake(
    "you give a context to tokens up to the offset, but none of them is ever a target, "
    "not even the one at the offset. Return 0 for all of these.",
    lambda p, offset, T: (p - offset - 1) % T + 1,
    lambda p, offset, T: 0 if p < offset else (p - offset - 1) % T + 1,
)
left_context.mistake(
    "you leave the offset out of the remainder, although it moves every cut.",
    lambda p, offset, T: (p - 1) % T + 1 if p > offset else 0,
    lambda p, offset, T: (p - 1) % T + 1 if p else 0,
)
left_context.mistake(
    "you give the token at offset + T a context of 0, but it has the longest context "
    "of all, T.",
    lambda p, offset, T: (p - offset) % T if p > offset else 0,
    lambda p, offset, T: (p - offset) % T,
)
left_context.mistake(
    "you start from 0, but the first target already has one input to its left.",
    lambda p, offset, T: (p - offset - 1) % T if p > offset else 0,
)
left_context.mistake(
    "you never let the context shrink, but after every cut it begins again at 1.",
    lambda p, offset, T: max(0, p - offset),
    lambda p, offset, T: max(0, min(T, p - offset)),
)


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
        "each remainder occurs.",
    ),
)
def alignment_counts(highest: int, num_steps: int) -> list[int]:
    """Return how many of the offsets 0 ... `highest` fall on each alignment."""
    counts = [0] * num_steps
    for offset in range(highest + 1):
        counts[offset % num_steps] += 1
    return counts


alignment_counts.mistake(
    "you leave out `highest` itself, because a `range` stops before its end.",
    lambda highest, T: alignment_counts(highest - 1, T),
)
alignment_counts.mistake(
    "you count from 1, although 0 is one of the offsets, too.",
    lambda highest, T: [
        n - (k == 0) for k, n in enumerate(alignment_counts(highest, T))
    ],
)
alignment_counts.mistake(
    "you don't wrap the offsets from T on, but T makes the same cuts as 0, T + 1 the "
    "same as 1, and so on.",
    lambda highest, T: alignment_counts(min(highest, T - 1), T),
    lambda highest, T: [
        *alignment_counts(min(highest, T - 2), T)[:-1],
        max(0, highest - T + 2),
    ],
)
alignment_counts.mistake(
    "you return T + 1 counts, but the alignments are 0 ... T - 1, because an offset of "
    "T cuts like 0.",
    lambda highest, T: alignment_counts(highest, T + 1),
    lambda highest, T: [*alignment_counts(highest, T), 0],
)
alignment_counts.mistake(
    "you leave out an alignment that never occurs. The list always has T entries, and "
    "this one is 0.",
    lambda highest, T: [n for n in alignment_counts(highest, T) if n],
    lambda highest, T: {k: n for k, n in enumerate(alignment_counts(highest, T)) if n},
)
alignment_counts.mistake(
    "you make all counts equal, but the remainder of (highest + 1) / T goes to the "
    "first alignments, one each.",
    lambda highest, T: [(highest + 1) // T] * T,
    lambda highest, T: [-(-(highest + 1) // T)] * T,
)


# Bug or not?


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
        "If we cut off the skipped ids first, positions then count from the offset on. "
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
        "Each token keeps its place in its window, and therefore its context. Only a "
        "different offset moves the cuts. We shuffle for another reason: it makes "
        "the windows of a batch less alike."
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
    claim="Someone's log of one epoch of random sampling holds the starts 3, 10 and 6. "
    "Then T must have been 1.",
    reference=all_on_one_alignment,
    cases=_examples_of_starts,
    explanation=(
        "The starts of one epoch differ by multiples of T. Here they differ by 3, 4 "
        "and 7, and only 1 divides all three. Where each start is drawn on its own, as "
        "in random crops, all three can occur at any T."
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
