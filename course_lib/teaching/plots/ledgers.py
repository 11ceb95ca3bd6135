"""Pictures of token ledgers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.foundation import TokenLedger
from course_lib.teaching.plots import style
from course_lib.teaching.plots.letters import row_name

MOST_STEPS = 1000
MOST_STARTS = 40
MOST_RUNS = 100
MOST_LEDGERS = 6
LOST_HATCHES = ("xxxx", "....", "||||", "----")
OF_TARGETS = {"color": style.TARGETS, "linewidth": 2.5}


@style.styled
def plot_ledger(ledgers: TokenLedger | Mapping[str, TokenLedger]) -> Figure:
    """Draw how often each token is an input and a target, and shade what is never used.

    Several ledgers, by name, are drawn above one another. Dotted lines show where
    windows start, unless they start everywhere. A stream of more than 1,000 tokens is
    drawn in 1,000 steps, each the mean of its tokens.
    """
    ledgers = style.read_panels("ledgers", ledgers, _check, most=MOST_LEDGERS)
    height = 1.9 * len(ledgers) + 0.9 if len(ledgers) > 1 else 2.8
    figure, panels = style.new_panels(height, rows=len(ledgers), sharex=True)
    hatches = hatches_of(ledgers.values())
    remarks: dict[str, None] = {}
    for axes, (name, ledger) in zip(panels, ledgers.items(), strict=True):
        remarks.update(dict.fromkeys(draw_ledger(axes, ledger, hatches)))
        axes.set_title(row_name(name), fontsize=style.SMALL)
    panels[-1].set_xlabel("position in the stream")
    panels[-1].xaxis.set_major_formatter(style.in_words)
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    longest = max(ledger.num_tokens for ledger in ledgers.values())
    panels[-1].set_xlim(-0.5, longest - 0.5)
    names = "as input", "as target", "start of a window"
    style.explain(figure, keys_of(panels, hatches, names))
    if remarks:
        style.add_remark(figure, "; ".join(remarks))
    return figure


def _check(name: str, ledger: object) -> TokenLedger:
    if not isinstance(ledger, TokenLedger):
        raise TypeError(f"{name} must be a ledger, got {ledger!r:.60}")
    if not ledger.num_tokens:
        raise ValueError("a ledger must have tokens to be drawn, got none")
    return ledger


def hatches_of(ledgers: Iterable[TokenLedger]) -> dict[str, str]:
    """Choose a hatch for each reason why tokens are never used; there are only four."""
    reasons = dict.fromkeys(reason for one in ledgers for reason in one.dropped)
    return dict(zip_longest(reasons, LOST_HATCHES[: len(reasons)], fillvalue=""))


def keys_of(
    panels: Iterable[Axes], hatches: Mapping[str, str], names: Sequence[str]
) -> dict[str, Artist]:
    """Samples of what is drawn, by these names, and by the reasons of what is lost."""
    samples = [
        Rectangle((0, 0), 1, 1, color=style.INPUTS, alpha=0.35),
        Line2D([], [], **OF_TARGETS),
    ]
    if any(axes.lines for axes in panels):
        samples.append(Line2D([], [], color=style.INK, linestyle=":"))
    keys = dict(zip(names, samples, strict=False))
    for reason, hatch in hatches.items():
        name = row_name(reason) if hatch else "other reasons"
        keys[f"never used: {name}"] = _lost(hatch)
    return keys


def draw_ledger(
    axes: Axes, ledger: TokenLedger, hatches: Mapping[str, str]
) -> list[str]:
    """Draw one ledger, and return what the picture leaves out."""
    uses = ledger.as_input, ledger.as_target
    edges, (as_input, as_target), remarks = in_steps(uses, MOST_STEPS)
    soft = {"alpha": 0.35, "fill": True}
    axes.stairs(as_input, edges, color=style.INPUTS, label="as input", **soft)
    axes.stairs(as_target, edges, label="as target", **OF_TARGETS)
    for reason, hatch in hatches.items():
        if reason not in ledger.dropped:
            continue
        places = np.flatnonzero(ledger.reason == ledger.reasons.index(reason))
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
        if len(runs) > MOST_RUNS:
            count = f"{len(places):,} tokens in {len(runs):,} places"
            remarks.append(f"{reason}: {count}, not drawn")
            continue
        for run in runs:
            box = _lost(hatch)
            box.set(x=run[0] - 0.5, width=len(run))
            # as high as the panel, however often tokens are used
            box.set_transform(axes.get_xaxis_transform())
            axes.add_patch(box)
    # Windows start before a token that is predicted from one token alone.
    starts = np.flatnonzero(ledger.shortest_context == 1) - 1
    if 0 < len(starts) <= MOST_STARTS and (np.diff(starts) > 1).all():
        for start in starts:
            axes.axvline(start - 0.5, color=style.INK, linewidth=1, linestyle=":")
    axes.set_ylim(0, 1.12 * max(as_input.max(), as_target.max(), 1))
    axes.set_ylabel("times used")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    return remarks


def in_steps(
    uses: Sequence[np.ndarray], most: int
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the edges of so many steps at most, what is used in each of them, and what
    the picture leaves out by it."""
    num_tokens = len(uses[0])
    steps = min(num_tokens, most)
    cuts = np.linspace(0, num_tokens, steps + 1).astype(np.int64)
    totals = np.add.reduceat(np.asarray(uses, dtype=np.int64), cuts[:-1], axis=1)
    size = f"{num_tokens / steps:,.4g}"
    remarks = [f"each step is the mean of {size} tokens"] * (steps < num_tokens)
    return cuts - 0.5, totals / np.diff(cuts), remarks


def _lost(hatch: str) -> Rectangle:
    box = style.sample("lost", 0.25)
    box.set_hatch(hatch)
    return box
