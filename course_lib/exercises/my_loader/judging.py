"""Audit the reader's file where it can do no harm, and say what is wrong."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import linecache
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from IPython.display import Markdown, display

from course_lib.auditing_loaders import FINDINGS, Finding, LoaderError, audit_loader
from course_lib.exercises.my_loader.files import (
    LESSONS,
    SOLUTION,
    WHOLE,
    path,
    text_at,
    text_before,
)
from course_lib.exercises.my_loader.levels import LEVELS
from course_lib.exercises.my_loader.questions import Tried
from course_lib.foundation import check_choice, check_integer
from course_lib.teaching.checker import messages
from course_lib.teaching.checker.messages import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Judgment,
    Score,
)
from course_lib.teaching.checker.processes import Limits, Stopped, Watch
from course_lib.teaching.checker.running import EXTRA_BYTES, IDLE_SECONDS, limited
from course_lib.teaching.checker.sources import is_stub

LIMITS = Limits(10, 60, IDLE_SECONDS, EXTRA_BYTES, before=20)
OURS = re.compile(r"^\s*(?:from|import) +(course_lib[\w.]*)", flags=re.MULTILINE)
STOPPED = {
    "endless": "it computed for more than {seconds} seconds, and was stopped. Does "
    "each loop get closer to its end in every round?",
    "memory": "it took all the memory it could get, and was stopped.",
    "waits": "it waits for something that does not come, and was stopped.",
}


def check(level: int) -> Score:
    """Return 1.0 if `my_loader.py` has what the lesson of this number adds, else 0.0.

    Level 14 checks what all lessons add.
    """
    # It belongs to no lesson alone, so no lesson's scores count it.
    return messages.report(SimpleNamespace(reference=check), judge(level))


def hint(level: int | None = None, number: int = 1) -> None:
    """Display a hint to what a lesson adds: its number comes first."""
    if level is None:
        lessons = ", ".join(map(str, LESSONS))
        asked = "Of which lesson? `my_loader.hint(2)` is for lesson 2."
        display(Markdown(f"{asked} There are hints for lessons {lessons}."))
        return
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
    for name in OURS.findall(text):  # once, and not again in the process of each check
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    levels = LESSONS if level == WHOLE else (level,)
    found = limited(partial(_judge, file, levels), LIMITS)
    if not isinstance(found, Stopped):
        return found
    when = "At its import"
    if found.call >= 0:
        when = f"When it was audited at level {levels[found.call]}"
    words = STOPPED.get(found.reason, f"it ended its process: {found.reason}.")
    said = f"{when}, {words.format(seconds=LIMITS.one_call)}"
    return Judgment(RAISED, 0.0, f"**Raised.** {said}", said)


def _not_attempted(file: Path) -> Judgment:
    todo = f"`{file.name}` is still as `start` wrote it. Open it, and add what is new."
    return Judgment(NOT_ATTEMPTED, 0.0, f"**Not attempted.** {todo}")


def _judge(file: Path, levels: Sequence[int], watch: Watch) -> Judgment:
    """Load the file and audit it, in whatever process this is."""
    silence = io.StringIO()
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
        watch.begin(-1)
        try:
            make_loader = load(file)
        except (Exception, SystemExit) as error:
            return _raised(f"`{file.name}` cannot be imported.", error, file)
        watch.end()
        if is_stub(make_loader):
            return _not_attempted(file)
        judgments = {}
        for number, level in enumerate(levels):
            watch.begin(number)
            judgments[level] = _judge_level(make_loader, level, file)
            watch.end()
    return judgments[levels[0]] if len(levels) == 1 else _together(judgments)


def load(file: Path | None = None) -> Callable:
    """Import a file as it is now, and return its `make_loader`.

    By default it is the reader's file, or our solution if there is none, or nothing in
    it yet.
    """
    if file is None and path().is_file() and not is_stub(own := load(path())):
        return own
    file = file or SOLUTION
    spec = importlib.util.spec_from_file_location("my_loader", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_loader"] = module  # where pickle finds its classes
    linecache.checkcache(str(file))
    source = file.read_text(encoding="utf-8")
    exec(compile(source, str(file), "exec"), vars(module))  # never an old .pyc
    return module.make_loader


def _judge_level(make_loader: Callable, number: int, file: Path) -> Judgment:
    level, first, found, lines = LEVELS[number], None, [], []
    title = f"level {number}, *{level.title}*"
    given = ""
    try:
        for give, settings in level.audits:
            given = give.__doc__ + _on_ranks(settings.get("world_size", 1))
            audit = audit_loader(give(make_loader), progress=False, **settings)
            by_design = level.by_design if first is None else ()
            first = first or audit
            if findings := [x for x in audit.findings if x.name not in by_design]:
                found += map(_in_words, findings)
                lines += [f"Given {given}:", *map(_item, found[-len(findings) :])]
        for ask in level.asks:
            if not found and (complaint := ask(Tried(make_loader, first))):
                found.append(complaint)
                lines.append(_item(complaint))
    except LoaderError as error:
        return _raised(
            f"At {title}, `make_loader` raises an error, given {given}.",
            error.__cause__ or error,
            file,
        )
    except (Exception, SystemExit) as error:
        return _raised(
            f"At {title}, your loader cannot be audited, given {given}.", error, file
        )
    if not found:
        message = f"**Passed.** The audit finds nothing at {title}."
        return Judgment(PASSED, 1.0, message)
    told = "\n".join(lines)
    message = (
        f"**Failed** at {title}. The audit says:\n\n```text\n{told}\n```\n\n"
        f"`my_loader.hint({number})` may help."
    )
    return Judgment(FAILED, 0.0, message, "\n".join(found))


def _on_ranks(world_size: int) -> str:
    return f", on {world_size} ranks" if world_size > 1 else ""


def _in_words(finding: Finding) -> str:
    times = "once" if finding.count == 1 else f"{finding.count:,} times"
    return f"{finding.name}, {times} ({FINDINGS[finding.name]}): {finding.evidence}"


def _item(text: str) -> str:
    return textwrap.fill(text, 84, initial_indent="- ", subsequent_indent="  ")


def _raised(words: str, error: BaseException, file: Path) -> Judgment:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(file)]
    line = f"\nat line {own[-1].lineno}: {own[-1].line}" if own else ""
    if isinstance(error, SyntaxError):
        line = f"\nat line {error.lineno}: {(error.text or '').strip()}"
    said = f"{type(error).__name__}: {error}"
    message = f"**Raised.** {words}\n\n```text\n{said[:1000]}{line}\n```"
    return Judgment(RAISED, 0.0, message, said)


def _together(judgments: dict[int, Judgment]) -> Judgment:
    passed = all(one.outcome == PASSED for one in judgments.values())
    lines = []
    for number, one in judgments.items():
        title = f"level {number}, {LEVELS[number].title}"
        lines.append(f"{messages.SIGNS[one.outcome]} {title}")
        lines += map(_item, (one.diagnosis or "").splitlines())
    told = "\n".join(lines)
    words = "**Passed** at all levels." if passed else "**Failed** at some levels."
    message = f"{words} The audits of your loader:\n\n```text\n{told}\n```"
    if passed:
        return Judgment(PASSED, 1.0, message)
    diagnosis = " ".join(one.diagnosis for one in judgments.values() if one.diagnosis)
    return Judgment(FAILED, 0.0, message, diagnosis)
