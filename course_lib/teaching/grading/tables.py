"""The table of a class: its rows, the file for a spreadsheet, and the summary."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.grading.handed_in import lessons

MISSING, UNREADABLE = "missing", "unreadable"

LONGEST_DIAGNOSIS = 300
FREQUENT = 10  # diagnoses in the summary
# Those that embed, override and isolate directions.
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
STARTS_A_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠|%]")


@dataclass(frozen=True)
class Row:
    """How one exercise of one notebook went."""

    file: str
    lesson: str
    exercise: str
    score: float
    outcome: str
    diagnosis: str = ""


def short(text: str) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= LONGEST_DIAGNOSIS else f"{text[:LONGEST_DIAGNOSIS]} …"


def printable(text: str) -> str:
    """Text in any script without what commands a terminal or turns its direction."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in TURNS
        else character
        for character in text
    )


def write_csv(path: Path, rows: list[Row]) -> None:
    """Write a table that spreadsheets show as it is: with the mark by which they know
    UTF-8, and an apostrophe before what they would take for a formula."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(each.name for each in fields(Row))
        for row in rows:
            values = asdict(row).values()
            writer.writerow([_harmless(v) if isinstance(v, str) else v for v in values])


def _harmless(text: str) -> str:
    return f"'{text}" if STARTS_A_FORMULA.match(text) else text


def summary(rows: list[Row]) -> str:
    """How each exercise went, and the most frequent diagnoses, as Markdown."""
    files: dict[str, set[str]] = {}
    for row in rows:
        if row.lesson:
            files.setdefault(row.lesson, set()).add(row.file)
    parts = []
    for lesson in lessons():
        if lesson.name in files:
            own = [row for row in rows if row.lesson == lesson.name]
            count = len(files[lesson.name])
            parts.append(_summary_of(f"{lesson.number}. {lesson.title}", own, count))
    unreadable = [row for row in rows if row.outcome == UNREADABLE]
    if unreadable:
        lines = [f"- {row.file}: {row.diagnosis}" for row in unreadable]
        parts.append("\n".join(["## Unreadable", "", *lines]))
    return "\n\n".join(parts)


def _summary_of(title: str, rows: list[Row], count: int) -> str:
    notebooks = "1 notebook" if count == 1 else f"{count} notebooks"
    outcomes = [PASSED, FAILED, RAISED, NOT_ATTEMPTED, MISSING]
    width = max(len(row.exercise) for row in rows)
    lines = [f"## {title}: {notebooks}", ""]
    lines += [f"| {'exercise':<{width}} | {' | '.join(outcomes)} |"]
    lines += [
        f"|{'-' * (width + 2)}|{'|'.join('-' * len(o) + '-:' for o in outcomes)}|"
    ]
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
    return "\n".join(lines)
