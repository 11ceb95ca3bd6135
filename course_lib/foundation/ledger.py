"""The token ledger, an account of what happens to every token of a stream."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np

from course_lib.foundation.arguments import AtLeast, checked
from course_lib.foundation.checks import (
    as_integers,
    beyond_the_stream,
    check_integer,
    check_range,
    check_type,
)

USED = "used"
OWN_REASONS = (USED, "offset", "gap", "tail")


@dataclass(frozen=True, eq=False)  # a generated `==` would fail on arrays
class TokenLedger:
    """An account of what the windows at given starts do with every token of a stream.

    Two ledgers are equal if all of their entries are equal.
    """

    num_tokens: int  #: N
    num_windows: int  #: the number of starts
    context_length: int  #: T of the longest window
    as_input: np.ndarray  #: how often each token is an input, int64, shape (N,)
    as_target: np.ndarray  #: how often each token is a target, int64, shape (N,)
    #: the left context of each token, in tokens, summed over the times that it is a
    #: target, int64, shape (N,)
    context_sum: np.ndarray
    #: the largest left context of each token, or 0 if it is never a target
    longest_context: np.ndarray
    #: for each token a code, an index into `reasons`, shape (N,). It says that the
    #: token was used, or why it was not.
    reason: np.ndarray
    reasons: tuple[str, ...]  #: the names of the codes, `"used"` first

    @property
    def used(self) -> int:
        """Number of tokens that are an input or a target at least once."""
        return int(np.count_nonzero(self.as_input + self.as_target))

    @property
    def targets(self) -> int:
        """Number of tokens that are a target at least once, as the loss sees them."""
        return int(np.count_nonzero(self.as_target))

    @property
    def dropped(self) -> dict[str, int]:
        """Number of tokens that are never used, by reason, in the ledger's order."""
        counts = np.bincount(self.reason, minlength=len(self.reasons))
        return {
            name: int(count)
            for name, count in zip(self.reasons, counts, strict=True)
            if name != USED and count
        }

    @property
    def mean_context(self) -> float:
        """Mean left context of a prediction, in tokens; NaN without predictions."""
        predictions = int(self.as_target.sum())
        return float(self.context_sum.sum() / predictions) if predictions else math.nan

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenLedger):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    def __hash__(self) -> int:
        return hash((self.num_tokens, self.num_windows, self.context_length))

    def __str__(self) -> str:
        rows = [("used as input or target", self.used)]
        rows += [(f"dropped: {name}", count) for name, count in self.dropped.items()]
        rows += [("all tokens", self.used + sum(self.dropped.values())), ("", None)]
        rows += [("windows", self.num_windows)]
        rows += [("predictions made", int(self.as_target.sum()))]
        rows += [("a target at least once", self.targets)]
        rows += [("never a target", self.num_tokens - self.targets)]
        if self.targets:
            seen = self.as_target[self.as_target > 0]
            rows += [("fewest turns as a target", int(seen.min()))]
            rows += [("most turns as a target", int(seen.max()))]
        lines = [f"{name:<26}{count:>12,}" if name else "" for name, count in rows]
        return "\n".join(lines)


@checked
def token_ledger(
    starts: object,
    num_tokens: Annotated[int, AtLeast(0, 2**40)],
    context_length: int | object,
    *,
    reasons: Mapping[str, object] | None = None,
) -> TokenLedger:
    """Account for every token of a stream, using only the starts of its windows.

    The window at `s` has the tokens s ... s+T-1 as inputs and s+1 ... s+T as targets.
    The target s+j has a left context of j tokens. Tokens that no window touches are
    dropped, and the ledger gives the reason. Before the first window it is `offset`,
    after the last window it is `tail`, and between two windows it is `gap`.

    Args:
        starts: integers of any shape, in any order, repeats counted.
        num_tokens: N.
        context_length: T, or one number for each start if the windows differ in length.
            In that case, 0 means a window of a single token, which predicts nothing,
            and no window may lie inside another.
        reasons: names for other tokens that a scheme leaves out on purpose, with their
            positions in the stream, such as `{"dropped batch": positions}`. If a token
            has two names, the later one counts.
    """
    starts, ends, longest_window = _check_windows(starts, context_length, num_tokens)
    reasons = _check_reasons(reasons)
    as_input = _coverage(starts, ends, num_tokens)
    as_target = _coverage(starts + 1, ends + 1, num_tokens)
    # A target at p of windows at s, s', ... has the left contexts p - s, p - s', ...
    positions = np.arange(num_tokens)
    window_starts = _coverage(starts + 1, ends + 1, num_tokens, weights=starts)
    longest = _longest_contexts(starts, ends, positions)
    reason, names = why_unused(as_input + as_target > 0, reasons)
    return TokenLedger(
        num_tokens=num_tokens,
        num_windows=starts.size,
        context_length=longest_window,
        as_input=as_input,
        as_target=as_target,
        context_sum=positions * as_target - window_starts,
        longest_context=np.where(as_target > 0, longest, 0),
        reason=reason,
        reasons=names,
    )


