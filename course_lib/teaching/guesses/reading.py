"""Read a guess: leniently, as people write numbers, and yes or no."""

import re
from fractions import Fraction

from course_lib.teaching.guesses.answers import Answer, as_answer, normalized, written

_YES = {"yes", "y", "true", "t", "right", "correct", "1"}
_NO = {"no", "n", "false", "f", "wrong", "0"}
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_SPELLED = {word: str(n) for n, word in enumerate(_WORDS.split())} | {"none": "0"}
_UNITS = {"k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "billion": 10**9}
_DIGITS = r"(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?"
_NUMBER = re.compile(
    rf"(?<![\w.])((?:(?<![\d)])[-+])?{_DIGITS})"
    rf"(?:\s*/\s*({_DIGITS})|\s*(?:\^|\*\*)\s*([-+]?\d{{1,4}}))?"
    rf"(?:\s*(%|percent|times|x|×|{'|'.join(_UNITS)}))?(?!\w)"
)
_GROUPED = re.compile(r"(?<![\w.])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
# What may stand beside numbers: brackets, separators, and words such as "windows".
_BESIDE = re.compile(r"(?:[\s,;:|&~≈()\[\]{}.-]|[^\W\d_]{2,})*")


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
    text = text.lower().replace("−", "-").replace("_", "").replace("'", "")
    text = re.sub(r"[^\W\d_]+", lambda word: _SPELLED.get(word[0], word[0]), text)
    # 1,000 is a thousand, and so is 1 000, and 0,5 a half, as some write.
    versions = [_GROUPED.sub(lambda digits: digits[0].replace(",", ""), text), text]
    if len(answers) == 1:
        versions += re.sub(r"(?<=\d) (?=\d{3}\b)", "", text), text.replace(",", ".")
    for version in versions:
        found = list(_NUMBER.finditer(version))
        if len(found) == len(answers) and _BESIDE.fullmatch(_NUMBER.sub(" ", version)):
            pairs = zip(found, answers, strict=True)
            return tuple(_value(match, answer) for match, answer in pairs)
    if len(answers) == 1:
        raise UnreadableError("Please give one number, such as 7 or 0.5 or 1,000.")
    raise UnreadableError(f"Please give {len(answers)} numbers, with spaces between.")


def _value(match: re.Match, answer: float) -> float:
    digits, divisor, power, unit = match.groups()
    # of a share, or of an answer that is in percent itself
    is_share = isinstance(answer, float) and abs(answer) <= 1
    factor = Fraction(1, 100) if unit in ("%", "percent") and is_share else 1
    try:
        value = (Fraction(digits) / Fraction(divisor or 1)) ** int(power or 1)
        value *= _UNITS.get(unit, factor)
        number = float(value)  # or it is too large
        return number if value.denominator > 1 else int(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise UnreadableError(f"{match[0]} is not a number to compare with.") from None
