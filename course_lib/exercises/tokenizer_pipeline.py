"""Exercises of lesson 07: tidy, cut, fall back to bytes, lose bytes, end texts, pad,
and choose a dtype."""

from __future__ import annotations

import html
import re
from collections import Counter  # noqa: F401, the tables use it
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby, pairwise  # noqa: F401, the tables use them
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
        `$` without `re.MULTILINE` is the end of the text. Each line has an end.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+\Z"
        blanks are cut only at the end of the text. Each line has an end.
    r"[ \t]+(?=\n|\Z)" => r" +(?=\n|\Z)"
        tabs at the end of a line stay: a tab is a blank, too.
    r"[ \t]+(?=\n|\Z)" => r"[ \t]+(?=\n)"
        the last line has an end too, although no newline follows it.
    r"[ \t]+(?=\n|\Z)" => r"\s+$"
        `\s+$` takes newlines at the end of the text. Blanks are `[ \t]`.
    r"[ \t]+(?=\n|\Z)" => r"(?m)\s+$"
    r"[ \t]+(?=\n|\Z)" => r"[ \t\n]+(?=\n|\Z)"
        newlines are cut with the blanks before them: empty lines vanish.
    r"[ \t]+(?=\n|\Z)" => r"\s+(?=\n)"
        `\s+\n` takes newlines as well, and leaves the last line, where none follows.
    r"[ \t]+(?=\n|\Z)" => r"[ \t](?=\n|\Z)"
        only one blank is cut at the end of a line: there may be several.
    r"[ \t]+(?=\n|\Z)" => r"x^"
        blanks at the end of lines are never cut.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.rstrip, text)
        white space that is no blank is cut at line ends: `rstrip()` needs `" \t"`.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => _each_line(str.strip, text)
        `strip()` without `" \t"` takes all white space, and the indentation with it.
    re.sub(r"[ \t]+(?=\n|\Z)", "", text) => \
    "".join([line.rstrip(" \t") for line in text.split("\n")])
        lines are joined without a newline.
    text = re.sub(r"[ \t]+(?=\n|\Z)" => two = re.sub(r"\n{3,}", "\n\n", text) ⏎ \
    text = two ⏎ text = re.sub(r"[ \t]+(?=\n|\Z)" ; return re.sub(...) => return text
        newlines are reduced before the blanks between them are cut.
    r"(?<=[^ \t\n]) {2,}" => " {2,}"
        the indentation is reduced too. In Python, and in lists, it has a meaning.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^\n]) {2,}"
        indentation of three or more is reduced: its second space is behind no line end.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!\n) {2,}"
        `(?<!\n)` holds for the second space of an indentation, too.
    r"(?<=[^ \t\n]) {2,}" => r"(?<!^) {2,}"
        `(?<!^)` spares the first space of the text alone: look for what is no blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \n]) {2,}"
        spaces behind a tab, in an indentation, are reduced: a tab is a blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S) {2,}"
        `\S` leaves other white space out: a run behind a no-break space counts, too.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}"
        runs are reduced behind letters alone: a full stop, for example, is no blank.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\w) {2,}(?=\w)"
        runs are reduced between letters alone: a full stop, for example, is no blank.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\w) {2,}(\w)", r"\1 \2"
        runs are reduced between letters, which are taken with them: the next is missed.
    r"(?<=[^ \t\n]) {2,}", " " => r"([^ \t\n]) {2,}([^ \t\n])", r"\1 \2"
        the characters beside a run are taken with it: look behind, `(?<=...)`.
    r"(?<=[^ \t\n]) {2,}", " " => r"(\S) {2,}(\S)", r"\1 \2"
        `(\S)` takes the characters beside a run with it: look behind, `(?<=[^ \t\n])`.
    r"(?<=[^ \t\n]) {2,}" => r"[^ \t\n] {2,}"
        the character before a run is replaced with it: look behind, or put it back.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])[ \t]{2,}"
        runs of tabs are reduced too: a run of spaces is meant.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=\S)\s+"
        `\s+` takes newlines and tabs too, and puts a space in their place.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n])  "
        runs are halved: a pattern for two spaces goes through the text once.
    r"(?<=[^ \t\n]) {2,}" => "  "
        runs are halved, in the indentation too: `replace` goes through the text once.
    r"(?<=[^ \t\n]) {2,}" => r"(?<=[^ \t\n]) {3,}"
        two spaces stay: a run begins with two.
    r"(?<=[^ \t\n]) {2,}" => r"x^"
        runs of spaces are never reduced.
    r"(?<=[^ \t\n]) {2,}", " " => r"(?<=[^ \t\n]) {2,}", ""
        a run of spaces becomes nothing: one space is to be left.
    r"\n{3,}", "\n\n" => "\n\n\n", "\n\n"
        one pass leaves rests: five newlines become four by a pattern for exactly three.
    r"\n{3,}", "\n\n" => r"\n{2,}", "\n"
        two newlines become one as well: an empty line between paragraphs may stay.
    r"\n{3,}", "\n\n" => r"\n{3,}", "\n"
        three or more newlines become one. They are to become two.
    r"\n{3,}", "\n\n" => r"\n{4,}", "\n\n"
        three newlines stay: three or more are to become two.
    return re.sub(...) => return text
        newlines are never reduced: three or more are to become two.
    r"\n{3,}", "\n\n" => r"\n\s*\n\s*\n", "\n\n"
        lines that hold other white space are taken for empty ones.
    return re.sub(...) => return re.sub(...).strip()
        the text as a whole is stripped: newlines and indentation at its ends may stay.
