"""Answers to the exercises of lesson 01, as a class gives them."""

import itertools
import math
import sys
from collections.abc import Callable

import numpy as np
import torch

from wrong_answers import refused, right, wrong

# -- make_example ---------------------------------------------------------------------

wrong("make_example", "no shift")(lambda ids, start, length: (ids[start : start + length],) * 2)
wrong("make_example", "a double shift")(lambda i, s, n: (i[s : s + n], i[s + 2 : s + n + 2]))
wrong("make_example", "an inclusive bound")(lambda i, s, n: (i[s : s + n + 1], i[s + 1 : s + n + 2]))
wrong("make_example", "the inputs are the whole window")(lambda i, s, n: (i[s : s + n + 1], i[s + 1 : s + n + 1]))
wrong("make_example", "one too many")(lambda i, s, n: (i[s : s + n], i[s + 1 : s + n + 2]))
wrong("make_example", "the targets are one short")(lambda i, s, n: (i[s : s + n], i[s + 1 : s + n]))
wrong("make_example", "exchanged")(lambda i, s, n: (i[s + 1 : s + 1 + n], i[s : s + n]))
wrong("make_example", "a single target")(lambda i, s, n: (i[s : s + n], i[s + n]))
wrong("make_example", "a list of one target")(lambda i, s, n: (i[s : s + n], i[s + n : s + n + 1]))
wrong("make_example", "*after* the inputs")(lambda i, s, n: (i[s : s + n], i[s + n : s + n + n]))
wrong("make_example", "`start` is ignored")(lambda i, s, n: (i[:n], i[1 : n + 1]))
wrong("make_example", "is a length")(lambda i, s, n: (i[s:n], i[s + 1 : n + 1]))
wrong("make_example", "to the end of the stream")(lambda i, s, n: (i[s : len(i) - 1], i[s + 1 :]))
wrong("make_example", "a roll")(lambda i, s, n: (i[s : s + n], np.roll(i[s : s + n], -1).tolist()))
wrong("make_example", "computed, not read")(lambda i, s, n: (i[s : s + n], [x + 1 for x in i[s : s + n]]))
wrong("make_example", "inputs alone")(lambda i, s, n: i[s : s + n])
wrong("make_example", "not cut in two")(lambda i, s, n: i[s : s + n + 1])
wrong("make_example", "the number of a window")(lambda i, s, n: (i[s * n : s * n + n], i[s * n + 1 : s * n + n + 1]))


@wrong("make_example", "instead of T + 1")
def window_of_t(ids, start, context_length):
    window = ids[start : start + context_length]
    inputs, targets = window[: len(window) - 1], window[1:]
    return inputs, targets


@wrong("make_example", "pairs of an input and a target")
def list_of_pairs(ids, start, context_length):
    return [(ids[t], ids[t + 1]) for t in range(start, start + context_length)]


@wrong("make_example", "*before* its input")
def looks_back(ids, start, context_length):
    return ids[start : start + context_length], ids[start - 1 : start + context_length - 1]


@wrong("make_example", "changes its arguments")
def pops(ids, start, context_length):
    inputs = ids[start : start + context_length]
    ids.pop(start)
    return inputs, ids[start : start + context_length]


@right("make_example")
def from_one_window(ids, start, context_length):
    window = ids[start : start + context_length + 1]
    return window[:-1], window[1:]


@right("make_example")
def by_zip(ids, start, context_length):
    pairs = list(itertools.pairwise(ids))[start : start + context_length]
    return [a for a, _ in pairs], [b for _, b in pairs]


@right("make_example")
def in_torch(ids, start, context_length):
    window = torch.tensor(ids)[start:][: context_length + 1]
    return window[:-1], window[1:]


# -- padded_targets -------------------------------------------------------------------


def masked(keep: Callable[[int, int], bool], value=-100):
    return lambda window, length: [x if keep(t, length) else value for t, x in enumerate(window[1:])]


