"""Lesson 14: what a class answers."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import pairwise

import numpy as np
import torch

from wrong_answers import refused, right, wrong

# first_jump: row

right("first_jump")(lambda row: next((i for i in range(1, len(row)) if row[i] - row[i - 1] - 1), -1))
right("first_jump")(lambda row: np.append(np.flatnonzero(np.diff(row) != 1) + 1, -1)[0])
wrong("first_jump", "an index is beyond the end")(lambda row: np.flatnonzero(np.diff(row) != 1)[0] + 1)
wrong("first_jump", None)(lambda row: int(np.argmax(np.diff([0, *row])[1:] != 1)) + 1)
wrong("first_jump", "several values where one number")(
    lambda row: [i for i in range(1, len(row)) if row[i] != row[i - 1] + 1]
)
wrong("first_jump", "the last place that is still right")(
    lambda row: next((i for i in range(len(row) - 1) if row[i + 1] != row[i] + 1), -1)
)
wrong("first_jump", "jumps ahead are missed")(
    lambda row: next((place for place, (previous, x) in enumerate(pairwise(row), 1) if x < previous), -1)
)
wrong("first_jump", None)(lambda row: next((x for x in row[1:] if x - 1 not in row), -1))


@right("first_jump")
def counts_along(row):
    wanted = None
    for place, position in enumerate(row):
        if wanted is not None and position != wanted:
            return place
        wanted = position + 1
    return -1


@wrong("first_jump", "only the first two entries are compared")
def returns_in_the_first_round(row):
    for place in range(1, len(row)):
        if row[place] != row[place - 1] + 1:
            return place
        else:
            return -1
    return -1


# commonest_shift: inputs, targets


@right("commonest_shift")
def by_numpy(inputs, targets):
    counted = np.array(targets) != -100
    shifts, times = np.unique((np.array(targets) - inputs)[counted], return_counts=True)
    return shifts[times.argmax()]


@wrong("commonest_shift", "a tie goes to the shift that comes first")
def most_common_of_a_counter(inputs, targets):
    return Counter(b - a for a, b in zip(inputs, targets, strict=True) if b != -100).most_common(1)[0][0]


wrong("commonest_shift", "the first target is taken, even where")(lambda inputs, targets: targets[0] - inputs[0])
refused("commonest_shift", "a float")(lambda inputs, targets: float(by_numpy(inputs, targets)))
wrong("commonest_shift", None)(lambda inputs, targets: abs(targets[0] - inputs[0]))

# count_lost: starts, num_tokens, context_length


@right("count_lost")
def by_differences(starts, num_tokens, context_length):
    steps = np.zeros(num_tokens + context_length + 1, int)
    np.add.at(steps, np.array(starts, int) + 1, 1)
    np.add.at(steps, np.array(starts, int) + 1 + context_length, -1)
    return np.count_nonzero(np.cumsum(steps)[1:num_tokens] == 0)


@right("count_lost")
def inputs_are_as_many_as_targets(starts, num_tokens, context_length):
    return num_tokens - 1 - len({start + step for start in starts for step in range(context_length)})


wrong("count_lost", "token 0, or one after the last, is counted")(
    lambda s, n, T: sum(all(p <= start or p > start + T for start in s) for p in range(n))
)
wrong("count_lost", "a `set`")(lambda s, n, T: set(range(1, n)) - {a + b for a in s for b in range(1, T + 1)})
wrong("count_lost", None, natural=False)(lambda s, n, T: n // T)

# goes_forward: batches


@right("goes_forward")
def last_start_of_each_place(batches):
    last = {}
    for batch in batches:
        for place, start in enumerate(batch):
            if start <= last.get(place, -1):
                return False
            last[place] = start
    return True


right("goes_forward")(
    lambda batches: not any(b <= a for i in range(1, len(batches)) for a, b in zip(batches[i - 1], batches[i]))  # noqa: B905
)
right("goes_forward")(
    lambda batches: all(
        a < b for track in itertools.zip_longest(*batches, fillvalue=10**9) for a, b in pairwise(track) if b < 10**9
    )
)
wrong("goes_forward", "places beyond it are not compared")(
    lambda batches: all(a < b for track in zip(*batches, strict=False) for a, b in pairwise(track))
)
wrong("goes_forward", "several values where one is wanted")(
    lambda batches: [a < b for one, other in pairwise(batches) for a, b in zip(one, other, strict=False)]
)
wrong("goes_forward", "only the first place is compared")(
    lambda batches: all(one[0] < other[0] for one, other in pairwise(batches))
)
wrong("goes_forward", None)(lambda batches: bool((np.diff(batches, axis=0) > 0).all()))


@wrong("goes_forward", "the last comparison alone decides")
def overwrites_the_verdict(batches):
    verdict = True
    for one, other in pairwise(batches):
        for earlier, later in zip(one, other, strict=False):
            verdict = later > earlier
    return verdict


# neighbors_needed: ids


@right("neighbors_needed")
def by_a_sliding_view(ids):
    k = 1
    while k < len(ids):
        runs = np.lib.stride_tricks.sliding_window_view(ids, k)
        if len(np.unique(runs, axis=0)) == len(runs):
            break
        k += 1
    return k


wrong("neighbors_needed", "a list cannot be a key")(
    lambda ids: next(
        k for k in range(1, 99) if len({ids[i : i + k] for i in range(len(ids) - k + 1)}) == len(ids) - k + 1
    )
)
wrong("neighbors_needed", "how often the commonest id comes")(lambda ids: max(map(ids.count, ids), default=1))
wrong("neighbors_needed", None, natural=False)(lambda ids: len(ids) // 2 + 1)


@wrong("neighbors_needed", "did not end", ends=False)
def never_grows(ids):
    k = 1
    while len({tuple(ids[i : i + k]) for i in range(len(ids) - k + 1)}) < len(ids) - k + 1:
        pass
    return k


# resume_errors: expected, got


@right("resume_errors")
def by_two_sorted_lists(expected, got):
    a, b, again, left_out = sorted(expected), sorted(got), 0, 0
    while a and b:
        if a[-1] == b[-1]:
            a.pop(), b.pop()
        elif a[-1] > b[-1]:
            left_out += bool(a.pop() + 1)
        else:
            again += bool(b.pop() + 1)
    return again + len(b), left_out + len(a)


right("resume_errors")(lambda e, g: [(Counter(g) - Counter(e)).total(), (Counter(e) - Counter(g)).total()])
wrong("resume_errors", "sets forget repeats")(lambda e, g: (len({*g} - {*e}), len({*e} - {*g})))
wrong("resume_errors", None)(lambda e, g: (sum(a != b for a, b in zip(e, g, strict=False)), len(e) - len(g)))


@wrong("resume_errors", "the function changes its arguments")
def crosses_off_the_argument(expected, got):
    again = 0
    for window in got:
        if window in expected:
            expected.remove(window)
        else:
            again += 1
    return again, len(expected)


# shared_windows: ranks

right("shared_windows")(lambda ranks: len({w for r in ranks for w in r if sum(w in other for other in ranks) > 1}))
right("shared_windows")(lambda ranks: np.count_nonzero(np.bincount([w for r in ranks for w in {*r}], minlength=1) > 1))
wrong("shared_windows", "one rank reads twice")(
    lambda ranks: sum(n > 1 for n in Counter(w for r in ranks for w in r).values())
)
wrong("shared_windows", "`True` or `False`")(lambda ranks: len({w for r in ranks for w in r}) < sum(map(len, ranks)))
wrong("shared_windows", None, natural=False)(lambda ranks: sum(w % 8 for r in ranks for w in r))

# just_lost: ids, of which many are right


@right("just_lost")
def two_rows_of_tensors(ids):
    ids = torch.tensor(ids)
    cuts = ids[:6], ids[6:16], ids[15:]
    return [(cut[None, :-1], cut[None, 1:].clone()) for cut in cuts]


@right("just_lost")
def two_batches(ids):
    return [([ids[:5]], [ids[1:6]]), ([ids[6:-1]], [ids[7:]])]


@wrong("just_lost", "of one batch, no audit judges what it leaves out")
def one_batch_of_two_rows(ids):
    return [([ids[:8], ids[9:17]], [ids[1:9], ids[10:18]])]


@wrong("just_lost", "`shared_memory` (2)")
def two_views_of_an_array(ids):
    ids = np.array(ids)
    return [(ids[:5], ids[1:6]), (ids[6:-1], ids[7:])]


@right("just_lost")
def ignored_at_one_place(ids):
    dropped = ([ids[:5]], [[*ids[1:5], -100]])
    return [dropped, ([ids[5:15]], [ids[6:16]]), ([ids[15:-1]], [ids[16:]])]


@right("just_lost")
def as_a_generator(ids):
    for place in range(len(ids) - 1):
        if place != 9:
            yield ids[place : place + 1], ids[place + 1 : place + 2]


@wrong("just_lost", "the audit finds `broken_row` (1): Row 0 of batch 0 holds positions 0 ... 4, then 6.")
def leaves_out_an_id(ids):
    rest = ids[:5] + ids[6:]
    return [([rest[:-1]], [rest[1:]])]


@wrong("just_lost", "must be a pair (inputs, targets)")
def one_long_list(ids):
    return ids


@wrong("just_lost", "must be a pair, inputs and targets, and all batches come in one list")
def without_a_list_of_batches(ids):
    return [ids[:5]], [ids[1:6]]


@wrong("just_lost", "the function prints its result")
def prints_them(ids):
    print([([ids[:5]], [ids[1:6]]), ([ids[6:-1]], [ids[7:]])])


@wrong("just_lost", "an index is beyond the end")
def looks_for_an_id_beyond(ids):
    return [([ids[place]], [ids[place + 1]]) for place in range(len(ids)) if place != 5]


@wrong("just_lost", "did not end", ends=False)
def goes_on_forever(ids):
    batches, start = [], 0
    while start + 5 <= len(ids):
        batches.append((ids[start : start + 4], ids[start + 1 : start + 5]))
    return batches


# just_crosses: ids, document_starts


@right("just_crosses")
def with_a_bridge_of_one_token(ids, document_starts):
    pieces = [([ids[a : b - 1]], [ids[a + 1 : b]]) for a, b in pairwise([*document_starts, len(ids)])]
    at = document_starts[1]
    return [pieces[0], ([ids[at - 1 : at]], [ids[at : at + 1]]), *pieces[1:]]


@wrong("just_crosses", "Documents that are entered from another: ")
def windows_of_the_stream(ids, document_starts):
    return [([ids[s : s + 2]], [ids[s + 1 : s + 3]]) for s in range(0, len(ids) - 2, 2)]


@wrong("just_crosses", "`same_order` (1): Epochs 0 and 1 both begin with")
def from_back_to_front(ids, document_starts):
    cuts = [0, *document_starts[2:], len(ids)]
    return [([ids[a : b - 1]], [ids[a + 1 : b]]) for a, b in pairwise(cuts)][::-1]


@wrong("just_crosses", "no row crosses")
def each_document_alone(ids, document_starts):
    for start, end in pairwise([*document_starts, len(ids)]):
        yield ids[start : end - 1], ids[start + 1 : end]


@wrong("just_crosses", "`lost`")
def only_the_bridge(ids, document_starts):
    at = document_starts[1]
    return [(ids[at - 1 : at], ids[at : at + 1])]
