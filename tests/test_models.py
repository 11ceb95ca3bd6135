"""The small models, and the bound that no model of one token's context can beat."""

import io
import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import (
    AttentionModel,
    BigramModel,
    ConvolutionModel,
    GRUModel,
    adam_with_linear_decay,
    conditional_entropy,
    count_pairs,
    one_thread,
)
from course_lib.next_token_shifting import find_leak, next_token_loss

V = 11


def random_ids(*shape: int) -> torch.Tensor:
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(0))


MODELS = {
    "bigram": lambda: BigramModel(V),
    "convolution": lambda: ConvolutionModel(V, hidden_size=8),
    "convolution of one": lambda: ConvolutionModel(V, hidden_size=8, kernel_size=1),
    "convolution of five": lambda: ConvolutionModel(V, hidden_size=8, kernel_size=5),
    "gru": lambda: GRUModel(V, hidden_size=8),
    "attention, learned": lambda: AttentionModel(V, hidden_size=8),
    "attention, rotary": lambda: AttentionModel(V, hidden_size=8, num_heads=2, num_layers=2, positions="rotary"),
}


@pytest.fixture(params=MODELS)
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]().eval()


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (2, 7)])
def test_ids_go_in_and_logits_over_the_vocabulary_come_out(model, shape):
    logits = model(random_ids(*shape))
    assert logits.shape == (*shape, V)
    assert logits.dtype == torch.float32


def test_causal_models_do_not_see_the_future(model):
    assert find_leak(model, random_ids(3, 9), V) is None


def test_a_convolution_sees_as_many_tokens_as_its_kernel_is_wide():
    torch.manual_seed(0)
    for causal, seen in ((True, [4, 5, 6, 7, 8]), (False, [2, 3, 4, 5, 6])):
        model = ConvolutionModel(V, kernel_size=5, causal=causal)
        ids = random_ids(1, 12)
        changed = ids.clone()
        changed[0, 4] = (changed[0, 4] + 1) % V
        moved = (model(ids) - model(changed)).abs().amax(dim=2)[0] > 0
        assert moved.nonzero().flatten().tolist() == seen


@pytest.mark.parametrize("half", [1, 5, 9])
def test_reading_on_is_reading_in_one_go(half):
    torch.manual_seed(0)
    model = GRUModel(V).eval()
    ids = random_ids(3, 10)
    first, state = model.read_on(ids[:, :half], None)
    second, state = model.read_on(ids[:, half:], state)
    assert state.shape == (1, 3, 64)
    assert torch.allclose(torch.cat([first, second], dim=1), model(ids), atol=1e-6)
    # ... and the state matters: from an empty one the second half reads differently
    assert not torch.allclose(second, model(ids[:, half:]), atol=1e-3)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 6))
@settings(deadline=None)
def test_pairs_are_counted_one_by_one(ids, distance):
    if len(ids) <= distance:
        with pytest.raises(ValueError, match=f"^ids must hold more than {distance} tokens.*got {len(ids)}$"):
            count_pairs(ids, 5, distance)
        return
    naive = Counter((ids[p], ids[p + distance]) for p in range(len(ids) - distance))
    counts = count_pairs(ids, 5, distance)
    assert counts.shape == (5, 5)
    assert counts.dtype == np.int64
    assert {(i, j): counts[i, j] for i, j in np.argwhere(counts)} == naive


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2", np.uint32, np.int32, np.int64, np.uint64])
def test_pairs_are_counted_in_every_dtype(dtype):
    ids = np.array([255, 254, 255, 0, 255, 254]).astype(dtype)
    counts = count_pairs(ids, 256)
    assert (counts[255, 254], counts[254, 255], counts[255, 0], counts[0, 255]) == (2, 1, 1, 1)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40))
@settings(deadline=None)
def test_conditional_entropy_is_the_mean_surprise_of_the_second_of_each_pair(ids):
    pairs = list(itertools.pairwise(ids))
    seen, firsts = Counter(pairs), Counter(first for first, _ in pairs)
    nats = [-math.log(seen[pair] / firsts[pair[0]]) for pair in pairs]
    assert conditional_entropy(count_pairs(ids, 4)) == pytest.approx(sum(nats) / len(nats), abs=1e-12)


def test_one_thread_is_one_and_the_others_come_back_after_an_error_too():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(ArithmeticError), one_thread():  # noqa: PT012 - the mode inside is what is looked at
            assert torch.get_num_threads() == 1
            raise ArithmeticError
        assert torch.get_num_threads() == 3
        assert one_thread()(torch.get_num_threads)() == 1
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def train_on(model, optimizer, schedule, batches) -> list[float]:
    losses = []
    for ids in batches:
        loss = next_token_loss(model(ids[:, :-1]), ids[:, 1:])
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return losses


