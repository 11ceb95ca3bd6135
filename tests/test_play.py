"""Figures to play with: the same picture for everybody, and controls where a kernel listens."""

import importlib

import pytest
from ipywidgets import IntSlider, Text, ToggleButtons

from course_lib.teaching import play
from course_lib.teaching.play import WIDGET
from course_lib.teaching.plots import plot_windows

MODULE = importlib.import_module("course_lib.teaching.play")  # the name alone is the function


def windows(T, kind, words):
    if kind == "bad":
        raise ValueError("no such kind")
    return plot_windows([0], T, 10)


def player():
    return play(windows, T=(4, 1, 9), kind=["good", "bad"], words="a b")


def test_without_a_kernel_there_is_the_picture_of_the_start_alone():
    data, metadata = player()._repr_mimebundle_()
    assert data["image/png"] == plot_windows([0], 4, 10)._repr_mimebundle_()[0]["image/png"]
    assert metadata["image/png"]["width"] == 900
    assert WIDGET not in data


def test_in_a_live_notebook_controls_come_with_it_and_what_is_wrong_is_told_in_words(monkeypatch, capsys):
    monkeypatch.setattr(MODULE, "kernel_listens", lambda: True)
    shown = []
    monkeypatch.setattr(MODULE, "display", shown.append)
    played = player()
    assert WIDGET in played._repr_mimebundle_()[0]
    row, _ = played.widget().children
    slider, buttons, text = row.children
    assert [type(box) for box in row.children] == [IntSlider, ToggleButtons, Text]
    assert (slider.min, slider.value, slider.max, buttons.value, text.value) == (1, 4, 9, "good", "a b")
    shown.clear()
    slider.value = 6
    assert [row.get_text() for row in shown[-1].axes[0].get_yticklabels()] == ["stream", "start 0"]
    assert shown[-1].axes[0].patches[-2].get_width() == 6
    buttons.value = "bad"
    assert capsys.readouterr().out.endswith("Not so: no such kind\n")


@pytest.mark.parametrize("value", ["0", "false", "no", "off", " Off "])
def test_the_environment_switches_controls_off(monkeypatch, value):
    monkeypatch.setattr(MODULE, "get_ipython", lambda: type("Shell", (), {"kernel": 1})())
    monkeypatch.setenv("COURSE_WIDGETS", "1")
    assert WIDGET in player()._repr_mimebundle_()[0]
    monkeypatch.setenv("COURSE_WIDGETS", value)
    assert WIDGET not in player()._repr_mimebundle_()[0]


@pytest.mark.parametrize(
    ("control", "error"), [((0, 1, 9), ValueError), ((1, 2), TypeError), ([], TypeError), (3, TypeError)]
)
def test_a_control_of_another_kind_is_refused(control, error):
    with pytest.raises(error, match="T must be"):
        play(windows, T=control, kind=["good"], words="")
