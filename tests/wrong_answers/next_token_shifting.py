"""Answers to the exercises of lesson 01, as a class gives them."""

import itertools
import math
import sys

import numpy as np
import torch

from wrong_answers import refused, right, wrong

# -- make_example ---------------------------------------------------------------------


@wrong("make_example", "changes its arguments")
def pops(ids, start, context_length):
    inputs = ids[start : start + context_length]
    ids.pop(start)
    return inputs, ids[start : start + context_length]


@right("make_example")
def by_zip(ids, start, context_length):
    pairs = list(itertools.pairwise(ids))[start : start + context_length]
    return [a for a, _ in pairs], [b for _, b in pairs]


@right("make_example")
def in_torch(ids, start, context_length):
    window = torch.tensor(ids)[start:][: context_length + 1]
    return window[:-1], window[1:]


# -- find_shift -----------------------------------------------------------------------


@right("find_shift")
def place_by_place(inputs, targets):
    length = len(inputs[0])
    for d in range(length):
        fits = True
        for row, asked in zip(inputs, targets, strict=True):
            for t in range(length - d):
                if asked[t] != row[t + d]:
                    fits = False
        if fits:
            return d


@right("find_shift")
def with_arrays(inputs, targets):
    x, y = np.array(inputs), np.array(targets)
    d = 0
    while not (x[:, d:] == y[:, : y.shape[1] - d]).all():
        d += 1
    return d


right("find_shift")(
    lambda inputs, targets: min(
        d
        for d in range(len(inputs[0]))
        if all(torch.equal(torch.tensor(x[d:]), torch.tensor(y[: len(y) - d])) for x, y in zip(inputs, targets))  # noqa: B905
    )
)


@wrong("find_shift", "changes its arguments")
def pops_both(inputs, targets):
    d = 0
    while inputs != targets:
        for row, asked in zip(inputs, targets, strict=True):
            row.pop(0)
            asked.pop()
        d += 1
    return d


@wrong("find_shift", "always returns `None`")
def says_nothing(inputs, targets):
    [d for d in range(len(inputs[0])) if inputs[0][d:] == targets[0][: len(inputs[0]) - d]]


@wrong("find_shift", None)
def counts_what_differs(inputs, targets):
    return sum(a != b for a, b in zip(inputs[0], targets[0], strict=True))


# -- padded_targets -------------------------------------------------------------------


@wrong("padded_targets", "changes its arguments")
def in_place(window, length):
    for t in range(length, len(window)):
        window[t] = -100
    return window[1:]


@wrong("padded_targets", "always returns `None`")
def forgets_to_return(window, length):
    [x if t < length else -100 for t, x in enumerate(window)][1:]


@right("padded_targets")
def mask_then_shift(window, length):
    return [x if t < length else -100 for t, x in enumerate(window)][1:]


@right("padded_targets")
def with_where(window, length):
    window = np.array(window)
    return np.where(np.arange(1, len(window)) < length, window[1:], -100)


@right("padded_targets")
def with_a_tensor(window, length):
    targets = torch.tensor(window)
    targets[length:] = -100
    return targets[1:]


# -- joint_log_probability ------------------------------------------------------------


def log_softmax(logits):
    return torch.log_softmax(torch.tensor(logits, dtype=torch.float64), dim=-1)


def picked(logits, targets):
    return log_softmax(logits)[torch.arange(len(targets)), torch.tensor(targets)]


wrong("joint_log_probability", "shifted again")(
    lambda a, b: sum(float(log_softmax(a)[t][b[t + 1]]) for t in range(len(b) - 1))
)
wrong("joint_log_probability", "several values where one number")(picked)


@right("joint_log_probability")
def by_library(logits, targets):
    return picked(logits, targets).sum()


@right("joint_log_probability")
def by_cross_entropy(logits, targets):
    return -torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(targets), reduction="sum").item()


@right("joint_log_probability")
def by_numpy(logits, targets):
    scores = np.array(logits)
    scores -= scores.max(axis=1, keepdims=True)
    return (scores[range(len(targets)), targets] - np.log(np.exp(scores).sum(axis=1))).sum()


# -- text_bits_per_byte ---------------------------------------------------------------


def size(text):
    return len(bytes(text, "utf-8"))


right("text_bits_per_byte")(lambda n, k, text: n * math.log2(math.e) * k / size(text))
right("text_bits_per_byte")(lambda n, k, text: np.log2(np.exp(n)) * k / len(text.encode("utf-8")))

# -- peeks ----------------------------------------------------------------------------


def altered(ids, position, by=1):
    copy = list(ids)
    copy[position] += by
    return copy


@wrong("peeks", "changes its arguments")
def in_the_list_itself(model, ids):
    honest = model(ids)
    for t in range(1, len(ids)):
        ids[t] += 1
        if model(ids)[:t] != honest[:t]:
            return True
        ids[t] -= 1
    return False


@right("peeks")
def all_positions(model, ids):
    return any(model(altered(ids, t, 7))[:t] != model(ids)[:t] for t in range(len(ids)))


@right("peeks")
def from_the_end(model, ids):
    honest = model(list(ids))
    return bool(sum(model(altered(ids, t, -100))[s] != honest[s] for t in range(len(ids)) for s in range(t)))


