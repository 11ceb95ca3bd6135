"""Answers to the exercises of lesson 15: right ones, and wrong ones with words of what they are told."""

import numpy as np
import torch

from course_lib.exercises.scored_tokens import (
    chat_labels,
    completion_labels,
    cut_to_fit,
    labels_after_marker,
    weights_in_parts,
)
from course_lib.scored_tokens import answer_start, target_weights
from course_lib.teaching.checker import FAILED, PASSED


def fills_a_row(roles, turns, header):
    labels, place = np.full(sum(map(len, turns)), -100), 0
    for role, ids in zip(roles, turns, strict=True):
        if role == "assistant":
            labels[place + header : place + len(ids)] = ids[header:]
        place += len(ids)
    labels[0] = -100
    return labels


def turn_by_turn(roles, turns, header):
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        for n, token in enumerate(ids):
            labels.append(token if role == "assistant" and n >= header else -100)
    return [-100, *labels[1:]]


def only_the_last(roles, turns, header):
    last = max((i for i, role in enumerate(roles) if role == "assistant"), default=None)
    return turn_by_turn(["assistant" if i == last else "user" for i in range(len(roles))], turns, header)


def by_comparing(prompt, ids):
    labels, same = [], True
    for place, token in enumerate(ids):
        same = same and place < len(prompt) and prompt[place] == token
        labels.append(-100 if same else token)
    return labels


def walks_until_they_differ(prompt, ids):
    place = 0
    while prompt[place] == ids[place]:  # one of them may end first
        place += 1
    return [-100] * place + ids[place:]


def one_by_one(prompt, answer, most):
    prompt = list(prompt)
    while prompt and len(prompt) + len(answer) > most:
        del prompt[0]
    return (prompt + answer, [-100] * len(prompt) + answer) if prompt else ([], [])


def compares_every_place(prompt, ids):
    return [-100 if n < len(prompt) and prompt[n] == ids[n] else ids[n] for n in range(len(ids))]


def the_answer_alone(prompt, ids):
    start = 0
    while start < min(len(prompt), len(ids)) and prompt[start] == ids[start]:
        start += 1
    return ids[start:]


def keeps_the_beginning(prompt, answer, most):
    room = most - len(answer)
    if room <= 0:
        return [], []
    prompt = prompt[:room]
    return prompt + answer, [-100] * len(prompt) + answer


def cuts_the_ids_alone(prompt, answer, most):
    if most <= len(answer):
        return [], []
    labels = [-100] * len(prompt) + answer
    return (prompt + answer)[-most:], labels


def drops_what_is_too_long(prompt, answer, most):
    if len(prompt) + len(answer) > most:
        return [], []
    return prompt + answer, [-100] * len(prompt) + answer


def answers_in(ids, marker, end):
    """Where answers begin and end, as someone would list them first."""
    found = []
    for place in range(len(marker), len(ids) + 1):
        if ids[place - len(marker) : place] == marker:
            stop = place
            while stop < len(ids) and ids[stop] != end:
                stop += 1
            found.append((place, min(stop + 1, len(ids))))
    return found


def scored(ids, spans):
    labels = [-100] * len(ids)
    for begin, stop in spans:
        labels[begin:stop] = ids[begin:stop]
    return labels


def with_votes_by_rows(labels, rows):
    weights = np.array(in_numpy(labels, rows))
    parts = [weights[i : i + rows] for i in range(0, len(weights), rows)]
    votes = [len(part) * bool(part.any()) for part in parts]
    scaled = [part / max(1e-9, part.sum()) * vote / max(1, sum(votes)) for part, vote in zip(parts, votes, strict=True)]
    return np.concatenate(scaled).tolist()


