"""Pictures of audits of loaders."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from course_lib.auditing_loaders import Audit
from course_lib.foundation import TokenLedger, checked
from course_lib.teaching.plots import style
from course_lib.teaching.plots.ledgers import OF_TARGETS, in_steps
from course_lib.teaching.plots.letters import shortened

MOST_DOTS, MOST_STEPS = 2_000, 200
MOST_RANKS = 8
LONGEST_TITLE = 90  # letters
HEIGHTS = {"inputs": 0.5, "wrong": 0.85}  # in a rank's row


@checked
@style.styled
def plot_audit(audit: Audit) -> Figure:
    """Draw what an audit has seen of epoch 0: the ledger, the order, and the ranks.

    The order shows where in the stream each row begins, in the order in which the rows
    come. If there are several ranks, each has a row with what it reads. Of more than
    2,000 rows of a batch some are drawn, and of more than 8 ranks the first 8.
    """
    ranks = audit.firsts[:MOST_RANKS]
    several = len(ranks) > 1
    height = 5.5 + several * (0.3 + 0.32 * len(ranks))
    ratios = [1.6, 2.2, *[0.3 + 0.2 * len(ranks)] * several]
    figure, panels = style.new_panels(
        height, rows=len(ratios), gridspec_kw={"height_ratios": ratios}
    )
    remarks = _draw_ledger(panels[0], audit.ledger)
    remarks += _draw_order(panels[1], ranks, audit.ledger.num_tokens)
    line = Line2D([], [], **OF_TARGETS)
    keys = {"as input": "inputs", "as target": line, "never a target": "lost"}
    if several and _draw_ranks(panels[2], audit):
        keys["read by several ranks"] = "wrong"
    titles = "how often tokens are used", "the order of rows", "what each rank reads"
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title, fontsize=style.SMALL)
    for axes in (panels[0], *panels[2:]):
        axes.set_xlim(-0.5, audit.ledger.num_tokens - 0.5)
        axes.xaxis.set_major_formatter(style.in_words)
    style.explain(figure, keys)
    (legend,) = figure.legends
    legend.set_title(_title(audit))
    legend.set_alignment("left")
    if len(audit.firsts) > MOST_RANKS:
        remarks.append(f"the first {MOST_RANKS} of {len(audit.firsts)} ranks")
    if remarks:
        style.add_remark(figure, "; ".join(remarks))
    return figure


def _title(audit: Audit) -> str:
    """What was found, or that nothing was."""
    if audit.names:
        return "found: " + shortened(", ".join(audit.names), LONGEST_TITLE)
    return "clean" if audit.clean else "nothing found, but not everything was decided"


def _draw_ledger(axes: Axes, ledger: TokenLedger) -> list[str]:
    """Draw how often tokens are used, and which share of them is never a target."""
    uses = ledger.as_input, ledger.as_target, ledger.as_target == 0
    edges, (inputs, targets, lost), remarks = in_steps(uses, MOST_STEPS)
    box = style.sample("lost")
    look = {"fc": box.get_facecolor(), "ec": box.get_edgecolor(), "lw": 0}
    axes.stairs(inputs, edges, fill=True, color=style.INPUTS, alpha=0.35)
    axes.stairs(lost, edges, fill=True, hatch=style.LOST_HATCH, **look)
    axes.stairs(targets, edges, baseline=None, **OF_TARGETS)
    axes.set(ylim=(0, 1.15 * max(inputs.max(), targets.max(), 1)), ylabel="times used")
    axes.set_xlabel("position in the stream")
    return remarks


def _draw_order(axes: Axes, ranks: tuple[np.ndarray, ...], size: int) -> list[str]:
    every = max(1, -(-max(map(len, ranks)) // MOST_DOTS))
    for number, firsts in enumerate(ranks):
        look = style.curve_style(number) | {"linestyle": "", "markersize": 3}
        if number:  # so that what is drawn before can be seen
            look |= {"markersize": 5, "fillstyle": "none"}
        label = f"rank {number}" if len(ranks) > 1 else None
        rows = np.arange(0, len(firsts), every)
        axes.plot(rows, firsts[::every], label=label, **look)
    axes.set(ylim=(0, size), xlabel="row, as it comes", ylabel="begins at")
    axes.xaxis.get_major_locator().set_params(integer=True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(style.in_words)
    if len(ranks) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return [f"one dot for every {every} rows"] if every > 1 else []


def _draw_ranks(axes: Axes, audit: Audit) -> bool:
    """Draw what each rank reads, and return whether some of it is read by others."""
    size, width = audit.ledger.num_tokens, audit.context_length
    read = np.zeros((len(audit.starts), size + 1), dtype=np.int64)
    for row, starts in zip(read, audit.starts, strict=True):
        np.add.at(row, starts, 1)
        np.subtract.at(row, (starts + width).clip(max=size), 1)
    read = np.cumsum(read, axis=1)[:, :size] > 0
    shared = read.sum(axis=0) > 1
    rows = read[:MOST_RANKS]
    for number, row in enumerate(rows):
        for meaning, where in (("inputs", row & ~shared), ("wrong", row & shared)):
            edges = np.flatnonzero(np.diff(np.r_[False, where, False]))
            spans = np.column_stack([edges[::2] - 0.5, np.diff(edges)[::2]])
            box = style.sample(meaning)
            height = HEIGHTS[meaning]
            place = (number - height / 2, height)
            axes.broken_barh(spans, place, fc=box.get_facecolor(), lw=0)
    middle = {number: f"rank {number}" for number in range(len(rows))}
    style.name_rows(axes, middle)
    axes.invert_yaxis()
    axes.set_xlabel("position in the stream")
    return bool(shared.any())