wrong("padded_targets", "an off-by-one")(masked(lambda t, n: t < n))
wrong("padded_targets", "an off-by-one")(masked(lambda t, n: t + 1 <= n))
wrong("padded_targets", "one too many is masked")(masked(lambda t, n: t < n - 2))
wrong("padded_targets", "0 is an id like any other")(masked(lambda t, n: t + 1 < n, 0))
wrong("padded_targets", "None is no integer")(masked(lambda t, n: t + 1 < n, None))
wrong("padded_targets", "upside down")(masked(lambda t, n: t + 1 >= n))
wrong("padded_targets", "all targets are masked")(lambda w, n: [-100] * (len(w) - 1))
wrong("padded_targets", "nothing is masked")(lambda w, n: w[1:])
wrong("padded_targets", "by the id 0")(lambda w, n: [-100 if x == 0 else x for x in w][1:])
wrong("padded_targets", "that of the window's end")(lambda w, n: [-100 if x == w[-1] else x for x in w[1:]])
wrong("padded_targets", "not shifted: they are the inputs, masked")(lambda w, n: (w[:n] + [-100] * (len(w) - n))[:-1])
wrong("padded_targets", "not left out")(lambda w, n: w[1:n])
wrong("padded_targets", "masked, but not shifted")(lambda w, n: [x if t < n else -100 for t, x in enumerate(w)])
wrong("padded_targets", "one entry too many")(lambda w, n: w[1:n] + [-100] * (len(w) - max(n, 1) + 1))
wrong("padded_targets", "right but for `length` 0: `window[1:0]`")(lambda w, n: w[1:n] + [-100] * (len(w) - n))
wrong("padded_targets", "without the inputs")(lambda w, n: (w[:-1], masked(lambda t, n: t + 1 < n)(w, n)))
wrong("padded_targets", "at the end of the window")(
    lambda w, n: [-100 if t < len(w) - n else x for t, x in enumerate(w[1:])]
)


@wrong("padded_targets", "`length - 1` is then -1")
def as_in_the_lesson(window, length):
    targets = torch.tensor(window[1:])
    targets[length - 1 :] = -100
    return targets


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


wrong("joint_log_probability", "logits are not log-probabilities yet")(
    lambda logits, targets: sum(logits[t][targets[t]] for t in range(len(targets)))
)
wrong("joint_log_probability", "a mean")(lambda a, b: picked(a, b).mean())
wrong("joint_log_probability", "the mean loss")(
    lambda a, b: torch.nn.functional.cross_entropy(torch.tensor(a, dtype=torch.float64), torch.tensor(b))
)
wrong("joint_log_probability", "the sign")(lambda a, b: -picked(a, b).sum())
wrong("joint_log_probability", "in bits")(lambda a, b: float(picked(a, b).sum()) * math.log2(math.e))
wrong("joint_log_probability", "base 10")(lambda a, b: float(picked(a, b).sum()) / math.log(10))
wrong("joint_log_probability", "a probability instead of its logarithm")(lambda a, b: picked(a, b).exp().prod())
wrong("joint_log_probability", "NaN or infinite")(
    lambda a, b: (
        (torch.exp(torch.tensor(a).double()) / torch.exp(torch.tensor(a).double()).sum(-1, keepdim=True))
        .log()[range(len(b)), b]
        .sum()
    )
)
wrong("joint_log_probability", "log of 0 is minus infinity")(
    lambda a, b: torch.softmax(torch.tensor(a).double(), -1)[range(len(b)), b].log().sum()
)
wrong("joint_log_probability", "underflows to 0")(
    lambda a, b: torch.softmax(torch.tensor(a).double(), -1)[range(len(b)), b].prod().log()
)
wrong("joint_log_probability", "the likeliest id")(lambda a, b: log_softmax(a).max(dim=-1).values.sum())
wrong("joint_log_probability", "shifted again")(
    lambda a, b: sum(float(log_softmax(a)[t][b[t + 1]]) for t in range(len(b) - 1))
)
wrong("joint_log_probability", "the last target alone")(lambda a, b: picked(a, b)[-1])
wrong("joint_log_probability", "several values where one number")(picked)
wrong("joint_log_probability", "no probabilities")(
    lambda a, b: sum(math.log(row[t]) for row, t in zip(a, b, strict=True))
)


@wrong("joint_log_probability", "overflows")
def softmax_by_hand(logits, targets):
    total = 0
    for t in range(len(targets)):
        denominator = sum(math.exp(score) for score in logits[t])
        total += math.log(math.exp(logits[t][targets[t]]) / denominator)
    return total


@wrong("joint_log_probability", "before the logarithm sees")
def stable_softmax_then_log(logits, targets):
    total = 0
    for row, target in zip(logits, targets, strict=True):
        exponentials = [math.exp(score - max(row)) for score in row]
        probabilities = [e / sum(exponentials) for e in exponentials]
        total += math.log(probabilities[target])
    return total


@wrong("joint_log_probability", "one logarithm at the end")
def product_first(logits, targets):
    product = 1
    for row, target in zip(logits, targets, strict=True):
        exponentials = [math.exp(score - max(row)) for score in row]
        product *= exponentials[target] / sum(exponentials)
    return math.log(product)


@wrong("joint_log_probability", "the small number that is added")
def with_an_epsilon(logits, targets):
    probabilities = torch.softmax(torch.tensor(logits).double(), -1)[range(len(targets)), targets]
    return (probabilities + 1e-9).log().sum()


@wrong("joint_log_probability", "over the positions")
def softmax_over_positions(logits, targets):
    return torch.log_softmax(torch.tensor(logits).double(), dim=0)[range(len(targets)), targets].sum()


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


# -- perplexity -----------------------------------------------------------------------

wrong("perplexity", "the mean comes last")(lambda losses: np.mean(np.exp(losses)))
wrong("perplexity", "the base is e, not 2")(lambda losses: 2 ** np.mean(losses))
wrong("perplexity", "the base is e, not 10")(lambda losses: 10 ** np.mean(losses))
wrong("perplexity", "two units in one formula")(lambda losses: math.exp(sum(losses) / len(losses) / math.log(2)))
wrong("perplexity", "*dividing* by ln 2")(lambda losses: 2 ** (sum(losses) / len(losses) * math.log(2)))
wrong("perplexity", "a sum instead of a mean")(lambda losses: math.exp(sum(losses)))
wrong("perplexity", "until it is infinite")(lambda losses: torch.tensor(losses).sum().exp())
wrong("perplexity", "divided by the number of tokens")(lambda losses: math.exp(sum(losses)) / len(losses))
wrong("perplexity", "before the root")(lambda losses: math.exp(sum(losses)) ** (1 / len(losses)))
wrong("perplexity", "the product is infinite")(lambda losses: math.prod(map(math.exp, losses)) ** (1 / len(losses)))
wrong("perplexity", "the mean loss itself")(lambda losses: sum(losses) / len(losses))
wrong("perplexity", "the mean loss in bits")(lambda losses: np.mean(losses) / np.log(2))
wrong("perplexity", "the sign")(lambda losses: math.exp(-np.mean(losses)))
wrong("perplexity", "the way back is `exp`")(lambda losses: math.log(sum(losses) / len(losses)))
wrong("perplexity", "one less than the number")(lambda losses: math.exp(sum(losses) / (len(losses) - 1)))
wrong("perplexity", "a rounded number")(lambda losses: round(math.exp(sum(losses) / len(losses))))
wrong("perplexity", "the median")(lambda losses: math.exp(np.median(losses)))
wrong("perplexity", "several values where one")(lambda losses: [math.exp(loss) for loss in losses])
wrong("perplexity", "the worst token alone", natural=False)(lambda losses: math.exp(max(losses)))

right("perplexity")(lambda losses: np.exp(np.mean(losses)))
right("perplexity")(lambda losses: 2 ** (sum(losses) / math.log(2) / len(losses)))
right("perplexity")(lambda losses: torch.tensor(losses, dtype=torch.float64).mean().exp())

# -- text_bits_per_byte ---------------------------------------------------------------


def size(text):
    return len(bytes(text, "utf-8"))


