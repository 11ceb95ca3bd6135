"""What an argument must be, declared in its annotation: see also test_kinds.py, which asks every function."""

from typing import Annotated

import pytest

from course_lib.foundation import AtLeast, checked


def test_an_annotation_that_names_nothing_is_an_error_because_its_check_would_be_lost():
    @checked
    def count(number: Annotated[int, AtLeast(0)], stride: "Lenght") -> int:  # noqa: F821
        return number

    with pytest.raises(NameError, match="Lenght"):
        count(1, 2)
