"""Lesson 07: a tokenizer built from parts, trained on documents, saved as one file, and
wrapped for `transformers`.

A text passes stages: the normalizer tidies it, the pre-tokenizer cuts it into pieces,
the model cuts the pieces into tokens, the post-processor adds the end of the text; the
decoder leads back. All of them are in one `tokenizer.json`. What depends on where a
text comes from, such as markup, is cleaned before, and is not in that file.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from html.parser import HTMLParser
from itertools import islice

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from course_lib.bpe import BYTE_CHARACTERS
from course_lib.foundation import (
    END_OF_TEXT,
    Document,
    check_integer,
    check_special_tokens,
    iterate_texts,
    progress_bar,
    shows,
)

PAD = "<|pad|>"
# how byte_fallback writes them
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]

# Before the tokenizer: from documents to texts.

_BLOCKS = "address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure "
_BLOCKS += "footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre section summary table tbody "
_BLOCKS += "tfoot thead title tr ul"
_INLINE = "a abbr acronym audio b base bdi bdo big button canvas center cite code col colgroup data del dfn em embed "
_INLINE += "font i iframe img input ins kbd label legend link map mark meta meter noscript object output param picture "
_INLINE += "progress q s samp script select small source span strike strong style sub sup svg td template textarea th "
_INLINE += "time track tt u var video wbr"
_BLOCK_TAGS = frozenset(_BLOCKS.split())
_TAG = rf"""/?(?:{"|".join(sorted((_BLOCKS + " " + _INLINE).split()))})(?:[\s/](?:"[^"]*"|'[^']*'|[^<>"'])*)?>"""
_MARKUP = rf"{_TAG}|!--.*?-->|!doctype\b[^<>]*>|\?xml\b[^<>]*>"
_TAGS = re.compile(rf"<(?:{_MARKUP})", re.IGNORECASE | re.DOTALL)
_OTHER_LESS_THAN = re.compile(rf"<(?!{_MARKUP})", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);", re.IGNORECASE)


def strip_html(text: str) -> str:
    """Return what a reader of the page would see: no tags, comments, scripts and
    styles, and entities decoded once.

    Only elements of HTML are markup: `a < b`, `List<int>` and texts without any markup
    come back as they are. Where a block begins or ends there is a line break, and table
    cells are a blank apart.

    Raises:
        TypeError: `text` is not a `str`.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    if not _TAGS.search(text):
        return _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)
    page = _Page()
    # A parser is lenient: it would take any < before a letter for a tag. So the others
    # are disguised first.
    page.feed(_OTHER_LESS_THAN.sub("&lt;", text))
    page.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(page.parts)).strip()


class _Page(HTMLParser):
    """Collect the visible text of a page."""

    def __init__(self):
        # entities are decoded by the parser, after it has found the tags
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = False
        self.preformatted = 0

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.hidden = tag in ("script", "style")
        self.preformatted += tag == "pre"
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False
        self.preformatted -= tag == "pre"
        # these two hold nothing, and break once
        if tag in _BLOCK_TAGS and tag not in (
            "br",
            "hr",
        ):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            # Outside of <pre> the indentation is that of the markup, not of the text.
            self.parts.append(
                data if self.preformatted > 0 else re.sub(r"\n[ \t]+", "\n", data)
            )


def training_texts(
    documents: Iterable[Document], *, min_quality: int = 3, min_length: int = 100
) -> Iterator[str]:
    """Return an iterator over the texts worth learning from: good enough, cleaned of
    markup, and then long enough.

    Args:
        documents: any stream of documents; it is read once and never held in memory.
        min_quality: the lowest grade to keep, 0 to 5.
        min_length: the fewest characters to keep, counted after the markup has gone.

    Source code keeps what looks like markup: there it is the text.
    """
    min_quality = check_integer("min_quality", min_quality, minimum=0, maximum=5)
    min_length = check_integer("min_length", min_length, minimum=0)
    # so that a wrong argument is an error now, not later
    return _select(documents, min_quality, min_length)


def _select(
    documents: Iterable[Document], min_quality: int, min_length: int
) -> Iterator[str]:
    for number, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(
                f"documents must be of type Document, but number {number} is "
                f"{type(document).__name__}"
            )
        if document.quality >= min_quality:
            text = (
                document.text if document.kind == "code" else strip_html(document.text)
            )
            if len(text) >= min_length:
                yield text


# The stages of the tokenizer, one function each.

_LINE_END = r"\r\n|[\r\x0B\x0C\x{85}\x{2028}\x{2029}]"
_INVISIBLE = r"[\p{Cc}\x{AD}\x{200B}\x{2060}\x{FEFF}\x{FFFD}&&[^\t\n]]"
# The two joiners are spelling in some scripts and inside emoji, and noise everywhere
# else. Between letter and joiner there may be marks, whose order NFC changes.
_JOINED_SCRIPTS = "Arabic Syriac Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala"
_JOINED = "".join(rf"\p{{{script}}}" for script in _JOINED_SCRIPTS.split())
_JOINER = rf"(?<![\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}{_JOINED}]\p{{M}}{{0,8}})[\x{{200C}}\x{{200D}}]"


def build_normalizer(*, keep_indentation: bool = True) -> normalizers.Normalizer:
    r"""Make the first stage: text to tidy text. Applied twice, it changes nothing the
    second time.

    In this order: every line end becomes `\n`; control characters, zero-width
    characters and U+FFFD are removed; NFC; blanks at the end of a line are cut; runs of
    spaces become one; three or more newlines become two. NFC comes after the removal,
    which may bring a letter and its accent together.

    Args:
        keep_indentation: leave the spaces at the beginning of a line as they are: in
            Python they are syntax. Without, they become one like any other run. Leading
            tabs are kept in either case.
    """
    spaces = (
        r"(?<=[^\t\n ]|[^\t\n ]\t|[^\t\n ]\t\t) {2,}" if keep_indentation else " {2,}"
    )
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(_LINE_END), "\n"),
            normalizers.Replace(Regex(_INVISIBLE), ""),
            normalizers.Replace(Regex(_JOINER), ""),
            normalizers.NFC(),
            # The lookbehind lets a run be tried once, and not again from each of its
            # blanks.
            normalizers.Replace(Regex(r"(?<![ \t])[ \t]++(?=\n|\z)"), ""),
            normalizers.Replace(Regex(spaces), " "),
            normalizers.Replace(Regex(r"\n{3,}"), "\n\n"),
        ]
    )


_OPERATOR = r"==|!=|->|<=|>=|\*\*|//|\+=|-=|\*=|/="

# Name to pattern, in the order in which they are tried. As in GPT-2, one space before a
# word belongs to it: a space of its own would make every word two tokens.
PIECE_RULES: dict[str, str] = {
    "contraction": r"(?<=\p{L})['’](?i:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])",
    "abbreviation": r" ?(?<![\p{L}\p{N}_.])(?:\p{L}{1,2}\.){2,}(?![\p{L}\p{N}_])",
    "scientific": r" ?\p{Nd}+(?:\.\p{Nd}+)?[eE][+\-−]?\p{Nd}+(?![\p{L}\p{N}_])",
    "decimal": r" ?\p{Nd}+\.\p{Nd}+",
    "integer": r" ?\p{N}+",
    "operator": rf" ?(?:{_OPERATOR})",
    # no bound, quadratic time
    "snake_case": r" ?[\p{L}\p{N}]{0,64}(?:_+[\p{L}\p{N}]+)+_*",
    "word": r" ?\p{L}[\p{L}\p{M}\x{200C}\x{200D}]*",
    # all but the space that belongs to the next piece
    "blanks": r"[^\S\n]+(?= \S)|(?! \S)[^\S\n]+",
    "newlines": r"\n+",
    "punctuation": rf" ?_+| ?(?:(?!{_OPERATOR})[^\s\p{{L}}\p{{N}}_])+",
}


def build_pre_tokenizer(
    rules: Mapping[str, str] | None = None, *, byte_level: bool = True
) -> pre_tokenizers.PreTokenizer:
    """Make the second stage: text to pieces that no token will ever cross.

    Args:
        rules: name to pattern (Oniguruma's syntax), by default `PIECE_RULES`. They
            become one regular expression, whose alternatives are tried in this order:
            the first that matches wins, not the longest.
        byte_level: write each piece as its UTF-8 bytes, one visible character a byte.
    """
    pattern = "|".join(
        f"(?:{rule})" for rule in (PIECE_RULES if rules is None else rules).values()
    )
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    if not byte_level:
        return split
    # use_regex=False: ByteLevel has a pattern of its own, GPT-2's, and would cut our
    # pieces once more.
    return pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def cut(pre_tokenizer: pre_tokenizers.PreTokenizer, text: str) -> list[str]:
    """Return the pieces of `text` as they stand in it, not as ByteLevel writes them."""
    return [
        text[first:last] for _, (first, last) in pre_tokenizer.pre_tokenize_str(text)
    ]


def build_post_processor(
    end_of_text: str, end_of_text_id: int
) -> processors.PostProcessor:
    """Make the stage after the model: the end of the text behind one sequence, and
    behind each of a pair."""
    return processors.TemplateProcessing(
        single=f"$A {end_of_text}",
        pair=f"$A {end_of_text} $B:1 {end_of_text}:1",
        special_tokens=[(end_of_text, end_of_text_id)],
    )


def build_decoder(
    *, byte_level: bool = True, affixes: Sequence[str] = ()
) -> decoders.Decoder:
    """Make the way back: tokens to text. `affixes` are marks of the model that are no
    text; they are removed."""
    unmark = [decoders.Replace(affix, "") for affix in affixes]
    if byte_level:
        return decoders.Sequence([*unmark, decoders.ByteLevel()])
    # Without Fuse, the default joins tokens by blanks.
    return decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])


# All stages together, and the training.


def build_tokenizer(
    texts: Iterable,
    *,
    vocab_size: int,
    min_frequency: int = 2,
    special_tokens: Sequence[str] = (END_OF_TEXT, PAD),
    dropout: float | None = None,
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    byte_fallback: bool = False,
    keep_indentation: bool = True,
    length: int | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Build all stages and train the model, on a new tokenizer each time; any text has
    tokens.

    Args:
        texts: texts, lists of texts, or a `datasets` data set with a column `text`;
            read once, not kept.
        vocab_size: V, special tokens and alphabet included; fewer if the pairs are used
            up sooner.
        min_frequency: merge no pair that occurs less often.
        special_tokens: names, whose order fixes their ids 0, 1, ...; the first one ends
            every text.
        dropout: skip each merge with this probability when encoding, so that a text has
            many encodings (Provilkov et al., BPE-Dropout, 2020). For training a model;
            set `tokenizer.model.dropout = None` after.
        continuing_subword_prefix: a mark before each token that does not begin a piece.
        end_of_word_suffix: a mark behind each token that ends a piece. Both marks must
            hold a character that ByteLevel never writes, such as `▸`, so that they
            cannot be mistaken for text.
        byte_fallback: use characters instead of bytes as the alphabet, and bytes
            `<0x00>` ... `<0xFF>` for characters outside of it.
        keep_indentation: see `build_normalizer`.
        length: number of texts, for the progress bar; by default `len(texts)` if there
            is one.
        progress: show progress; by default unless `COURSE_PROGRESS=0`.

    Raises:
        TypeError: a text is not a `str`, or `texts` is a single one.
        ValueError: there is no text, the vocabulary is smaller than the alphabet, a
            special token repeats, or an option is out of range.
    """
    special_tokens = check_special_tokens(special_tokens)
    if not special_tokens:
        raise ValueError(
            "special_tokens must hold at least one name: the first one ends every text"
        )
    if dropout is not None and (
        isinstance(dropout, bool) or not isinstance(dropout, int | float)
    ):
        raise TypeError(
            f"dropout must be None or a probability 0 ... 1, got {dropout!r} "
            f"({type(dropout).__name__})"
        )
    if dropout is not None and not 0 <= dropout <= 1:
        raise ValueError(
            f"dropout must be None or a probability 0 ... 1, got {dropout!r}"
        )
    min_frequency = check_integer("min_frequency", min_frequency, minimum=1)
    marks = {
        "continuing_subword_prefix": continuing_subword_prefix,
        "end_of_word_suffix": end_of_word_suffix,
    }
    marks = {name: mark for name, mark in marks.items() if mark is not None}
    _check_marks(marks, byte_fallback)
    # What the model must know whether or not it occurs: a byte without a token would be
    # dropped, and nobody told.
    if byte_fallback:
        required = BYTE_TOKENS
    else:
        prefixes = dict.fromkeys(["", continuing_subword_prefix or ""])
        suffixes = dict.fromkeys(["", end_of_word_suffix or ""])
        required = [
            p + character + s
            for p in prefixes
            for s in suffixes
            for character in BYTE_CHARACTERS
        ]
    at_least = len(special_tokens) + len(required)
    vocab_size = check_integer("vocab_size", vocab_size, minimum=1)
    if vocab_size < at_least:
        raise ValueError(
            f"vocab_size must be at least {at_least}: {len(required)} tokens of the "
            f"alphabet and {len(special_tokens)} special tokens; got {vocab_size}"
        )
    tokenizer = Tokenizer(
        models.BPE(dropout=dropout, byte_fallback=byte_fallback, **marks)
    )
    tokenizer.normalizer = build_normalizer(keep_indentation=keep_indentation)
    tokenizer.pre_tokenizer = build_pre_tokenizer(byte_level=not byte_fallback)
    for name in special_tokens:
        if name in required or len(cut(tokenizer.pre_tokenizer, name)) < 2:
            raise ValueError(
                "special_tokens must be no pieces of ordinary text, as <|...|> is "
                f"not; got {name!r}"
            )
    tokenizer.decoder = build_decoder(
        byte_level=not byte_fallback, affixes=list(marks.values())
    )
    alphabet = [] if byte_fallback else BYTE_CHARACTERS
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size
        - len(required)
        + len(alphabet),  # room for those that are added below
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=alphabet,
        show_progress=shows(progress)
        and sys.stderr.isatty(),  # its bar can only be drawn in a terminal
        **marks,
    )
    if byte_fallback:
        # Characters may be more than the whole vocabulary: the rarest are left to the
        # bytes.
        trainer.limit_alphabet = (vocab_size - at_least) // 2
    if length is None and isinstance(texts, Sized):
        length = len(texts)
    tokenizer.train_from_iterator(
        _not_blank(iterate_texts(texts), length, progress), trainer, length=length
    )
    tokenizer = _with_tokens(tokenizer, required)
    tokenizer.post_processor = build_post_processor(
        special_tokens[0], tokenizer.token_to_id(special_tokens[0])
    )
    return tokenizer


def _check_marks(marks: Mapping[str, str], byte_fallback: bool) -> None:
    for name, mark in marks.items():
        if byte_fallback:
            raise ValueError(
                f"{name} must be None with byte_fallback, got {mark!r}: bytes would "
                "lose their names"
            )
        if not isinstance(mark, str):
            raise TypeError(
                f"{name} must be a str, got {mark!r} ({type(mark).__name__})"
            )
        if set(mark) <= set(BYTE_CHARACTERS):
            raise ValueError(
                f"{name} must hold a character that ByteLevel never writes, such as "
                "'▸', or else text that looks like the mark would be lost; got "
                f"{mark!r}"
            )
    if len(marks) > len(set(marks.values())):
        raise ValueError(
            "end_of_word_suffix must differ from the prefix, got "
            f"{marks['end_of_word_suffix']!r} twice"
        )


def _not_blank(
    texts: Iterator[str], length: int | None, progress: bool | None
) -> Iterator[list[str]]:
    """Pass texts on in batches, which crosses over to the library less often; complain
    if they held nothing."""
    texts = iter(
        progress_bar(texts, "reading", total=length, unit="text", progress=progress)
    )
    blank = True
    while batch := list(islice(texts, 1000)):
        blank = blank and not any(text.strip() for text in batch)
        yield batch
    if blank:
        raise ValueError(
            "texts must hold more than blanks, got an empty corpus: there is nothing "
            "to learn from"
        )


def _with_tokens(tokenizer: Tokenizer, tokens: Iterable[str]) -> Tokenizer:
    """Return a tokenizer whose model knows `tokens` too, as ordinary ones.

    As special or added tokens they would be looked for in the text, where somebody may
    have written `<0x41>`.
    """
    description = json.loads(tokenizer.to_str())
    vocabulary = description["model"]["vocab"]
    for token in tokens:
        vocabulary.setdefault(token, len(vocabulary))
    return Tokenizer.from_str(json.dumps(description))


# Does it work?

VERIFICATION_SAMPLES: dict[str, list[str]] = {
    "equations": [
        "E = mc², ∑ᵢ xᵢ² ≤ ‖x‖², ∀ε>0 ∃δ>0",
        r"\frac{a_1}{b^2} = -b \pm \sqrt{b^2-4ac}",
        "x² + y² = 25",
    ],
    "scientific numbers": [
        "6.022e23 and 1.5e-3, 2E+10",
        "3.14159 is not 3",
        "1e-9 < 1.0e-8",
        "−4 °C ± 0.5",
    ],
    "code": [
        "def f(x, *, y=2):\n    return x**2 // y\n",
        "if (a != b) {\n\ta += 1;\n\tb -> next;\n}",
        "__init__ == my_var_2",
    ],
    "contractions": [
        "don't we'll they're I'd she's I'm you've",
        "DON'T",
        "l’été, rock ’n’ roll",
        "'quoted'",
    ],
    "emoji": ["👍🏽 and 👩‍🚀, 🏳️‍🌈!", "🇫🇷🇩🇪", "☺️ ❤️‍🔥"],
    "Chinese, Japanese, Korean": [
        "中文没有空格，也能分词。",
        "日本語のテキスト。",
        "한국어 텍스트도 됩니다.",
    ],
    "other": [
        "a  b\u200b \n\n\n\nc\ufeff",
        "हिन्दी और نستعلیق می‌خواهم",
        "e\u0301tude",
        "\x00\x07",
        "",
        "<0x41> ▸ ## </w>",
    ],
}


def find_round_trip_failures(
    tokenizer: Tokenizer, texts: Iterable[str]
) -> list[tuple[str, str]]:
    """Return each text that does not survive, tidy as the normalizer makes it, with
    what came back.

    A round trip is exact if `decode(encode(text))` is the normalized text, character
    for character.
    """
    failures = []
    for text in iterate_texts(texts):
        expected = (
            tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        )
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        got = tokenizer.decode(ids, skip_special_tokens=False)
        if got != expected:
            failures.append((text, got))
    return failures


# From texts to a stream of ids, and to models.


def wrap_tokenizer(
    tokenizer: Tokenizer,
    *,
    model_max_length: int,
    end_of_text: str = END_OF_TEXT,
    pad_token: str = PAD,
) -> PreTrainedTokenizerFast:
    """Give a tokenizer the face that `transformers` expects: named roles, padding and
    truncation on the right.

    Args:
        tokenizer: from `build_tokenizer`; it is copied.
        model_max_length: the longest sequence the model takes, in tokens, the end of
            the text included.
        end_of_text: the special token that begins and ends a text: bos and eos.
        pad_token: what fills up a batch. The same as `end_of_text` is allowed, as it is
            common, but then no one can tell from the ids where a text ends.

    Raises:
        ValueError: a token is not among the special tokens: it would get a new id,
            which no model expects.
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(
            f"tokenizer must be a tokenizers.Tokenizer, got {type(tokenizer).__name__}"
        )
    ends = tokenizer.num_special_tokens_to_add(is_pair=False)
    model_max_length = check_integer(
        "model_max_length", model_max_length, minimum=1 + ends
    )
    special = [
        token.content
        for token in tokenizer.get_added_tokens_decoder().values()
        if token.special
    ]
    for name, token in (("end_of_text", end_of_text), ("pad_token", pad_token)):
        if token not in special:
            raise ValueError(
                f"{name} must be one of the special tokens {special}, got {token!r}"
            )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=end_of_text,
        eos_token=end_of_text,
        pad_token=pad_token,
        padding_side="right",
        truncation_side="right",
        model_max_length=model_max_length,
    )
