"""Exercises of lesson 03: offsets, alignments, and what an epoch covers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise


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


@exercise(
    cases=_streams,
    hints=(
        "How many ids are left behind the offset? One of them is only a target.",
        "(N - offset - 1) // T, but never below 0.",
    ),
)
def num_subsequences(num_tokens: int, num_steps: int, offset: int) -> int:
    """Return how many disjoint subsequences of `num_steps` inputs fit behind `offset`,
    with all their targets."""
    return max(0, (num_tokens - offset - 1) // num_steps)


@num_subsequences.mistake(
    "the last target. When T divides the rest evenly, the last subsequence has no id "
    "for it."
)
def forgets_the_last_target(num_tokens, num_steps, offset):
    return max(0, (num_tokens - offset) // num_steps)


@num_subsequences.mistake(
    "one extra id for each subsequence. Neighbors share it: only the last one needs "
    "one more."
)
def one_id_more_each(num_tokens, num_steps, offset):
    return max(0, (num_tokens - offset) // (num_steps + 1))


@num_subsequences.mistake("the offset is not taken off.")
def ignores_the_offset(num_tokens, num_steps, offset):
    return max(0, (num_tokens - 1) // num_steps)


@num_subsequences.mistake(
    "a stream that ends before the offset gives a negative count: // rounds down."
)
def negative_count(num_tokens, num_steps, offset):
    return (num_tokens - offset - 1) // num_steps


@num_subsequences.mistake(
    "that is how stride-T *windows* are counted if N counts only inputs: here it is "
    "one too many."
)
def one_too_many(num_tokens, num_steps, offset):
    return 1 + (num_tokens - offset - 1) // num_steps


def _epochs(random: Random) -> Iterator[Case]:
    for batch_size in (1, 2, 3):
        for num_steps in (2, 5):
            for num_tokens in (num_steps * batch_size + num_steps, 33, 35, 40):
                yield from (
                    (num_tokens, batch_size, num_steps, offset)
                    for offset in range(num_steps)
                )


@exercise(
    cases=_epochs,
    hints=(
        "Count the subsequences first, then the batches they fill.",
        "A batch that is not full is dropped: round down twice.",
    ),
)
def num_batches(num_tokens: int, batch_size: int, num_steps: int, offset: int) -> int:
    """Return how many full batches an epoch of random sampling has at this offset."""
    return (num_tokens - offset - 1) // num_steps // batch_size


@num_batches.mistake("a batch that is not full counts as one. Here it is dropped.")
def keeps_the_last(num_tokens, batch_size, num_steps, offset):
    return -(-((num_tokens - offset - 1) // num_steps) // batch_size)


@num_batches.mistake(
    "the offset is not taken off: the number of batches does depend on it."
)
def offset_ignored(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - 1) // num_steps // batch_size


@num_batches.mistake("subsequences are counted, not batches of them.")
def counts_subsequences(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset - 1) // num_steps


@num_batches.mistake(
    "the last target is forgotten: one id must be left behind the last subsequence."
)
def last_target_forgotten(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset) // num_steps // batch_size


@num_batches.mistake("a count is a whole number: divide with `//`.")
def not_a_whole_number(num_tokens, batch_size, num_steps, offset):
    return (num_tokens - offset - 1) / num_steps / batch_size


def _shuffled_epochs(random: Random) -> Iterator[Case]:
    for num_steps in (1, 3, 5, 8):
        for offset in range(num_steps):
            starts = [offset + k * num_steps for k in range(7)]
            random.shuffle(starts)
            # the others did not fill a batch: the smallest may be among them
            yield (
                starts[:4],
                num_steps,
            )


@exercise(
    cases=_shuffled_epochs,
    hints=(
        "All starts of an epoch are equally far from one another, up to multiples of "
        "something.",
        "What is the remainder of any start divided by T?",
    ),
)
def offset_of(starts: list[int], num_steps: int) -> int:
    """Return the offset of an epoch from the shuffled starts of its full batches."""
    return starts[0] % num_steps


@offset_of.mistake(
    "the smallest start. It is the offset only if its subsequence was not dropped "
    "with the last batch."
)
def smallest(starts, num_steps):
    return min(starts)


@offset_of.mistake("the first start. After shuffling it can be any of them.")
def first(starts, num_steps):
    return starts[0]


@offset_of.mistake("divided, not remaindered: that is the number of the subsequence.")
def quotient(starts, num_steps):
    return starts[0] // num_steps


def _targets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5):
        for offset in range(num_steps):
            yield from ((position, offset, num_steps) for position in range(13))


@exercise(
    cases=_targets,
    hints=(
        "The first target behind the offset has a context of 1 token. The one after "
        "it?",
        "It runs 1, 2, ... T, and again. Everything up to the offset itself is no "
        "target.",
    ),
)
def left_context(position: int, offset: int, num_steps: int) -> int:
    """Return how many tokens of context the token at `position` has when it is a
    target; 0 if it never is.

    The stream goes on as long as you need: ignore its end.
    """
    if position <= offset:
        return 0
    return (position - offset - 1) % num_steps + 1


@left_context.mistake(
    "an off-by-one. The token at offset + T has the longest context, T, and not 0."
)
def wraps_too_early(position, offset, num_steps):
    return 0 if position <= offset else (position - offset) % num_steps


@left_context.mistake(
    "the context starts at 1: the first target has its input to its left."
)
def starts_at_zero(position, offset, num_steps):
    return 0 if position <= offset else (position - offset - 1) % num_steps


@left_context.mistake("the offset is ignored: it moves all cuts.")
def fixed_cuts(position, offset, num_steps):
    return 0 if position <= 0 else (position - 1) % num_steps + 1


@left_context.mistake(
    "tokens up to the offset are never a target; there the context is 0."
)
def before_the_offset(position, offset, num_steps):
    return (position - offset - 1) % num_steps + 1


@left_context.mistake(
    "the context begins anew at every cut: it does not grow to T and stay there."
)
def grows_once(position, offset, num_steps):
    return max(0, min(num_steps, position - offset))


def _highest_offsets(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 3, 5, 8):
        yield from (
            (highest, num_steps)
            for highest in {0, num_steps - 1, num_steps, 2 * num_steps}
        )


@exercise(
    cases=_highest_offsets,
    hints=(
        "Two offsets make the same cuts if they differ by a multiple of T.",
        "For each of 0 ... highest, take the remainder divided by T, and count how "
        "often each one comes.",
    ),
)
def alignment_counts(highest: int, num_steps: int) -> list[int]:
    """Return how many of the offsets 0 ... `highest` (included) fall on each alignment
    0 ... num_steps - 1."""
    counts = [0] * num_steps
    for offset in range(highest + 1):
        counts[offset % num_steps] += 1
    return counts


@alignment_counts.mistake(
    "`highest` itself is one of the offsets: a `range` stops before its end."
)
def exclusive(highest, num_steps):
    return [
        sum(offset % num_steps == a for offset in range(highest))
        for a in range(num_steps)
    ]


@alignment_counts.mistake(
    "one count for each alignment, T of them, and not one for each offset."
)
def one_for_each_offset(highest, num_steps):
    return [1] * (highest + 1)


@alignment_counts.mistake(
    "the offsets beyond T - 1 are left out. They repeat alignments, which is the point."
)
def clipped(highest, num_steps):
    return [int(a <= highest) for a in range(num_steps)]


@alignment_counts.mistake(
    "the counts need not be equal: what is left of (highest + 1) / T goes to the "
    "first alignments."
)
def all_equal(highest, num_steps):
    return [(highest + 1) // num_steps] * num_steps


def _coverages(random: Random) -> Iterator[Case]:
    for num_steps in (1, 2, 5, 10):
        yield from ((num_epochs, num_steps) for num_epochs in (0, 1, 2, 5, 50))


@exercise(
    cases=_coverages,
    hints=(
        "Take one token and one of its T possible contexts. How likely does one "
        "epoch *miss* that pair?",
        "1 - 1/T for one epoch. Epochs are independent, so multiply.",
    ),
)
def expected_coverage(num_epochs: int, num_steps: int) -> float:
    """Return the expected share of (token, context length) pairs seen after some epochs
    with random offsets."""
    return 1 - (1 - 1 / num_steps) ** num_epochs


@expected_coverage.mistake(
    "epochs repeat one another by chance: the shares of two epochs overlap, so they "
    "don't add up."
)
def adds_up(num_epochs, num_steps):
    return min(1.0, num_epochs / num_steps)


@expected_coverage.mistake("that is the share that is still missing.")
def still_missing(num_epochs, num_steps):
    return (1 - 1 / num_steps) ** num_epochs


@expected_coverage.mistake(
    "that is a fixed offset: it sees the same pairs in every epoch."
)
def fixed_offset(num_epochs, num_steps):
    return 1 / num_steps if num_epochs else 0.0


def _lengths(random: Random) -> Iterator[Case]:
    yield from ((num_steps,) for num_steps in range(1, 12))


@expected_coverage.mistake(
    "the chance to *miss* a pair in one epoch is 1 - 1/T, not 1/T."
)
def chance_to_see(num_epochs, num_steps):
    return 1 - (1 / num_steps) ** num_epochs


@expected_coverage.mistake(
    "a share cannot pass 1: the pairs of several epochs overlap."
)
def beyond_one(num_epochs, num_steps):
    return num_epochs / num_steps


def each_alignment_once(num_steps: int) -> list[int]:
    return list(range(num_steps))


@bug_or_not(
    reference=each_alignment_once,
    cases=_lengths,
    explanation=(
        "`random.randint` includes both of its ends (`torch.randint` and `range` "
        "don't). An offset of T cuts where an offset of 0 cuts, so alignment 0 comes "
        "twice as often as any other."
    ),
)
def alignments_of_randint(num_steps: int) -> list[int]:
    # all values that random.randint(0, num_steps) can return
    offsets = range(0, num_steps + 1)
    return [offset % num_steps for offset in offsets]


def starts_in_stream(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    return [
        offset + k * num_steps
        for k in range(max(0, (num_tokens - offset - 1) // num_steps))
    ]


@bug_or_not(
    reference=starts_in_stream,
    cases=_streams,
    explanation=(
        "Cutting the stream first moves the positions, not the windows: start 0 of "
        "the rest is start `offset` of the stream. The - 1 still keeps an id for the "
        "last target. (The copy costs memory, though: a view would not.)"
    ),
)
def sliced_before_counting(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    rest = list(range(num_tokens))[offset:]
    count = (len(rest) - 1) // num_steps
    return [rest[k * num_steps] for k in range(count)]


@bug_or_not(
    reference=starts_in_stream,
    cases=_streams,
    explanation=(
        "Without the - 1 it goes wrong only when T divides the rest evenly: the last "
        "subsequence then has no last target. At a random offset that happens in one "
        "epoch of T, which is how such a bug survives its tests."
    ),
)
def counted_without_a_target(num_tokens: int, num_steps: int, offset: int) -> list[int]:
    count = max(0, (num_tokens - offset) // num_steps)
    return [offset + k * num_steps for k in range(count)]


def _seeds(random: Random) -> Iterator[Case]:
    yield from ((seed, num_epochs) for seed in (0, 1, 7) for num_epochs in (2, 3, 5))


def one_generator_for_all_epochs(seed: int, num_epochs: int) -> list[int]:
    generator = Random(seed)
    return [generator.randrange(1000) for _ in range(num_epochs)]


@bug_or_not(
    reference=one_generator_for_all_epochs,
    cases=_seeds,
    explanation=(
        "A generator that is made anew in each epoch, from the same seed, draws the "
        "same offset and order again: the random scheme has become a fixed one. Make "
        "the generator once, or derive its seed from the epoch."
    ),
)
def offsets_of_a_run(seed: int, num_epochs: int) -> list[int]:
    offsets = []
    for _ in range(num_epochs):
        generator = Random(seed)
        offsets.append(generator.randrange(1000))
    return offsets
