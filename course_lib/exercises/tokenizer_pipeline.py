"""Exercises of lesson 07: tidy, cut, fall back to bytes, lose bytes, end texts, pad,
and choose a dtype."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from random import Random

from tokenizers import Tokenizer, models, processors, trainers

from course_lib.foundation import strip_html
from course_lib.teaching import Case, bug_or_not, exercise, numbers, true_or_false
from course_lib.tokenizer_pipeline import build_tokenizer


def _untidy_texts(random: Random) -> Iterator[Case]:
    for text in (
        *("", "a", "a b", "a  b", "a  ", "  a", "   a", "a\n", "a\n\n", "\n\n\n", " "),
        # letters and marks that stand alone between two runs
        *("a  b  c", "a.  b", "a,  b  (c)", "a   b\n  c   d", "a  b  c  d   e"),
        # tabs are blanks, but no spaces
        *("\ta  b", "a\t\tb", "\t  b", "a \t", "a\t\n", " \tb"),
        *("a \n b", "a\n\nb", "a\n\n\nb", "a\n\n\n\n\nb", "a\n\n\n\n\n\n\n\nb"),
        *("a\n \n \nb", "a\n\t\n\n\nb", "\n\n\na", "a \n\n \n\n", "a\n\nb  \n"),
        # other white space is left alone
        *("a\u00a0\u00a0b", "a\u00a0\nb", "a\u00a0", "a\r", "a\r\nb", "a\rb  c"),
        *("a\x0bb", "a\x0c\nb", "a\n\u3000b", "a\u00a0  b", "a\r  b", "\u00a0  a"),
        *("a\n\n\u00a0\n\nb", "a\n\r\n\nb", "a\n\nb\n\n\nc\n\n\n\nd"),
        # a run behind a tab, in a line that has begun
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
        "Three substitutions. In which order, so that a line of blanks counts as an "
        "empty line?",
        "A pattern may look without taking: `(?=...)` ahead, `(?<=...)` behind. What "
        "it takes is replaced, what it only looks at stays.",
    ),
)
def tidy(text: str) -> str:
    """Cut blanks at the end of lines, make runs of spaces one, and three or more
    newlines two; indentation stays."""
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def _each_line(change: Callable[[str], str], text: str) -> str:
    return "\n".join([change(line) for line in text.split("\n")])


tidy.slips(r"""
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+$"
        `$` without `re.MULTILINE` is the end of the text, and the place before a last
        newline. Each line has an end.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+\Z"
        blanks are cut only at the end of the text. Each line has an end.
    r"[ \t]+(?=\n|\Z)" => r" +(?=\n|\Z)"
        tabs at the end of a line stay: a tab is a blank, too.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+(?=\n)"
        the last line has an end too, although no newline follows it.
    r"[ \t]+(?=\n|\Z)" => r"\s+$"
        `\s+$` takes the newlines at the end of the text as well, and leaves the blanks
        of all other lines. Blanks are `[ \t]`.
    r"[ \t]+(?=\n|\Z)" => r"(?m)\s+$"
    r"[ \t]+(?=\n|\Z)" => r"[ \t\n]+(?=\n|\Z)"
        newlines are cut with the blanks before them, so that empty lines vanish. Blanks
        are `[ \t]`.
    r"[ \t]+(?=\n|\Z)" => r"\s+(?=\n)"
        `\s+\n` takes newlines as well, so that empty lines vanish. And the last line,
        which no newline follows, keeps its blanks.
    r"[ \t]+(?=\n|\Z)" => r"[ \t](?=\n|\Z)"
        only one blank is cut at the end of a line: there may be several.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]{2,}(?=\n|\Z)"
        a single blank at the end of a line stays.
    r"[ \t]+(?=\n|\Z)" => r"(?m)^[ \t]+"
        blanks are cut at the beginning of a line, not at its end.
    r"[ \t]+(?=\n|\Z)" => r"x^"
        blanks at the end of lines are never cut.
    r"[ \t]+(?=\n|\Z)", "" => r"[ \t]+(?=\n|\Z)", " "
        blanks at the end of a line become one space.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.rstrip, text)
        white space that is no blank is cut at the ends of lines, such as a carriage
        return or a no-break space: `rstrip()` needs its argument `" \t"`.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(lambda s: s.strip(" \t"), text)
        each line loses its indentation. (`strip` cuts on both sides, `rstrip` on one.)
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.strip, text)
        each line loses its indentation, and other white space at its ends with it:
        `strip()` without `" \t"` takes all of it.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => \
    "".join([line.rstrip(" \t") for line in text.split("\n")])
        lines are joined without a newline.
    text = re.sub(r"[ \t]+(?=\n|\Z)" => two = re.sub(r"\n{3,}", "\n\n", text) ⏎ \
    text = two ⏎ text = re.sub(r"[ \t]+(?=\n|\Z)" ; return re.sub(...) => return text
        newlines are reduced before blanks are cut: lines that hold only blanks keep
        newlines apart until then.
    r"(?<=[^ \t\n]) {2,}" => " {2,}"
        the indentation is reduced too. In Python, and in lists, it has a meaning.
    r"(?<=[^ \t\n]) {2,}" => r"[ \t]+"
        all runs of blanks are reduced, tabs and the indentation too: a run of spaces
        within a line is meant.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^\n]) {2,}"
        indentation of three or more spaces is reduced: its second space stands behind a
        space, which is no line end, but a blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!\n) {2,}"
        `(?<!\n)` holds for the second space of an indentation as well, and at the
        beginning of the text: look for a character that is no blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!^) {2,}"
        `(?<!^)` spares the indentation of the first line alone, and only its first
        space: look for a character that is no blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \n]) {2,}"
        spaces behind a tab, in an indentation, are reduced: a tab is a blank, so they
        are to be left alone.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S) {2,}"
        `\S` leaves other white space out: a run behind a no-break space or a carriage
        return is to be reduced, too.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}"
        runs are reduced behind letters alone: any character that is no blank counts,
        such as a full stop.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}(?=\w)"
        runs are reduced between letters alone: before or behind them may stand any
        character that is no blank, such as a full stop.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\w) {2,}(\w)", r"\1 \2"
        runs are reduced between letters alone, which are taken with them: the next run,
        behind a single letter, is missed.
    r"(?<=[^ \t\n]) {2,}", " " => r"([^ \t\n]) {2,}([^ \t\n])", r"\1 \2"
        the characters beside a run are taken with it, so that the next run, which needs
        the same character, is missed. Look behind instead: `(?<=...)`.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\S) {2,}(\S)", r"\1 \2"
        the characters beside a run are taken with it, so that the next run is missed.
        And `\S` leaves other white space out. Look behind instead: `(?<=[^ \t\n])`.
    r"(?<=[^ \t\n]) {2,}" => r"[^ \t\n] {2,}"
        the character before a run is part of the match, and is replaced with it: look
        behind, `(?<=...)`, or put it back.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])[ \t]{2,}"
        runs of tabs are reduced too: a run of spaces is meant.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])[ \t]+"
        single tabs within a line become a space: a run of spaces is meant.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S)\s{2,}"
        `\s` is more than a space: tabs, no-break spaces and newlines are reduced too.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S)\s+"
        `\s+` takes newlines and tabs too, and puts a space in their place: lines are
        joined.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])  "
        runs are halved: a pattern for two spaces goes through the text once, so that
        four spaces become two.
    r"(?<=[^ \t\n]) {2,}" => "  "
        runs are halved, in the indentation too: `replace` goes through the text once,
        so that four spaces become two wherever they are.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n]) {3,}"
        two spaces stay: a run begins with two.
    r"(?<=[^ \t\n]) {2,}" => r"x^"
        runs of spaces are never reduced.
    r"(?<=[^ \t\n]) {2,}", " " => r"(?<=[^ \t\n]) {2,}", ""
        a run of spaces becomes nothing: one space is to be left.
    r"(?<=[^ \t\n]) {2,}", " ", text => r"(?<=[^ \t\n]) {2,}", " ", text, count=1
        only the first run of the text is reduced.
    r"\n{3,}", "\n\n" => "\n\n\n", "\n\n"
        one pass leaves rests: `replace` and a pattern for exactly three newlines go
        through the text once, so that five newlines become four.
    r"\n{3,}", "\n\n" => r"\n{2,}", "\n"
        two newlines become one as well: an empty line between paragraphs may stay.
    r"\n{3,}", "\n\n" => r"\n{3,}", "\n"
        three or more newlines become one. They are to become two.
    r"\n{3,}", "\n\n" => r"\n{3,}", ""
        three or more newlines become none. They are to become two.
    r"\n{3,}", "\n\n" => r"\n{3,}", "\n\n\n"
        three or more newlines become three. They are to become two.
    r"\n{3,}", "\n\n" => r"\n{4,}", "\n\n"
        three newlines stay: three or more are to become two.
    return re.sub(...) => return text
        newlines are never reduced: three or more are to become two.
    r"\n{3,}", "\n\n" => r"\n\s*\n\s*\n", "\n\n"
        lines that hold other white space are taken for empty ones.
    r"\n{3,}", "\n\n", text => r"\n{3,}", "\n\n", text, count=1
        only the first run of newlines is reduced.
    return re.sub(...) => return re.sub(...).strip()
        the text as a whole is stripped: newlines at its beginning and its end may stay,
        and so may the indentation of its first line.
""")


@tidy.way(r"""
    rstrip(" \t") => rstrip()
        white space that is no blank is cut…
    rstrip(" \t") => strip(" \t")
        each line loses its indentation. (…
    rstrip(" \t") => strip()
        each line loses its indentation, and other white space…
    rstrip(" \t") => rstrip(" ")
        tabs at the end of a line stay…
    in text.split("\n"): => in text.splitlines():
        `splitlines` cuts at more than newlines: at carriage returns and form feeds too,
        and it forgets a newline at the end of the text.
    lstrip(" \t") => lstrip()
        all white space at the beginning of a line counts as indentation: only blanks
        do.
    lstrip(" \t") => lstrip(" ") ; r"(?<=[^ \t]) {2,}" => r" {2,}"
        spaces behind a tab, in an indentation, are reduced…
    r"(?<=[^ \t]) {2,}" => " {2,}"
        the indentation is spared, but a tab within a line is a blank as well: a run
        right behind one stays.
    r"(?<=[^ \t]) {2,}" => "  "
        runs right behind a tab are reduced, and runs of spaces are halved.
    r"(?<=[^ \t]) {2,}" => r"[ \t]+"
        single tabs within a line…
    re.sub(r"(?<=[^ \t]) {2,}", " ", body) => " ".join(body.split())
        `split` without an argument cuts at all white space: a tab or a no-break space
        within a line becomes a space.
    r"(?<=[^ \t]) {2,}", " ", body) => r"(?<=[^ \t]) {2,}", " ", body, count=1)
        only the first run of a line is reduced.
    lstrip(" \t") => lstrip() ; re.sub(r"(?<=[^ \t]) {2,}", " ", body) => \
    " ".join(body.split())
        `lstrip` and `split` without an argument take all white space, not blanks alone.
    indent + =>
        each line loses its indentation. (…
    "\n".join(lines) => "".join(lines)
        lines are joined without…
    "\n".join(lines) => " ".join(lines)
        lines are joined by a space.
    "\n".join(lines) => "\n".join(lines[:-1])
        the last line is lost.
    return re.sub(r"\n{3,}", "\n\n", ...) => return (...)
        newlines are never reduced…
    r"\n{3,}" => "\n\n\n"
        one pass leaves rests…
    r"\n{3,}", "\n\n" => r"\n{2,}", "\n"
        two newlines become one as well…
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
        all white space becomes one blank, newlines too: the paragraphs are gone.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text)
        only the ends of lines are cut: runs and newlines are still to be reduced.
    re.sub(r"\n{3,}", "\n\n", _each_line(lambda line: " ".join(line.split()), text))
        `split` without an argument cuts each line at all white space: its indentation
        is lost, and a tab or a no-break space becomes a space.
    tidy.reference(text.expandtabs(4))
        tabs become spaces: they may stand in an indentation.
    tidy.reference(text.replace("\t", " "))
        each tab becomes one space: it may stand in an indentation.
    tidy.reference(text.replace("\t", ""))
        tabs are removed: one may stand in an indentation.
    tidy.reference(re.sub(r"\n\s*\n\s*\n", "\n\n", text))
        lines that hold other white space…
    tidy.reference(text).rstrip("\n")
        newlines at the end of the text are cut: one or two may stay.
    tidy.reference(text).lstrip("\n")
        newlines at the beginning of the text are cut: one or two may stay.
    tidy.reference(text) + "\n"
        a newline is added at the end of the text.
    re.sub(" +", "", tidy.reference(text))
        all spaces are removed.
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
    # Capitals are no small letters, a point is no newline, and repeats stay.
    for text in ("aB1", "Ab", "ABC", "a a a"):
        yield text, [number, integer, word]
    for text in ("#a\nb", "a\n#\n#b"):
        yield text, ["#.*", "b"]
    # What stands before a match may be a match itself.
    for text in ("a1.", "ab2 c", "1.a1."):
        yield text, [r"(?<=[a-z])\d", "[a-z]+"]
    # What stands before or behind decides.
    for text in ("a1", "a11", "1a1", "1 1a", "b2a2"):
        yield text, [r"(?<=[a-z])\d", r"\d+"]
    for text in ("ab.", "ab c", "a.b."):
        yield text, [r"[a-z]+(?=\.)", "[a-z]"]


