"""What a page asks by itself, from the notebook as it is committed: prompts, and
questions with two answers. Without a script each is an answer to unfold, and with it a
box or buttons: static/asking.js."""

import html
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from course_lib.teaching.checker import Question
from course_lib.teaching.checker.messages import to_html
from course_lib.teaching.guesses.answers import Answer, written
from course_lib.teaching.guesses.prompts import MIME_TYPE, Prompt
from course_lib.teaching.guesses.reading import WORDS
from course_lib.teaching.lessons import Lesson, exercise_of, items_of


def prompts_of(cell: NotebookNode) -> Iterator[Prompt]:
    """Return the prompts that a cell shows."""
    return filter(None, map(prompt_in, cell.get("outputs", ())))


def prompt_in(output: NotebookNode) -> Prompt | None:
    """Return the prompt that an output shows, if it shows one."""
    data = output.get("data", {}).get(MIME_TYPE)
    return Prompt.from_data(data) if data else None


def item_of(lesson: Lesson, cell: NotebookNode) -> object | None:
    """What a cell asks a reader to solve or to judge, if anything."""
    name = exercise_of(cell)
    return items_of(lesson.name)[name] if name else None


def ids_on(lesson: Lesson) -> tuple[list[str], list[str]]:
    """Under which ids a reader's guesses and verdicts of a lesson are kept."""
    cells = lesson.notebook.cells
    guesses = [_id(lesson, prompt) for cell in cells for prompt in prompts_of(cell)]
    items = [item_of(lesson, cell) for cell in cells]
    return guesses, [_id(lesson, item) for item in items if isinstance(item, Question)]


def _id(lesson: Lesson, item: Prompt | Question) -> str:
    """Another question, or another answer to it, is another id."""
    if isinstance(item, Question):
        return f"{lesson.name}-{item.name}"
    text = f"{item.question} {item.answer}"
    return f"{lesson.name}-{zlib.crc32(text.encode()):08x}"


def prompt_as_html(lesson: Lesson, prompt: Prompt) -> str:
    question = to_html(prompt.question).strip()
    block = f'<div class="question">{question}</div>{prompt.folded_answer}'
    return f"{_opening(_id(lesson, prompt), **asked_by(prompt))}{block}</div>"


def asked_by(prompt: Prompt) -> dict[str, object]:
    """What static/judging.js knows of a prompt."""

    def parts(answer: Answer) -> str | tuple:
        if prompt.choices:
            return written(answer)
        return answer if isinstance(answer, str | tuple) else (answer,)

    answer = parts(prompt.answer)
    floats = [isinstance(part, float) for part in answer]
    return {
        "question": prompt.question,
        "answer": answer,
        "floats": floats,
        "shown": written(prompt.answer),
        "within": prompt.within,
        "note": prompt.allowance,
        "choices": prompt.labels,
        "wanted": prompt.wanted,
        "because": [[parts(wrong), why] for wrong, why in prompt.because],
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


def write_guess_words(path: Path) -> None:
    """Write what words mean in a guess, for static/judging.js."""
    data = json.dumps(WORDS, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"const GUESS_WORDS = {data};\n", encoding="utf-8")
