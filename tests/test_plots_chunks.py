"""Pictures of chunks and of padding by what they are made of: rectangles and labels."""

from course_lib.long_documents import chunk_starts
from course_lib.teaching import plot_chunks, plot_padding
from course_lib.teaching.plots.style import INK, INPUTS, LOST
from figures import boxes, keys, row_names


def test_chunks_say_what_is_new_what_was_read_before_and_what_is_never_predicted():
    (axes,) = plot_chunks({"overlap 2": [0, 3, 6]}, num_tokens=10, max_length=5).axes
    assert boxes(axes, INPUTS) == [(1, 5), (5, 8), (8, 10)]
    assert boxes(axes, INK) == [(3, 5), (6, 8)]
    assert boxes(axes, LOST) == [(0, 1)]
    figure = plot_chunks({"none": chunk_starts(9, 4), "one": chunk_starts(9, 4, 1)}, num_tokens=9, max_length=4)
    (axes,) = figure.axes
    assert boxes(axes, LOST) == [(0, 1), (4, 5), (8, 9), (0, 1)]
    assert row_names(axes) == ["none", "one"]
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
