"""What `other_seeds.py` varies in a lesson, and that it says so where it would vary nothing."""

import nbformat
import pytest

from other_seeds import NOTEBOOKS, NothingToVary, with_seeds_from

WITHOUT_RUNS = {"07_tokenizer_pipeline", "08_long_documents"}  # what they measure has no seed


def lesson_of(*sources: str) -> nbformat.NotebookNode:
    end = nbformat.v4.new_markdown_cell("## 9. Exercises")
    late = nbformat.v4.new_code_cell("torch.manual_seed(run)")
    return nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, sources), end, late])


def test_the_seed_of_each_run_is_another_one_and_written_out_ones_stay():
    lesson = lesson_of("torch.manual_seed(run)\nloader(base_seed=1000 * run)", "seeds = range(10)\nplay(seed=3)")
    varied = [cell.source for cell in with_seeds_from(lesson, 500).cells]
    assert varied[0] == "torch.manual_seed(500 + run)\nloader(base_seed=500 + 1000 * run)"
    assert varied[1] == "seeds = range(500, 500 + 10)\nplay(seed=3)"
    assert len(varied) == 2


@pytest.mark.parametrize("source", ["seeds = (0, 1, 2)", "seeds = list(range(3))", "torch.manual_seed(0)", "x = 1"])
def test_where_nothing_is_varied_it_says_so(source):
    with pytest.raises(NothingToVary):
        with_seeds_from(lesson_of(source), 500)


def test_seeds_that_would_stay_are_named_even_beside_others():
    with pytest.raises(NothingToVary, match=r"they stay: few_seeds = \(1, 2\)"):
        with_seeds_from(lesson_of("torch.manual_seed(run)", "few_seeds = (1, 2)"), 500)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_lesson_with_runs_is_varied(path):
    lesson = nbformat.read(path, as_version=4)
    if path.stem in WITHOUT_RUNS:
        with pytest.raises(NothingToVary):
            with_seeds_from(lesson, 500)
    else:
        with_seeds_from(lesson, 500)