def with_shares_for_empty_parts(labels, rows):
    kept = [[0, *(int(n != -100) for n in row[1:])] for row in labels]
    parts = [kept[i : i + rows] for i in range(0, len(kept), rows)]
    counts = [max(1, sum(map(sum, part))) for part in parts]
    return [[n / counts[i // rows] / len(parts) for n in row] for i, row in enumerate(kept)]


def whoever_speaks(roles, turns, header):
    """After each header, everything is scored."""
    labels = []
    for turn in turns:
        labels += [-100] * len(turn[:header]) + turn[header:]
    return [-100, *labels[1:]]


def all_but_the_user(roles, turns, header):
    """A system's words and a tool's are scored as well."""
    labels = []
    for role, turn in zip(roles, turns, strict=True):
        hidden = len(turn) if role == "user" else min(header, len(turn))
        labels += [-100] * hidden + turn[hidden:]
    return [-100, *labels[1:]]


def with_the_very_first_id(roles, turns, header):
    labels = []
    for role, turn in zip(roles, turns, strict=True):
        for place, token in enumerate(turn):
            labels.append(token if role == "assistant" and place >= header else -100)
    return labels


def with_the_default_slice(prompt, answer, most):
    room = most - len(answer)
    if room < 0:
        return [], []
    return prompt[-room:] + answer, [-100] * len(prompt[-room:]) + answer


def by_slices(ids, marker, end):
    labels, place = [-100] * len(ids), 0
    while place < len(ids):
        if ids[place : place + len(marker)] == marker:
            place += len(marker)
            while place < len(ids):
                labels[place] = ids[place]
                place += 1
                if ids[place - 1] == end:
                    break
        else:
            place += 1
    return labels


def with_a_window(ids, marker, end):
    labels, answering = [], False
    for place, token in enumerate(ids):
        answering = answering or ids[max(0, place - len(marker)) : place] == marker
        labels.append(token if answering else -100)
        answering = answering and token != end
    return labels


def compares_in_any_order(ids, marker, end):
    labels, answering = [], False
    for place, token in enumerate(ids):
        answering = answering or sorted(ids[max(0, place - len(marker)) : place]) == sorted(marker)
        labels.append(token if answering else -100)
        answering = answering and token != end
    return labels


def counts_what_has_come(ids, marker, end):
    labels, answering, matched = [], False, 0
    for token in ids:
        labels.append(token if answering else -100)
        matched = matched + 1 if token == marker[matched] else 0
        if matched == len(marker):
            matched, answering = 0, True
        elif token == end:
            answering = False
    return labels


def counts_again_from_its_first_id(ids, marker, end):
    """Right for most markers, but not for one that begins with two equal ids."""
    labels, answering, matched = [], False, 0
    for token in ids:
        labels.append(token if answering else -100)
        answering = answering and token != end
        matched = matched + 1 if token == marker[matched] else int(token == marker[0])
        if matched == len(marker):
            matched, answering = 0, True
    return labels


def never_ends(ids, marker, end):
    labels, answering = [], False
    for place, token in enumerate(ids):
        answering = answering or (place >= len(marker) and ids[place - len(marker) : place] == marker)
        labels.append(token if answering else -100)
    return labels


def in_numpy(labels, rows):
    weights = (np.array(labels) != -100).astype(float)
    weights[:, 0] = 0
    counts = [weights[i : i + rows].sum() for i in range(0, len(weights), rows)]
    full = max(1, sum(count > 0 for count in counts))
    for i, count in enumerate(counts):
        weights[i * rows : (i + 1) * rows] /= max(1, count) * full
    return weights


def counts_every_label(labels, rows):
    parts = [labels[i : i + rows] for i in range(0, len(labels), rows)]
    counts = [max(1, sum(n != -100 for row in part for n in row)) for part in parts]
    full = max(1, sum(any(n != -100 for row in part for n in row) for part in parts))
    return [[(n != -100) / counts[i // rows] / full for n in row] for i, row in enumerate(labels)]


ANSWERS = [
    (chat_labels, fills_a_row, PASSED),
    (chat_labels, turn_by_turn, PASSED),
    (chat_labels, lambda roles, turns, header: turn_by_turn(roles, turns, 0), "score the header"),
    (chat_labels, only_the_last, "only one of the assistant's turns"),
    (
        chat_labels,
        lambda roles, turns, header: [-100 if n == 9 else n for n in turn_by_turn(roles, turns, header)],
        "learn to stop",
    ),
    (chat_labels, lambda roles, turns, header: [*turn_by_turn(roles, turns, header)[1:], -100], "shift the labels"),
    (chat_labels, lambda roles, turns, header: turn_by_turn(roles[::-1], turns, header), FAILED),
    (chat_labels, lambda roles, turns, _: [-100 if n == 7 else n for n in turn_by_turn(roles, turns, 0)], FAILED),
    (chat_labels, whoever_speaks, "the assistant didn't write"),
    (chat_labels, all_but_the_user, "the assistant didn't write"),
    (chat_labels, with_the_very_first_id, "the very first id"),
    (completion_labels, by_comparing, PASSED),
    (completion_labels, lambda p, i: [-100] * answer_start(p, i) + i[answer_start(p, i) :], PASSED),
    (completion_labels, lambda p, i: [-100] * len(p) + i[len(p) :], "go by the length of the prompt"),
    (completion_labels, lambda p, i: [-100 if t in p else t for t in i], FAILED),
    (completion_labels, walks_until_they_differ, FAILED),
    (completion_labels, lambda p, i: i[len(p) :], FAILED),
    (completion_labels, lambda p, i: [*by_comparing(p, i)[1:], -100], "shift the labels"),
    (completion_labels, compares_every_place, "compare all places"),
    (completion_labels, the_answer_alone, "leave out the labels of the prompt"),
    (cut_to_fit, one_by_one, PASSED),
    (cut_to_fit, keeps_the_beginning, "keep the beginning of the prompt"),
    (cut_to_fit, cuts_the_ids_alone, "cut the ids and not the labels"),
    (cut_to_fit, drops_what_is_too_long, "drop every row"),
    (cut_to_fit, lambda p, a, n: one_by_one(p, a, n) if n > len(a) else ([], []), PASSED),
    (cut_to_fit, lambda p, a, n: ((p + a)[:n], ([-100] * len(p) + a)[:n]), "cut on the right"),
    (cut_to_fit, lambda p, a, n: ((p + a)[-n:], ([-100] * len(p) + a)[-n:]), "no id of the prompt"),
    (cut_to_fit, with_the_default_slice, "is the whole list"),
    (cut_to_fit, lambda p, a, n: one_by_one(p[::-1], a, n), FAILED),
    (labels_after_marker, by_slices, PASSED),
    (labels_after_marker, with_a_window, PASSED),
    (labels_after_marker, lambda i, m, e: scored(i, answers_in(i, m, e)[:1]), "only one answer"),
    (labels_after_marker, lambda i, m, e: scored(i, answers_in(i, m, e)[-1:]), "only one answer"),
    (
        labels_after_marker,
        lambda i, m, e: scored(i, [(begin - len(m), stop) for begin, stop in answers_in(i, m, e)]),
        "score the marker itself",
    ),
    (weights_in_parts, with_votes_by_rows, "as many votes as it has rows"),
    (weights_in_parts, with_shares_for_empty_parts, "without a target take its share"),
    (labels_after_marker, never_ends, "An answer ends with"),
    (labels_after_marker, lambda i, m, e: [-100 if t == e else t for t in with_a_window(i, m, e)], "learn to stop"),
    (labels_after_marker, lambda i, m, e: with_a_window(i, m[:1], e), "first id of the marker"),
    (labels_after_marker, counts_what_has_come, "may begin the marker itself"),
    (labels_after_marker, compares_in_any_order, FAILED),
    (labels_after_marker, counts_again_from_its_first_id, FAILED),
    (labels_after_marker, lambda i, m, e: [-100 if t == m[0] else t for t in with_a_window(i, m, e)], FAILED),
    (labels_after_marker, lambda i, m, e: [-100] * len(i), FAILED),
    (labels_after_marker, lambda i, m, e: with_a_window(i, m, 0), FAILED),
    (weights_in_parts, in_numpy, PASSED),
    (
        weights_in_parts,
        lambda labels, rows: target_weights(torch.tensor(labels), rows).tolist(),
        PASSED,
    ),
    (weights_in_parts, counts_every_label, "at place 0"),
    (weights_in_parts, lambda labels, rows: in_numpy(labels, 1), "each row the same weight"),
    (weights_in_parts, lambda labels, rows: in_numpy(labels, len(labels)), "all targets the same weight"),
    (weights_in_parts, lambda labels, rows: [[1 / len(labels)] * len(row) for row in labels], FAILED),
]
