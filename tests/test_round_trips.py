"""What a tokenizer loses of the first texts is said, with an example, and nothing is said of one that loses nothing."""

import re

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from any_tokenizer import KINDS
from course_lib.bpe import train_byte_level_bpe
from course_lib.foundation import CharTokenizer
from course_lib.foundation.round_trips import unknown_id
from course_lib.foundation.tokenizing import changes_to_first_texts, look_at_first_texts

TEXT = "The tide:\n    ebbs  and floods\n"


def byte_level(normalizer: normalizers.Normalizer | None = None) -> Tokenizer:
    tokenizer = train_byte_level_bpe([TEXT, TEXT.lower()], vocab_size=260, progress=False)
    tokenizer.normalizer = normalizer
    return tokenizer


def words(*names: str) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"?": 0, **{name: i for i, name in enumerate(names, 1)}}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


# check_first_texts, as look_at_first_texts


def test_characters_that_vanish_are_told_once_and_what_is_replaced_or_whole_is_not():
    dropping = Tokenizer(models.BPE({"a": 0, "b": 1, "E": 2}, []))
    assert dropping.encode("azb").ids == [0, 1]
    with pytest.warns(UserWarning, match=r"loses characters of the first texts: 'y' 'z': their ids are those of the"):
        look_at_first_texts(["a b", "azb", "by\n"], dropping)
    no_decoder = KINDS["lesson 7"].make()
    no_decoder.decoder = decoders.Fuse()
    whole = Tokenizer(models.WordLevel({"abz": 0}, unk_token="?"))
    for texts, tokenizer in (
        (["a z"], words("a")),
        (["some word"], words("a")),  # one unknown token for each word, whatever it lacks
        (["é b\n c"], no_decoder),
        (["abz"], whole),  # parts of it are an error
        ([f"{'a' * 20_000}z"], dropping),  # so far nobody looks
    ):
        look_at_first_texts(texts, tokenizer)  # a warning would be an error


# describe_changes, as changes_to_first_texts


@pytest.mark.parametrize("has_decoder", [True, False])
@pytest.mark.parametrize(
    ("normalizer", "wanted"),
    [
        (normalizers.Replace("\n", " "), r"takes .*\\n    ebbs"),
        (normalizers.Replace(Regex("(?m)^ +"), ""), r"takes .*\\n    ebbs.* for .*\\nebbs"),
        (normalizers.Replace(Regex(" +"), " "), r"takes .*\\n    ebbs.* for .*\\n ebbs"),
        (normalizers.Lowercase(), "takes 'The tide.* for 'the tide"),
    ],
    ids=["line breaks", "indents", "runs of blanks", "case"],
)
def test_what_a_normalizer_takes_away_is_told_with_an_example(normalizer, wanted, has_decoder):
    tokenizer = byte_level(normalizer)
    if not has_decoder:
        tokenizer.decoder = decoders.Fuse()
    said = changes_to_first_texts([TEXT, "tide", TEXT], tokenizer)
    assert said.startswith(
        "the tokenizer does not give 2 of the first 3 texts back as they are; for example, it takes "
    )
    if has_decoder:
        assert re.search(wanted, said), said


def test_unknown_words_and_split_signs_do_not_come_back():
    assert "1 of the first 2 texts" in (said := changes_to_first_texts(["a b", "a zebra b"], words("a", "b")))
    assert "takes 'a zebra b' for 'a ? b'" in said
    assert "takes 'a,b' for 'a , b'" in changes_to_first_texts(["a,b"], words("a", "b", ","))


class Small:
    """A tokenizer of somebody's own."""

    end_of_text_id = 0

    def encode(self, text: str) -> list[int]:
        return [*text.lower().encode()]

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode()


def test_a_tokenizer_of_somebody_is_asked_too_and_the_library_is_not_needed():
    assert "takes 'Tide' for 'tide'" in changes_to_first_texts(["Tide", "tide"], Small())
    assert changes_to_first_texts(["tide"], Small()) == ""


def test_nothing_is_said_where_a_text_comes_back_or_nobody_can_tell():
    no_decoder = byte_level()
    no_decoder.decoder = decoders.Fuse()
    dropping = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    dropping.decoder = decoders.Fuse()
    replaced = CharTokenizer("aaabbc", max_characters=2)  # asked for, and in sight
    for texts, tokenizer in (
        ([TEXT], byte_level()),
        ([TEXT], no_decoder),
        (["e\u0301  "], byte_level(normalizers.Sequence([normalizers.NFC(), normalizers.Strip()]))),
        (["abc"], replaced),
        (["azb"], dropping),  # of which look_at_first_texts tells
        ([f"{'a' * 20_000}A"], byte_level(normalizers.Lowercase())),  # so far nobody looks
        ([], byte_level()),
    ):
        assert changes_to_first_texts(texts, tokenizer) == ""


# unknown_id


def test_the_unknown_id_is_that_of_the_model():
    unigram = Tokenizer(models.Unigram([("a", -1.0), ("?", -9.0)], unk_id=1))
    assert [unknown_id(each) for each in (unigram, words("a"), byte_level(), Small())] == [1, 0, None, None]
    assert np.isin(unknown_id(unigram), unigram.encode("z").ids)
