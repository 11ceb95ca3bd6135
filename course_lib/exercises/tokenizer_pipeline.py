"""Exercises of lesson 07: tidy, cut, rules without a turn, bytes for unknown
characters, lost bytes, and where each character came from."""

from __future__ import annotations

import html
import re
from collections import Counter  # noqa: F401, the tables use it
from collections.abc import Callable, Iterator
from functools import cache, reduce  # noqa: F401, the tables use it
from itertools import groupby, pairwise  # noqa: F401, the tables use them
from random import Random

from tokenizers import Tokenizer

from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false
from course_lib.tokenizer_pipeline import build_tokenizer
from course_lib.tokenizer_pipeline.markup import strip_html


def _untidy_texts(random: Random) -> Iterator[Case]:
    for text in (
        *("", "a", "a b", "a  b", "a  ", "  a", "   a", "a\n", "a\n\n", "\n\n\n", " "),
        # single letters and signs between two runs
        *("a  b  c", "a.  b", "a,  b  (c)", "a   b\n  c   d", "a  b  c  d   e"),
        # tabs are cut at line ends, but a run consists of spaces
        *("\ta  b", "a\t\tb", "\t  b", "a \t", "a\t\n", " \tb"),
        *("a \n b", "a\n\nb", "a\n\n\nb", "a\n\n\n\n\nb", "a\n\n\n\n\n\n\n\nb"),
        *("a\n \n \nb", "a\n\t\n\n\nb", "\n\n\na", "a \n\n \n\n", "a\n\nb  \n"),
        # other whitespace is left alone
        *("a\u00a0\u00a0b", "a\u00a0\nb", "a\u00a0", "a\r", "a\r\nb", "a\rb  c"),
        *("a\x0bb", "a\x0c\nb", "a\n\u3000b", "a\u00a0  b", "a\r  b", "\u00a0  a"),
        *("a\n\n\u00a0\n\nb", "a\n\r\n\nb", "a\n\nb\n\n\nc\n\n\n\nd"),
        # a run after a tab, in a line that has begun
        *("a\t  b", "a\t    b  c", "  a\n   b\n    c"),
    ):
        yield (text,)
    yield ("if a:\n    return  b   \n\n\n\nelse:\n\tpass",)
    parts = ["a", "b", ".", " ", "  ", "   ", "\t", "\n", "\n\n"]
    for _ in range(40):
        yield ("".join(random.choices(parts, k=random.randrange(3, 12))),)


@exercise(
    cases=_untidy_texts,
    hints=(
        "Three substitutions are enough. In which order must they come, so that a line "
        "of spaces counts as an empty line?",
        "A pattern can look without taking: `(?=...)` looks ahead, and `(?<=...)` "
        "looks back. What it takes is replaced, and what it only looks at stays.",
    ),
)
def tidy(text: str) -> str:
    """Cut spaces and tabs at line ends, make runs of spaces one, and three or more
    newlines two; indentation stays."""
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def _each_line(change: Callable[[str], str], text: str) -> str:
    return "\n".join([change(line) for line in text.split("\n")])


tidy.slips(r"""
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+$"
        without `re.MULTILINE`, `$` is the end of the text. Every line has an end.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+\Z"
        only the end of the text is tidied. Every line has an end.
    r"[ \t]+(?=\n|\Z)" => r" +(?=\n|\Z)"
        tabs at the end of a line stay: they are to be cut like spaces.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+(?=\n)"
        the last line also has an end, even though no newline follows it.
    r"[ \t]+(?=\n|\Z)" => r"\s+$"
        `\s+$` takes newlines at the end of the text. Only `[ \t]` is to be cut.
    r"[ \t]+(?=\n|\Z)" => r"(?m)\s+$"
    r"[ \t]+(?=\n|\Z)" => r"[ \t\n]+(?=\n|\Z)"
        newlines are cut with the spaces before them, so empty lines vanish.
    r"[ \t]+(?=\n|\Z)" => r"\s+(?=\n)"
        `\s+\n` takes newlines, and it misses the last line, where no newline follows.
    r"[ \t]+(?=\n|\Z)" => r"[ \t](?=\n|\Z)"
        only one space or tab is cut at the end of a line: there may be several.
    r"[ \t]+(?=\n|\Z)" => r"x^"
        spaces and tabs at line ends are never cut.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.rstrip, text)
        other whitespace is cut at line ends: give `rstrip()` the argument `" \t"`.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.strip, text)
        `strip()` without `" \t"` takes all whitespace, and the indentation with it.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => \
    "".join([line.rstrip(" \t") for line in text.split("\n")])
        lines are joined without a newline.
    text = re.sub(r"[ \t]+(?=\n|\Z)" => two = re.sub(r"\n{3,}", "\n\n", text) ⏎ \
    text = two ⏎ text = re.sub(r"[ \t]+(?=\n|\Z)" ; return re.sub(...) => return text
        newlines are reduced before the spaces between them are cut.
    r"(?<=[^ \t\n]) {2,}" => " {2,}"
        the indentation is reduced with the rest. In Python, and in lists, it matters.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^\n]) {2,}"
        indentation of three or more is reduced: its second space follows no line end.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!\n) {2,}"
        `(?<!\n)` is also true before the second space of an indentation.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!^) {2,}"
        `(?<!^)` spares only the first space of the text: look back for a character.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \n]) {2,}"
        spaces after a tab, in an indentation, are reduced: a tab begins no text.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S) {2,}"
        `\S` is not true of other whitespace: a run after a no-break space counts.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}"
        runs are reduced only after letters: they may also follow a full stop.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}(?=\w)"
        runs are reduced only between letters: they may also follow a full stop.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\w) {2,}(\w)", r"\1 \2"
        runs are reduced between letters, which are taken with them: the next is missed.
    r"(?<=[^ \t\n]) {2,}", " " => r"([^ \t\n]) {2,}([^ \t\n])", r"\1 \2"
        the characters beside a run are taken with it: look back with `(?<=...)`.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\S) {2,}(\S)", r"\1 \2"
        `(\S)` takes the characters beside a run: look back with `(?<=[^ \t\n])`.
    r"(?<=[^ \t\n]) {2,}" => r"[^ \t\n] {2,}"
        the character before a run is replaced with it: look back, or put it back.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])[ \t]{2,}"
        runs of tabs are reduced: only runs of spaces are to become one space.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S)\s+"
        `\s+` also takes newlines and tabs, and puts a space in their place.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])  "
        runs are halved: a pattern for two spaces goes through the text once.
    r"(?<=[^ \t\n]) {2,}" => "  "
        runs are halved, even in the indentation: `replace` goes through the text once.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n]) {3,}"
        two spaces stay: a run begins with two.
    r"(?<=[^ \t\n]) {2,}" => r"x^"
        runs of spaces are never reduced.
    r"(?<=[^ \t\n]) {2,}", " " => r"(?<=[^ \t\n]) {2,}", ""
        a run of spaces becomes nothing: one space is to be left.
    r"\n{3,}", "\n\n" => "\n\n\n", "\n\n"
        one pass is not enough: a pattern for exactly three makes five newlines four.
    r"\n{3,}", "\n\n" => r"\n{2,}", "\n"
        two newlines also become one: an empty line between paragraphs may stay.
    r"\n{3,}", "\n\n" => r"\n{3,}", "\n"
        three or more newlines become one. They are to become two.
    r"\n{3,}", "\n\n" => r"\n{4,}", "\n\n"
        three newlines stay: three or more are to become two.
    return re.sub(...) => return text
        newlines are never reduced: three or more are to become two.
    r"\n{3,}", "\n\n" => r"\n\s*\n\s*\n", "\n\n"
        lines that contain other whitespace are taken for empty ones.
    return re.sub(...) => return re.sub(...).strip()
        the text as a whole is stripped: newlines and indentation at its ends may stay.
""")


