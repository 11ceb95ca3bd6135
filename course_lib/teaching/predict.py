"""Guess first: a form, whose answers and evidence unfold with the guess.

The prose above a prompt asks; the prompt has only a short label for each answer. It is
plain HTML, answers and evidence in `<details>`, so that a saved notebook keeps it, and
a page without a kernel. Where scripts run, `predict.js` puts boxes and buttons before
it, in a notebook and on a site alike, and keeps the first guess in the browser.
"""

import base64
import html
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from numbers import Integral
from pathlib import Path

import numpy as np
from IPython import get_ipython
from IPython.core.formatters import DisplayFormatter

from course_lib.foundation import check_number
from course_lib.teaching.play import kernel_listens

MOST_PARTS = MOST_CHOICES = 8
TOLERANCE = 0.01  # of fractions, whose digits nobody guesses
DIGITS = 4  # of a fraction, when it is shown: the same ones on all machines
YES, NO = "yes", "no"
NO_PICTURE = "A figure. If you don't see it, run this cell."
# Tests don't compare what stands between these.
MEASURED, END = "<!-- measured -->", "<!-- end -->"

asked: list[str] = []  # the id of each prompt of this kernel, in the order of the calls


def predict(
    answers: Mapping[str, object],
    *evidence: object,
    measured: bool = False,
    choices: Iterable[object] | Mapping[str, float] = (),
    within: float | None = None,
    because: Mapping[object, str] | None = None,
) -> "Prompt":
    """Ask for a guess, then show the answers: the last expression of a folded cell.

    Args:
        answers: a label of a few words, with its unit, to a number, to True or False,
            or to one of `choices`: `{"windows": 196, "start of the last one": 195}`.
        evidence: what unfolds with the answers, such as a figure, a table, or a value.
            Text is shown as it would be printed.
        measured: whether other machines measure slightly other evidence.
        choices: what there is to choose from. For numbers, each with the limit below
            which it holds, rising: `{"less than half": 0.5, "more": inf}`.
        within: how far a number may be off, relative to the answer. By default an
            integer must be met, and a fraction to 1 %.
        because: for usual wrong guesses, why each is wrong; tuples, where there are
            several answers, with `...` for one that doesn't matter: `{(..., 7): why}`.
    """
    if not isinstance(answers, Mapping):
        kind = type(answers).__name__
        raise TypeError(f"answers must be a mapping of labels to answers, got {kind}")
    if not 1 <= len(answers) <= MOST_PARTS:
        raise ValueError(f"answers must be 1 to {MOST_PARTS}, got {len(answers)}")
    offered = _checked_choices(choices)
    if within is not None:
        within = check_number("within", within, above=0, maximum=1)
    parts = [_part(*pair, choices, offered, within) for pair in answers.items()]
    wrong = [[_wrong(guess, parts), why] for guess, why in (because or {}).items()]
    prompt = Prompt(parts, wrong, evidence, measured)
    asked[:] = dict.fromkeys([*asked, prompt.id])
    return prompt


def _checked_choices(choices: object) -> list[str]:
    if isinstance(choices, str) or not isinstance(choices, Iterable):
        raise TypeError(f"choices must be several, got {choices!r}")
    offered = [written(choice) for choice in choices]
    if offered and not 2 <= len(set(offered)) == len(offered) <= MOST_CHOICES:
        wanted = f"2 to {MOST_CHOICES} that differ"
        raise ValueError(f"choices must be {wanted}, got {offered}")
    if isinstance(choices, Mapping):
        limits = [_limit(*pair) for pair in choices.items()]
        if not all(low < high for low, high in pairwise(limits)):
            raise ValueError(f"choices must have rising limits, got {limits}")
    return offered


def _limit(name: str, limit: object) -> float:
    return limit if limit == math.inf else check_number(f"limit of {name!r}", limit)


def _part(
    label: str,
    answer: object,
    choices: Iterable[object],
    offered: list[str],
    within: float | None,
) -> dict[str, object]:
    """One control: what stands beside it, what is right, and how nearly."""
    if not isinstance(label, str) or not label.strip():
        raise ValueError(f"answers must have labels of a few words, got {label!r}")
    name = f"answers[{label!r}]"
    if offered and isinstance(choices, Mapping):
        number = check_number(name, answer)
        found = [choice for choice, limit in choices.items() if number < limit]
        if not found:
            raise ValueError(f"choices must have a place for {number}, got {choices}")
        answer = found[0]
    elif not offered and isinstance(answer, bool | np.bool_):
        offered = [YES, NO]
    if offered:
        if (answer := written(answer)) not in offered:
            raise ValueError(f"choices must hold the answer, {answer!r}, got {offered}")
        if within is not None:
            raise ValueError(f"within must be left out where one chooses, got {within}")
        return {"label": label, "answer": answer, "choices": offered}
    number = _number(name, answer)
    if within is None:
        within = 0 if _is_whole(answer) else TOLERANCE
    return {"label": label, "answer": number, "choices": None, "within": within}


