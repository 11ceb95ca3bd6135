"""Guess first: a prompt takes a guess, compares it, and only then shows the answer.

A guess is read leniently, and kept as long as the kernel lives. A reader who only runs
the cells is not held up: nothing waits.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import mistune
import numpy as np
import torch
from IPython import get_ipython

from course_lib.foundation import check_number
from course_lib.teaching.checker import (
    COLORS,
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    SIGNS,
    as_html,
    colored_sign,
)

Answer: TypeAlias = bool | int | float | str | tuple

WIDGETS_VARIABLE = "COURSE_WIDGETS"
WIDGET = "application/vnd.jupyter.widget-view+json"
MOST_CHOICES = 8
MOST_PARTS = 8
LONGEST_INTEGER = 300  # digits; a longer one would not go into a float
TOLERANCE_OF_FLOATS = 0.01  # nobody guesses all the digits of a fraction
DIGITS = 4  # of a fraction, when it is shown

_YES = {"yes", "y", "true", "t", "right", "correct", "1"}
_NO = {"no", "n", "false", "f", "wrong", "0"}
_WORDS = "none zero one two three four five six seven eight nine ten eleven twelve"
_SPELLED = {word: str(max(n - 1, 0)) for n, word in enumerate(_WORDS.split())}
_UNITS = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "million": 10**6,
    "billion": 10**9,
}
_DIGITS = r"(?:[1-9]\d{0,2}(?:,\d{3})+(?![\d,])|\d+)?(?:(?<=\d)\.?|\.(?=\d))\d*"
_DIGITS += r"(?:(?<=[\d.])e[-+]?\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<number>(?:(?<![\d)])[-+])?{_DIGITS})"
    rf"(?:\s*/\s*(?P<divisor>{_DIGITS})|\s*(?:\^|\*\*)\s*(?P<power>[-+]?\d+))?"
    r"(?:\s*(?P<unit>%|percent|thousand|million|billion|times|[kmx×]))?(?!\w)"
)
# What may stand beside numbers: brackets, separators, and words such as "windows".
_BESIDE = re.compile(r"(?:[\s,;:|&~≈()\[\]{}.-]|[^\W\d_]{2,})*")

_to_html = mistune.create_markdown(escape=True)


class UnreadableError(ValueError):
    """A guess that cannot be read as an answer; the message says what can."""


def predict(
    question: str,
    answer: Answer,
    *,
    choices: Sequence[Answer] | None = None,
    within: float | None = None,
) -> Prompt:
    """Ask for a guess, then show the answer: the last expression of a cell.

    Args:
        question: Markdown. A question is counted once, however often it is asked.
        answer: a number, text, True or False, or a tuple of numbers or of flags.
        choices: what there is to choose from; the answer is among them.
        within: how far a number may be off, relative to the answer: 0.1 for 10 %. By
            default an integer must be met, and a float to 1 %.
    """
    if not isinstance(question, str):
        raise TypeError(f"question must be text, got {type(question).__name__}")
    if not question.strip():
        raise ValueError(f"question must not be empty, got {question!r}")
    answer = _as_answer("answer", answer)
    if choices is not None:
        choices = _as_choices(choices, answer)
    elif isinstance(answer, bool):
        choices = (True, False)
    if within is not None:
        within = check_number("within", within, above=0, maximum=1)
        parts = answer if isinstance(answer, tuple) else (answer,)
        if choices or any(isinstance(part, str | bool) for part in parts):
            raise ValueError(
                "within must be left out where a guess is chosen or no number, got "
                f"within={within} for {'choices' if choices else repr(answer)}"
            )
    record = _records.setdefault(question.strip(), Record())
    return Prompt(question.strip(), answer, choices, within, record)


def show_guesses() -> Guesses:
    """Return how many of the questions asked so far were guessed right."""
    return Guesses({name: record.outcome for name, record in _records.items()})


@dataclass
class Record:
    """What became of a question: the first guess counts, and none that comes after the
    answer."""

    outcome: str = NOT_ATTEMPTED
    revealed: bool = False
    reply: Reply | None = None


_records: dict[str, Record] = {}


@dataclass(frozen=True)
class Reply:
    """What is said to a guess."""

    outcome: str
    message: str  # Markdown

    def __str__(self) -> str:
        return f"{SIGNS[self.outcome]} {_bare(self.message)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.outcome, self.message)


@dataclass(frozen=True)
class Prompt:
    """A question that takes guesses. Its rich form is a box or buttons where a kernel
    listens, and else the question with the answer folded away."""

    question: str
    answer: Answer
    choices: tuple | None
    within: float | None
    record: Record

    def guess(self, guess: object) -> Reply:
        """Compare a guess, as text or as a value, with the answer; the first counts."""
        try:
            value = self._read(guess)
        except UnreadableError as error:
            return Reply(RAISED, f"{error} That was not counted.")
        right = self._is_right(value)
        outcome = PASSED if right else FAILED
        reply = Reply(outcome, self._judgment(value, right))
        record = self.record
        if record.outcome != NOT_ATTEMPTED:
            return Reply(outcome, f"{reply.message} Your first guess counts.")
        if record.revealed:
            return Reply(outcome, f"{reply.message} (Not counted: you saw the answer.)")
        record.outcome, record.revealed, record.reply = outcome, True, reply
        return reply

    def reveal(self) -> Reply:
        """Show the answer. Guesses that come later are not counted."""
        if self.record.reply is None:
            reply = Reply(NOT_ATTEMPTED, f"The answer: {_strong(self.answer)}.")
            self.record.revealed, self.record.reply = True, reply
        return self.record.reply

    def __repr__(self) -> str:
        if self.choices:
            choices = [f'"{_bare(_written(choice))}"' for choice in self.choices]
            how = f"{', '.join(choices)}: .guess({choices[0]})"
        elif isinstance(self.answer, str):
            how = 'Your guess: .guess("...")'
        else:
            how = f"Your guess: .guess({self._example()})"
        return f"{_bare(self.question)}\n{how}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, object]:
        bundle = {"text/plain": repr(self), "text/html": self._html()}
        if widgets_are_live():
            bundle[WIDGET] = _widget(self)._repr_mimebundle_()[WIDGET]
        return bundle

    def _html(self) -> str:
        return (
            f'<div style="border-left: 4px solid {COLORS[NOT_ATTEMPTED]}; '
            f'padding-left: 0.8em">{_to_html(self.question).strip()}<details><summary>'
            f"Guess, then unfold the answer</summary><p>"
            f"{_inline(_strong(self.answer))}</p></details></div>"
        )

    def _wanted(self) -> str:
        """What to type into the box."""
        if isinstance(self.answer, str):
            return "a word"
        if not isinstance(self.answer, tuple):
            return "a number"
        kind = "times yes or no" if isinstance(self.answer[0], bool) else "numbers"
        return f"{len(self.answer)} {kind}"

    def _example(self) -> str:
        if isinstance(self.answer, tuple):
            return f"({', '.join(map(_example, self.answer))})"
        return _example(self.answer)

    def _read(self, guess: object) -> Answer:
        text = _as_text(guess)
        if self.choices:
            return _read_choice(text, self.choices)
        if isinstance(self.answer, str):
            if not text:
                raise UnreadableError("Please give a word.")
            return text
        if not isinstance(self.answer, tuple):
            return _read_numbers(text, (self.answer,))[0]
        if isinstance(self.answer[0], bool):
            return _read_flags(text, len(self.answer))
        return _read_numbers(text, self.answer)

    def _is_right(self, guess: Answer) -> bool:
        if self.choices:
            return _written(guess) == _written(self.answer)
        if isinstance(self.answer, str):
            return _plainly(guess) == _plainly(self.answer)
        if not isinstance(self.answer, tuple):
            return _is_near(guess, self.answer, self.within)
        pairs = zip(guess, self.answer, strict=True)
        return all(_is_near(given, wanted, self.within) for given, wanted in pairs)

    def _judgment(self, guess: Answer, right: bool) -> str:
        words = f"**{'Right' if right else 'Not this time'}.**"
        words += f" The answer: {_strong(self.answer)}."
        if right and _plainly(_written(guess)) == _plainly(_written(self.answer)):
            return words
        words += f" You guessed {_written(guess)}."
        if self.within:
            words += f" (Up to {_written(100 * self.within)} % off counts as right.)"
        return words


@dataclass(frozen=True)
class Guesses:
    """How many questions were guessed right, with a sign for each."""

    outcomes: dict[str, str]

    @property
    def right(self) -> int:
        return sum(outcome == PASSED for outcome in self.outcomes.values())

    @property
    def not_guessed(self) -> int:
        return sum(outcome == NOT_ATTEMPTED for outcome in self.outcomes.values())

    def __str__(self) -> str:
        signs = "".join(SIGNS[outcome] for outcome in self.outcomes.values())
        return f"{self._count()} {signs}".rstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        signs = "".join(colored_sign(outcome) for outcome in self.outcomes.values())
        each = [
            f"<li>{colored_sign(outcome)} {_inline(question)}</li>"
            for question, outcome in self.outcomes.items()
        ]
        summary = f"<strong>{self._count()}</strong> {signs}"
        style = "list-style: none; padding-left: 1em"
        items = f'<ul style="{style}">{"".join(each)}</ul>'
        return f"<details><summary>{summary}</summary>{items}</details>"

    def _count(self) -> str:
        count = f"{self.right} of {len(self.outcomes)} guessed right"
        return f"{count}, {self.not_guessed} not guessed" if self.not_guessed else count


def widgets_are_live() -> bool:
    """Say whether what is shown can be used: in a notebook with a kernel and
    `ipywidgets`, unless the environment says `COURSE_WIDGETS=0`."""
    asked = os.environ.get(WIDGETS_VARIABLE, "").strip().lower()
    if asked in ("0", "false", "no", "off") or not hasattr(get_ipython(), "kernel"):
        return False
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True


def _widget(prompt: Prompt) -> object:
    """Make a prompt to type into, or with a button for each choice."""
    # slow to load, and not always there
    from ipywidgets import Box, Button, HTMLMath, Layout, Text, VBox

    row = Layout(flex_flow="row wrap", align_items="center")
    question = HTMLMath(_to_html(prompt.question))
    result = HTMLMath()

    def show(reply: Reply) -> None:
        result.value = f'<div role="status">{reply._repr_html_()}</div>'

    def take(guess: object) -> None:
        if guess != taken[0]:  # a click on the button may follow the box's own event
            taken[0] = guess
            show(prompt.guess(guess))

    taken = [None]
    if prompt.record.reply:  # the cell is run again
        show(prompt.record.reply)
    # It looks like a link, not like one more choice.
    reveal = Button(
        description="Show the answer",
        layout=Layout(width="auto", margin="2px 2px 2px 1em"),
        style={"button_color": "transparent", "text_decoration": "underline"},
    )
    reveal.on_click(lambda _: show(prompt.reveal()))
    if prompt.choices:
        controls = []
        for choice in map(_written, prompt.choices):
            button = Button(description=_bare(choice), layout=Layout(width="auto"))
            button.on_click(lambda _, choice=choice: take(choice))
            controls.append(button)
        return VBox([question, Box([*controls, reveal], layout=row), result])
    # It tells its text when Enter is pressed or the box is left. The message that comes
    # with Enter alone may overtake the text that was typed last.
    box = Text(
        description="Your guess:",
        placeholder=prompt._wanted(),
        continuous_update=False,
        style={"description_width": "initial"},
    )
    box.observe(lambda change: take(change["new"]), "value")
    button = Button(description="Guess", layout=Layout(width="auto"))
    button.on_click(lambda _: take(box.value))
    return VBox([question, Box([box, button, reveal], layout=row), result])


def _as_answer(name: str, value: object) -> Answer:
    """Return a value as plain Python knows it, if it can be asked for."""
    if isinstance(value, np.ndarray | np.generic | torch.Tensor):
        value = value.tolist()
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f"{name} must not be empty text, got {value!r}")
        return str(value)
    if isinstance(value, list | tuple):
        parts = tuple(_as_answer(f"each part of {name}", part) for part in value)
        flags = {isinstance(part, bool) for part in parts}
        if any(isinstance(part, str | tuple) for part in parts) or len(flags) > 1:
            raise TypeError(
                f"{name} must have numbers or flags as parts, got {value!r}"
            )
        if not 1 <= len(parts) <= MOST_PARTS:
            raise ValueError(
                f"{name} must have 1 to {MOST_PARTS} parts, got {len(parts)}"
            )
        return parts
    try:
        number = check_number(name, value)
    except TypeError:
        raise TypeError(
            f"{name} must be a number, text, True or False, or a tuple of numbers or "
            f"of flags, got {type(value).__name__}"
        ) from None
    return int(value) if isinstance(value, Integral) else number


def _as_choices(choices: object, answer: Answer) -> tuple:
    if isinstance(choices, str) or not isinstance(choices, Iterable):
        raise TypeError(
            f"choices must be a list of answers, got {type(choices).__name__}"
        )
    choices = tuple(_as_answer("each of choices", choice) for choice in choices)
    if not 2 <= len(choices) <= MOST_CHOICES:
        raise ValueError(
            f"choices must be 2 to {MOST_CHOICES} answers, got {len(choices)}"
        )
    written = [_plainly(_written(choice)) for choice in choices]
    if len(set(written)) < len(written):
        raise ValueError(f"choices must differ, got {choices}")
    if _plainly(_written(answer)) not in written:
        raise ValueError(f"choices must hold the answer, {answer!r}, got {choices}")
    return choices


def _as_text(guess: object) -> str:
    if isinstance(guess, str):
        return " ".join(guess.split())
    try:
        value = _as_answer("guess", guess)
    except (TypeError, ValueError) as error:
        raise UnreadableError(f"{error}.") from None
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _read_choice(text: str, choices: tuple) -> Answer:
    """Find the choice that is meant, from its beginning if only one begins so."""
    written = {_plainly(str(choice)): choice for choice in choices}  # 1000
    written |= {_plainly(_written(choice)): choice for choice in choices}  # 1,000
    given = _plainly(text)
    if all(isinstance(choice, bool) for choice in choices) and given in _YES | _NO:
        return given in _YES
    begin = [
        choice for name, choice in written.items() if given and name.startswith(given)
    ]
    if given not in written and len(begin) != 1:
        raise UnreadableError(
            f"Please choose one of: {', '.join(map(_written, choices))}."
        )
    return written.get(given, begin[0])


def _read_flags(text: str, count: int) -> tuple[bool, ...]:
    words = re.findall(r"\w+", text.lower())
    if len(words) != count or not set(words) <= _YES | _NO:
        raise UnreadableError(f"Please give yes or no {count} times, such as: yes no.")
    return tuple(word in _YES for word in words)


def _read_numbers(text: str, answers: tuple) -> tuple:
    """Read as many numbers as are wanted, whatever stands between and around them."""
    text = text.lower().replace("−", "-").replace("_", "").replace("'", "")
    text = re.sub(r"[^\W\d_]+", lambda word: _SPELLED.get(word[0], word[0]), text)
    if len(answers) == 1:
        # 1 000 is a thousand and 0,5 a half, as some write
        others = [re.sub(r"(?<=\d) (?=\d{3}\b)", "", text), text.replace(",", ".")]
    else:
        others = [text.replace(",", " ")]
    for version in [text, *others]:
        found = list(_NUMBER.finditer(version))
        if len(found) == len(answers) and _BESIDE.fullmatch(_NUMBER.sub(" ", version)):
            pairs = zip(found, answers, strict=True)
            return tuple(_value(match, answer) for match, answer in pairs)
    if len(answers) == 1:
        raise UnreadableError("Please give one number, such as 7 or 0.5 or 1,000.")
    raise UnreadableError(f"Please give {len(answers)} numbers, with blanks between.")


def _value(match: re.Match, answer: float) -> float:
    number = _plain_number(match["number"])
    try:
        if match["divisor"]:
            number /= _plain_number(match["divisor"])
        if match["power"]:
            number = float(number) ** int(match["power"])
    except (OverflowError, ZeroDivisionError):
        raise UnreadableError(f"{match[0]} is no number to compare with.") from None
    unit = match["unit"] or ""
    if unit in (
        "%",
        "percent",
    ):  # of a share, or of an answer that is in percent itself
        is_share = isinstance(answer, float) and abs(answer) <= 1
        return number / 100 if is_share else number
    number *= _UNITS.get(unit, 1)
    if not math.isfinite(number):
        raise UnreadableError(f"{match[0]} is no number to compare with.")
    return int(number) if number == int(number) else number


def _plain_number(digits: str) -> float:
    digits = digits.replace(",", "")
    if digits.lstrip("+-").isdecimal() and len(digits) < LONGEST_INTEGER:
        return int(digits)
    return float(digits)


def _is_near(guess: Answer, answer: Answer, within: float | None) -> bool:
    if within is None:
        within = TOLERANCE_OF_FLOATS if isinstance(answer, float) else 0
    # a guess at the very border is right, however its last bit is rounded
    return abs(guess - answer) <= within * abs(answer) * (1 + 1e-9)


def _written(value: Answer) -> str:
    if isinstance(value, tuple):
        parts = [_written(part) for part in value]
        return ("; " if any("," in part for part in parts) else ", ").join(parts)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 10 ** (DIGITS - 1):
        return f"{value:,.0f}"
    return f"{value:.{DIGITS}g}"


def _example(part: Answer) -> str:
    """A guess of the kind that is wanted, whatever the answer is."""
    if isinstance(part, bool):
        return "True"
    return "7" if isinstance(part, int) else "0.5"


def _strong(answer: Answer) -> str:
    return f"**{_written(answer)}**"


def _bare(text: str) -> str:
    """Markdown without its marks, for buttons and terminals."""
    return text.replace("**", "").replace("`", "")


def _plainly(text: str) -> str:
    return " ".join(_bare(text).casefold().split()).strip("\"' .")


def _inline(text: str) -> str:
    return _to_html(text).strip().removeprefix("<p>").removesuffix("</p>")