@exercise(
    cases=_rules_and_texts,
    hints=(
        "One regular expression with all rules as alternatives. And what lies between "
        "two matches?",
        "A match of `re.finditer` knows its `start()` and its `end()`. What must you "
        "remember from the match before it?",
    ),
)
def cut_isolated(text: str, rules: list[str]) -> list[str]:
    """Cut `text` as `Split(..., "isolated")` does: matches are pieces, and so is what
    lies between them."""
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


cut_isolated.slips(r"""
    re.finditer("|".join(rules) => re.finditer("|".join(rules[::-1])
        the rules are tried in the opposite order: the first one wins.
    re.finditer("|".join(rules) => re.finditer("|".join(sorted(rules))
        the rules are sorted first: their order is given.
    re.finditer("|".join(rules) => \
    re.finditer("|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern comes first. The order of the rules decides.
    re.finditer("|".join(rules) => re.finditer("|".join(rules[:1])
        the first rule alone is used: the others come after it.
    re.finditer("|".join(rules) => re.finditer("|".join(rules[-1:])
        the last rule alone is used: all of them are to be tried.
    re.finditer("|".join(rules) => re.finditer("|".join(map(re.escape, rules))
        the rules are escaped, or searched as plain text: they are patterns.
    re.finditer("|".join(rules) => re.finditer("".join(rules)
        the rules are joined without `|`: together they match only one behind another.
    re.finditer("|".join(rules) => re.finditer("(?:" + "|".join(rules) + ")+"
        matches that touch are joined: each of them is a piece of its own.
    text): => text, re.IGNORECASE):
        capitals are taken for small letters: a rule says what it means.
    text): => text, re.DOTALL):
        a point stands for a newline, too: a rule says what it means.
    re.finditer(...) => list(re.finditer(...))[:1]
        the text is cut at the first match alone: there may be more.
    re.finditer(...) => filter(None, [re.match(...)])
        the rules match only at the beginning of the text: `re.match` looks nowhere
        else.
    [text[end : match.start()], => [
        what lies between the matches is dropped. A tokenizer must not lose a character.
    , match.group()] => ]
        the matches are dropped, and what lies between them is kept: `re.split` keeps
        both only if the pattern stands in a group.
    text[end : match.start()], match.group() => text[end : match.end()]
        a match and what stands before it are one piece: `isolated` keeps them apart.
    [text[end : match.start()], match.group()] => [(end, match.start()), match.span()] ; \
    text[end:] => (end, len(text)) ; if piece] => if piece[0] < piece[1]]
        the list has the places of the pieces, but the pieces themselves are wanted.
    [text[end : => [*text[end : ; text[end:] => *text[end:]
        what lies between two matches is one piece, not one for each character.
    end = match.end() => end = match.end() + 1
        the character behind each match is skipped: `end()` is already the first one
        behind it.
    end = match.end() => end = match.start()
        what lies between is taken up to a match from the start of the one before, not
        from its end: matches come twice.
    end = match.end() => pass
        what lies between two matches is taken from the beginning of the text: `end`
        stays 0.
    [*pieces, text[end:]] => pieces
        the rest behind the last match is missing.
    [*pieces, text[end:]] => [*pieces[1:], text[end:]]
        what stands before the first match is missing.
    if piece] =>]
        empty pieces stay in the list, between two matches that touch.
    return [...] => return [...] or [""]
        an empty text has no pieces: an empty list, not an empty piece.
    if piece] => if piece.strip()]
        pieces that hold only blanks are dropped: a tokenizer must not lose a character.
    [piece for ... if piece] => [piece.strip() for ... if piece.strip()]
        pieces that hold only blanks are dropped, or blanks are cut off: a tokenizer
        must not lose a character.
    return [...] => return [*dict.fromkeys([...])]
        pieces that occurred before are left out.
""")


@cut_isolated.way(r"""
    "(" + "|".join(rules) + ")" => "|".join(rules)
        the matches are dropped, and…
    "|".join(rules) => "|".join(rules[::-1])
        the rules are tried in the opposite order…
    "|".join(rules) => "|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern…
    "|".join(rules) => "".join(rules)
        the rules are joined without…
    if piece] =>]
        empty pieces stay…
    text) if => text)[1:-1] if
        the first and the last part of the split are dropped. They are empty only if a
        match stands there.
""")
def split_in_a_group(text, rules):
    return [piece for piece in re.split("(" + "|".join(rules) + ")", text) if piece]


