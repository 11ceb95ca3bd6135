"""Make an assignment from a lesson: its questions and exercises, as cells for nbgrader.

Each exercise becomes two cells: the first has the solution between marks, the second is
locked and has the check, whose last value is the points.
"""

import ast
import copy
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterable

from nbformat import NotebookNode, v4

from course_lib.teaching.checker import Exercise, Question
from course_lib.teaching.checker.exercises import names_from_elsewhere
from course_lib.teaching.lessons import Lesson, exercise_of, items_of, points_for

Item = Exercise | Question
BASIC = {*sys.stdlib_module_names, "numpy", "torch"}  # imported in any case
HIDDEN_SEEDS = 1_000  # hidden tests add this to the seed of the visible ones

# Links to files that are not beside an assignment, such as other lessons.
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]+\)")
FIRST_SECTION = re.compile(r"^## [^\n]*Bug or not", flags=re.MULTILINE)
NEXT_SECTION = re.compile(r"^## [^\n]*Recap", flags=re.MULTILINE)


def build_assignment(lesson: Lesson, *, seed: int = 0) -> NotebookNode:
    """Return a lesson's assignment with its solutions: its tasks, and the imports that
    they need. The seed draws hidden calls."""
    items = items_of(lesson.name)
    cells = copy.deepcopy(lesson.notebook.cells)
    # The cell that installs the course on a borrowed machine is left out.
    cells = [cell for cell in cells if "install" not in cell.metadata.get("tags", [])]
    before, asked = _parts(cells)
    graded = []
    for cell in asked:
        if name := exercise_of(cell):
            graded += _answer(items[name]), _check(items[name], seed)
        else:
            graded.append(cell)
    names = {exercise_of(cell) for cell in asked} - {None}
    preface = _preface(lesson, points_of(graded))
    return _notebook(lesson, [preface, _imports(lesson, before, asked, names), *graded])


def points_of(cells: Iterable[NotebookNode]) -> int:
    return sum(cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells)


def _parts(cells: list[NotebookNode]) -> tuple[list[NotebookNode], ...]:
    """Return the cells before the questions, and the questions and exercises."""
    first = _find(cells, FIRST_SECTION)
    before, begin = cells[:first], cells[first]
    # The last words on a figure may be in the same cell as the next heading.
    at = FIRST_SECTION.search(begin.source).start()
    if words := begin.source[:at].strip():
        before = [*before, v4.new_markdown_cell(words)]
        begin.source = begin.source[at:]
    return before, cells[first : _find(cells, NEXT_SECTION)]


def _find(cells: list[NotebookNode], heading: re.Pattern) -> int:
    found = (c.cell_type == "markdown" and heading.search(c.source) for c in cells)
    return next(i for i, match in enumerate(found) if match)


def _preface(lesson: Lesson, points: int) -> NotebookNode:
    return v4.new_markdown_cell(
        f"# {lesson.number}. {lesson.title}: exercises\n\n"
        "Hand in this notebook when you have finished. It needs the package of the "
        "course, `course_lib`. In a copy of the course's repository, "
        '`pip install --editable ".[course]"` installs it, and `python -m course_lib '
        "check` says whether everything works.\n\n"
        "Write your answers in place of `...`, and run the cell below each of them. "
        "The cell says what is wrong, if anything, and how many of the "
        f"{points} points the answer gets. `exercises.NAME.hint()` gives a hint. "
        "Where the text mentions a section, it means a section of the lesson, "
        f"`{lesson.path.name}`. "
        "Some answers are tried on further calls when they are graded."
    )


def _answer(item: Item) -> NotebookNode:
    indent, solution = "", item.solution_source
    if isinstance(item, Exercise):
        indent = " " * 4
        docstring = ast.parse(solution).body[0].body[0]
        solution = "\n".join(solution.splitlines()[docstring.end_lineno :])
    marked = f"{indent}### BEGIN SOLUTION\n{solution}\n{indent}### END SOLUTION"
    return _graded(f"{item.stub}\n{marked}", item.name, solution=True)


