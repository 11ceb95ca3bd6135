"""Figures that tests look at, and what they are made of: rectangles, labels and lines, not pixels."""

import functools

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.auditing_loaders import Audit, audit_loader
from course_lib.document_boundaries import document_mask
from course_lib.foundation import token_ledger
from course_lib.long_documents import chunk_starts
from course_lib.sliding_windows import gather_windows
from course_lib.teaching import plots
from course_lib.teaching.plots import style

LEDGERS = {
    "stride 1": token_ledger(range(36), 44, 8),
    "stride T": token_ledger(range(0, 34, 8), 44, 8),
    "stride T + 1": token_ledger(range(0, 34, 9), 44, 8),
}
RUNS = np.random.default_rng(0).normal(2.8, 0.02, (5, 6))
FALLING = 2 + np.exp(-np.arange(200) / 40)
LINES = {"ln V": 3.4, "floor of the right shift": 2.0, "floor, two ahead": 2.02}
MEANS = {n: {x: (x, 0.5) for x in (1, 4, 16, 17)} for n in ("epochs", "steps")}
MASKS = {"causal": torch.ones(6, 6).tril().bool(), "document": document_mask([0, 3], 6)}
TASKS = {"worker 0": [(0, 2, "a"), (2, 3, "b")], "worker 1": [(0, 1, "c"), (1, 2, "d")]}
ROWS = [{"input_ids": [5, 0, 6], "document_starts": [0, 2]}, {"input_ids": [7], "document_starts": [0]}]
LONG = "x" * 300


def audited(*starts: object, num_tokens: int = 60, length: int = 4, size: int = 3) -> Audit:
    """An audit of ranks that read the windows at these starts."""

    def make_loader(ids, rank):
        mine = np.array(starts[rank])
        return [gather_windows(ids, mine[at : at + size], length) for at in range(0, len(mine), size)]

    return audit_loader(make_loader, num_tokens=num_tokens, world_size=len(starts))


MANY_RANKS = [range(rank, 39_990, 12) for rank in range(12)]

