"""Make wrong answers from right ones, by tables.

A table lists the slips in one way to write an answer. Each row has a piece of the way's
code, what is written instead, and below it what to say:

    - offset =>
        the offset is not subtracted, although it shortens the stream.
    max(0, ...) => ...
        a stream with no id after the offset gives a negative count: // rounds down.
    range(offset, => range(1, ; + 1 =>
        the cuts are as they were, and the count begins with 1.

The piece on the left must occur in the way exactly once. White space does not matter.
`...` matches any code whose brackets are closed. `;` separates the changes of a slip
that changes several places. Only the tokens that differ are replaced, so that two slips
fit together if they change different places. `⏎` starts a new line, indented as before.

A table of answers has expressions instead of changes. In both kinds of table, several
lines of code may share the words below them, and words that end in `…` stand for those
of an earlier row that begins in the same way. The code may use all names of its module,
and also `math` and `np`.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from course_lib.teaching.checker.sources import source_without_decorators

MOST_ROUNDS = 20_000  # of all loops in a call; with more, we take it for endless
TOKEN = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|\w+|\*\*=?|//=?|<<|>>|[-+*/%&|^@<>=!:]=|[^\w\s]"
)
ANYTHING = re.compile(r"\s*\.\.\.\s*")
OPENING, CLOSING = "([{", ")]}"
LOOP = re.compile(r"^( *)(?:for .*:|while (\(|.*:))$", re.M)

Row = tuple[str, str]  # a line of code, and the words for it
Span = tuple[int, int]


class TooManyRounds(Exception):
    """Raised in a wrong answer that would go on forever."""


def rows_of(table: str) -> list[Row]:
    """Return the rows of a table: each line of code, with the words below it."""
    groups: list[tuple[list[str], list[str]]] = [([], [])]
    table = re.sub(r" *\\\n *", " ", table)  # a raw string keeps its line ends
    for line in textwrap.dedent(table).splitlines():
        codes, words = groups[-1]
        if codes and not words and _is_open(codes[-1]):
            codes[-1] += " " + line.strip()
        elif line.startswith(" "):
            words.append(line.strip())
        elif line and words:
            groups.append(([line.strip()], []))
        elif line:
            codes.append(line.strip())
    for codes, words in groups if table.strip() else ():
        if not codes or not words:
            raise ValueError(f"code needs words below it: {codes}, {words}")
    return [(code, " ".join(words)) for codes, words in groups for code in codes]


def _is_open(code: str) -> bool:
    if "=>" in code:
        return False
    return sum(code.count(sign) for sign in OPENING) > sum(map(code.count, CLOSING))


def with_words_in_full(rows: list[Row], known: Sequence[str]) -> list[Row]:
    """Complete the words that end in `…` with earlier words that begin in that way."""
    full = []
    for code, words in rows:
        if words.endswith("…"):
            begin = words.removesuffix("…")
            earlier = [*known, *(said for _, said in full)]
            found = {said for said in earlier if said.startswith(begin)}
            if len(found) != 1:
                raise ValueError(f"{code!r}: {len(found)} rows above begin {begin!r}")
            (words,) = found
        full.append((code, words))
    return full


@dataclass(frozen=True)
class Edit:
    begin: int
    end: int
    new: str

    def excludes(self, other: Edit) -> bool:
        if self.begin == other.begin:
            return True
        return self.begin < other.end and other.begin < self.end


@dataclass(frozen=True)
class Slip:
    code: str
    words: str
    edits: tuple[Edit, ...]

    def fits(self, other: Slip) -> bool:
        pairs = ((one, two) for one in self.edits for two in other.edits)
        return self.words != other.words and not any(a.excludes(b) for a, b in pairs)


class RightWay:
    """A right way to write an answer, and a table of the slips in it.

    The source of the function is edited below its docstring.
    """

    def __init__(self, function: Callable, table: str):
        self.function = function
        self.table = table

    @cached_property
    def source(self) -> str:
        return source_without_decorators(self.function) + "\n"

    @cached_property
    def body_begins(self) -> int:
        (definition,) = ast.parse(self.source).body
        has_docstring = ast.get_docstring(definition) is not None
        first = definition.body[1 if has_docstring else 0]
        return sum(map(len, self.source.splitlines(True)[: first.lineno - 1]))

    def slips(self, known: Sequence[str]) -> list[Slip]:
        """The slips of the table, the code of each of which occurs in the way once."""
        rows = with_words_in_full(rows_of(self.table), known)
        return [Slip(code, words, self.edits(code)) for code, words in rows]

    def edits(self, code: str) -> tuple[Edit, ...]:
        edits = []
        for change in re.split(r"\s;\s", code):
            old, arrow, new = change.partition("=>")
            old, new = old.strip(), new.strip()
            pieces, news = ANYTHING.split(old), ANYTHING.split(new)
            if not arrow or not all(pieces) or old == new:
                raise ValueError(f"{self.function.__name__}: no change: {change!r}")
            found = list(self._places(pieces, self.body_begins))
            if len(found) != 1:
                where = f"{self.function.__name__}: {old!r}"
                raise ValueError(f"{where} occurs {len(found)} times, not once")
            (spans,) = found
            if len(news) == 1 != len(spans):
                edits.append(Edit(spans[0][0][0], spans[-1][-1][1], new))
            elif len(news) != len(spans):
                raise ValueError(f"{change!r}: as many `...` on both sides, or none")
            else:
                edits += map(self._difference, spans, news)
        return tuple(edit for edit in edits if edit.begin < edit.end or edit.new)

    def _places(self, pieces: list[str], first: int) -> Iterator[list[list[Span]]]:
        """Find where the pieces follow one another, as spans of each one's tokens."""
        at = first
        while match := _pattern(pieces[0]).search(self.source, at):
            spans = [[match.span(i + 1) for i in range(match.re.groups)]]
            at = match.start() + 1
            end = match.end()
            for piece in pieces[1:]:
                if not (next_one := self._behind(piece, end)):
                    break
                spans.append([next_one.span(i + 1) for i in range(next_one.re.groups)])
                end = next_one.end()
            else:
                yield spans

    def _behind(self, piece: str, begin: int) -> re.Match | None:
        """Find a piece at its first place without an open or closed bracket before."""
        depth = 0
        for at in range(begin, len(self.source)):
            if depth == 0 and (match := _pattern(piece).match(self.source, at)):
                return match
            depth += (self.source[at] in OPENING) - (self.source[at] in CLOSING)
            if depth < 0:
                return None
        return None

    def _difference(self, spans: list[Span], new: str) -> Edit:
        """Return the change without the tokens at both ends that stay the same."""
        old, begin_of_all = [self.source[slice(*span)] for span in spans], spans[0][0]
        new_spans = [match.span() for match in TOKEN.finditer(new)]
        tokens = [new[begin:end] for begin, end in new_spans]
        most = min(len(old), len(tokens))
        first = next((i for i in range(most) if old[i] != tokens[i]), most)
        most -= first
        last = next((i for i in range(most) if old[-1 - i] != tokens[-1 - i]), most)
        spans, left = spans[first : len(old) - last], spans[:first]
        new_spans = new_spans[first : len(tokens) - last]
        begin = end = left[-1][1] if left else begin_of_all
        if spans:
            begin, end = spans[0][0], spans[-1][1]
        text = new[new_spans[0][0] : new_spans[-1][1]] if new_spans else ""
        return Edit(begin, end, self._with_blanks(begin, end, text))

    def _with_blanks(self, begin: int, end: int, text: str) -> str:
        line = self.source[self.source.rfind("\n", 0, begin) + 1 : begin]
        indent = line[: len(line) - len(line.lstrip())]
        text = re.sub(r"\s*⏎ ?", "\n" + indent, text)
        neighbors = self.source[begin - 1] + text[:1], text[-1:] + self.source[end]
        before, after = (" " * bool(re.fullmatch(r"\w\w", two)) for two in neighbors)
        return before + text + after

    def with_slips(self, *slips: Slip) -> str:
        source = self.source
        edits = [edit for slip in slips for edit in slip.edits]
        for edit in sorted(edits, key=lambda edit: edit.begin, reverse=True):
            source = source[: edit.begin] + edit.new + source[edit.end :]
        return source


