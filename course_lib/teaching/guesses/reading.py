"""Read a guess as a person means it, or not at all.

Numbers are written in digits or words, with units beside them, or as a small
calculation. A word that is not known here might change the value ("all but one"), so a
guess with such a word is not read, and its writer is told what to type.
static/judging.js of the site reads in the same way.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from course_lib.teaching.guesses.answers import Answer, as_answer, normalized, written

LONGEST = 100  # characters
EXACT = 1e15  # up to here a power is exact

_YES = {"yes", "y", "true", "t", "right", "correct", "1"}
_NO = {"no", "n", "false", "f", "wrong", "0"}

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_BESIDE = """
a about an and answer approx approximately are around at ca circa each exactly first for
from guess i in is it its last maybe my of per perhaps probably roughly so the then
there think to with
batch batches bit bits byte bytes call calls char character characters chars chunk
chunks copies copy day days doc docs document documents draw draws end ends epoch epochs
file files hour hours id ids input inputs line lines loop loops merge merges minute
minutes nat nats neighbor neighbors number numbers offset offsets order orders output
outputs pack packs page pages pair pairs piece pieces place places position positions
rank ranks row rows second seconds shard shards source sources start starts step steps
string strings target targets task tasks text texts time times token tokens window
windows word words x
"""
# What words mean: a number, the denominator of a part, a factor, or nothing, as beside
# a number. The site gets this table, too.
WORDS: dict[str, dict[str, int]] = {
    "numbers": {word: n for n, word in enumerate(_SMALL.split())}
    | {word: 10 * n for n, word in enumerate(_TENS.split(), start=2)}
    | {"none": 0},
    "parts": {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
    | {"halves": 2, "thirds": 3, "quarters": 4, "fifths": 5, "tenths": 10},
    "factors": {"hundred": 100, "thousand": 10**3, "million": 10**6}
    | {"billion": 10**9, "k": 10**3, "m": 10**6},
    "beside": dict.fromkeys(_BESIDE.split(), 0),
}
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ln": math.log,
    "log2": math.log2,
    "exp": math.exp,
    "sqrt": math.sqrt,
}
_CONSTANTS = {"e": math.e, "pi": math.pi}
_OPERATORS = {"plus": "+", "minus": "-", "×": "*", "·": "*", "÷": "/", "⁄": "/"}
SEPARATORS = tuple(",;:|&~≈=.")
_GROUPED = re.compile(r"(?<![\w.])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3}(?!\d))?)"
    r"|(?P<word>log2|[^\W\d_]+)|(?P<sign>\*\*|\S)"
)


class UnreadableError(ValueError):
    """A guess that cannot be read as an answer; the message says what can."""


def read_guess(guess: object, answer: Answer, choices: tuple | None = None) -> Answer:
    """Read a guess, text or a value, as something to compare with the answer."""
    text = _as_text(guess)
    if choices:
        return _read_choice(text, choices)
    if isinstance(answer, str):
        if not text:
            raise UnreadableError("Please give a word.")
        return text
    if not isinstance(answer, tuple):
        return _read_numbers(text, (answer,))[0]
    if isinstance(answer[0], bool):
        return _read_flags(text, len(answer))
    return _read_numbers(text, answer)


def _as_text(guess: object) -> str:
    if isinstance(guess, str):
        return " ".join(guess.split())
    try:
        value = as_answer("guess", guess)
    except (TypeError, ValueError) as error:
        raise UnreadableError(f"{error}.") from None
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _read_choice(text: str, choices: tuple) -> Answer:
    """Find the choice that is meant, from its beginning if only one begins so."""
    names = {normalized(str(choice)): choice for choice in choices}  # 1000
    names |= {normalized(written(choice)): choice for choice in choices}  # 1,000
    given = normalized(text)
    if all(isinstance(choice, bool) for choice in choices) and given in _YES | _NO:
        return given in _YES
    begin = [names[name] for name in names if given and name.startswith(given)]
    if given not in names and len(begin) != 1:
        offered = ", ".join(map(written, choices))
        raise UnreadableError(f"Please choose one of: {offered}.")
    return names.get(given, begin[0])


def _read_flags(text: str, count: int) -> tuple[bool, ...]:
    words = re.findall(r"\w+", text.lower())
    if len(words) != count or not set(words) <= _YES | _NO:
        raise UnreadableError(f"Please give yes or no {count} times, such as: yes no.")
    return tuple(word in _YES for word in words)


def _read_numbers(text: str, answers: tuple) -> tuple:
    """Read as many numbers as are wanted, whatever stands between and around them."""
    text = unicodedata.normalize("NFKC", text).lower().replace("−", "-")
    if len(text) > LONGEST:
        raise UnreadableError("Please give no more than the answer.")
    text = re.sub(r"(?<=\d)[_'](?=\d)", "", text)
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", text)  # twenty-five
    while re.fullmatch(r"\s*[(\[{][^()\[\]{}]*[)\]}]\s*", text):
        text = text.strip()[1:-1]
    # 1,000 is a thousand, and so is 1 000, and 0,5 a half, as some write.
    versions = [_GROUPED.sub(lambda digits: digits[0].replace(",", ""), text), text]
    if len(answers) == 1:
        versions += re.sub(r"(?<=\d) (?=\d{3}\b)", "", text), text.replace(",", ".")
    unknown = ""
    for version in versions:
        try:
            numbers = _Numbers(version, answers).read()
        except UnreadableError as error:
            unknown = unknown or f"{error} "
            continue
        if len(numbers) == len(answers):
            return tuple(numbers)
    if len(answers) > 1:
        wanted = f"{len(answers)} numbers, with spaces between"
    else:
        wanted = "one number, such as 7 or 0.5 or 1,000, or 64 * 8 or ln 79"
    raise UnreadableError(f"{unknown}Please give {wanted}.")


@dataclass(frozen=True)
class _Token:
    kind: str  # "number", "word" or "sign"
    text: str
    after_space: bool
    before_space: bool


def _tokens_of(text: str) -> Iterator[_Token]:
    before = None
    for match in _TOKEN.finditer(text):
        space = match.start() == 0 or text[match.start() - 1].isspace()
        is_number = match.lastgroup == "number"
        if is_number and not space and before is not None:
            glued = before.kind == "number" or before.text not in _FUNCTIONS
            if before.kind != "sign" and glued:  # gpt2, 1.2.3
                raise UnreadableError(f"{before.text}{match[0]} is not understood.")
        follows = text[match.end() : match.end() + 1]
        kind, word = match.lastgroup, match[0]
        before = _Token(kind, word, space, not follows or follows.isspace())
        yield before


class _Numbers:
    """Numbers in a text: each in digits or words, or a calculation with such numbers.

    + and - bind less than * and /, and these less than ^ and signs.
    """

    def __init__(self, text: str, answers: tuple):
        self.answers = answers
        self.tokens = [self._plain(token) for token in _tokens_of(text)]
        self.at = 0
        self.found: list[float] = []

    @staticmethod
    def _plain(token: _Token) -> _Token:
        """Write an operator that has another sign, or is a word, as one sign."""
        if token.text == "√":
            return _Token("word", "sqrt", token.after_space, token.before_space)
        sign = {"**": "^"}.get(token.text) or _OPERATORS.get(token.text)
        if sign is None:
            return token
        # "3 minus 2" has a space on both sides, as a calculation has.
        return _Token("sign", sign, token.after_space, token.before_space)

    def read(self) -> list[float]:
        while (token := self._next()) is not None:
            if token.text in WORDS["beside"] or token.text in SEPARATORS:
                self.at += 1
            else:
                self.found.append(_as_number(self._sum()))
        return self.found

    def _next(self, ahead: int = 0) -> _Token | None:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def _take(self, *signs: str) -> str | None:
        token = self._next()
        if token is None or token.kind != "sign" or token.text not in signs:
            return None
        self.at += 1
        return token.text

    def _sum(self) -> Fraction | float:
        value = self._product()
        while (token := self._next()) is not None and token.text in ("+", "-"):
            if token.after_space and not token.before_space:
                break  # the sign of the next number
            if token.text == "-" and not token.after_space:
                raise UnreadableError("To subtract, put spaces around the minus.")
            self.at += 1
            more = self._product()
            value = value + more if token.text == "+" else value - more
        return value

    def _product(self) -> Fraction | float:
        value = self._signed()
        while True:
            token, following = self._next(), self._next(1)
            if token is not None and token.text in ("x", "times"):
                if following is None or not self._begins_number(following):
                    return value
                self.at += 1
                value = value * self._signed()
            elif self._take("*"):
                value = value * self._signed()
            elif self._take("/"):
                value = _computed(lambda a, b: a / b, value, self._signed())
            else:
                return value

    @staticmethod
    def _begins_number(token: _Token) -> bool:
        known = (
            token.text in WORDS["numbers"]
            or token.text in _FUNCTIONS
            or token.text == "("
        )
        return token.kind == "number" or known

    def _signed(self) -> Fraction | float:
        sign = self._take("-", "+")
        value = self._atom()
        if self._take("^"):
            value = _power(value, self._signed())
        return -value if sign == "-" else value

    def _atom(self) -> Fraction | float:
        token = self._next()
        if token is None:
            raise UnreadableError("Something is missing at the end.")
        if self._take("("):
            value = self._sum()
            if not self._take(")"):
                raise UnreadableError("A parenthesis is not closed.")
        elif token.text in _FUNCTIONS:
            self.at += 1
            value = _computed(_FUNCTIONS[token.text], self._atom())
        elif token.text in _CONSTANTS:
            self.at += 1
            value = _CONSTANTS[token.text]
        else:
            value = self._numeral()
        if self._take("%") or self._take_word("percent"):
            # of a share, or of an answer that is in percent itself
            place = min(len(self.found), len(self.answers) - 1)
            answer = self.answers[place]
            if isinstance(answer, float) and abs(answer) <= 1:
                value = value / 100
        return value

    def _take_word(self, *words: str) -> str | None:
        token = self._next()
        if token is None or token.kind != "word" or token.text not in words:
            return None
        self.at += 1
        return token.text

    def _numeral(self) -> Fraction:
        """Read digits, or words such as "two thousand five hundred" or "one half"."""
        token = self._next()
        total, value = Fraction(0), None
        if token.kind == "number":
            self.at += 1
            value = Fraction(token.text)
        while (token := self._next()) is not None and token.kind == "word":
            number, factor, parts = (
                WORDS[kind].get(token.text) for kind in ("numbers", "factors", "parts")
            )
            if number is not None and (value is None or self._goes_on(value, number)):
                value = (value or 0) + Fraction(number)
            elif factor and (value is not None or len(token.text) > 1):
                value = (1 if value is None else value) * factor
                if factor >= 1000:
                    total, value = total + value, Fraction(0)
            elif parts:
                value = Fraction(1 if value is None else value, parts)
            elif value is None and token.text in ("a", "an"):
                pass
            else:
                break
            self.at += 1
        if value is None:
            shown = token.text if token is not None else "This"
            raise UnreadableError(f"“{shown}” is not understood.")
        return total + value

    def _goes_on(self, value: Fraction, small: int) -> bool:
        """Say whether a word adds to those before it: twenty-five, hundred twelve."""
        if self.tokens[self.at - 1].kind != "word":
            return False
        return value % 100 == 0 or (value % 10 == 0 and value % 100 > 10 and small < 10)


def _computed(function: Callable, *values: Fraction | float) -> Fraction | float:
    try:
        return function(*values)
    except (ArithmeticError, ValueError):
        raise UnreadableError("This is not a number to compare with.") from None


def _power(value: Fraction | float, exponent: Fraction | float) -> Fraction | float:
    power = _computed(lambda: float(value) ** float(exponent))
    if isinstance(power, complex):
        raise UnreadableError("This is not a number to compare with.")
    is_exact = isinstance(value, Fraction) and exponent == int(exponent)
    if is_exact and 1 / EXACT < abs(power) < EXACT:
        return value ** int(exponent)
    return power


def _as_number(value: Fraction | float) -> float:
    number = _computed(float, value)
    if not math.isfinite(number):
        raise UnreadableError("This is not a number to compare with.")
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return number