@tidy.right_way(r"""
    rstrip(" \t") => rstrip()
        other whitespace is cut…
    rstrip(" \t") => strip(" \t")
        each line loses its indentation: `strip` cuts on both sides.
    rstrip(" \t") => strip()
        `strip()` without…
    rstrip(" \t") => rstrip(" ")
        tabs at the end of a line stay…
    in text.split("\n"): => in text.splitlines():
        `splitlines` cuts at more than newlines, and forgets one at the end of the text.
    lstrip(" \t") => lstrip(" ") ; r"(?<=[^ \t]) {2,}" => r" {2,}"
        spaces after a tab, in an indentation, are reduced…
    r"(?<=[^ \t]) {2,}" => " {2,}"
        spaces right after a tab within a line are reduced: a run has to follow text.
    r"(?<=[^ \t]) {2,}" => "  "
        runs right after a tab are reduced, and runs of spaces are halved.
    lstrip(" \t") => lstrip() ; re.sub(r"(?<=[^ \t]) {2,}", " ", body) => \
    " ".join(body.split())
        `lstrip` and `split` without an argument take all whitespace.
    "\n".join(lines) => "".join(lines)
        lines are joined without…
    r"\n{3,}" => "\n\n\n"
        one pass is not enough…
""")
def line_by_line(text):
    lines = []
    for line in text.split("\n"):
        line = line.rstrip(" \t")
        body = line.lstrip(" \t")
        indent = line[: len(line) - len(body)]
        lines.append(indent + re.sub(r"(?<=[^ \t]) {2,}", " ", body))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


tidy.answers(r"""
    " ".join(text.split())
        all whitespace becomes one space, newlines included: the paragraphs are gone.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text)
        only line ends are tidied: runs of spaces and of newlines are still there.
    re.sub(r"\n{3,}", "\n\n", _each_line(lambda line: " ".join(line.split()), text))
        `split` without an argument cuts a line at all whitespace, even at its start.
    tidy.reference(text.expandtabs(4))
        tabs become spaces: they may stay in an indentation.
    tidy.reference(re.sub(r"\n\s*\n\s*\n", "\n\n", text))
        lines that contain other whitespace…
    tidy.reference("\n".join(text.splitlines()))
        `splitlines` cuts at more than newlines…
""")


def _rules_and_texts(random: Random) -> Iterator[Case]:
    number, integer, word = r"\d+\.\d+", r"\d+", r"[a-z]+"
    for text in (
        *("", "7", "1.5", "a1.5", "1.5 22", "x = 3.25;", "...", "ab12cd", "1.2.3"),
        " 7 ",
    ):
        yield text, [number, integer, word]
        yield text, [integer, number]
        yield text, [word]
    for _ in range(10):
        yield "".join(random.choices("ab12. ", k=8)), [number, integer, word]
    # The second rule matches earlier in the text than the first one.
    for text in ("ab12", "ab12cd", "12ab3", "-ab1-2"):
        yield text, [integer, r"[a-z]+\d+"]
    # The longer match comes from the later rule.
    for text in ("abc", "ab.abc", "aab"):
        yield text, ["ab", "abc", "a"]
    # The longer pattern, in the order of characters the first, comes last.
    for text in ("abc", "1bc", "ab1cb"):
        yield text, ["a", "bc", "[a-z]+"]
    # Capitals are not small letters, a point is not a newline, and repeats stay.
    for text in ("aB1", "Ab", "ABC", "a a a"):
        yield text, [number, integer, word]
    for text in ("#a\nb", "a\n#\n#b"):
        yield text, ["#.*", "b"]
    # What precedes a match may be a match itself.
    for text in ("a1.", "ab2 c", "1.a1."):
        yield text, [r"(?<=[a-z])\d", "[a-z]+"]
    # The neighbors decide.
    for text in ("a1", "a11", "1a1", "1 1a", "b2a2"):
        yield text, [r"(?<=[a-z])\d", r"\d+"]
    for text in ("ab.", "ab c", "a.b."):
        yield text, [r"[a-z]+(?=\.)", "[a-z]"]


@exercise(
    cases=_rules_and_texts,
    hints=(
        "Make one regular expression with all rules as alternatives. And what about "
        "the text between two matches?",
        "A match of `re.finditer` has a `start()` and an `end()`. What do you have to "
        "remember from the match before it?",
    ),
)
def cut_isolated(text: str, rules: list[str]) -> list[str]:
    """Cut `text` as `Split(..., "isolated")` does: each match is a piece, and so is the
    text between two matches."""
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