""")


@tidy.way(r"""
    rstrip(" \t") => rstrip()
        white space that is no blank is cut…
    rstrip(" \t") => strip(" \t")
        each line loses its indentation: `strip` cuts on both sides.
    rstrip(" \t") => strip()
        `strip()` without…
    rstrip(" \t") => rstrip(" ")
        tabs at the end of a line stay…
    in text.split("\n"): => in text.splitlines():
        `splitlines` cuts at more than newlines, and forgets one at the end of the text.
    lstrip(" \t") => lstrip(" ") ; r"(?<=[^ \t]) {2,}" => r" {2,}"
        spaces behind a tab, in an indentation, are reduced…
    r"(?<=[^ \t]) {2,}" => " {2,}"
        the indentation is spared, but a tab within a line is a blank as well.
    r"(?<=[^ \t]) {2,}" => "  "
        runs right behind a tab are reduced, and runs of spaces are halved.
    lstrip(" \t") => lstrip() ; re.sub(r"(?<=[^ \t]) {2,}", " ", body) => \
    " ".join(body.split())
        `lstrip` and `split` without an argument take all white space, not blanks alone.
    "\n".join(lines) => "".join(lines)
        lines are joined without…
    r"\n{3,}" => "\n\n\n"
        one pass leaves rests…
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
        `split` without an argument cuts lines at all white space, their beginning too.
    tidy.reference(text.expandtabs(4))
        tabs become spaces: they may stand in an indentation.
    tidy.reference(re.sub(r"\n\s*\n\s*\n", "\n\n", text))
        lines that hold other white space…
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
    re.finditer("|".join(rules) => \
    re.finditer("|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern comes first. The order of the rules decides.
    re.finditer("|".join(rules) => re.finditer("|".join(rules[:1])
        the first rule alone is used: the others come after it.
    re.finditer("|".join(rules) => re.finditer("|".join(map(re.escape, rules))
        the rules are escaped, or searched as plain text: they are patterns.
    re.finditer("|".join(rules) => re.finditer("".join(rules)
        the rules are joined without `|`: together they match only one behind another.
    re.finditer("|".join(rules) => re.finditer("(?:" + "|".join(rules) + ")+"
        matches that touch are joined: each of them is a piece of its own.
    text): => text, re.IGNORECASE):
    text): => text, re.DOTALL):
        flags change what the rules mean, such as capitals, or a point.
    re.finditer("|".join(rules), text) => \
    (match for rule in rules for match in re.finditer(rule, text))
        each rule goes through the whole text, so that pieces occur twice.
    re.finditer(...) => list(re.finditer(...))[:1]
        the text is cut at the first match alone: there may be more.
    [text[end : match.start()], => [
        what lies between the matches is dropped. A tokenizer must not lose a character.
    , match.group()] => ]
        the matches are dropped: `re.split` keeps them only if they stand in a group.
    text[end : match.start()], match.group() => text[end : match.end()]
        a match and what stands before it are one piece: `isolated` keeps them apart.
    [text[end : match.start()], match.group()] => \
    [(end, match.start()), match.span()] ; text[end:] => (end, len(text)) ; \
    if piece] => if piece[0] < piece[1]]
        the list has the places of the pieces, but the pieces themselves are wanted.
    [text[end : => [*text[end : ; text[end:] => *text[end:]
        what lies between two matches is one piece, not one for each character.
    end = match.end() => end = match.end() + 1
        the character behind each match is skipped: `end()` is the first one behind it.
    end = match.end() => end = match.start()
        what lies between begins with the start of the match before, not with its end.
    [*pieces, text[end:]] => pieces
        the rest behind the last match is missing.
    [*pieces, text[end:]] => [*pieces[1:], text[end:]]
        what stands before the first match is missing.
    if piece] =>]
        empty pieces stay in the list, between two matches that touch.
    if piece] => if piece.strip()]
        pieces that hold only blanks are dropped: a tokenizer must not lose a character.
    [piece for ... if piece] => [piece.strip() for ... if piece.strip()]
        blanks are cut off, or dropped: a tokenizer must not lose a character.
""")


@cut_isolated.way(r"""
    "(" + "|".join(rules) + ")" => "|".join(rules)
        the matches are dropped…
    "|".join(rules) => "|".join(rules[::-1])
        the rules are tried in the opposite order…
    "|".join(rules) => "|".join(sorted(rules, key=len, reverse=True))
        the rule with the longest pattern…
    if piece] =>]
        empty pieces stay…
    text) if => text)[1:-1] if
        both ends of the split are dropped. They are empty only if a match stands there.
