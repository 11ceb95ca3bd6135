"""Lesson 07: a tokenizer built from parts, trained on documents, saved as one file.

A text goes through stages: the normalizer tidies it, the pre-tokenizer cuts it into
pieces, the model cuts the pieces into tokens, and the post-processor adds the end of
the text. The decoder leads back. All of them are saved in one `tokenizer.json`, and a
wrapper gives them the interface that `transformers` expects. Cleaning, for example of
markup, depends on where a text comes from. It is done before, and is not in that file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

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

from course_lib.bpe import check_vocab_size
from course_lib.bpe.spelling import BYTE_CHARACTERS
from course_lib.foundation import (
    END_OF_TEXT,
    AtLeast,
    Count,
    Document,
    Finite,
    Several,
    Text,
    check_flag,
    check_integer,
    check_special_tokens,
    checked,
    iterate_texts,
    shows,
    training_batches,
)
from course_lib.tokenizer_pipeline.markup import strip_html

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD = "<|pad|>"
# The names that byte_fallback gives to bytes.
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]

# Before the tokenizer: from documents to texts.


@checked
def training_texts(
    documents: Annotated[Iterable[Document], Several("documents")],
    *,
    min_quality: Annotated[int, AtLeast(0, 5)] = 3,
    min_length: Count = 100,
) -> Iterator[str]:
    """Return an iterator over the texts that are worth learning from.

    A text must be good enough and, without its markup, long enough. Source code keeps
    everything that looks like markup, because there it belongs to the text.

    Args:
        documents: any stream of documents; it is read once and never held in memory.
        min_quality: the lowest grade to keep, 0 to 5.
        min_length: the fewest characters to keep, counted after markup is removed.
    """
    # A second function yields, so that a wrong argument is an error now and not later.
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
            in_code = document.kind == "code"
            text = document.text if in_code else strip_html(document.text)
            if len(text) >= min_length:
                yield text


# The stages of the tokenizer, one function each.

_LINE_END = r"\r\n|[\r\x0B\x0C\x{85}\x{2028}\x{2029}]"
_INVISIBLE = r"[\p{Cc}\x{AD}\x{200B}\x{2060}\x{FEFF}\x{FFFD}&&[^\t\n]]"
# The two joiners are spelling in some scripts and inside emoji, and noise everywhere
# else. There may be marks between letter and joiner, and NFC changes their order.
_JOINED = "Arabic Syriac Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu "
_JOINED += "Kannada Malayalam Sinhala Myanmar Extended_Pictographic Emoji_Modifier"
_JOINED = "".join(rf"\p{{{name}}}" for name in _JOINED.split())
_JOINER = rf"(?<![{_JOINED}]\p{{M}}{{0,8}})[\x{{200C}}\x{{200D}}]"


@checked
def build_normalizer(*, keep_indentation: bool = True) -> normalizers.Normalizer:
    r"""Make the first stage: it tidies a text, and leaves a tidy text unchanged.

    The steps, in this order: every line end becomes `\n`; invisible characters are
    removed; NFC; spaces and tabs at the end of a line are cut; runs of spaces become
    one; three or more newlines become two. NFC comes after the removal, because the
    removal may bring a letter and its accent together.

    The invisible characters are control characters, U+FFFD, and some that have no
    width: the soft hyphen, U+200B, U+2060 and U+FEFF everywhere, and the joiners U+200C
    and U+200D except in emoji and in the scripts that need them. Directional marks
    stay. In Thai and Khmer U+200B separates words: for these, change the list.

    Args:
        keep_indentation: leave the spaces at the beginning of a line, which are syntax
            in Python, and those that follow a mix of spaces and tabs within it. If
            False, they become one like any other run. Leading tabs are kept in either
            case.
    """
    spaces = " {2,}"
    if keep_indentation:
        spaces = r"(?<=[^\t\n ]|[^\t\n ]\t|[^\t\n ]\t\t) {2,}"
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(_LINE_END), "\n"),
            normalizers.Replace(Regex(_INVISIBLE), ""),
            normalizers.Replace(Regex(_JOINER), ""),
            normalizers.NFC(),
            # The lookbehind lets a run be tried once, not from each of its characters.
            normalizers.Replace(Regex(r"(?<![ \t])[ \t]++(?=\n|\z)"), ""),
            normalizers.Replace(Regex(spaces), " "),
            normalizers.Replace(Regex(r"\n{3,}"), "\n\n"),
        ]
    )


_OPERATOR = r"==|!=|->|<=|>=|\*\*|//|\+=|-=|\*=|/="

# Name to pattern, in the order in which they are tried. As in GPT-2, one space before a
# word belongs to it, because a space of its own would make every word two tokens. An
# abbreviation ends with a dot: without the last one, `U.S.A` is cut at every dot.
PIECE_RULES: dict[str, str] = {
    "contraction": r"(?<=\p{L})['’](?i:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}_])",
    "abbreviation": r" ?(?<![\p{L}\p{N}_.])(?:\p{L}{1,2}\.){2,}(?![\p{L}\p{N}_])",
    "scientific": r" ?\p{Nd}+(?:\.\p{Nd}+)?[eE][+\-−]?\p{Nd}+(?![\p{L}\p{N}_])",
    "decimal": r" ?\p{Nd}+\.\p{Nd}+",
    "integer": r" ?\p{N}+",
    "operator": rf" ?(?:{_OPERATOR})",
    # Without a bound, here 64, the time would be quadratic.
    "snake_case": r" ?[\p{L}\p{N}]{0,64}(?:_+[\p{L}\p{N}]+)+_*",
    "word": r" ?\p{L}[\p{L}\p{M}\x{200C}\x{200D}]*",
    # All except the one space that belongs to the next piece.
    "whitespace": r"[^\S\n]+(?= \S)|(?! \S)[^\S\n]+",
    "newlines": r"\n+",
    "punctuation": rf" ?_+| ?(?:(?!{_OPERATOR})[^\s\p{{L}}\p{{N}}_])+",
}


@checked
def build_pre_tokenizer(
    rules: Mapping[str, str] | None = None, *, byte_level: bool = True
) -> pre_tokenizers.PreTokenizer:
    """Make the second stage: it cuts a text into pieces that no merge will ever cross.

    Args:
        rules: name to pattern (Oniguruma's syntax), by default `PIECE_RULES`. They
            become one regular expression, whose alternatives are tried in this order:
            the first that matches wins, not the longest.
        byte_level: write each piece as its UTF-8 bytes, one visible character a byte.
    """
    rules = PIECE_RULES if rules is None else _check_rules(rules)
    pattern = "|".join(f"(?:{rule})" for rule in rules.values())
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    if not byte_level:
        return split
    # Without use_regex=False, ByteLevel would cut our pieces once more, as GPT-2 does.
    return pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def _check_rules(rules: Mapping[str, str]) -> Mapping[str, str]:
    if not rules:
        raise ValueError("rules must hold at least one pattern, got none")
    for name, rule in rules.items():
        if not isinstance(rule, str):
            raise TypeError(
                f"rules must be str, but {name!r} is {rule!r} ({type(rule).__name__})"
            )
        try:
            Regex(rule)
        except Exception as error:  # the library has no type of its own for it
            raise ValueError(
                f"rules must be patterns, but {name!r} is {rule!r}: {error}"
            ) from None
    return rules


@checked
def cut(pre_tokenizer: pre_tokenizers.PreTokenizer, text: Text) -> list[str]:
    """Return the pieces of `text` as we read them, not as ByteLevel writes them."""
    pieces = pre_tokenizer.pre_tokenize_str(text)
    return [text[first:last] for _, (first, last) in pieces]


@checked
def stages_of(tokenizer: Tokenizer, text: Text) -> dict[str, list[str | bytes]]:
    """Return what each stage of a tokenizer makes of a text, for `show_tokens`.

    Byte-level tokens are bytes; those of other models, and the added ones, are their
    names.
    """
    normal = text
    if tokenizer.normalizer is not None:
        normal = tokenizer.normalizer.normalize_str(text)
    pre_tokenizer = tokenizer.pre_tokenizer
    pieces = [normal] if pre_tokenizer is None else cut(pre_tokenizer, normal)
    ids, added = tokenizer.encode(text).ids, tokenizer.get_added_tokens_decoder()
    tokens = []
    for number in ids:
        name = tokenizer.id_to_token(number)
        is_bytes = number not in added and set(name) <= set(BYTE_CHARACTERS)
        tokens.append(bytes(map(BYTE_CHARACTERS.index, name)) if is_bytes else name)
    return {
        "text": [text],
        "normalized": [normal],
        f"{len(pieces)} piece{'s' * (len(pieces) != 1)}": pieces,
        f"{len(ids)} token{'s' * (len(ids) != 1)}": tokens,
        "ids": list(map(str, ids)),
        "decoded": [tokenizer.decode(ids)],
    }


@checked
def build_post_processor(
    end_of_text: Text, end_of_text_id: Annotated[int, AtLeast(0, 2**32 - 1)]
) -> processors.PostProcessor:
    """Make the stage after the model: it ends a sequence, and both of a pair."""
    if not end_of_text:
        raise ValueError("end_of_text must not be empty: it is a token's name")
    # The template knows the token as END, so that its name may hold a space or a colon.
    end = {"id": "END", "ids": [end_of_text_id], "tokens": [end_of_text]}
    return processors.TemplateProcessing(
        single="$A END", pair="$A END $B:1 END:1", special_tokens=[end]
    )


@checked
def build_decoder(
    *, byte_level: bool = True, affixes: Annotated[Sequence[str], Several("texts")] = ()
) -> decoders.Decoder:
    """Make the way back, from tokens to text, without the model's marks, `affixes`."""
    affixes = list(affixes)
    if not all(isinstance(affix, str) and affix for affix in affixes):
        raise TypeError(f"affixes must be several non-empty str, got {affixes!r}")
    unmark = [decoders.Replace(affix, "") for affix in affixes]
    if byte_level:
        return decoders.Sequence([*unmark, decoders.ByteLevel()])
    # Without Fuse, the tokens would be joined by spaces.
    return decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])


