"""What an argument must be, declared in its annotation: see also test_kinds.py, which asks every function."""

from typing import Annotated

import pytest

from course_lib.foundation import AtLeast, checked
from course_lib.foundation.arguments import named_elsewhere

# checked


def test_an_annotation_that_names_nothing_is_an_error_because_its_check_would_be_lost():
    @checked
    def count(number: Annotated[int, AtLeast(0)], stride: "Lenght") -> int:  # noqa: F821
        return number

    with pytest.raises(NameError, match="Lenght"):
        count(1, 2)


# named_elsewhere


def test_names_of_other_programs_are_answered_with_ours():
    sort = named_elsewhere(length="use `size`")(sorted)
    assert sort([2, 1]) == [1, 2]
    with pytest.raises(TypeError, match=r"^sorted has no argument 'length': use `size`"):
        sort([2, 1], length=3)