wrong("text_bits_per_byte", "characters are counted")(lambda n, k, text: n * k / math.log(2) / len(text))
wrong("text_bits_per_byte", "these are nats. A bit")(lambda n, k, text: n * k / size(text))
wrong("text_bits_per_byte", "and per character")(lambda n, k, text: n * k / len(text))
wrong("text_bits_per_byte", "multiply by `num_predicted`")(lambda n, k, text: n / math.log(2) / size(text))
wrong("text_bits_per_byte", "in bits per *token*")(lambda n, k, text: n / math.log(2))
wrong("text_bits_per_byte", "bits of the whole text")(lambda n, k, text: n / math.log(2) * k)
wrong("text_bits_per_byte", "exchanged")(lambda n, k, text: n / math.log(2) * size(text) / k)
wrong("text_bits_per_byte", "divided by the tokens once more")(lambda n, k, text: n / math.log(2) / k / size(text))
wrong("text_bits_per_byte", "multiplied by ln 2")(lambda n, k, text: n * math.log(2) * k / size(text))
wrong("text_bits_per_byte", "divided by 2")(lambda n, k, text: n / 2 * k / size(text))
wrong("text_bits_per_byte", "logarithm of the loss")(lambda n, k, text: math.log2(n) * k / size(text))
wrong("text_bits_per_byte", "by 8 as well")(lambda n, k, text: n * k / math.log(2) / size(text) / 8)
wrong("text_bits_per_byte", "one token is taken off")(lambda n, k, text: n * (k - 1) / math.log(2) / size(text))
wrong("text_bits_per_byte", "words are counted")(lambda n, k, text: n * k / math.log(2) / len(text.split()))
wrong("text_bits_per_byte", "UTF-16")(lambda n, k, text: n * k / math.log(2) / len(text.encode("utf-16")))
wrong("text_bits_per_byte", "ASCII has no byte")(lambda n, k, text: n * k / math.log(2) / len(text.encode("ascii")))
wrong("text_bits_per_byte", "bytes per bit", natural=False)(lambda n, k, text: size(text) * math.log(2) / (n * k))

right("text_bits_per_byte")(lambda n, k, text: n * math.log2(math.e) * k / size(text))
right("text_bits_per_byte")(lambda n, k, text: np.log2(np.exp(n)) * k / len(text.encode("utf-8")))

# -- peeks ----------------------------------------------------------------------------


def altered(ids, position, by=1):
    copy = list(ids)
    copy[position] += by
    return copy


@wrong("peeks", "the output just before the change is compared")
def one_before(model, ids):
    return any(model(altered(ids, t))[t - 1] != model(ids)[t - 1] for t in range(1, len(ids)))


@wrong("peeks", "in its first round. Return False")
def first_round(model, ids):
    for t in range(1, len(ids)):
        return model(altered(ids, t))[:t] != model(ids)[:t]
    return False


@wrong("peeks", "and without a round, `None`")
def first_round_without_end(model, ids):
    for t in range(1, len(ids)):
        return model(altered(ids, t))[:t] != model(ids)[:t]


@wrong("peeks", "only output 0 is compared")
def output_zero(model, ids):
    return any(model(altered(ids, t))[0] != model(ids)[0] for t in range(1, len(ids)))


@wrong("peeks", "the output at the changed position is compared too. It may")
def one_too_far(model, ids):
    return any(model(altered(ids, t))[: t + 1] != model(ids)[: t + 1] for t in range(1, len(ids)))


@wrong("peeks", "even that of the first id")
def one_too_far_from_zero(model, ids):
    return any(model(altered(ids, t))[: t + 1] != model(ids)[: t + 1] for t in range(len(ids)))


@wrong("peeks", "only the last id is changed")
def only_the_last(model, ids):
    return model(altered(ids, -1))[:-1] != model(ids)[:-1]


@wrong("peeks", "never changed")
def without_the_last(model, ids):
    return any(model(altered(ids, t))[:t] != model(ids)[:t] for t in range(len(ids) - 1))


@wrong("peeks", "nothing stands before it")
def only_the_first(model, ids):
    return model(altered(ids, 0))[1:] != model(ids)[1:]


