"""Hostile calls of the stages, of the training, and of what is done with a tokenizer."""

from functools import cache

import numpy as np
from tokenizers import Tokenizer, decoders, models

from course_lib.foundation import Document, encode_corpus
from course_lib.tokenizer_pipeline import (
    build_normalizer,
    build_post_processor,
    build_pre_tokenizer,
    build_tokenizer,
    cut,
    training_texts,
    wrap_tokenizer,
)

GOOD = Document("1", "article", 3, "x" * 100)
TEXTS = ["the cat sat on the mat"] * 3


def endless():
    while True:
        yield GOOD


def normalized(text, **options):
    return build_normalizer(**options).normalize_str(text)


def pieces(text, *rules, **options):
    return cut(build_pre_tokenizer(*rules, **options), text)


def built(texts=TEXTS, **options):
    return build_tokenizer(texts, **{"vocab_size": 300, "progress": False} | options)


@cache
def small():
    return built()


def without(stage):
    changed = Tokenizer.from_str(small().to_str())
    setattr(changed, stage, decoders.WordPiece() if stage == "decoder" else None)
    return changed


def ids_of(text, **options):
    return small().encode(text, **options).ids


def ended(*texts, name="<|x|>"):
    made = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    made.post_processor = build_post_processor(name, np.uint8(7))
    return made.encode(*texts).tokens


