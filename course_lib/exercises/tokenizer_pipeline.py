"""Exercises of lesson 07: cutting by rules, bytes for unknown characters, lost bytes,
where each character came from, and whether two tokenizers are the same."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from tokenizers import Tokenizer

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false
from course_lib.tokenizer_pipeline import build_tokenizer
from course_lib.tokenizer_pipeline.markup import strip_html


def _rules_and_texts(random: Random) -> Iterator[Case]:
    number, integer, word = r"\d+\.\d+", r"\d+", r"[a-z]+"
    texts = ("", "7", "1.5", "a1.5", "1.5 22", "x = 3.25;", "...", "ab12cd", "1.2.3")
    for text in (*texts, " 7 "):
        yield text, [number, integer, word]
        yield text, [integer, number]
        yield text, [word]
    for _ in range(10):
        yield "".join(random.choices("ab12. ", k=8)), [number, integer, word]
    for rules, texts in (
        # the second rule matches earlier in the text than the first one
        ([integer, r"[a-z]+\d+"], ("ab12", "ab12cd", "12ab3", "-ab1-2")),
        # the longer match comes from the later rule
        (["ab", "abc", "a"], ("abc", "ab.abc", "aab")),
        # the longer pattern, in the order of characters the first, comes last
        (["a", "bc", "[a-z]+"], ("abc", "1bc", "ab1cb")),
        # capitals are not small letters, a point is not a newline, and repeats stay
        ([number, integer, word], ("aB1", "Ab", "ABC", "a a a")),
        (["#.*", "b"], ("#a\nb", "a\n#\n#b")),
        # letters aren't those of English alone, and only the text has a beginning
        ([r"\w+", " "], ("é", "aé b")),
        (["^a", "b"], ("a\na", "b\naa")),
        # what precedes or follows a match decides
        ([r"(?<=[a-z])\d", "[a-z]+"], ("a1.", "ab2 c", "1.a1.")),
        ([r"(?<=[a-z])\d", r"\d+"], ("a1", "a11", "1a1", "1 1a", "b2a2")),
        ([r"[a-z]+(?=\.)", "[a-z]"], ("ab.", "ab c", "a.b.")),
    ):
        yield from ((text, rules) for text in texts)


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
    """Cut `text` into pieces: each match is one, and so is the text between two
    matches."""
    pieces, end = [], 0
    for match in re.finditer("|".join(rules), text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


cut_isolated.mistake(
    "you drop the text between the matches, but a tokenizer must not lose a character.",
    lambda text, rules: re.findall("|".join(rules), text),
)
cut_isolated.mistake(
    "you drop the matches, which `re.split` keeps only if they're in a group.",
    lambda text, rules: re.split("|".join(rules), text),
    lambda text, rules: [piece for piece in re.split("|".join(rules), text) if piece],
)
cut_isolated.mistake(
    "you keep empty pieces, such as the one between two matches that touch. Leave "
    "those out.",
    lambda text, rules: re.split(f"({'|'.join(rules)})", text),
)
cut_isolated.mistake(
    "you try the rules in a different order, the last or the longest one first, but "
    "where several match, the first in the list wins.",
    lambda text, rules: cut_isolated(text, rules[::-1]),
    lambda text, rules: cut_isolated(text, sorted(rules, key=len, reverse=True)),
)


def _rule_by_rule(text, rules):
    if not rules:
        return [text] if text else []
    parts = enumerate(re.split(f"({rules[0]})", text))
    cut = [[part] if i % 2 else _rule_by_rule(part, rules[1:]) for i, part in parts]
    return [piece for pieces in cut for piece in pieces]


def _all_pieces_again(text, rules):
    pieces = [text]
    for rule in rules:
        pieces = [p for piece in pieces for p in re.split(f"({rule})", piece) if p]
    return [piece for piece in pieces if piece]


cut_isolated.mistake(
    "you go rule by rule, but a later rule wins where it matches earlier in the text, "
    "and no rule cuts another one's match.",
    _rule_by_rule,
    _all_pieces_again,
)


@cut_isolated.mistake(
    "after a match you continue in a slice of the text, where `(?<=...)` can't see "
    "what came before. Always search the whole text, for example with `re.finditer`."
)
def searched_in_slices(text, rules):
    pieces = []
    while match := re.search("|".join(rules), text):
        pieces += [text[: match.start()], match.group()]
        text = text[match.end() :]
    return [piece for piece in [*pieces, text] if piece]


def _words_and_alphabets(random: Random) -> Iterator[Case]:
    for text in ("", "a", "é", "aé", "né", "中", "a中b", "👍", "\n", "\t€", "éé"):
        yield from ((text, alphabet) for alphabet in ("", "a", "aé", "ab中"))
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


def _named(name: Callable) -> Callable:
    """Fall back to other names of the bytes."""
    return lambda text, alphabet: [
        token
        for c in text
        for token in ([c] if c in alphabet else map(name, c.encode()))
    ]


fall_back_to_bytes.mistake(
    "you give the bytes other names. Write `<0xC3>` and `<0x0A>`, with a small x, two "
    "digits, and capitals.",
    _named("<0x{:02x}>".format),
    _named("<0x{:X}>".format),
    _named("<{:#x}>".format),
    _named("<0x{}>".format),
    _named(int),
)
fall_back_to_bytes.mistake(
    "you write the code point, not the bytes of UTF-8, but there's no token "
    "`<0x4E2D>`.",
    lambda text, alphabet: [c if c in alphabet else f"<0x{ord(c):02X}>" for c in text],
)
fall_back_to_bytes.mistake(
    "you put all bytes of a character into one token. Give each byte a token of its "
    "own.",
    lambda text, alphabet: [
        c if c in alphabet else f"<0x{c.encode().hex().upper()}>" for c in text
    ],
    lambda text, alphabet: ["".join(fall_back_to_bytes(c, alphabet)) for c in text],
)
fall_back_to_bytes.mistake(
    "you lose unknown characters, which is just what the fallback is there to prevent.",
    lambda text, alphabet: [c for c in text if c in alphabet],
    lambda text, alphabet: [c if c in alphabet else "<unk>" for c in text],
)
fall_back_to_bytes.mistake(
    "you don't let the alphabet decide. Look up each character in it.",
    lambda text, alphabet: fall_back_to_bytes(text, ""),
    lambda text, alphabet: fall_back_to_bytes(text, "".join(map(chr, range(128)))),
    lambda text, alphabet: fall_back_to_bytes(
        text, text if set(text) <= set(alphabet) else ""
    ),
)
fall_back_to_bytes.mistake(
    "you look up bytes as if they were characters. Look up the character first.",
    lambda text, alphabet: [
        chr(b) if chr(b) in alphabet else f"<0x{b:02X}>" for b in text.encode()
    ],
)


def _seen_and_new(random: Random) -> Iterator[Case]:
    for seen in ("", "a", "abc", "é", "e€", "中文", "aa"):
        for text in ("", "a", "aa", "é", "éèé", "èè", "aéb", "中", "cab", "a b"):
            yield seen, text
    # All bytes of the new character are seen, in others.
    yield from (("é¢", "©"), ("é¢", "a©"), ("é", "è中"))


@exercise(
    cases=_seen_and_new,
    hints=(
        "Without the full alphabet, a byte has a token only if it occurred in the "
        "training text.",
        "Forget the characters. `encode()` turns each text into a sequence of numbers, "
        "and all you need is in those.",
    ),
)
def count_lost_bytes(seen: str, text: str) -> int:
    """Return how many bytes of `text` are dropped by a byte-level tokenizer that knows
    only the bytes of `seen`."""
    alphabet = set(seen.encode())
    return sum(byte not in alphabet for byte in text.encode())


count_lost_bytes.mistake(
    "you count characters, but an unseen one may share bytes with those that were "
    "seen.",
    lambda seen, text: sum(c not in seen for c in text),
    lambda seen, text: len(set(text) - set(seen)),
    lambda seen, text: sum(count_lost_bytes(seen, c) > 0 for c in text),
)
count_lost_bytes.mistake(
    "you count all bytes of an unseen character, but some, such as 0xC3, may be known.",
    lambda seen, text: sum(len(c.encode()) for c in text if c not in seen),
    lambda seen, text: sum(len(c.encode()) for c in set(text) - set(seen)),
    lambda seen, text: sum(len(c.encode()) for c in text if count_lost_bytes(seen, c)),
)
count_lost_bytes.mistake(
    "you count each lost byte once, although it's lost again wherever it occurs.",
    lambda seen, text: len(set(text.encode()) - set(seen.encode())),
    lambda seen, text: sum(count_lost_bytes(seen, c) for c in set(text)),
)
count_lost_bytes.mistake(
    "you count bytes of `seen` that `text` doesn't use, but it's the other way around.",
    lambda seen, text: count_lost_bytes(text, seen),
    lambda seen, text: len(set(seen.encode()) - set(text.encode())),
)
count_lost_bytes.mistake(
    "you count the bytes that survive, not those that are lost.",
    lambda seen, text: len(text.encode()) - count_lost_bytes(seen, text),
)


def _texts_with_invisible(random: Random) -> Iterator[Case]:
    hidden = "\u200b\ufeff"
    for text in (
        *("", "a", "ab", "a b", "a  b", "a   b  c", "  a", " a", "a  ", "   "),
        *("aa  bb", "\u200ba", "a\u200bb", "a\u200b", "\u200b", "\ufeff\u200b"),
        # Removing a character brings two spaces together.
        *("a \u200b b", " \u200b a", "a \u200b", "a \u200b \ufeff b", "a\u200b  b"),
        *("\u200b a", "\u200b  a", "a \u200bb", "a  \u200b  b  c"),
        # Other whitespace is no space.
        *("a\n\nb", "a \n b", "a\t\tb", "a \t b", "a\u00a0 b", "\n\na", "a \n"),
    ):
        yield text, hidden
    yield from (("a \u200b b", ""), ("a x b", "x"), ("xx a  xbx", "x"))
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


def _matched(text: str, invisible: str, pattern: str) -> list[int]:
    kept = [place for place, c in enumerate(text) if c not in invisible]
    left = "".join(text[place] for place in kept)
    return [kept[match.start()] for match in re.finditer(pattern, left)]


original_places.mistake(
    "you compare a space with its neighbor in the text, but removing a character may "
    "join two runs.",
    lambda text, invisible: [
        place
        for place, c in enumerate(text)
        if c not in invisible and not (c == " " and text[:place].endswith(" "))
    ],
)
original_places.mistake(
    "you return places in the text that is left, not those in the original.",
    lambda text, invisible: list(range(len(original_places(text, invisible)))),
    lambda text, invisible: original_places(
        "".join(c for c in text if c not in invisible), ""
    ),
)
original_places.mistake(
    "you take all whitespace for spaces, but newlines and tabs should stay.",
    lambda text, invisible: _matched(text, invisible, r"\S|\s+"),
    lambda text, invisible: [
        place
        for place in original_places(text, invisible)
        if not (text[place].isspace() and text[place - 1 : place] == " ")
    ],
)
original_places.mistake(
    "you lose runs of spaces, at the beginning, at the end, or everywhere, but one "
    "space of each run should stay.",
    lambda text, invisible: _matched(text, invisible, r"[^ ]|(?<=[^ ]) +"),
    lambda text, invisible: _matched(text, invisible, r"[^ ]| +(?=[^ ])"),
    lambda text, invisible: _matched(text, invisible, "[^ ]"),
)
original_places.mistake(
    "you leave runs of spaces as they are, but each becomes one space.",
    lambda text, invisible: _matched(text, invisible, "(?s:.)"),
)
original_places.mistake(
    "you return the characters, not their places.",
    lambda text, invisible: [text[i] for i in original_places(text, invisible)],
)


# One vocabulary for all toys: some of its tokens can be reached by some cuts alone.
TOKENS = (*"abc123. \n", "ab", "abc", "123", "1.", " a", " b", "a ", "b ")


@dataclass(frozen=True)
class Toy:
    """A tokenizer that cuts texts by a pattern, then takes the longest tokens."""

    cut: str
    joined_by: str = ""  # what its decoder puts between tokens
    added: tuple[str, ...] = ()  # tokens that no text contains
    ends: bool = False  # whether each text ends with the first of them

    def get_vocab(self) -> dict[str, int]:
        return {token: number for number, token in enumerate((*TOKENS, *self.added))}

    def encode(self, text: str) -> list[int]:
        longest = sorted(map(re.escape, TOKENS), key=len, reverse=True)
        pieces = re.findall(self.cut, text)
        tokens = [one for p in pieces for one in re.findall("|".join(longest), p)]
        return [TOKENS.index(token) for token in tokens] + [len(TOKENS)] * self.ends

    def decode(self, ids: list[int]) -> str:
        return self.joined_by.join(TOKENS[id_] for id_ in ids if id_ < len(TOKENS))


def _pairs_of_toys(random: Random) -> Iterator[Case]:
    words, digits, numbers = "[a-z]+", r"\d", r"\d+\.?"
    plain = Toy(f"{words}|{numbers}|.|\n")
    apart, before = Toy(f"{words}|{digits}|.|\n"), Toy(f" ?{words}|{numbers}|.|\n")
    after = Toy(f"{words} ?|{numbers}|.|\n")
    spaced = Toy(plain.cut, joined_by=" ")
    larger = Toy(plain.cut, added=("<pad>",))  # the same for every text
    ending = Toy(plain.cut, added=("<end>",), ends=True)
    # the same ids, in another order: "ab", "a", "b" and "a", "b", "ab"
    yield Toy("^ab|.|\n"), Toy("ab$|.|\n"), ["abab"]
    # the same ids in all, but not in each text
    yield Toy("^a"), Toy("aa"), ["a", "aa"]
    every = (plain, apart, before, after, spaced, larger, ending)
    for a in every:
        for b in every:
            for texts in (
                *([], [""], ["a"], ["abc"], ["123"], ["abc", "1."], ["1.", "abc"]),
                # alike one by one, and different when they are joined
                *(["1", "23"], ["a", " b"], ["ab", "c"], [" ", "a"]),
                # as many ids, but others
                *(["a b"], ["a", "a b"], ["a b", "a"], ["ab c", "2"]),
            ):
                if random.random() < 0.5 or len(texts) > 1:
                    yield a, b, texts
    for _ in range(20):
        texts = ["".join(random.choices("ab12. ", k=4)) for _ in range(2)]
        yield *random.sample(every, 2), texts


@exercise(
    cases=_pairs_of_toys,
    hints=(
        "A tokenizer works in two directions. What do two of them have to do alike?",
        "Take one text at a time. Encode it with both, and compare the lists, not "
        "their lengths. Then let both decode the same list.",
    ),
)
def same_tokenizer(a: object, b: object, texts: list[str]) -> bool:
    """Return whether both give each text the same ids, and turn these back into the
    same text."""
    for text in texts:
        ids = a.encode(text)
        if b.encode(text) != ids or a.decode(ids) != b.decode(ids):
            return False
    return True


same_tokenizer.mistake(
    "you compare the vocabularies, but where a text is cut isn't written in them.",
    lambda a, b, texts: a.get_vocab() == b.get_vocab(),
)
same_tokenizer.mistake(
    "you compare the texts that come back, but different ids can spell the same text.",
    lambda a, b, texts: all(
        a.decode(a.encode(text)) == b.decode(b.encode(text)) for text in texts
    ),
    lambda a, b, texts: all(
        a.decode(a.encode(text)) == b.decode(b.encode(text)) == text for text in texts
    ),
)
same_tokenizer.mistake(
    "you count ids, but two lists of the same length may hold different ids.",
    lambda a, b, texts: all(
        len(a.encode(text)) == len(b.encode(text)) for text in texts
    ),
    lambda a, b, texts: (
        sum(len(a.encode(text)) for text in texts)
        == sum(len(b.encode(text)) for text in texts)
    ),
)
same_tokenizer.mistake(
    "you compare the ids and never decode them, but the two may turn the same ids into "
    "different texts.",
    lambda a, b, texts: all(a.encode(text) == b.encode(text) for text in texts),
)
same_tokenizer.mistake(
    "you decide after the first text, although the next one may show a difference.",
    lambda a, b, texts: same_tokenizer(a, b, texts[:1]),
)
same_tokenizer.mistake(
    "you join the texts, so pieces may reach from one text into the next.",
    lambda a, b, texts: same_tokenizer(a, b, ["".join(texts)]),
    lambda a, b, texts: same_tokenizer(a, b, [" ".join(texts)]),
)


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
        "and entities decoded afterwards, as a parser does. Even then, a `<` that "
        "doesn't begin a tag, as in `if a < b`, has to survive."
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
        "It works as long as the pad has an id of its own. If the end-of-text token is "
        "also the pad, the mask is 0 at the real end of the text. The mask alone does "
        "little harm, because it only says where a token may look. But labels are "
        "often made from it, with -100 wherever it's 0. Then no end-of-text token is "
        "ever scored, and the model never learns to stop."
    ),
)
def attention_mask(ids: list[int], num_pads: int, pad_id: int) -> list[int]:
    return [0 if token_id == pad_id else 1 for token_id in ids]


def _texts_with_whitespace(random: Random) -> Iterator[Case]:
    for text in (
        "",
        "a",
        " ",
        "a  b",
        "\ta \t",
        "a\n\n b",
        "a\u00a0 b",
        "a\r\n",
        "\x0b",
    ):
        yield (text,)
    parts = ("a", " ", "\t", "\n", "\u00a0", "\u3000")
    for _ in range(40):
        yield ("".join(random.choices(parts, k=random.randrange(3, 12))),)


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
        "Find all runs of whitespace other than `\\n`: a `\\n` ends a run, and is not "
        "part of any. (A `\\r` counts as whitespace.)"
    ),
    reference=runs_of_whitespace,
    cases=_texts_with_whitespace,
    explanation=(
        "`\\S` is every character that isn't whitespace, so `[^\\S\\n]` is every "
        "character that is neither one of those nor a `\\n`. What remains is all "
        "whitespace except `\\n`, for example tabs and no-break spaces. It's a "
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
        "The normalizer from section 3 cuts spaces at the end of each line, and the "
        "end of the text is one. GPT-2's tokenizer has no normalizer. There the last "
        "space becomes a token of its own, although in training a space usually "
        "belonged to the next word. A model that has rarely met such a token may "
        "continue badly."
    ),
)
def ids_without_the_space(text: str) -> list[int]:
    return _small_tokenizer().encode(text).ids
