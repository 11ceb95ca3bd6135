"""Functions that take plain data and return a matplotlib `Figure`, or show HTML where
something is better read than seen. One file for each kind of picture."""

from course_lib.teaching.plots.attention import plot_mask, plot_positions
from course_lib.teaching.plots.audits import plot_audit
from course_lib.teaching.plots.comparisons import plot_bars, plot_spread
from course_lib.teaching.plots.curves import plot_curves, plot_intervals, plot_losses
from course_lib.teaching.plots.documents import (
    inspect_packs,
    plot_chunks,
    plot_packs,
    plot_padding,
    table_of_packs,
)
from course_lib.teaching.plots.heatmaps import plot_heatmap
from course_lib.teaching.plots.ledgers import plot_ledger
from course_lib.teaching.plots.machines import (
    plot_draws,
    plot_orders,
    plot_ranks,
    plot_shards,
    plot_timeline,
    plot_waits,
)
from course_lib.teaching.plots.streams import (
    plot_cuts,
    plot_kernels,
    plot_scored_windows,
    plot_shift,
    plot_tracks,
    plot_windows,
)
from course_lib.teaching.plots.tables import Table, show_table
from course_lib.teaching.plots.tokenizations import show_tokens
from course_lib.teaching.plots.tokens import plot_merge_tree, plot_pieces