# All stages together, and the training.


@checked
def build_tokenizer(
    texts: Iterable,
    *,
    vocab_size: int,
    min_frequency: Annotated[int, AtLeast(1, 2**32 - 1)] = 2,
    special_tokens: Sequence[str] = (END_OF_TEXT, PAD),
    dropout: Annotated[float, Finite(minimum=0, maximum=1)] | None = None,
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    byte_fallback: bool = False,
    keep_indentation: bool = True,
    text_column: str = "text",
    length: Annotated[int, AtLeast(0, 2**32 - 1)] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Build all stages and train the model, so that any text has tokens.

    Each call makes a new tokenizer: training one a second time is not the same.

    Args:
        texts, text_column: what `iterate_texts` takes; read once, not kept.
        vocab_size: V, including special tokens and alphabet; the vocabulary is smaller
            if the pairs are used up sooner.
        min_frequency: merge no pair that occurs less often.
        special_tokens: names, whose order fixes their ids 0, 1, ...; the first one ends
            every text.
        dropout: skip each merge with this probability when encoding, so that a text has
            many encodings (Provilkov et al., BPE-Dropout, 2020). It is meant for
            training a model; set `tokenizer.model.dropout = None` afterwards.
        continuing_subword_prefix, end_of_word_suffix: a mark before each token that
            does not begin a piece, and one after each that ends a piece. Both must hold
            a character that ByteLevel never writes, such as `▸`, so that they cannot be
            mistaken for text.
        byte_fallback: use characters instead of bytes as the alphabet, and bytes
            `<0x00>` ... `<0xFF>` for characters outside of it.
        keep_indentation: see `build_normalizer`.
        length: number of texts, for the progress bar; by default they are counted, if
            that is possible.
        progress: show progress; by default unless `COURSE_PROGRESS=0`.

    Raises ValueError if there is no text, the vocabulary is smaller than the alphabet,
    or a special token repeats or does not come back.
    """
    special_tokens = check_special_tokens(special_tokens)
    marks = _check_marks(continuing_subword_prefix, end_of_word_suffix, byte_fallback)
    alphabet = [] if byte_fallback else BYTE_CHARACTERS
    required = BYTE_TOKENS if byte_fallback else _marked(alphabet, marks)
    vocab_size = check_vocab_size(vocab_size, len(special_tokens), len(required))

    model = models.BPE(dropout=dropout, byte_fallback=byte_fallback, **marks)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = build_normalizer(keep_indentation=keep_indentation)
    tokenizer.pre_tokenizer = build_pre_tokenizer(byte_level=not byte_fallback)
    marked = list(marks.values())
    tokenizer.decoder = build_decoder(byte_level=not byte_fallback, affixes=marked)
    _check_names(special_tokens, required, tokenizer)
    trainer = trainers.BpeTrainer(
        # Required tokens that are not in the alphabet are added below: leave room.
        vocab_size=vocab_size - len(required) + len(alphabet),
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=alphabet,
        # The library's bar can only be drawn in a terminal.
        show_progress=shows(progress) and sys.stderr.isatty(),
        **marks,  # or it would set those of the model back to None
    )
    if byte_fallback:
        # There may be too many characters: the rarest are left to the bytes.
        trainer.limit_alphabet = (vocab_size - len(required) - len(special_tokens)) // 2
    batches = training_batches(
        texts, text_column=text_column, length=length, progress=progress
    )
    tokenizer.train_from_iterator(batches, trainer, length=length)
    tokenizer = _with_tokens(tokenizer, required)
    tokenizer.post_processor = build_post_processor(special_tokens[0], 0)
    return tokenizer


def _check_marks(
    prefix: str | None, suffix: str | None, byte_fallback: bool
) -> dict[str, str]:
    """Return the marks that are wanted, under the names that the library gives them."""
    marks = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    marks = {name: mark for name, mark in marks.items() if mark is not None}
    for name, mark in marks.items():
        if byte_fallback:
            raise ValueError(
                f"{name} must be None with byte_fallback, got {mark!r}: bytes would "
                "lose their names"
            )
        if set(mark) <= set(BYTE_CHARACTERS):
            raise ValueError(
                f"{name} must hold a character that ByteLevel never writes, such as "
                "'▸', or else text that looks like the mark would be lost; got "
                f"{mark!r}"
            )
    if len(marks) > len(set(marks.values())):
        raise ValueError(f"end_of_word_suffix must differ from the prefix {suffix!r}")
    return marks


def _marked(alphabet: Sequence[str], marks: Mapping[str, str]) -> list[str]:
    """Return each byte with and without each mark.

    All of them must have tokens: a byte without one would be dropped in silence.
    """
    prefixes = dict.fromkeys(["", marks.get("continuing_subword_prefix", "")])
    suffixes = dict.fromkeys(["", marks.get("end_of_word_suffix", "")])
    return [p + byte + s for p in prefixes for s in suffixes for byte in alphabet]


def _check_names(
    special_tokens: list[str], required: list[str], tokenizer: Tokenizer
) -> None:
    """Refuse names that are ordinary text, or that template or decoder misread."""
    if not special_tokens:
        raise ValueError(
            "special_tokens must hold at least one name: the first one ends every text"
        )
    for name in special_tokens:
        if name in required or len(cut(tokenizer.pre_tokenizer, name)) < 2:
            raise ValueError(
                "special_tokens must not be ordinary text: use names such as <|...|>; "
                f"got {name!r}"
            )
        if name.startswith("$"):
            raise ValueError(
                "special_tokens must not begin with $: in a template $A and $B are "
                f"texts; got {name!r}"
            )
        if (decoded := tokenizer.decoder.decode([name])) != name:
            raise ValueError(
                "special_tokens must survive the decoder, which takes the characters "
                f"of {name!r} for bytes and makes {decoded!r} of it; use ASCII"
            )


def _with_tokens(tokenizer: Tokenizer, tokens: Iterable[str]) -> Tokenizer:
    """Return a tokenizer whose model also knows `tokens`, as ordinary ones.

    Special or added tokens would be looked for in the text, where somebody may have
    written `<0x41>`.
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


def check_tokenizer(name: str, tokenizer: object) -> Tokenizer:
    """Return a tokenizer of `tokenizers`, and refuse any other."""
    if not isinstance(tokenizer, Tokenizer):
        got = type(tokenizer).__name__
        raise TypeError(f"{name} must be a tokenizers.Tokenizer, got {got}")
    return tokenizer


ATokenizer: TypeAlias = Annotated[Tokenizer, check_tokenizer]
Against: TypeAlias = Literal["normalized", "original"]


@checked
def find_round_trip_failures(
    tokenizer: ATokenizer, texts: Iterable[str], *, against: Against = "normalized"
) -> list[tuple[str, str]]:
    """Return each text that does not survive, with the text that came back.

    A text survives if `decode(encode(text))` is the normalized text, character for
    character. Against the `original`, what the normalizer changes counts as well: a
    text then survives only if it comes back as it was. A text that spells a special
    token may not survive, because the tokenizer cuts it there and normalizes the parts.
    Set `tokenizer.encode_special_tokens` to take the token's name for text.
    """
    failures = []
    for text in iterate_texts(texts):
        normalizer = tokenizer.normalizer
        changes = normalizer is not None and against == "normalized"
        expected = normalizer.normalize_str(text) if changes else text
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        got = tokenizer.decode(ids, skip_special_tokens=False)
        if got != expected:
            failures.append((text, got))
    return failures


def wrap_tokenizer(
    tokenizer: Tokenizer,
    *,
    model_max_length: int,
    end_of_text: str = END_OF_TEXT,
    pad_token: str = PAD,
    for_prompts: bool = False,
) -> PreTrainedTokenizerFast:
    """Give a tokenizer the interface that `transformers` expects.

    Its special tokens get their roles. It pads and truncates on the right.

    By default every text gets its end, also one that `truncation=True` has cut, and a
    model that trains on such a text learns to stop at the cut. Wrap a second time
    `for_prompts`, for whatever is not over: prompts, and texts to be cut.

    If you save it beside a model, load it by `PreTrainedTokenizerFast.from_pretrained`:
    in the folder of a Qwen2 model, for example, `AutoTokenizer` (transformers 5.24)
    takes the model's own class, whose stages replace some of these.

    Args:
        tokenizer: from `build_tokenizer`; it is copied.
        model_max_length: the longest sequence that the model takes, in tokens, the end
            of the text included. It only says where `truncation=True` cuts.
        end_of_text: the special token that begins and ends a text: bos and eos.
        pad_token: the token that fills up a batch. It may be `end_of_text`, because
            that is common, but then the ids no longer tell where a text ends.
        for_prompts: add nothing to a text, and no end in particular.

    Raises ValueError if a token is not among the special tokens: it would get a new id,
    which no model expects.
    """
    check_tokenizer("tokenizer", tokenizer)
    check_flag("for_prompts", for_prompts)
    ends = 0 if for_prompts else tokenizer.num_special_tokens_to_add(is_pair=False)
    model_max_length = check_integer(
        "model_max_length", model_max_length, minimum=1 + ends
    )
    added = tokenizer.get_added_tokens_decoder().values()
    special = [token.content for token in added if token.special]
    for name, token in (("end_of_text", end_of_text), ("pad_token", pad_token)):
        if not isinstance(token, str) or token not in special:
            raise ValueError(
                f"{name} must be one of the special tokens {special}, got {token!r}"
            )
    # Imported here because it takes a second, and nothing else in this module needs it.
    from transformers import PreTrainedTokenizerFast

    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=end_of_text,
        eos_token=end_of_text,
        pad_token=pad_token,
        padding_side="right",
        truncation_side="right",
        model_max_length=model_max_length,
        # Their classes set it anew in every call, so it must be told to the wrapper.
        split_special_tokens=tokenizer.encode_special_tokens,
    )
    if for_prompts:
        wrapped.backend_tokenizer.post_processor = None
    return wrapped
