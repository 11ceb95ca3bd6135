"""Packed rows as batches, against documents that are read alone."""

from types import SimpleNamespace

import pytest
import torch

from course_lib.document_boundaries import PackingCollator
from course_lib.document_packing import pack_documents
from course_lib.foundation import AttentionModel
from course_lib.next_token_shifting import next_token_loss
from course_lib.teaching import packed_batch, packed_loss, shuffled_batches, train
from course_lib.teaching.packed import ROWS_AT_ONCE

V = 11
DOCUMENTS = [[1, 2, 3, 4], [5], [6, 7], [8, 9, 10, 1, 2, 3, 4], [5, 6, 7]] * 16


@pytest.fixture
def collated():
    packs = pack_documents(DOCUMENTS, 8)
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
    for ids in DOCUMENTS:
        row = torch.tensor([ids])
        if len(ids) > 1:
            alone += next_token_loss(model(row[:, :-1]), row[:, 1:]).item() * (len(ids) - 1)
    assert scored == sum(map(len, DOCUMENTS)) - len(DOCUMENTS)
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
