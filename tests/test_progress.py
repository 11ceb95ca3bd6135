"""Progress bars: shown as asked, in a terminal or a notebook, and gone at the end."""

from __future__ import annotations

import html

import pytest

from course_lib.foundation import progress, progress_bar, shows


def test_progress_shows_as_asked_or_else_unless_switched_off(monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "0")
    assert [shows(None), shows(True), shows(False)] == [False, True, False]
    monkeypatch.delenv("COURSE_PROGRESS")
    assert [shows(None), shows(True), shows(False)] == [True, True, False]


@pytest.mark.parametrize("shown", [True, False])
def test_a_bar_yields_what_it_wraps(shown, capsys):
    assert list(progress_bar(range(5), "counting", progress=shown)) == [0, 1, 2, 3, 4]
    written = capsys.readouterr().err
    assert ("counting" in written) is shown
    assert written.split("\r")[-1].strip() == ""  # the line is blank when the work is done


class Handle:
    def __init__(self, log: list[str]):
        self.log = log

    def update(self, shown) -> None:
        self.log.append(shown.data)


def test_in_a_notebook_one_output_is_updated_and_emptied(monkeypatch, capsys):
    class Shell:
        kernel = object()

    log: list[str] = []

    def display(shown, *, display_id):
        log.append(shown.data)
        return Handle(log)

    monkeypatch.setattr(progress, "get_ipython", Shell)
    monkeypatch.setattr(progress, "display", display)
    with progress_bar(total=3, description="steps <b>", unit="step", progress=True) as bar:
        for _ in range(3):
            bar.update()
        bar.refresh()
    assert html.escape("steps <b>") in log[0]
    assert "3/3" in log[-2]
    assert log[-1] == ""
    assert capsys.readouterr().err == ""


def test_switched_off_a_notebook_gets_no_output_at_all(monkeypatch):
    class Shell:
        kernel = object()

    monkeypatch.setattr(progress, "get_ipython", Shell)
    monkeypatch.setattr(progress, "display", lambda *_, **__: pytest.fail("nothing may be shown"))
    assert list(progress_bar(range(3), progress=False)) == [0, 1, 2]
