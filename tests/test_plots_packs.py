"""Pictures of packs, masks and positions by what they are made of; and the inspector of packs."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from matplotlib.colors import same_color, to_rgb
from matplotlib.patches import Rectangle

from course_lib.document_packing import assign_packs, document_mask, pack_documents, position_ids_from_starts
from course_lib.teaching import inspect_packs, plot_mask, plot_packs, plot_pieces_of_packs, plot_positions
from course_lib.teaching.plots.style import INK, INPUTS, LOST, RIGHT, WRONG

LENGTHS = [5, 3, 4, 2]
ONE = {"input_ids": [1], "document_starts": [0]}


def boxes(axes, color) -> list[tuple[float, float, float]]:
    """Row, begin and end of the boxes with an edge of this color, line by line."""
    found = [p for p in axes.patches if isinstance(p, Rectangle) and same_color(p.get_edgecolor(), color)]
    return sorted((p.get_y(), p.get_x(), p.get_x() + p.get_width()) for p in found)


def keys(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_packs_are_bars_of_documents_and_what_is_left_is_padding():
    figure = plot_packs({"greedy": assign_packs(LENGTHS, 8, strategy="greedy")}, LENGTHS, 8)
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 0, 5), (0, 5, 8), (1, 0, 4), (1, 4, 6)]
    assert boxes(axes, LOST) == [(1, 6, 8)]
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2", "3"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["row 0", "row 1"]


def test_padding_is_packing_with_a_row_for_each_document():
    ways = {"padding": [[n] for n in range(4)], "packing": assign_packs(LENGTHS, 7)}
    first, second = plot_packs(ways, LENGTHS, 7).axes
    assert boxes(first, LOST) == [(0, 5, 7), (1, 3, 7), (2, 4, 7), (3, 2, 7)]
    assert boxes(second, LOST) == []
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("padding", "packing")
    assert first.get_ylim() == second.get_ylim()


def test_the_key_names_only_what_is_drawn():
    assert keys(plot_packs({"a": [[0]]}, [8], 8)) == ["a document, two shades in turn"]
    figure = plot_pieces_of_packs([[3, 2]], 6, cut=[[False, True]])
    assert keys(figure) == ["a document, two shades in turn", "a piece of a document that was cut", "padding"]


def test_a_piece_that_was_cut_has_an_edge_of_its_own():
    figure = plot_pieces_of_packs([[3, 5], [4]], 8, cut=[[False, True], [True]], names=["pack 0", "pack 9"])
    (axes,) = figure.axes
    assert boxes(axes, INPUTS) == [(0, 0, 3)]
    assert boxes(axes, INK) == [(0, 3, 8), (1, 0, 4)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pack 0", "pack 9"]


def test_a_number_that_does_not_fit_into_its_box_is_left_out():
    (axes,) = plot_packs({"a": [[0, 1]]}, [1, 999], 1000).axes
    assert [text.get_text() for text in axes.texts] == ["1"]


def test_a_mask_shows_what_is_seen_across_a_boundary():
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
    assert keys(figure) == ["may look at", "looks at another document", "the bounds of the documents"]


def test_a_mask_that_lets_the_future_in_says_so():
    figure = plot_mask(np.ones((4, 4), dtype=bool), [0, 2])
    assert keys(figure)[1] == "looks at another document or at what comes later"
    assert keys(plot_mask(document_mask([0, 2], 4), [0, 2])) == ["may look at", "the bounds of the documents"]


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


def test_the_inspector_takes_rows_and_columns_and_divides_behind_an_end(capsys):
    rows = [{"input_ids": [5, 1, 6, 6], "document_starts": [0, 2]}, {"input_ids": [7, 1], "document_starts": [0]}]
    inspect_packs(rows, 4, eos_token_id=1)
    by_rows = table(capsys)
    inspect_packs({name: [row[name] for row in rows] for name in rows[0]}, 4, eos_token_id=1)
    assert table(capsys) == by_rows
    inspect_packs([{"input_ids": row["input_ids"]} for row in rows], 4, eos_token_id=1)
    assert table(capsys) == by_rows
    assert by_rows == [
        ["pack", "0", "4", "2", "1", "100.0%"],
        ["pack", "1", "2", "1", "0", "50.0%"],
        ["all", "2", "packs", "6", "3", "1", "75.0%"],
    ]


def test_where_nothing_tells_what_was_cut_the_table_says_nothing(capsys):
    figure = inspect_packs([{"input_ids": [5, 1, 6], "document_starts": [0, 2]}], 3)
    assert table(capsys)[0] == ["pack", "0", "3", "2", "100.0%"]
    assert boxes(figure.axes[0], INK) == []


def test_of_many_packs_some_are_listed_from_the_first_to_the_last(capsys):
    packs = pack_documents([[n] for n in range(1000)], 10, strategy="greedy")
    figure = inspect_packs(packs, 10, limit=5)
    lines = table(capsys)
    assert [line[1] for line in lines[:-1]] == ["0", "25", "50", "74", "99"]
    assert lines[-1] == ["all", "100", "packs", "1,000", "1,000", "0", "100.0%"]
    assert figure.get_supxlabel() == "95 more packs, not drawn"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_packs({"a": [[0]]}, [1], 1),
        lambda: plot_packs({"x" * 80: [[n] for n in range(20)] * 2, "$b$": [[0]]}, range(1, 21), 20),
        lambda: plot_pieces_of_packs([[1] * 60] * 4, 2048, labels=[["漢"] * 60] * 4),
        lambda: plot_mask(np.ones((60, 60), dtype=bool), range(0, 60, 4)),
        lambda: plot_mask([[True]], [0]),
        lambda: plot_positions({"a": [0]}),
        lambda: plot_positions({f"way {n}": np.zeros(2048, dtype=np.uint8) for n in range(3)}),
    ],
)
def test_figures_are_900_pixels_wide_and_can_be_drawn(draw):
    figure = draw()
    assert figure.get_size_inches()[0] == 9
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: plot_packs({}, [1], 1), ValueError, "packs must have at least one name"),
        (lambda: plot_packs([[0]], [1], 1), TypeError, "packs must be a mapping"),
        (lambda: plot_packs({"a": [[1]]}, [1], 1), ValueError, "numbers of the 1 documents"),
        (lambda: plot_packs({"a": [[-1]]}, [1], 1), ValueError, "numbers of the 1 documents"),
        (lambda: plot_packs({"a": []}, [1], 1), ValueError, "packs of 'a' must be"),
        (lambda: plot_packs({"a": [[0]] * 41}, [1], 1), ValueError, "packs of 'a' must be"),
        (lambda: plot_packs({"a": [[0, 0]]}, [2], 3), ValueError, "at most max_length 3 tokens, got one of 4 in 'a'"),
        (lambda: plot_packs({n: [[0]] for n in "abcd"}, [1], 3), ValueError, "number of panels"),
        (lambda: plot_packs({"a": [[0]]}, [0], 1), ValueError, "lengths must be of at least one token"),
        (lambda: plot_pieces_of_packs([[1.5]], 3), TypeError, r"packs\[0\] must be integers"),
        (lambda: plot_pieces_of_packs([[0]], 3), ValueError, "lengths of at least 1"),
        (lambda: plot_pieces_of_packs([[1, 2]], 3, cut=[[True]]), ValueError, "cut must have one value a piece"),
        (lambda: plot_pieces_of_packs([[1]], 3, cut=[["yes"]]), TypeError, "cut"),
        (lambda: plot_pieces_of_packs([[1]], 3, names="a"), ValueError, "names must be one for each of the 1 packs"),
        (lambda: plot_mask([[1]], [0]), TypeError, "masks must be True and False"),
        (lambda: plot_mask(np.ones((2, 3), dtype=bool), [0]), ValueError, r"must have shape \(L, L\)"),
        (lambda: plot_mask(np.ones((61, 61), dtype=bool), [0]), ValueError, "length of masks must be"),
        (lambda: plot_mask({"a": [[True]], "b": np.ones((2, 2), dtype=bool)}, [0]), ValueError, "masks must be of one"),
        (lambda: plot_mask([[True]], [1]), ValueError, "document_starts must rise from 0 to less than 1"),
        (lambda: plot_positions({"a": [0, 1], "b": [0]}), ValueError, "must all have one shape"),
        (lambda: plot_positions({"a": [0.5]}), TypeError, r"positions\['a'\] must be integers"),
        (lambda: plot_positions({"a": [0, 1]}, [0, 0]), ValueError, "must rise from 0"),
        (lambda: plot_positions({"a": [0]}, meanings={"b": "right"}), ValueError, "meanings must be for"),
        (lambda: inspect_packs([], 4), ValueError, "packs must be at least one, got none"),
        (lambda: inspect_packs(7, 4), TypeError, "packs must be several packs, got int"),
        (lambda: inspect_packs([[1, 2]], 4), TypeError, "must have `input_ids`, got list"),
        (lambda: inspect_packs([{"input_ids": [1, 2]}], 4), ValueError, "has no `document_starts`"),
        (lambda: inspect_packs([{"input_ids": [1] * 5}], 4), ValueError, "must hold 1 to max_length 4 ids, got 5"),
        (
            lambda: inspect_packs([{"input_ids": [1], "document_starts": [1]}], 4),
            ValueError,
            "document_starts must rise from 0",
        ),
        (lambda: inspect_packs([{**ONE, "documents": [0, 1]}], 4), ValueError, "one for each of its 1 pieces, got 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
