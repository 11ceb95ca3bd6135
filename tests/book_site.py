"""A site for tests, of some lessons."""

import contextlib
import importlib.util
import io
import warnings
from pathlib import Path

import pytest

from course_lib.classroom import book
from course_lib.teaching.lessons import Lesson

PHONE = {"viewport": {"width": 390, "height": 844}}
SPHINX = all(importlib.util.find_spec(name) for name in book.NEEDED)


def build_site(out: Path, lessons: list[Lesson]) -> Path:
    """Build a site, about which Sphinx may not warn; without Sphinx, skip the test."""
    if not SPHINX:
        pytest.skip("no Sphinx")
    told = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(told):
        warnings.simplefilter("ignore")  # those of packages that are not the course's
        status = book.build(out, lessons)
    assert (status, told.getvalue()) == (0, ""), "Sphinx warns"
    return out
