"""Texts come from any container, one after another or in batches."""

from __future__ import annotations

from any_tokenizer import refuses
from course_lib.foundation import (
    check_special_tokens,
    column_of_batch,
    iterate_texts,
    training_batches,
)

# iterate_texts, column_of_batch, training_batches, check_special_tokens


def test_texts_come_from_any_container_one_after_another():
    assert list(iterate_texts(["a", ("b", "c"), {"text": ["d"]}])) == ["a", "b", "c", "d"]
    for texts, error, message in (
        ("ab", TypeError, "texts must be several texts, got str: use [text]"),
        (None, TypeError, "texts must be several texts, got NoneType"),
        ({"text": ["a"]}, TypeError, "got a dict with the columns ['text']: use [texts]"),
        ([["a", 5]], TypeError, "texts[1] must be a str, got int"),
        (["a\ud800"], ValueError, "texts[0] must be Unicode, but character 1 is half of one"),
        ([{"body": ["a"]}], ValueError, "text_column must be one of ['body'], got 'text'"),
    ):
        refuses(error, message, iterate_texts, texts)


def test_what_feeds_a_trainer_is_batches_columns_and_names():
    batches = list(training_batches(["a"] * 1001, progress=False))
    assert [len(batch) for batch in batches] == [1000, 1]
    for blank in ([], [" ", "\u3000"]):
        refuses(ValueError, "texts must hold more than whitespace", training_batches, blank, progress=False)
    assert column_of_batch({"text": ["a", "b"]}, "text") == ["a", "b"]
    refuses(ValueError, "features must have a column 'body', got ['text']", column_of_batch, {"text": ["a"]}, "body")
    refuses(TypeError, "use map with batched=True", column_of_batch, {"text": "ab"}, "text")
    assert check_special_tokens(("<a>", "<b>")) == ["<a>", "<b>"]
    for names, error, message in (
        ("<a>", TypeError, "special_tokens must be a list of names"),
        ({"<a>"}, TypeError, "special_tokens must be a list of names"),
        (["<a>", ""], ValueError, "special_tokens must not be empty"),
        (["<a>", "<b>", "<a>"], ValueError, "'<a>' occurs 2 times"),
    ):
        refuses(error, message, check_special_tokens, names)
