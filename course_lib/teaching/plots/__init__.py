"""The vocabulary of figures: functions that take plain data and return a matplotlib
`Figure`, one file for each kind of picture."""

from course_lib.teaching.plots.audits import plot_audit
from course_lib.teaching.plots.curves import plot_curves, plot_intervals
from course_lib.teaching.plots.dots import plot_dots, plot_spread
from course_lib.teaching.plots.heatmaps import plot_heatmap
from course_lib.teaching.plots.ledgers import plot_ledger
from course_lib.teaching.plots.rows import (
    end_to_end,
    in_a_row,
    plot_rows,
    plot_windows,
)