def _check(item: Item, seed: int) -> NotebookNode:
    points = points_for(item)
    call = f"exercises.{item.name}.check({item.name}"
    if isinstance(item, Exercise) and _draws(item, HIDDEN_SEEDS + seed):
        source = (
            f"score = {call})\n"
            "### BEGIN HIDDEN TESTS\n"
            f"score = score and {call}, seed={HIDDEN_SEEDS + seed})\n"
            "### END HIDDEN TESTS\n"
            f"{points} * score"
        )
    else:
        source = f"{call})" if points == 1 else f"{points} * {call})"
    return _graded(source, f"{item.name}-check", points=points)


def _draws(item: Exercise, seed: int) -> bool:
    """Say whether another seed gives other calls. Many exercises try all small ones."""
    return repr(item.cases) != repr(item.drawn_from(seed).cases)


def _graded(
    source: str, grade_id: str, *, points: int | None = None, solution: bool = False
) -> NotebookNode:
    """Make a cell that nbgrader knows by its id, locked unless it is for a solution."""
    marks = {"schema_version": 3, "grade_id": grade_id, "grade": points is not None}
    marks |= {"locked": not solution, "solution": solution, "task": False}
    if points is not None:
        marks["points"] = points
    return v4.new_code_cell(source, metadata={"nbgrader": marks})


def _imports(
    lesson: Lesson,
    before: list[NotebookNode],
    asked: list[NotebookNode],
    names: set[str],
) -> NotebookNode:
    """Make a cell with the imports that the lesson has before its exercises: all of
    `BASIC` modules, and of others the names that tasks or their solutions mention."""
    items = items_of(lesson.name)
    wanted = set(re.findall(r"\w+", "\n".join(cell.source for cell in asked)))
    for name in names:
        if isinstance(items[name], Exercise):
            wanted.update(names_from_elsewhere(items[name].reference))
    modules: set[str] = set()
    taken: dict[str, set[str]] = defaultdict(set)
    for statement in _top_level(before):
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        for alias in statement.names:
            name = alias.asname or alias.name
            origin = getattr(statement, "module", None) or alias.name
            is_basic = origin.split(".")[0] in BASIC
            if name in names or not (name in wanted or is_basic):
                continue
            if isinstance(statement, ast.Import):
                modules.add(f"import {ast.unparse(alias)}")
            else:
                taken[statement.module].add(ast.unparse(alias))
    lines = sorted(modules)
    for module, found in sorted(taken.items()):
        line = f"from {module} import {', '.join(sorted(found))}"
        each = "".join(f"    {name},\n" for name in sorted(found))
        lines.append(line if len(line) <= 88 else f"from {module} import (\n{each})")
    lines.append(f"from course_lib.exercises import {lesson.name} as exercises")
    return _graded("\n".join(lines), "imports")


def _top_level(cells: list[NotebookNode]) -> Iterable[ast.stmt]:
    for cell in cells:
        if cell.cell_type == "code":
            yield from ast.parse(cell.source).body


def _notebook(lesson: Lesson, cells: Iterable[NotebookNode]) -> NotebookNode:
    """Make a notebook of cells, without outputs, dead links and other marks."""
    made = []
    for number, cell in enumerate(cells):
        marks = {k: v for k, v in cell.metadata.items() if k == "nbgrader"}
        key = hashlib.sha256(f"{lesson.name} {number} {cell.source}".encode())
        code = cell.cell_type == "code"
        kind = v4.new_code_cell if code else v4.new_markdown_cell
        source = cell.source if code else LINK.sub(r"\1", cell.source)
        made.append(kind(source, metadata=marks, id=key.hexdigest()[:12]))
    metadata = copy.deepcopy(lesson.notebook.metadata)
    return v4.new_notebook(cells=made, metadata=metadata)
