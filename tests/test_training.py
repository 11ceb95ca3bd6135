"""Training loops and evaluation, against a twin that scores one token at a time."""

from __future__ import annotations

import contextlib
import itertools
import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_lib.foundation import (
    AttentionModel,
    BigramModel,
    FallingAdam,
    GRUModel,
    SmallAdam,
    conditional_entropy,
    count_pairs,
)
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader
from course_lib.teaching import Evaluation, evaluate, repeat_epochs, train

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


@given(st.lists(st.integers(0, V - 1), min_size=2, max_size=25), st.integers(1, 9), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_every_token_after_the_first_is_scored_once(ids, context_length, batch_size):
    model = gru()
    result = evaluate(model, ids, context_length, batch_size=batch_size)
    assert result.num_targets == len(ids) - 1
    with torch.no_grad():
        assert result.nats_per_token == pytest.approx(naive_nats(model, ids, context_length), rel=1e-4)


@pytest.mark.parametrize("num_tokens", [41, 42, 43, 44])
def test_the_batch_size_changes_nothing(num_tokens):
    model, ids = gru(), np.random.default_rng(0).integers(0, V, num_tokens)
    results = [evaluate(model, ids, 4, batch_size=size).nats_per_token for size in (1, 2, 3, 7, 10, 1000)]
    assert results == pytest.approx([results[0]] * len(results), rel=1e-5)


def test_a_context_longer_than_the_stream_reads_it_in_one_go():
    ids = [0, 1, 2, 3]
    assert evaluate(gru(), ids, 3).nats_per_token == pytest.approx(evaluate(gru(), ids, 1000).nats_per_token)


def test_the_units_agree():
    result = evaluate(BigramModel(V), range(V), 2, num_bytes=8)
    assert result.nats_per_token == pytest.approx(math.log(V))
    assert result.bits_per_token == pytest.approx(math.log2(V))
    assert result.perplexity == pytest.approx(V)
    assert result.bits_per_byte == pytest.approx(4 * math.log2(V) / 8)
    assert evaluate(BigramModel(V), range(V), 2).bits_per_byte is None
    assert Evaluation(0.0, 1).perplexity == 1


def test_evaluating_a_thousand_nats_is_a_perplexity_without_bound():
    assert Evaluation(1000.0, 1).perplexity == math.inf


@pytest.mark.parametrize("training", [True, False])
def test_evaluating_switches_dropout_off_and_the_mode_back(training):
    model = nn.Sequential(BigramModel(V), nn.Dropout(0.5)).train(training)
    model[0].table.data = torch.randn(V, V, generator=torch.Generator().manual_seed(0))
    first, second = (evaluate(model, [0, 1, 2, 3, 4] * 9, 8).nats_per_token for _ in range(2))
    assert first == second
    assert model.training is training


class Broken(nn.Module):
    def forward(self, inputs):
        raise ArithmeticError("no logits today")


@pytest.mark.parametrize("works", [True, False])
def test_evaluating_gives_each_part_of_a_model_its_own_mode_back(works):
    model = nn.Sequential(BigramModel(V) if works else Broken(), nn.Dropout(0.5), nn.Dropout(0.5)).train()
    model[1].eval()  # a part that its owner has frozen
    modes = [module.training for module in model.modules()]
    with contextlib.nullcontext() if works else pytest.raises(ArithmeticError):
        evaluate(model, [0, 1, 2], 2)
    assert [module.training for module in model.modules()] == modes == [True, True, False, True]


class Threads(BigramModel):
    def forward(self, inputs):
        seen.append(torch.get_num_threads())
        return super().forward(inputs)


seen: list[int] = []


@pytest.mark.parametrize("works", [True, False])
def test_training_and_evaluating_take_one_thread_and_give_the_others_back(works):
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        seen.clear()
        model = Threads(V) if works else nn.Sequential(Threads(V), Broken())
        batch = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
        for call in (
            lambda: train(model, [batch], num_steps=1, progress=False),
            lambda: evaluate(model, [0, 1, 2], 2),
        ):
            with contextlib.nullcontext() if works else pytest.raises(ArithmeticError):
                call()
            assert torch.get_num_threads() == 3
        assert seen == [1, 1]
    finally:
        torch.set_num_threads(before)


def test_evaluating_leaves_the_global_generator_alone():
    state = torch.random.get_rng_state()
    evaluate(BigramModel(V), [0, 1, 2], 2)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ids": []}, ValueError, "ids must hold at least 2 tokens.*got 0"),
        ({"ids": [1]}, ValueError, "ids must hold at least 2 tokens.*got 1"),
        ({"ids": "text"}, TypeError, "ids must be integers, got text"),
        ({"ids": [[0, 1], [2, 3]]}, ValueError, "ids must be one-dimensional"),
        ({"context_length": 0}, ValueError, "context_length must be .*got 0"),
        ({"context_length": 2.0}, TypeError, r"context_length must be .*got 2\.0"),
        ({"batch_size": 0}, ValueError, "batch_size must be .*got 0"),
        ({"batch_size": True}, TypeError, "batch_size must be .*got True"),
        ({"num_bytes": 0}, ValueError, "num_bytes must be .*got 0"),
    ],
)
def test_evaluating_refuses_bad_arguments_by_name(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        evaluate(**({"model": BigramModel(V), "ids": [0, 1, 2], "context_length": 2} | arguments))


# Training


def text(num_tokens: int) -> np.ndarray:
    """A stream with something to learn: mostly the next number, now and then any."""
    generator = np.random.default_rng(0)
    return np.where(generator.random(num_tokens) < 0.9, np.arange(num_tokens) % V, generator.integers(0, V, num_tokens))


def test_training_brings_a_bigram_model_near_the_entropy_it_cannot_beat():
    ids = text(2000)
    floor = conditional_entropy(count_pairs(ids, V))
    model = BigramModel(V)
    loader = make_dataloader(SlidingWindowDataset(ids, 16, 16), 16, base_seed=0)
    losses = train(model, loader, num_steps=100, learning_rate=0.1, progress=False)
    assert len(losses) == 100
    assert losses[0] == pytest.approx(math.log(V))  # the loss before the first step
    assert losses[-1] < losses[0] - 0.5
    assert floor < evaluate(model, ids, 16).nats_per_token < floor + 0.02


def test_the_learning_rate_falls_in_even_steps_to_zero():
    weight = nn.Parameter(torch.zeros(1))
    optimizer, rates = FallingAdam([weight], 0.5, num_steps=10), []
    for _ in range(10):
        rates.append(optimizer.learning_rate)
        weight.grad = torch.ones(1)
        optimizer.step()
    assert rates[0] == 0.5
    assert np.diff(rates) == pytest.approx([-0.045] * 9)
    assert 0 < rates[-1] < 0.1


class PartlyUsedModel(GRUModel):
    """It has a weight that no loss reaches, and one that is frozen."""

    def __init__(self):
        super().__init__(V, hidden_size=8)
        self.unused = nn.Parameter(torch.ones(3))
        self.output.bias.requires_grad_(False)


@pytest.mark.parametrize("make", [lambda: BigramModel(V), gru, PartlyUsedModel])
def test_steps_and_losses_are_those_of_pytorch_bit_for_bit(make):
    generator = torch.Generator().manual_seed(0)
    batches = [tuple(torch.randint(V, (2, 4, 6), generator=generator)) for _ in range(30)]
    models = []
    for _ in range(2):
        torch.manual_seed(1)
        models.append(make())
    ours, theirs = models
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.05, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1 / 30, total_iters=30)
    losses = []
    for inputs, targets in batches:
        loss = nn.functional.cross_entropy(theirs(inputs).flatten(0, 1), targets.flatten())
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    assert train(ours, batches, num_steps=30, learning_rate=0.05, progress=False) == losses
    assert all(map(torch.equal, ours.parameters(), theirs.parameters()))


