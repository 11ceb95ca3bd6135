"""What a page asks by itself, from the notebook as it is committed: prompts, and
questions with two answers. Without a script each is an answer to unfold, and with it a
box or buttons: static/asking.js."""

import html
import json
import re
import zlib
from collections.abc import Iterator

from nbformat import NotebookNode

from course_lib.classroom.rendering import TAG
from course_lib.teaching.checker import Question
from course_lib.teaching.guesses.answers import Answer, written
from course_lib.teaching.guesses.prompts import Prompt
from course_lib.teaching.lessons import Lesson, exercise_of, items_of

FOLDED = re.compile(
    r"<div[^>]*>(?P<question>.*?)"
    r"(?P<details><details>.*<strong>(?P<answer>.*)</strong></p></details>)</div>",
    re.DOTALL,
)
CHOICE = re.compile(r'"(.*?)"(?:, |(?=: \.guess\())')
EXAMPLE = re.compile(r"\.guess\((.*)\)$")
WITHIN = re.compile(r"\bwithin=([\d.]+)")


def read_prompt(data: dict[str, str], source: str) -> Prompt | None:
    """Read a prompt from what a cell shows, its answer as far as that tells it, and
    from the cell's source; None if the cell shows something else."""
    folded = FOLDED.fullmatch(data.get("text/html", ""))
    question, _, how = data.get("text/plain", "").rpartition("\n")
    example = EXAMPLE.search(how)
    if not (folded and example):
        return None
    shown = html.unescape(TAG.sub("", folded["answer"]))
    if choices := CHOICE.findall(how):
        return Prompt(question, shown, tuple(choices), None)
    within = WITHIN.search(source)
    answer = _read(shown, example[1])
    return Prompt(question, answer, None, float(within[1]) if within else None)


def _read(shown: str, example: str) -> Answer:
    """Read an answer as it is written; `example` is a guess of the same kind."""
    if example.startswith("("):
        parts = shown.split("; " if ";" in shown else ", ")
        return tuple(map(_read, parts, example[1:-1].split(", ")))
    if example == "True":
        return shown == "yes"
    kind = {"7": int, "0.5": float}.get(example)
    return kind(shown.replace(",", "")) if kind else shown


def prompts_of(cell: NotebookNode) -> Iterator[tuple[NotebookNode, Prompt]]:
    """Yield the prompts that a cell shows, each with the data of its output."""
    for output in cell.get("outputs", ()):
        if prompt := read_prompt(output.get("data", {}), cell.source):
            yield output.data, prompt


def item_of(lesson: Lesson, cell: NotebookNode) -> object | None:
    """What a cell asks a reader to solve or to judge, if anything."""
    name = exercise_of(cell)
    return items_of(lesson.name)[name] if name else None


def ids_on(lesson: Lesson) -> tuple[list[str], list[str]]:
    """Under which ids a reader's guesses and verdicts of a lesson are kept."""
    cells = lesson.notebook.cells
    guesses = [_id(lesson, prompt) for cell in cells for _, prompt in prompts_of(cell)]
    items = [item_of(lesson, cell) for cell in cells]
    return guesses, [_id(lesson, item) for item in items if isinstance(item, Question)]


def _id(lesson: Lesson, item: Prompt | Question) -> str:
    """Another question, or another answer to it, is another id."""
    if isinstance(item, Question):
        return f"{lesson.name}-{item.name}"
    text = f"{item.question} {item.answer}"
    return f"{lesson.name}-{zlib.crc32(text.encode()):08x}"


def prompt_as_html(lesson: Lesson, data: dict[str, str], prompt: Prompt) -> str:
    folded = FOLDED.fullmatch(data["text/html"])
    block = f'<div class="question">{folded["question"]}</div>{folded["details"]}'
    return f"{_opening(_id(lesson, prompt), **asked_by(prompt))}{block}</div>"


def asked_by(prompt: Prompt) -> dict[str, object]:
    """What static/judging.js knows of a prompt."""
    answer = prompt.answer
    if prompt.choices:
        answer = written(answer)
    elif not isinstance(answer, str | tuple):
        answer = (answer,)
    floats = [isinstance(part, float) for part in answer]
    return {
        "question": prompt.question,
        "answer": answer,
        "floats": floats,
        "shown": written(prompt.answer),
        "within": prompt.within,
        "choices": prompt.labels,
        "wanted": prompt.wanted,
    }


def verdict_as_markdown(lesson: Lesson, question: Question) -> str:
    """A question with two answers: the verdict, with evidence and reason, folded."""
    told = question.judge(question.truth).message.removeprefix("**Passed.** ")
    one, other = question.verdicts
    asked = {
        "question": f"{one} or {other}?",
        "answer": question.truth,
        "choices": question.verdicts,
        "verdict": True,
    }
    summary = "<details><summary>Decide, then unfold the verdict</summary>"
    opening = _opening(_id(lesson, question), **asked)
    return f"{opening}{summary}\n\n{told}\n\n</details></div>"


def _opening(name: str, **asked: object) -> str:
    data = html.escape(json.dumps({"id": name, **asked}, ensure_ascii=False))
    return f'<div class="asked" data-asked="{data}">'
