"""Draw functions: each takes plain data and returns a matplotlib `Figure`; none has a
state or shows anything.

One file for each kind of picture; `style` holds what they share.
"""

from course_lib.teaching.plots.comparisons import plot_bars, plot_intervals, plot_spread
from course_lib.teaching.plots.curves import plot_curves, plot_losses
from course_lib.teaching.plots.heatmaps import plot_heatmap
from course_lib.teaching.plots.ledgers import plot_ledger
from course_lib.teaching.plots.streams import (
    plot_cuts,
    plot_scored_windows,
    plot_shift,
    plot_tracks,
    plot_windows,
)
from course_lib.teaching.plots.tables import show_table
from course_lib.teaching.plots.tokens import (
    plot_merge_tree,
    plot_pieces,
    plot_tokens,
    show_tokens,
)
