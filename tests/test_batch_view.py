"""A batch as text: what is scored, what is padding, where something begins, and ids that are no tokens."""

import re

import numpy as np
import pytest
import torch

from balanced_page import Balanced
from course_lib.auditing_loaders import show_batch
from course_lib.bpe import BPETokenizer
from course_lib.foundation import CharTokenizer
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

TEXT = "the cat sat, the dog ran"
LETTERS = CharTokenizer("abcdefgh")  # a is 0, or what it says itself
A, B, C, D = LETTERS.encode("abcd").tolist()


def first_row(view) -> str:
    """The tokens of the first row, in one line."""
    return view.text().split("\n\n")[1].split("\n", 1)[1].replace("\n  ", "").strip()


def test_a_pair_has_a_place_more_whose_token_is_a_target_alone():
    view = show_batch((torch.tensor([[A, B, C]]), torch.tensor([[B, C, D]])), LETTERS)
    assert first_row(view) == "(a)|b|c|d"
    assert view.summary == "1 row of 3 tokens, inputs and targets: 3 tokens are scored"
    assert "label" not in " ".join(view.legend)


def test_labels_beside_inputs_are_scored_from_the_second_on():
    view = show_batch({"input_ids": [[A, B, C]], "labels": [[A, B, C]]}, LETTERS)
    assert first_row(view) == "(a)|b|c"
    assert view.summary.endswith("labels beside the inputs: 2 tokens are scored")
    assert first_row(show_batch({"input_ids": [[A, B, C]]}, LETTERS)) == "(a)|b|c"


def test_what_is_masked_is_in_parentheses_and_a_loss_mask_says_the_same():
    ids = [[A, B, C, D]]
    assert first_row(show_batch({"input_ids": ids, "labels": [[-100, -100, C, D]]}, LETTERS)) == "(a)|(b)|c|d"
    pair = {"inputs": [[A, B, C]], "targets": [[B, C, D]], "loss_mask": [[0, 1, 1]]}
    assert first_row(show_batch(pair, LETTERS)) == "(a)|(b)|c|d"
    pair = show_batch(([[A, B, C]], [[-1, C, D]]), LETTERS)  # as nanoGPT and nanochat write it
    assert first_row(pair) == "(a)|(b)|c|d"
    assert "ignore_index=-1" in " ".join(pair.notes)


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_label_that_is_another_token_stands_beside_it(ahead):
    ids = LETTERS.encode("abcdefgh")
    view = show_batch((ids[None, :4], ids[None, ahead : ahead + 4]), LETTERS)
    assert first_row(view).split("|")[1] == ("b→a" if ahead == 0 else "b→c")
    assert "4 tokens are scored, 3 of them with another token as the label" in view.summary
    assert any("→" in words for words in view.legend)


def test_padding_is_in_brackets_and_says_if_it_is_scored():
    ids, mask = [[A, B, D, D, D]], [[1, 1, 0, 0, 0]]
    hidden = show_batch({"input_ids": ids, "labels": [[A, B, -100, -100, -100]], "attention_mask": mask}, LETTERS)
    assert first_row(hidden) == "(a)|b|[d] ×3"
    scored = show_batch({"input_ids": ids, "labels": [[A, B, D, -100, -100]], "attention_mask": mask}, LETTERS)
    assert first_row(scored) == "(a)|b|[d]!|[d] ×2"
    assert "3 padding" in scored.rows[0][0]


def test_rows_of_different_lengths_end_where_they_end():
    view = show_batch({"input_ids": [[A, B, C], [D]]}, LETTERS)
    assert [len(tokens) for _, tokens in view.rows] == [3, 1]
    assert "1 of them" not in view.summary


