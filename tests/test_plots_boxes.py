"""Rows of labelled boxes, of which most figures are made."""

import pytest

from course_lib.teaching.plots.boxes import Box, Row, plot_rows, uncovered
from course_lib.teaching.plots.style import INK, MEANINGS, WIDTH, sample
from figures import axes_of, keys, rectangles, row_names, texts


def test_rows_come_from_the_top_down_with_titles_and_space_in_rows_of_their_own():
    rows = [Row("a", [Box(0, 2)], title="first"), Row("b", [Box(1, 1)]), Row("", [], space=0.5)]
    figure, axes, tops = plot_rows(rows, 4, keys={})
    assert tops == [1, 2, 3.5]
    assert axes.yaxis_inverted()
    assert [(p.get_x(), p.get_y(), p.get_width()) for p in rectangles(axes)] == [(0, 1, 2), (1, 2, 1)]
    assert row_names(axes) == ["a", "b"]
    assert texts(axes) == ["first"]
    assert figure.legends == []
    assert axes.get_xticks().tolist() == []


def test_a_box_has_the_color_of_its_meaning_its_shade_and_dashes_where_it_is_cut():
    boxes = [Box(0, 1, meaning, shade=0.2) for meaning in MEANINGS]
    drawn = rectangles(axes_of(plot_rows([Row("a", [*boxes, Box(9, 1, is_cut=True)])], 10, keys={})[0]))
    for box, meaning in zip(drawn, MEANINGS, strict=False):
        assert box.get_facecolor() == sample(meaning, 0.2).get_facecolor()
        assert box.get_edgecolor() == sample(meaning).get_edgecolor()
        assert box.get_hatch() == sample(meaning).get_hatch()
    assert [box.get_linestyle() == "solid" for box in drawn] == [True] * len(boxes) + [False]
    assert drawn[-1].get_edgecolor()[:3] == pytest.approx([int(INK[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def test_labels_that_do_not_fit_are_left_out_with_those_of_all_boxes_as_wide():
    row = Row("a", [Box(0, 1, label="1"), Box(1, 1, label="1000"), Box(2, 20, label="1000"), Box(22, 1)])
    assert texts(plot_rows([row], 60, keys={})[1]) == ["1000"]
    assert texts(plot_rows([row], 23, keys={})[1]) == ["1000"]
    assert texts(plot_rows([row], 23, keys={}, widest=1)[1]) == ["1000"]
    wide = Row("a", [Box(0, 1, label="1"), Box(1, 1, label="1000")])
    assert texts(plot_rows([wide], 2, keys={})[1]) == ["1", "1000"]
    longest_first = Row("a", [Box(0, 1, label="1000"), Box(1, 1, label="1")])
    assert texts(plot_rows([longest_first], 60, keys={})[1]) == []


def test_all_units_fit_in_and_none_is_wider_than_it_may_be():
    for length, widest in ((3, 0.42), (60, 0.42), (60, 9)):
        _, axes, _ = plot_rows([Row("x" * 30, [Box(0, length)])], length, keys={}, widest=widest)
        left, right = axes.get_xlim()
        assert left < 0
        assert right > length
        assert (WIDTH - 0.45 - 30 * 0.085) / right <= widest + 1e-9


def test_the_key_explains_only_what_is_there_and_numbers_stand_where_something_is_counted():
    rows = [Row("a", [Box(0, 7), Box(7, 1, "lost")])]
    meanings = {"one": "inputs", "two": "targets", "three": "lost", "four": sample("right")}
    figure, axes, _ = plot_rows(rows, 8, keys=meanings, xlabel="tokens")
    assert keys(figure) == ["one", "three", "four"]
    assert axes.get_xlabel() == "tokens"
    assert axes.get_xticks().tolist() == list(range(9))
    _, axes, _ = plot_rows(rows, 0.5, keys={}, xlabel="seconds")
    assert axes.get_xticks().tolist() == pytest.approx([0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5])


@pytest.mark.parametrize(
    ("boxes", "left"),
    [([], [(0, 9)]), ([(0, 9)], []), ([(2, 3), (5, 1)], [(0, 2), (6, 3)]), ([(0, 1), (3, 6)], [(1, 2)])],
)
def test_what_no_box_covers(boxes, left):
    assert [(box.start, box.width) for box in uncovered([Box(*box) for box in boxes], 9)] == left
