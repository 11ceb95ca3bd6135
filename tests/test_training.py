"""Training loops and evaluation, against twins that take one token, or one step of plain PyTorch, at a time."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_lib.foundation import AttentionModel, BigramModel, GRUModel
from course_lib.sliding_windows import SlidingWindowDataset, WindowLoader, make_dataloader
from course_lib.stride_tradeoffs import strided_losses
from course_lib.teaching import evaluate, repeat_epochs, train
from course_lib.teaching.training import Evaluation

V = 5


def gru() -> GRUModel:
    torch.manual_seed(0)
    return GRUModel(V, hidden_size=8)


def naive_nats(model: nn.Module, ids: list[int], context_length: int) -> float:
    """Score every token after the first alone, from what stands before it in its own window."""
    nats = []
    for target in range(1, len(ids)):
        start = (target - 1) // context_length * context_length
        logits = model(torch.tensor([ids[start:target]]))[0, -1]
        nats.append(-torch.log_softmax(logits.double(), dim=0)[ids[target]].item())
    return sum(nats) / len(nats)


def check_that_each_target_is_scored_once(ids: list[int], context_length: int) -> None:
    model = gru()
    result = evaluate(model, ids, context_length)
    assert result.num_targets == len(ids) - 1
    with torch.no_grad():
        assert result.nats_per_token == pytest.approx(naive_nats(model, ids, context_length), rel=1e-4)


@given(st.lists(st.integers(0, V - 1), min_size=2, max_size=25), st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_every_token_after_the_first_is_scored_once(ids, context_length):
    check_that_each_target_is_scored_once(ids, context_length)


@pytest.mark.parametrize("num_tokens", [512, 513, 514, 515, 600])  # 255, 256 and 257 windows, and some more
def test_more_windows_than_are_read_at_once_are_scored_once(num_tokens):
    ids = np.random.default_rng(0).integers(0, V, num_tokens)
    check_that_each_target_is_scored_once(ids.tolist(), 2)


@given(st.lists(st.integers(0, V - 1), min_size=2, max_size=40), st.integers(1, 12))
@settings(deadline=None, max_examples=30)
def test_an_evaluation_is_the_strided_one_whose_stride_is_the_context_length(ids, context_length):
    model = gru()
    losses = strided_losses(model, ids, context_length, context_length)
    assert evaluate(model, ids, context_length).nats_per_token == pytest.approx(losses.mean(), rel=1e-5)


def test_the_units_agree():
    result = evaluate(BigramModel(V), range(V), 2, num_bytes=8)
    assert result.nats_per_token == pytest.approx(math.log(V))
    assert result.bits_per_token == pytest.approx(math.log2(V))
    assert result.perplexity == pytest.approx(V)
    assert result.bits_per_byte == pytest.approx(4 * math.log2(V) / 8)
    assert evaluate(BigramModel(V), range(V), 2).bits_per_byte is None


def test_perplexity_that_no_float_holds_is_infinite():
    assert Evaluation(1000.0, 1).perplexity == math.inf
    assert math.isnan(Evaluation(math.nan, 1).perplexity)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([3], r"ids must hold .*2"),
        ([0, 1, V], "targets must lie in 0 ... 4"),
        ([V, 0, 1], "inputs must lie in 0 ... 4, got 0 ... 5"),
    ],
)
def test_a_text_that_the_model_cannot_read_or_predict_is_refused(ids, words):
    assert evaluate(BigramModel(V), [0, 1] * 40_000, np.int16(16)).num_targets == 79_999
    assert evaluate(BigramModel(V), [0, 1, 2], 2**64).num_targets == 2
    with pytest.raises(ValueError, match=rf"^{words}"):
        evaluate(BigramModel(V), ids, 2)


@pytest.mark.parametrize("training", [True, False])
def test_evaluating_switches_dropout_off_and_the_mode_back(training):
    model = nn.Sequential(BigramModel(V), nn.Dropout(0.5)).train(training)
    model[0].table.data = torch.randn(V, V, generator=torch.Generator().manual_seed(0))
    first, second = (evaluate(model, [0, 1, 2, 3, 4] * 9, 8).nats_per_token for _ in range(2))
    assert first == second
    assert model.training is training


class PartlyUsedModel(GRUModel):
    """It has a weight that no loss reaches, and one that is frozen."""

    def __init__(self):
        super().__init__(V, hidden_size=8)
        self.unused = nn.Parameter(torch.ones(3))
        self.output.bias.requires_grad_(False)


@pytest.mark.parametrize("make", [lambda: BigramModel(V), gru, PartlyUsedModel])
def test_steps_are_those_of_adam_at_a_rate_that_falls_in_even_parts(make):
    generator = torch.Generator().manual_seed(0)
    batches = [tuple(torch.randint(V, (2, 4, 6), generator=generator)) for _ in range(30)]
    models = []
    for _ in range(2):
        torch.manual_seed(1)
        models.append(make())
    ours, theirs = models
    optimizer = torch.optim.Adam(theirs.parameters())
    losses = []
    for step, (inputs, targets) in enumerate(batches):
        optimizer.param_groups[0]["lr"] = 0.05 * (1 - (1 - 1 / 30) * step / 30)
        loss = nn.functional.cross_entropy(theirs(inputs).flatten(0, 1), targets.flatten())
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert train(ours, batches, num_updates=30, learning_rate=0.05, progress=False) == pytest.approx(losses, rel=1e-4)
    for our, their in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(our, their, rtol=1e-3, atol=1e-4)


def epochs(loader: WindowLoader, num_epochs: int) -> list[list[int]]:
    """The first ids of each batch, epoch after epoch."""
    batches = []
    for epoch in range(num_epochs):
        loader.sampler.set_epoch(epoch)
        batches += firsts(loader)
    return batches


def firsts(batches) -> list[list[int]]:
    return [inputs[:, 0].tolist() for inputs, _ in batches]


def five_batches() -> WindowLoader:
    return make_dataloader(SlidingWindowDataset(list(range(V)) * 5, 1), 5, base_seed=3)


def stood_at(epoch: int, delivered: int) -> WindowLoader:
    loader = five_batches()
    loader.sampler.set_epoch(epoch)  # the state knows the order of its epoch
    loader.load_state_dict(loader.state_dict() | {"windows_delivered": min(24, 5 * delivered)})
    return loader


def read(epoch: int, delivered: int) -> WindowLoader:
    loader = five_batches()
    loader.sampler.set_epoch(epoch)
    list(itertools.islice(iter(loader), delivered))
    return loader


@pytest.mark.parametrize("make", [stood_at, read])
@pytest.mark.parametrize(("epoch", "delivered"), [(0, 0), (0, 1), (1, 2), (0, 5)])
def test_epochs_follow_each_other_from_where_a_loader_stands(make, epoch, delivered):
    expected = epochs(five_batches(), 3)
    assert len({str(expected[i : i + 5]) for i in (0, 5, 10)}) == 3  # each in its own order
    expected = expected[5 * epoch + delivered :]
    assert firsts(itertools.islice(repeat_epochs(make(epoch, delivered)), len(expected))) == expected


def test_a_second_training_goes_on_with_the_batches_that_follow():
    class Recorder(BigramModel):
        def forward(self, inputs):
            batches.append(inputs[:, 0].tolist())
            return super().forward(inputs)

    batches, loader = [], five_batches()
    for num_updates in (2, 3, 1, 7):  # the second call ends exactly where an epoch ends
        train(Recorder(V), loader, num_updates=num_updates, progress=False)
    assert batches == epochs(five_batches(), 3)[:13]


class Threads(BigramModel):
    def forward(self, inputs):
        self.seen = torch.get_num_threads()
        return super().forward(inputs)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: train(
            model, make_dataloader(SlidingWindowDataset([0, 1] * 9, 4), 4, base_seed=0), num_updates=3, progress=False
        ),
        lambda model: evaluate(model, [0, 1, 2], 2),
    ],
)
def test_one_thread_is_taken_and_the_global_generator_left_alone(call):
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(3)
    try:
        model = Threads(V)
        call(model)
        assert (model.seen, torch.get_num_threads()) == (1, 3)
        assert torch.equal(torch.random.get_rng_state(), state)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_training_at_once(bad):
    model = BigramModel(V)
    batch = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match=rf"^the loss became {bad} in step 0: try a smaller learning_rate$"):
        train(model, [batch], num_updates=1, loss_function=lambda logits, _: logits.sum() + bad, progress=False)
    assert torch.isfinite(model.table).all()


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        (0, "batches must hold 4 for as many steps, but ended after 0"),
        (3, "batches must hold 4 for as many steps, but ended after 3"),
        ([torch.tensor([[0, 1]])], r"batches must .*got Tensor"),
    ],
)
def test_a_training_gets_as_many_pairs_as_it_has_steps(batches, words):
    pair = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    batches = [pair] * batches if isinstance(batches, int) else batches
    with pytest.raises((TypeError, ValueError), match=rf"^{words}"):
        train(BigramModel(V), batches, num_updates=4, progress=False)


def test_inputs_of_several_parts_are_the_arguments_of_the_model():
    ids = torch.randint(V, (4, 7), generator=torch.Generator().manual_seed(0))
    inputs, targets = ids[:, :-1], ids[:, 1:]
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    losses = []
    for batch in (inputs, {"inputs": inputs}, {"inputs": inputs, "mask": mask}, {"inputs": inputs, "mask": mask.T}):
        torch.manual_seed(0)
        losses.append(train(AttentionModel(V, 8), [(batch, targets)] * 3, num_updates=3, progress=False))
    assert losses[0] == losses[1] == losses[2] != losses[3]