@wrong("peeks", "any difference counts as peeking. Later")
def any_change(model, ids):
    return any(model(altered(ids, t)) != model(ids) for t in range(len(ids)))


@wrong("peeks", "and all after it, may move")
def any_change_but_the_first(model, ids):
    return any(model(altered(ids, t)) != model(ids) for t in range(1, len(ids)))


@wrong("peeks", "the outputs *after* the change")
def after_the_change(model, ids):
    return any(model(altered(ids, t))[t + 1 :] != model(ids)[t + 1 :] for t in range(len(ids)))


@wrong("peeks", "upside down")
def is_causal(model, ids):
    return all(model(altered(ids, t))[:t] == model(ids)[:t] for t in range(1, len(ids)))


@wrong("peeks", "left out, and it is the likeliest")
def one_too_few(model, ids):
    return any(model(altered(ids, t))[: t - 1] != model(ids)[: t - 1] for t in range(1, len(ids)))


@wrong("peeks", "where the id is 0")
def set_to_zero(model, ids):
    for t in range(1, len(ids)):
        copy = ids.copy()
        copy[t] = 0
        if model(copy)[:t] != model(ids)[:t]:
            return True
    return False


@wrong("peeks", "where the id is 0")
def negated(model, ids):
    return any(model([*ids[:t], -ids[t], *ids[t + 1 :]])[:t] != model(ids)[:t] for t in range(1, len(ids)))


@wrong("peeks", "pile up")
def without_a_fresh_copy(model, ids):
    copy = list(ids)
    for t in range(1, len(ids)):
        before = model(ids)[:t]
        copy[t] = copy[t] + 1
        if model(copy)[:t] != before:
            return True
    return False


@wrong("peeks", "on shorter texts")
def by_prefixes(model, ids):
    return any(model(ids[:t]) != model(ids)[:t] for t in range(1, len(ids)))


@wrong("peeks", "compared with a later id")
def copies_the_next(model, ids):
    outputs = model(ids)
    return any(outputs[t] == ids[t + 1] for t in range(len(ids) - 1))


@wrong("peeks", "changes its arguments")
def in_the_list_itself(model, ids):
    honest = model(ids)
    for t in range(1, len(ids)):
        ids[t] += 1
        if model(ids)[:t] != honest[:t]:
            return True
        ids[t] -= 1
    return False


@wrong("peeks", "True for every model", natural=False)
def always(model, ids):
    return True


@wrong("peeks", "False for every model", natural=False)
def never(model, ids):
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

wrong("make_example", "`start` counts from 0")(
    lambda ids, start, t: (ids[start - 1 : start + t - 1], ids[start : start + t])
)
wrong("make_example", "the targets go on to the end of the stream")(
    lambda ids, start, t: (ids[start : start + t], ids[start + 1 :])
)
wrong("make_example", "positions in the stream")(
    lambda ids, start, t: (list(range(start, start + t)), list(range(start + 1, start + t + 1)))
)
wrong("make_example", None)(lambda ids, start, t: (ids[ids.index(start) if start in ids else 0 :][:t], ids[1 : t + 1]))
wrong("make_example", "the last target is made up")(
    lambda ids, start, t: (ids[start : start + t], [*ids[start + 1 : start + t], 0])
)
wrong("make_example", "`start` is used for the inputs alone")(
    lambda ids, start, t: (ids[start : start + t], ids[1 : t + 1])
)
wrong("make_example", "`start` and `context_length` are exchanged")(
    lambda ids, start, t: (ids[t : t + start], ids[t + 1 : t + start + 1])
)
wrong("make_example", "the targets look back")(
    lambda ids, start, t: (ids[start : start + t], ids[max(0, start - 1) : start + t - 1])
)
wrong("make_example", "the targets stand in reverse order")(
    lambda ids, start, t: (ids[start : start + t], ids[start + 1 : start + t + 1][::-1])
)
right("make_example")(lambda ids, start, t: (ids[start : start + t + 1][:-1], ids[start : start + t + 1][1:]))
right("make_example")(lambda ids, start, t: tuple(torch.tensor(ids)[start : start + t + 1].unfold(0, t, 1).tolist()))
right("make_example")(lambda ids, start, t: tuple([ids[start + d + k] for k in range(t)] for d in (0, 1)))