@cut_isolated.way(r"""
    match(text, place) => match(text[place:])
        the rules see only the rest of the text: a pattern that looks behind,
        `(?<=...)`, needs what stands before.
    found[0] => max(found, key=len)
        the longest match wins. In a regular expression it is the first alternative,
        long or short.
    found[0] => min(found, key=len)
        the shortest match wins. In a regular expression it is the first alternative,
        long or short.
    found[0] => found[-1]
        the rules are tried in the opposite order…
    gap = "" ⏎ else => pass ⏎ else
        what lies between two matches is never forgotten: what was before the first
        match comes again before the next ones.
    gap += piece => pieces.append(piece)
        what lies between two matches is one piece…
    pieces += [gap, piece] => pieces.append(gap + piece)
        a match and what stands before it…
    pieces += [gap, piece] => pieces.append(piece)
        what lies between the matches is dropped…
    [*pieces, gap] => pieces
        the rest behind the last match…
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


@cut_isolated.way(r"""
    search(text, place) => search(text) ; place = match.end() => \
    text = text[match.end() :]
        behind a match the search begins anew in what is left of the text: a pattern
        that looks behind no longer sees the match.
    return [...] => return [*filter(None, pieces), text[place:]]
        the rest stays where it is empty: a match may stand at the end.
""")
def searched_on(text, rules):
    pieces, place = [], 0
    while match := re.compile("|".join(rules)).search(text, place):
        pieces += [text[place : match.start()], match.group()]
        place = match.end()
    return [piece for piece in [*pieces, text[place:]] if piece]


cut_isolated.answers(r"""
    re.findall("|".join(rules), text)
        what lies between the matches is dropped…
    re.split("(" + ")|(".join(rules) + ")", text)
        each rule has a group of its own, and `re.split` writes `None` for those that
        did not match: one group around all of them.
    list(text)
        each character is a piece, whatever the rules are.
    re.split("|".join(rules), text)
        `re.split` without a group drops the matches, and leaves empty pieces.
    [p for part in text.split() for p in cut_isolated.reference(part, rules)]
        the text is cut at blanks first, and they are lost: the rules alone cut.
    [text[i:j] for i, j in pairwise([0, \
    *(m.start() for m in re.finditer("|".join(rules), text)), len(text)]) if j > i]
        a match and what stands behind it are one piece: `isolated` keeps them apart.
""")


@cut_isolated.mistake(
    "rule by rule: the first rule cuts the whole text, the next ones what it leaves. "
    "But at an earlier place a later rule comes first."
)
def rule_by_rule(text, rules):
    if not rules:
        return [text] if text else []
    pieces = re.split(f"({rules[0]})", text)
    gaps = [rule_by_rule(gap, rules[1:]) for gap in pieces[::2]]
    return gaps[0] + [
        piece
        for match, gap in zip(pieces[1::2], gaps[1:], strict=True)
        for piece in (match, *gap)
    ]


@cut_isolated.mistake(
    "each rule is used on all pieces, those too that an earlier rule has made: a match "
    "is cut no further."
)
def cuts_matches_again(text, rules):
    pieces = [text]
    for rule in rules:
        pieces = [q for piece in pieces for q in re.split(f"({rule})", piece) if q]
    return pieces


@cut_isolated.mistake(
    "each rule goes through the whole text from its beginning, so that pieces occur "
    "twice: all rules together go through it once."
)
def once_for_each_rule(text, rules):
    pieces, end = [], 0
    for rule in rules:
        for match in re.finditer(rule, text):
            pieces += [text[end : match.start()], match.group()]
            end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


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
        "A character of the alphabet is a token. Any other one is as many tokens as "
        "it has bytes.",
        "`character.encode()` gives its UTF-8 bytes, which are numbers; a number with "
        "the format `02X` has two digits, and they are capitals.",
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


def _fall_back(text, alphabet, unknown) -> list:
    """`fall_back_to_bytes` with something else for an unknown character."""
    tokens = []
    for character in text:
        tokens += [character] if character in alphabet else unknown(character)
    return tokens


@fall_back_to_bytes.mistake(
    "the code point instead of the bytes of UTF-8. There are 256 byte tokens, and no "
    "<0x4E2D>."
)
def code_points(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{ord(c):02X}>"])


@fall_back_to_bytes.mistake(
    "the code point instead of the bytes of UTF-8, and with as many digits as it "
    "needs: each byte is a token, with two digits, such as <0x0A>."
)
def code_points_without_zeros(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{ord(c):X}>"])


@fall_back_to_bytes.mistake(
    "all bytes of a character stand in one token. Each byte is a token of its own."
)
def one_token_a_character(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{c.encode().hex().upper()}>"])


@fall_back_to_bytes.mistake(
    "all bytes of a character stand in one token, and in small letters: each byte is a "
    "token of its own, such as <0xC3>."
)
def one_token_in_small_letters(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{c.encode().hex()}>"])


@fall_back_to_bytes.mistake(
    "the tokens of a character are joined to one: each of its bytes is an entry of the "
    "list."
)
def joined_by_character(text, alphabet):
    return _fall_back(
        text, alphabet, lambda c: ["".join(fall_back_to_bytes.reference(c, ""))]
    )


@fall_back_to_bytes.mistake(
    "what `encode()` returns goes into the list as it is. Each of its bytes becomes a "
    "token, with the name <0xNN>."
)
def encoded(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [c.encode()])


@fall_back_to_bytes.mistake(
    "always bytes. The fallback is for characters that the alphabet lacks."
)
def always_bytes(text, alphabet):
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@fall_back_to_bytes.mistake(
    "one unknown character turns the whole text into bytes. The fallback goes "
    "character by character."
)
def all_or_nothing(text, alphabet):
    return list(text) if set(text) <= set(alphabet) else always_bytes(text, alphabet)


@fall_back_to_bytes.mistake(
    "unknown characters are dropped: the silent loss that the fallback is there to "
    "prevent."
)
def drops_unknown(text, alphabet):
    return [c for c in text if c in alphabet]


@fall_back_to_bytes.mistake(
    "an unknown token instead of bytes: the text can no longer be restored from it."
)
def unknown_token(text, alphabet):
    return _fall_back(text, alphabet, lambda c: ["<unk>"])


@fall_back_to_bytes.mistake(
    "the unknown character stays, and its bytes come in addition."
)
def character_and_bytes(text, alphabet):
    return _fall_back(
        text, alphabet, lambda c: [c, *fall_back_to_bytes.reference(c, "")]
    )


@fall_back_to_bytes.mistake(
    "a byte is no character: that the character with the byte's number is in the "
    "alphabet means nothing."
)
def bytes_in_the_alphabet(text, alphabet):
    return _fall_back(
        text,
        alphabet,
        lambda c: [
            chr(b) if chr(b) in alphabet else f"<0x{b:02X}>" for b in c.encode()
        ],
    )


@fall_back_to_bytes.mistake(
    "lower-case names: the vocabulary holds <0xC3>, and <0xc3> is not found in it."
)
def lower_case(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{b:02x}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "`hex` writes lower-case digits, without a leading zero and without the angle "
    "brackets that are part of the name: <0xC3>, <0x0A>."
)
def by_hex(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [hex(b) for b in c.encode()])


@fall_back_to_bytes.mistake(
    "`hex` writes lower-case digits, and one digit below 0x10: <0xC3> and <0x0A> are "
    "the names in the vocabulary."
)
def by_hex_in_brackets(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<{hex(b)}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "the names are <0xC3> and so on: angle brackets, 0x, two digits."
)
def without_brackets(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"0x{b:02X}" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "0x is missing in the name of a byte, or is part of the wrong place: <0xC3>."
)
def without_0x(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<{b:02X}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "the numbers are decimal. The names are hexadecimal: 195 is <0xC3>."
)
def decimal(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{b}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "the bytes themselves, as numbers. A token is a `str`, the byte's name <0xNN>."
)
def bytes_as_numbers(text, alphabet):
    return _fall_back(text, alphabet, lambda c: list(c.encode()))


@fall_back_to_bytes.mistake(
    "bytes below 0x10 have one digit. The names have two: <0x0A>."
)
def one_digit(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{b:X}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "a list in the list for each unknown character: `append` adds one thing, `extend` "
    "or `+=` each of them."
)
def nested(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [fall_back_to_bytes.reference(c, "")])


@fall_back_to_bytes.mistake(
    "the bytes of UTF-16. Byte tokens stand for UTF-8, which `encode()` gives by "
    "default."
)
def utf_16(text, alphabet):
    return _fall_back(
        text, alphabet, lambda c: [f"<0x{b:02X}>" for b in c.encode("utf-16-be")]
    )


@fall_back_to_bytes.mistake(
    "`upper` writes the x in capitals, too. The names are <0xC3>: capitals for the "
    "digits alone."
)
def capital_x(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0X{b:02X}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "`upper` writes the x in capitals, too, and bytes below 0x10 have one digit. The "
    "names are <0xC3> and <0x0A>."
)
def capital_x_and_one_digit(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0X{b:X}>" for b in c.encode()])


@fall_back_to_bytes.mistake(
    "the names have angle brackets, a small x, and two digits: <0xC3> and <0x0A>."
)
def hex_in_capitals(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [hex(b).upper() for b in c.encode()])


@fall_back_to_bytes.mistake(
    "the whole text is taken byte by byte, and each looked up as a character: look up "
    "the character, and only then take its bytes."
)
def bytes_first(text, alphabet):
    return [chr(b) if chr(b) in alphabet else f"<0x{b:02X}>" for b in text.encode()]


@fall_back_to_bytes.mistake("the characters of the alphabet are missing: they stay.")
def unknown_alone(text, alphabet):
    return [
        t
        for c in text
        if c not in alphabet
        for t in fall_back_to_bytes.reference(c, "")
    ]


@fall_back_to_bytes.mistake(
    "one byte of each unknown character: all its bytes are needed to restore it."
)
def first_byte_alone(text, alphabet):
    return _fall_back(text, alphabet, lambda c: [f"<0x{c.encode()[0]:02X}>"])


@fall_back_to_bytes.mistake(
    "ASCII is kept and all else becomes bytes: the alphabet decides, whatever it holds."
)
def by_ascii(text, alphabet):
    return fall_back_to_bytes.reference(text, "".join(map(chr, range(128))))


@fall_back_to_bytes.mistake(
    "the wrong way round: characters of the alphabet stay, the others become bytes."
)
def wrong_way_round(text, alphabet):
    tokens = []
    for c in text:
        tokens += fall_back_to_bytes.reference(c, "") if c in alphabet else [c]
    return tokens


@fall_back_to_bytes.mistake(
    "different unknown characters, or bytes, are listed once: each place in the text "
    "has its tokens."
)
def without_repeats(text, alphabet):
    return list(dict.fromkeys(fall_back_to_bytes.reference(text, alphabet)))


@fall_back_to_bytes.mistake(
    "the bytes of Latin-1, which has one for é and none for 中: `encode()` gives UTF-8."
)
def latin_1_bytes(text, alphabet):
    return _fall_back(
        text, alphabet, lambda c: [f"<0x{b:02X}>" for b in c.encode("latin-1")]
    )


@fall_back_to_bytes.mistake(
    "the bytes of a character stand in reverse: the first byte comes first."
)
def bytes_in_reverse(text, alphabet):
    return _fall_back(
        text, alphabet, lambda c: [f"<0x{b:02X}>" for b in c.encode()[::-1]]
    )


@fall_back_to_bytes.mistake(
    "the unknown tokens come behind all others: the order of the text stays."
)
def unknown_behind(text, alphabet):
    known = [c for c in text if c in alphabet]
    return known + unknown_alone(text, alphabet)


WAYS = {
    "ASCII is kept instead of the alphabet": lambda c, alphabet: c.isascii(),
    "the condition is the wrong way round": lambda c, alphabet: c not in alphabet,
    "the alphabet is never asked": lambda c, alphabet: False,
    "ASCII is kept besides the alphabet": lambda c, alphabet: (
        c.isascii() or c in alphabet
    ),
    "ASCII that the alphabet lacks is dropped or kept for good": lambda c, alphabet: (
        c.isascii() and c in alphabet
    ),
    "letters and digits are kept instead of the alphabet": lambda c, a: c.isalnum(),
    "white space is kept": lambda c, alphabet: c.isspace() or c in alphabet,
    "upper and lower case are taken for the same": lambda c, alphabet: (
        c.lower() in alphabet.lower()
    ),
    "the first character of the alphabet alone is kept": lambda c, a: c in a[:1],
    "letters are kept instead of the alphabet": lambda c, alphabet: c.isalpha(),
}
NAMES = {
    "the digits are small letters": lambda c: [f"<0x{b:02x}>" for b in c.encode()],
    "bytes below 0x10 have one digit": lambda c: [f"<0x{b:X}>" for b in c.encode()],
    "the digits are small letters, and one below 0x10": lambda c: [
        f"<{b:#x}>" for b in c.encode()
    ],
    "angle brackets are missing": lambda c: [f"0x{b:02X}" for b in c.encode()],
    "the names are those of `hex`": lambda c: list(map(hex, c.encode())),
    "0x is missing": lambda c: [f"<{b:02X}>" for b in c.encode()],
    "the name has digits alone": lambda c: [f"{b:02X}" for b in c.encode()],
    "the numbers are decimal": lambda c: [f"<0x{b}>" for b in c.encode()],
    "numbers below 0x10 have a space in front": lambda c: [
        f"<0x{b:2X}>" for b in c.encode()
    ],
    "names are those of code points, U+": lambda c: [f"<U+{ord(c):04X}>"],
    "names are those of code points, U+, without brackets": lambda c: [
        f"U+{ord(c):04X}"
    ],
    "Python's way to show `bytes` is taken for a name": lambda c: [str(c.encode())],
    "there is one `bytes` object for each byte": lambda c: [
        bytes([b]) for b in c.encode()
    ],
    "a byte is named as in Python, \\x": lambda c: [f"\\x{b:02x}" for b in c.encode()],
    "there is one character for each byte instead of its name": lambda c: [
        *map(chr, c.encode())
    ],
    "the code point is written in decimal": lambda c: [f"<{ord(c)}>"],
    "the code point stays a number": lambda c: [ord(c)],
    "the number is binary": lambda c: [f"<0x{b:08b}>" for b in c.encode()],
    "the digits are small letters without 0x": lambda c: [
        f"<{b:02x}>" for b in c.encode()
    ],
    "small letters, and no angle brackets": lambda c: [
        f"0x{b:02x}" for b in c.encode()
    ],
    "the digits alone, and small letters": lambda c: [f"{b:02x}" for b in c.encode()],
    "all digits of a character stand in one token, and in small letters": lambda c: [
        f"<0x{c.encode().hex()}>"
    ],
    "there are square brackets": lambda c: [f"[0x{b:02X}]" for b in c.encode()],
    "there are round brackets": lambda c: [f"(0x{b:02X})" for b in c.encode()],
    "the name has an X in capitals": lambda c: [f"<0X{b:02X}>" for b in c.encode()],
    "the bytes are those of UTF-16, the low one first": lambda c: [
        f"<0x{b:02X}>" for b in c.encode("utf-16-le")
    ],
    "the bytes are those of UTF-32": lambda c: [
        f"<0x{b:02X}>" for b in c.encode("utf-32-be")
    ],
    "the bytes are those of UTF-16 with a mark in front": lambda c: [
        f"<0x{b:02X}>" for b in c.encode("utf-16")
    ],
    "bytes stay numbers": lambda c: list(c.encode()),
    "the code point is taken for the bytes": lambda c: [f"<0x{ord(c):02X}>"],
    "all bytes of a character stand in one token": lambda c: [
        f"<0x{c.encode().hex().upper()}>"
    ],
    "there is an unknown token instead of bytes": lambda c: ["<unk>"],
}
BUNDLES = {
    "the tokens of a character are joined to one": lambda ts: ["".join(map(str, ts))],
    "each unknown character is a list in the list": lambda ts: [ts],
    "only the first byte of a character is taken": lambda ts: ts[:1],
    "the character stays, too": None,
}


@fall_back_to_bytes.mistake("the names are digits alone: <0xC3> has brackets and 0x.")
def digits_alone(text, alphabet):
    return _fall_back(text, alphabet, NAMES["the name has digits alone"])


@fall_back_to_bytes.mistake(
    "letters are kept and all else becomes bytes: the alphabet decides, whatever it "
    "holds."
)
def by_letters(text, alphabet):
    return [t for c in text for t in ([c] if c.isalpha() else always_bytes(c, ""))]


@fall_back_to_bytes.mistake(
    "known characters that stand side by side are joined: before any merge each of "
    "them is a token."
)
def joins_known(text, alphabet):
    tokens, known = [], ""
    for c in [*text, None]:
        if c is not None and c in alphabet:
            known += c
            continue
        tokens += [known] if known else []
        known = ""
        tokens += always_bytes(c or "", "")
    return tokens


@fall_back_to_bytes.mistake(
    "from the first unknown character on all is bytes: the characters behind it may be "
    "known."
)
def bytes_from_there_on(text, alphabet):
    known = next((i for i, c in enumerate(text) if c not in alphabet), len(text))
    return [*text[:known], *always_bytes(text[known:], "")]


@fall_back_to_bytes.mistake(
    "a name is taken apart into its characters: `+=` of a list and a `str` adds each "
    "of them, `append` adds the `str`."
)
def names_in_characters(text, alphabet):
    return _fall_back(text, alphabet, lambda c: list("".join(always_bytes(c, ""))))


@fall_back_to_bytes.mistake(
    "capitals become small letters: the text's characters stay as they are."
)
def lowers_the_text(text, alphabet):
    return fall_back_to_bytes.reference(text.lower(), alphabet)


@fall_back_to_bytes.mistake(
    "the bytes of the code point: UTF-8 writes it otherwise from 0x80 on."
)
def bytes_of_the_number(text, alphabet):
    return _fall_back(
        text,
        alphabet,
        lambda c: [f"<0x{b:02X}>" for b in ord(c).to_bytes(4, "big").lstrip(b"\0")],
    )


@fall_back_to_bytes.mistake(
    "the whole text is looked for in the alphabet: character by character it goes."
)
def looks_for_the_text(text, alphabet):
    return list(text) if text in alphabet else always_bytes(text, alphabet)


def _fall_back_otherwise(names, text, alphabet):
    return _fall_back(text, alphabet, names)


def kept_otherwise(kept, text, alphabet):
    return named_otherwise(kept, lambda c: always_bytes(c, ""), text, alphabet)


def named_otherwise(kept, names, text, alphabet):
    return [t for c in text for t in ([c] if kept(c, alphabet) else names(c))]


def bundled_otherwise(bundle, names, text, alphabet):
    def unknown(c):
        return [c, *names(c)] if bundle is None else bundle(names(c))

    return _fall_back(text, alphabet, unknown)


fall_back_to_bytes.combine(kept_otherwise, WAYS)
fall_back_to_bytes.combine(_fall_back_otherwise, NAMES)
fall_back_to_bytes.combine(named_otherwise, WAYS, NAMES)
fall_back_to_bytes.combine(bundled_otherwise, BUNDLES, NAMES)


def _seen_and_new(random: Random) -> Iterator[Case]:
    for seen in ("", "a", "abc", "é", "e€", "中文", "aa"):
        for text in ("", "a", "aa", "é", "èè", "aéb", "中", "cab", "a b"):
            yield seen, text
    # All bytes of the new character are seen, in others.
    yield "é¢", "©"
    yield "é¢", "a©"
    yield "é", "è中"


@exercise(
    cases=_seen_and_new,
    hints=(
        "Without the full alphabet a byte has a token only if the training text held "
        "that byte.",
        "Forget the characters: `encode()` makes a sequence of numbers of each text, "
        "and the rest happens among these.",
    ),
)
def count_lost_bytes(seen: str, text: str) -> int:
    """Return how many bytes of `text` a byte-level tokenizer drops that knows only the
    bytes of `seen`."""
    alphabet = set(seen.encode())
    return sum(byte not in alphabet for byte in text.encode())


@count_lost_bytes.mistake(
    "characters are counted. An unseen character may share some of its bytes with "
    "seen ones."
)
def counts_characters(seen, text):
    return sum(c not in seen for c in text)


@count_lost_bytes.mistake("different unseen characters are counted, not lost bytes.")
def different_characters(seen, text):
    return len(set(text) - set(seen))


@count_lost_bytes.mistake(
    "characters that lose a byte are counted. Some lose one, others three."
)
def damaged_characters(seen, text):
    return sum(not set(c.encode()) <= set(seen.encode()) for c in text)


@count_lost_bytes.mistake(
    "all bytes of an unseen character. Those it shares with seen ones, such as 0xC3, "
    "survive."
)
def whole_characters(seen, text):
    return sum(len(c.encode()) for c in text if c not in seen)


@count_lost_bytes.mistake(
    "all bytes of a character that loses one. The others survive: the model meets "
    "half a character."
)
def whole_damaged_characters(seen, text):
    return sum(
        len(c.encode()) for c in text if not set(c.encode()) <= set(seen.encode())
    )


@count_lost_bytes.mistake(
    "each lost byte is counted once. It is lost wherever it occurs."
)
def different_bytes(seen, text):
    return len(set(text.encode()) - set(seen.encode()))


@count_lost_bytes.mistake(
    "a byte that occurs more often than in `seen` is not lost: seen once, it has a "
    "token for good."
)
def multisets(seen, text):
    return (Counter(text.encode()) - Counter(seen.encode())).total()


@count_lost_bytes.mistake("the bytes that survive, not those that are lost.")
def survivors(seen, text):
    return len(text.encode()) - count_lost_bytes.reference(seen, text)


@count_lost_bytes.mistake(
    "the other way round: bytes of `seen` that `text` does not use."
)
def swapped(seen, text):
    return count_lost_bytes.reference(text, seen)


@count_lost_bytes.mistake(
    "the lengths are subtracted, and the result may be negative: which bytes they are "
    "decides, not how many."
)
def difference_of_lengths(seen, text):
    return len(text.encode()) - len(seen.encode())


@count_lost_bytes.mistake(
    "a byte is no character: `chr` of a byte finds another character, or none, in "
    "`seen`. Encode both."
)
def bytes_as_characters(seen, text):
    return sum(chr(byte) not in seen for byte in text.encode())


@count_lost_bytes.mistake("the lengths are compared: which bytes they are decides.")
def lengths(seen, text):
    return max(0, len(text.encode()) - len(seen.encode()))


@count_lost_bytes.mistake(
    "code points below 256 are taken for bytes: é is one number there, and two bytes "
    "in UTF-8."
)
def latin_1(seen, text):
    alphabet = set(seen.encode("latin-1", "ignore"))
    return sum(byte not in alphabet for byte in text.encode("latin-1", "ignore"))


@count_lost_bytes.mistake(
    "each unseen character is counted once, with all of its bytes: every byte counts, "
    "wherever it occurs, and seen bytes survive."
)
def bytes_of_different_characters(seen, text):
    return sum(len(c.encode()) for c in set(text) - set(seen))


@count_lost_bytes.mistake(
    "what is no ASCII is counted: which bytes are known, `seen` says."
)
def not_ascii(seen, text):
    return sum(not c.isascii() for c in text)


@count_lost_bytes.mistake(
    "the two texts are compared place by place: a byte is known wherever in `seen` it "
    "stands."
)
def place_by_place(seen, text):
    pairs = zip(seen.encode(), text.encode(), strict=False)
    return sum(one != other for one, other in pairs)


@count_lost_bytes.mistake(
    "bytes of `seen` that `text` lacks are counted as well, and each once: only those "
    "of `text` can be lost, as often as they occur."
)
def symmetric_difference(seen, text):
    return len(set(seen.encode()) ^ set(text.encode()))


@count_lost_bytes.mistake(
    "each known byte is subtracted once: it survives wherever it occurs."
)
def subtracts_different(seen, text):
    return len(text.encode()) - len(set(text.encode()) & set(seen.encode()))


@count_lost_bytes.mistake("nothing is ever lost: only the bytes of `seen` are known.")
def loses_nothing(seen, text):
    return 0


@count_lost_bytes.mistake(
    "the first byte alone is looked at: does the loop return in its first round?"
)
def first_byte_of_all(seen, text):
    return sum(byte not in seen.encode() for byte in text.encode()[:1])


@count_lost_bytes.mistake(
    "survivors and lost bytes are subtracted from each other: the lost ones are asked."
)
def survivors_minus_lost(seen, text):
    return len(text.encode()) - 2 * count_lost_bytes.reference(seen, text)


@count_lost_bytes.mistake(
    "all bytes of unseen characters beyond ASCII: ASCII may be lost, too, and bytes "
    "that were seen survive."
)
def whole_characters_beyond_ascii(seen, text):
    return sum(len(c.encode()) for c in text if not c.isascii() and c not in seen)


@count_lost_bytes.mistake("ASCII is taken as known: only the bytes of `seen` are.")
def ascii_is_known(seen, text):
    alphabet = {*seen.encode(), *range(128)}
    return sum(byte not in alphabet for byte in text.encode())


@count_lost_bytes.mistake(
    "the bytes of UTF-16: a byte-level tokenizer reads UTF-8, which `encode()` gives "
    "by default."
)
def in_utf_16(seen, text):
    alphabet = set(seen.encode("utf-16-le"))
    return sum(byte not in alphabet for byte in text.encode("utf-16-le"))


@count_lost_bytes.mistake(
    "all bytes, or none: it is counted byte by byte, and known ones survive."
)
def all_or_none(seen, text):
    known = set(text.encode()) <= set(seen.encode())
    return 0 if known else len(text.encode())


@count_lost_bytes.mistake(
    "the bytes of the text are counted: those that occur in `seen` survive."
)
def all_bytes(seen, text):
    return len(text.encode())


@count_lost_bytes.mistake(
    "blanks are left out: a blank is a byte as any other, lost if `seen` has none."
)
def without_blanks(seen, text):
    return count_lost_bytes.reference(seen, "".join(text.split()))


UNITS = {
    "characters are taken for bytes": list,
    "code points below 256 are taken for bytes": lambda text: text.encode(
        "latin-1", "ignore"
    ),
    "the bytes are those of UTF-16": lambda text: text.encode("utf-16-le"),
}
COUNTS = {
    "each is counted once, although it is lost wherever it occurs": (
        lambda seen, text: len(set(text) - set(seen))
    ),
    "survivors are counted": lambda seen, text: sum(unit in seen for unit in text),
    "different survivors are counted": lambda seen, text: len(set(seen) & set(text)),
    "the two texts are exchanged": lambda seen, text: sum(u not in text for u in seen),
    "the two texts are exchanged, and each is counted once": (
        lambda seen, text: len(set(seen) - set(text))
    ),
    "those seen once are known once": lambda seen, text: (
        Counter(text) - Counter(seen)
    ).total(),
    "all 256 bytes that `seen` lacks are counted, whatever the text holds": (
        lambda seen, text: 256 - len(set(seen))
    ),
    "different bytes that both have together are counted": (
        lambda seen, text: len(set(seen) | set(text))
    ),
    "different bytes of `seen` are counted": lambda seen, text: len(set(seen)),
    "different bytes of `text` are counted": lambda seen, text: len(set(text)),
    "the number of known bytes is subtracted": (
        lambda seen, text: len(text) - len(set(seen))
    ),
    "the number of known bytes is subtracted, down to 0": (
        lambda seen, text: max(0, len(text) - len(set(seen)))
    ),
    "places are compared, and what is longer counts as lost": lambda seen, text: sum(
        i >= len(seen) or unit != seen[i] for i, unit in enumerate(text)
    ),
    "a byte is known only behind the same byte as in `seen`": lambda seen, text: len(
        [pair for pair in pairwise(text) if pair not in set(pairwise(seen))]
    ),
    "the whole text is looked for in `seen`": lambda seen, text: (
        0 if text in seen else len(text)
    ),
    "runs of lost bytes are counted": lambda seen, text: sum(
        unit not in seen and (i == 0 or text[i - 1] in seen)
        for i, unit in enumerate(text)
    ),
    "only lost bytes from 0x80 on are counted": lambda seen, text: sum(
        unit not in seen and (not isinstance(unit, int) or unit > 127) for unit in text
    ),
    "lengths are subtracted": lambda seen, text: len(text) - len(seen),
    "numbers of different ones are subtracted": (
        lambda seen, text: len(set(text)) - len(set(seen))
    ),
    "those that `text` lacks are counted, too": (
        lambda seen, text: len(set(seen) ^ set(text))
    ),
}


def counted_otherwise(unit, count, seen, text):
    return count(unit(seen), unit(text))


def counted_bytes(count, seen, text):
    return count(seen.encode(), text.encode())


count_lost_bytes.combine(counted_bytes, COUNTS)
count_lost_bytes.combine(counted_otherwise, UNITS, COUNTS)


def _one_or_two_sequences(random: Random) -> Iterator[Case]:
    for first in ([], [5], [5, 6, 7]):
        for second in (None, [], [8], [8, 9]):
            yield first, second, 0
            yield first, second, 3
    # Texts whose last id, or first, is an end already.
    for first, second in (([5, 0], None), ([0], [0]), ([5], [0, 8, 0]), ([0, 5], [])):
        yield first, second, 0


@exercise(
    cases=_one_or_two_sequences,
    hints=(
        "Which sequences exist? Each of them gets its own end.",
        "`second is None` means that there is one sequence; `[]` is a second one "
        "without tokens, and ends too.",
    ),
)
def end_each(first: list[int], second: list[int] | None, end_id: int) -> list[int]:
    """Return the ids of one sequence, or of a pair, with the end of the text behind
    each that exists."""
    ids = [*first, end_id]
    if second is not None:
        ids += [*second, end_id]
    return ids


@end_each.mistake(
    "only one end, behind all: the two texts of a pair run into each other."
)
def only_at_the_end(first, second, end_id):
    return [*first, *(second or []), end_id]


@end_each.mistake(
    "only between the two. The second one never ends, and a single one has no end at "
    "all."
)
def only_between(first, second, end_id):
    return first if second is None else [*first, end_id, *second]


@end_each.mistake(
    "the second sequence never ends: each that exists gets an end of its own."
)
def second_never_ends(first, second, end_id):
    return [*first, end_id, *(second or [])]


@end_each.mistake("the second sequence is missing: it belongs to the ids as well.")
def first_alone(first, second, end_id):
    return [*first, end_id]


@end_each.mistake(
    "at the beginning. A token there begins a text; this one is to end it."
)
def in_front(first, second, end_id):
    ids = [end_id, *first]
    return ids if second is None else [*ids, end_id, *second]


@end_each.mistake("before and behind: the end of a text stands behind it, once.")
def on_both_sides(first, second, end_id):
    return [end_id, *end_each.reference(first, second, end_id)]


@end_each.mistake(
    "an empty second sequence is a sequence: only `None` means that there is none."
)
def empty_is_none(first, second, end_id):
    return end_each.reference(first, second or None, end_id)


@end_each.mistake("an empty sequence ends too: any that exists gets its end.")
def empty_has_no_end(first, second, end_id):
    parts = [part for part in (first, second) if part]
    return [i for part in parts for i in (*part, end_id)]


@end_each.mistake(
    "two ends behind a single sequence: a second one that does not exist gets none."
)
def none_ends_too(first, second, end_id):
    return [*first, end_id, *(second or []), end_id]


@end_each.mistake(
    "a text that already holds the id at its end gets its own end all the same: the "
    "post-processor does not look."
)
def only_where_missing(first, second, end_id):
    parts = [first] if second is None else [first, second]
    return [
        i
        for part in parts
        for i in (part if part and part[-1] == end_id else [*part, end_id])
    ]


@end_each.mistake(
    "the ids that equal the end are taken out first: a post-processor adds, and "
    "removes nothing."
)
def cleans_first(first, second, end_id):
    parts = [first] if second is None else [first, second]
    return [i for part in parts for i in (*(i for i in part if i != end_id), end_id)]


@end_each.mistake(
    "`second` may be `None`, which cannot be added to a list: there is one sequence "
    "then."
)
def needs_a_second(first, second, end_id):
    return first + [end_id] + second + [end_id]  # noqa: RUF005, the mistake


@end_each.mistake(
    "lists stand in the list: `*` unpacks a list, or `+` joins it to another."
)
def not_unpacked(first, second, end_id):
    return [first, end_id] if second is None else [first, end_id, second, end_id]


@end_each.mistake("the end is always 0: it is `end_id`.")
def always_zero(first, second, end_id):
    return end_each.reference(first, second, 0)


@end_each.mistake("a list for each sequence: one list of all ids is wanted.")
def one_list_each(first, second, end_id):
    return [[*part, end_id] for part in (first, second) if part is not None]


@end_each.mistake("the second sequence stands before the first.")
def second_first(first, second, end_id):
    if second is None:
        return [*first, end_id]
    return [*second, end_id, *first, end_id]


@end_each.mistake("two ends between the texts of a pair: the first one ends once.")
def two_ends_between(first, second, end_id):
    if not second:
        return [*first, end_id]
    return [*first, end_id, end_id, *second, end_id]


@end_each.mistake("a pair of lists: all ids stand in one list, first those of `first`.")
def two_lists(first, second, end_id):
    if second is None:
        return [*first, end_id]
    return [*first, end_id], [*second, end_id]


@end_each.mistake("an end behind each id: it stands behind each text.")
def behind_each_id(first, second, end_id):
    return [
        i for ids in (first, second or []) for token in ids for i in (token, end_id)
    ]


@end_each.mistake("`second` stands in the list as a list: `*second` unpacks it.")
def second_not_unpacked(first, second, end_id):
    return [*first, end_id] + ([second, end_id] if second is not None else [])


@end_each.mistake(
    "an end is added only where the ids don't end with one already; and an empty text "
    "ends, too."
)
def only_where_missing_or_empty(first, second, end_id):
    ids = list(first)
    if ids and ids[-1] != end_id:
        ids.append(end_id)
    if second is not None:
        ids += second
        if ids and ids[-1] != end_id:
            ids.append(end_id)
    return ids


@end_each.mistake(
    "a pair of results, the second one `None` or a list: one list of all ids is wanted."
)
def always_a_pair(first, second, end_id):
    return [*first, end_id], None if second is None else [*second, end_id]


@end_each.mistake(
    "an end is left out where the ids so far end with one, be it that of the first "
    "text: the post-processor does not look."
)
def only_where_none_stands(first, second, end_id):
    ids = list(first) if first and first[-1] == end_id else [*first, end_id]
    if second is None:
        return ids
    ids += second
    return ids if ids[-1] == end_id else [*ids, end_id]


Ids = list[int]
EXISTENCE = {
    "an empty second text is taken for none": lambda first, second: (
        [first, second] if second else [first]
    ),
    "an empty text, the first or the second, is taken for none": (
        lambda first, second: [ids for ids in (first, second) if ids]
    ),
    "an empty first text is taken for none": lambda first, second: [
        *([first] if first else []),
        *([second] if second is not None else []),
    ],
    "a second text that does not exist is taken for an empty one": (
        lambda first, second: [first, second or []]
    ),
    "there must be a second text, or an error is raised": lambda first, second: [
        list(first),
        list(second),
    ],
    "the second text stands before the first": lambda first, second: (
        [first] if second is None else [second, first]
    ),
    "the second text is left out": lambda first, second: [first],
}


def _joined(lists):
    return [i for ids in lists for i in ids]


BOTH_ENDS = {
    "there is no end at all": lambda texts, end: _joined(texts),
    "there is only one end, behind all": lambda texts, end: [*_joined(texts), end],
    "there is one end between two texts, and none behind the last": lambda texts, end: (
        _joined([*ids, end] for ids in texts[:-1]) + _joined(texts[-1:])
    ),
    "the end stands before each text": lambda texts, end: _joined(
        [end, *ids] for ids in texts
    ),
    "the end stands before each text and behind it": lambda texts, end: _joined(
        [end, *ids, end] for ids in texts
    ),
    "there is an end before the first text, too": lambda texts, end: [
        end,
        *_joined([*ids, end] for ids in texts),
    ],
    "there are two ends behind each text": lambda texts, end: _joined(
        [*ids, end, end] for ids in texts
    ),
    "there is one more end behind all": lambda texts, end: [
        *_joined([*ids, end] for ids in texts),
        end,
    ],
    "a text that ends with the id gets no end": lambda texts, end: _joined(
        ids if ids[-1:] == [end] else [*ids, end] for ids in texts
    ),
    "a text that holds the id anywhere gets no end": lambda texts, end: _joined(
        ids if end in ids else [*ids, end] for ids in texts
    ),
    "ids that equal the end are removed": lambda texts, end: _joined(
        [*(i for i in ids if i != end), end] for ids in texts
    ),
    "the last id of each text is replaced by the end": lambda texts, end: _joined(
        [*ids[:-1], end] for ids in texts
    ),
    "the end is always 0": lambda texts, end: _joined([*ids, 0] for ids in texts),
    "there is a list for each text": lambda texts, end: [[*ids, end] for ids in texts],
    "there is an end behind each id": lambda texts, end: [
        i for ids in texts for token in ids for i in (token, end)
    ],
}


# What becomes of a single text, and of two.
SINGLE = {
    "a single text has no end": lambda first, end: first,
    "a single text has two ends": lambda first, end: [*first, end, end],
    "a single text has its end in front": lambda first, end: [end, *first],
    "a single text has an end in front, too": lambda first, end: [end, *first, end],
    "a single text gives nothing": lambda first, end: [],
    "a single text gives its end alone": lambda first, end: [end],
    "a single text stands in a list of its own": lambda first, end: [[*first, end]],
    "`None` stands in the list": lambda first, end: [*first, end, None, end],
    "`None` stands in the list at its end": lambda first, end: [*first, end, None],
    "a single text stands in the list as a list": lambda first, end: [first, end],
    "a single text occurs twice": lambda first, end: [*first, end, *first, end],
}
PAIR = {
    "the texts of a pair have no ends": lambda one, two, end: one + two,
    "the first text of a pair has no end": lambda one, two, end: [*one, *two, end],
    "the second text of a pair has no end": lambda one, two, end: [*one, end, *two],
    "the second text of a pair is missing": lambda one, two, end: [*one, end],
    "the first text of a pair is missing": lambda one, two, end: [*two, end],
    "the first text of a pair stands there twice": lambda one, two, end: [
        *(*one, end, *one, end),
    ],
    "the second text of a pair stands before the first": lambda one, two, end: [
        *(*two, end, *one, end),
    ],
    "two ends stand between the texts of a pair": lambda one, two, end: [
        *(*one, end, end, *two, end),
    ],
    "two ends stand behind a pair": lambda one, two, end: [*one, end, *two, end, end],
    "both ends stand behind a pair": lambda one, two, end: [*one, *two, end, end],
    "both ends stand between the texts of a pair": lambda one, two, end: [
        *(*one, end, end, *two),
    ],
    "the ends stand before the texts of a pair": lambda one, two, end: [
        *(end, *one, end, *two),
    ],
    "the ends stand around a pair": lambda one, two, end: [end, *one, *two, end],
    "a third end stands before a pair": lambda one, two, end: [
        *(end, *one, end, *two, end),
    ],
    "a pair becomes two lists": lambda one, two, end: [[*one, end], [*two, end]],
    "the second text of a pair stands in the list as a list": lambda one, two, end: [
        *(*one, end, two, end),
    ],
    "the second text of a pair, with its end, stands in the list as a list": (
        lambda one, two, end: [*one, end, [*two, end]]
    ),
    "a pair is added up place by place": lambda one, two, end: [
        *(a + b for a, b in zip(one, two, strict=False)),
        end,
    ],
    "a pair gives nothing": lambda one, two, end: [],
}


def single_otherwise(single, first, second, end_id):
    if second is None:
        return single(first, end_id)
    return [*first, end_id, *second, end_id]


def pair_otherwise(pair, first, second, end_id):
    return [*first, end_id] if second is None else pair(first, second, end_id)


def single_and_pair_otherwise(single, pair, first, second, end_id):
    if second is None:
        return single(first, end_id)
    return pair(first, second, end_id)


def empty_and_pair_otherwise(pair, first, second, end_id):
    return pair(first, second, end_id) if second else [*first, end_id]


end_each.combine(single_otherwise, SINGLE)
end_each.combine(pair_otherwise, PAIR)
end_each.combine(single_and_pair_otherwise, SINGLE, PAIR)
end_each.combine(
    empty_and_pair_otherwise,
    {f"an empty second text is taken for none, and {w}": p for w, p in PAIR.items()},
)


def _existing(first: Ids, second: Ids | None) -> list[Ids]:
    return [first] if second is None else [first, second]


def existing_otherwise(texts, first, second, end_id):
    return [i for ids in texts(first, second) for i in (*ids, end_id)]


def ended_each_otherwise(end, first, second, end_id):
    return end(_existing(first, second), end_id)


def existing_and_ended_otherwise(texts, end, first, second, end_id):
    return end(texts(first, second), end_id)


end_each.combine(existing_otherwise, EXISTENCE)
end_each.combine(ended_each_otherwise, BOTH_ENDS)
end_each.combine(existing_and_ended_otherwise, EXISTENCE, BOTH_ENDS)


def _rows_to_pad(random: Random) -> Iterator[Case]:
    for pad_id in (0, 1):
        for length in (1, 3, 5):
            yield [[7, 8, 0]], pad_id, length
            yield [[7], [5, 6, 0]], pad_id, length
            yield [[7, 1, 0], []], pad_id, length
            yield [[2, 3, 4, 5, 6, 0], [0]], pad_id, length
    yield [[2], [3, 4]], 9, 2
    yield [[2], [3, 4]], 9, 7


@exercise(
    cases=_rows_to_pad,
    hints=(
        "Cut first, then fill up. What does the mask know that the ids do not?",
        "How many pads does a row of n ids get? This number is all that the mask "
        "needs: the ids themselves may be anything, a pad's id too.",
    ),
)
def pad_right(rows: list[list[int]], pad_id: int, length: int) -> tuple[list, list]:
    """Return the rows, cut or padded on the right to `length` ids, and their attention
    masks: 1 real, 0 pad."""
    padded, masks = [], []
    for row in rows:
        row = row[:length]
        missing = length - len(row)
        padded.append(row + [pad_id] * missing)
        masks.append([1] * len(row) + [0] * missing)
    return padded, masks


@pad_right.mistake(
    "the mask is read off the ids. A real token with the id of the pad, such as an "
    "end, is masked too."
)
def mask_from_ids(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [[int(i != pad_id) for i in row] for row in padded]


@pad_right.mistake(
    "the mask is 0 wherever an id is 0. Which id is the pad, `pad_id` says, and not "
    "even that decides: a text may hold it."
)
def mask_from_zeros(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [[int(i != 0) for i in row] for row in padded]


@pad_right.mistake(
    "the masks hold `True` and `False`, or floats: 1 and 0 are asked, as whole numbers."
)
def masks_of_bools(rows, pad_id, length):
    padded, masks = pad_right.reference(rows, pad_id, length)
    return padded, [[real == 1 for real in mask] for mask in masks]


@pad_right.mistake(
    "one pad too few: what is missing is `length` minus the row's length."
)
def one_pad_too_few(rows, pad_id, length):
    short = pad_right.reference(rows, pad_id, length - 1)
    full = pad_right.reference(rows, pad_id, length)
    return tuple(
        [
            s if len(row) < length else f
            for s, f, row in zip(some, all_, rows, strict=True)
        ]
        for some, all_ in zip(short, full, strict=True)
    )


@pad_right.mistake("the mask is inverted: 1 stands for a real token, 0 for a pad.")
def inverted(rows, pad_id, length):
    padded, masks = pad_right.reference(rows, pad_id, length)
    return padded, [[1 - real for real in mask] for mask in masks]


@pad_right.mistake("the mask is 1 everywhere: pads are to be 0 in it.")
def all_real(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [[1] * length for _ in rows]


@pad_right.mistake("the mask is as long as the row was before it was cut. Cut first.")
def mask_before_cutting(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [[1] * len(row) + [0] * (length - len(row)) for row in rows]


@pad_right.mistake("the masks end with the real tokens: they need a 0 for each pad.")
def short_masks(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [[1] * len(row[:length]) for row in rows]


@pad_right.mistake(
    "padded on the left: every position id of a short row is off by the number of pads."
)
def on_the_left(rows, pad_id, length):
    cut_rows = [row[:length] for row in rows]
    return (
        [[pad_id] * (length - len(row)) + row for row in cut_rows],
        [[0] * (length - len(row)) + [1] * len(row) for row in cut_rows],
    )


@pad_right.mistake(
    "rows are cut on the left: the beginning of the text is lost instead of the end."
)
def keeps_the_end(rows, pad_id, length):
    return pad_right.reference([row[-length:] for row in rows], pad_id, length)


@pad_right.mistake(
    "the last id of a long row is saved. Here the row is cut, and its end is lost: "
    "truncation comes before the end is added."
)
def saves_the_last(rows, pad_id, length):
    kept = [r if len(r) <= length else [*r[: length - 1], r[-1]] for r in rows]
    return pad_right.reference(kept, pad_id, length)


@pad_right.mistake("long rows are not cut: the rows of a batch must have one length.")
def never_cuts(rows, pad_id, length):
    return (
        [row + [pad_id] * (length - len(row)) for row in rows],
        [[1] * len(row) + [0] * (length - len(row)) for row in rows],
    )


@pad_right.mistake("long rows are dropped: they are to be cut.")
def drops_long_rows(rows, pad_id, length):
    kept = [row for row in rows if len(row) <= length]
    return pad_right.reference(kept, pad_id, length)


@pad_right.mistake("short rows are never filled up: each gets pads up to `length`.")
def never_pads(rows, pad_id, length):
    return [row[:length] for row in rows], [[1] * len(row[:length]) for row in rows]


@pad_right.mistake(
    "padded to the longest row of the batch: `length` is asked, longer or shorter."
)
def to_the_longest(rows, pad_id, length):
    return pad_right.reference(rows, pad_id, max(map(len, rows)))


@pad_right.mistake(
    "padded to the longest row of the batch, where that is shorter than `length`."
)
def to_the_longest_at_most(rows, pad_id, length):
    return pad_right.reference(rows, pad_id, min(length, max(map(len, rows))))


@pad_right.mistake("the pad is always 0: it is `pad_id`.")
def pads_with_zero(rows, pad_id, length):
    return pad_right.reference(rows, 0, length)


@pad_right.mistake(
    "`length` pads are added, however long the row is: what is missing is `length` "
    "minus its length."
)
def adds_length_pads(rows, pad_id, length):
    return (
        [row[:length] + [pad_id] * length for row in rows],
        [[1] * len(row[:length]) + [0] * length for row in rows],
    )


@pad_right.mistake(
    "a pair for each row: all padded rows stand in one list, all masks in another."
)
def pairs(rows, pad_id, length):
    return list(zip(*pad_right.reference(rows, pad_id, length), strict=True))


@pad_right.mistake("the masks are missing: rows and masks are asked, in this order.")
def rows_alone(rows, pad_id, length):
    return pad_right.reference(rows, pad_id, length)[0]


@pad_right.mistake("the mask is filled up with `pad_id`: it holds 0 for each pad.")
def mask_with_pad_id(rows, pad_id, length):
    padded, masks = pad_right.reference(rows, pad_id, length)
    return padded, [[real or pad_id for real in mask] for mask in masks]


@pad_right.mistake(
    "rows that have `length` ids or more are missing: they are cut, and stay."
)
def short_rows_alone(rows, pad_id, length):
    return pad_right.reference([r for r in rows if len(r) < length], pad_id, length)


@pad_right.mistake(
    "rows are cut to one id less than `length`: `row[:n]` holds n of them already."
)
def cut_too_short(rows, pad_id, length):
    return (
        [row[: length - 1] + [pad_id] * (length - len(row)) for row in rows],
        [[1] * len(row[: length - 1]) + [0] * (length - len(row)) for row in rows],
    )


@pad_right.mistake("position ids instead of a mask: 1 for each id, 0 for each pad.")
def positions(rows, pad_id, length):
    padded, _ = pad_right.reference(rows, pad_id, length)
    return padded, [list(range(length)) for _ in rows]


@pad_right.mistake("the masks are joined: each row has a mask of its own.")
def one_mask_for_all(rows, pad_id, length):
    padded, masks = pad_right.reference(rows, pad_id, length)
    return padded, [real for mask in masks for real in mask]


@pad_right.mistake(
    "the pads stand in the row as a list: `+` joins two lists, `append` puts one into "
    "the other."
)
def pads_in_a_list(rows, pad_id, length):
    padded = [[*row[:length], [pad_id] * (length - len(row))] for row in rows]
    return padded, pad_right.reference(rows, pad_id, length)[1]


Row = list[int]
# What is left of a row, how many pads stand before it, how many behind it, of `length`.
ROWS = {
    "long rows are not cut": lambda row, n: (row, 0, n - len(row)),
    "short rows are not filled up": lambda row, n: (row[:n], 0, 0),
    "rows are neither cut nor filled up": lambda row, n: (row, 0, 0),
    "pads stand on the left": lambda row, n: (row[:n], n - len(row), 0),
    "pads stand on the left, and long rows are not cut": lambda row, n: (
        *(row, n - len(row), 0),
    ),
    "rows are cut on the left": lambda row, n: (row[-n:], 0, n - len(row)),
    "rows are cut and padded on the left": lambda row, n: (row[-n:], n - len(row), 0),
    "each row gets `length` pads": lambda row, n: (row[:n], 0, n),
    "each row gets `length` pads, and is not cut": lambda row, n: (row, 0, n),
    "rows get one pad too few": lambda row, n: (row[:n], 0, n - len(row) - 1),
    "rows get one pad too many": lambda row, n: (row[:n], 0, n - len(row) + 1),
    "rows get a single pad": lambda row, n: (row[:n], 0, int(len(row) < n)),
    "rows are cut one too short": lambda row, n: (row[: n - 1], 0, n - len(row)),
    "rows are cut one too short, and filled up again": lambda row, n: (
        *(row[: n - 1], 0, n - len(row[: n - 1])),
    ),
    "rows are cut one too long": lambda row, n: (row[: n + 1], 0, n - len(row)),
    "the last place of a long row is a pad": lambda row, n: (
        *((row, 0, n - len(row)) if len(row) <= n else (row[: n - 1], 0, 1)),
    ),
    "rows are cut only if they are two or more too long": lambda row, n: (
        *((row, 0, n - len(row)) if len(row) <= n + 1 else (row[:n], 0, 0)),
    ),
    "a pad is added to each row, long ones too": lambda row, n: (
        *(row[:n], 0, max(1, n - len(row))),
    ),
    "rows start with their second id": lambda row, n: (row[1 : n + 1], 0, n - len(row)),
    "half of the pads stand on the left": lambda row, n: (
        *(row[:n], max(0, n - len(row)) // 2, (max(0, n - len(row)) + 1) // 2),
    ),
    "long rows become empty": lambda row, n: (
        *((row, 0, n - len(row)) if len(row) <= n else ([], 0, n)),
    ),
}
BATCHES = {
    "rows are padded to the longest of the batch": lambda rows, pad, n: (
        *(rows, pad, max(map(len, rows))),
    ),
    "rows are padded to the longest of the batch, at most to `length`": (
        lambda rows, pad, n: (rows, pad, min(n, max(map(len, rows))))
    ),
    "rows are padded to the longest of the batch, at least to `length`": (
        lambda rows, pad, n: (rows, pad, max(n, *map(len, rows), 0))
    ),
    "rows are cut to the shortest of the batch": lambda rows, pad, n: (
        *(rows, pad, min(map(len, rows))),
    ),
    "the pad is always 1": lambda rows, pad, n: (rows, 1, n),
    "the pad is always -1": lambda rows, pad, n: (rows, -1, n),
    "the pad is always -100": lambda rows, pad, n: (rows, -100, n),
    "the pad is `None`": lambda rows, pad, n: (rows, None, n),
    "pads are `length`, and `pad_id` is the length: exchanged": lambda rows, pad, n: (
        *(rows, n, pad),
    ),
    "ids that equal the pad are removed first": lambda rows, pad, n: (
        *([[i for i in row if i != pad] for row in rows], pad, n),
    ),
    "all rows are padded to `length - 1`": lambda rows, pad, n: (rows, pad, n - 1),
    "all rows are padded to `length + 1`": lambda rows, pad, n: (rows, pad, n + 1),
    "the pad is always 0": lambda rows, pad, n: (rows, 0, n),
    "long rows are left out": lambda rows, pad, n: (
        *([row for row in rows if len(row) <= n], pad, n),
    ),
    "rows of `length` ids or more are left out": lambda rows, pad, n: (
        *([row for row in rows if len(row) < n], pad, n),
    ),
    "empty rows are left out": lambda rows, pad, n: ([r for r in rows if r], pad, n),
    "the first row alone is taken": lambda rows, pad, n: (rows[:1], pad, n),
    "the last row alone is taken": lambda rows, pad, n: (rows[-1:], pad, n),
    "rows are sorted by their length": lambda rows, pad, n: (
        *(sorted(rows, key=len), pad, n),
    ),
}
# From the new row, its mask, the row as it was, the id of the pad, and the length.
MASKS = {
    "the mask is read off the ids": lambda new, mask, row, pad, n: [
        int(i != pad) for i in new
    ],
    "the mask is 0 wherever an id is 0": lambda new, mask, row, pad, n: [
        int(i != 0) for i in new
    ],
    "the mask is read off the ids, and inverted": lambda new, mask, row, pad, n: [
        int(i == pad) for i in new
    ],
    "the mask is inverted": lambda new, mask, row, pad, n: [1 - i for i in mask],
    "the mask is 1 everywhere": lambda new, mask, row, pad, n: [1] * len(new),
    "the mask is 0 everywhere": lambda new, mask, row, pad, n: [0] * len(new),
    "the mask ends with the real tokens": lambda new, mask, row, pad, n: [
        1 for real in mask if real
    ],
    "the mask is 0 at pads of the end, and at ids that equal the pad before them": (
        lambda new, mask, row, pad, n: [
            int(any(i != pad for i in new[k:])) for k in range(len(new))
        ]
    ),
    "the mask has one entry too few": lambda new, mask, row, pad, n: mask[:-1],
    "the mask is 0 at the last real token": lambda new, mask, row, pad, n: [
        *mask[1:],
        0,
    ],
    "the mask is 1 at the first pad": lambda new, mask, row, pad, n: [1, *mask[:-1]],
    "the mask is cut to the length of the batch, whatever the row holds": (
        lambda new, mask, row, pad, n: [1] * n
    ),
    "the mask is as long as the row was": lambda new, mask, row, pad, n: [1] * len(row),
    "the mask is made before the row is cut": lambda new, mask, row, pad, n: (
        [1] * len(row) + [0] * (n - len(row))
    ),
    "the mask has `length` zeros behind its ones": lambda new, mask, row, pad, n: (
        [1] * min(len(row), n) + [0] * n
    ),
    "the mask has its zeros on the left": lambda new, mask, row, pad, n: sorted(mask),
    "the mask has its zeros on the right": lambda new, mask, row, pad, n: sorted(
        mask, reverse=True
    ),
    "the mask is read off the new row, its pads included": (
        lambda new, mask, row, pad, n: [1] * len(new) + [0] * (n - len(new))
    ),
    "the mask holds `True` and `False`": lambda new, mask, row, pad, n: [
        *map(bool, mask)
    ],
    "the mask holds numbers of places": lambda new, mask, row, pad, n: [
        *range(len(new))
    ],
    "the mask is filled up with `pad_id`": lambda new, mask, row, pad, n: [
        one or pad for one in mask
    ],
    "the mask holds the ids instead of ones": lambda new, mask, row, pad, n: [
        i * one for i, one in zip(new, mask, strict=True)
    ],
    "the mask is a single number": lambda new, mask, row, pad, n: sum(mask),
}


def _new_row(row: Row, length: int) -> tuple[Row, int, int]:
    return row[:length], 0, length - len(row)


def _new_mask(new: Row, mask: Row, row: Row, pad_id: int, length: int) -> Row:
    return mask


def padded_in_part(make_row, rows, pad_id, length):
    return padded_otherwise(make_row, _new_mask, rows, pad_id, length)


def batched_otherwise(batch, rows, pad_id, length):
    return padded_in_part(_new_row, *batch(rows, pad_id, length))


def masked_otherwise(make_mask, rows, pad_id, length):
    return padded_otherwise(_new_row, make_mask, rows, pad_id, length)


def batched_and_padded_otherwise(batch, make_row, rows, pad_id, length):
    return padded_in_part(make_row, *batch(rows, pad_id, length))


def batched_and_masked_otherwise(batch, make_mask, rows, pad_id, length):
    return masked_otherwise(make_mask, *batch(rows, pad_id, length))


def padded_otherwise(make_row, make_mask, rows, pad_id, length):
    padded, masks = [], []
    for row in rows:
        ids, before, behind = make_row(row, length)
        padded.append([pad_id] * before + ids + [pad_id] * behind)
        mask = [0] * before + [1] * len(ids) + [0] * behind
        masks.append(make_mask(padded[-1], mask, row, pad_id, length))
    return padded, masks


def rows_otherwise(make_row, rows, pad_id, length):
    padded, _ = padded_in_part(make_row, rows, pad_id, length)
    return padded, pad_right.reference(rows, pad_id, length)[1]


OUTPUTS = {
    "all rows are joined to one list, and all masks": lambda rows, masks: (
        _joined(rows),
        _joined(masks),
    ),
    "the masks are joined to one list": lambda rows, masks: (rows, _joined(masks)),
    "the mask of the last row alone is there": lambda rows, masks: (rows, masks[-1:]),
    "the mask of the last row is no list of masks": lambda rows, masks: (
        *(rows, masks[-1]),
    ),
    "the mask of the first row is no list of masks": lambda rows, masks: (
        *(rows, masks[0]),
    ),
    "the last row alone is there": lambda rows, masks: (rows[-1:], masks[-1:]),
    "the last row alone is there, outside of a list": lambda rows, masks: (
        *(rows[-1], masks[-1]),
    ),
    "the first row alone is there, outside of a list": lambda rows, masks: (
        *(rows[0], masks[0]),
    ),
    "the first row alone is there: a `return` within the loop?": lambda rows, masks: (
        *(rows[:1], masks[:1]),
    ),
    "masks come before rows": lambda rows, masks: (masks, rows),
    "there is a pair for each row": lambda rows, masks: [
        *zip(rows, masks, strict=False)
    ],
    "there is a list of two for each row": lambda rows, masks: [
        [row, mask] for row, mask in zip(rows, masks, strict=False)
    ],
    "the masks are missing": lambda rows, masks: rows,
    "the rows are missing": lambda rows, masks: masks,
    "each mask stands right behind its row, in one list": lambda rows, masks: [
        item for pair in zip(rows, masks, strict=False) for item in pair
    ],
    "rows and masks are in one list": lambda rows, masks: rows + masks,
    "the rows stand in the opposite order": lambda rows, masks: (
        *(rows[::-1], masks[::-1]),
    ),
}


def returned_otherwise(output, rows, pad_id, length):
    return output(*pad_right.reference(rows, pad_id, length))


def returned_and_padded_otherwise(output, make_row, rows, pad_id, length):
    return output(*padded_in_part(make_row, rows, pad_id, length))


def returned_and_masked_otherwise(output, make_mask, rows, pad_id, length):
    return output(*masked_otherwise(make_mask, rows, pad_id, length))


def rows_and_masks_apart(make_row, make_mask, rows, pad_id, length):
    padded, _ = padded_in_part(make_row, rows, pad_id, length)
    return padded, masked_otherwise(make_mask, rows, pad_id, length)[1]


pad_right.combine(
    rows_otherwise,
    {f"{words}; the masks are right": row for words, row in ROWS.items()},
)
pad_right.combine(returned_otherwise, OUTPUTS)
pad_right.combine(padded_in_part, ROWS)
pad_right.combine(returned_and_padded_otherwise, OUTPUTS, ROWS)
pad_right.combine(returned_and_masked_otherwise, OUTPUTS, MASKS)
pad_right.combine(rows_and_masks_apart, ROWS, MASKS)
pad_right.combine(batched_otherwise, BATCHES)
pad_right.combine(masked_otherwise, MASKS)
pad_right.combine(padded_otherwise, ROWS, MASKS)
pad_right.combine(batched_and_masked_otherwise, BATCHES, MASKS)
pad_right.combine(batched_and_padded_otherwise, BATCHES, ROWS)


def _vocabularies(random: Random) -> Iterator[Case]:
    for vocab_size in (256, 32_768, 32_769, 65_535, 65_536, 65_537, 70_000):
        yield vocab_size, []
        yield vocab_size, [vocab_size]
        yield vocab_size, [vocab_size, vocab_size + 1]
    yield 65_400, []
    yield 50_000, [65_535]
    yield 50_000, [65_534]
    yield 20_000, [32_767]
    yield 20_000, [32_768]
    yield 50_000, [65_536]
    yield 50_000, [100_000]
    yield 50_000, [65_536, 50_001]
    yield 50_000, [50_001, 65_536]
    yield 50_000, [50_000, 50_001]
    yield 40_000, [40_000]
    yield 70_000, [5]
    yield 70_000, [70_000, 5]
    yield 65_536, [7, 8]
    yield 65_535, [3]
    yield 300, [301, 40_000, 40_001]


@exercise(
    cases=_vocabularies,
    hints=(
        "What counts is the largest id that may ever occur. Ids begin at 0.",
        "Added ids may lie above the others, with a gap, or below, and there may be "
        "none. And uint16 holds 0 ... which number?",
    ),
)
def choose_dtype(vocab_size: int, added_ids: list[int]) -> str:
    """Return "uint16" or "uint32" for a model with the ids 0 ... vocab_size - 1, and
    tokens added at other ids."""
    largest = max([vocab_size - 1, *added_ids])
    return "uint16" if largest <= 65_535 else "uint32"


def _dtype(fits: bool) -> str:
    return "uint16" if fits else "uint32"


@choose_dtype.mistake(
    "added tokens are forgotten: the id 65,536 becomes 0 in uint16, and nobody is told."
)
def forgets_added(vocab_size, added_ids):
    return _dtype(vocab_size - 1 <= 65_535)


@choose_dtype.mistake(
    "the largest id of V tokens is V - 1, since ids begin at 0; and added tokens are "
    "forgotten."
)
def forgets_added_and_zero(vocab_size, added_ids):
    return _dtype(vocab_size <= 65_535)


@choose_dtype.mistake(
    "tokens are counted. Added ids may be ids of the vocabulary, or leave a gap behind "
    "it: the largest id counts, not how many there are."
)
def counts_tokens(vocab_size, added_ids):
    return _dtype(vocab_size + len(added_ids) <= 65_536)


@choose_dtype.mistake(
    "tokens are counted, and compared with the largest id, which of V tokens is V - 1: "
    "it alone counts, whether or not there is a gap below it."
)
def counts_tokens_as_ids(vocab_size, added_ids):
    return _dtype(vocab_size + len(added_ids) <= 65_535)


@choose_dtype.mistake(
    "the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0."
)
def off_by_one(vocab_size, added_ids):
    return _dtype(max([vocab_size, *added_ids]) <= 65_535)


@choose_dtype.mistake(
    "32,767 is the bound of int16. Without a sign there are twice as many numbers."
)
def with_a_sign(vocab_size, added_ids):
    return _dtype(max([vocab_size - 1, *added_ids]) <= 32_767)


@choose_dtype.mistake("uint16 holds 65,535 itself: `<=`, not `<`.")
def excludes_the_largest(vocab_size, added_ids):
    return _dtype(max([vocab_size - 1, *added_ids]) < 65_535)


@choose_dtype.mistake(
    "65,536 is how many numbers uint16 holds; the largest of them is 65,535."
)
def includes_one_more(vocab_size, added_ids):
    return _dtype(max([vocab_size - 1, *added_ids]) <= 65_536)


@choose_dtype.mistake(
    "two bounds are off: the largest id of V tokens is V - 1, and uint16 holds 65,535 "
    "itself."
)
def off_by_two(vocab_size, added_ids):
    return _dtype(max([vocab_size, *added_ids]) < 65_535)


@choose_dtype.mistake("the two names are exchanged: uint16 where all ids fit into it.")
def exchanged(vocab_size, added_ids):
    return _dtype(max([vocab_size - 1, *added_ids]) > 65_535)


@choose_dtype.mistake(
    "added ids are ids already: they are not added to the size of the vocabulary. And "
    "where there are none, the largest id is V - 1."
)
def adds_ids_up(vocab_size, added_ids):
    return _dtype(vocab_size + max(added_ids, default=0) <= 65_535)


@choose_dtype.mistake(
    "added ids are ids already: the size of the vocabulary, or V - 1, is not to be "
    "added to them."
)
def adds_to_the_last_id(vocab_size, added_ids):
    return _dtype(vocab_size - 1 + max(added_ids, default=0) <= 65_535)


@choose_dtype.mistake("ids are added up: the largest of them counts, not their sum.")
def sums(vocab_size, added_ids):
    return _dtype(vocab_size - 1 + sum(added_ids) <= 65_535)


@choose_dtype.mistake(
    "there may be no added ids: `max` of an empty list raises. `max([a, *b])` does not."
)
def needs_added(vocab_size, added_ids):
    return _dtype(max(vocab_size - 1, max(added_ids)) <= 65_535)


@choose_dtype.mistake(
    "there may be no added ids, and `max` of a single number raises: give it one list."
)
def unpacks_added(vocab_size, added_ids):
    return _dtype(max(vocab_size - 1, *added_ids) <= 65_535)


@choose_dtype.mistake(
    "there may be no added ids, and `max` of a single number raises; and the largest "
    "id of V tokens is V - 1."
)
def unpacks_added_off_by_one(vocab_size, added_ids):
    return _dtype(max(vocab_size, *added_ids) <= 65_535)


@choose_dtype.mistake(
    "uint8 would do for few ids, but is not offered: uint16 at least."
)
def smallest_of_all(vocab_size, added_ids):
    largest = max([vocab_size - 1, *added_ids])
    return "uint8" if largest <= 255 else _dtype(largest <= 65_535)


@choose_dtype.mistake(
    "there may be no added ids, and `max` of an empty list raises; nor are added ids "
    "added to the size of the vocabulary: they are ids already."
)
def needs_added_and_adds(vocab_size, added_ids):
    return _dtype(vocab_size + max(added_ids) <= 65_535)


@choose_dtype.mistake(
    "there may be no added ids, and then `added_ids[-1]` raises; nor need the last "
    "one be the largest."
)
def needs_a_last_one(vocab_size, added_ids):
    return _dtype(max(vocab_size - 1, added_ids[-1]) <= 65_535)


@choose_dtype.mistake(
    "the last added id need not be the largest, nor larger than the vocabulary."
)
def last_added_only(vocab_size, added_ids):
    return _dtype((added_ids[-1] if added_ids else vocab_size - 1) <= 65_535)


@choose_dtype.mistake(
    "where there are added ids, those of the vocabulary count as well: they may be "
    "larger."
)
def added_alone(vocab_size, added_ids):
    return _dtype(max(added_ids or [vocab_size - 1]) <= 65_535)


@choose_dtype.mistake("uint32 for any added token: many fit below 65,536.")
def any_added(vocab_size, added_ids):
    return _dtype(vocab_size - 1 <= 65_535 and not added_ids)


@choose_dtype.mistake(
    "added tokens are forgotten, and two bounds are off: the largest id of V tokens is "
    "V - 1, and uint16 holds 65,535 itself."
)
def forgets_added_off_by_two(vocab_size, added_ids):
    return _dtype(vocab_size < 65_535)


@choose_dtype.mistake(
    "different ids are counted: with a gap the largest id is larger than their number."
)
def counts_different_ids(vocab_size, added_ids):
    return _dtype(vocab_size + sum(i >= vocab_size for i in added_ids) <= 65_536)


@choose_dtype.mistake(
    "where there are added ids, those of the vocabulary count as well, whose largest "
    "is V - 1."
)
def added_alone_off_by_one(vocab_size, added_ids):
    return _dtype(max(added_ids, default=vocab_size) <= 65_535)


@choose_dtype.mistake("the smallest id: every one must fit, so the largest decides.")
def smallest(vocab_size, added_ids):
    return _dtype(min([vocab_size - 1, *added_ids]) <= 65_535)


@choose_dtype.mistake("the first added id need not be the largest: all ids must fit.")
def first_added_only(vocab_size, added_ids):
    return _dtype((added_ids[0] if added_ids else vocab_size - 1) <= 65_535)


@choose_dtype.mistake(
    "added ids are compared with the size of the vocabulary: it is uint16 that must "
    "hold them."
)
def beyond_the_vocabulary(vocab_size, added_ids):
    return _dtype(vocab_size <= 65_536 and all(i <= vocab_size for i in added_ids))


@choose_dtype.mistake("int16 and int32 have a sign: uint16 and uint32 are asked.")
def signed_names(vocab_size, added_ids):
    return choose_dtype.reference(vocab_size, added_ids).removeprefix("u")


@choose_dtype.mistake("one of the two fits is not enough: every id must fit.")
def one_of_both(vocab_size, added_ids):
    return _dtype(vocab_size <= 65_536 or max(added_ids) <= 65_535)


@choose_dtype.mistake(
    "a vocabulary may have 65,536 tokens, but no id may be 65,536: that is how many "
    "numbers uint16 holds."
)
def one_bound_for_both(vocab_size, added_ids):
    return _dtype(max([vocab_size, *added_ids]) <= 65_536)


@choose_dtype.mistake(
    "32,767 is the bound of int16, which is reached: uint16 has no sign, and holds "
    "65,535 itself."
)
def below_the_bound_with_a_sign(vocab_size, added_ids):
    return _dtype(max([vocab_size - 1, *added_ids]) < 32_767)


@choose_dtype.mistake(
    "it is enough that either the vocabulary or the added ids fit into uint16. All "
    "ids have to."
)
def either_fits(vocab_size, added_ids):
    fits = vocab_size <= 65_536 or all(added <= 65_535 for added in added_ids)
    return "uint16" if fits else "uint32"


IDS = {
    "the size of the vocabulary is no id: its largest is V - 1": (
        lambda v, added: max([v, *added])
    ),
    "the largest id of the vocabulary is V - 1, not V - 2": (
        lambda v, added: max([v - 2, *added])
    ),
    "added tokens are forgotten": lambda v, added: v - 1,
    "added tokens are forgotten, and the size of the vocabulary is no id": (
        lambda v, added: v
    ),
    "tokens are counted, although added ids may leave a gap": (
        lambda v, added: v + len(added) - 1
    ),
    "tokens are counted, although the largest id decides": (
        lambda v, added: v + len(added)
    ),
    "of the added ids the last one alone is looked at": (
        lambda v, added: max([v - 1, *added[-1:]])
    ),
    "of the added ids the first one alone is looked at": (
        lambda v, added: max([v - 1, *added[:1]])
    ),
    "of the added ids the last one alone is looked at, and V is no id": (
        lambda v, added: max([v, *added[-1:]])
    ),
    "of the added ids the first one alone is looked at, and V is no id": (
        lambda v, added: max([v, *added[:1]])
    ),
    "of the added ids the smallest is looked at": (
        lambda v, added: max(v - 1, min(added, default=0))
    ),
    "added ids take the place of the vocabulary's": (
        lambda v, added: max(added, default=v - 1)
    ),
    "added ids take the place of the vocabulary's, whose size is no id": (
        lambda v, added: max(added, default=v)
    ),
    "only the added ids are looked at": lambda v, added: max(added, default=0),
    "`max` of no added ids raises": lambda v, added: max(v - 1, max(added)),
    "`max` of no added ids raises, and V is no id": lambda v, added: max(v, max(added)),
    "`max` of a single number raises": lambda v, added: max(v - 1, *added),
    "`max` of a single number raises, and V is no id": lambda v, added: max(v, *added),
    "ids are added up": lambda v, added: v - 1 + sum(added),
    "the size of the vocabulary is added to the ids": lambda v, added: v + sum(added),
    "the largest added id is counted from the vocabulary's end": (
        lambda v, added: v - 1 + max(added, default=0)
    ),
    "the largest added id is added to the size of the vocabulary": (
        lambda v, added: v + max(added, default=0)
    ),
    "the smallest id decides, not the largest": lambda v, added: min([v - 1, *added]),
}
BOUNDS = {
    "uint16 holds 65,535 itself": lambda largest: _dtype(largest < 65_535),
    "uint16 does not hold 65,536": lambda largest: _dtype(largest <= 65_536),
    "32,767 is the bound of int16, which has a sign": (
        lambda largest: _dtype(largest <= 32_767)
    ),
    "uint16 does not end with 32,768, and has no sign": (
        lambda largest: _dtype(largest <= 32_768)
    ),
    "the bound is too low: uint16 holds every id up to 65,535": lambda largest: _dtype(
        largest <= 65_000
    ),
    "uint8 is not offered": lambda largest: (
        "uint8" if largest <= 255 else _dtype(largest <= 65_535)
    ),
    "the two names are exchanged": lambda largest: _dtype(largest > 65_535),
    "int16 and int32 have a sign": lambda largest: _dtype(largest <= 65_535)[1:],
}


def decided_otherwise(largest, vocab_size, added_ids):
    return bounded_otherwise(
        largest, lambda number: _dtype(number <= 65_535), vocab_size, added_ids
    )


def bounded_alone(bound, vocab_size, added_ids):
    return bound(max([vocab_size - 1, *added_ids]))


def bounded_otherwise(largest, bound, vocab_size, added_ids):
    return bound(largest(vocab_size, added_ids))


choose_dtype.combine(decided_otherwise, IDS)
choose_dtype.combine(bounded_alone, BOUNDS)
choose_dtype.combine(bounded_otherwise, IDS, BOUNDS)


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
        "Return the text that a reader of the page sees: without tags, and with the "
        "characters that entities such as `&amp;` stand for."
    ),
    reference=strip_html,
    cases=_pages,
    explanation=(
        "Once decoded, `&lt;b&gt;` looks like a tag, and is removed with the real "
        "ones: text about HTML is what such a cleaner destroys. Tags first, entities "
        "after; that is what a parser does. And a `<` that begins no tag must "
        "survive."
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
        "each of these, 1 for each token of the text, its end included."
    ),
    reference=real_tokens,
    cases=_padded_rows,
    explanation=(
        "It works as long as the pad has an id of its own. If the end of the text is "
        "the pad as well, the mask is 0 at the real end, too. The mask alone does "
        "little harm: it only says what may be looked at. But labels are often made "
        "from it, -100 wherever it is 0; then no end is ever scored, and the model "
        "never learns to stop."
    ),
)
def attention_mask(ids: list[int], num_pads: int, pad_id: int) -> list[int]:
    return [0 if token_id == pad_id else 1 for token_id in ids]


def runs_of_blanks(text: str) -> list[str]:
    runs, previous = [], False
    for character in text:
        blank = character.isspace() and character != "\n"
        if blank and previous:
            runs[-1] += character
        elif blank:
            runs.append(character)
        previous = blank
    return runs


@bug_or_not(
    purpose=(
        "Find all runs of white space, newlines not counted as such: a newline ends a "
        "run, and is part of none."
    ),
    reference=runs_of_blanks,
    cases=_untidy_texts,
    explanation=(
        "`\\S` is what is no white space, so `[^\\S\\n]` is what is neither that nor "
        "a newline: all white space but the newline, with tabs and no-break spaces. A "
        "double negation, and the usual way to write it."
    ),
)
def find_blanks(text: str) -> list[str]:
    return re.findall(r"[^\S\n]+", text)


def prefix_after_training(prefix: str) -> str | None:
    tokenizer = Tokenizer(models.BPE(continuing_subword_prefix=prefix))
    trainer = trainers.BpeTrainer(vocab_size=300, show_progress=False)
    tokenizer.train_from_iterator(["the cat sat on the mat"], trainer)
    return tokenizer.model.continuing_subword_prefix


@true_or_false(
    claim=(
        "A `continuing_subword_prefix` that was set in the model need not be repeated "
        "in the trainer."
    ),
    reference=prefix_after_training,
    cases=lambda random: [("##",), ("▸",)],
    explanation=(
        "Training sets the model's prefix to that of the trainer, and without one to "
        "`None`. No token gets a mark, and nobody is told. `build_tokenizer` gives "
        "both marks to both."
    ),
)
def prefix_is_kept(prefix: str) -> str | None:
    return prefix


@cache
def _small_tokenizer() -> Tokenizer:
    texts = ["the cat sat on the mat, and the rat sat on the hat"] * 3
    return build_tokenizer(texts, vocab_size=300, progress=False)


def _decoded(text: str, *, trim_offsets: bool) -> str:
    tokenizer = Tokenizer.from_str(_small_tokenizer().to_str())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
    return tokenizer.decode(tokenizer.encode(text).ids)


def trimming_changes_the_text(text: str) -> bool:
    return _decoded(text, trim_offsets=True) != _decoded(text, trim_offsets=False)


@true_or_false(
    claim=(
        "`trim_offsets=True` in the post-processor `ByteLevel` makes decoded text "
        "more natural."
    ),
    reference=trimming_changes_the_text,
    cases=lambda random: [(text,) for text in ("the cat", " the  mat", "a\n the rat ")],
    explanation=(
        "Offsets say where in the text a token stands. `trim_offsets` leaves the "
        "blank before a word out of them, and changes no id and no decoded text. It "
        "matters to whoever marks words in a text."
    ),
)
def decodes_differently(text: str) -> bool:
    return True


def ids_with_a_blank_behind(text: str) -> list[int]:
    return _small_tokenizer().encode(f"{text} ").ids


@true_or_false(
    claim=(
        "Whether a prompt ends with a blank makes no difference to a tokenizer from "
        "`build_tokenizer`."
    ),
    reference=ids_with_a_blank_behind,
    cases=lambda random: [(text,) for text in ("", "the", "the cat sat on", "x = 1\n")],
    explanation=(
        "The normalizer cuts blanks at the end of a line, and the end of the text is "
        "one. With GPT-2's tokenizer, which has no normalizer, the blank becomes a "
        "token of its own, where otherwise it belongs to the next word: a model has "
        "rarely met that, and goes on badly."
    ),
)
def ids_without_the_blank(text: str) -> list[int]:
    return _small_tokenizer().encode(text).ids


# With other numbers by seed.


@numbers(
    ask="A text has {ascii} ASCII letters, {two} characters of two bytes in UTF-8, and "
    "{three} of three. The alphabet holds the ASCII letters only. How many tokens are "
    "there before any merge, with `byte_fallback`?",
    draw=lambda rng: {
        "ascii": rng.randrange(200, 900),
        "two": rng.randrange(10, 60),
        "three": rng.randrange(5, 40),
    },
    hints=("What stands for a character that the alphabet does not hold?",),
)
def tokens_with_fallback(ascii: int, two: int, three: int) -> int:
    return ascii + 2 * two + 3 * three


@tokens_with_fallback.mistake(
    "one for each character. Without a token of its own, one becomes its *bytes*."
)
def one_for_each_character(ascii, two, three):
    return ascii + two + three


@tokens_with_fallback.mistake(
    "what is not in the alphabet is lost. With `byte_fallback` it becomes bytes."
)
def letters_alone(ascii, two, three):
    return ascii


@tokens_with_fallback.mistake("only what falls back. The letters are tokens, too.")
def fallen_back_alone(ascii, two, three):
    return 2 * two + 3 * three


@numbers(
    ask="Texts of {lengths} ids get an end of text behind each, are cut to at most "
    "{length} ids, the end included, and padded to {length}. How many pads are there?",
    draw=lambda rng: {
        "lengths": [rng.randrange(20, 90) for _ in range(6)],
        "length": rng.randrange(50, 70),
    },
    hints=("How many ids has each text with its end? Which of them are too long?",),
)
def pads_of_batch(lengths: list[int], length: int) -> int:
    return sum(max(0, length - (n + 1)) for n in lengths)


@pads_of_batch.mistake("the end of each text is an id, too.")
def pads_without_ends(lengths, length):
    return sum(max(0, length - n) for n in lengths)


@pads_of_batch.mistake("texts that are too long are taken off: they have no pads.")
def pads_below_zero(lengths, length):
    return sum(length - (n + 1) for n in lengths)


@pads_of_batch.mistake("the ids that are *no* pads.")
def ids_that_are_no_pads(lengths, length):
    return sum(min(length, n + 1) for n in lengths)


@pads_of_batch.mistake("padded to the longest text, not to the length that is asked.")
def pads_to_the_longest(lengths, length):
    return sum(max(lengths) - n for n in lengths)


@numbers(
    ask="A tokenizer has the ids 0 to {last:,}, and {added} added tokens behind them. "
    "{num_ids:,} ids are stored in the smallest dtype that holds all of these. How "
    "many bytes is that?",
    draw=lambda rng: {
        "last": rng.randrange(65_300, 65_536),
        "added": rng.randrange(20, 500),
        "num_ids": rng.randrange(10_000, 90_000),
    },
    hints=("Which is the largest id? `uint16` holds numbers up to 65,535.",),
)
def bytes_of_ids(last: int, added: int, num_ids: int) -> int:
    return num_ids * (2 if last + added <= 65_535 else 4)


@bytes_of_ids.mistake("the other of the two dtypes: look at the largest id again.")
def in_the_other_dtype(last, added, num_ids):
    return num_ids * (4 if last + added <= 65_535 else 2)


@bytes_of_ids.mistake("ids, not bytes.")
def ids_for_bytes(last, added, num_ids):
    return num_ids


@bytes_of_ids.mistake("8 bytes each, as `int64` has: it can be smaller.")
def in_int64(last, added, num_ids):
    return 8 * num_ids
