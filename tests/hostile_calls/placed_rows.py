"""Hostile calls of rows whose places are known: few labels, or none."""

import numpy as np

TAKES_NO_DATA = dict.fromkeys(("PlacedRows", "place_rows"), "it takes what read_batch and TellingIds have checked")
CALLS = {
    "most_ahead(np.zeros((0, 3)), np.zeros((0, 3), dtype=bool))": np.array([]),
    "most_ahead(np.array([[1, 1, 0]]), np.array([[True, True, True]]))": np.array([1.0]),
    "most_ahead(np.array([[1, 1, 0]]), np.array([[True, False, True]]))": np.array([0.0]),
    "most_ahead(np.array([[1, 1, 0]]), np.array([[False, False, False]]))": np.array([np.nan]),
    "most_ahead(np.array([[-99, -99]]), np.array([[True, True]]))": np.array([0.0]),  # round the end, not shifted
    "move_right(np.array([[1, 2, 3]]), -1)": np.array([[-1, 1, 2]]),
    "move_right(np.zeros((2, 0)), 0).shape": (2, 0),
}
