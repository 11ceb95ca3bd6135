"""Streams, of what is no stream of ids."""

import numpy as np

CALLS = {
    "as_stream('ids', [5, 6]).cut(np.array([0, 1]), 2)": (np.array([[5, 6], [6, 0]]), np.array([2, 1])),
    "as_stream('corpus', [0.5])": TypeError("corpus must be integers"),
    "as_stream('ids', [[1]])": ValueError("ids must be one-dimensional"),
}
TAKES_NO_DATA = {
    "Stream": "it says what a stream has; see test_streams.py",
    **dict.fromkeys(
        ("ArrayStream", "check_whole", "table_of_windows", "file_of", "open_file"),
        "they get what `as_stream` has checked",
    ),
}
