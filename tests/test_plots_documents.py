"""Pictures of chunks, padding and packs by what they are made of; and the inspector of packs."""

from course_lib.document_packing import assign_packs, pack_documents
from course_lib.long_documents import chunk_starts
from course_lib.teaching import inspect_packs, plot_chunks, plot_packs, plot_padding
from course_lib.teaching.plots.style import INK, INPUTS, LOST
from figures import boxes, keys, rectangles, row_names, texts, title


def test_chunks_say_what_is_new_what_was_read_before_and_what_is_never_predicted():
    (axes,) = plot_chunks({"overlap 2": [0, 3, 6]}, num_tokens=10, max_length=5).axes
    assert boxes(axes, INPUTS) == [(1, 5), (5, 8), (8, 10)]
    assert boxes(axes, INK) == [(3, 5), (6, 8)]
    assert boxes(axes, LOST) == [(0, 1)]
    figure = plot_chunks({"none": chunk_starts(9, 4), "one": chunk_starts(9, 4, 1)}, num_tokens=9, max_length=4)
    (axes,) = figure.axes
    assert boxes(axes, LOST) == [(0, 1), (4, 5), (8, 9), (0, 1)]
    assert texts(axes) == ["none", "one"]
    assert row_names(axes) == [f"start {start}" for start in (0, 4, 8, 0, 3, 6)]
    assert len(keys(figure)) == 3
    (axes,) = plot_chunks({"truncation": [0], "overlap 0": [0, 5]}, num_tokens=9, max_length=5).axes
    assert boxes(axes, LOST) == [(0, 1), (5, 9), (0, 1), (5, 6)]


def test_padding_reaches_to_the_longest_row_of_its_batch():
    figure = plot_padding({"random": [[3, 5], [2]], "sorted": [[2, 3], [5]]})
    first, second = figure.axes
    assert boxes(first, INPUTS) == [(0, 3), (0, 5), (0, 2)]
    assert boxes(first, LOST) == [(3, 5)]
    assert boxes(second, LOST) == [(2, 3)]
    assert row_names(second) == ["batch 0", "batch 1"]


LENGTHS = [5, 3, 4, 2]


def places(axes, color) -> list[tuple[float, float, float]]:
    """Row, begin and end of the boxes with an edge of this color, line by line."""
    return sorted((p.get_y(), p.get_x(), p.get_x() + p.get_width()) for p in rectangles(axes, color))


def test_packs_are_bars_of_documents_and_padding_is_a_row_for_each_document():
    figure = plot_packs({"greedy": assign_packs(LENGTHS, 8, strategy="greedy")}, LENGTHS, 8)
    (axes,) = figure.axes
    assert places(axes, INPUTS) == [(0, 0, 5), (0, 5, 8), (1, 0, 4), (1, 4, 6)]
    assert places(axes, LOST) == [(1, 6, 8)]
    assert texts(axes) == ["0", "1", "2", "3"]
    assert row_names(axes) == ["row 0", "row 1"]
    ways = {"padding": [[n] for n in range(4)], "packing": assign_packs(LENGTHS, 7)}
    first, second = plot_packs(ways, LENGTHS, 7).axes
    assert places(first, LOST) == [(0, 5, 7), (1, 3, 7), (2, 4, 7), (3, 2, 7)]
    assert places(second, LOST) == []
    assert (title(first), title(second)) == ("padding", "packing")
    assert first.get_ylim() == second.get_ylim()


def test_the_key_names_only_what_is_drawn_and_a_number_that_does_not_fit_is_left_out():
    assert keys(plot_packs({"a": [[0]]}, [8], 8)) == ["a document (neighbors differ in shade)"]
    assert keys(plot_packs({"a": [[0]]}, [8], 9)) == ["a document (neighbors differ in shade)", "padding"]
    (axes,) = plot_packs({"a": [[0, 1]]}, [1, 999], 1000).axes
    assert texts(axes) == ["1"]


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
    assert len(places(figure.axes[0], INK)) == 2
    assert len(places(figure.axes[0], INPUTS)) == 3
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
    assert places(figure.axes[0], INK) == []


def test_of_many_packs_some_are_listed_from_the_first_to_the_last(capsys):
    packs = pack_documents([[n] for n in range(1000)], 10, strategy="greedy")
    figure = inspect_packs(packs, 10)
    lines = table(capsys)
    assert [line[1] for line in lines[:-1]] == ["0", "9", "18", "27", "36", "45", "54", "63", "72", "81", "90", "99"]
    assert row_names(figure.axes[0]) == [" ".join(line[:2]) for line in lines[:-1]]
    assert lines[-1] == ["all", "100", "packs", "1,000", "1,000", "0", "100.0%"]
    assert figure.get_supxlabel() == "88 more packs, not drawn"
