"""Hostile calls of what reads the notebooks as data."""

import nbformat

CALLS = {
    "len(find_lessons([])) == len(find_lessons())": True,
    "[lesson.number for lesson in find_lessons(['02', '2', 'sliding_windows'])]": [2],
    "find_lessons(['0'])": ValueError("there is no lesson '0'; there are 1 next_token_shifting"),
    "find_lessons([''])": ValueError("there is no lesson ''"),
    "find_lessons([2])": ValueError("there is no lesson 2"),
    "exercise_of(nbformat.v4.new_code_cell('exercises.x.check(1)'))": None,
    "exercise_of(nbformat.v4.new_markdown_cell('exercises.x.check(1)', metadata={'tags': ['exercise']}))": "x",
    "exercise_of(nbformat.v4.new_code_cell('1', metadata={'tags': ['exercise']}))": None,
    "'rank_share' in items_of('sliding_windows')": True,
    "items_of('99')": ValueError("lesson must be one of 'next_token_shifting', "),
    "points_for(items_of('sliding_windows')['rank_share']) > 0": True,
    "points_for(None)": TypeError("item must be an exercise, got NoneType"),
    "notebooks_folder().name": "notebooks",
    "Lesson(notebooks_folder() / '99_none.ipynb').number": 99,
    "Lesson(notebooks_folder() / '99_none.ipynb').title": FileNotFoundError("No such file"),
}
