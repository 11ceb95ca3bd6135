"""Positions, masks and batches of packed rows, each against a naive twin."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from any_tokenizer import KINDS, TEXTS, each_kind, framed
from course_lib.document_boundaries import (
    ROWS_AT_ONCE,
    PackingCollator,
    cu_seqlens,
    document_mask,
    flex_document_mask,
    packed_batch,
    packed_loss,
    position_ids_from_starts,
    position_ids_from_tokens,
    shuffled_batches,
)
from course_lib.document_packing import pack_documents, pack_examples
from course_lib.foundation import AttentionModel, document_marks, load_documents
from course_lib.next_token_shifting import next_token_loss
from course_lib.teaching import train
from course_lib.tokenizer_pipeline import build_tokenizer, wrap_tokenizer

FACE = SimpleNamespace(pad_token_id=0, eos_token_id=1)

# Positions and masks

rows = st.lists(st.integers(1, 6), min_size=1, max_size=6)


def starts_of(lengths: list[int]) -> tuple[list[int], int]:
    ends = list(itertools.accumulate(lengths))
    return [0, *ends[:-1]], ends[-1]


@given(rows)
def test_positions_and_masks_are_those_of_loops(lengths):
    starts, length = starts_of(lengths)
    positions = [place for n in lengths for place in range(n)]
    segments = [number for number, n in enumerate(lengths) for _ in range(n)]
    got = position_ids_from_starts(starts, length)
    assert got.dtype == torch.int64
    assert got.tolist() == positions
    mask = document_mask(starts, length)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[k <= q and segments[k] == segments[q] for k in range(length)] for q in range(length)]
    may_see = flex_document_mask(starts, length)
    places = torch.arange(length)
    assert torch.equal(may_see(0, 0, places[:, None], places[None, :]), mask)
    ends = cu_seqlens(starts, length)
    assert ends.dtype == torch.int32
    assert ends.tolist() == [0, *itertools.accumulate(lengths)]


@given(rows)
def test_positions_from_tokens_agree_where_each_document_ends(lengths):
    starts, length = starts_of(lengths)
    ids = np.full(length, 7)
    ids[np.cumsum(lengths) - 1] = 1
    assert torch.equal(position_ids_from_tokens(ids, 1), position_ids_from_starts(starts, length))


def test_padding_is_a_segment_whose_start_the_caller_appends():
    mask = document_mask([0, 2, 3], 5)
    assert mask.any(dim=1).all()  # no row sees nothing: that would make softmax NaN
    assert not mask[3:, :3].any()


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_agrees_with_the_dense_mask():
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    starts, length = [0, 40, 41, 100], 128
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, length, 16, generator=generator)
    block_mask = flex.create_block_mask(
        flex_document_mask(starts, length), None, None, length, length, device="cpu", BLOCK_SIZE=32
    )
    assert block_mask.sparsity() > 40  # causal alone: 37.5; whole blocks between documents are left out
    got = flex.flex_attention(query, key, value, block_mask=block_mask)
    dense = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=document_mask(starts, length))
    torch.testing.assert_close(got, dense)


# Batches


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=8), min_size=1, max_size=6))
def test_a_batch_is_that_of_the_library_on_the_same_documents(documents):
    from transformers import DataCollatorWithFlattening  # takes seconds, in each process that collects tests

    (pack,) = pack_documents(documents, 100, strategy="greedy")
    theirs = DataCollatorWithFlattening()([{"input_ids": ids} for ids in documents])
    ours = PackingCollator(FACE)([pack])
    assert set(ours) == set(theirs) == {"input_ids", "labels", "position_ids"}
    for name in ours:
        assert torch.equal(ours[name], theirs[name]), name
    labels = [[-100, *ids[1:]] for ids in documents]
    row = {**vars(pack), "labels": list(itertools.chain(*labels))}
    theirs = DataCollatorWithFlattening()(
        [{"input_ids": i, "labels": x} for i, x in zip(documents, labels, strict=True)]
    )
    assert torch.equal(PackingCollator(FACE)([row])["labels"], theirs["labels"])


def test_an_empty_document_gives_the_library_a_label_too_many_up_to_5_23():
    import transformers  # takes seconds, in each process that collects tests

    theirs = transformers.DataCollatorWithFlattening()([{"input_ids": [5]}, {"input_ids": []}])
    spare = Version(transformers.__version__) < Version("5.24")
    assert (theirs["input_ids"].shape, theirs["labels"].shape) == ((1, 1), (1, 1 + spare))
    ours = PackingCollator(FACE)(pack_documents([[5], []], 4))
    assert ours["labels"].tolist() == [[-100]]


def test_a_shorter_row_is_filled_with_a_segment_of_its_own():
    packs = pack_documents([[5, 6, 7, 8], [2, 3]], 4)
    batch = PackingCollator(FACE)(packs)
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8], [2, 3, 0, 0]]
    assert batch["labels"].tolist() == [[-100, 6, 7, 8], [-100, 3, -100, -100]]
    assert batch["position_ids"].tolist() == [[0, 1, 2, 3], [0, 1, 0, 1]]


def test_each_row_has_its_own_starts():
    rows = [{"input_ids": [4, 5, 6], "document_starts": [0]}, {"input_ids": [4, 5, 6], "document_starts": [0, 1]}]
    assert PackingCollator(FACE)(rows)["position_ids"].tolist() == [[0, 1, 2], [0, 0, 1]]
    for mixed in ([rows[0], {"input_ids": [1]}], [{"input_ids": [1]}, rows[1]]):
        for packed in (None, True):
            with pytest.raises(ValueError, match="document_starts must be in all rows or in none"):
                PackingCollator(FACE, packed)(mixed)
        assert PackingCollator(FACE, False)(mixed)["position_ids"].shape == (2, 3)


def test_true_falls_back_to_tokens_and_false_ignores_starts():
    row = {"input_ids": [4, 1, 5, 6]}
    assert PackingCollator(FACE, True)([row])["position_ids"].tolist() == [[0, 1, 0, 1]]
    collate = PackingCollator(FACE)
    with pytest.warns(UserWarning, match="a row has no document_starts") as heard:
        assert collate([row])["position_ids"].tolist() == [[0, 1, 2, 3]]
    assert heard[0].filename == __file__  # where it was called
    assert collate([row])["position_ids"].tolist() == [[0, 1, 2, 3]]  # and says so once
    packed = {**row, "document_starts": [0, 3]}
    assert PackingCollator(FACE, True)([packed])["position_ids"].tolist() == [[0, 1, 2, 0]]
    assert PackingCollator(FACE, False)([packed])["position_ids"].tolist() == [[0, 1, 2, 3]]


@given(st.lists(st.lists(st.lists(st.integers(2, 9), min_size=1, max_size=5), min_size=1, max_size=4), min_size=1))
def test_one_flat_row_is_that_of_the_library_with_what_flash_attention_is_told(packed):
    from transformers import DataCollatorWithFlattening  # takes seconds, in each process that collects tests

    theirs = DataCollatorWithFlattening(return_flash_attn_kwargs=True)
    wanted = theirs([{"input_ids": ids} for documents in packed for ids in documents])
    rows = [pack_documents(documents, 100, strategy="greedy")[0] for documents in packed]
    ours = PackingCollator(SimpleNamespace(), flatten=True, cu_seq_lens=True)(rows)
    assert set(ours) == set(wanted)
    for name, value in ours.items():
        assert np.array_equal(value, wanted[name]), name
        assert getattr(value, "dtype", None) == getattr(wanted[name], "dtype", None)
    # Rows that are not flattened are told alike, as if they were: rows and padding begin segments of their own.
    batch = PackingCollator(FACE, cu_seq_lens=True)(rows)
    begins = np.flatnonzero(batch["position_ids"].numpy().ravel() == 0).tolist()
    assert batch["cu_seq_lens_q"].tolist() == batch["cu_seq_lens_k"].tolist() == [*begins, batch["labels"].numel()]
    assert batch["max_length_q"] == batch["max_length_k"] == int(batch["position_ids"].max()) + 1


@each_kind
def test_documents_are_found_again_by_what_their_tokenizer_puts_around_them(kind):
    tokenizer = kind.make()
    packed = pack_examples({"text": TEXTS}, tokenizer, max_length=60, end_of_text_id=kind.end_of_text_id)
    wanted = [framed(kind, tokenizer, text) for text in TEXTS]
    assert sorted(itertools.chain(*packed["input_ids"])) == sorted(itertools.chain(*wanted))
    marks = {"bos_token_id": (kind.begin or [None])[0], "eos_token_id": (kind.end or [None])[-1]}
    for ids, starts in zip(packed["input_ids"], packed["document_starts"], strict=True):
        assert np.flatnonzero(position_ids_from_tokens(ids, **marks) == 0).tolist() == starts
    face = getattr(tokenizer, "pad_token_id", None)
    if face is None or marks["eos_token_id"] != document_marks(tokenizer)[1]:
        return
    unmarked = [{"input_ids": ids} for ids in packed["input_ids"]]
    written = [
        row | {"document_starts": starts} for row, starts in zip(unmarked, packed["document_starts"], strict=True)
    ]
    theirs, ours = (PackingCollator(tokenizer, how)(rows) for how, rows in ((True, unmarked), (None, written)))
    assert torch.equal(theirs["labels"], ours["labels"])
    assert torch.equal(theirs["position_ids"][:, : len(ids)], ours["position_ids"][:, : len(ids)])


def test_behind_a_beginning_the_first_token_of_a_text_is_scored():
    kind = KINDS["Llama, wrapped"]
    packed = pack_examples({"text": ["low", "low"]}, kind.make(), max_length=20)
    (row,) = packed["input_ids"]
    (labels,) = PackingCollator(kind.make(), True)([{"input_ids": row}])["labels"].tolist()
    assert labels == [-100 if token in kind.begin else token for token in row]
    assert labels.count(-100) == 2


def test_ids_of_a_small_type_do_not_overflow():
    rows = [{"input_ids": np.array([250, 255], dtype=np.uint8)}]
    assert PackingCollator(SimpleNamespace(pad_token_id=50_000), False)(rows)["labels"].tolist() == [[-100, 255]]


def test_a_fixed_length_is_filled_and_the_padding_is_a_document():
    packs = pack_documents([[4, 5, 6], [7, 8]], 5)
    batch = PackingCollator(FACE, max_length=8)(packs)
    free = PackingCollator(FACE)(packs)
    for name, values in batch.items():
        assert torch.equal(values[:, :5], free[name])
    assert batch["position_ids"][:, 5:].tolist() == [[0, 1, 2]]
    assert batch["labels"][:, 5:].tolist() == [[-100] * 3]
    assert (batch["input_ids"][:, 5:] == FACE.pad_token_id).all()
    with pytest.raises(ValueError, match="no longer than max_length 4, got 5"):
        PackingCollator(FACE, max_length=4)(packs)


def test_a_loader_takes_packs_and_the_collator():
    packs = pack_documents([[4, 5, 6], [7, 8], [9], [4, 4, 4, 4]], 5)
    loader = torch.utils.data.DataLoader(packs, batch_size=2, collate_fn=PackingCollator(FACE), num_workers=1)
    batches = list(loader)
    whole = PackingCollator(FACE)(packs)
    assert [len(batch["labels"]) for batch in batches] == [2] * (len(packs) // 2)
    for name, values in whole.items():
        assert torch.equal(torch.cat([batch[name] for batch in batches]), values)


def test_names_of_other_programs_are_answered_with_ours():
    for name in ("feature", "packed", "packing_strategy", "add_eos", "add_bos"):
        with pytest.raises(TypeError, match=f"pack_examples has no argument '{name}': "):
            pack_examples({"text": ["a"]}, FACE, max_length=4, **{name: True})
    for name in ("padding", "return_tensors"):
        with pytest.raises(TypeError, match=f"PackingCollator has no argument '{name}': "):
            PackingCollator(FACE, **{name: True})
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_len'"):
        PackingCollator(FACE, max_len=4)


# Through a trainer


def test_a_trainer_takes_packs_and_the_collator(tmp_path):
    pytest.importorskip("accelerate")
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

    texts = [document.text for document in load_documents()][:60]
    tokenizer = build_tokenizer(texts, vocab_size=400, progress=False)
    wrapped = wrap_tokenizer(tokenizer, model_max_length=256)
    packed = datasets.Dataset.from_dict(pack_examples({"text": texts[:20]}, wrapped, max_length=256))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(wrapped), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    arguments = TrainingArguments(
        str(tmp_path),
        max_steps=3,
        per_device_train_batch_size=2,
        learning_rate=1e-2,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
        logging_strategy="no",
        remove_unused_columns=False,  # or document_starts would be gone before the collator
    )
    seen = []

    def collate(rows):
        seen.append(PackingCollator(wrapped)(rows))
        return seen[-1]

    trainer = Trainer(LlamaForCausalLM(config), arguments, train_dataset=packed, data_collator=collate)
    result = trainer.train()
    assert result.global_step == 3
    assert np.isfinite(result.training_loss)
    assert any((batch["position_ids"] == 0).sum() > len(batch["input_ids"]) for batch in seen)


def test_a_batch_does_not_touch_the_global_seed():
    before = torch.get_rng_state()
    PackingCollator(FACE)(pack_documents([[1, 2, 3], [4, 5]], 8))
    assert torch.equal(before, torch.get_rng_state())


# Packed rows as batches for small models, against documents that are read alone

V = 11
OF_A_MODEL = [[1, 2, 3, 4], [5], [6, 7], [8, 9, 10, 1, 2, 3, 4], [5, 6, 7]] * 16


@pytest.fixture
def collated():
    packs = pack_documents(OF_A_MODEL, 8)
    assert len(packs) > ROWS_AT_ONCE  # the last one is padded
    return PackingCollator(SimpleNamespace(pad_token_id=0))(packs)


def model_of(positions: str) -> AttentionModel:
    torch.manual_seed(0)
    return AttentionModel(V, 8, positions=positions, max_length=8)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_the_loss_of_masked_packs_is_that_of_each_document_alone(collated, positions):
    model = model_of(positions).train()
    nats, scored = packed_loss(model, packed_batch(collated))
    assert model.training
    alone = 0.0
    for ids in OF_A_MODEL:
        row = torch.tensor([ids])
        if len(ids) > 1:
            alone += next_token_loss(model(row[:, :-1]), row[:, 1:]).item() * (len(ids) - 1)
    assert scored == sum(map(len, OF_A_MODEL)) - len(OF_A_MODEL)
    assert nats == pytest.approx(alone, rel=1e-5)


def test_what_is_scored_does_not_depend_on_what_is_seen(collated):
    model, losses = model_of("learned"), set()
    for masked in (True, False):
        for reset in (True, False):
            inputs, targets = packed_batch(collated, masked=masked, reset=reset)
            assert ("mask" in inputs, "position_ids" in inputs) == (masked, reset)
            assert torch.equal(targets, collated["labels"][:, 1:])
            losses.add(round(packed_loss(model, (inputs, targets))[0], 4))
    assert len(losses) == 4


def test_a_batch_with_nothing_to_score_adds_nothing(collated):
    inputs, targets = packed_batch(collated)
    assert packed_loss(model_of("learned"), (inputs, torch.full_like(targets, -100))) == (0.0, 0)


def test_each_epoch_holds_each_row_once_in_an_order_of_its_own(collated):
    batch = ({"inputs": torch.arange(50)[:, None]}, torch.arange(50))
    batches = shuffled_batches(batch, 20, torch.Generator().manual_seed(0))
    epochs = []
    for _ in range(2):
        rows = [next(batches) for _ in range(3)]
        assert [len(targets) for _, targets in rows] == [20, 20, 10]
        assert all(torch.equal(inputs["inputs"][:, 0], targets) for inputs, targets in rows)
        epochs.append(torch.cat([targets for _, targets in rows]).tolist())
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(50))
    assert list(range(50)) != epochs[0] != epochs[1]


def test_training_on_packs_lowers_their_loss(collated):
    batch, model = packed_batch(collated), model_of("rotary")
    before = packed_loss(model, batch)[0]
    train(model, shuffled_batches(batch, 8, torch.Generator().manual_seed(0)), num_updates=30, progress=False)
    assert packed_loss(model, batch)[0] < before / 2
