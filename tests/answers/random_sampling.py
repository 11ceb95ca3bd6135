"""Answers to the exercises of lesson 3: right ones, and wrong ones with words of what they are told."""

from collections import Counter
from math import gcd

import numpy as np

from course_lib.exercises.random_sampling import alignment_counts, left_context, num_batches, offset_of
from course_lib.teaching.checker import FAILED, PASSED


def batch_after_batch(num_tokens, batch_size, num_steps, offset):
    batches, start = 0, offset
    while start + batch_size * num_steps < num_tokens:
        batches += 1
        start += batch_size * num_steps
    return batches


def all_that_is_left(num_tokens, batch_size, num_steps, offset):
    starts = list(range(offset, num_tokens - num_steps, num_steps))
    return len([starts[i : i + batch_size] for i in range(0, len(starts), batch_size)])


def without_last_target(num_tokens, batch_size, num_steps, offset):
    starts = range(offset, num_tokens - num_steps + 1, num_steps)
    return len(starts) // batch_size


def down_by_steps(starts, num_steps):
    offset = starts[-1]
    while offset - num_steps >= 0:
        offset -= num_steps
    return offset


def once_down(starts, num_steps):
    first = sorted(starts)[0]
    return first if first < num_steps else first - num_steps


def subsequence_by_subsequence(position, offset, num_steps):
    start = offset
    while position > start + num_steps:
        start += num_steps
    return max(0, position - start)


def written_out(position, offset, num_steps):
    contexts = [0] * (offset + 1)
    while len(contexts) <= position:
        contexts += range(1, num_steps + 1)
    return contexts[position]


def dealt_out(highest, num_steps):
    counts, alignment = [0] * num_steps, 0
    for _ in range(highest + 1):
        counts[alignment] += 1
        alignment = 0 if alignment == num_steps - 1 else alignment + 1
    return counts


def only_those_that_come(highest, num_steps):
    counted = Counter(offset % num_steps for offset in range(highest + 1))
    return [counted[alignment] for alignment in sorted(counted)]


def an_id_more_for_each(num_tokens, batch_size, num_steps, offset):
    left = max(0, num_tokens - offset)
    subsequences = left // (num_steps + 1)
    return subsequences // batch_size


def subsequences_alone(num_tokens, batch_size, num_steps, offset):
    left = num_tokens - offset - 1
    return left // num_steps if left > 0 else 0


def counted_from_one(starts, num_steps):
    return (min(starts) - 1) % num_steps


def with_the_token_itself(position, offset, num_steps):
    if position <= offset:
        return 0
    return (position - offset) % num_steps + 1


def cut_from_the_beginning(position, offset, num_steps):
    if position <= offset:
        return 0
    return (position - 1) % num_steps + 1


def context_from_zero(position, offset, num_steps):
    if position <= offset:
        return 0
    return (position - 1 - offset) % num_steps


def offsets_that_stay_apart(highest, num_steps):
    counts = [0] * num_steps
    for offset in range(highest + 1):
        if offset < num_steps:
            counts[offset] += 1
    return counts


def a_place_for_each_end(highest, num_steps):
    counts = [0] * (num_steps + 1)
    for offset in range(highest + 1):
        counts[offset % num_steps] += 1
    return counts


ANSWERS = [
    (num_batches, batch_after_batch, PASSED),
    (num_batches, lambda N, B, T, o: len(range(o + B * T, N, B * T)), PASSED),
    (num_batches, lambda N, B, T, o: len(range(o, N - T, T)) // B, PASSED),
    (num_batches, lambda N, B, T, o: ((N - 1 - o) // T) // B, "a negative count"),
    (num_batches, all_that_is_left, "that isn't full"),
    (num_batches, without_last_target, "the last target"),
    (num_batches, lambda N, B, T, o: len(range(0, N - T, T)) // B, "you forget the offset"),
    (num_batches, lambda N, B, T, o: (N - o) // B, FAILED),
    (offset_of, down_by_steps, PASSED),
    (offset_of, lambda starts, T: min(starts) - min(starts) // T * T, PASSED),
    (offset_of, lambda starts, T: np.unique(np.mod(starts, T)).item(), PASSED),
    (offset_of, once_down, "at most once"),
    (offset_of, lambda starts, T: sorted(starts)[0], "a start as it is"),
    (offset_of, lambda starts, T: divmod(starts[0], T)[0], "take the remainder"),
    (offset_of, lambda starts, T: max(starts) - T * (len(starts) - 1), "missing from the log"),
    (offset_of, lambda starts, T: gcd(*starts), FAILED),
    (left_context, subsequence_by_subsequence, PASSED),
    (left_context, written_out, PASSED),
    (left_context, lambda p, o, T: ((p - o) % T or T) if p > o else 0, PASSED),
    (left_context, lambda p, o, T: 1 + (p - 1 - o) % T if p >= o else 0, "up to the offset"),
    (left_context, lambda p, o, T: 1 + (p - 1 - o) % T, "up to the offset"),
    (left_context, lambda p, o, T: 0 if p <= o else (p - o) % T, "at offset + T"),
    (left_context, lambda p, o, T: min(T, p - o) if p > o else 0, "never let the context shrink"),
    (left_context, lambda p, o, T: T if p > o else 0, FAILED),
    (alignment_counts, dealt_out, PASSED),
    (alignment_counts, lambda h, T: np.bincount(np.arange(h + 1) % T, minlength=T), PASSED),
    (alignment_counts, lambda h, T: [len(range(k, h + 1, T)) for k in range(T)], PASSED),
    (alignment_counts, lambda h, T: [len(range(k, h, T)) for k in range(T)], "`highest` itself"),
    (alignment_counts, lambda h, T: np.bincount(np.arange(1, h + 1) % T, minlength=T), "0 is one of"),
    (alignment_counts, only_those_that_come, "never occurs"),
    (alignment_counts, lambda h, T: [(h + 1) // T for _ in range(T)], "make all counts equal"),
    (alignment_counts, lambda h, T: [offset % T for offset in range(h + 1)], FAILED),
    (num_batches, an_id_more_for_each, "an extra id for each subsequence"),
    (num_batches, subsequences_alone, "by B or by T alone"),
    (offset_of, counted_from_one, "you subtract 1"),
    (left_context, with_the_token_itself, "the token itself"),
    (left_context, cut_from_the_beginning, "out of the remainder"),
    (left_context, context_from_zero, "you start from 0"),
    (alignment_counts, offsets_that_stay_apart, "don't wrap the offsets"),
    (alignment_counts, a_place_for_each_end, "T + 1 counts"),
]
