"""Pictures of packs, masks and positions by what they are made of; and the inspector of packs."""

import numpy as np
import torch
from matplotlib.colors import same_color, to_rgb

from course_lib.document_boundaries import document_mask, position_ids_from_starts
from course_lib.document_packing import assign_packs, pack_documents
from course_lib.teaching import inspect_packs, plot_mask, plot_packs, plot_positions
from course_lib.teaching.plots.style import INK, INPUTS, LOST, RIGHT, WRONG
from figures import keys, rectangles, row_names, texts, title

LENGTHS = [5, 3, 4, 2]


def boxes(axes, color) -> list[tuple[float, float, float]]:
    """Row, begin and end of the boxes with an edge of this color, line by line."""
    return sorted((p.get_y(), p.get_x(), p.get_x() + p.get_width()) for p in rectangles(axes, color))


def test_packs_are_bars_of_documents_and_padding_is_a_row_for_each_document():
    figure = plot_packs({"greedy": assign_packs(LENGTHS, 8, strategy="greedy")}, LENGTHS, 8)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 0, 5), (0, 5, 8), (1, 0, 4), (1, 4, 6)]
    assert boxes(axes, LOST) == [(1, 6, 8)]
    assert texts(axes) == ["0", "1", "2", "3"]
    assert row_names(axes) == ["row 0", "row 1"]
    ways = {"padding": [[n] for n in range(4)], "packing": assign_packs(LENGTHS, 7)}
    first, second = plot_packs(ways, LENGTHS, 7).axes
    assert boxes(first, LOST) == [(0, 5, 7), (1, 3, 7), (2, 4, 7), (3, 2, 7)]
    assert boxes(second, LOST) == []
    assert (title(first), title(second)) == ("padding", "packing")
    assert first.get_ylim() == second.get_ylim()


def test_the_key_names_only_what_is_drawn_and_a_number_that_does_not_fit_is_left_out():
    assert keys(plot_packs({"a": [[0]]}, [8], 8)) == ["a document (neighbors differ in shade)"]
    assert keys(plot_packs({"a": [[0]]}, [8], 9)) == ["a document (neighbors differ in shade)", "padding"]
    (axes,) = plot_packs({"a": [[0, 1]]}, [1, 999], 1000).axes
    assert texts(axes) == ["1"]


def test_a_mask_shows_what_is_seen_across_a_boundary_and_of_the_future():
    starts = [0, 2]
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    figure = plot_mask({"causal": causal, "document": document_mask(starts, 5)}, starts)
    first, second = figure.axes
    crosses = {tuple(place) for place in first.collections[0].get_offsets().astype(int).tolist()}
    assert crosses == {(column, row) for row in (2, 3, 4) for column in (0, 1)}
    assert len(second.collections[0].get_offsets()) == 0
    picture = first.images[0].get_array()
    assert np.allclose(picture[0, 0], 0.55 * np.array(to_rgb(INPUTS)) + 0.45)
    assert np.allclose(picture[0, 1], 1)
    assert keys(figure) == ["may look at", "looks at another document", "document boundaries"]
    figure = plot_mask(np.ones((4, 4), dtype=bool), [0, 2])
    assert keys(figure)[1] == "looks at another document or at what comes later"
    assert keys(plot_mask(document_mask([0, 2], 4), [0, 2])) == ["may look at", "document boundaries"]


def test_positions_are_teeth_that_begin_where_they_are_not_counted_on():
    starts = [0, 3, 7]
    figure = plot_positions(
        {"running": range(9), "reset": position_ids_from_starts(starts, 9)}, starts, meanings={"reset": "right"}
    )
    (axes,) = figure.axes
    *dotted, running, reset = axes.lines
    assert [line.get_xdata()[0] for line in dotted] == starts
    np.testing.assert_equal(running.get_ydata(), range(9))
    nan = float("nan")
    np.testing.assert_equal(reset.get_xdata(), [0, 1, 2, nan, 3, 4, 5, 6, nan, 7, 8])
    np.testing.assert_equal(reset.get_ydata(), [0, 1, 2, nan, 0, 1, 2, 3, nan, 0, 1])
    assert same_color(reset.get_color(), RIGHT)
    assert not same_color(running.get_color(), WRONG)


def table(capsys) -> list[list[str]]:
    """The cells of the table that was shown, by lines, without header and rule."""
    shown = eval(capsys.readouterr().out)["text/plain"]
    return [line.replace(" %", "%").split() for line in shown.splitlines()[2:]]


def test_the_inspector_counts_tokens_documents_and_those_that_are_there_only_in_part(capsys):
    documents = [[5, 5, 5, 5, 5, 5, 1], [6, 1], [7, 7, 1], [8, 1]]
    packs = pack_documents(documents, 5)
    figure = inspect_packs(packs, 5)
    lines = table(capsys)
    assert [line[2:5] for line in lines[:-1]] == [["5", "1", "1"], ["5", "2", "1"], ["4", "2", "0"]]
    assert lines[-1] == ["all", "3", "packs", "14", "5", "2", "93.3%"]
    assert len(boxes(figure.axes[0], INK)) == 2
    assert len(boxes(figure.axes[0], INPUTS)) == 3
    assert keys(figure) == ["a document (neighbors differ in shade)", "a piece of a document that was cut", "padding"]
    assert texts(figure.axes[0]) == ["0", "2", "0", "1", "3"]


def test_the_inspector_takes_rows_divides_behind_an_end_and_says_nothing_where_nothing_tells(capsys):
    rows = [{"input_ids": [5, 1, 6, 6], "document_starts": [0, 2]}, {"input_ids": [7, 1], "document_starts": [0]}]
    inspect_packs(rows, 4, eos_token_id=1)
    by_rows = table(capsys)
    inspect_packs([{"input_ids": row["input_ids"]} for row in rows], 4, eos_token_id=1)
    assert table(capsys) == by_rows
    assert by_rows == [
        ["pack", "0", "4", "2", "1", "100.0%"],
        ["pack", "1", "2", "1", "0", "50.0%"],
        ["all", "2", "packs", "6", "3", "1", "75.0%"],
    ]
    figure = inspect_packs([{"input_ids": [5, 1, 6], "document_starts": [0, 2]}], 3)
    assert table(capsys)[0] == ["pack", "0", "3", "2", "100.0%"]
    assert boxes(figure.axes[0], INK) == []


def test_of_many_packs_some_are_listed_from_the_first_to_the_last(capsys):
    packs = pack_documents([[n] for n in range(1000)], 10, strategy="greedy")
    figure = inspect_packs(packs, 10)
    lines = table(capsys)
    assert [line[1] for line in lines[:-1]] == ["0", "9", "18", "27", "36", "45", "54", "63", "72", "81", "90", "99"]
    assert row_names(figure.axes[0]) == [" ".join(line[:2]) for line in lines[:-1]]
    assert lines[-1] == ["all", "100", "packs", "1,000", "1,000", "0", "100.0%"]
    assert figure.get_supxlabel() == "88 more packs, not drawn"
