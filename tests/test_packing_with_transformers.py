"""When models of `transformers` keep packed documents apart, and packs through its trainer."""

from contextlib import nullcontext

import datasets
import numpy as np
import pytest
import torch
import transformers  # what it holds is imported when it is used
from packaging.version import Version

from course_lib.document_boundaries import PackingCollator, document_mask, position_ids_from_starts
from course_lib.document_packing import pack_documents
from course_lib.foundation import one_thread

V, L, SECOND = 16, 12, 5


class Ends:
    """All that the collator asks of a tokenizer."""

    pad_token_id, eos_token_id = 0, 1


def llama(seed: int = 0, **settings) -> transformers.LlamaForCausalLM:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=V, initializer_range=0.1, **sizes, **settings)
    )


POSITIONS = position_ids_from_starts([0, SECOND], L).expand(2, L)
ALLOWED = document_mask([0, SECOND], L).expand(2, 1, L, L)
NUMBERS = torch.zeros(ALLOWED.shape).masked_fill(~ALLOWED, -torch.inf)
ONES = torch.ones(2, L, dtype=torch.int64)


def influence(model: transformers.LlamaForCausalLM, changed: slice, on: slice, **how) -> float:
    ids = torch.randint(V, (2, L), generator=torch.Generator().manual_seed(0))
    others = ids.clone()
    others[:, changed] = (others[:, changed] + 1) % V
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


def test_a_convolution_lets_documents_run_together_whatever_attention_is_told():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 2}
    layers = {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]}
    config = transformers.Lfm2Config(vocab_size=V, initializer_range=0.1, **sizes, **layers)
    model = transformers.Lfm2ForCausalLM(config).eval()
    assert leaks(model, position_ids=POSITIONS, use_cache=False)
    assert leaks(model, attention_mask=NUMBERS)


def test_what_flash_attention_is_told_is_what_the_library_infers_from_a_flat_row():
    flash = pytest.importorskip("transformers.modeling_flash_attention_utils")
    batch = PackingCollator(Ends(), flatten=True, cu_seq_lens=True)(list(rows()))
    (ends, _), (longest, _) = flash.prepare_fa_kwargs_from_position_ids(batch["position_ids"])
    assert torch.equal(batch["cu_seq_lens_q"], ends)
    assert batch["max_length_q"] == longest
    assert len(ends) == len(documents()) + 1


def documents() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.append(rng.integers(2, V, size), 1) for size in (3, 9, 2, 7, 1, 5, 4, 8)]


def rows() -> datasets.Dataset:
    packs = pack_documents(documents(), L)
    columns = {"input_ids": [pack.input_ids.tolist() for pack in packs]}
    columns["document_starts"] = [pack.document_starts.tolist() for pack in packs]
    return datasets.Dataset.from_dict(columns)


def trainer(model: transformers.LlamaForCausalLM, folder, **settings) -> transformers.Trainer:
    plain = {"report_to": "none", "save_strategy": "no", "disable_tqdm": True, "use_cpu": True, "logging_steps": 1}
    settings = {"max_steps": 3, "learning_rate": 1e-2, "remove_unused_columns": False} | settings
    result = transformers.Trainer(
        model, transformers.TrainingArguments(str(folder), **plain, **settings), PackingCollator(Ends()), rows()
    )
    result.remove_callback(transformers.PrinterCallback)
    return result


@one_thread()
def losses_of(this: transformers.Trainer) -> list[float]:
    this.train()
    return [entry["loss"] for entry in this.state.log_history if "loss" in entry]


def test_the_trainer_reads_packed_documents_as_each_alone(tmp_path):
    model, nats, scored = llama(), 0.0, 0
    for ids in documents():
        row = torch.from_numpy(ids)[None]
        nats += model(row, labels=row).loss.item() * (len(ids) - 1)
        scored += len(ids) - 1
    losses = losses_of(trainer(model, tmp_path, per_device_train_batch_size=len(rows())))
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
    tokens = sum(map(len, documents()))
    assert found == {True: tokens - len(rows()), False: tokens - len(documents())}


def test_accumulated_gradients_are_those_of_one_large_batch(tmp_path):
    assert len(rows()) == 4
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
    batch = PackingCollator(Ends())([row])
    assert batch["labels"].tolist() == [labels]
    model = llama()
    nats = sum(
        model(torch.tensor([part]), labels=torch.tensor([scored])).loss.item() * count
        for part, scored, count in ((ids[:4], labels[:4], 2), (ids[4:], labels[4:], 1))
    )
    assert model(**batch, use_cache=False).loss.item() == pytest.approx(nats / 3, rel=1e-5)
