"""Hostile calls of what reads a loader; what it is made of has its rows with `audit_loader`."""

import numpy as np

from planted_loaders import Bytes

CHECKED = "Documents MadeLoader LoaderCall read_epoch add check_that_time_is_second check_that_ids_are_told guarded"
TAKES_NO_DATA = dict.fromkeys(CHECKED.split(), "audit_loader makes it, from what it has checked")
CALLS = {
    "make_stream(5, None, None, None)[0].ids": 1_000 + np.arange(5),
    "make_stream(5, [2, 2], None, None)[1].starts": np.array([0, 2]),
    "make_stream(5, [[2], [2]], None, None)": ValueError("document_lengths must be one or more, in a row, got shape"),
    "make_stream(5, [2, 0], None, None)": ValueError("document_lengths must be"),
    "make_stream(5, 'ab', None, None)": TypeError("document_lengths must be"),
    "make_stream(5, None, 256, Bytes())": ValueError("must be left out where a tokenizer makes the ids"),
    "issubclass(LoaderError, RuntimeError)": True,
    "str(LoaderError('words'))": "words",
}
