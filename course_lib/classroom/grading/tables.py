"""Write the tables of a class, by exercises and by students, and the summary."""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.lessons import Lesson, find_lessons

MISSING, UNREADABLE = "missing", "unreadable"

LONGEST_DIAGNOSIS = 300
FREQUENT, FREQUENT_ANSWERS = 10, 3  # in the summary: diagnoses; answers, as code
LONGEST_CODE = 40  # lines
COLUMNS = ("file", "lesson", "exercise", "score", "outcome", "diagnosis")
OF_STUDENTS = ("student", "solved", "of", "points", "of points", "files")
# Characters that embed, override and isolate directions of text.
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
STARTS_A_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠|%]")


@cache
def lessons() -> list[Lesson]:
    return find_lessons()


@dataclass(frozen=True)
class Row:
    file: str
    lesson: str
    exercise: str
    score: float
    outcome: str
    diagnosis: str = ""
    worth: int = 0  # points for a right answer
    code: str = ""  # of a function that is wrong


def short(text: str, longest: int = LONGEST_DIAGNOSIS) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= longest else f"{text[:longest]} …"


def printable(text: str) -> str:
    """Escape characters that control a terminal or turn the direction of text."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in TURNS
        else character
        for character in text
    )


def write_tables(path: Path, rows: list[Row]) -> None:
    of_rows = ([getattr(row, name) for name in COLUMNS] for row in rows)
    _write_csv(path, COLUMNS, of_rows)
    _write_csv(of_students(path), OF_STUDENTS, students(rows))


def of_students(path: Path) -> Path:
    return path.with_stem(f"{path.stem}-students")


def _write_csv(path: Path, names: tuple, rows: Iterable[Iterable]) -> None:
    """Write a table that spreadsheets show as it is: with their mark of UTF-8, and an
    apostrophe before what they would take for a formula."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            writer.writerow([_harmless(v) if isinstance(v, str) else v for v in row])


def _harmless(text: str) -> str:
    return f"'{text}" if STARTS_A_FORMULA.match(text) else text


def students(rows: list[Row]) -> Iterator[tuple]:
    """Yield what each student has solved, among the exercises of all lessons that
    somebody has handed in. A student is a folder below the given one, or a file in it.
    """
    worth = {(row.lesson, row.exercise): row.worth for row in rows if row.exercise}
    own: dict[str, list[Row]] = {}
    for row in rows:
        path = PurePosixPath(row.file)
        own.setdefault(path.parts[0] if path.parts[1:] else path.stem, []).append(row)
    for student, those in own.items():
        solved = {(row.lesson, row.exercise) for row in those if row.score}
        points = sum(worth[one] for one in solved)
        files = dict.fromkeys(
            f"{row.file} ({UNREADABLE})" if row.outcome == UNREADABLE else row.file
            for row in those
        )
        out_of = len(worth), points, sum(worth.values())
        yield student, len(solved), *out_of, "; ".join(files)


def summary(rows: list[Row]) -> str:
    """Summarize, in Markdown, how each exercise went, and what often went wrong."""
    parts = []
    for lesson in lessons():
        if own := [row for row in rows if row.lesson == lesson.name]:
            parts.append(_summary_of(f"{lesson.number}. {lesson.title}", own))
    if unreadable := [row for row in rows if row.outcome == UNREADABLE]:
        lines = [f"- {row.file}: {row.diagnosis}" for row in unreadable]
        parts.append("\n".join(["## Unreadable", "", *lines]))
    return "\n\n".join(parts)


def _summary_of(title: str, rows: list[Row]) -> str:
    count = len({row.file for row in rows})
    notebooks = "1 notebook" if count == 1 else f"{count} notebooks"
    outcomes = [PASSED, FAILED, RAISED, NOT_ATTEMPTED, MISSING]
    width = max(len(row.exercise) for row in rows)
    rule = "|".join("-" * len(outcome) + "-:" for outcome in outcomes)
    lines = [f"## {title}: {notebooks}", ""]
    lines += [f"| {'exercise':<{width}} | {' | '.join(outcomes)} |"]
    lines += [f"|{'-' * (width + 2)}|{rule}|"]
    for exercise in dict.fromkeys(row.exercise for row in rows):
        tally = Counter(row.outcome for row in rows if row.exercise == exercise)
        cells = " | ".join(f"{tally[outcome]:>{len(outcome)}}" for outcome in outcomes)
        lines.append(f"| {exercise:<{width}} | {cells} |")
    said = Counter((row.exercise, row.diagnosis) for row in rows if row.diagnosis)
    if said:
        lines += ["", "What went wrong most often:", ""]
        lines += [
            f"- {number} of {count}: `{exercise}`: {diagnosis}"
            for (exercise, diagnosis), number in said.most_common(FREQUENT)
        ]
    for exercise in dict.fromkeys(row.exercise for row in rows if row.code):
        codes = Counter(row.code for row in rows if row.exercise == exercise)
        del codes[""]
        lines += ["", f"The most common wrong answers to `{exercise}`:"]
        for code, number in codes.most_common(FREQUENT_ANSWERS):
            shown = code.splitlines()[:LONGEST_CODE]
            lines += ["", f"{number} of {count}:", "", "```python", *shown, "```"]
    return "\n".join(lines)