cut_isolated.slips(r"""
    re.finditer("|".join(rules) => re.finditer("|".join(rules[::-1])
        the rules are tried in the opposite order: the first one wins.
    re.finditer("|".join(rules) => \
    re.finditer("|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern comes first. The order of the rules decides.
    re.finditer("|".join(rules) => re.finditer("|".join(rules[:1])
        only the first rule is used: the others come after it.
    re.finditer("|".join(rules) => re.finditer("|".join(map(re.escape, rules))
        the rules are escaped, or searched for as plain text: they are patterns.
    re.finditer("|".join(rules) => re.finditer("".join(rules)
        the rules are joined without `|`, so they match only one right after the other.
    re.finditer("|".join(rules) => re.finditer("(?:" + "|".join(rules) + ")+"
        matches that touch are joined: each of them is a piece of its own.
    text): => text, re.IGNORECASE):
    text): => text, re.DOTALL):
        flags change what the rules mean, for example capitals, or a point.
    re.finditer("|".join(rules), text) => \
    (match for rule in rules for match in re.finditer(rule, text))
        each rule goes through the whole text, so that pieces occur twice.
    re.finditer(...) => list(re.finditer(...))[:1]
        the text is cut only at the first match: there may be more.
    [text[end : match.start()], => [
        the text between the matches is dropped. A tokenizer must not lose a character.
    , match.group()] => ]
        the matches are dropped: `re.split` keeps them only if they are in a group.
    text[end : match.start()], match.group() => text[end : match.end()]
        a match and the text before it are one piece: `isolated` keeps them apart.
    [text[end : match.start()], match.group()] => \
    [(end, match.start()), match.span()] ; text[end:] => (end, len(text)) ; \
    if piece] => if piece[0] < piece[1]]
        the list contains the places of the pieces: the pieces themselves are wanted.
    [text[end : => [*text[end : ; text[end:] => *text[end:]
        the text between two matches is one piece, not one for each character.
    end = match.end() => end = match.end() + 1
        the character after each match is skipped: `end()` is already its place.
    end = match.end() => end = match.start()
        the next gap begins at the start of the last match, instead of at its end.
    text[end:]] => text[end:] if end else ""]
        where nothing matches, the text is lost, but then it is one piece.
    [*pieces, text[end:]] => pieces
        the rest of the text after the last match is missing.
    [*pieces, text[end:]] => [*pieces[1:], text[end:]]
        the text before the first match is missing.
    if piece] =>]
        empty pieces stay in the list, for example between two matches that touch.
    if piece] => if piece.strip()]
        pieces of spaces alone are dropped: a tokenizer must not lose a character.
    [piece for ... if piece] => [piece.strip() for ... if piece.strip()]
        spaces are cut off, or dropped: a tokenizer must not lose a character.
""")


@cut_isolated.right_way(r"""
    "(" + "|".join(rules) + ")" => "|".join(rules)
        the matches are dropped…
    "|".join(rules) => "|".join(rules[::-1])
        the rules are tried in the opposite order…
    "|".join(rules) => "|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern…
    if piece] =>]
        empty pieces stay…
    text) if => text)[1:-1] if
        both ends of the split are dropped. They are empty only if a match is there.
""")
def split_in_a_group(text, rules):
    return [piece for piece in re.split("(" + "|".join(rules) + ")", text) if piece]


@cut_isolated.right_way(r"""
    "(" + "|".join(rules) + ")" => "|".join(rules)
        without a group, `re.split` returns only what is between the matches.
    elif part: => else:
        empty pieces stay…
    += [part] => += part or [""]
        the text between two matches is one piece, not…
    += [part] => += []
        the text between the matches is dropped…
""")
def matches_at_odd_places(text, rules):
    pieces = []
    for number, part in enumerate(re.split("(" + "|".join(rules) + ")", text)):
        if number % 2 == 1:
            pieces.append(part)
        elif part:
            pieces += [part]
    return pieces


@cut_isolated.right_way(r"""
    match(text, place) => match(text[place:])
        the rules see only the rest of the text: `(?<=...)` needs what precedes it.
    found[0] => max(found, key=len)
        the longest match wins. The first alternative should, long or short.
    found[0] => min(found, key=len)
        the shortest match wins. The first alternative should, long or short.
    gap = "" ⏎ else => pass ⏎ else
        the text between two matches is never forgotten, so it comes again.
    gap += piece => pieces.append(piece)
        the text between two matches is one piece…
    pieces += [gap, piece] => pieces.append(gap + piece)
        a match and the text before it…
    pieces += [gap, piece] => pieces.append(piece)
        the text between the matches is dropped…
    [*pieces, gap] => pieces
        the rest of the text after…
    if piece] =>]
        empty pieces stay…
""")
def place_by_place(text, rules):
    pieces, gap, place = [], "", 0
    while place < len(text):
        found = [re.compile(rule).match(text, place) for rule in rules]
        if found := [match.group() for match in found if match]:
            piece = found[0]
            pieces += [gap, piece]
            gap = ""
        else:
            piece = text[place]
            gap += piece
        place += len(piece)
    return [piece for piece in [*pieces, gap] if piece]


@cut_isolated.right_way(r"""
    re.compile("|".join(rules)).search(text, place) => \
    next(filter(None, (re.compile(rule).search(text, place) for rule in rules)), None)
        the first rule that occurs cuts first: a later one may match before it.
    search(text, place) => search(text) ; place = match.end() => \
    text = text[match.end() :]
        after a match the search starts over in the rest: `(?<=...)` cannot see it.
    return [...] => return [*filter(None, pieces), text[place:]]
        the rest stays even if it is empty: a match may end the text.
""")
def searched_on(text, rules):
    pieces, place = [], 0
    while match := re.compile("|".join(rules)).search(text, place):
        pieces += [text[place : match.start()], match.group()]
        place = match.end()
    return [piece for piece in [*pieces, text[place:]] if piece]


cut_isolated.answers(r"""
    re.findall("|".join(rules), text)
        the text between the matches is dropped…
    re.split("(" + ")|(".join(rules) + ")", text)
        each rule has its own group, which is `None` where another rule matched.
    list(text)
        each character is a piece, whatever the rules are.
    re.split("|".join(rules), text)
        `re.split` without a group drops the matches, and leaves empty pieces.
    [p for part in text.split() for p in cut_isolated.reference(part, rules)]
        the text is cut at spaces first, and they are lost: only the rules cut.
    [text[i:j] for i, j in pairwise([0, \
    *(m.start() for m in re.finditer("|".join(rules), text)), len(text)]) if j > i]
        a match and the text after it are one piece: `isolated` keeps them apart.
    reduce(lambda pieces, rule: [q for piece in pieces \
    for q in re.split(f"({rule})", piece) if q], rules, [text])
        each rule cuts all pieces again: a match is not cut further.
    reduce(lambda pieces, rule: [q for piece in pieces \
    for q in re.split(rule, piece) if q], rules, [text])
        each rule cuts all pieces again, and `re.split` without a group drops matches.
""")


