"""Answers to the exercises of lesson 1: right ones, and wrong ones with words of what they are told."""

import math

import numpy as np

from course_lib.exercises.next_token_shifting import (
    find_shift,
    make_example,
    padded_targets,
    peeks,
    text_bits_per_byte,
)
from course_lib.teaching.checker import FAILED, PASSED


def one_id_at_a_time(ids, start, context_length):
    inputs, targets = [], []
    for place in range(start, start + context_length):
        inputs.append(ids[place])
        targets.append(ids[place + 1])
    return inputs, targets


def whole_window_twice(ids, start, context_length):
    window = ids[start : start + context_length + 1]
    return window, window[1:]


def rolled(ids, start, context_length):
    inputs = ids[start : start + context_length]
    return inputs, np.roll(inputs, -1).tolist()


def cut_to_length_first(ids, start, context_length):
    window = ids[start:context_length]
    return window, ids[start + 1 : context_length + 1]


def with_arrays(inputs, targets):
    X, Y = np.array(inputs), np.array(targets)
    T = X.shape[1]
    return min(d for d in range(T) if np.array_equal(X[:, d:], Y[:, : T - d]))


def place_by_place(inputs, targets):
    T, d = len(inputs[0]), 0
    while any(y[t] != x[t + d] for x, y in zip(inputs, targets, strict=True) for t in range(T - d)):
        d += 1
    return d


def from_one_on(inputs, targets):
    for d in range(1, len(inputs[0])):
        if all(x[d:] == y[:-d] for x, y in zip(inputs, targets, strict=True)):
            return d


def any_row(inputs, targets):
    for d in range(len(inputs[0])):
        for x, y in zip(inputs, targets, strict=True):
            if x[d:] == y[: len(y) - d]:
                return d


def two_rows(inputs, targets):
    return place_by_place(inputs[:2], targets[:2])


def first_and_last_row(inputs, targets):
    return place_by_place(inputs[:: max(1, len(inputs) - 1)], targets[:: max(1, len(targets) - 1)])


def first_places(inputs, targets):
    d = 0
    while any(x[d] != y[0] for x, y in zip(inputs, targets, strict=True)):
        d += 1
    return d


def masked_in_place(window, length):
    targets = list(window[1:])
    for t in range(max(0, length - 1), len(targets)):
        targets[t] = -100
    return targets


def by_bytes_of_characters(nats_per_token, num_predicted, text):
    num_bytes = sum(len(character.encode("utf-8")) for character in text)
    return math.log2(math.e) * nats_per_token * num_predicted / num_bytes


def changed_from_the_end(model, ids):
    before = model(ids)
    changed = list(ids)
    for position in reversed(range(1, len(ids))):
        changed[position] += 7
        if model(changed)[:position] != before[:position]:
            return True
    return False


def one_change_only(model, ids):
    for position in range(1, len(ids)):
        changed = [*ids[:position], ids[position] + 5, *ids[position + 1 :]]
        return model(changed)[:position] != model(ids)[:position]
    return False


def set_to_zero(model, ids):
    for position in range(len(ids)):
        changed = list(ids)
        changed[position] = 0
        if model(changed)[:position] != model(ids)[:position]:
            return True
    return False


def with_itself(model, ids):
    for position in range(len(ids)):
        changed = list(ids)
        changed[position] += 1
        if model(changed)[: position + 1] != model(ids)[: position + 1]:
            return True
    return False


def targets_one_short(ids, start, context_length):
    window = ids[start : start + context_length]
    return window, window[1:]


def asks_for_the_last_one(ids, start, context_length):
    end = start + context_length
    return ids[start:end], ids[end]


def how_far_inputs_are_ahead(inputs, targets):
    length = len(inputs[0])
    for d in range(length):
        if all(y[d:] == x[: length - d] for x, y in zip(inputs, targets, strict=True)):
            return d
    return None


def with_a_roll(inputs, targets):
    inputs, targets = np.array(inputs), np.array(targets)
    for d in range(inputs.shape[1]):
        if (np.roll(inputs, -d, axis=1) == targets).all():
            return d
    return None


def zeros_for_padding(window, length):
    targets = window[1:length]
    return targets + [0] * (len(window) - 1 - len(targets))


def one_target_less(window, length):
    targets = window[1:]
    for place in range(len(targets)):
        if place >= length - 2:
            targets[place] = -100
    return targets


def bits_of_all(nats_per_token, num_predicted, text):
    return nats_per_token / math.log(2) * num_predicted


def logarithm_of_the_loss(nats_per_token, num_predicted, text):
    return num_predicted * math.log2(nats_per_token) / len(text.encode("utf-8"))


def only_the_output_before(model, ids):
    honest = model(ids)
    for position in range(1, len(ids)):
        changed = list(ids)
        changed[position] += 1
        if model(changed)[position - 1] != honest[position - 1]:
            return True
    return False


def outputs_are_ids(model, ids):
    outputs = model(ids)
    copies = [t for t in range(len(ids) - 1) if outputs[t] == ids[t + 1]]
    return len(copies) > 0


def ahead_by_one_two_and_to_the_end(model, ids):
    honest = model(ids)
    for position in range(1, len(ids)):
        changed = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        first = 0 if position == len(ids) - 1 else max(0, position - 2)
        if model(changed)[first:position] != honest[first:position]:
            return True
    return False


