"""Lesson 04: rows, starts and epochs of sequential partitioning, and carried states, against plain twins."""

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_lib.experiments import sequential_partitioning as experiments
from course_lib.foundation import CharTokenizer, GRUModel, token_ledger
from course_lib.random_sampling import draw_offset, seq_data_iter_random
from course_lib.sequential_partitioning import (
    count_graph_nodes,
    detached,
    epoch_after_epoch,
    make_recall_stream,
    partition_starts,
    row_length,
    row_remainders,
    seq_data_iter_sequential,
    sequential_starts,
    token_logits,
    token_losses,
    track_rows,
    train_on_epochs,
)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def naive_epoch(corpus: list[int], batch_size: int, num_steps: int, offset: int) -> list[tuple[list, list]]:
    """Fold the inputs into rows, fold the targets into rows, and cut both into columns of num_steps."""
    num_tokens = (len(corpus) - offset - 1) // batch_size * batch_size
    if num_tokens <= 0:
        return []
    length = num_tokens // batch_size
    inputs, targets = corpus[offset : offset + num_tokens], corpus[offset + 1 : offset + 1 + num_tokens]
    fold = lambda ids: [ids[i * length : (i + 1) * length] for i in range(batch_size)]
    return [
        ([row[c : c + num_steps] for row in fold(inputs)], [row[c : c + num_steps] for row in fold(targets)])
        for c in range(0, length // num_steps * num_steps, num_steps)
    ]


sizes = (st.integers(0, 120), st.integers(1, 5), st.integers(1, 8), st.integers(0, 12))

# row_length, partition_starts


@given(*sizes)
def test_starts_agree_with_folding_the_stream(num_tokens, batch_size, num_steps, offset):
    corpus = list(range(num_tokens))
    expected = [[row[0] for row in X] for X, _ in naive_epoch(corpus, batch_size, num_steps, offset)]
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    assert starts.dtype == np.int64
    assert starts.tolist() == expected
    assert starts.shape == (len(expected), batch_size)


def test_rows_of_the_largest_numbers_take_no_memory_and_do_not_overflow():
    assert row_length(10**30, 1, 10**29) == 9 * 10**29 - 1
    assert partition_starts(9, 10**12, 1, 0).shape == (0, 10**12)
    assert partition_starts(9, 1, 2**63, 2**64).shape == (0, 1)
    assert row_remainders(9, 10**12, 3, 0).size == 0
    assert partition_starts(40_000, np.int16(2), np.int16(100), np.int16(100))[-1, -1] == 100 + 19_949 + 198 * 100


# track_rows


def test_the_rows_of_a_partition_are_named_id_by_id():
    assert track_rows([[1, 5], [2, 6]], 1, 3) == {
        "": [(0, 1, "plain", "batch 0"), (1, 1, "plain", "batch 1")],
        "row 0": [(0, 1, "inputs", 1), (1, 1, "inputs2", 2), (2, 1, "lost", 3)],
        "row 1": [(0, 1, "inputs", 5), (1, 1, "inputs2", 6), (2, 1, "lost", 7)],
    }


@pytest.mark.parametrize(
    ("starts", "words"), [([1, 4], "have shape"), ([[]], "have shape"), ([[1, 4]], "fit into rows of 1")]
)
def test_starts_that_are_no_rows_are_refused(starts, words):
    with pytest.raises(ValueError, match=rf"^starts must {words}"):
        track_rows(starts, 2, 1)


# sequential_starts


def test_offsets_are_uniform_on_the_closed_range_within_five_sigma():
    num_steps, draws = 7, 16_000
    generator = seeded(5)
    offsets = [int(sequential_starts(100, 2, num_steps, generator=generator)[0, 0]) for _ in range(draws)]
    counts = np.bincount(offsets, minlength=num_steps + 1)
    share = 1 / (num_steps + 1)
    assert len(counts) == num_steps + 1
    assert np.abs(counts - draws * share).max() < 5 * np.sqrt(draws * share * (1 - share))


# seq_data_iter_sequential


@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 80), st.integers(0, 2**31))
def test_an_epoch_agrees_with_folding_the_stream(batch_size, num_steps, extra, seed):
    corpus = list(range(100, 101 + (batch_size + 1) * num_steps + extra))
    offset = draw_offset(num_steps + 1, generator=seeded(seed))
    batches = list(seq_data_iter_sequential(corpus, batch_size, num_steps, generator=seeded(seed)))
    assert [(X.tolist(), Y.tolist()) for X, Y in batches] == naive_epoch(corpus, batch_size, num_steps, offset)
    assert batches
    assert all(half.dtype == torch.int64 and half.shape == (batch_size, num_steps) for pair in batches for half in pair)


