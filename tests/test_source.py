"""The source that notebooks show is the source that they import."""

from __future__ import annotations

import ast
import inspect

import pytest

from course_lib import sliding_windows
from course_lib.sliding_windows import BatchOrder, SlidingWindowDataset, count_windows
from course_lib.teaching import show_source
from course_lib.teaching.source import source_of


# A docstring may have other quotes, too.
# fmt: off
def sample(number):
    """Say what it does.

    And, at length, how.
    """

    def inner():
        '''Do something else.

        Also at length.
        '''
        return '"""not a docstring\n\n"""'

    return number, inner()
# fmt: on


def without_docstring():
    return 1


@pytest.fixture
def shown(monkeypatch):
    pieces = []
    monkeypatch.setattr("course_lib.teaching.source.display", lambda markdown: pieces.append(markdown.data))
    return pieces


def test_docstrings_keep_their_first_paragraph_and_the_code_all_of_its():
    lines = source_of(sample).splitlines()
    assert lines[0] == "def sample(number):"
    assert lines[1] == '    """Say what it does."""'
    assert "Also at length" not in source_of(sample)
    assert "not a docstring" in source_of(sample)
    assert lines[-1] == "    return number, inner()"


@pytest.mark.parametrize("thing", [count_windows, BatchOrder, SlidingWindowDataset, BatchOrder.set_epoch, sample])
def test_what_is_shown_is_the_code_without_the_rest_of_its_docstrings(thing):
    class Shorten(ast.NodeTransformer):
        def generic_visit(self, node):
            super().generic_visit(node)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                first = ast.get_docstring(node).splitlines()[0]
                node.body[0] = ast.Expr(ast.Constant(first))
            return node

    shown = ast.parse(source_of(thing))
    whole = ast.parse(source_of(thing, full=True))
    assert ast.dump(Shorten().visit(shown)) == ast.dump(Shorten().visit(whole))


def test_in_full_it_is_the_source_itself():
    assert source_of(count_windows, full=True) == inspect.getsource(count_windows).rstrip()
    assert "Args:" in source_of(count_windows, full=True)
    assert "Args:" not in source_of(count_windows)


def test_methods_are_not_indented():
    assert source_of(BatchOrder.set_epoch).startswith("def set_epoch(")


def test_code_without_docstrings_is_left_alone():
    assert source_of(without_docstring) == "def without_docstring():\n    return 1"


def test_it_tells_the_file_and_shows_one_block_for_each_thing(shown):
    show_source(count_windows, BatchOrder.set_epoch)
    assert len(shown) == 2
    assert shown[0] == f"`course_lib/sliding_windows.py`\n\n```python\n{source_of(count_windows)}\n```"
    show_source(count_windows, full=True)
    assert shown[2].endswith(f"{source_of(count_windows, full=True)}\n```")


@pytest.mark.parametrize(("thing", "name"), [("count_windows", "str"), (sliding_windows, "module"), (5, "int")])
def test_only_functions_and_classes_have_a_source_to_show(thing, name):
    with pytest.raises(TypeError, match=f"^things must be functions or classes, got {name}$"):
        show_source(thing)