def _coverage(
    first: np.ndarray,
    stop: np.ndarray,
    num_tokens: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Count, for every token, the ranges first ... stop-1 that contain it.

    Apart from one step for each range, this takes O(N), however long the ranges are.
    """
    steps = np.zeros(num_tokens + 1, dtype=np.int64)
    np.add.at(steps, first, 1 if weights is None else weights)
    np.subtract.at(steps, stop, 1 if weights is None else weights)
    return np.cumsum(steps)[:num_tokens]


def _check_windows(
    starts: object, context_length: int | object, num_tokens: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the first and last token of each window, in order, and the longest T."""
    starts = as_integers("starts", starts).astype(np.int64)
    of_each = isinstance(context_length, list | tuple)
    if of_each or getattr(context_length, "ndim", 0) > 0:
        lengths = as_integers("context_length", context_length).astype(np.int64)
        if lengths.shape != starts.shape:
            raise ValueError(
                "context_length must be one number, or one for each start, got shape "
                f"{lengths.shape} for starts of shape {starts.shape}"
            )
        if lengths.size:
            check_integer("context_length", lengths.min(), minimum=0)
        longest = int(lengths.max(initial=0))
    else:
        longest = check_integer("context_length", context_length, minimum=1)
        lengths = np.full(starts.shape, min(longest, num_tokens))
    # by start; of windows with the same start, the shorter comes first
    order = np.lexsort((lengths.ravel(), starts.ravel()))
    starts, lengths = starts.ravel()[order], lengths.ravel()[order]
    # A sum of a start and a length might wrap around, so there is none here.
    outside = (starts < 0) | (starts >= num_tokens - lengths)
    if outside.any():
        length = longest if np.ptp(lengths) == 0 else lengths[outside].max()
        raise beyond_the_stream(starts, length + 1, num_tokens)
    ends = starts + lengths
    if (np.diff(ends) < 0).any():
        window = int(np.argmax(np.diff(ends) < 0))
        raise ValueError(
            "windows must not lie inside one another, but the one at "
            f"{starts[window + 1]} ends before the one at {starts[window]}"
        )
    return starts, ends, longest


def _longest_contexts(
    starts: np.ndarray, ends: np.ndarray, positions: np.ndarray
) -> np.ndarray:
    """Measure how far each target is from the farthest start of its windows."""
    if not starts.size:
        return np.zeros_like(positions)
    # the first window that ends at p or later
    farthest = np.searchsorted(ends, positions, side="left").clip(max=starts.size - 1)
    return positions - starts[farthest]


def _check_reasons(reasons: object) -> Mapping[str, object]:
    if reasons is None:
        return {}
    for name in check_type("reasons", reasons, Mapping):
        check_type("a name of reasons", name, str)
        if name in OWN_REASONS:
            raise ValueError(
                f"reasons must not be called {', '.join(map(repr, OWN_REASONS))}, "
                f"which are the ledger's own; got {name!r}"
            )
    return reasons


def why_unused(
    used: np.ndarray, reasons: Mapping[str, object]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Give each token the code of a reason, and return the codes and their names.

    Args:
        used: whether each token is used, bool, shape (N,).
        reasons: as in `token_ledger`.
    """
    names = (USED, "offset", *reasons, "gap", "tail")
    code = {name: number for number, name in enumerate(names)}
    # one byte a token for up to 128 names
    reason = np.full(used.size, code["gap"], dtype=np.min_scalar_type(-len(names)))
    places = np.flatnonzero(used)
    if places.size:
        reason[: places[0]] = code["offset"]
        reason[places[-1] + 1 :] = code["tail"]
    else:
        reason[:] = code["tail"]  # no window fits: all of it is tail
    for name, where in reasons.items():
        where = as_integers(f"reasons[{name!r}]", where)
        reason[check_range(f"reasons[{name!r}]", where, used.size)] = code[name]
    reason[used] = code[USED]
    return reason, names