@pytest.mark.parametrize(
    ("parts", "words", "text"),
    [
        ({"position_ids": [[0, 1, 0, 1]]}, "positions begin again at 2", "(a)|b‖c|d"),
        ({"position_ids": [[0, 1, 2, 3]]}, "positions count on", "(a)|b|c|d"),
        ({"segment_ids": [[1, 1, 1, 2]]}, "segment_ids: documents begin at 3", "(a)|b|c‖d"),
        ({"cu_seqlens": [0, 2, 4]}, "cu_seqlens: documents begin at 2", "(a)|b‖c|d"),
        ({"cu_seqlens": [0, 4]}, "cu_seqlens: one document", "(a)|b|c|d"),
        ({"attention_mask": [[1, 1, 2, 2]]}, "attention_mask: documents begin at 2", "(a)|b‖c|d"),
    ],
)
def test_a_double_bar_stands_where_something_begins_and_the_heading_says_what(parts, words, text):
    ids = [[A, B, C, D]]
    view = show_batch({"input_ids": ids, "labels": ids} | parts, LETTERS)
    assert first_row(view) == text
    assert words in view.rows[0][0]


def test_those_that_disagree_are_told_apart():
    ids = [[A, B, C, D]]
    view = show_batch({"input_ids": ids, "position_ids": [[0, 1, 0, 1]], "cu_seqlens": [0, 4]}, LETTERS)
    assert view.rows[0][0].endswith("positions begin again at 2; cu_seqlens: one document")
    assert view.notes


def test_a_long_batch_shows_its_beginning_and_says_so():
    ids = np.arange(8 * 1000).reshape(8, 1000) % 5
    view = show_batch({"input_ids": ids}, LETTERS, num_rows=2, num_tokens=10)
    assert [len(tokens) for _, tokens in view.rows] == [10, 10]
    assert "the first 10 tokens" in view.rows[0][0]
    assert view.summary.startswith("8 rows of 1,000 tokens")


def tokenizers() -> list:
    fast = build_tokenizer([TEXT] * 9, vocab_size=300)
    return [fast, wrap_tokenizer(fast, model_max_length=64), BPETokenizer.train(TEXT, 260)]


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=lambda each: type(each).__name__)
def test_any_tokenizer_spells_ids_and_knows_those_that_it_lacks(tokenizer):
    ids = tokenizer.encode(TEXT)
    ids = list(getattr(ids, "ids", ids))
    view = show_batch({"input_ids": [[*ids, 70_000, 2**40]]}, tokenizer)
    shown = "".join(each.text for each in view.rows[0][1])
    assert "cat" in shown.replace("(", "").replace(")", "")
    assert shown.endswith("<70000?><1099511627776?>")
    assert any("doesn't have" in words for words in view.legend)


def test_a_part_of_a_letter_is_in_hexadecimal():
    tokenizer = build_tokenizer([TEXT] * 9, vocab_size=300)
    ids = tokenizer.encode("漢").ids
    shown = first_row(show_batch({"input_ids": [ids]}, tokenizer))
    assert re.search(r"<A2>|<BC>|<E6", shown)


def test_html_says_the_same_and_none_of_it_is_markup():
    letters = CharTokenizer("<b>$")
    ids = letters.encode("<b>$$").tolist()
    view = show_batch({"input_ids": [ids], "position_ids": [[0, 1, 0, 1, 2]]}, letters)
    page = Balanced(view._repr_html_())
    words = "".join(page.words)
    assert "(<)b‖>$$" in words
    assert view.summary in words
    assert not any("$$" in word for word in page.words)


def test_colors_change_nothing_else():
    view = show_batch((torch.tensor([[A, B, C]]), torch.tensor([[B, C, D]])), LETTERS)
    assert "\033[" not in str(view)
    assert re.sub(r"\033\[[\d;]*m", "", view.text(colors=True)) == str(view)


@pytest.mark.parametrize("batch", [7, {}, [], {"labels": [[1]]}, ([[1, 2]], [[1]]), {"input_ids": [[1.5]]}])
def test_what_is_no_batch_is_refused(batch):
    with pytest.raises((TypeError, ValueError), match="batch "):
        show_batch(batch, LETTERS)


@pytest.mark.parametrize("tokenizer", [None, "gpt2", CharTokenizer, 5])
def test_what_is_no_tokenizer_is_refused(tokenizer):
    with pytest.raises(TypeError, match="tokenizer must have a method decode"):
        show_batch({"input_ids": [[1]]}, tokenizer)


@pytest.mark.parametrize("option", ["num_rows", "num_tokens"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_numbers_are_at_least_one(option, value):
    with pytest.raises((TypeError, ValueError), match=option):
        show_batch({"input_ids": [[1]]}, LETTERS, **{option: value})