@cut_isolated.mistake(
    "rule by rule: the first rule cuts the whole text, and the next ones cut the rest. "
    "But at an earlier place a later rule comes first."
)
def rule_by_rule(text, rules):
    if not rules:
        return [text] if text else []
    parts = enumerate(re.split(f"({rules[0]})", text))
    cut = [[part] if i % 2 else rule_by_rule(part, rules[1:]) for i, part in parts]
    return [piece for pieces in cut for piece in pieces]


def _rules_with_texts(random: Random) -> Iterator[Case]:
    number, integer, word = r"\d+\.\d+", r"\d+", "[a-z]+"
    for texts in (
        *([], [""], ["7"], ["1.5"], ["a 7"], ["x = 3.25;"], ["...", "!"]),
        *(["7", "1.5"], ["1.5", "7"], ["7", "a"], ["a", "b", "1.5 7"]),
        # No text holds a point between digits, but joined the texts do.
        *(["7.", "5"], ["a", ".5"]),
    ):
        yield texts, [number, integer, word]
        yield texts, [integer, number, word]
    # A match of the second rule holds all that the others could match.
    for texts in (["ab"], ["ab b"], ["abb"], ["b"], ["ab", "ab"], ["xab"]):
        yield texts, ["b+", "ab", "a"]
    # A longer match comes from a later rule.
    for texts in (["abc"], ["ab abc"], ["aab"], ["c"]):
        yield texts, ["ab", "abc", "a"]
        yield texts, ["abc", "ab", "c"]
    # The neighbors decide.
    for texts in (["a1"], ["1a1"], ["b2 2"], ["1", "a"]):
        yield texts, [r"(?<=[a-z])\d", r"\d", "[a-z]"]
    for _ in range(12):
        texts = ["".join(random.choices("ab1. ", k=5)) for _ in range(2)]
        yield texts, [integer, "a", number, "[ab]+"]


@exercise(
    cases=_rules_with_texts,
    hints=(
        "A rule that matches somewhere need not get its turn there. Which rule takes "
        "each piece, when all are tried together?",
        "Put each rule into a group of its own, `(...)|(...)`. A match then knows the "
        "number of the group that took part, its `lastindex`, which counts from 1.",
    ),
)
def unused_rules(texts: list[str], rules: list[str]) -> list[str]:
    """Return the rules, in their order, that never take a piece of the texts when all
    are tried together, as alternatives."""
    used = set()
    for text in texts:
        for match in re.finditer("|".join(f"({rule})" for rule in rules), text):
            used.add(match.lastindex - 1)
    return [rule for number, rule in enumerate(rules) if number not in used]


unused_rules.slips(r"""
    in texts: => in texts[:1]:
        only the first text is read: a rule may get its turn in another one.
    in texts: => in texts[-1:]:
        only the last text counts: a rule may get its turn in another one.
    in texts: => in ["".join(texts)]:
        the texts are joined: a match may then begin in one and end in the next.
    re.finditer(...) => filter(None, [ \
    re.match("|".join(f"({rule})" for rule in rules), text)])
        only the beginning of each text is looked at: `re.match` searches no further.
    re.finditer(...) => list(re.finditer(...))[:1]
        only the first match of each text counts: the text goes on after it.
    match.lastindex - 1 => match.lastindex
        groups are counted from 1, and rules from 0: the rule after the right one.
    return [...] => return sorted(...)
        the rules are sorted, or were put into a set: return them in their order.
    not in used => in used
        these are the rules that do get a turn. The others are wanted.
    [rule for => [number for
        the numbers of the rules are returned: the rules themselves are wanted.
""")


@unused_rules.right_way(r"""
    in texts: => in texts[:1]:
        only the first text is read…
    in texts: => in texts[-1:]:
        only the last text counts…
    in texts: => in ["".join(texts)]:
        the texts are joined…
    match(text, place) => match(text[place:])
        the rules see only the rest of the text: `(?<=...)` needs what precedes it.
    enumerate(rules): => reversed(list(enumerate(rules))):
        the rules are tried in the opposite order: the first one wins.
    in enumerate(rules): => in sorted(enumerate(rules), \
    key=lambda two: -len((re.compile(two[1]).match(text, place) or [""])[0])):
        the longest match takes the piece. The first rule that matches should.
    place = match.end() ⏎ => place += 1 ⏎
        the next match is sought inside the last one: it begins after its end.
    break => pass
        the search goes on with the next rule after a match: all start over there.
    not in used => in used
        these are the rules that do get a turn…
    [rule for => [number for
        the numbers of the rules…
""")
def walked(texts, rules):
    used = set()
    for text in texts:
        place = 0
        while place < len(text):
            for number, rule in enumerate(rules):
                if match := re.compile(rule).match(text, place):
                    used.add(number)
                    place = match.end()
                    break
            else:
                place += 1
    return [rule for number, rule in enumerate(rules) if number not in used]


unused_rules.answers(r"""
    [rule for rule in rules if not any(re.search(rule, text) for text in texts)]
        each rule is tried alone: one that matches may still never get its turn.
    [rule for rule in rules if not all(re.search(rule, text) for text in texts)]
        each rule is tried alone, and in every text: one text is enough for a turn.
    [rule for rule in rules if not any(re.fullmatch(rule, text) for text in texts)]
        a rule has to match a whole text: it only takes a piece of one.
    [rule for rule in rules if not any(re.match(rule, text) for text in texts)]
        rules are tried only where a text begins, and each alone.
    [rule for rule in rules if not any(rule in text for text in texts)]
        the rules are searched for as plain text: they are patterns.
    [rule for rule in rules if not any(re.fullmatch(rule, match.group()) \
    for text in texts for match in re.finditer("|".join(rules), text))]
        a rule that would match a piece counts as used, but another one takes the piece.
    [r for r in rules if any(r in unused_rules.reference([t], rules) for t in texts)]
        a rule without a turn in one text is returned: it may get one in another.
    unused_rules.reference(texts, rules[::-1])[::-1]
        the rules are tried in the opposite order…
    [rule for rule in rules if rule in \
    unused_rules.reference(texts, sorted(rules, key=len)[::-1])]
        the rule with the longest pattern is tried first. The order of rules decides.
    unused_rules.reference(texts, rules)[::-1]
        the right rules, in the opposite order.
    unused_rules.reference(texts, rules)[:1]
        only the first unused rule is returned: there may be several.
""")


