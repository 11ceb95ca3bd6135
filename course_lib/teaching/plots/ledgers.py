"""Pictures of a token ledger."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from course_lib.foundation import TokenLedger
from course_lib.teaching.plots.style import BLUE, HATCHES, ORANGE, new_figure, runs_of


def plot_ledger(ledger: TokenLedger) -> Figure:
    """Draw how often each token is an input and a target, and shade what is never
    used."""
    figure, axes = new_figure(9, 2.6)
    edges = np.arange(ledger.num_tokens + 1) - 0.5
    axes.stairs(
        ledger.as_input, edges, color=BLUE, alpha=0.5, fill=True, label="as input"
    )
    axes.stairs(ledger.as_target, edges, color=ORANGE, linewidth=2, label="as target")
    for number, reason in enumerate(ledger.dropped):
        hatch = HATCHES[number % len(HATCHES)]
        positions = np.flatnonzero(ledger.reason == ledger.reasons.index(reason))
        for first, last in runs_of(positions):
            label = f"never used: {reason}" if first == positions[0] else None
            axes.axvspan(
                first - 0.5,
                last + 0.5,
                facecolor="lightgray",
                hatch=hatch,
                edgecolor="gray",
                label=label,
            )
    axes.set(
        xlabel="position in the stream", ylabel="times used", xlim=(edges[0], edges[-1])
    )
    axes.set_ylim(
        0, max(ledger.as_input.max(initial=0), ledger.as_target.max(initial=0), 1) * 1.1
    )
    axes.yaxis.get_major_locator().set_params(integer=True)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure
