"""Hostile calls of the progress bar; none of them may show one."""

import os
from unittest import mock


def shown_with(value, shows):
    with mock.patch.dict(os.environ, COURSE_PROGRESS=value):
        return shows(None)


CALLS = {
    "shows('False')": TypeError("progress must be True or False, got 'False' (str)"),
    "shows(0)": TypeError("progress must be True or False, got 0 (int)"),
    "shows(np.False_)": False,
    "shown_with(' False ', shows)": False,
    "shown_with('maybe', shows)": True,
    "list(progress_bar([], progress=False))": [],
    "list(progress_bar(iter('ab'), progress=False))": ["a", "b"],
    "list(progress_bar(range(3), total=1, progress=False))": [0, 1, 2],
    "list(progress_bar(5, progress=False))": TypeError("'int' object is not iterable"),
}