def test_training_imports_no_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)  # from here on, importing it is an error
    train(BigramModel(V), [(torch.tensor([[0, 1]]), torch.tensor([[1, 2]]))], num_steps=1, progress=False)


def test_a_loader_goes_through_as_many_epochs_as_it_takes():
    loader = make_dataloader(SlidingWindowDataset(text(50), 4, 4), 4, base_seed=0)
    assert len(train(BigramModel(V), loader, num_steps=3 * len(loader) + 1, progress=False)) == 3 * len(loader) + 1
    assert loader.state_dict()["epoch"] == 3


def test_epochs_follow_each_other_each_in_its_own_order():
    def loader():
        return make_dataloader(SlidingWindowDataset(range(24), 1), 5, base_seed=3)

    def firsts(batches):
        return [inputs[:, 0].tolist() for inputs, _ in batches]

    expected, one = [], loader()
    for epoch in range(3):
        one.sampler.set_epoch(epoch)
        expected += firsts(one)
    assert firsts(itertools.islice(repeat_epochs(loader()), len(expected))) == expected
    assert len({str(expected[i : i + 5]) for i in (0, 5, 10)}) == 3
    # a resumed epoch is finished first
    resumed = loader()
    resumed.load_state_dict(resumed.state_dict() | {"epoch": 1, "batches_delivered": 2})
    assert firsts(itertools.islice(repeat_epochs(resumed), len(expected) - 7)) == expected[7:]
    # also one that was saved when it had just ended
    resumed = loader()
    resumed.load_state_dict(resumed.state_dict() | {"epoch": 0, "batches_delivered": 5})
    assert firsts(itertools.islice(repeat_epochs(resumed), len(expected) - 5)) == expected[5:]


def test_a_second_training_goes_on_with_the_batches_that_follow():
    class Recorder(BigramModel):
        def forward(self, inputs):
            batches.append(inputs[:, 0].tolist())
            return super().forward(inputs)

    def loader():
        return make_dataloader(SlidingWindowDataset(list(range(V)) * 5, 1), 5, base_seed=3)

    batches: list[list[int]] = []
    train(Recorder(V), loader(), num_steps=13, progress=False)
    at_once, in_parts, batches = batches, loader(), []
    for num_steps in (2, 3, 1, 7):  # the second call ends exactly where an epoch ends
        train(Recorder(V), in_parts, num_steps=num_steps, progress=False)
    assert len(in_parts) == 5
    assert batches == at_once