CALLS = {
    # examples
    "list(VERIFICATION_SAMPLES)[:4]": ["equations", "scientific numbers", "code", "contractions"],
    "list(VERIFICATION_SAMPLES)[4:]": ["emoji", "Chinese, Japanese, Korean", "other"],
    # the training stream
    "list(training_texts([]))": [],
    "next(training_texts(endless()))": "x" * 100,
    "list(training_texts([GOOD], min_quality=np.int8(3), min_length=np.uint8(100)))": ["x" * 100],
    "list(training_texts([GOOD, None]))": TypeError("number 1 is NoneType"),
    # the normalizer
    "normalized('  a', keep_indentation=np.False_)": " a",
    "normalized('if a:\\n    b\\n\\t\\tc', keep_indentation=False)": "if a:\n b\n\t\tc",
    "normalized('')": "",
    "normalized('\\x00\\ufeff\\u200d')": "",
    "normalized(' ' * 100_000)": "",
    "normalized('\\u0e01\\u200b\\u0e02')": "\u0e01\u0e02",
    "normalized('\\u1000\\u103a\\u200d\\u101a')": "\u1000\u103a\u200d\u101a",
    "normalized('a\\u200eb')": "a\u200eb",
    # the pre-tokenizer
    "build_pre_tokenizer({'a': '('})": ValueError("rules must be patterns, but 'a' is '('"),
    "build_pre_tokenizer({'a': 3})": TypeError("rules must be str, but 'a' is 3 (int)"),
    "build_pre_tokenizer({})": ValueError("rules must hold at least one pattern"),
    "pieces('aXbb', {'lower': 'x|[a-z]+'})": ["a", "X", "bb"],
    "pieces('a.b', {'matches nothing': 'q'})": ["a.b"],
    "''.join(pieces('ab', {'empty': ''}))": "ab",
    "pieces('')": [],
    "pieces('U.S.A and U.S.A.')": ["U", ".", "S", ".", "A", " and", " U.S.A."],
    # the post-processor and the decoder
    "build_post_processor('', 0)": ValueError("end_of_text must not be empty"),
    "ended('a', name='<| a:b |>')": ["a", "<| a:b |>"],
    "ended('a', 'a', name='$B')": ["a", "$B", "a", "$B"],
    "build_decoder(affixes=[''])": TypeError("affixes must be several non-empty str"),
    "build_decoder().decode([])": "",
    "build_decoder(byte_level=False).decode(['<0xE4>', '<0xB8>'])": "\ufffd\ufffd",
    # building and training
    "built([])": ValueError("empty corpus"),
    "built(' ')": TypeError("texts must be several texts"),
    "built(iter([]))": ValueError("empty corpus"),
    "built(['fine', b'bytes'])": TypeError("texts[1] must be a str, got bytes"),
    "built([' \\n'])": ValueError("empty corpus"),
    "built([None])": TypeError("texts[0] must be a str"),
    "built(['\\udc00'])": ValueError("texts[0] must be Unicode"),
    "built(None)": TypeError("texts must be several texts"),
    "built([{'body': TEXTS}], text_column='body').get_vocab_size() > 258": True,
    "built([{'body': TEXTS}])": ValueError("text_column must be one of ['body'], got 'text'"),
    "built(vocab_size=np.int16(300)).get_vocab_size() <= 300": True,
    "built(vocab_size=257)": ValueError("vocab_size must be at least 258"),
    "built(vocab_size=0)": ValueError("vocab_size must be an integer of at least 1 and at most 16777216, got 0"),
    "built(vocab_size=513, continuing_subword_prefix='▸')": ValueError(
        "vocab_size must be at least 514: 512 tokens of"
    ),
    "built(vocab_size=258).get_vocab_size()": 258,
    "built(vocab_size=2**40)": ValueError("vocab_size must be"),
    "built(dropout=np.float32(0.5)).model.dropout": 0.5,
    "built(special_tokens=[])": ValueError("special_tokens must hold at least one name"),
    "built(special_tokens=['<|a|>', '<|a|>'])": ValueError("special_tokens must be different"),
    "built(special_tokens='<|a|>')": TypeError("special_tokens must be a list of names, got '<"),
    "built(special_tokens=[3])": TypeError("special_tokens[0] must be a str"),
    "built(special_tokens=['the'])": ValueError("special_tokens must not be ordinary text: use names such as <|...|>"),
    "built(special_tokens=['<0x41>'], byte_fallback=True)": ValueError("special_tokens must not be ordinary text"),
    "built(special_tokens=['$A'])": ValueError("special_tokens must not begin with $"),
    "built(special_tokens=['<|endé|>'])": ValueError("special_tokens must survive the decoder"),
    "built(special_tokens=['<|a▸|>'], end_of_word_suffix='▸', vocab_size=600)": ValueError("must survive the decoder"),
    "built(special_tokens=['<| end |>']).encode('the').tokens[-1]": "<| end |>",
    "built(special_tokens=['‹|endé|>']).decode([0], skip_special_tokens=False)": "‹|endé|>",
    "built(special_tokens=['<|a:1|>', '<|b|>']).encode('the', 'cat').tokens[-1]": "<|a:1|>",
    "built(special_tokens={'<|a|>', '<|b|>'})": TypeError("special_tokens must be a list of names"),
    "built(end_of_word_suffix='')": ValueError("end_of_word_suffix must hold a character"),
    "built(end_of_word_suffix='▸', continuing_subword_prefix='▸')": ValueError("must differ from the prefix"),
    "built(end_of_word_suffix='▸', byte_fallback=True)": ValueError(
        "end_of_word_suffix must be None with byte_fallback"
    ),
    "build_tokenizer(TEXTS, vocab_size=300, continuing_subword_prefix='##')": ValueError("must hold a character that"),
    "build_tokenizer(TEXTS, vocab_size=300, end_of_word_suffix='</w>')": ValueError("end_of_word_suffix must hold"),
    # what is done with it
    "find_round_trip_failures(small(), [])": [],
    "find_round_trip_failures(small(), ['', '\\x00', 'é', '<0x41>'])": [],
    "find_round_trip_failures(small(), 'text')": TypeError("texts must be several texts"),
    "find_round_trip_failures(small(), ['a'], against='text')": ValueError("against must be"),
    "find_round_trip_failures(small(), ['a'], against=None)": TypeError("against must be"),
    "find_round_trip_failures(small(), ['a  b'], against='original')": [("a  b", "a b")],
    "find_round_trip_failures(None, ['a'])": TypeError("tokenizer must be a tokenizers.Tokenizer, got NoneType"),
    "find_round_trip_failures(small(), ['a <|pad|>'])": [("a <|pad|>", "a<|pad|>")],
    "find_round_trip_failures(without('normalizer'), ['a  b '])": [],
    "len(find_round_trip_failures(without('decoder'), ['é', 'a']))": 1,
    "encode_corpus(['<|endoftext|>'], small()).tolist().count(0)": 1,
    "encode_corpus(['a'], small(), end_of_text_id=0)": ValueError(
        "end_of_text_id must be None: this tokenizer ends each text itself; got 0"
    ),
    "ids_of('')": [0],
    "wrap_tokenizer('tokenizer.json', model_max_length=8)": TypeError(
        "tokenizer must be a tokenizers.Tokenizer, got str"
    ),
    "wrap_tokenizer(small(), model_max_length=8, for_prompts='no')": TypeError("for_prompts must be"),
    "wrap_tokenizer(small(), model_max_length=1, for_prompts=True)('a b')['input_ids'][-1] == 0": False,
    "wrap_tokenizer(small(), model_max_length=nan)": TypeError("model_max_length must be"),
    "wrap_tokenizer(small(), model_max_length=1)": ValueError("model_max_length must be"),
    "wrap_tokenizer(small(), model_max_length=8.0)": TypeError("model_max_length must be"),
    "wrap_tokenizer(small(), model_max_length=8, pad_token='a')": ValueError("pad_token must be one of the special"),
    "wrap_tokenizer(small(), model_max_length=8, pad_token='[PAD]')": ValueError(
        "pad_token must be one of the special"
    ),
    "wrap_tokenizer(small(), model_max_length=8, end_of_text='</s>')": ValueError("end_of_text must be one of the"),
    "wrap_tokenizer(small(), model_max_length=8, pad_token=None)": ValueError("pad_token must be one of"),
    "wrap_tokenizer(small(), model_max_length=8, end_of_text='')": ValueError("end_of_text must be one of"),
    "wrap_tokenizer(small(), model_max_length=np.int8(8)).model_max_length": 8,
    "len(wrap_tokenizer(small(), model_max_length=2)('a b c', truncation=True)['input_ids'])": 2,
}
