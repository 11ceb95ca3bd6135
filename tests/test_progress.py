"""Progress bars: shown as asked, in a terminal or a notebook, and gone at the end."""

import html
import os
import signal
from types import SimpleNamespace

import pytest

from course_lib.foundation import progress, progress_bar, shows


@pytest.mark.parametrize(
    ("value", "shown"),
    [(off, False) for off in ("0", " 0", "false", "False", "no", "NO\n", "off")]
    + [(on, True) for on in ("1", "true", "yes", "on", "", "maybe", None)],
)
def test_progress_shows_as_asked_or_else_unless_a_usual_word_switches_it_off(monkeypatch, value, shown):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    if value is not None:
        monkeypatch.setenv("COURSE_PROGRESS", value)
    assert [shows(None), shows(True), shows(False)] == [shown, True, False]


@pytest.mark.parametrize("progress", ["False", 0])
def test_whether_to_show_is_no_text_and_no_number(progress):
    with pytest.raises(TypeError, match=r"^progress must be .*got"):
        shows(progress)


@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_yields_what_it_wraps(shown, capsys):
    assert list(progress_bar(range(5), "counting", progress=shown)) == [0, 1, 2, 3, 4]
    written = capsys.readouterr().err
    assert ("counting" in written) is shown
    assert written.split("\r")[-1].strip() == ""  # the line is blank when the work is done


@pytest.fixture
def notebook(monkeypatch):
    """A notebook whose outputs are lists of what each showed, one after another, and whose cell can be moved on."""
    shell = SimpleNamespace(kernel=object(), execution_count=1)
    outputs: list[list[str]] = []

    def display(shown, *, display_id):
        outputs.append(log := [shown.data])
        return SimpleNamespace(update=lambda later: log.append(later.data))

    monkeypatch.setattr(progress, "get_ipython", lambda: shell)
    monkeypatch.setattr(progress, "display", display)
    monkeypatch.setattr(progress._NotebookBar, "_line", (None, None))
    return SimpleNamespace(shell=shell, outputs=outputs)


def test_in_a_notebook_one_output_is_updated_and_emptied(notebook, capsys):
    with progress_bar(total=3, description="steps <b>", unit="step", progress=True) as bar:
        for _ in range(3):
            bar.update()
        bar.refresh()
    (shown,) = notebook.outputs
    assert html.escape("steps <b>") in shown[0]
    assert "3/3" in shown[-2]
    assert shown[-1] == ""
    assert capsys.readouterr().err == ""


def test_all_bars_of_a_cell_share_one_output(notebook):
    for run in range(5):
        assert list(progress_bar(range(3), f"run {run}", progress=True)) == [0, 1, 2]
    (shown,) = notebook.outputs
    assert [run for run in range(5) if any(f"run {run}" in line for line in shown)] == [0, 1, 2, 3, 4]
    assert shown[-1] == ""
    notebook.shell.execution_count += 1
    list(progress_bar(range(3), "next cell", progress=True))
    assert len(notebook.outputs) == 2


def test_a_bar_inside_another_one_stays_silent(notebook):
    outer = progress_bar(range(3), "outer", progress=True)
    for _ in outer:
        assert list(progress_bar(range(4), "inner", progress=True)) == [0, 1, 2, 3]
    (shown,) = notebook.outputs
    assert not any("inner" in line for line in shown)
    assert "outer" in shown[0]
    list(progress_bar(range(4), "after", progress=True))  # the outer one is closed
    assert any("after" in line for line in shown)


def test_a_bar_inside_a_hidden_one_is_shown(notebook):
    for _ in progress_bar(range(2), "outer", progress=False):
        list(progress_bar(range(4), "inner", progress=True))
    (shown,) = notebook.outputs
    assert any("inner" in line for line in shown)


def test_a_bar_that_an_error_left_open_hides_none_of_a_later_cell(notebook):
    left_open = progress_bar(range(3), "left open", progress=True)
    running = iter(left_open)
    next(running)
    notebook.shell.execution_count += 1
    list(progress_bar(range(3), "later", progress=True))
    first, second = notebook.outputs
    assert any("later" in line for line in second)
    assert not any("later" in line for line in first)
    running.close()  # in its own cell's output
    assert first[-1] == second[-1] == ""


def test_switched_off_a_notebook_gets_no_output_at_all(notebook):
    assert list(progress_bar(range(3), progress=False)) == [0, 1, 2]
    assert notebook.outputs == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_killed_in_the_midst_of_a_bar_holds_up_nobody():
    lock = type(progress_bar(range(3), progress=False)).get_lock()
    child = os.fork()
    if child == 0:
        lock.acquire()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert lock.acquire(True, 1)
    lock.release()