@cache
def _pattern(piece: str) -> re.Pattern:
    """Return a pattern for a piece of code in any layout, with a group per token."""
    tokens = [token for token in TOKEN.findall(piece) if token != "⏎"]
    whole = [re.sub(r"^(\w.*)$", r"(?<!\\w)\1(?!\\w)", re.escape(t)) for t in tokens]
    return re.compile(r"\s*".join(f"({token})" for token in whole))


def _counted(loop: re.Match) -> str:
    """Return the head of a loop that asks in each round whether it may continue."""
    indent, condition = loop.groups()
    if condition is None:
        return f"{loop[0]}\n{indent}    _goes_on()"
    opened = "(" if condition == "(" else f"({condition[:-1]}):"
    return f"{indent}while _goes_on() and {opened}"


class FromSource:
    """A function that is compiled when it is first called, and whose loops always end:
    a `def`, or an expression of `parameters`, with the globals of `like`."""

    def __init__(self, source: str, like: Callable, parameters: str | None = None):
        self.source = source
        self.like = like
        self.parameters = parameters
        self.rounds = 0

    @cached_property
    def function(self) -> Callable:
        source = self.source
        if self.parameters is not None:
            source = f"def answer({self.parameters}):\n    return ({source})\n"
        # We change the source and not its tree, which would take five times as long.
        source = LOOP.sub(_counted, source)
        known = {**self.like.__globals__, "math": math, "np": np}
        names, found = known | {"_goes_on": self._goes_on}, {}
        exec(source, names, found)
        names.update(found)  # so that a recursive call finds this function
        (function,) = found.values()
        return function

    def __call__(self, *arguments: object, **named: object) -> object:
        self.rounds = 0
        return self.function(*arguments, **named)

    def _goes_on(self) -> bool:
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise TooManyRounds
        return True