def test_training_goes_on_where_a_reader_stopped():
    def loader():
        return make_dataloader(SlidingWindowDataset(range(24), 1), 5, base_seed=3)

    wanted = [inputs.tolist() for inputs, _ in itertools.islice(repeat_epochs(loader()), 7)]
    read = loader()
    first = next(iter(read))[0].tolist()
    assert [first, *(inputs.tolist() for inputs, _ in itertools.islice(repeat_epochs(read), 6))] == wanted


def test_training_by_a_loader_leaves_the_global_generator_alone():
    model, state = BigramModel(V), torch.random.get_rng_state()
    train(model, make_dataloader(SlidingWindowDataset(text(50), 4), 4, base_seed=0), num_steps=3, progress=False)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_another_loss_function_is_used():
    batch = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    losses = train(
        BigramModel(V), [batch], num_steps=1, loss_function=lambda logits, _: logits.sum() + 42, progress=False
    )
    assert losses == [42]


@pytest.mark.parametrize("available", [0, 3])
def test_too_few_batches_are_an_error(available):
    batch = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match=f"^batches must hold 4 for as many steps, but ended after {available}$"):
        train(BigramModel(V), [batch] * available, num_steps=4, progress=False)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_training_at_once(bad):
    model = BigramModel(V)
    batch = torch.tensor([[0, 1]]), torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match=f"^the loss became {bad} in step 0: try a smaller learning_rate$"):
        train(model, [batch], num_steps=1, loss_function=lambda logits, _: logits.sum() + bad, progress=False)
    assert torch.isfinite(model.table).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_steps": 0}, ValueError, "num_steps must be .*got 0"),
        ({"num_steps": 1.5}, TypeError, r"num_steps must be .*got 1\.5"),
        ({"learning_rate": 0}, ValueError, "learning_rate must be a finite number above 0, got 0"),
        ({"learning_rate": -0.1}, ValueError, r"learning_rate must be a finite number above 0, got -0\.1"),
        ({"learning_rate": math.nan}, ValueError, "learning_rate must be a finite number above 0, got nan"),
        ({"learning_rate": math.inf}, ValueError, "learning_rate must be a finite number above 0, got inf"),
    ],
)
def test_training_refuses_bad_arguments_by_name(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        train(**({"model": BigramModel(V), "batches": [], "num_steps": 1, "progress": False} | arguments))


def test_inputs_of_several_parts_are_the_arguments_of_the_model():
    ids = torch.randint(V, (4, 7), generator=torch.Generator().manual_seed(0))
    inputs, targets = ids[:, :-1], ids[:, 1:]
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    losses = []
    for batch in (inputs, {"inputs": inputs}, {"inputs": inputs, "mask": mask}, {"inputs": inputs, "mask": mask.T}):
        torch.manual_seed(0)
        losses.append(train(AttentionModel(V, 8), [(batch, targets)] * 3, num_steps=3, progress=False))
    assert losses[0] == losses[1] == losses[2] != losses[3]


def test_a_step_without_any_gradient_changes_nothing():
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = SmallAdam([weight], 0.1)
    optimizer.step()
    assert weight.tolist() == [1, 1, 1]
    assert optimizer.steps[0] == 0


def take_steps(optimizer, weight: torch.nn.Parameter, steps: int) -> list[float]:
    rates = []
    for _ in range(steps):
        weight.grad = weight.detach() ** 2
        rates.append(optimizer.learning_rate)
        optimizer.step()
    return rates


def test_the_rate_stays_behind_its_last_step_as_that_of_pytorch_does():
    weight = torch.nn.Parameter(torch.ones(3))
    theirs = torch.optim.Adam([weight], 0.5)
    schedule = torch.optim.lr_scheduler.LinearLR(theirs, 1.0, 1.0 / 4, total_iters=4)
    rates = []
    for _ in range(8):
        rates.append(theirs.param_groups[0]["lr"])
        theirs.step()
        schedule.step()
    assert take_steps(FallingAdam([weight], 0.5, num_steps=4), weight, 8) == rates


def test_a_saved_state_goes_on_with_its_steps_and_its_rate():
    weights = [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
    first, second = (FallingAdam([weight], 0.5, num_steps=9) for weight in weights)
    take_steps(first, weights[0], 4)
    second.load_state_dict(first.state_dict())
    weights[1].data.copy_(weights[0])
    assert take_steps(second, weights[1], 4) == take_steps(first, weights[0], 4)
    assert torch.equal(*weights)
    with pytest.raises(ValueError, match="not of these weights"):
        SmallAdam([torch.nn.Parameter(torch.ones(1))], 0.5).load_state_dict(first.state_dict())
