"""What shows and judges the lessons: training loops, figures, source code, guesses,
and the checker of the exercises."""

import importlib
import sys
import typing

try:
    from course_lib.teaching.checker import (
        Case,
        bug_or_not,
        exercise,
        true_or_false,
    )
    from course_lib.teaching.play import play
    from course_lib.teaching.predict import predict
    from course_lib.teaching.source import show_source
    from course_lib.teaching.standing import explain_missing_names, show_progress
    from course_lib.teaching.tables import Table, show_table
    from course_lib.teaching.tokens import TokenRows, show_tokens
    from course_lib.teaching.training import Evaluation, evaluate, repeat_epochs, train
except ModuleNotFoundError as error:
    # `audit --picture` takes a figure from here, and asks for Matplotlib alone. Names
    # aren't imported when they are asked for, as those of the foundation are, because
    # `play` and `predict` are also modules: whoever imports the module first would get
    # the module by the name of its function.
    if (error.name or "course_lib").startswith("course_lib"):
        raise
    MISSING: ModuleNotFoundError | None = error
else:
    MISSING = None
    explain_missing_names()

if typing.TYPE_CHECKING:
    from course_lib.teaching.plots import (
        end_to_end,
        in_a_row,
        plot_audit,
        plot_curves,
        plot_dots,
        plot_heatmap,
        plot_intervals,
        plot_ledger,
        plot_rows,
        plot_spread,
        plot_windows,
    )


def __getattr__(name: str) -> object:
    """Import the figures when the first of them is asked for.

    matplotlib takes half a second, and the first cell of a lesson needs none. Raises
    ModuleNotFoundError with what to type if a package of the lessons is missing.
    """
    if MISSING is not None and not name.startswith(("_", "plot")):
        raise ModuleNotFoundError(
            f"lessons need the package {MISSING.name!r}, which is not installed. Type, "
            "in a copy of the course's repository: "
            f'{sys.executable} -m pip install --editable ".[course]"',
            name=MISSING.name,
        )
    if name[0] != "_":
        module = importlib.import_module("course_lib.teaching.plots")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