def _words_and_alphabets(random: Random) -> Iterator[Case]:
    for text in ("", "a", "é", "aé", "né", "中", "a中b", "👍", "\n", "\t€", "éé"):
        for alphabet in ("", "a", "aé", "ab中"):
            yield text, alphabet
    # The alphabet holds characters whose numbers are bytes of the text.
    for text in ("é", "aé", "©", "ä中"):
        yield text, "Ã©"
        yield text, "aÃ¤"
    for text in ("A", "AB", "<0x41>", "Aé", "C"):
        yield text, "B<0x41>"


@exercise(
    cases=_words_and_alphabets,
    hints=(
        "A character of the alphabet is one token. Any other character is as many "
        "tokens as it has bytes.",
        "`character.encode()` gives its UTF-8 bytes, which are numbers. The format "
        "`02X` writes a number with two digits, in capitals.",
    ),
)
def fall_back_to_bytes(text: str, alphabet: str) -> list[str]:
    """Return the tokens before any merge: characters of the alphabet, and `<0xNN>` for
    each byte of the others."""
    tokens = []
    for character in text:
        if character in alphabet:
            tokens.append(character)
        else:
            tokens += [f"<0x{byte:02X}>" for byte in character.encode()]
    return tokens


fall_back_to_bytes.slips(r"""
    character in alphabet: => False:
        always bytes. The fallback is for characters that the alphabet lacks.
    character in alphabet: => character not in alphabet:
        the wrong way round: characters of the alphabet stay, the others become bytes.
    character in alphabet: => text in alphabet:
        the whole text is looked up in the alphabet: look up each character.
    character in alphabet: => set(text) <= set(alphabet):
        one unknown character turns the whole text into bytes, instead of only itself.
    character in alphabet: => character.isascii():
    character in alphabet: => character.isascii() or character in alphabet:
        ASCII is kept: the alphabet decides, whatever it contains.
    in text: => in text.lower():
        capitals become small letters: the text's characters stay as they are.
    in text: => in "".join(text.split()):
        whitespace is left out: it has bytes like any other character.
    tokens.append(character) => pass
        the characters of the alphabet are missing: they stay.
    tokens += [...] => pass
        unknown characters are dropped: the silent loss that the fallback prevents.
    tokens += [...] => tokens.append("<unk>")
        an unknown token instead of bytes: the text can no longer be restored from it.
    tokens += [...] => tokens.append(character.encode())
        the result of `encode()` goes into the list whole: each byte becomes a token.
    tokens += [...] => tokens.append(str(character.encode()))
        Python's way to show `bytes` is taken for a name. The names are <0xNN>.
    tokens += [...] => tokens += [character, *[...]]
        the unknown character stays, and its bytes are added to it.
    tokens += [...] => tokens.append([...])
        a list in the list for each unknown character: `+=` adds its entries.
    tokens += [...] => tokens.append("".join(map(str, [...])))
        the tokens of a character are joined to one: each of its bytes is an entry.
    tokens += [...] => tokens += "".join([...])
        a name is taken apart into its characters: `append` adds it as a whole.
    character.encode()] => character.encode()] ⏎ break
        the loop ends with the first unknown character: the text may go on after it.
    character.encode()] => text[text.index(character) :].encode()] ⏎ break
        everything from the first unknown character on is bytes: some of it is known.
    character.encode() => character.encode()[:1]
        one byte of each unknown character: all its bytes are needed to restore it.
    character.encode() => [ord(character)]
        the code point instead of the bytes of UTF-8: there is no token <0x4E2D>.
    character.encode() => ord(character).to_bytes(4, "big").lstrip(b"\0")
        the bytes of the code point: from 0x80 on, UTF-8 writes different ones.
    character.encode() => character.encode("utf-16-be")
    character.encode() => character.encode("utf-16-le")
        the bytes of UTF-16. Byte tokens are for UTF-8, which `encode()` gives.
    "<0x{byte:02X}>" for byte in character.encode() => \
    "<0x{character.encode().hex().upper()}>"
        all bytes of a character are in one token. Each byte is a token of its own.
    "<0x{byte:02X}>" for byte in character.encode() => "<0x{character.encode().hex()}>"
        all bytes are in one token, in small letters: each has its own, such as <0xC3>.
    "<0x{byte:02X}>" for byte in character.encode() => "<U+{ord(character):04X}>"
        names are those of code points, U+. Each byte is a token, with the name <0xNN>.
    f"<0x{byte:02X}>" for => \
    chr(byte) if chr(byte) in alphabet else f"<0x{byte:02X}>" for
        a byte is not a character: do not look up the character with its number.
    "<0x{byte:02X}>" => "<0x{byte:02x}>"
        lower-case names: the vocabulary contains <0xC3>, and <0xc3> is not found in it.
    "<0x{byte:02X}>" => "<0x{byte:X}>"
        bytes below 0x10 have one digit. The names have two: <0x0A>.
    "<0x{byte:02X}>" => "<0x{byte:2X}>"
        numbers below 0x10 begin with a space: `02X` puts a zero there.
    "<0x{byte:02X}>" => "<{byte:#x}>"
        `hex` writes lower-case digits, and one below 0x10, not <0xC3> and <0x0A>.
    "<0x{byte:02X}>" => "{byte:#x}"
        `hex` writes lower-case digits without zero and brackets: <0xC3>, <0x0A>.
    "<0x{byte:02X}>" => "{byte:#X}"
        the names have angle brackets, a small x, and two digits: <0xC3> and <0x0A>.
    "<0x{byte:02X}>" => "<0X{byte:02X}>"
        `upper` also writes the x as a capital: the names are <0xC3> and so on.
    "<0x{byte:02X}>" => "<0X{byte:X}>"
        `hex` and `upper` write X in capitals, and one digit below 0x10: <0xC3>, <0x0A>.
    "<0x{byte:02X}>" => "0x{byte:02X}"
    "<0x{byte:02X}>" => "<{byte:02X}>"
    "<0x{byte:02X}>" => "{byte:02X}"
        the names are <0xC3> and so on: angle brackets, 0x, two digits.
    "<0x{byte:02X}>" => "<0x{byte}>"
        the numbers are decimal. The names are hexadecimal: 195 is <0xC3>.
    f"<0x{byte:02X}>" for => byte for
        the bytes themselves, as numbers. A token is a `str`, the byte's name <0xNN>.
""")


