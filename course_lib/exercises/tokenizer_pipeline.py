"""Exercises of lesson 07: tidy, cut, fall back to bytes, lose bytes, end texts, pad,
and choose a dtype."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from random import Random

from course_lib.teaching import Case, bug_or_not, exercise
from course_lib.tokenizer_pipeline import strip_html


def _untidy_texts(random: Random) -> Iterator[Case]:
    for text in (
        "",
        "a",
        "a b",
        "a  b",
        "a \n b",
        "  a",
        "a  ",
        "\ta  b",
        "a\n\nb",
        "a\n\n\nb",
        "a\n\n\n\n\nb",
        "a\n \n \nb",
    ):
        yield (text,)
    yield ("if a:\n    return  b   \n\n\n\nelse:\n\tpass",)
    for _ in range(40):
        yield (
            "".join(
                random.choices(
                    ["a", "b", " ", "  ", "\t", "\n", "\n\n"], k=random.randrange(3, 12)
                )
            ),
        )


@exercise(
    cases=_untidy_texts,
    hints=(
        "Three substitutions. In which order, so that a line of blanks counts as an "
        "empty line?",
        r"First `[ \t]+(?=\n|\Z)`, then spaces with a lookbehind `(?<=[^ \t\n])`, then `\n{3,}`.",
    ),
)
def tidy(text: str) -> str:
    """Cut blanks (spaces and tabs) at the end of lines, make runs of spaces one, three
    or more newlines two.

    A run of spaces is reduced only right behind a character that is no blank:
    indentation stays.
    """
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@tidy.mistake(
    "newlines are reduced before blanks are cut: lines that hold only blanks keep "
    "newlines apart until then."
)
def newlines_first(text):
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    return re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)


@tidy.mistake(
    "the indentation is reduced too. In Python, and in lists, it has a meaning."
)
def flattens_indentation(text):
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r" {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@tidy.mistake(
    "`replace` goes through the text once: five newlines become four, and four spaces "
    "two."
)
def replaces_once(text):
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(?<=[^ \t\n])  ", " ", text)
    return text.replace("\n\n\n", "\n\n")


@tidy.mistake(
    "all white space becomes one blank, newlines too: the paragraphs are gone."
)
def one_line(text):
    return " ".join(text.split())


@tidy.mistake("blanks are cut only at the end of the text. Each line has an end.")
def cuts_the_last_line(text):
    text = text.rstrip(" \t")
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def _rules_and_texts(random: Random) -> Iterator[Case]:
    number, integer, word = r"\d+\.\d+", r"\d+", r"[a-z]+"
    for text in (
        "",
        "7",
        "1.5",
        "a1.5",
        "1.5 22",
        "x = 3.25;",
        "...",
        "ab12cd",
        "1.2.3",
        " 7 ",
    ):
        yield text, [number, integer, word]
        yield text, [integer, number]
        yield text, [word]
    for _ in range(10):
        yield "".join(random.choices("ab12. ", k=8)), [number, integer, word]


@exercise(
    cases=_rules_and_texts,
    hints=(
        "One regular expression with all rules as alternatives. And what lies "
        "between two matches?",
        "Walk along `re.finditer`: before each match add what was skipped, if "
        "anything; after the last one the rest.",
    ),
)
def cut_isolated(text: str, rules: list[str]) -> list[str]:
    """Cut `text` as `Split(..., "isolated")` does: every match is a piece, and so is
    what lies between matches.

    At each place the first rule that matches wins.
    """
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


@cut_isolated.mistake(
    "what lies between the matches is dropped. A tokenizer must not lose a character."
)
def only_matches(text, rules):
    return re.findall("|".join(rules), text)


@cut_isolated.mistake(
    "the longest match wins. In a regular expression it is the first alternative, "
    "long or short."
)
def longest_wins(text, rules):
    return cut_isolated.reference(text, sorted(rules, key=len, reverse=True))


@cut_isolated.mistake("the rest behind the last match is missing.")
def without_rest(text, rules):
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in pieces if piece]


@cut_isolated.mistake("empty pieces stay in the list, between two matches that touch.")
def empty_pieces(text, rules):
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [*pieces, text[end:]]


def _words_and_alphabets(random: Random) -> Iterator[Case]:
    for text in ("", "a", "é", "aé", "né", "中", "a中b", "👍", "\n", "\t€"):
        for alphabet in ("", "a", "aé", "ab中"):
            yield text, alphabet


@exercise(
    cases=_words_and_alphabets,
    hints=(
        "A character of the alphabet is a token. Any other one is as many tokens as "
        "it has bytes.",
        '`character.encode()` gives its UTF-8 bytes, and `f"<0x{byte:02X}>"` the name of a byte.',
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


@fall_back_to_bytes.mistake(
    "the code point instead of the bytes of UTF-8. There are 256 byte tokens, and no "
    "<0x4E2D>."
)
def code_points(text, alphabet):
    return [c if c in alphabet else f"<0x{ord(c):02X}>" for c in text]


@fall_back_to_bytes.mistake(
    "always bytes. The fallback is for characters that the alphabet lacks."
)
def always_bytes(text, alphabet):
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@fall_back_to_bytes.mistake(
    "unknown characters are dropped: the silent loss that the fallback is there to "
    "prevent."
)
def drops_unknown(text, alphabet):
    return [c for c in text if c in alphabet]


@fall_back_to_bytes.mistake(
    "lower-case names: the vocabulary holds <0xC3>, and <0xc3> is not found in it."
)
def lower_case(text, alphabet):
    return [
        t.lower() if t.startswith("<0x") else t
        for t in fall_back_to_bytes.reference(text, alphabet)
    ]


@fall_back_to_bytes.mistake(
    "bytes below 0x10 have one digit. The names have two: <0x0A>."
)
def one_digit(text, alphabet):
    tokens = fall_back_to_bytes.reference(text, alphabet)
    return [t.replace("<0x0", "<0x") if t.startswith("<0x0") else t for t in tokens]


def _seen_and_new(random: Random) -> Iterator[Case]:
    for seen in ("", "a", "abc", "é", "e€", "中文"):
        for text in ("", "a", "aa", "é", "èè", "aéb", "中", "cab", "a b"):
            yield seen, text


@exercise(
    cases=_seen_and_new,
    hints=(
        "Without the full alphabet a byte has a token only if the training text held "
        "that byte.",
        "`set(seen.encode())` are the bytes with tokens. Count the bytes of `text` "
        "that are not among them.",
    ),
)
def count_lost_bytes(seen: str, text: str) -> int:
    """Return how many bytes of `text` are dropped by a byte-level tokenizer whose
    alphabet is the bytes of `seen`."""
    alphabet = set(seen.encode())
    return sum(byte not in alphabet for byte in text.encode())


@count_lost_bytes.mistake(
    "characters are counted. An unseen character may share some of its bytes with "
    "seen ones."
)
def counts_characters(seen, text):
    return sum(c not in seen for c in text)


@count_lost_bytes.mistake(
    "all bytes of an unseen character. Those it shares with seen ones, such as 0xC3, "
    "survive."
)
def whole_characters(seen, text):
    return sum(len(c.encode()) for c in text if c not in seen)


@count_lost_bytes.mistake(
    "each lost byte is counted once. It is lost wherever it occurs."
)
def different_bytes(seen, text):
    return len(set(text.encode()) - set(seen.encode()))


@count_lost_bytes.mistake("the bytes that survive, not those that are lost.")
def survivors(seen, text):
    return len(text.encode()) - count_lost_bytes.reference(seen, text)


def _one_or_two_sequences(random: Random) -> Iterator[Case]:
    for first in ([], [5], [5, 6, 7]):
        for second in (None, [], [8], [8, 9]):
            yield first, second, 0
            yield first, second, 3


@exercise(
    cases=_one_or_two_sequences,
    hints=(
        "Which sequences exist? Each of them gets its own end.",
        "`second is None` means that there is one sequence; `[]` is a second one "
        "without tokens, and ends too.",
    ),
)
def end_each(
    first: list[int], second: list[int] | None, end_of_text_id: int
) -> list[int]:
    """Return the ids of one sequence, or of a pair, with the end of the text behind
    each that exists."""
    ids = [*first, end_of_text_id]
    if second is not None:
        ids += [*second, end_of_text_id]
    return ids


@end_each.mistake(
    "only one end, behind all: the two texts of a pair run into each other."
)
def only_at_the_end(first, second, end_of_text_id):
    return [*first, *(second or []), end_of_text_id]


@end_each.mistake(
    "only between the two. The second one never ends, and a single one has no end at "
    "all."
)
def only_between(first, second, end_of_text_id):
    return first if second is None else [*first, end_of_text_id, *second]


@end_each.mistake(
    "the second sequence never ends: each that exists gets an end of its own."
)
def second_never_ends(first, second, end_of_text_id):
    return [*first, end_of_text_id, *(second or [])]


@end_each.mistake(
    "at the beginning. A token there begins a text; this one is to end it."
)
def in_front(first, second, end_of_text_id):
    ids = [end_of_text_id, *first]
    return ids if second is None else [*ids, end_of_text_id, *second]


@end_each.mistake(
    "an empty second sequence is a sequence: only `None` means that there is none."
)
def empty_is_none(first, second, end_of_text_id):
    return [*first, end_of_text_id, *([*second, end_of_text_id] if second else [])]


def _rows_to_pad(random: Random) -> Iterator[Case]:
    for pad_id in (0, 1):
        for length in (1, 3, 5):
            yield [[7, 8, 0]], pad_id, length
            yield [[7], [5, 6, 0]], pad_id, length
            yield [[7, 1, 0], []], pad_id, length
            yield [[2, 3, 4, 5, 6, 0], [0]], pad_id, length


@exercise(
    cases=_rows_to_pad,
    hints=(
        "Cut first, then fill up. What does the mask know that the ids do not?",
        "The mask is 1 as often as the cut row has ids, whatever these ids are, and "
        "0 for each pad.",
    ),
)
def pad_right(
    rows: list[list[int]], pad_id: int, length: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the rows cut and padded on the right to `length` ids, and their attention
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


@pad_right.mistake("long rows are not cut: the rows of a batch must have one length.")
def never_cuts(rows, pad_id, length):
    return (
        [row + [pad_id] * (length - len(row)) for row in rows],
        [[1] * len(row) + [0] * (length - len(row)) for row in rows],
    )


def _vocabularies(random: Random) -> Iterator[Case]:
    for vocab_size in (256, 32_768, 65_535, 65_536, 65_537, 70_000):
        yield vocab_size, []
        yield vocab_size, [vocab_size]
        yield vocab_size, [vocab_size, vocab_size + 1]
    yield 50_000, [65_535]
    yield 50_000, [65_536]
    yield 50_000, [100_000]
    yield 50_000, [65_536, 50_001]
    yield 70_000, [5]


@exercise(
    cases=_vocabularies,
    hints=(
        "What counts is the largest id that may ever occur. Ids begin at 0.",
        "The largest of `vocab_size - 1` and the added ids; uint16 holds 0 ... 65,535.",
    ),
)
def choose_dtype(vocab_size: int, added_ids: list[int]) -> str:
    """Return "uint16" or "uint32" for a model with the ids 0 ... vocab_size - 1, and
    tokens added at other ids."""
    largest = max([vocab_size - 1, *added_ids])
    return "uint16" if largest <= 65_535 else "uint32"


@choose_dtype.mistake(
    "added tokens are forgotten: the id 65,536 becomes 0 in uint16, and nobody is told."
)
def forgets_added(vocab_size, added_ids):
    return "uint16" if vocab_size - 1 <= 65_535 else "uint32"


@choose_dtype.mistake(
    "tokens are counted. Added ids may leave a gap: the largest id counts, not how "
    "many there are."
)
def counts_tokens(vocab_size, added_ids):
    return "uint16" if vocab_size + len(added_ids) <= 65_536 else "uint32"


@choose_dtype.mistake(
    "the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0."
)
def off_by_one(vocab_size, added_ids):
    return "uint16" if max([vocab_size, *added_ids]) <= 65_535 else "uint32"


@choose_dtype.mistake(
    "32,767 is the bound of int16. Without a sign there are twice as many numbers."
)
def with_a_sign(vocab_size, added_ids):
    return "uint16" if max([vocab_size - 1, *added_ids]) <= 32_767 else "uint32"


@choose_dtype.mistake("uint16 holds 65,535 itself: `<=`, not `<`.")
def excludes_the_largest(vocab_size, added_ids):
    return "uint16" if max([vocab_size - 1, *added_ids]) < 65_535 else "uint32"


@choose_dtype.mistake(
    "65,536 is how many numbers uint16 holds; the largest of them is 65,535."
)
def includes_one_more(vocab_size, added_ids):
    return "uint16" if max([vocab_size - 1, *added_ids]) <= 65_536 else "uint32"


@choose_dtype.mistake(
    "added ids are ids already: they are not added to the size of the vocabulary."
)
def adds_ids_up(vocab_size, added_ids):
    return (
        "uint16" if vocab_size - 1 + max(added_ids, default=0) <= 65_535 else "uint32"
    )


@choose_dtype.mistake(
    "the last added id need not be the largest, nor larger than the vocabulary."
)
def last_added_only(vocab_size, added_ids):
    return (
        "uint16"
        if (added_ids[-1] if added_ids else vocab_size - 1) <= 65_535
        else "uint32"
    )


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
    reference=strip_html,
    cases=_pages,
    explanation=(
        "Once decoded, `&lt;b&gt;` looks like a tag, and is removed with the real "
        "ones: text about HTML is what such a cleaner destroys. Tags first, entities "
        "after; that is what a parser does. And a `<` that begins no tag must survive."
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
    reference=real_tokens,
    cases=_padded_rows,
    explanation=(
        "It works as long as the pad has an id of its own. If the end of the text is "
        "the pad as well, the mask hides every real end, the model is never scored on "
        "one, and so it never learns to stop."
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
