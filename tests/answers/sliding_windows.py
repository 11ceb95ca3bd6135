"""Answers to the exercises of lesson 2: right ones, and wrong ones with words of what they are told."""

from course_lib.exercises.sliding_windows import (
    batches_left,
    rank_share,
    smallest_stream,
    tokens_in_tail,
    turns_as_target,
)
from course_lib.teaching.checker import FAILED, PASSED


def by_marking(num_tokens, context_length, stride):
    """The tail is what comes after the last id that a window holds."""
    last = -1
    start = 0
    while start + context_length < num_tokens:
        last = start + context_length
        start += stride
    return num_tokens - 1 - last


def turn_by_turn(position, num_tokens, context_length):
    turns = 0
    for start in range(num_tokens - context_length):
        targets = range(start + 1, start + context_length + 1)
        turns += position in targets
    return turns


def longer_and_longer(num_windows, context_length, stride):
    size = 0
    while len(range(0, size - context_length, stride)) < num_windows:
        size += 1
    return size


def dealt_in_rounds(order, rank, world_size):
    hand = []
    for first in range(0, len(order), world_size):
        cards = order[first : first + world_size]
        if len(cards) == world_size:
            hand.append(cards[rank])
    return hand


def one_after_another(order, batch_size, batches_delivered):
    left = []
    for number, entry in enumerate(order):
        if number < batch_size * batches_delivered:
            continue
        if number % batch_size == 0:
            left.append([])
        left[-1].append(entry)
    return left


def no_short_one(order, batch_size, batches_delivered):
    whole = len(order) // batch_size
    return [order[b * batch_size : (b + 1) * batch_size] for b in range(batches_delivered, whole)]


ANSWERS = [
    (tokens_in_tail, by_marking, PASSED),
    (tokens_in_tail, lambda N, T, S: (N - T - 1) % S if N > T else N, PASSED),
    (tokens_in_tail, lambda N, T, S: N - max((s + T + 1 for s in range(0, N - T, S)), default=0), PASSED),
    (tokens_in_tail, lambda N, T, S: N - max((s + T for s in range(0, N - T + 1, S)), default=0), "windows of T ids"),
    (tokens_in_tail, lambda N, T, S: (N - (T + 1)) % S, "too short for a window"),
    (tokens_in_tail, lambda N, T, S: N - len(range(0, N - T, S)) * S, "n - 1 strides"),
    (tokens_in_tail, lambda N, T, S: N % S, "as long as a stride"),
    (tokens_in_tail, lambda N, T, S: N - T - 1, FAILED),
    (turns_as_target, turn_by_turn, PASSED),
    (turns_as_target, lambda p, N, T: len(set(range(p - T, p)) & set(range(N - T))), PASSED),
    (turns_as_target, lambda p, N, T: max(0, min(p, T, N - T, N - p)), PASSED),
    (turns_as_target, lambda p, N, T: sum(s <= p < s + T for s in range(N - T)), "is an *input*"),
    (turns_as_target, lambda p, N, T: sum(s <= p <= s + T for s in range(N - T)), "*contain* the token"),
    (turns_as_target, lambda p, N, T: sum(s < p <= s + T for s in range(N - T + 1)), "start at N - T"),
    (turns_as_target, lambda p, N, T: min(T, p), "near the end"),
    (turns_as_target, lambda p, N, T: T, FAILED),
    (smallest_stream, longer_and_longer, PASSED),
    (smallest_stream, lambda n, T, S: max((i * S + T + 1 for i in range(n)), default=0), PASSED),
    (smallest_stream, lambda n, T, S: max((i * S + T for i in range(n)), default=0), "the last target"),
    (smallest_stream, lambda n, T, S: T + 1 + S * (n - 1), "zero windows"),
    (smallest_stream, lambda n, T, S: T + 1 + S * n, "posts of a fence"),
    (smallest_stream, lambda n, T, S: n * T + n, "end to end"),
    (smallest_stream, lambda n, T, S: T + S if n else 0, FAILED),
    (rank_share, dealt_in_rounds, PASSED),
    (rank_share, lambda order, rank, W: [order[i * W + rank] for i in range(len(order) // W)], PASSED),
    (rank_share, lambda order, rank, W: order[rank::W][: len(order) // W], PASSED),
    (rank_share, lambda order, rank, W: [e for i, e in enumerate(order) if i % W == rank], "one entry more"),
    (rank_share, lambda order, rank, W: order[len(order) // W * rank :][: len(order) // W], "like cards"),
    (rank_share, lambda order, rank, W: [e for e in order if e % W == rank], "by their *value*"),
    (rank_share, lambda order, rank, W: [rank] * (len(order) // W), FAILED),
    (batches_left, one_after_another, PASSED),
    (
        batches_left,
        lambda order, B, done: [order[i : i + B] for i in range(0, len(order), B)][done:],
        PASSED,
    ),
    (
        batches_left,
        lambda order, B, done: [order[i : i + B] for i in range(done, len(order), B)],
        "many *batches* were delivered",
    ),
    (batches_left, no_short_one, "the short last batch"),
    (batches_left, lambda order, B, done: [order[i : i + B] for i in range(0, done * B, B)], "that *were* delivered"),
    (batches_left, lambda order, B, done: order[B * done :], "cut it into batches"),
    (batches_left, lambda order, B, done: [order[i : i + 1] for i in range(done * B, len(order))], FAILED),
]