fall_back_to_bytes.answers("""
    [token for known, run in groupby(text, alphabet.__contains__) for token in \
    (["".join(run)] if known else fall_back_to_bytes.reference("".join(run), ""))]
        known characters side by side are joined: each of them is a token.
    [chr(b) if chr(b) in alphabet else f"<0x{b:02X}>" for b in text.encode()]
    [{c.encode()[0]: c for c in alphabet}.get(b, f"<0x{b:02X}>") for b in text.encode()]
        the text is taken byte by byte: look up the character, then take its bytes.
""")


def _seen_and_new(random: Random) -> Iterator[Case]:
    for seen in ("", "a", "abc", "é", "e€", "中文", "aa"):
        for text in ("", "a", "aa", "é", "éèé", "èè", "aéb", "中", "cab", "a b"):
            yield seen, text
    # All bytes of the new character are seen, in others.
    yield "é¢", "©"
    yield "é¢", "a©"
    yield "é", "è中"


@exercise(
    cases=_seen_and_new,
    hints=(
        "Without the full alphabet, a byte has a token only if it occurred in the "
        "training text.",
        "Forget the characters: `encode()` turns each text into a sequence of numbers, "
        "and the rest happens among these.",
    ),
)
def count_lost_bytes(seen: str, text: str) -> int:
    """Return how many bytes of `text` are dropped by a byte-level tokenizer that knows
    only the bytes of `seen`."""
    alphabet = set(seen.encode())
    return sum(byte not in alphabet for byte in text.encode())


count_lost_bytes.slips("""
    seen.encode() => seen ; text.encode() => text
        characters are counted. An unseen one may share bytes with seen ones.
    byte not in => chr(byte) not in ; set(seen.encode()) => seen
        a byte is not a character: `chr` of it finds another one in `seen`. Encode both.
    seen.encode() => seen
        all bytes of the text are counted. (A byte is never found in a `set(seen)`.)
    seen.encode() => seen.encode("utf-16-le") ; \
    text.encode() => text.encode("utf-16-le")
        the bytes of UTF-16: a byte-level tokenizer reads UTF-8, which `encode()` gives.
    set(seen.encode()) => {*seen.encode(), *range(128)}
        ASCII is taken as known: only the bytes of `seen` are.
    seen.encode() => (seen + text).encode()
        nothing is ever lost: only the bytes of `seen` are known.
    byte not in => byte in
        the bytes that survive are counted, instead of those that are lost.
    seen.encode() => text.encode() ; text.encode() => seen.encode()
        the other way round: bytes of `seen` that `text` does not use.
    in text.encode() => in set(text.encode())
        each lost byte is counted once. It is lost wherever it occurs.
    in text.encode() => in text.encode()[:1]
        only the first byte is looked at: does the loop return in its first round?
""")


@count_lost_bytes.right_way("""
    len([b for b in c.encode() if b not in known]) => \
    any(b not in known for b in c.encode())
        characters that lose a byte are counted. Some lose one, others three.
    if b not in known => if c not in seen
        all bytes of an unseen character. Those of seen ones, such as 0xC3, survive.
    if b not in known => if set(c.encode()) - known
        all bytes of a character that loses one: the others survive.
    for c in text => for c in set(text)
        each character of the text is counted once: bytes are lost wherever they occur.
    for c in text => for c in text if not c.isascii()
        ASCII is taken as known…
""")
def character_by_character(seen, text):
    known = set(seen.encode())
    return sum(len([b for b in c.encode() if b not in known]) for c in text)


@count_lost_bytes.right_way("""
    seen.encode(), text.encode() => seen, text
        characters are counted…
    seen.encode(), text.encode() => seen.encode("utf-16-le"), text.encode("utf-16-le")
        the bytes of UTF-16…
    seen.encode(), text.encode() => text.encode(), seen.encode()
        the other way round…
    seen.encode(), text.encode() => text, seen
        characters of `seen` are looked up in `text`. Look up bytes of `text` in `seen`.
    len([b for b in new if b not in old]) => (Counter(new) - Counter(old)).total()
        a byte that occurs more often than in `seen` is not lost: it has its token.
    len([b for b in new if b not in old]) => len(set(new) - set(old))
        each lost byte is counted once…
    len([b for b in new if b not in old]) => len(new) - len(old)
        the lengths are subtracted: it matters which bytes these are, not how many.
    len([b for b in new if b not in old]) => max(0, len(new) - len(old))
        the lengths are compared: it matters which bytes these are.
    len([b for b in new if b not in old]) => \
    sum(one != other for one, other in zip(old, new, strict=False))
    len([b for b in new if b not in old]) => \
    sum(i >= len(old) or b != old[i] for i, b in enumerate(new))
        the texts are compared place by place: a byte is known wherever in `seen` it is.
    len([b for b in new if b not in old]) => len(set(old) ^ set(new))
        bytes of `seen` that `text` lacks are also counted, and each once.
    len([b for b in new if b not in old]) => len([b for b in new if b in old])
        the bytes that survive…
    len([b for b in new if b not in old]) => 256 - len(set(old))
        all 256 bytes that `seen` lacks are counted, whatever the text contains.
""")
def encoded_first(seen, text):
    old, new = seen.encode(), text.encode()
    return len([b for b in new if b not in old])


count_lost_bytes.answers("""
    len(text.encode()) - len(set(text.encode()) & set(seen.encode()))
        each byte that survives is counted once. It survives wherever it occurs.
    sum(not c.isascii() for c in text)
        characters outside ASCII are counted: `seen` says which bytes are known.
    len(set(text) - set(seen))
        different unseen characters are counted, not lost bytes.
    len(set(seen) - set(text))
        different characters of `seen` that `text` lacks are counted, not lost bytes.
    sum(len(c.encode()) for c in set(text) - set(seen))
        each unseen character is counted once, with its bytes, lost or not.
    sum(len(c.encode()) for c in text if not c.isascii() and c not in seen)
        all bytes of unseen characters beyond ASCII: ASCII may also be lost.
    len(text.encode()) - 2 * count_lost_bytes.reference(seen, text)
        survivors and lost bytes are subtracted from each other.
    sum(1 + (not c.isascii()) for c in text if c not in seen)
        two bytes for each unseen character beyond ASCII: it has 2 to 4, and some may
        have been seen.
    2 * sum(c not in seen for c in text)
        two bytes for each unseen character: it has 1 to 4, and some may have been seen.
""")