def test_one_token_less_than_every_offset_needs_for_a_batch_is_refused():
    with pytest.raises(ValueError, match=r"^corpus must hold at least 17 ids, .* got 16$"):
        seq_data_iter_sequential(range(16), 3, 4)


# row_remainders


@given(*sizes)
def test_the_ledger_reconciles_and_names_the_remainders(num_tokens, batch_size, num_steps, offset):
    starts = partition_starts(num_tokens, batch_size, num_steps, offset)
    remainders = row_remainders(num_tokens, batch_size, num_steps, offset)
    ledger = token_ledger(starts, num_tokens, num_steps, reasons={"row remainder": remainders})
    assert ledger.used + sum(ledger.dropped.values()) == num_tokens
    assert int(ledger.as_target.sum()) == starts.size * num_steps
    # Every token behind the first input of the first row is a target, a remainder, or behind the last row.
    assert not (ledger.as_target[remainders] > 0).any()
    assert ledger.targets + len(remainders) == batch_size * row_length(num_tokens, batch_size, offset)
    assert "gap" not in ledger.dropped


@given(*sizes)
def test_row_remainders_are_the_targets_left_by_the_twin(num_tokens, batch_size, num_steps, offset):
    length = row_length(num_tokens, batch_size, offset)
    expected = [
        offset + row * length + column + 1
        for row in range(batch_size)
        for column in range(length // num_steps * num_steps, length)
    ]
    assert row_remainders(num_tokens, batch_size, num_steps, offset).tolist() == expected


# count_graph_nodes, detached, check_recurrent


def test_a_graph_is_counted_once_a_node_and_a_state_is_cut_off_whatever_its_parts():
    leaf = torch.zeros(1, requires_grad=True)
    doubled = leaf + leaf
    assert [count_graph_nodes(each) for each in (torch.zeros(1), leaf + 1, doubled * doubled)] == [0, 2, 3]
    cut = detached((doubled, (doubled, doubled)))
    assert not any(part.requires_grad for part in (cut[0], *cut[1]))


@pytest.fixture
def model() -> GRUModel:
    torch.manual_seed(0)
    return GRUModel(vocab_size=9, hidden_size=8)


class Remembering(torch.nn.Module):
    """An LSTM, whose state has two parts."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(9, 4)
        self.recurrence = torch.nn.LSTM(4, 9, batch_first=True)
        self.attached: list[bool] = []

    def forward(self, inputs):
        return self.read_on(inputs, None)[0]

    def read_on(self, inputs, state):
        self.attached += [] if state is None else [part.requires_grad for part in state]
        return self.recurrence(self.embedding(inputs), state)


def test_any_model_that_reads_on_can_be_trained():
    learner = Remembering()
    settings = {"num_updates": 5, "carry_state": True, "generator": seeded(0)}
    losses = train_on_epochs(learner, np.arange(40) % 9, seq_data_iter_sequential, 2, 3, **settings)
    assert len(losses) == 5
    assert learner.attached
    assert not any(learner.attached)
    assert token_losses(learner, [1, 2, 3], 2, carry_state=False).shape == (2,)


# epoch_after_epoch


@pytest.mark.parametrize("scheme", [seq_data_iter_sequential, seq_data_iter_random])
def test_epoch_after_epoch_is_one_epoch_after_the_other(scheme):
    generator, expected = seeded(3), []
    for _ in range(4):
        epoch = scheme(range(40), 2, 4, generator=generator)
        expected += [(number == 0, X.tolist(), Y.tolist()) for number, (X, Y) in enumerate(epoch)]
    endless = epoch_after_epoch(scheme, range(40), 2, 4, generator=seeded(3))
    assert [(begins, X.tolist(), Y.tolist()) for begins, (X, Y) in islice(endless, len(expected))] == expected


def test_an_epoch_without_a_batch_is_an_error_and_not_an_endless_search(model):
    calls = []

    def gives_up(corpus, batch_size, num_steps, *, generator):
        calls.append(corpus)
        return seq_data_iter_sequential(corpus, batch_size, num_steps, generator=generator) if len(calls) < 3 else []

    with pytest.raises(ValueError, match=r"^scheme must give at least one batch an epoch, got 0$"):
        train_on_epochs(model, range(9), gives_up, 2, 1, num_updates=99, carry_state=True, progress=False)
    assert len(calls) == 3


# train_on_epochs


class Recorder(GRUModel):
    """A GRU that notes whether it was given a state, and whether that state drags a graph along."""

    def __init__(self):
        super().__init__(vocab_size=9, hidden_size=4)
        self.states: list[str] = []

    def read_on(self, inputs, state):
        self.states.append("empty" if state is None else "attached" if state.requires_grad else "detached")
        return super().read_on(inputs, state)


@pytest.mark.parametrize("scheme", [seq_data_iter_sequential, seq_data_iter_random])
@pytest.mark.parametrize(("carry_state", "within_an_epoch"), [(True, "detached"), (False, "empty")])
def test_an_epoch_begins_with_an_empty_state_that_is_then_carried_detached_or_not_at_all(
    scheme, carry_state, within_an_epoch
):
    torch.manual_seed(0)
    recorder, corpus = Recorder(), np.arange(26) % 9  # 2 or 3 batches an epoch, whatever the offset
    settings_ = {"num_updates": 12, "carry_state": carry_state, "generator": seeded(), "progress": False}
    assert len(train_on_epochs(recorder, corpus, scheme, 2, 4, **settings_)) == 12
    generator, expected = seeded(), []
    while len(expected) < 12:
        expected += ["empty"] + [within_an_epoch] * (len(list(scheme(corpus, 2, 4, generator=generator))) - 1)
    assert recorder.states == expected[:12]


def test_training_stops_at_a_loss_that_is_not_finite_and_at_ids_that_the_model_lacks(model):
    train = lambda corpus: train_on_epochs(
        model, corpus, seq_data_iter_sequential, 1, 2, num_updates=3, carry_state=True, progress=False
    )
    for corpus in (range(4, 20), [-100] * 9):
        with pytest.raises(ValueError, match=r"^corpus must lie in 0 ... 8"):
            train(corpus)
    torch.nn.init.constant_(model.output.bias, float("nan"))
    with pytest.raises(ValueError, match=r"^the loss became nan in step 0"):
        train(range(9))


# make_recall_stream


@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 5), st.integers(1, 4), st.integers(0, 999))
def test_a_recall_stream_is_records_of_key_filler_query_answer(num_records, longest, num_keys, num_fillers, seed):
    stream = make_recall_stream(
        num_records, longest, num_keys=num_keys, num_fillers=num_fillers, generator=seeded(seed)
    )
    query = num_keys + num_fillers
    assert stream.vocab_size == query + 1
    ids = stream.ids.tolist()
    position = 0
    for key_position, answer_position in zip(stream.key_positions, stream.answer_positions, strict=True):
        assert key_position == position
        assert ids[key_position] == ids[answer_position] < num_keys
        assert ids[answer_position - 1] == query
        filler = ids[key_position + 1 : answer_position - 1]
        assert 1 <= len(filler) <= longest
        assert all(num_keys <= token < query for token in filler)
        position = answer_position + 1
    assert position == len(ids)


@pytest.mark.parametrize(
    ("num_keys", "num_fillers", "dtype"),
    [(65_531, 4, "uint16"), (65_532, 4, "uint32"), (2**31 - 1, 2**31 - 1, "uint32")],
)
def test_a_recall_stream_is_compact_and_its_query_is_not_wrapped(num_keys, num_fillers, dtype):
    ids = make_recall_stream(1, 1, num_keys=num_keys, num_fillers=num_fillers).ids
    assert (ids.dtype.name, ids[2]) == (dtype, num_keys + num_fillers)


# token_logits, token_losses

ids_of_text = st.lists(st.integers(0, 8), min_size=2, max_size=40)


def naive_logits(model: GRUModel, ids: list[int], num_steps: int, carry_state: bool) -> torch.Tensor:
    """One token at a time, the state emptied wherever a window begins unless it is carried."""
    rows, state = [], None
    with torch.no_grad():
        for t in range(len(ids) - 1):
            if t % num_steps == 0 and not carry_state:
                state = None
            logits, state = model.read_on(torch.tensor([[ids[t]]]), state)
            rows.append(logits[0, 0])
    return torch.stack(rows)


@given(ids_of_text, st.integers(1, 50), st.booleans())
@settings(max_examples=40)
@example(ids=[0, 1, 2, 3, 4, 5, 6], num_steps=4, carry_state=False)  # the last window is short
def test_token_logits_agree_with_reading_one_token_at_a_time(ids, num_steps, carry_state):
    torch.manual_seed(0)
    model = GRUModel(vocab_size=9, hidden_size=8)
    expected = naive_logits(model, ids, num_steps, carry_state)
    assert torch.allclose(token_logits(model, ids, num_steps, carry_state=carry_state), expected, atol=1e-5)
    losses = token_losses(model, ids, num_steps, carry_state=carry_state)
    by_hand = -torch.log_softmax(expected, dim=-1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
    assert torch.allclose(losses, by_hand, atol=1e-5)


def test_reading_leaves_the_mode_of_each_part_of_the_model_alone(model):
    model.embedding.eval()
    token_losses(model, [1, 2, 3], 2, carry_state=False)
    with pytest.raises(ValueError, match=r"^ids must lie in"):
        token_losses(model, [1, 99], 2, carry_state=False)
    assert [part.training for part in (model, model.embedding, model.output)] == [True, False, True]


@pytest.mark.parametrize("ids", [[], [1], [1, 9], [-1, 2], [1, 2, -100]])
@pytest.mark.parametrize("carry_state", [True, False])
def test_ids_that_the_model_cannot_read_or_predict_are_refused(model, ids, carry_state):
    with pytest.raises(ValueError, match=r"^ids must (hold at least 2 tokens|lie in 0 ... 8)"):
        token_losses(model, ids, 2, carry_state=carry_state)


# The experiments: the same loops as a reader would write them, for few steps.

SEEDS = (3, 5)
TRAININGS = {"carried": (seq_data_iter_sequential, True), "shuffled": (seq_data_iter_random, False)}
HOW = {"num_updates": 2, "learning_rate": 0.04}


def trained_by_hand(ids, vocab_size: int, scheme, carry_state: bool, seed: int) -> GRUModel:
    torch.manual_seed(seed)
    model = GRUModel(vocab_size, hidden_size=32)
    settings = {"carry_state": carry_state, "generator": seeded(seed), "progress": False}
    train_on_epochs(model, ids, scheme, 64, 8, **HOW, **settings)
    return model


@torch.no_grad()
def naive_share(model: GRUModel, records, carry_state: bool, least: int) -> float:
    """Read the stream one token at a time, and count the right answers by hand."""
    state, right = None, []
    answers = dict(zip(records.answer_positions.tolist(), records.key_positions.tolist(), strict=True))
    for position, token in enumerate(records.ids[:-1].tolist()):
        if position % 8 == 0 and not carry_state:
            state = None
        logits, state = model.read_on(torch.tensor([[token]]), state)
        if (key := answers.get(position + 1)) is not None:
            is_earlier = key // 8 < position // 8
            if is_earlier and position - key - 1 >= least:
                right.append(int(logits[0, 0, :4].argmax()) == records.ids[key])
    return np.mean(right)


def test_recall_is_compared_as_by_hand():
    shares = experiments.compare_recall(TRAININGS, 8, **HOW, seeds=SEEDS)
    assert list(shares) == list(TRAININGS)
    for run, name in enumerate(TRAININGS):  # one of the two runs of each, since reading by hand is slow
        generator = seeded(SEEDS[run])
        sizes = ((3_000, 16), (300, 16), (300, 63))
        training, new, longer = (make_recall_stream(*size, generator=generator) for size in sizes)
        model = trained_by_hand(training.ids, training.vocab_size, *TRAININGS[name], SEEDS[run])
        recall = shares[name]
        assert recall.read_reset[run] == pytest.approx(naive_share(model, new, False, 1))
        assert recall.read_carried[run] == pytest.approx(naive_share(model, new, True, 1))
        assert recall.far_apart[run] == pytest.approx(naive_share(model, longer, True, 32))
    assert len({*shares["carried"].read_carried, *shares["shuffled"].read_carried}) > 1


def test_a_text_is_compared_as_by_hand():
    text = "".join(chr(97 + (i * i + i // 50) % 13) for i in range(8_000))
    bits = experiments.compare_on_text(text, TRAININGS, 8, **HOW, seeds=SEEDS)
    tokenizer = CharTokenizer(text, max_characters=256)
    ids = tokenizer.encode(text)
    for name, (scheme, carry_state) in TRAININGS.items():
        for run, seed in enumerate(SEEDS):
            turned = np.roll(ids, -(run * len(ids) // 2))
            model = trained_by_hand(turned[:-3_201], tokenizer.vocab_size, scheme, carry_state, seed)
            for way, carry in (("read_reset", False), ("read_carried", True)):
                losses = token_losses(model, turned[-3_201:], 8, carry_state=carry)
                assert getattr(bits[name], way)[run] == pytest.approx(losses.mean().item() / np.log(2))
