"""A site for tests, of some lessons."""

import contextlib
import importlib.util
import io
import warnings
from pathlib import Path
from unittest.mock import patch

import pytest

from course_lib.classroom import book
from course_lib.classroom.book_files import figures
from course_lib.teaching.lessons import Lesson

PHONE = {"viewport": {"width": 390, "height": 844}}
SPHINX = all(importlib.util.find_spec(name) for name in book.NEEDED)


def build_site(out: Path, lessons: list[Lesson], *, frames: bool = True) -> Path:
    """Build a site, about which Sphinx may not warn; without Sphinx, skip the test.

    `frames`: draw all pictures of the figures that can be played with, which takes longest.
    """
    if not SPHINX:
        pytest.skip("no Sphinx")
    told, drawn = io.StringIO(), figures.packed if frames else lambda player: ""
    with warnings.catch_warnings(), contextlib.redirect_stderr(told), patch.object(figures, "packed", drawn):
        warnings.simplefilter("ignore")  # those of packages that are not the course's
        status = book.build(out, lessons)
    assert (status, told.getvalue()) == (0, ""), "Sphinx warns"
    return out