def _texts_with_invisible(random: Random) -> Iterator[Case]:
    hidden = "\u200b\ufeff"
    for text in (
        *("", "a", "ab", "a b", "a  b", "a   b  c", "  a", " a", "a  ", "   "),
        "aa  bb",
        *("\u200ba", "a\u200bb", "a\u200b", "\u200b", "\ufeff\u200b", "a\ufeff\u200bb"),
        # Removing a character brings two spaces together.
        *("a \u200b b", " \u200b a", "a \u200b", "a \u200b \ufeff b", "a\u200b  b"),
        *("\u200b a", "\u200b  a", "a \u200bb", "a  \u200b  b  c"),
        # Other whitespace is no space.
        *("a\n\nb", "a \n b", "a\t\tb", "a \t b", "a\u00a0 b", "\n\na", "a \n"),
    ):
        yield text, hidden
    yield "a \u200b b", ""
    yield "a x b", "x"
    yield "xx a  xbx", "x"
    for _ in range(25):
        yield "".join(random.choices("ab \u200b\n ", k=random.randrange(3, 10))), hidden


@exercise(
    cases=_texts_with_invisible,
    hints=(
        "Keep a list of the places that stay. Which character does the next one have "
        "to be compared with?",
        "Removing a character may bring two spaces together. So compare a space with "
        "the last character that you *kept*, not with its neighbor in the text.",
    ),
)
def original_places(text: str, invisible: str) -> list[int]:
    """Return the place in `text` of each character that is left when the invisible ones
    are removed and then runs of spaces become one."""
    places = []
    for place, character in enumerate(text):
        if character in invisible:
            continue
        if character == " " and places and text[places[-1]] == " ":
            continue
        places.append(place)
    return places


original_places.slips(r"""
    character in invisible: => False:
        the invisible characters stay: they are to be removed first.
    character == " " and places and text[places[-1]] == " ": => False:
        runs of spaces stay as they are: each becomes one space.
    character == " " and places and text[places[-1]] == " ": => character == " ":
        all spaces are gone: the first of each run stays.
    places and text[places[-1]] == " ": => text[place - 1 : place] == " ":
        a space is compared with its neighbor in the text: removing may join two runs.
    places and text[places[-1]] == " ": => (not places or text[places[-1]] == " "):
        spaces at the beginning vanish: one of them stays.
    places and text[places[-1]] == " ": => text[places[-1]] == " ":
        `places[-1]` of an empty list raises: a text may begin with a space.
    character == " " and places => character.isspace() and places
        a newline or a tab after a space vanishes: only spaces are meant.
    character == " " and places and text[places[-1]] == " ": => \
    places and text[places[-1]] == character:
        runs of any character become one: only runs of spaces are meant.
    text[places[-1]] == " ": => " " in [text[n] for n in places]:
        only the first space of the text stays: the first of each run should.
    == " ": ⏎ continue => == " ": ⏎ places.pop()
        the last space of each run is kept: the first one is to stay.
    places.append(place) => places.append(place + 1)
        places are counted from 1: the first character has the place 0.
    return places => return [*range(len(places))]
        these are the places after the change: those in the original text are wanted.
    return places => return [text[place] for place in places]
        the characters are returned: their places are wanted.
    return places => return "".join(text[place] for place in places)
        the normalized text is returned: the places of its characters are wanted.
    return places => return [n for n in range(len(text)) if n not in places]
        these are the places that are gone. Those that stay are wanted.
    return places => return len(places)
        only the number of characters that stay: the place of each is wanted.
""")


@original_places.right_way(r"""
    character not in invisible => True
        the invisible characters stay…
    number == 0 or =>
        before the first character, the last one is looked at: `kept[-1]` wraps around.
    text[kept[number - 1]] != " " => text[place - 1] != " "
        a space is compared with its neighbor in the text…
    text[place] != " " or text[kept[number - 1]] != " " => text[place] != " "
        only a space at the very beginning is left: the first of each run stays.
    [place for number, place in enumerate(kept) => \
    [number for number, place in enumerate(kept)
        places are counted without the invisible characters: count them in `text`.
    text[place] != " " or => not text[place].isspace() or
        a newline or a tab after a space vanishes…
""")
def removed_first(text, invisible):
    kept = [n for n, character in enumerate(text) if character not in invisible]
    return [
        place
        for number, place in enumerate(kept)
        if number == 0 or text[place] != " " or text[kept[number - 1]] != " "
    ]


@original_places.right_way(r"""
    kept[match.start()] => match.start()
        places are counted without the invisible…
    match.start() => match.end() - 1
        the last space of each run is kept…
    r"[^ ]| +" => r"[^ ]|(?<=[^ ]) +"
        spaces at the beginning vanish…
    r"[^ ]| +" => r"\S|\s+"
        runs of any whitespace become one: only runs of spaces are meant.
    r"[^ ]| +" => r"\S| +"
        newlines and tabs vanish: only spaces are meant.
    r"[^ ]| +" => r"\S|(?<=\S) "
        spaces stay only right after something visible, and other whitespace vanishes.
    r"[^ ]| +" => r"[^ ]| +(?=[^ ])"
        spaces at the end vanish: one of them stays.
""")
def matched(text, invisible):
    kept = [n for n, character in enumerate(text) if character not in invisible]
    left = "".join([text[n] for n in kept])
    return [kept[match.start()] for match in re.finditer(r"[^ ]| +", left)]


original_places.answers(r"""
    [n for n, c in enumerate(text) if c not in invisible] \
    [: len(original_places.reference(text, invisible))]
        the spaces that were dropped do not shift the places after them.
    [m.start() for m in re.finditer(r"[^ ]| +", text) if m.group() not in invisible]
        a space is compared with its neighbor in the text…
    [text.index(c) for c in re.sub(" +", " ", "".join(c for c in text \
    if c not in invisible))]
        `index` finds the first character of its kind, which need not be this one.
    list(range(len(text)))
        every place of the text is returned, as if nothing changed.
    [n for n, c in enumerate(text) if c not in invisible and not c.isspace()]
        all whitespace is gone: the first space of each run stays, and so do newlines.
""")


# Bug or not? True or false?


def _pages(random: Random) -> Iterator[Case]:
    for text in (
        "plain",
        "<p>one</p>",
        "<b>bold</b> and <i>not</i>",
        "if a < b",
        "a &lt; b",
        "<p>Write &lt;b&gt; for bold.</p>",
        "<p>1 &lt; 2 and 3 &gt; 2</p>",
        "<em>Tom &amp; Jerry</em>",
        "&amp;lt;p&amp;gt; is how &lt;p&gt; is written",
    ):
        yield (text,)