""")
def split_in_a_group(text, rules):
    return [piece for piece in re.split("(" + "|".join(rules) + ")", text) if piece]


@cut_isolated.way(r"""
    match(text, place) => match(text[place:])
        the rules see only the rest of the text: `(?<=...)` needs what stands before.
    found[0] => max(found, key=len)
        the longest match wins. It is the first alternative, long or short.
    found[0] => min(found, key=len)
        the shortest match wins. It is the first alternative, long or short.
    gap = "" ⏎ else => pass ⏎ else
        what lies between two matches is never forgotten, and comes again.
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
    re.compile("|".join(rules)).search(text, place) => \
    next(filter(None, (re.compile(rule).search(text, place) for rule in rules)), None)
        the first rule that occurs cuts first: a later one may match before it.
    search(text, place) => search(text) ; place = match.end() => \
    text = text[match.end() :]
        behind a match the search begins anew in the rest: `(?<=...)` cannot see it.
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
        each rule has a group of its own, which is `None` where another one matched.
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
    parts = enumerate(re.split(f"({rules[0]})", text))
    cut = [[part] if i % 2 else rule_by_rule(part, rules[1:]) for i, part in parts]
    return [piece for pieces in cut for piece in pieces]


@cut_isolated.mistake("each rule cuts all pieces again: a match is cut no further.")
def cuts_matches_again(text, rules):
    pieces = [text]
    for rule in rules:
        pieces = [q for piece in pieces for q in re.split(f"({rule})", piece) if q]
    return pieces


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