# -- padded_targets: a second class --------------------

wrong("padded_targets", "100 with the wrong sign")(
    lambda window, length: [x if i < length else 100 for i, x in enumerate(window[1:], 1)]
)
wrong("padded_targets", "one -100 too many at the end")(
    lambda window, length: window[1:length] + [-100] * (len(window) - length + 1)
)
wrong("padded_targets", "the padding is told by its id, the one")(
    lambda window, length: [x if length >= len(window) or x != window[length] else -100 for x in window[1:]]
)


@right("padded_targets")
def padded_targets_otherwise(window, length):
    t = window[1:]
    for i in range(length - 1, len(t)):
        t[i] = -100
    return t


wrong("padded_targets", "no targets at all for `length` 0")(
    lambda window, length: [] if length == 0 else window[1:length] + [-100] * (len(window) - length)
)
wrong("padded_targets", "the padding is told by zeros at the end")(
    lambda window, length: (lambda t: t + [-100] * (len(window) - 1 - len(t)))(
        (lambda u: u[: max([i + 1 for i, x in enumerate(u) if x], default=0)])(window[1:])
    )
)
wrong("padded_targets", "a single -100 for all of the padding")(
    lambda window, length: [*window[1 : max(length, 1)], -100] if length < len(window) else window[1:]
)
right("padded_targets")(lambda window, length: [x if i < length else -100 for i, x in enumerate(window) if i])
right("padded_targets")(lambda window, length: np.where(np.arange(1, len(window)) < length, window[1:], -100).tolist())

# -- joint_log_probability: a second class --------------------

