"""What shows and judges the lessons: training loops, figures, source code, guesses,
and the checker of the exercises."""

import importlib
import typing

from course_lib.teaching.checker import (
    Case,
    bug_or_not,
    exercise,
    numbers,
    true_or_false,
)
from course_lib.teaching.packed import packed_batch, packed_loss, shuffled_batches
from course_lib.teaching.predict import predict
from course_lib.teaching.source import show_source
from course_lib.teaching.standing import explain_missing_names, show_progress
from course_lib.teaching.training import Evaluation, evaluate, repeat_epochs, train

if typing.TYPE_CHECKING:
    from course_lib.teaching.plots import (
        Table,
        inspect_packs,
        plot_audit,
        plot_bars,
        plot_chunks,
        plot_curves,
        plot_cuts,
        plot_draws,
        plot_heatmap,
        plot_intervals,
        plot_kernels,
        plot_ledger,
        plot_losses,
        plot_mask,
        plot_merge_tree,
        plot_orders,
        plot_packs,
        plot_padding,
        plot_pieces,
        plot_positions,
        plot_ranks,
        plot_scored_windows,
        plot_shards,
        plot_shift,
        plot_spread,
        plot_timeline,
        plot_tracks,
        plot_waits,
        plot_windows,
        show_table,
        show_tokens,
        table_of_packs,
    )
    from course_lib.teaching.widgets import (
        play_batches,
        play_merges,
        play_packs,
        play_pipeline,
        play_tracks,
        play_windows,
    )

explain_missing_names()


def __getattr__(name: str) -> object:
    """Import the figures when the first of them is asked for.

    matplotlib takes half a second, and the first cell of a lesson needs none.
    """
    for room in ("plots", "widgets") if name[0] != "_" else ():
        module = importlib.import_module(f"course_lib.teaching.{room}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