# The function, and behind a comma what is peculiar.
EXAMPLES = {
    "plot_shift": lambda: plots.plot_shift([5, 6, 7]),
    "plot_shift, long": lambda: plots.plot_shift(range(300)),
    "plot_shift, letters": lambda: plots.plot_shift(range(6), ["漢", "$a$", "😀", "\n", "a long word", "\u200b"]),
    "plot_kernels": lambda: plots.plot_kernels({"causal": [-2, -1, 0], "centered": [-1, 0, 1]}, 3, 7),
    "plot_kernels, widest": lambda: plots.plot_kernels({LONG: range(-8, 9), "$b$": [0], "none": []}, 8, 17),
    "plot_windows": lambda: plots.plot_windows([0, 4], 4, 10),
    "plot_windows, ledger": lambda: plots.plot_windows(
        [[8, 0], [12, 4]], 4, 24, ledger=token_ledger([8, 0, 12, 4], 24, 4)
    ),
    "plot_windows, many": lambda: plots.plot_windows(range(40), 4, 60),
    "plot_cuts": lambda: plots.plot_cuts({f"offset {o}": range(o, 30, 5) for o in range(5)}, 5, 35),
    "plot_tracks": lambda: plots.plot_tracks([[1, 11, 21], [5, 15, 25]], 4, 10, carried=True),
    "plot_scored_windows": lambda: plots.plot_scored_windows([(0, 4, 4), (2, 4, 2)], 7),
    "plot_ledger": lambda: plots.plot_ledger(token_ledger([1], 10, 4)),
    "plot_ledger, three": lambda: plots.plot_ledger(LEDGERS),
    "plot_ledger, reasons": lambda: plots.plot_ledger(
        token_ledger([3, 10, 17], 30, 4, reasons={"row remainder": [26], "$x$": [28]})
    ),
    "plot_losses": lambda: plots.plot_losses({"a": [3, 2], "b": [3, 1]}, {"floor": 1}, meanings={"a": "right"}),
    "plot_losses, close": lambda: plots.plot_losses({f"curve {i}": FALLING + 0.01 * i for i in range(5)}, LINES),
    "plot_curves": lambda: plots.plot_curves(
        [1, 2, 4], {"a": RUNS[:, :3], "b": [1, 2, 3]}, xlabel="x", ylabel="y", lines={"l": 2}
    ),
    "plot_intervals": lambda: plots.plot_intervals({"one": {1: (2.0, 0.1)}}, xlabel="x", ylabel="y"),
    "plot_intervals, panels": lambda: plots.plot_intervals(
        {"training": MEANS, "validation": MEANS}, xlabel="stride", ylabel="bits", spacing="logarithmic"
    ),
    "plot_bars": lambda: plots.plot_bars({"one": 1.0, "漢字 costs $5$": 4.25, LONG: 3}, xlabel="unit"),
    "plot_bars, many": lambda: plots.plot_bars({f"bar {i}": i for i in range(1000)}, xlabel="unit"),
    "plot_spread": lambda: plots.plot_spread({"a": [1, 2], "b": [2, 3]}, xlabel="bits", paired=True),
    "plot_spread, titles": lambda: plots.plot_spread(
        {"short text": {"a": RUNS[0], "b": RUNS[1]}, "long": {"a": RUNS[2]}}, xlabel="bits"
    ),
    "plot_heatmap": lambda: plots.plot_heatmap(
        {"a": [[0, 1], [2, 3]], "b": [[3, 2], [1, 0]]}, xlabel="x", ylabel="y", label="z"
    ),
    "plot_merge_tree": lambda: plots.plot_merge_tree([list("banana"), ["b", "an", "an", "a"], ["b", "anan", "a"]]),
    "plot_pieces": lambda: plots.plot_pieces({"text": ["a b"], "pieces": ["a", " b"]}, {"pieces": ["12", "10345"]}),
    "plot_pieces, long": lambda: plots.plot_pieces({"text": ["x" * 60, "y" * 60]}),
    "plot_chunks": lambda: plots.plot_chunks({"overlap 2": [0, 6, 12]}, 20, 8),
    "plot_chunks, smallest": lambda: plots.plot_chunks({"a": [0]}, 1, 1),
    "plot_chunks, many": lambda: plots.plot_chunks({f"overlap {o}": chunk_starts(60, 10, o) for o in range(4)}, 60, 10),
    "plot_padding": lambda: plots.plot_padding({"as they come": [[5, 2], [3, 1]]}),
    "plot_padding, many": lambda: plots.plot_padding({LONG: [[300, 1]] * 20, "$b$": [[7]]}),
    "plot_packs": lambda: plots.plot_packs({"padding": [[0], [1]], "packing": [[0, 1]]}, [5, 3], 9),
    "plot_packs, many": lambda: plots.plot_packs({LONG: [[n] for n in range(20)] * 2, "$b$": [[0]]}, range(1, 21), 20),
    "inspect_packs": lambda: plots.inspect_packs(ROWS, 4, eos_token_id=0),
    "plot_mask": lambda: plots.plot_mask(MASKS, [0, 3]),
    "plot_mask, smallest": lambda: plots.plot_mask([[True]], [0]),
    "plot_mask, large": lambda: plots.plot_mask(np.ones((60, 60), dtype=bool), range(0, 60, 4)),
    "plot_positions": lambda: plots.plot_positions(
        {"running": range(6), "reset": [0, 1, 2, 0, 1, 2]}, [0, 3], meanings={"reset": "right"}
    ),
    "plot_positions, many": lambda: plots.plot_positions({f"way {n}": np.zeros(2048, np.uint8) for n in range(3)}),
    "plot_shards": lambda: plots.plot_shards([6, 6, 3], [0, 4, 9], [0, 5, 10], 3),
    "plot_shards, smallest": lambda: plots.plot_shards([1], [0]),
    "plot_shards, many": lambda: plots.plot_shards([20] * 3, range(60), range(40), 19),
    "plot_orders": lambda: plots.plot_orders({"shuffled": [3, 0, 2, 1]}, size=4),
    "plot_orders, letters": lambda: plots.plot_orders({"x" * 25: range(9), "$b$": [7]}, size=2**62),
    "plot_orders, many": lambda: plots.plot_orders({str(n): range(5) for n in range(9)}, size=5),
    "plot_draws": lambda: plots.plot_draws({"blocks": [0, 1, 1, 0], "random": [1, 1, 1, 0]}, ["a", "b"]),
    "plot_draws, smallest": lambda: plots.plot_draws({"$x$": [0]}, ["a"]),
    "plot_draws, letters": lambda: plots.plot_draws({LONG: [1, 0] * 30, "漢": [0]}, ["$a$ \ud800", LONG]),
    "plot_draws, many": lambda: plots.plot_draws({f"way {n}": range(8) for n in range(5)}, [LONG] * 8),
    "plot_ranks": lambda: plots.plot_ranks({"once": {"rank 0": [0, 2, 4], "rank 1": [1, 2]}}, 7, lines={"stopped": 2}),
    "plot_ranks, many": lambda: plots.plot_ranks({"all": {str(i): np.arange(i, 60, 40) for i in range(40)}}, 60),
    "plot_timeline": lambda: plots.plot_timeline({"now": TASKS}, xlabel="seconds"),
    "plot_timeline, titles": lambda: plots.plot_timeline(
        {"a": {"w": [(0, 1, LONG)], "v": []}, "$b$": {"w": []}}, xlabel="$c$"
    ),
    "plot_audit": lambda: plots.plot_audit(audited(range(0, 55, 5))),
    "plot_audit, ranks": lambda: plots.plot_audit(audited([0, 8, 16], [4, 8, 12], [40, 36, 32])),
    "plot_audit, many": lambda: plots.plot_audit(audited(*MANY_RANKS, num_tokens=40_000, size=500)),
    "plot_waits": lambda: plots.plot_waits({"in order": [[1, 2], [2, 1]]}, xlabel="tokens"),
    "plot_waits, many": lambda: plots.plot_waits(
        {"a": torch.ones(50, 4), "b": np.array([[0, 1]], dtype=np.uint8)}, xlabel=""
    ),
}
TALL = {name for name in EXAMPLES if name.endswith(", many")}  # taller than a screen, as they may


@functools.cache
def drawn(name: str) -> Figure:
    """An example, drawn as large as it is shown: places of texts are known then."""
    figure = EXAMPLES[name]()
    with plt.style.context(["default", style.RULES]):
        FigureCanvasAgg(figure).draw()
    return figure


def axes_of(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def rectangles(axes: Axes, color: str | None = None) -> list[Rectangle]:
    """The boxes with an edge of a color, in the order in which they were drawn."""
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [p for p in patches if color is None or same_color(p.get_edgecolor(), color)]


def boxes(axes: Axes, color: str | None = None) -> list[tuple[float, float]]:
    """Where these begin and end, line by line."""
    found = sorted(rectangles(axes, color), key=lambda p: (p.get_y(), p.get_x()))
    return [(p.get_x(), p.get_x() + p.get_width()) for p in found]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def row_names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def keys(figure: Figure) -> list[str]:
    """What the legend explains."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def title(axes: Axes) -> str:
    return axes.get_title(loc="left")