wrong("joint_log_probability", "a product of logarithms")(
    lambda logits, targets: math.prod((r[k] for r, k in zip(log_softmaxes(logits), targets, strict=False)))
)
wrong("joint_log_probability", "the first target alone")(lambda logits, targets: log_softmaxes(logits)[0][targets[0]])
wrong("joint_log_probability", "the probabilities are added before the logarithm")(
    lambda logits, targets: math.log(
        sum((math.exp(r[k]) for r, k in zip(log_softmaxes(logits), targets, strict=False)))
    )
)
wrong("joint_log_probability", "the first row of logits is skipped")(
    lambda logits, targets: sum((r[k] for r, k in zip(log_softmaxes(logits)[1:], targets, strict=False)))
)
wrong("joint_log_probability", "one softmax over all positions together")(
    lambda logits, targets: (lambda z: sum((r[k] - z for r, k in zip(logits, targets, strict=False))))(
        max(map(max, logits)) + math.log(sum(math.exp(x - max(map(max, logits))) for r in logits for x in r))
    )
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

# -- perplexity: a second class --------------------

wrong("perplexity", None)(lambda losses: math.exp(min(700, sum(losses))))
wrong("perplexity", "the middle loss instead of the mean")(lambda losses: math.exp(sorted(losses)[len(losses) // 2]))
wrong("perplexity", None)(lambda losses: math.log(sum(losses) / len(losses)) if sum(losses) > 0 else 0.0)
wrong("perplexity", "divided by one token less")(lambda losses: math.exp(sum(losses) / max(1, len(losses) - 1)))
wrong("perplexity", "divided by one token more")(lambda losses: math.exp(sum(losses) / (len(losses) + 1)))
wrong("perplexity", "the last token alone")(lambda losses: math.exp(losses[-1]))
wrong("perplexity", "the mean is rounded down by `//`")(lambda losses: math.exp(sum(losses) // len(losses)))
wrong("perplexity", "the worst token alone")(lambda losses: math.exp(max(losses)))
wrong("perplexity", "e *times* the mean")(lambda losses: math.e * sum(losses) / len(losses))
wrong("perplexity", "e is not 2.718: it has more digits. Take")(lambda losses: 2.718 ** (sum(losses) / len(losses)))
wrong("perplexity", "one choice is taken off")(lambda losses: math.exp(sum(losses) / len(losses)) - 1)
wrong("perplexity", "one over the mean *probability*")(
    lambda losses: 1 / (sum(math.exp(-x) for x in losses) / len(losses))
)
wrong("perplexity", "a sum of exponentials")(lambda losses: sum(map(math.exp, losses)))
right("perplexity")(lambda losses: 2 ** (sum(losses) / len(losses) / math.log(2)))
right("perplexity")(lambda losses: math.prod(math.exp(x / len(losses)) for x in losses))
right("perplexity")(lambda losses: float(torch.tensor(losses, dtype=torch.float64).mean().exp()))

# -- text_bits_per_byte: a second class --------------------

wrong("text_bits_per_byte", "one token is added")(
    lambda nats, count, text: nats * (count + 1) / math.log(2) / size(text)
)
wrong("text_bits_per_byte", "the bytes of UTF-16, without its")(
    lambda nats, count, text: nats * count / math.log(2) / len(text.encode("utf-16-le"))
)
wrong("text_bits_per_byte", None)(lambda nats, count, text: nats * count / math.log(2) / sys.getsizeof(text))
wrong("text_bits_per_byte", "ln 2 is rounded to 0.69. Take")(lambda nats, count, text: nats * count / 0.69 / size(text))
wrong("text_bits_per_byte", "ln 2 is rounded to 0.693")(lambda nats, count, text: nats * count / 0.693 / size(text))
wrong("text_bits_per_byte", "the characters that are not ASCII are left out")(
    lambda nats, count, text: nats * count / math.log(2) / max(1, len(text.encode("ascii", "ignore")))
)
wrong("text_bits_per_byte", "one byte too few")(
    lambda nats, count, text: nats * count / math.log(2) / max(1, size(text) - 1)
)
wrong("text_bits_per_byte", "blanks at the ends of the text are left out")(
    lambda nats, count, text: nats * count / math.log(2) / max(1, size(text.strip()))
)
wrong("text_bits_per_byte", "`//` rounds down")(lambda nats, count, text: nats * count / math.log(2) // size(text))
wrong("text_bits_per_byte", "`exp` makes a perplexity")(lambda nats, count, text: math.exp(nats) * count / size(text))
wrong("text_bits_per_byte", "bytes per bit. It is asked the other way")(
    lambda nats, count, text: size(text) / (nats * count / math.log(2)) if nats * count else 0.0
)
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

wrong("peeks", "only the last id is changed, and its own")(lambda model, ids: model(ids) != model(altered(ids, -1)))
wrong("peeks", "only the first id is changed, and all")(lambda model, ids: model(ids) != model(altered(ids, 0)))
wrong("peeks", "*every* later id must move an output here")(
    lambda model, ids: all(model(ids)[:i] != model(altered(ids, i))[:i] for i in range(1, len(ids)))
)
wrong("peeks", "the ids are put in reverse order, and the")(lambda model, ids: model(ids) != model(ids[::-1])[::-1])
wrong("peeks", "the ids are put in reverse order. That changes")(
    lambda model, ids: model(ids) != model(list(reversed(ids)))
)
wrong("peeks", "an output is compared with all later ids")(
    lambda model, ids: any((o in ids[t + 1 :] for t, o in enumerate(model(ids))))
)
wrong("peeks", "only the middle id is changed")(
    lambda model, ids: model(ids)[: len(ids) // 2] != model(altered(ids, len(ids) // 2))[: len(ids) // 2]
)


@wrong("peeks", "False for every model")
def a_second_name_is_no_copy(model, ids):
    o = ids
    for i in range(1, len(ids)):
        p = model(ids)[:i]
        o = ids
        if model(o)[:i] != p:
            return True
    return False


@wrong("peeks", "lists of different lengths")
def prefixes_off_by_one(model, ids):
    return any(model(ids[:i]) != model(ids)[: i + 1] for i in range(1, len(ids) + 1))


@wrong("peeks", "half of the text")
def cut_only_to_half(model, ids):
    return model(ids[: len(ids) // 2]) != model(ids)[: len(ids) // 2]


@wrong("peeks", "the text without its first id is compared")
def cut_first_id(model, ids):
    return model(ids[1:]) != model(ids)[1:]


wrong("peeks", "sums of outputs are compared")(
    lambda model, ids: any(sum(model(ids)[:i]) != sum(model(altered(ids, i))[:i]) for i in range(1, len(ids)))
)
wrong("peeks", "the position at which it peeks")(
    lambda model, ids: next((i for i in range(1, len(ids)) if model(ids)[:i] != model(altered(ids, i))[:i]), None)
)
wrong("peeks", "each id is given to the model alone")(
    lambda model, ids: any((model([x]) != model(ids)[i : i + 1] for i, x in enumerate(ids)))
)
wrong("peeks", "only the last id is changed, and only the")(
    lambda model, ids: len(ids) > 1 and model(ids)[-2] != model(altered(ids, -1))[-2]
)
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

wrong("make_example", "go on to the end of the stream: they are T")(lambda ids, s, t: (ids[s:], ids[s + 1 :]))
wrong("make_example", "ignored, and the targets are one short")(lambda ids, s, t: (ids[:t], ids[1:t]))
wrong("padded_targets", "the id 0 is masked as well")(
    lambda window, n: [i if i and k < n else -100 for k, i in enumerate(window[1:], 1)]
)
wrong("perplexity", "rounded. Return")(lambda losses: round(math.exp(sum(losses) / len(losses)), 2))
wrong("joint_log_probability", None)(lambda logits, targets: sum(r[k] - max(r) for r, k in zip(logits, targets)))  # noqa: B905

# -- a class that had not seen the mistakes -------------------------------------------

wrong("make_example", "not the number of a window")(
    lambda i, s, n: (i[s * n : s * n + n + 1][:-1], i[s * n : s * n + n + 1][1:])
)
wrong("padded_targets", "one -100 for all")(lambda w, n: [*w[1:n], -100])
wrong("padded_targets", "then `length - 1` is -1")(lambda w, n: w[1:][: n - 1] + [-100] * (len(w) - n))
wrong("joint_log_probability", "the probabilities are added")(
    lambda logits, y: float(sum(torch.softmax(torch.tensor(r).double(), 0)[i] for r, i in zip(logits, y, strict=True)))
)
wrong("text_bits_per_byte", "divided by the number of tokens")(lambda nats, n, text: nats / math.log(2) / n)
wrong("text_bits_per_byte", "2.303 times")(lambda nats, n, text: nats * n / math.log10(2) / len(text.encode()))
wrong("text_bits_per_byte", "one token is taken off")(
    lambda nats, n, text: nats * (n - 1) / math.log(2) / len(text.encode())
)


@wrong("peeks", "from the changed position on")
def what_follows(model, ids):
    before = model(list(ids))
    return any(model([*ids[:t], ids[t] + 3, *ids[t + 1 :]])[t:] != before[t:] for t in range(len(ids)))


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


wrong("make_example", "one id too late")(lambda i, s, n: (i[s + 1 : s + n + 1], i[s + 2 : s + n + 2]))
wrong("make_example", None)(lambda i, s, n: (i[s + n : s + 2 * n], i[s + n + 1 : s + 2 * n + 1]))
wrong("padded_targets", "behind the first id 0")(
    lambda w, n: [x if 0 not in w[1 : k + 2] else -100 for k, x in enumerate(w[1:])]
)
wrong("padded_targets", None)(lambda w, n: [x if k <= n else -100 for k, x in enumerate(w[1:])])
wrong("perplexity", None)(lambda losses: math.exp(math.prod(losses) ** (1 / len(losses))))
wrong("text_bits_per_byte", None)(lambda nats, n, text: nats * n / math.log(2) / (8 * len(text)))


wrong("make_example", "slice of the targets ends without `start`")(
    lambda ids, s, c: (ids[s : s + c], ids[s + 1 : c + 1])
)
wrong("make_example", "slice of the inputs ends without `start`")(lambda ids, s, c: (ids[s:c], ids[s + 1 : s + c + 1]))
