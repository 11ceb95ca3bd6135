"""Read a guess as a person means it, or not at all.

Numbers are written in digits or words, with units beside them, or as a small
calculation. A word that is not known here might change the value ("all but one"), so a
guess with such a word is not read, and its writer is told what to type.
static/judging.js of the site reads in the same way.
"""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from course_lib.teaching.guesses.answers import Answer, as_answer, normalized, written

LONGEST = 100  # characters

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
# Each operator with how closely it binds, and what it does.
_OPERATORS: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "^": (3, math.pow),  # in floats: 9^9^9 as an integer would never end
}
_MEANT = {"plus": "+", "minus": "-", "×": "*", "·": "*", "÷": "/", "⁄": "/"}
_MEANT |= {"**": "^", "√": "sqrt"}
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
            numbers = _numbers_in(version, answers)
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


def _tokens_of(text: str) -> deque[_Token]:
    tokens: deque[_Token] = deque()
    before = None
    for match in _TOKEN.finditer(text):
        kind, found = match.lastgroup, match[0]
        after_space = match.start() == 0 or text[match.start() - 1].isspace()
        glued = kind == "number" and not after_space and before is not None
        if glued and before.kind != "sign" and before.text not in _FUNCTIONS:
            raise UnreadableError(f"{before.text}{found} is not understood.")  # gpt2
        follows = text[match.end() : match.end() + 1]
        before_space = not follows or follows.isspace()
        before = _Token(kind, _MEANT.get(found, found), after_space, before_space)
        tokens.append(before)
    return tokens


def _numbers_in(text: str, answers: tuple) -> list[float]:
    """Read numbers, each in digits or words, or a calculation with such numbers."""
    tokens = _tokens_of(text)
    found: list[float] = []
    while tokens:
        if tokens[0].text in WORDS["beside"] or tokens[0].text in SEPARATORS:
            tokens.popleft()
            continue
        answer = answers[min(len(found), len(answers) - 1)]
        # A percentage of a share; an answer can also be in percent itself.
        hundred = 100 if isinstance(answer, float) and abs(answer) <= 1 else 1
        found.append(_as_number(_value(tokens, hundred)))
    return found


def _value(tokens: deque[_Token], hundred: int, least: int = 1) -> float:
    """Compute what stands first, with operators that bind at least so closely."""
    value = _operand(tokens, hundred)
    while (sign := _next_operator(tokens)) and _OPERATORS[sign][0] >= least:
        binds, function = _OPERATORS[sign]
        tokens.popleft()
        # 2^3^2 is 2^(3^2), but 4 - 3 - 2 is (4 - 3) - 2
        other = _value(tokens, hundred, binds if sign == "^" else binds + 1)
        value = _computed(function, value, other)
    return value


def _next_operator(tokens: deque[_Token]) -> str | None:
    """Return the operator that comes next, if the calculation goes on."""
    token = tokens[0] if tokens else None
    if token is None:
        return None
    if token.text in ("x", "times"):  # or a unit: 7x, 7 times
        return "*" if len(tokens) > 1 and _begins_number(tokens[1]) else None
    if token.text in ("+", "-"):
        if token.after_space and not token.before_space:
            return None  # the sign of the next number
        if token.text == "-" and not token.after_space:
            raise UnreadableError("To subtract, put spaces around the minus.")
    return token.text if token.text in _OPERATORS else None


def _begins_number(token: _Token) -> bool:
    known = token.text in WORDS["numbers"] or token.text in _FUNCTIONS
    return token.kind == "number" or token.text == "(" or known


def _operand(tokens: deque[_Token], hundred: int) -> float:
    if not tokens:
        raise UnreadableError("Something is missing at the end.")
    text = tokens[0].text
    if text in ("-", "+"):
        tokens.popleft()
        value = _value(tokens, hundred, _OPERATORS["^"][0])
        return -value if text == "-" else value
    if text == "(":
        tokens.popleft()
        value = _value(tokens, hundred)
        if not tokens or tokens.popleft().text != ")":
            raise UnreadableError("A parenthesis is not closed.")
    elif text in _FUNCTIONS:
        tokens.popleft()
        value = _computed(_FUNCTIONS[text], _operand(tokens, hundred))
    elif text in _CONSTANTS:
        tokens.popleft()
        value = _CONSTANTS[text]
    else:
        value = _numeral(tokens)
    if tokens and tokens[0].text in ("%", "percent"):
        tokens.popleft()
        value /= hundred
    return value


def _numeral(tokens: deque[_Token]) -> float:
    """Read digits, or words such as "two thousand five hundred" or "one half"."""
    total, value, in_words = 0, None, True
    if tokens[0].kind == "number":
        digits, in_words = tokens.popleft().text, False
        value = int(digits) if digits.isdecimal() else _computed(float, digits)
    while tokens and tokens[0].kind == "word":
        word = tokens[0].text
        number, factor, parts = (
            WORDS[kind].get(word) for kind in ("numbers", "factors", "parts")
        )
        if number is not None and (
            value is None or (in_words and _goes_on(value, number))
        ):
            value = (value or 0) + number
        elif factor and (value is not None or len(word) > 1):
            value = (1 if value is None else value) * factor
            if factor >= 1000:
                total, value = total + value, 0
        elif parts:
            value = (1 if value is None else value) / parts
        elif value is not None or word not in ("a", "an"):
            break
        in_words = True
        tokens.popleft()
    if value is None:
        shown = tokens[0].text if tokens else "This"
        raise UnreadableError(f"“{shown}” is not understood.")
    return _computed(operator.add, total, value)


def _goes_on(value: float, number: int) -> bool:
    """Say whether a word adds to those before it: twenty-five, hundred twelve."""
    is_tens = value % 10 == 0 and value % 100 > 10
    return value % 100 == 0 or (is_tens and number < 10)


def _computed(function: Callable, *values: float) -> float:
    try:
        value = function(*values)
        if math.isfinite(value):
            return value
    except (ArithmeticError, ValueError):
        pass
    raise UnreadableError("This is not a number to compare with.")


def _as_number(value: float) -> float:
    if value != int(value):
        value = float(f"{value:.15g}")  # 0.1 * 30 is 3
    return int(value) if value == int(value) else value