fall_back_to_bytes.slips(r"""
    character in alphabet: => False:
        always bytes. The fallback is for characters that the alphabet lacks.
    character in alphabet: => character not in alphabet:
        the wrong way round: characters of the alphabet stay, the others become bytes.
    character in alphabet: => text in alphabet:
        the whole text is looked for in the alphabet: character by character it goes.
    character in alphabet: => set(text) <= set(alphabet):
        one unknown character turns the whole text into bytes, and not itself alone.
    character in alphabet: => character.isascii():
    character in alphabet: => character.isascii() or character in alphabet:
        ASCII is kept: the alphabet decides, whatever it holds.
    in text: => in text.lower():
        capitals become small letters: the text's characters stay as they are.
    in text: => in "".join(text.split()):
        white space is left out: it has bytes as any other character.
    tokens.append(character) => pass
        the characters of the alphabet are missing: they stay.
    tokens += [...] => pass
        unknown characters are dropped: the silent loss that the fallback prevents.
    tokens += [...] => tokens.append("<unk>")
        an unknown token instead of bytes: the text can no longer be restored from it.
    tokens += [...] => tokens.append(character.encode())
        what `encode()` returns goes into the list as it is: each byte becomes a token.
    tokens += [...] => tokens.append(str(character.encode()))
        Python's way to show `bytes` is taken for a name. The names are <0xNN>.
    tokens += [...] => tokens += [character, *[...]]
        the unknown character stays, and its bytes come in addition.
    tokens += [...] => tokens.append([...])
        a list in the list for each unknown character: `+=` adds its entries.
    tokens += [...] => tokens.append("".join(map(str, [...])))
        the tokens of a character are joined to one: each of its bytes is an entry.
    tokens += [...] => tokens += "".join([...])
        a name is taken apart into its characters: `append` adds it as a whole.
    character.encode()] => character.encode()] ⏎ break
        the loop ends with the first unknown character: the text may go on behind it.
    character.encode()] => text[text.index(character) :].encode()] ⏎ break
        from the first unknown character on all is bytes: some behind it may be known.
    character.encode() => character.encode()[:1]
        one byte of each unknown character: all its bytes are needed to restore it.
    character.encode() => [ord(character)]
        the code point instead of the bytes of UTF-8: there is no token <0x4E2D>.
    character.encode() => ord(character).to_bytes(4, "big").lstrip(b"\0")
        the bytes of the code point: UTF-8 writes it otherwise from 0x80 on.
    character.encode() => character.encode("utf-16-be")
    character.encode() => character.encode("utf-16-le")
        the bytes of UTF-16. Byte tokens stand for UTF-8, what `encode()` gives.
    "<0x{byte:02X}>" for byte in character.encode() => \
    "<0x{character.encode().hex().upper()}>"
        all bytes of a character stand in one token. Each byte is a token of its own.
    "<0x{byte:02X}>" for byte in character.encode() => "<0x{character.encode().hex()}>"
        all bytes stand in one token, in small letters: each is its own, such as <0xC3>.
    "<0x{byte:02X}>" for byte in character.encode() => "<U+{ord(character):04X}>"
        names are those of code points, U+. Each byte is a token, with the name <0xNN>.
    f"<0x{byte:02X}>" for => \
    chr(byte) if chr(byte) in alphabet else f"<0x{byte:02X}>" for
        a byte is no character: the alphabet is not asked for the one with its number.
    "<0x{byte:02X}>" => "<0x{byte:02x}>"
        lower-case names: the vocabulary holds <0xC3>, and <0xc3> is not found in it.
    "<0x{byte:02X}>" => "<0x{byte:X}>"
        bytes below 0x10 have one digit. The names have two: <0x0A>.
    "<0x{byte:02X}>" => "<0x{byte:2X}>"
        numbers below 0x10 have a space in front: `02X` puts a zero there.
    "<0x{byte:02X}>" => "<{byte:#x}>"
        `hex` writes lower-case digits, and one below 0x10, not <0xC3> and <0x0A>.
    "<0x{byte:02X}>" => "{byte:#x}"
        `hex` writes lower-case digits without zero and brackets: <0xC3>, <0x0A>.
    "<0x{byte:02X}>" => "{byte:#X}"
        the names have angle brackets, a small x, and two digits: <0xC3> and <0x0A>.
    "<0x{byte:02X}>" => "<0X{byte:02X}>"
        `upper` writes the x in capitals, too: the names are <0xC3> and so on.
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


count_lost_bytes.slips("""
    seen.encode() => seen ; text.encode() => text
        characters are counted. An unseen one may share bytes with seen ones.
    byte not in => chr(byte) not in ; set(seen.encode()) => seen
        a byte is no character: `chr` of it finds another one in `seen`. Encode both.
    seen.encode() => seen
        all bytes of the text are counted. (A byte is never found in a `set(seen)`.)
    seen.encode() => seen.encode("utf-16-le") ; \
    text.encode() => text.encode("utf-16-le")
        the bytes of UTF-16: a byte-level tokenizer reads UTF-8, what `encode()` gives.
    set(seen.encode()) => {*seen.encode(), *range(128)}
        ASCII is taken as known: only the bytes of `seen` are.
    seen.encode() => (seen + text).encode()
        nothing is ever lost: only the bytes of `seen` are known.
    byte not in => byte in
        the bytes that survive, not those that are lost.
    seen.encode() => text.encode() ; text.encode() => seen.encode()
        the other way round: bytes of `seen` that `text` does not use.
    in text.encode() => in set(text.encode())
        each lost byte is counted once. It is lost wherever it occurs.
    in text.encode() => in text.encode()[:1]
        the first byte alone is looked at: does the loop return in its first round?
""")


@count_lost_bytes.way("""
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


@count_lost_bytes.way("""
    seen.encode(), text.encode() => seen, text
        characters are counted…
    seen.encode(), text.encode() => seen.encode("utf-16-le"), text.encode("utf-16-le")
        the bytes of UTF-16…
    seen.encode(), text.encode() => text.encode(), seen.encode()
        the other way round…
    len([b for b in new if b not in old]) => (Counter(new) - Counter(old)).total()
        a byte that occurs more often than in `seen` is not lost: it has its token.
    len([b for b in new if b not in old]) => len(set(new) - set(old))
        each lost byte is counted once…
    len([b for b in new if b not in old]) => len(new) - len(old)
        the lengths are subtracted: which bytes they are decides, not how many.
    len([b for b in new if b not in old]) => max(0, len(new) - len(old))
        the lengths are compared: which bytes they are decides.
    len([b for b in new if b not in old]) => \
    sum(one != other for one, other in zip(old, new, strict=False))
    len([b for b in new if b not in old]) => \
    sum(i >= len(old) or b != old[i] for i, b in enumerate(new))
        the texts are compared place by place: a byte is known wherever in `seen` it is.
    len([b for b in new if b not in old]) => len(set(old) ^ set(new))
        bytes of `seen` that `text` lacks are counted as well, and each once.
    len([b for b in new if b not in old]) => len([b for b in new if b in old])
        the bytes that survive…
    len([b for b in new if b not in old]) => 256 - len(set(old))
        all 256 bytes that `seen` lacks are counted, whatever the text holds.
""")
def encoded_first(seen, text):
    old, new = seen.encode(), text.encode()
    return len([b for b in new if b not in old])


count_lost_bytes.answers("""
    sum(not c.isascii() for c in text)
        what is no ASCII is counted: which bytes are known, `seen` says.
    len(set(text) - set(seen))
        different unseen characters are counted, not lost bytes.
    sum(len(c.encode()) for c in set(text) - set(seen))
        each unseen character is counted once, with its bytes, lost or not.
    sum(len(c.encode()) for c in text if not c.isascii() and c not in seen)
        all bytes of unseen characters beyond ASCII: ASCII may be lost, too.
    len(text.encode()) - 2 * count_lost_bytes.reference(seen, text)
        survivors and lost bytes are subtracted from each other.
    2 * sum(c not in seen for c in text)
        two bytes for each unseen character: it has 1 to 4, and some may have been seen.
""")


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


end_each.slips(r"""
    if second is not None: => if second:
        an empty second sequence is a sequence: only `None` means that there is none.
    ids += [*second, end_id] => pass
        the second sequence is missing: it belongs to the ids as well.
    ids += [*second, end_id] => ids += second
        the second sequence never ends: each that exists gets an end of its own.
    ids += [*second, end_id] => ids += [second, end_id]
        `second` stands in the list as a list: `*second` unpacks it.
    ids += [*second, end_id] => ids += [*first, end_id]
        the first text of a pair stands there twice.
""")


@end_each.way(r"""
    if second is None: => if not second:
        an empty second sequence is a sequence…
    return [*first, end_id] ⏎ => return first ⏎
        a single text has no end.
    return [*first, end_id] ⏎ => return [*first, end_id, end_id] ⏎
        two ends behind a single sequence: a second one that does not exist gets none.
    return [*first, end_id] ⏎ => return [first, end_id] ⏎
        a single text stands in the list as a list: `*` unpacks a list.
    end_id, *second, end_id] => *second]
        the texts of a pair have no ends.
    end_id, *second, end_id] => *second, end_id]
        only one end, behind all: the two texts of a pair run into each other.
    end_id, *second, end_id] => end_id, *second]
        the second sequence never ends…
    end_id, *second, end_id] => end_id]
        the second sequence is missing…
    [*first, end_id, *second, end_id] => [*second, end_id]
        the first text of a pair is missing.
    end_id, *second, end_id] => end_id, *first, end_id]
        the first text of a pair stands there twice.
    [*first, end_id, *second, end_id] => [*second, end_id, *first, end_id]
        the second sequence stands before the first.
    end_id, *second, end_id] => end_id, end_id, *second, end_id]
        two ends stand between the texts of a pair: the first one ends once.
    end_id, *second, end_id] => *second, end_id, end_id]
        both ends stand behind a pair.
    [*first, end_id, *second, end_id] => [*first, end_id], [*second, end_id]
    [*first, end_id, *second, end_id] => [[*first, end_id], [*second, end_id]]
        a pair becomes two lists: one list of all ids is wanted.
    [*first, end_id, *second, end_id] => [first, end_id, second, end_id]
        lists stand in the list: `*` unpacks a list, or `+` joins it to another.
    *second, end_id] => second, end_id]
        `second` stands in the list as a list…
""")
def one_or_two(first, second, end_id):
    if second is None:
        return [*first, end_id]
    return [*first, end_id, *second, end_id]


@end_each.way(r"""
    [first] if second is None else [first, second] => [t for t in (first, second) if t]
        an empty sequence ends too: any that exists gets its end.
    [first] if second is None else [first, second] => \
    [first, second] if second else [first]
        an empty second sequence is a sequence…
    [first] if second is None else [first, second] => \
    [first] * bool(first) + [second] * (second is not None)
        an empty first text is taken for none: it ends, too.
    [first] if second is None else [first, second] => [first, second or []]
        two ends behind a single sequence…
    [first] if second is None else [first, second] => [first, second]
        `second` may be `None`, which is no list: there is one sequence then.
    [first] if second is None else [first, second] => [first]
        the second sequence is missing…
    else [first, second] => else [second, first]
        the second sequence stands before the first.
    [*text, end_id] => text
        there is no end at all.
    [*text, end_id] => [end_id, *text]
        at the beginning. A token there begins a text; this one is to end it.
    [first, second], [] => [first, second], [end_id]
    [*text, end_id] => [end_id, *text, end_id]
        before and behind: the end of a text stands behind it, once.
    [*text, end_id] => text if text[-1:] == [end_id] else [*text, end_id]
        a text gets its end although it holds the id there: nobody looks.
    ids += [*text, end_id] => ids += text ⏎ \
    ids += [] if ids[-1:] == [end_id] else [end_id]
        an end is left out where the ids so far end with one, be it that of `first`.
    [*text, end_id] => text if end_id in text else [*text, end_id]
        a text that holds the id anywhere gets no end.
    [*text, end_id] => [*(i for i in text if i != end_id), end_id]
        ids that equal the end are taken out: a post-processor removes nothing.
    [*text, end_id] => [*text[:-1], end_id]
        the last id of each text is replaced by the end.
    [*text, end_id] => [*text, 0]
        the end is always 0: it is `end_id`.
    [*text, end_id] => [*text, [end_id]]
        the end stands in the list as a list: `text + [end_id]` adds the id.
    [*text, end_id] => [[*text, end_id]]
        a list for each sequence: one list of all ids is wanted.
    [*text, end_id] => [i for token in text for i in (token, end_id)]
        an end behind each id: it stands behind each text.
    ids += [*text, end_id] => ids += text ; return ids => return [*ids, end_id]
        only one end, behind all…
    return ids => return ids[:-1]
        only between the two: the second one never ends, nor does a single one.
""")
def each_that_exists(first, second, end_id):
    texts, ids = [first] if second is None else [first, second], []
    for text in texts:
        ids += [*text, end_id]
    return ids


end_each.answers(r"""
    first + [end_id] + second + [end_id]
        `second` may be `None`…
    ([*first, end_id], None if second is None else [*second, end_id])
        a pair of results, the second one `None` or a list: one list is wanted.
""")


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


pad_right.slips("""
    padded, masks = [], [] => length = max(map(len, rows)) ⏎ padded, masks = [], []
        padded to the longest row of the batch: `length` is asked, longer or shorter.
    padded, masks = [], [] => length = min(length, max(map(len, rows))) ⏎ \
padded, masks = [], []
        padded to the longest row of the batch, where that is shorter than `length`.
    for row in rows => for row in [r for r in rows if len(r) <= length]
        long rows are dropped: they are to be cut.
    for row in rows => for row in [r for r in rows if len(r) < length]
        rows that have `length` ids or more are missing: they are cut, and stay.
    for row in rows => for row in rows[:1]
        the first row alone is there: a `return` within the loop?
    row = row[:length] => pass
        long rows are not cut: the rows of a batch must have one length.
    row = row[:length] => row = row[-length:]
        rows are cut on the left: the beginning of the text is lost instead of the end.
    row = row[:length] ⏎ missing = length - len(row) => \
    missing = length - len(row) ⏎ row = row[: length - 1]
    row = row[:length] => row = row[: length - 1]
        rows are cut to one id less than `length`: `row[:n]` holds n of them already.
    row = row[:length] => \
    row = row if len(row) <= length else [*row[: length - 1], row[-1]]
        the last id of a long row is saved. Here the row loses its end.
    length - len(row) => length - len(row) - 1
        one pad too few: what is missing is `length` minus the row's length.
    row = row[:length] ⏎ missing = length - len(row) => \
    missing = length - len(row) + 1 ⏎ row = row[:length]
    length - len(row) => length - len(row) + 1
        rows get one pad too many: what is missing is `length` minus the row's length.
    missing = length - len(row) => missing = 0
        short rows are never filled up: each gets pads up to `length`.
    missing = length - len(row) => missing = length
        `length` pads are added, however long the row is.
    row + [pad_id] * missing => [pad_id] * missing + row ; \
    [1] * len(row) + [0] * missing => [0] * missing + [1] * len(row)
        padded on the left: the position ids of a short row are off by its pads.
    [pad_id] * => [0] *
    [pad_id] * => [-100] *
        the pad is always the same number, such as 0 or -100: it is `pad_id`.
    [pad_id] * missing => [[pad_id] * missing]
        the pads stand in the row as a list: `+` joins two lists.
    [1] * len(row) + [0] * missing => [int(i != pad_id) for i in padded[-1]]
        the mask is read off the ids. A text may hold the id of the pad, as an end.
    [1] * len(row) + [0] * missing => [int(i != 0) for i in padded[-1]]
        the mask is 0 wherever an id is 0: a text may hold it, whatever the pad is.
    [1] * len(row) + [0] * missing => [0] * len(row) + [1] * missing
        the mask is inverted: 1 stands for a real token, 0 for a pad.
    [1] * len(row) + [0] * missing => [1] * length
        the mask is 1 everywhere: pads are to be 0 in it.
    [1] * len(row) + [0] * missing => [1] * len(row) + [pad_id] * missing
        the mask is filled up with `pad_id`: it holds 0 for each pad.
    [1] * len(row) + [0] * missing => [int(any(i != pad_id for i in padded[-1][k:])) \
    for k in range(length)]
        the mask is 0 at pads of the end, and at ids that equal the pad before them.
    masks.append( => masks.extend(
        the masks are joined: each row has a mask of its own.
    masks.append([1] * len(row) + [0] * missing) => \
    masks = [[1] * len(row) + [0] * missing]
        the mask of the last row alone is there.
    return padded, masks => return masks, padded
        masks come before rows.
    return padded, masks => return padded
        the masks are missing: rows and masks are asked, in this order.
    return padded, masks => return list(zip(padded, masks, strict=True))
        a pair for each row: all padded rows stand in one list, all masks in another.
""")


@pad_right.way("""
    (row + [pad_id] * length)[:length] => row + [pad_id] * (length - len(row))
        long rows are not cut, only their masks.
    (row + [pad_id] * length)[:length] => \
    [pad_id] * (length - len(row)) + row[:length]
        pads stand on the left, where the mask has ones.
    (row + [pad_id] * length)[:length] => row[: length - (len(row) > length)] + \
    [pad_id] * max(len(row) > length, length - len(row))
        the last place of a long row is a pad, where the mask has a 1.
    (row + [pad_id] * length)[:length] => [*row[:length], \
    [pad_id] * (length - len(row))]
        the pads stand in the row as a list…
    [pad_id] => [0]
        the pad is always…
    ([1] * len(row) + [0] * length)[:length] => \
    [1] * len(row) + [0] * (length - len(row))
        the mask is as long as the row was before it was cut. Cut first.
    ([1] * len(row) + [0] * length)[:length] => ([0] * len(row) + [1] * length)[:length]
        the mask is inverted…
    ([1] * len(row) + [0] * length)[:length] => [i < len(row) for i in range(length)]
        the masks hold `True` and `False`, or floats: 1 and 0 are asked.
    ([1] * len(row) + [0] * length)[:length] => [1] * length
        the mask is 1 everywhere…
""")
def longer_then_cut(rows, pad_id, length):
    return (
        [(row + [pad_id] * length)[:length] for row in rows],
        [([1] * len(row) + [0] * length)[:length] for row in rows],
    )


pad_right.answers("""
    [sum(part, []) for part in pad_right.reference(rows, pad_id, length)]
        all rows are joined to one list, and all masks.
""")


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


choose_dtype.slips("""
    , *added_ids] => ]
        added tokens are forgotten: the id 65,536 becomes 0 in uint16.
    vocab_size - 1 => vocab_size
        the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0.
    *added_ids] => *added_ids[-1:]]
    max([..., *added_ids]) => max(added_ids[-1:], default=...)
        of the added ids the last one alone is looked at: it need not be the largest.
    *added_ids] => *added_ids[:1]]
    max([..., *added_ids]) => max(added_ids[:1], default=...)
        of the added ids the first one alone is looked at: it need not be the largest.
    max([..., *added_ids]) => max(..., *added_ids)
        there may be no added ids, and `max` of a single number raises: give it a list.
    max([..., *added_ids]) => max(..., max(added_ids))
        there may be no added ids: `max` of an empty list raises.
    max([..., *added_ids]) => ... + len(added_ids)
        tokens are counted: the largest id counts, and added ids may leave a gap.
    max([..., *added_ids]) => ... + max(added_ids, default=0)
        added ids are ids already: the size, or V - 1, is not to be added to them.
    max([..., *added_ids]) => ... + max(added_ids)
        `max` of no added ids raises. And they are ids, not added to the size.
    max([ => sum([
        ids are added up: the largest of them counts, not their sum.
    max([ => min([
        the smallest id: every one must fit, so the largest decides.
    max([..., *added_ids]) => max(added_ids, default=...)
        where there are added ids, those of the vocabulary count as well.
    <= 65_535 => < 65_535
        uint16 holds 65,535 itself: `<=`, not `<`.
    <= 65_535 => <= 65_536
        65,536 is how many numbers uint16 holds; the largest of them is 65,535.
    <= 65_535 => <= 32_767
    <= 65_535 => < 32_767
    <= 65_535 => <= 32_768
        32,767 is the bound of int16. Without a sign there are twice as many numbers.
    <= 65_535 => <= 65_000
        the bound is too low: uint16 holds every id up to 65,535.
    "uint16" if largest <= 65_535 else "uint32" => \
    "uint32" if largest <= 65_535 else "uint16"
        the two names are exchanged: uint16 where all ids fit into it.
    return "uint16" => return "uint8" if largest <= 255 else "uint16"
        uint8 would do for few ids, but is not offered: uint16 at least.
    "uint16" if => "int16" if ; else "uint32" => else "int32"
        int16 and int32 have a sign: uint16 and uint32 are asked.
""")


@choose_dtype.way("""
    vocab_size <= 65_536 => vocab_size <= 65_535
        the largest id of a vocabulary of V tokens is V - 1, since…
    and all => or all
    and all(i <= 65_535 for i in added_ids) => or max(added_ids) <= 65_535
        it is enough that either the vocabulary or the added ids fit. All ids have to.
    and all(i <= 65_535 for i in added_ids) =>
        added tokens are forgotten…
    vocab_size <= 65_536 and all(i <= 65_535 for i in added_ids) => vocab_size < 65_535
        the size is compared with the largest id: look at V - 1, and at added ids.
    all(i <= 65_535 for i in added_ids) => not added_ids
        uint32 for any added token: many fit below 65,536.
    i <= 65_535 => i < 65_535
        uint16 holds 65,535 itself: `<=`, not `<`.
    i <= 65_535 => i <= 65_536
        no id may be 65,536, though a vocabulary may have 65,536 tokens.
    i <= 65_535 => i <= vocab_size
        added ids are compared with the size of the vocabulary, not with 65,535.
""")
def all_fit(vocab_size, added_ids):
    fits = vocab_size <= 65_536 and all(i <= 65_535 for i in added_ids)
    return "uint16" if fits else "uint32"


choose_dtype.answers("""
    "uint16" if len({*range(vocab_size), *added_ids}) <= 65_536 else "uint32"
        different ids are counted: with a gap the largest is larger than their number.
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


tokens_with_fallback.answers("""
    ascii + two + three
        one for each character. Without a token of its own, one becomes its *bytes*.
    ascii
        what is not in the alphabet is lost. With `byte_fallback` it becomes bytes.
    2 * two + 3 * three
        only what falls back. The letters are tokens, too.
""")


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


pads_of_batch.answers("""
    sum(max(0, length - n) for n in lengths)
        the end of each text is an id, too.
    sum(length - (n + 1) for n in lengths)
        texts that are too long are taken off: they have no pads.
    sum(min(length, n + 1) for n in lengths)
        the ids that are *no* pads.
    sum(max(lengths) - n for n in lengths)
        padded to the longest text, not to the length that is asked.
""")


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


bytes_of_ids.answers("""
    num_ids * (4 if last + added <= 65_535 else 2)
        the other of the two dtypes: look at the largest id again.
    num_ids
        ids, not bytes.
    8 * num_ids
        8 bytes each, as `int64` has: it can be smaller.
""")
