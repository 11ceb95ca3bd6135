"""The source that notebooks show is the source that they import."""

import ast
import functools
import inspect

import numpy as np
import pytest

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
def without_docstring():
    return 1


@pytest.fixture
def shown(monkeypatch):
    pieces = []
    monkeypatch.setattr("course_lib.teaching.source.display", lambda bundle, raw: pieces.append(bundle))
    return pieces


@pytest.mark.parametrize("thing", [count_windows, BatchOrder, SlidingWindowDataset.cut, sample, without_docstring])
def test_what_is_shown_is_the_code_without_the_rest_of_its_docstrings(thing, monkeypatch):
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


def test_it_tells_the_file_and_shows_one_block_for_each_thing(shown):
    show_source(count_windows, BatchOrder.set_epoch)
    assert len(shown) == 2
    assert shown[0]["text/plain"] == f"course_lib/sliding_windows/__init__.py\n\n{source_of(count_windows)}"
    markdown = shown[0]["text/markdown"]
    assert markdown.startswith("`course_lib/sliding_windows/__init__.py`\n\n<div")
    assert f"\n\n```python\n{source_of(count_windows)}\n```\n\n" in markdown
    show_source(count_windows, full=True)
    assert shown[2]["text/plain"].endswith(source_of(count_windows, full=True))


def test_a_block_is_folded_if_it_is_long_or_if_asked(shown):
    show_source(sample, folded=True)
    assert shown[0]["text/markdown"].startswith("<details><summary><code>")
    assert "def sample(number)" in shown[0]["text/markdown"].split("</summary>")[0]


@pytest.mark.parametrize("thing", ["count_windows", functools, None, 5])
def test_only_functions_and_classes_have_a_source_to_show(thing):
    with pytest.raises(TypeError, match=rf"^things must be functions or classes, got {type(thing).__name__}"):
        show_source(thing)


@pytest.mark.parametrize("thing", [len, int, np.add, functools.partial(sample, 1), functools.partial.__call__])
def test_what_is_not_written_in_python_is_told(thing):
    with pytest.raises(TypeError, match=r"^things must be .*got"):
        show_source(thing)


def test_a_cached_function_shows_what_is_cached():
    assert source_of(functools.lru_cache(sample)) == source_of(sample)