@pytest.mark.parametrize("stop", [1, 5, 8, 11])
def test_a_saved_training_goes_on_to_exactly_the_same_losses(stop):
    batches = random_ids(15, 4, 7)
    torch.manual_seed(0)
    model = GRUModel(V, hidden_size=8)
    parts = (model, *adam_with_linear_decay(model, 0.1, num_updates=8))
    losses = train_on(*parts, batches[:stop])
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    losses += train_on(*parts, batches[stop:])
    other = GRUModel(V, hidden_size=8)
    resumed = (other, *adam_with_linear_decay(other, 0.7, num_updates=8))
    for part, state in zip(resumed, torch.load(io.BytesIO(file.getvalue())), strict=True):
        part.load_state_dict(state)
    assert train_on(*resumed, batches[stop:]) == losses[stop:]
    assert resumed[2].get_last_lr() == [pytest.approx(0.1 / 8)]  # behind its last step the rate stays


def attention(positions: str, num_layers: int = 2) -> AttentionModel:
    torch.manual_seed(0)
    return AttentionModel(V, 16, num_heads=2, num_layers=num_layers, positions=positions, max_length=64).eval()


# Three documents of 4, 1 and 5 tokens in one row.
PACKED_POSITIONS = torch.tensor([0, 1, 2, 3, 0, 0, 1, 2, 3, 4])
DOCUMENT = torch.tensor([0, 0, 0, 0, 1, 2, 2, 2, 2, 2])
PACKED_MASK = (DOCUMENT[:, None] == DOCUMENT[None, :]).tril()


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_masked_row_of_documents_is_read_as_each_document_alone(positions):
    model, ids = attention(positions), random_ids(3, 10)
    packed = model(ids, PACKED_POSITIONS, PACKED_MASK)
    alone = [model(ids[:, document == DOCUMENT]) for document in range(3)]
    assert torch.allclose(packed, torch.cat(alone, dim=1), atol=1e-5)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_without_a_mask_documents_see_one_another_wherever_positions_begin(positions):
    model, ids = attention(positions), random_ids(1, 10)
    changed = ids.clone()
    changed[0, 0] = (changed[0, 0] + 1) % V
    for position_ids in (None, PACKED_POSITIONS):
        moved = (model(ids, position_ids) - model(changed, position_ids)).abs().amax(dim=2)[0] > 0
        assert moved.all()
    moved = (model(ids, None, PACKED_MASK) - model(changed, None, PACKED_MASK)).abs().amax(dim=2)[0] > 0
    assert moved.tolist() == [True] * 4 + [False] * 6


def test_only_distances_count_where_positions_are_rotary():
    ids = random_ids(2, 10)
    for positions, same in (("rotary", True), ("learned", False)):
        model = attention(positions)
        assert torch.allclose(model(ids), model(ids, torch.arange(7, 17)), atol=1e-4) == same


def test_rows_may_have_positions_and_masks_of_their_own():
    model, ids = attention("rotary"), random_ids(2, 10)
    positions = torch.stack([torch.arange(10), PACKED_POSITIONS])
    masks = torch.stack([torch.ones(10, 10, dtype=torch.bool).tril(), PACKED_MASK])
    both = model(ids, positions, masks)
    assert torch.allclose(both[0], model(ids[:1])[0], atol=1e-5)
    assert torch.allclose(both[1], model(ids[1:], PACKED_POSITIONS, PACKED_MASK)[0], atol=1e-5)


def test_attention_is_a_softmax_over_what_may_be_seen():
    torch.manual_seed(0)
    model = AttentionModel(V, 8, max_length=16).eval()
    ids, (layer,) = random_ids(1, 5), model.layers
    hidden = model.embedding(ids) + model.places(torch.arange(5))
    queries, keys, values = layer.qkv(layer.norms[0](hidden))[0].split(8, dim=-1)
    for row in range(5):
        weights = (keys[: row + 1] @ queries[row] / math.sqrt(8)).softmax(dim=0)
        hidden[0, row] = hidden[0, row] + layer.attend(weights @ values[: row + 1])
    hidden = hidden + layer.mlp(layer.norms[1](hidden))
    assert torch.allclose(model.output(model.norm(hidden)), model(ids), atol=1e-5)
