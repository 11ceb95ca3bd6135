"""The small models, and the bound that no model of one token's context can beat."""

import io
import math
import re

import pytest
import torch

from course_lib.foundation import (
    AttentionModel,
    BigramModel,
    ConvolutionModel,
    GRUModel,
    adam_with_linear_decay,
    check_model,
    evaluation_mode,
    one_thread,
)
from course_lib.foundation.models import check_batch
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


# one_thread, evaluation_mode


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


@pytest.mark.parametrize("training", [True, False])
def test_the_mode_of_each_part_comes_back_after_an_error_too(training):
    model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Dropout()).train(training)
    model[0].eval()  # its owner has set one part apart
    with pytest.raises(ArithmeticError), evaluation_mode(model):  # noqa: PT012 - the mode inside is what is looked at
        assert [part.training for part in model.modules()] == [False] * 3
        raise ArithmeticError
    assert [part.training for part in model.modules()] == [training, False, training]


@pytest.mark.parametrize("model", [GRUModel, None, lambda inputs: inputs])
def test_a_class_or_a_function_is_no_model(model):
    for check in (check_model, lambda model: evaluation_mode(model).__enter__()):
        with pytest.raises(TypeError, match=r"^model must be .*got"):
            check(model)


# check_batch


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (torch.tensor([[0, V]]), "inputs must lie in 0 ... 10, got 0 ... 11"),
        (torch.tensor([[-1, 0]]), "inputs must lie in 0 ... 10, got -1 ... 0"),
        (torch.zeros(2, 3), "inputs must be integers, got Tensor of float32"),
        ([[0, 1]], "inputs must be a tensor of ids, got list: try torch.tensor(inputs)"),
        (None, "inputs must be a tensor of ids, got NoneType"),
        (torch.zeros(2, 3, dtype=int, device="meta"), "inputs must be a dense tensor on a device with data"),
    ],
)
def test_a_model_reads_ids_of_its_vocabulary_alone(model, inputs, words):
    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(words)}"):
        model(inputs)


def test_ids_come_as_rows_but_for_a_bigram_model():
    assert BigramModel(3)(torch.zeros(3, dtype=int)).shape == (3, 3)
    for model in (ConvolutionModel(3), GRUModel(3), AttentionModel(3)):
        with pytest.raises(ValueError, match=r"^inputs must .*got \(3,\)"):
            model(torch.zeros(3, dtype=int))
    assert check_batch(torch.tensor([[0, 2]], dtype=torch.uint8), 3).dtype == torch.int64


# adam_with_linear_decay


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


@pytest.mark.parametrize("model", [torch.nn.Identity(), BigramModel(2).requires_grad_(False)])
def test_a_model_without_weights_to_train_is_refused(model):
    with pytest.raises(ValueError, match=r"^model must .*got none"):
        adam_with_linear_decay(model, 0.1, 1)


# BigramModel, ConvolutionModel, GRUModel, AttentionModel


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (2, 7)])
def test_ids_go_in_and_logits_over_the_vocabulary_come_out(model, shape):
    logits = model(random_ids(*shape))
    assert logits.shape == (*shape, V)
    assert logits.dtype == torch.float32


def test_causal_models_do_not_see_the_future(model):
    assert find_leak(model, random_ids(3, 9), V) is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BigramModel(0), r"vocab_size must .*10000, got 0"),
        (lambda: BigramModel(10_001), r"vocab_size must be .*1 .*10000"),
        (lambda: ConvolutionModel(4, 0), "hidden_size must be"),
        (lambda: ConvolutionModel(4, kernel_size=2), "kernel_size must be odd"),
        (
            lambda: ConvolutionModel(4, kernel_size=2**63 - 1),
            r"kernel_size must be .*1",
        ),
        (lambda: GRUModel(5, 2**31), "hidden_size must be"),
        (lambda: AttentionModel(5, 9), r"hidden_size must .*1, got 9"),
        (lambda: AttentionModel(5, 6, num_heads=2), r"hidden_size must .*2, got 6"),
    ],
)
def test_sizes_that_no_small_model_has_are_refused(make, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        make()


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


# AttentionModel


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


def test_learned_positions_are_as_many_as_were_learned():
    model, ids = AttentionModel(V, max_length=3), random_ids(1, 3)
    with pytest.raises(ValueError, match=r"^position_ids must lie in 0 ... 2, got 1 ... 3"):
        model(ids, torch.arange(1, 4))
    with pytest.raises(ValueError, match=r"^position_ids must lie in 0 ... 2, got 0 ... 3"):
        model(random_ids(1, 4))
    with pytest.raises(TypeError, match=r"^position_ids must be integers"):
        model(ids, torch.rand(3))