@bug_or_not(
    purpose=(
        "Return the text that a reader of the page sees: without tags, and with each "
        "entity, such as `&amp;`, replaced by its character."
    ),
    reference=strip_html,
    cases=_pages,
    explanation=(
        "Once decoded, `&lt;b&gt;` looks like a tag, and it is removed with the real "
        "ones. So this cleaner destroys texts about HTML. Tags must be removed first "
        "and entities decoded afterwards, as a parser does. Even then, a `<` that does "
        "not begin a tag, as in `if a < b`, has to survive."
    ),
)
def clean_page(text: str) -> str:
    return re.sub(r"<[^>]*>", "", html.unescape(text)).strip()


def real_tokens(ids: list[int], num_pads: int, pad_id: int) -> list[int]:
    return [1] * (len(ids) - num_pads) + [0] * num_pads


def _padded_rows(random: Random) -> Iterator[Case]:
    for num_pads in range(4):
        yield [5, 6, 0] + [1] * num_pads, num_pads, 1  # a pad of its own
        yield [5, 6, 0] + [0] * num_pads, num_pads, 0  # the end of the text is the pad
        yield [5, 0, 6, 0] + [0] * num_pads, num_pads, 0


@bug_or_not(
    purpose=(
        "Return the attention mask of a row whose last `num_pads` ids are pads: 0 for "
        "each of these, and 1 for each token of the text, including its end."
    ),
    reference=real_tokens,
    cases=_padded_rows,
    explanation=(
        "It works as long as the pad has an id of its own. If the end of the text is "
        "also the pad, the mask is 0 at the real end. The mask alone does little harm, "
        "because it only says which tokens may be looked at. But labels are often made "
        "from it, with -100 wherever it is 0. Then no end is ever scored, and the "
        "model never learns to stop."
    ),
)
def attention_mask(ids: list[int], num_pads: int, pad_id: int) -> list[int]:
    return [0 if token_id == pad_id else 1 for token_id in ids]


def runs_of_whitespace(text: str) -> list[str]:
    runs, previous = [], False
    for character in text:
        wanted = character.isspace() and character != "\n"
        if wanted and previous:
            runs[-1] += character
        elif wanted:
            runs.append(character)
        previous = wanted
    return runs


@bug_or_not(
    purpose=(
        "Find all runs of whitespace other than newlines: a newline ends a run, and is "
        "not part of any."
    ),
    reference=runs_of_whitespace,
    cases=_untidy_texts,
    explanation=(
        "`\\S` is every character that is not whitespace, so `[^\\S\\n]` is every "
        "character that is neither one of those nor a newline. What remains is all "
        "whitespace except newlines, for example tabs and no-break spaces. It is a "
        "double negation, and the usual way to write this."
    ),
)
def find_whitespace(text: str) -> list[str]:
    return re.findall(r"[^\S\n]+", text)


@cache
def _small_tokenizer() -> Tokenizer:
    texts = ["the cat sat on the mat, and the rat sat on the hat"] * 3
    return build_tokenizer(texts, vocab_size=300, progress=False)


def ids_with_a_space_after(text: str) -> list[int]:
    return _small_tokenizer().encode(f"{text} ").ids


@true_or_false(
    claim=(
        "Whether a prompt ends with a space makes no difference to a tokenizer from "
        "`build_tokenizer`, with all its stages from the normalizer on."
    ),
    reference=ids_with_a_space_after,
    cases=lambda random: [(text,) for text in ("", "the", "the cat sat on", "x = 1\n")],
    explanation=(
        "The normalizer of section 3 cuts spaces at the end of each line, and the end "
        "of the text is one. GPT-2's tokenizer has no normalizer. There the last space "
        "becomes a token of its own, although in training a space usually belonged to "
        "the next word. A model that has rarely met such a token continues badly."
    ),
)
def ids_without_the_space(text: str) -> list[int]:
    return _small_tokenizer().encode(text).ids


# With other numbers by seed.


@numbers(
    ask="A text has {ascii} ASCII letters, {two} characters of two bytes in UTF-8, and "
    "{three} of three. The alphabet contains only the ASCII letters. How many tokens "
    "are there before any merge, with `byte_fallback`?",
    draw=lambda rng: {
        "ascii": rng.randrange(200, 900),
        "two": rng.randrange(10, 60),
        "three": rng.randrange(5, 40),
    },
    hints=("What takes the place of a character that is not in the alphabet?",),
)
def tokens_with_fallback(ascii: int, two: int, three: int) -> int:
    return ascii + 2 * two + 3 * three


tokens_with_fallback.answers("""
    ascii + two + three
        one for each character. A character without a token becomes its *bytes*.
    ascii
        what is not in the alphabet is lost. With `byte_fallback` it becomes bytes.
    2 * two + 3 * three
        only what falls back. The letters are tokens as the bytes are.
""")


@numbers(
    ask="Texts of {lengths} ids each get an end of text, are cut to at most {length} "
    "ids, the end included, and are padded to {length}. How many pads are there?",
    draw=lambda rng: {
        "lengths": [rng.randrange(20, 90) for _ in range(6)],
        "length": rng.randrange(50, 70),
    },
    hints=("How long is each text with its end? Which of them are too long?",),
)
def pads_of_batch(lengths: list[int], length: int) -> int:
    return sum(max(0, length - (n + 1)) for n in lengths)


pads_of_batch.answers("""
    sum(max(0, length - n) for n in lengths)
        the end of each text is also an id.
    sum(length - (n + 1) for n in lengths)
        texts that are too long are subtracted: they have no pads.
    sum(min(length, n + 1) for n in lengths)
        these are the ids that are *not* pads.
    sum(max(lengths) - n for n in lengths)
        padded to the longest text, not to the length that is asked.
""")


@numbers(
    ask="A tokenizer has the ids 0 to {last:,}, followed by {added} added tokens. "
    "{num_ids:,} ids are stored in the smallest dtype that can hold all of these. How "
    "many bytes is that?",
    draw=lambda rng: {
        "last": rng.randrange(65_300, 65_536),
        "added": rng.randrange(20, 500),
        "num_ids": rng.randrange(10_000, 90_000),
    },
    hints=("Which is the largest id? `uint16` can hold numbers up to 65,535.",),
)
def bytes_of_ids(last: int, added: int, num_ids: int) -> int:
    return num_ids * (2 if last + added <= 65_535 else 4)


bytes_of_ids.answers("""
    num_ids * (4 if last + added <= 65_535 else 2)
        the other of the two dtypes: look at the largest id again.
    num_ids
        ids, not bytes.
    8 * num_ids
        8 bytes each, as in `int64`: a smaller dtype is enough.
""")