@right("peeks")
def in_numpy(model, ids):
    for t in range(1, len(ids)):
        if not np.array_equal(model(altered(ids, t))[:t], model(ids)[:t]):
            return np.True_
    return np.False_


@refused("peeks", "a number where `True` or `False`")
def counts_leaks(model, ids):
    return sum(model(altered(ids, t))[:t] != model(ids)[:t] for t in range(1, len(ids)))


# -- what a second class uses ---------------------------------------------------------


def log_softmaxes(logits):
    sums = [max(row) + math.log(sum(math.exp(x - max(row)) for x in row)) for row in logits]
    return [[x - total for x in row] for row, total in zip(logits, sums, strict=True)]


# -- make_example: a second class --------------------

wrong("make_example", None)(lambda ids, start, t: (ids[ids.index(start) if start in ids else 0 :][:t], ids[1 : t + 1]))
right("make_example")(lambda ids, start, t: (ids[start : start + t + 1][:-1], ids[start : start + t + 1][1:]))
right("make_example")(lambda ids, start, t: tuple(torch.tensor(ids)[start : start + t + 1].unfold(0, t, 1).tolist()))
right("make_example")(lambda ids, start, t: tuple([ids[start + d + k] for k in range(t)] for d in (0, 1)))

# -- padded_targets: a second class --------------------


@right("padded_targets")
def padded_targets_otherwise(window, length):
    t = window[1:]
    for i in range(length - 1, len(t)):
        t[i] = -100
    return t


right("padded_targets")(lambda window, length: [x if i < length else -100 for i, x in enumerate(window) if i])
right("padded_targets")(lambda window, length: np.where(np.arange(1, len(window)) < length, window[1:], -100).tolist())

# -- joint_log_probability: a second class --------------------

wrong("joint_log_probability", "the first row of logits is skipped")(
    lambda logits, targets: sum((r[k] for r, k in zip(log_softmaxes(logits)[1:], targets, strict=False)))
)
wrong("joint_log_probability", None)(
    lambda logits, targets: sum(
        (math.log(abs(r[k]) / (sum(map(abs, r)) or 1) + 1e-300) for r, k in zip(logits, targets, strict=False))
    )
)
right("joint_log_probability")(
    lambda logits, targets: sum((r[k] for r, k in zip(log_softmaxes(logits), targets, strict=False)))
)
right("joint_log_probability")(
    lambda logits, targets: float(
        torch.log_softmax(torch.tensor(logits, dtype=torch.float64), -1)[range(len(targets)), targets].sum()
    )
)
right("joint_log_probability")(
    lambda logits, targets: float(
        sum((r[k] - np.logaddexp.reduce(np.array(r, float)) for r, k in zip(logits, targets, strict=False)))
    )
)

# -- text_bits_per_byte: a second class --------------------

wrong("text_bits_per_byte", None)(lambda nats, count, text: nats * count / math.log(2) / sys.getsizeof(text))
right("text_bits_per_byte")(
    lambda nats, count, text: (
        math.log2(math.exp(nats)) * count / size(text) if nats < 600 else nats * count / math.log(2) / size(text)
    )
)
right("text_bits_per_byte")(
    lambda nats, count, text: float(np.log2(np.e) * nats * count / len(np.frombuffer(text.encode(), np.uint8)))
)
right("text_bits_per_byte")(
    lambda nats, count, text: (
        nats * count / math.log(2) / sum(1 + (ord(c) > 127) + (ord(c) > 2047) + (ord(c) > 65535) for c in text)
    )
)

# -- peeks: a second class --------------------


right("peeks")(lambda model, ids: any(model(ids)[:i] != model(altered(ids, i))[:i] for i in range(1, len(ids))))
right("peeks")(
    lambda model, ids: any(
        model(ids)[t] != model(altered(ids, i, 7))[t] for t in range(len(ids)) for i in range(t + 1, len(ids))
    )
)


@right("peeks")
def peeks_otherwise(model, ids):
    a = np.array([model(ids)] + [model(altered(ids, i)) for i in range(len(ids))], dtype=object)
    return bool(np.tril(a[1:] != a[0], -1).any())


# -- two slips, or one more -----------------------------------------------------------

wrong("joint_log_probability", None)(lambda logits, targets: sum(r[k] - max(r) for r, k in zip(logits, targets)))  # noqa: B905

# -- a class that had not seen the mistakes -------------------------------------------

wrong("text_bits_per_byte", "2.303 times")(lambda nats, n, text: nats * n / math.log10(2) / len(text.encode()))


@wrong("peeks", None)
def of_beginnings_and_one_off(model, ids):
    whole = model(list(ids))
    return any(model(ids[:t])[-1] != whole[t] for t in range(1, len(ids)))


@right("peeks")
def each_later_id(model, ids):
    before = model(list(ids))
    for t in range(len(ids)):
        for later in range(t + 1, len(ids)):
            other = list(ids)
            other[later] += 7
            if model(other)[t] != before[t]:
                return True
    return False


wrong("make_example", None)(lambda i, s, n: (i[s + n : s + 2 * n], i[s + n + 1 : s + 2 * n + 1]))
wrong("padded_targets", "begins too late")(lambda w, n: [x if k <= n else -100 for k, x in enumerate(w[1:])])
wrong("text_bits_per_byte", None)(lambda nats, n, text: nats * n / math.log(2) / (8 * len(text)))
