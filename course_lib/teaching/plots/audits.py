"""What an audit has seen of a loader: its ledger, its order, what its ranks read."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.auditing_loaders import Audit
from course_lib.foundation import checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.dots import draw_dots
from course_lib.teaching.plots.ledgers import (
    STREAM,
    draw_ledger,
    ledger_in_words,
    step_size,
)

MOST_STEPS, MOST_RANKS = 200, 8
LONGEST_TITLE = 90  # letters


@checked
@style.styled
def plot_audit(audit: Audit) -> Figure:
    """Draw what an audit has seen of epoch 0: how often tokens are used, in which order
    rows come, and, if there are several, what each rank reads.

    Of more than 2,000 rows of a batch some are drawn, and of more than 8 ranks the
    first 8.
    """
    ranks, size = audit.firsts[:MOST_RANKS], audit.ledger.num_tokens
    several = len(ranks) > 1
    heights = [1.9, 2.4, *[0.7 + 0.3 * len(ranks)] * several]
    figure, panels = style.new_panels(
        sum(heights) + 1.2, len(heights), height_ratios=heights
    )
    never = {"never a target": audit.ledger.as_target == 0}
    handles = draw_ledger(panels[0], audit.ledger, never, MOST_STEPS)
    remarks = [step_size(size, MOST_STEPS)] * (size > MOST_STEPS)
    for number, firsts in enumerate(ranks):
        look = {"marker": list(style.MARKERS)[number % 7], "markersize": 3}
        if number:  # so that what is drawn before can be seen
            look |= {"markersize": 5, "fillstyle": "none"}
        look |= {"color": style.SHADES[number % 3], "label": f"rank {number}"}
        every = draw_dots(panels[1], firsts, **look)
        remarks += [f"one dot for every {every} rows"] * (every > 1)
    panels[1].set(ylim=(0, size), xlabel="row, as it comes", ylabel="begins at")
    if several:
        panels[1].legend(loc="upper left", bbox_to_anchor=(1, 1))
        if _draw_ranks(panels[2], audit):
            handles += style.samples({"wrong": "read by several ranks"})
    titles = "how often tokens are used", "the order of rows", "what each rank reads"
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title, fontsize=style.SMALL)
    for axes in (panels[0], *panels[2:]):
        axes.set(xlim=(-0.5, size - 0.5), xlabel=STREAM)
        axes.xaxis.set_major_formatter(style.in_words)
    style.explain(figure, handles)
    (legend,) = figure.legends
    legend.set_title(_title(audit))
    legend.set_alignment("left")
    if len(audit.firsts) > MOST_RANKS:
        remarks.append(f"the first {MOST_RANKS} of {len(audit.firsts)} ranks")
    if remarks:
        style.add_remark(figure, "; ".join(dict.fromkeys(remarks)))
    what = "how often each token is used, and the order of rows"
    ledger = ledger_in_words("", audit.ledger)
    figure.words = style.sentence(f"What an audit saw, {what}", _title(audit), ledger)
    return figure


def _title(audit: Audit) -> str:
    """What was found, or that nothing was."""
    if audit.names:
        names = ", ".join(audit.names)
        return f"found: {names:.{LONGEST_TITLE}}" + "…" * (len(names) > LONGEST_TITLE)
    return "clean" if audit.clean else "nothing found, but not everything was decided"


def _draw_ranks(axes: Axes, audit: Audit) -> bool:
    """Draw what each rank reads, and return whether some of it is read by others."""
    read = np.zeros((len(audit.starts), audit.ledger.num_tokens), dtype=bool)
    for row, starts in zip(read, audit.starts, strict=True):
        places = np.add.outer(starts, np.arange(audit.context_length))
        row[places[places < len(row)]] = True
    shared = read.sum(axis=0) > 1
    rows = read[:MOST_RANKS]
    for number, row in enumerate(rows):
        for meaning, where in (("inputs", row & ~shared), ("wrong", row & shared)):
            edges = np.flatnonzero(np.diff(np.r_[False, where, False]))
            spans = np.column_stack([edges[::2] - 0.5, np.diff(edges)[::2]])
            look = style.look_of(meaning) | {"linewidth": 0}
            axes.broken_barh(spans, (number - 0.4, 0.8), **look)
    axes.set_yticks(range(len(rows)), [f"rank {number}" for number in range(len(rows))])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    return bool(shared.any())
