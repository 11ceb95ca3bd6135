"""The token ledger: what a choice of starts does with every token of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from course_lib.foundation.arguments import as_integers, check_integer

USED = "used"
OWN_REASONS = (USED, "offset", "gap", "tail")


@dataclass(frozen=True, eq=False)  # for it would compare arrays as single values
class TokenLedger:
    """What the windows at given starts do with every token of a stream.

    Two ledgers are equal if every entry of theirs is.

    Attributes:
        num_tokens: N.
        num_windows: number of starts.
        context_length: T.
        as_input: how often each token is an input, int64, shape (N,).
        as_target: how often each token is a target, int64, shape (N,).
        context_sum: the left context of each token, in tokens, added up over all its
            turns as a target, int64, shape (N,).
        shortest_context, longest_context: its smallest and largest left context; 0 if
            it never is a target.
        reason: why each token was never used, or that it was: a code into `reasons`,
            shape (N,).
        reasons: the names of the codes, `"used"` first.
    """

    num_tokens: int
    num_windows: int
    context_length: int
    as_input: np.ndarray
    as_target: np.ndarray
    context_sum: np.ndarray
    shortest_context: np.ndarray
    longest_context: np.ndarray
    reason: np.ndarray
    reasons: tuple[str, ...]

    @property
    def used(self) -> int:
        """Number of tokens that are an input or a target at least once."""
        return int(np.count_nonzero(self.as_input + self.as_target))

    @property
    def targets(self) -> int:
        """Number of tokens that are a target at least once: what the loss ever sees."""
        return int(np.count_nonzero(self.as_target))

    @property
    def dropped(self) -> dict[str, int]:
        """Number of tokens that are never used, by reason, in the order in which the
        stream meets them."""
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
        return (
            float(self.context_sum.sum() / predictions) if predictions else float("nan")
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenLedger):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    def __hash__(self) -> int:
        return hash((self.num_tokens, self.num_windows, self.context_length))

    def __str__(self) -> str:
        rows = [("used as input or target", self.used)]
        rows += [
            (f"dropped: {reason}", count) for reason, count in self.dropped.items()
        ]
        rows += [("all tokens", self.used + sum(self.dropped.values())), ("", None)]
        rows += [
            ("windows", self.num_windows),
            ("predictions made", int(self.as_target.sum())),
        ]
        rows += [
            ("a target at least once", self.targets),
            ("never a target", self.num_tokens - self.targets),
        ]
        if self.targets:
            seen = self.as_target[self.as_target > 0]
            rows += [
                ("fewest turns as a target", int(seen.min())),
                ("most turns as a target", int(seen.max())),
            ]
        return "\n".join(
            f"{name:<26}{count:>12,}" if name else "" for name, count in rows
        )


def token_ledger(
    starts: object,
    num_tokens: int,
    context_length: int,
    *,
    reasons: Mapping[str, object] | None = None,
) -> TokenLedger:
    """Account for every token of a stream, from the starts of its windows alone.

    The window at `s` has the tokens s ... s+T-1 as inputs and s+1 ... s+T as targets;
    the target s+j has a left context of j tokens. Tokens that no window touches are
    dropped, and the ledger says why: before the first window it is the `offset`, behind
    the last one the `tail`, between two windows a `gap`.

    Args:
        starts: integers of any shape, in any order, repeats counted.
        num_tokens: N.
        context_length: T.
        reasons: names for other tokens that a scheme leaves out on purpose, with their
            positions in the stream, such as `{"dropped batch": positions}`; of two
            names for one token, the later counts.

    Raises:
        TypeError: something is not an integer.
        ValueError: a window reaches over the end of the stream, or a position lies
            outside of it.
    """
    num_tokens = check_integer("num_tokens", num_tokens, minimum=0, maximum=2**40)
    context_length = check_integer("context_length", context_length, minimum=1)
    starts = np.sort(as_integers("starts", starts).astype(np.int64), axis=None)
    reasons = _check_reasons(reasons)
    last_start = num_tokens - context_length - 1
    if starts.size and (starts[0] < 0 or starts[-1] > last_start):
        allowed = f"0 ... {last_start}" if last_start >= 0 else "nothing at all"
        raise ValueError(
            f"starts must lie in {allowed}: {context_length + 1} ids (context_length + "
            f"1) must follow each in a stream of {num_tokens}; got {starts[0]} ... "
            f"{starts[-1]}"
        )
    as_input = _coverage(starts, starts + context_length, num_tokens)
    as_target = _coverage(starts + 1, starts + context_length + 1, num_tokens)
    # A token at p that is the target of windows at s, s', ... has left contexts p - s,
    # p - s', ...
    positions = np.arange(num_tokens)
    window_starts = _coverage(
        starts + 1, starts + context_length + 1, num_tokens, weights=starts
    )
    shortest, longest = _extreme_contexts(starts, positions, context_length)
    reason, names = _why_unused(
        starts, as_input + as_target > 0, context_length, reasons
    )
    return TokenLedger(
        num_tokens=num_tokens,
        num_windows=starts.size,
        context_length=context_length,
        as_input=as_input,
        as_target=as_target,
        context_sum=positions * as_target - window_starts,
        shortest_context=np.where(as_target > 0, shortest, 0),
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
    """Count for every token the ranges first ... stop-1 that hold it.

    It takes O(N), however long the ranges are.
    """
    steps = np.zeros(num_tokens + 1, dtype=np.int64)
    np.add.at(steps, first, 1 if weights is None else weights)
    np.subtract.at(steps, stop, 1 if weights is None else weights)
    return np.cumsum(steps)[:num_tokens]


def _extreme_contexts(
    starts: np.ndarray, positions: np.ndarray, context_length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Measure how far each position is from the windows that it is a target of: from
    the nearest start, and from the farthest."""
    if not starts.size:
        return np.zeros_like(positions), np.zeros_like(positions)
    # the last start before p
    nearest = np.searchsorted(starts, positions, side="left") - 1
    # the first at p - T or later
    farthest = np.searchsorted(starts, positions - context_length, side="left")
    farthest = np.minimum(farthest, starts.size - 1)
    return positions - starts[nearest], positions - starts[farthest]


def _check_reasons(reasons: object) -> Mapping[str, object]:
    if reasons is None:
        return {}
    if not isinstance(reasons, Mapping):
        raise TypeError(
            "reasons must be names with positions, such as {'dropped batch': [3, 4]}, "
            f"got {type(reasons).__name__}"
        )
    for name in reasons:
        if not isinstance(name, str):
            raise TypeError(
                f"reasons must have names that are str, got {name!r} "
                f"({type(name).__name__})"
            )
        if name in OWN_REASONS:
            raise ValueError(
                f"reasons must not be called {', '.join(map(repr, OWN_REASONS))}, "
                f"which are the ledger's own; got {name!r}"
            )
    return reasons


def _why_unused(
    starts: np.ndarray,
    used: np.ndarray,
    context_length: int,
    reasons: Mapping[str, object],
) -> tuple[np.ndarray, tuple[str, ...]]:
    names = (USED, "offset", *reasons, "gap", "tail")
    code = {name: number for number, name in enumerate(names)}
    # one byte a token for up to 128 names
    dtype = np.min_scalar_type(-len(names))
    reason = np.full(used.size, code["gap"], dtype=dtype)
    if starts.size:
        reason[: starts[0]] = code["offset"]
        reason[starts[-1] + context_length + 1 :] = code["tail"]
    else:
        reason[:] = code["tail"]  # no window fits: all of it is tail
    for name, where in reasons.items():
        where = as_integers(f"reasons[{name!r}]", where)
        if where.size and not (where.min() >= 0 and where.max() < used.size):
            raise ValueError(
                f"reasons[{name!r}] must be positions in 0 ... {used.size - 1}"
            )
        reason[where] = code[name]
    reason[used] = code[USED]
    return reason, names