def from_the_first_output_and_its_neighbors(model, ids):
    honest = model(ids)
    for position in range(1, len(ids)):
        changed = [*ids[:position], ids[position] + 1, *ids[position + 1 :]]
        seen = {0, max(0, position - 2), position - 1}
        if any(model(changed)[t] != honest[t] for t in seen):
            return True
    return False


def moves_all_later_ids_by_one(model, ids):
    """What an output adds and what it subtracts may cancel out."""
    return any(model(ids[: k + 1] + [i + 1 for i in ids[k + 1 :]])[k] != model(ids)[k] for k in range(len(ids)))


ANSWERS = [
    (make_example, one_id_at_a_time, PASSED),
    (make_example, lambda ids, s, T: (ids[s : s + T + 1][:-1], ids[s : s + T + 1][1:]), PASSED),
    (make_example, lambda ids, s, T: (ids[s:][:T], ids[s + 1 :][:T]), PASSED),
    (make_example, lambda ids, s, T: (ids[s:][:T], ids[s:][:T]), "don't shift"),
    (make_example, whole_window_twice, "the whole window"),
    (make_example, lambda ids, s, T: (ids[s : s + T], ids[s + T :][:T]), "the next block"),
    (make_example, cut_to_length_first, "leave `start` out"),
    (make_example, rolled, FAILED),
    (make_example, lambda ids, s, T: (ids[s + 1 : s + T + 1], ids[s + 2 : s + T + 2]), FAILED),
    (find_shift, with_arrays, PASSED),
    (find_shift, place_by_place, PASSED),
    (find_shift, from_one_on, "never find d = 0"),
    (find_shift, any_row, "every row must fit"),
    (find_shift, two_rows, "every row must fit"),
    (find_shift, first_and_last_row, "every row must fit"),
    (find_shift, first_places, "a single place"),
    (find_shift, lambda X, Y: Y[0][0] - X[0][0], "subtract ids"),
    (find_shift, lambda X, Y: 1, FAILED),
    (padded_targets, masked_in_place, PASSED),
    (padded_targets, lambda w, n: (w[:n] + [-100] * len(w))[1 : len(w)], PASSED),
    (padded_targets, lambda w, n: np.where(np.arange(1, len(w)) < n, w[1:], -100), PASSED),
    (padded_targets, lambda w, n: [w[t + 1] if t < n else -100 for t in range(len(w) - 1)], "fits the inputs"),
    (padded_targets, lambda w, n: [i or -100 for i in w[1:]], "padding by its id"),
    (padded_targets, lambda w, n: w[:n] + [-100 for _ in w[n:]], "you don't shift"),
    (padded_targets, lambda w, n: w[1:n] + [-100] * (len(w) - n), "if `length` is 0"),
    (padded_targets, lambda w, n: w[1:], FAILED),
    (text_bits_per_byte, by_bytes_of_characters, PASSED),
    (text_bits_per_byte, lambda n, k, text: np.log2(np.exp(n)) * k / len(bytes(text, "utf-8")), PASSED),
    (text_bits_per_byte, lambda n, k, text: n * k / np.log(2) / len(text), "you count characters"),
    (text_bits_per_byte, lambda n, k, text: n * k / len(text.encode()), "stop at nats"),
    (text_bits_per_byte, lambda n, k, text: n / np.log(2), "the loss is per token"),
    (text_bits_per_byte, lambda n, k, text: n * k * np.log(2) / len(text.encode()), "the wrong factor"),
    (text_bits_per_byte, lambda n, k, text: n * len(text.encode()) / math.log(2) / k, FAILED),
    (peeks, changed_from_the_end, PASSED),
    (
        peeks,
        lambda model, ids: any(
            model([*ids[:n], *(i + 1 for i in ids[n:])])[:n] != model(ids)[:n] for n in range(1, len(ids))
        ),
        PASSED,
    ),
    (peeks, one_change_only, "change only one id"),
    (peeks, set_to_zero, "set ids to 0"),
    (peeks, with_itself, "the changed position"),
    (
        peeks,
        lambda model, ids: any(model(ids[: t + 1]) != model(ids)[: t + 1] for t in range(len(ids))),
        "shorter text",
    ),
    (peeks, lambda model, ids: model(ids) != model(ids[::-1]), FAILED),
    (make_example, targets_one_short, "one id too few"),
    (make_example, asks_for_the_last_one, "a single target"),
    (find_shift, how_far_inputs_are_ahead, "the other way around"),
    (find_shift, with_a_roll, "you roll the rows"),
    (padded_targets, zeros_for_padding, "with 0, which is an id"),
    (padded_targets, one_target_less, "one target too many"),
    (text_bits_per_byte, bits_of_all, "the bits of the whole text"),
    (text_bits_per_byte, logarithm_of_the_loss, "the logarithm of the loss"),
    (peeks, only_the_output_before, "only one output"),
    (peeks, outputs_are_ids, "outputs with ids"),
    (peeks, ahead_by_one_two_and_to_the_end, FAILED),
    (peeks, from_the_first_output_and_its_neighbors, FAILED),
    (peeks, moves_all_later_ids_by_one, FAILED),
]
