"""Audit the reader's file where it can do no harm, and say what is wrong."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import textwrap
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from IPython.display import Markdown, display

from course_lib.auditing_loaders import LoaderError
from course_lib.auditing_loaders.loader_files import import_file
from course_lib.exercises.my_loader.files import (
    LESSONS,
    SOLUTION,
    WHOLE,
    path,
    text_at,
    text_before,
)
from course_lib.exercises.my_loader.levels import (
    LEVELS,
    SHUFFLED,
    Complaints,
    epoch_depends_on_history,
)
from course_lib.foundation import check_choice, check_integer
from course_lib.teaching.checker import guard, messages
from course_lib.teaching.checker.exercises import is_stub
from course_lib.teaching.checker.guard import Begin, Stopped
from course_lib.teaching.checker.messages import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Judgment,
    Score,
)

OURS = re.compile(r"^\s*(?:from|import) +(course_lib[\w.]*)", flags=re.MULTILINE)
IMPORT_SECONDS, LEVEL_SECONDS = 20, 10  # of computing


def check(level: int) -> Score:
    """Return 1.0 if `my_loader.py` has what the lesson of this number adds, else 0.0.

    Level 14 checks what all lessons add.
    """
    # It belongs to no lesson alone, so no lesson's scores count it.
    return messages.report(SimpleNamespace(name="my_loader"), judge(level))


def hint(level: int, number: int = 1) -> None:
    """Display a hint to what a lesson adds: its number comes first."""
    hints = LEVELS[check_choice("level", level, LESSONS)].hints
    number = check_integer("number", number, minimum=1, maximum=len(hints))
    display(Markdown(f"**Hint {number} of {len(hints)}.** {hints[number - 1]}"))


def solution(level: int) -> None:
    """Display our file as it is after a lesson."""
    display(Markdown(f"```python\n{text_at(level)}```"))


def judge(level: int) -> Judgment:
    """Audit the reader's file, without displaying anything."""
    check_choice("level", level, (*LESSONS, WHOLE))
    file = path()
    if not file.is_file():
        todo = f"`my_loader.start({level})` writes `{file.name}`, which is then yours."
        return Judgment(NOT_ATTEMPTED, 0.0, f"**Not attempted.** {todo}")
    text = file.read_text(encoding="utf-8", errors="replace")
    if level != WHOLE and text == text_before(level):
        return _not_attempted(file)
    for name in OURS.findall(text):  # once, and not again in each process
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if problem := _guarded("When imported", IMPORT_SECONDS, partial(_import, file)):
        return problem
    judgments = {
        number: _guarded(
            f"At level {number}", LEVEL_SECONDS, partial(_judge_level, file, number)
        )
        for number in (LESSONS if level == WHOLE else (level,))
    }
    return _together(judgments) if level == WHOLE else judgments[level]


def _not_attempted(file: Path) -> Judgment:
    todo = f"`{file.name}` is still as `start` wrote it. Open it, and add what is new."
    return Judgment(NOT_ATTEMPTED, 0.0, f"**Not attempted.** {todo}")


def _guarded(
    when: str, seconds: float, work: Callable[[], Judgment | None]
) -> Judgment | None:
    """Return what `work` does, in a process of its own, or why it was stopped."""

    def quietly(begin: Begin) -> Judgment | None:
        begin(0, seconds)
        silence = io.StringIO()  # needed where there are no forks
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            return work()

    found = guard.guarded(quietly)
    if not isinstance(found, Stopped):
        return found
    said = f"{when}, your loader {found.reason}"
    return Judgment(RAISED, 0.0, f"**Raised.** {said}", said)


def load(file: Path | None = None) -> Callable:
    """Import a file as it is now, and return its `make_loader`.

    By default it is the reader's file, or our solution if there is none, or nothing in
    it yet.
    """
    if file is None and path().is_file() and not is_stub(own := load(path())):
        return own
    file = file or SOLUTION
    return import_file(file, "my_loader").make_loader


def _import(file: Path) -> Judgment | None:
    """Say why a file cannot be audited at all, if it cannot."""
    try:
        return _not_attempted(file) if is_stub(load(file)) else None
    except (Exception, SystemExit) as error:
        return _raised(f"`{file.name}` cannot be imported.", error, file)


def _judge_level(file: Path, number: int) -> Judgment:
    title = f"level {number}, *{LEVELS[number].title}*"
    try:
        complaint, found = _first(_complaints(file, number))
    except (Exception, SystemExit) as error:
        given = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
        words = f"At {title}, your loader cannot be audited{given}."
        cause = error.__cause__ if isinstance(error, LoaderError) else None
        return _raised(words, cause or error, file)
    if complaint is None:
        message = f"**Passed.** The audit finds nothing wrong at {title}. {found}"
        return Judgment(PASSED, 1.0, message.strip())
    message = (
        f"**Failed** at {title}. The audit says:\n\n```text\n{_wrapped(complaint)}\n```"
        f"\n\n`my_loader.hint({number})` may help."
    )
    return Judgment(FAILED, 0.0, message, complaint)


def _complaints(file: Path, number: int) -> Complaints:
    make_loader = load(file)
    found = yield from LEVELS[number].complaints(make_loader)
    if number >= SHUFFLED:
        yield from epoch_depends_on_history(make_loader, load(file), number)
    return found


def _first(complaints: Complaints) -> tuple[str | None, str]:
    """Return the first complaint, or None and what is said if there is none."""
    try:
        return next(complaints), ""
    except StopIteration as end:
        return None, end.value or ""


def _wrapped(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, 84, initial_indent="- ", subsequent_indent="  ")
        for line in text.splitlines()
    )


def _raised(words: str, error: BaseException, file: Path) -> Judgment:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)]
    line = f"\nat line {own[-1].lineno}: {own[-1].line}" if own else ""
    said = f"{type(error).__name__}: {error}"
    message = f"**Raised.** {words}\n\n```text\n{said[:1000]}{line}\n```"
    return Judgment(RAISED, 0.0, message, said)


def _together(judgments: dict[int, Judgment]) -> Judgment:
    lines = []
    for number, one in judgments.items():
        lines.append(
            f"{messages.SIGNS[one.outcome]} level {number}, {LEVELS[number].title}"
        )
        if one.diagnosis:
            lines.append(_wrapped(one.diagnosis))
    told = "\n".join(lines)
    message = f"The audits of your loader:\n\n```text\n{told}\n```"
    if all(one.outcome == PASSED for one in judgments.values()):
        return Judgment(PASSED, 1.0, f"**Passed** at all levels. {message}")
    diagnosis = "\n".join(one.diagnosis for one in judgments.values() if one.diagnosis)
    return Judgment(FAILED, 0.0, f"**Failed** at some levels. {message}", diagnosis)
