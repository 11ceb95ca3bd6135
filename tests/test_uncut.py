"""A tokenizer that gives the whole text, and the same ids each time."""

from tokenizers import Tokenizer, models, pre_tokenizers

from course_lib.foundation import uncut


def test_a_copy_neither_truncates_nor_pads_nor_draws_and_the_original_stays():
    merges = [("a", "b"), ("ab", "ab")]
    vocabulary = {"a": 0, "b": 1, "ab": 2, "abab": 3}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, dropout=0.5))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=9)
    copy = uncut(tokenizer)
    assert [copy.encode("abab " * 20).ids for _ in range(3)] == [[3] * 20] * 3
    assert (copy.truncation, copy.padding) == (None, None)
    assert tokenizer.model.dropout == 0.5
    assert len(tokenizer.encode("abab " * 20).ids) == 9