def _number(name: str, value: object) -> int | float:
    """A number with the digits that are shown."""
    number = check_number(name, value)
    if _is_whole(value):
        return int(value)
    if abs(number) >= 1000:
        return round(number)
    return float(f"{number:.{DIGITS}g}") + 0.0  # no -0


def _is_whole(number: object) -> bool:
    plain = number.item() if hasattr(number, "item") else number  # NumPy, PyTorch
    return isinstance(plain, Integral)


def _wrong(guess: object, parts: list[dict]) -> list[object]:
    """A usual wrong guess, as it is compared with what a reader gives."""
    given = guess if isinstance(guess, tuple) else (guess,)
    if len(given) != len(parts):
        wanted = f"guesses of {len(parts)} parts"
        raise ValueError(f"because must have {wanted}, got {guess!r}")
    given = [_guessed(*both) for both in zip(given, parts, strict=True)]
    named = [both for both in zip(given, parts, strict=True) if both[0] is not None]
    if all(_is_right(*both) for both in named):
        raise ValueError(f"because must have wrong guesses, but {guess!r} is right")
    return given


def _guessed(guess: object, part: dict) -> object:
    """A guess of one part, as it is compared; None if every guess of it will do."""
    if guess is ...:
        return None
    if not part["choices"]:
        return _number("each guess of because", guess)
    if (guess := written(guess)) not in part["choices"]:
        raise ValueError(f"because must have choices as guesses, got {guess!r}")
    return guess


def _is_right(guess: object, part: dict) -> bool:
    answer = part["answer"]
    if part["choices"]:
        return guess == answer
    return abs(guess - answer) <= part["within"] * abs(answer) * (1 + 1e-9)


def written(answer: object) -> str:
    """An answer as it is shown, or a choice."""
    if isinstance(answer, bool | np.bool_):
        return YES if answer else NO
    if isinstance(answer, str):
        if not answer.strip():
            raise ValueError(f"choices must not be empty text, got {answer!r}")
        return answer
    number = _number("each of choices", answer)
    return f"{number:,}" if isinstance(number, int) else f"{number:.{DIGITS}g}"


# What stands there until the cell is run; then there are controls above it.
NOT_RUN = "Run this cell and guess, or unfold the answer"


@dataclass(frozen=True)
class Prompt:
    """What is asked, and what unfolds: HTML that a notebook shows."""

    parts: list[dict]
    because: list[list]
    evidence: tuple = ()
    measured: bool = False

    @property
    def id(self) -> str:
        """Under which a browser keeps the guess: another label, choice or answer is
        another question."""
        asked = [
            (part["label"], part["answer"], part["choices"]) for part in self.parts
        ]
        return f"{zlib.crc32(json.dumps(asked).encode()):08x}"

    def __repr__(self) -> str:
        return f"Guess first: {'; '.join(part['label'] for part in self.parts)}"

    def _repr_html_(self) -> str:
        data = {"id": self.id, "parts": self.parts, "because": self.because}
        data = html.escape(json.dumps(data, ensure_ascii=False))
        shown = "\n".join(map(_as_html, self.evidence))
        if self.measured:
            shown = f"{MEASURED}{shown}{END}"
        answers = "<br>".join(map(_answer_in_words, self.parts))
        # JupyterLab shows the first line of an output that is folded: a blank.
        return (
            f' \n<div class="guess" data-guess="{data}">'
            f"<details><summary>{NOT_RUN}</summary>\n"
            f"<p>{answers}</p>\n{shown}\n</details></div>{script()}"
        )


def _answer_in_words(part: dict) -> str:
    """The answer to one part, and how nearly it had to be met."""
    words = (
        f"{html.escape(part['label'])}: <b>{html.escape(written(part['answer']))}</b>"
    )
    if part.get("within", 0) > TOLERANCE:
        words += f" (up to {100 * part['within']:g} % off counts as right)"
    return words


def _as_html(thing: object) -> str:
    """What a notebook shows of a value, in HTML: a picture is embedded."""
    if isinstance(thing, str):
        return f"<pre>{html.escape(thing)}</pre>"
    shell = get_ipython()
    formatter = shell.display_formatter if shell else DisplayFormatter()
    data, metadata = formatter.format(thing)
    if (png := data.get("image/png")) is not None:
        png = base64.b64encode(png).decode() if isinstance(png, bytes) else png
        width = metadata.get("image/png", {}).get("width", 700)
        source = f"data:image/png;base64,{png.strip()}"
        look = f'width="{width}" style="max-width: 100%"'
        alt = metadata.get("image/png", {}).get("alt") or NO_PICTURE
        return f'<img alt="{html.escape(alt)}" {look} src="{source}">'
    return data.get("text/html") or f"<pre>{html.escape(data['text/plain'])}</pre>"


def script() -> str:
    """What makes forms of the prompts, where a person works; a site brings the same
    file on its own."""
    return f"<script>{_source()}</script>" if kernel_listens() else ""


@cache
def _source() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
