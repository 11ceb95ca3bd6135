"""Token ledgers: how often each token is an input and a target, and what is lost."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.ticker import MaxNLocator

from course_lib.foundation import TokenLedger, check_type
from course_lib.teaching.plots import style

STREAM = "position in the stream"
MOST_STEPS, MOST_LEDGERS = 1000, 6
HATCHES = ("xxxx", "....", "||||", "----")


@style.styled
def plot_ledger(ledgers: TokenLedger | Mapping[str, TokenLedger]) -> Figure:
    """Draw how often each token is used, and shade what is never used, by its reason.

    Several ledgers, by name, are drawn above one another. A stream of more than 1,000
    tokens is drawn in 1,000 steps, each the mean of its tokens.
    """
    named = ledgers if isinstance(ledgers, Mapping) else {"": ledgers}
    style.check_names("ledgers", named, MOST_LEDGERS)
    for ledger in named.values():
        if not check_type("ledgers", ledger, TokenLedger).num_tokens:
            raise ValueError("a ledger must have tokens to be drawn, got none")
    height = 1.9 * len(named) + 0.9
    figure, panels = style.new_panels(height, len(named), sharex=True)
    reasons = list(dict.fromkeys(r for one in named.values() for r in one.dropped))
    handles = []
    for axes, (name, ledger) in zip(panels, named.items(), strict=True):
        lost = {
            f"never used: {reason}": ledger.reason == ledger.reasons.index(reason)
            if reason in ledger.reasons
            else np.zeros(ledger.num_tokens, dtype=bool)
            for reason in reasons
        }
        handles += draw_ledger(axes, ledger, lost)
        axes.set_title(style.name_of(name), fontsize=style.SMALL)
    panels[-1].set_xlabel(STREAM)
    longest = max(ledger.num_tokens for ledger in named.values())
    panels[-1].set_xlim(-0.5, longest - 0.5)
    style.explain(figure, handles)
    if longest > MOST_STEPS:
        style.add_remark(figure, step_size(longest))
    figure.words = style.sentence(*map(ledger_in_words, named, named.values()))
    return figure


def ledger_in_words(name: str, ledger: TokenLedger) -> str:
    """What a ledger comes to, for whoever doesn't see it."""
    lost = [f"{count:,} lost ({reason})" for reason, count in ledger.dropped.items()]
    counts = f"of {ledger.num_tokens:,} tokens, {ledger.targets:,} are targets"
    words = "; ".join([counts, *lost])
    return f"{name}: {words}" if name else f"How often each token is used: {words}"


def draw_ledger(
    axes: Axes,
    ledger: TokenLedger,
    lost: Mapping[str, np.ndarray],
    most_steps: int = MOST_STEPS,
) -> list[StepPatch]:
    """Draw one ledger, and return what is to be explained.

    `lost` are tokens to be shaded, a name to bools of shape (N,).
    """
    edges = _edges(ledger.num_tokens, most_steps)
    as_input, as_target = (
        _means(uses, edges) for uses in (ledger.as_input, ledger.as_target)
    )
    top = max(as_input.max(), as_target.max(), 1)
    at = edges - 0.5
    soft = {"fill": True, "color": style.INPUTS, "alpha": 0.35}
    handles = [axes.stairs(as_input, at, label="times an input", **soft)]
    for number, (name, tokens) in enumerate(lost.items()):
        look = style.look_of("lost") | {"hatch": HATCHES[number % len(HATCHES)]}
        shares = _means(tokens, edges)
        if len(shares) == len(tokens):  # as high as the panel, if all of a step is lost
            shares = shares * top
        if shares.any():
            box = axes.stairs(shares, at, fill=True, lw=0, label=name, **look)
            handles.append(box)
    line = {"color": style.TARGETS, "linewidth": 2.5, "label": "times a target"}
    handles.insert(1, axes.stairs(as_target, at, baseline=None, **line))
    axes.set(ylim=(0, 1.12 * top), ylabel="times used")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.xaxis.set_major_formatter(style.in_words)
    return handles


def _edges(num_tokens: int, most: int) -> np.ndarray:
    steps = min(num_tokens, most)
    return np.linspace(0, num_tokens, steps + 1).astype(np.int64)


def _means(uses: Sequence[int], edges: np.ndarray) -> np.ndarray:
    totals = np.add.reduceat(np.asarray(uses, dtype=np.int64), edges[:-1])
    return totals / np.diff(edges)


def step_size(num_tokens: int, most_steps: int = MOST_STEPS) -> str:
    size = f"{num_tokens / most_steps:,.4g}"
    return f"each step is the mean of {size} tokens"
