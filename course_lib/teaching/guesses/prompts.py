"""Questions that take guesses. The first guess counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from course_lib.foundation import check_number
from course_lib.teaching import record
from course_lib.teaching.checker import messages
from course_lib.teaching.checker.messages import FAILED, NOT_ATTEMPTED, PASSED, RAISED
from course_lib.teaching.guesses import answers
from course_lib.teaching.guesses.answers import Answer
from course_lib.teaching.guesses.boxes import WIDGET, make_widget, widgets_are_live
from course_lib.teaching.guesses.reading import UnreadableError, read_guess

MIME_TYPE = "application/vnd.feeding-language-models.prompt+json"


def predict(
    question: str,
    answer: Answer,
    *,
    choices: Sequence[Answer] | None = None,
    buckets: Mapping[str, float] | None = None,
    within: float | None = None,
    because: Mapping[Answer, str] | None = None,
) -> Prompt:
    """Ask for a guess, then show the answer: the last expression of a cell.

    Args:
        question: Markdown. A question is counted once, however often it is asked.
        answer: a number, text, True or False, or a tuple of numbers or of flags.
        choices: what there is to choose from; the answer is among them.
        buckets: choices for a number, each with the limit below which it holds, in
            rising order: `{"less than 5 %": 0.05, "5 to 20 %": 0.2, "more": inf}`.
        within: how far a number may be off, relative to the answer. By default an
            integer must be met, and a float to 1 %.
        because: for usual wrong guesses, one line each that says why they are wrong.
    """
    if not isinstance(question, str):
        raise TypeError(f"question must be text, got {type(question).__name__}")
    if not question.strip():
        raise ValueError(f"question must not be empty, got {question!r}")
    answer = answers.as_answer("answer", answer)
    if buckets is not None:
        if choices is not None:
            raise ValueError("choices must be left out where buckets are given")
        answer, choices = answers.bucket_of(answer, buckets), tuple(buckets)
    if choices is not None:
        choices = answers.as_choices(choices, answer)
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
    prompt = Prompt(question.strip(), answer, choices, within)
    reasons = tuple(
        (_read_wrong(prompt, wrong), why) for wrong, why in (because or {}).items()
    )
    return replace(prompt, because=reasons)


def _read_wrong(prompt: Prompt, wrong: object) -> Answer:
    try:
        value = read_guess(wrong, prompt.answer, prompt.choices)
    except UnreadableError as error:
        raise ValueError(f"because must have guesses, got {wrong!r}: {error}") from None
    if prompt.is_right(value):
        raise ValueError(f"because must have wrong guesses, but {wrong!r} is right")
    return value


# The first reply to each question, in words: what comes after does not count.
_replies: dict[str, Reply] = {}


@dataclass(frozen=True)
class Reply:
    outcome: str
    message: str  # Markdown

    def __str__(self) -> str:
        return f"{messages.SIGNS[self.outcome]} {answers.without_marks(self.message)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return messages.as_html(self.outcome, self.message)


@dataclass(frozen=True)
class Prompt:
    """A question that takes guesses. Its rich form is a box or buttons where a kernel
    listens, and else the question with the answer folded away."""

    question: str
    answer: Answer
    choices: tuple | None
    within: float | None
    because: tuple[tuple[Answer, str], ...] = ()

    def guess(self, guess: object) -> Reply:
        """Compare a guess, as text or as a value, with the answer; the first counts."""
        try:
            value = read_guess(guess, self.answer, self.choices)
        except UnreadableError as error:
            return Reply(RAISED, f"{error} That was not counted.")
        right = self.is_right(value)
        reply = Reply(PASSED if right else FAILED, self._judgment(value, right))
        first = self.first_reply
        if first is None:
            self._count(reply)
            return reply
        seen = first.outcome == NOT_ATTEMPTED
        late = "(Not counted: you saw the answer.)"
        more = late if seen else "Your first guess counts."
        return replace(reply, message=f"{reply.message} {more}")

    def reveal(self) -> Reply:
        """Show the answer. Guesses that come later are not counted."""
        if self.first_reply is None:
            shown = f"The answer: {answers.strong(self.answer)}."
            self._count(Reply(NOT_ATTEMPTED, shown))
        return self.first_reply

    def _count(self, first: Reply) -> None:
        _replies[self.question] = first
        record.record_outcome(self.question, first.outcome)

    @property
    def first_reply(self) -> Reply | None:
        """The reply that counts, also one that was given before a restart."""
        outcome = record.recorded_outcomes().get(self.question)
        if outcome is None or self.question in _replies:
            return _replies.get(self.question)
        told = {PASSED: "You guessed it.", FAILED: "You guessed something else."}
        before = told.get(outcome, "You have seen it.")
        return Reply(outcome, f"The answer: {answers.strong(self.answer)}. {before}")

    @property
    def labels(self) -> list[str]:
        """The words on the buttons, if there is something to choose from."""
        return [
            answers.without_marks(answers.written(choice))
            for choice in self.choices or ()
        ]

    def __repr__(self) -> str:
        if self.choices:
            choices = [f'"{label}"' for label in self.labels]
            how = f"{', '.join(choices)}: .guess({choices[0]})"
        elif isinstance(self.answer, str):
            how = 'Your guess: .guess("...")'
        else:
            how = f"Your guess: .guess({answers.example(self.answer)})"
        return f"{answers.without_marks(self.question)}\n{how}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, object]:
        bundle = {
            "text/plain": repr(self),
            "text/html": self._html(),
            MIME_TYPE: self.as_data(),
        }
        if widgets_are_live():
            bundle[WIDGET] = make_widget(self)._repr_mimebundle_()[WIDGET]
        return bundle

    def _html(self) -> str:
        style = f"border-left: 4px solid {messages.COLORS[NOT_ATTEMPTED]}"
        question = messages.to_html(self.question).strip()
        inside = f"{question}{self.folded_answer}"
        return f'<div style="{style}; padding-left: 0.8em">{inside}</div>'

    @property
    def folded_answer(self) -> str:
        """The answer in HTML, to unfold where nothing takes a guess."""
        answer = f"<p>{_inline(answers.strong(self.answer))}</p>"
        summary = "<summary>Guess, then unfold the answer</summary>"
        return f"<details>{summary}{answer}</details>"

    def as_data(self) -> dict[str, object]:
        """Return what is asked, ready for JSON: a saved notebook keeps it, for those
        who ask again elsewhere. Fractions have as many digits as are shown."""
        return {
            "question": self.question,
            "answer": self._as_plain(self.answer),
            "choices": self.labels or None,
            "within": self.within,
            "because": [[self._as_plain(wrong), why] for wrong, why in self.because],
        }

    def _as_plain(self, answer: Answer) -> Answer:
        answer = answers.rounded(answer)
        if self.choices or isinstance(answer, str):
            return answers.without_marks(answers.written(answer))
        return answer

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Prompt:
        """Make the prompt that `as_data` describes; its choices are texts then."""

        def parts(answer: object) -> Answer:
            return tuple(answer) if isinstance(answer, list) else answer

        choices = tuple(data["choices"]) if data["choices"] else None
        because = tuple((parts(wrong), why) for wrong, why in data["because"])
        answer = parts(data["answer"])
        return cls(data["question"], answer, choices, data["within"], because)

    @property
    def wanted(self) -> str:
        if isinstance(self.answer, str):
            return "a word"
        if not isinstance(self.answer, tuple):
            return "a number"
        kind = "times yes or no" if isinstance(self.answer[0], bool) else "numbers"
        return f"{len(self.answer)} {kind}"

    def is_right(self, guess: Answer) -> bool:
        return self._is_near(guess, self.answer, self.within)

    def _is_near(self, guess: Answer, answer: Answer, within: float | None) -> bool:
        if self.choices:
            return answers.written(guess) == answers.written(answer)
        if isinstance(answer, str):
            return answers.normalized(guess) == answers.normalized(answer)
        if not isinstance(answer, tuple):
            return answers.is_near(guess, answer, within)
        pairs = zip(guess, answer, strict=True)
        return all(answers.is_near(*pair, within) for pair in pairs)

    def _judgment(self, guess: Answer, right: bool) -> str:
        words = f"**{'Right' if right else 'Not this time'}.**"
        words += f" The answer: {answers.strong(self.answer)}."
        given, wanted = answers.written(guess), answers.written(self.answer)
        if right and answers.normalized(given) == answers.normalized(wanted):
            return words
        said = f"{words} You guessed {given}. {self.allowance}".rstrip()
        if right:
            return said
        meant = (
            why for wrong, why in self.because if self._is_near(guess, wrong, None)
        )
        return f"{said} {next(meant, '')}".rstrip()

    @property
    def allowance(self) -> str:
        """How far off a guess may be, where the question says it."""
        if not self.within:
            return ""
        return f"(Up to {answers.written(100 * self.within)} % off counts as right.)"


def _inline(text: str) -> str:
    return messages.to_html(text).strip().removeprefix("<p>").removesuffix("</p>")
