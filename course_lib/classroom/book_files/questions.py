"""The questions whose numbers are drawn, on a lesson's page: the numbers of the first
seeds, as the notebook draws them, and what it says of each answer that it knows. So
static/questions.js only looks up between which bounds an answer lies."""

import html
import json
from collections.abc import Iterator

from course_lib.classroom.rendering import READER, as_html
from course_lib.teaching.checker import NumbersQuestion
from course_lib.teaching.checker.drawn_numbers import THREE_DIGITS
from course_lib.teaching.checker.messages import PASSED
from course_lib.teaching.checker.sources import source_without_decorators
from course_lib.teaching.guesses.answers import written
from course_lib.teaching.lessons import Lesson, items_of

SEEDS = range(1, 21)
RIGHT, NO_IDEA = "Right.", "Not this time. A hint may help."
HEADING = """
### With other numbers

These questions need no Python. Each of them comes with {count} sets of numbers. In the
notebook, `exercises.{name}.ask(seed=1)` asks the first one with the same numbers.
"""
QUESTION = """
<div class="drawn" data-drawn="{data}">
<div class="task">{task}</div>
<form class="reply" autocomplete="off" hidden>
<input type="text" inputmode="decimal" placeholder="{wanted}" aria-label="Your answer">
<button>Check</button><button type="button">Other numbers</button>
<span class="seed"></span></form>
<p class="said" role="status"></p>
{hints}
<details class="solution"><summary>Show the answer</summary>
<p>The answer is <strong class="answer">{answer}</strong>, and this computes it:</p>

```python
{code}
```

</details></div>
"""


def section(lesson: Lesson) -> str:
    """Write a lesson's questions with drawn numbers as Markdown; "" if it has none."""
    items = items_of(lesson.name).values()
    drawn = [item for item in items if isinstance(item, NumbersQuestion)]
    if not drawn:
        return ""
    heading = HEADING.format(count=len(SEEDS), name=drawn[0].name)
    return heading + "".join(map(_as_markdown, drawn))


def _as_markdown(question: NumbersQuestion) -> str:
    data = exported(question)
    first = data["variants"][0]
    hints = "\n".join(
        f"<details><summary>Hint {n}</summary>{as_html(hint)}</details>"
        for n, hint in enumerate(question.hints, start=1)
    )
    return QUESTION.format(
        data=html.escape(json.dumps(data, ensure_ascii=False)),
        task=first["task"],
        wanted="a whole number" if data["whole"] else "a number",
        hints=f'<div class="hints">{hints}</div>',
        answer=first["shown"],
        code=source_without_decorators(question.reference),
    )


def exported(question: NumbersQuestion) -> dict[str, object]:
    """What the page knows of a question. `words` are replies, and in each variant
    `known` has the bounds between which one is given, the first that fits."""
    words = [RIGHT, NO_IDEA]
    variants = []
    for seed in SEEDS:
        answer, known = question.answer(seed), []
        for value in _values_known(question, seed):
            said = _reply(question, value, seed)
            if said != NO_IDEA:
                words += [said] * (said not in words)
                known.append([*_bounds(value), words.index(said)])
        shown, task = written(answer), as_html(question.prose(seed))
        variants.append(
            {"task": task, "shown": shown, "answer": answer, "known": known}
        )
    whole = isinstance(answer, int)
    fraction = _reply(question, float(answer), seed) if whole else NO_IDEA
    return {"whole": whole, "variants": variants, "words": words, "fraction": fraction}


def _values_known(question: NumbersQuestion, seed: int) -> Iterator[int | float]:
    """The answer, and what might be told of others, in the order of the notebook."""
    answer, drawn = question.answer(seed), question.drawn(seed)
    yield answer
    yield from (mistake.function(**drawn) for mistake in question.mistakes)
    yield from [answer + 1, answer - 1] if isinstance(answer, int) else []
    yield -answer
    yield from [100 * answer] if isinstance(answer, float) else []


def _bounds(value: int | float) -> list[int | float]:
    if isinstance(value, int):
        return [value, value]
    return sorted([value * (1 - THREE_DIGITS), value / (1 - THREE_DIGITS)])


def _reply(question: NumbersQuestion, value: int | float, seed: int) -> str:
    judgment = question.assess(value, seed=seed)
    if judgment.outcome == PASSED:
        return RIGHT
    if judgment.diagnosis is None:
        return NO_IDEA
    return READER.renderInline(f"Not this time. **Looks like:** {judgment.diagnosis}")
