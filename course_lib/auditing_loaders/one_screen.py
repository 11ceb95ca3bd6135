"""An audit on one screen: ids that tell their positions, and a function a question."""

import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

import numpy as np

from course_lib.auditing_loaders.batch_rows import BatchRows, read_batch

FIRST_ID = 1_000
Answers = Iterator[tuple]  # the name of a finding, whether it is so, perhaps the place


class MiniAudit:
    """Findings by name, in `found`, each with a place to look at. The stream has
    documents of these lengths, one after another."""

    def __init__(self, make_loader, lengths=(1_000,), num_epochs=2, world_size=1):
        self.found: dict[str, str] = {}
        loaders = Loaders(make_loader, lengths, world_size, self.note)
        # Read all epochs of all ranks. What is wrong inside of rows is noted at once.
        ranks = [loaders.read_epochs(rank, num_epochs) for rank in range(world_size)]
        for rank, epochs in enumerate(ranks):
            # The same call should give the same rows, and another epoch another order.
            (again,) = loaders.read_epochs(rank, 1)
            self.note(compare_epochs(epochs, again), f"rank {rank}")
            # A new loader should go on where an old one was stopped.
            if hasattr(loaders.make(rank), "load_state_dict"):
                rest, resumed = loaders.stop_and_resume(rank, again.num_batches // 2)
                self.note(compare_resumed(rest, resumed), f"rank {rank}")
        # Together, the ranks should read each token once.
        self.note(compare_ranks(ranks))
        self.note(find_lost(ranks, loaders.document_starts))

    def note(self, answers: Answers, where: str = "") -> None:
        for name, is_so, *place in answers:
            if is_so:  # of several places, the first is kept
                self.found.setdefault(name, f"{where} {' '.join(map(str, place))}")


# What is wrong inside of the rows of a batch?


def look_inside(batch: BatchRows, tokens, labels, document_of) -> Answers:
    """Find what is wrong inside rows; each place has a token, and a label for it. A
    pair has T + 1 places: the first has no label, and the last no input.

    `tokens` and `labels` are positions in the stream, -1 where an id is not of it.
    """
    yield "scored_padding", scores_padding(batch, tokens, labels)
    for row in range(len(tokens)):
        # Labels should be the token at their place, or what follows the one before.
        if ahead := most_ahead(batch, row, tokens[row], labels[row]):
            yield "wrong_shift", True, f"row {row}: {ahead:+.0f}"
            continue
        # And each token should follow the one before, if no document begins there.
        for before, token in unannounced_neighbors(batch, row, tokens[row]):
            crosses = document_of[before] != document_of[token]
            place = f"row {row}: {before}, then {token}"
            yield "crosses_documents", crosses, place
            yield "broken_row", token != before + 1 and not crosses, place


def scores_padding(batch: BatchRows, tokens, labels) -> bool:
    """Whether a label is scored that is no token, or that its model can't know."""
    if batch.labels is None:
        return False
    is_padding = (labels < 0) | ~batch.judged
    # Where attention ends before a token, nothing tells the model which one it is.
    is_first = batch.hides_before & (labels == tokens)
    # But that does no harm to the first one of a row.
    begins_row = (tokens >= 0) & (np.cumsum(tokens >= 0, axis=1) == 1)
    return (batch.scored & (is_padding | is_first) & ~begins_row)[:, 1:].any()


def most_ahead(batch: BatchRows, row: int, tokens, labels) -> float:
    """By how much a row's labels are too far ahead, as the median."""
    # In a pair, the label at a place belongs to the input before.
    right = np.append(-1, tokens[:-1] + 1) if batch.is_pair else tokens
    is_known = batch.scored[row] & (labels >= 0) & (right > 0)
    return float(np.median((labels - right)[is_known])) if is_known.any() else 0.0


def unannounced_neighbors(batch: BatchRows, row: int, tokens) -> Iterator[tuple]:
    """Yield neighbors in a row between which nothing says that a document begins."""
    is_announced = batch.hides_before[row].copy()
    if not batch.tells_apart:  # then a label that is dropped says so
        is_announced |= ~batch.scored[row] & batch.is_kept[row]
    for place, next_place in pairwise(np.flatnonzero(tokens >= 0)):
        if not is_announced[place + 1 : next_place + 1].any():
            yield tokens[place], tokens[next_place]


def compare_memory(batch: BatchRows, earlier: list) -> Answers:
    """Find memory that inputs and targets share, or one batch and the next."""
    yield "shared_memory", len(batch.memory) == 2 and np.shares_memory(*batch.memory)
    # `earlier` has the memory of the batch before, and a copy of what it held.
    yield "shared_memory", any((block != copy).any() for block, copy in earlier)


# What is wrong with the order of one rank?


def compare_epochs(epochs: Sequence["Epoch"], again: "Epoch") -> Answers:
    """Find what the epochs of one rank show of its order; `again` is the first one."""
    first = epochs[0]
    yield "not_repeatable", again.rows != first.rows
    # The order of the stream may come twice, but no other one.
    shuffled = [tuple(epoch.rows) for epoch in epochs if not epoch.goes_forward]
    yield "same_order", len(set(shuffled)) < len(shuffled)
    # A shuffle has nothing to do with the stream's order.
    yield "weak_shuffle", not first.goes_forward and first.correlation > 0.8
    # At stride S, a token is a target in about T / S windows. One more is a repeat.
    yield "repeated", first.times_a_target.max() >= 1 + first.windows_with_a_token


def compare_resumed(rest: "Epoch", resumed: "Epoch") -> Answers:
    """Find what a resumed loader reads otherwise than the one that was stopped."""
    surplus = resumed.times_a_target - rest.times_a_target
    yield "resume_repeats", (surplus > 0).any(), np.flatnonzero(surplus > 0)[:3]
    yield "resume_loses", (surplus < 0).any(), np.flatnonzero(surplus < 0)[:3]
    # The same tokens may still come in another order.
    yield "resume_reorders", not surplus.any() and resumed.rows != rest.rows


# What is wrong with all ranks together?


def compare_ranks(ranks: Sequence[Sequence["Epoch"]]) -> Answers:
    """Find tokens that several ranks read in the first epoch, and unequal steps."""
    num_readers = sum(epochs[0].times_a_target > 0 for epochs in ranks)
    yield "ranks_overlap", (num_readers > 1).any(), np.flatnonzero(num_readers > 1)[:3]
    num_steps = [epochs[0].num_batches for epochs in ranks]
    yield "unequal_steps", len(set(num_steps)) > 1, num_steps


def find_lost(ranks: Sequence[Sequence["Epoch"]], document_starts) -> Answers:
    """Find tokens that no rank has as a target."""
    of_ranks = [[epoch.times_a_target for epoch in epochs] for epochs in ranks]
    times = np.sum(of_ranks, axis=0)  # in each epoch, of each token
    is_never = times == 0
    is_never[:, document_starts] = False  # nothing could predict these
    # What no epoch reads may be the stream's tail, and no more than that.
    in_no_epoch = np.flatnonzero(is_never.all(axis=0))
    tail = times.shape[1] - np.flatnonzero(times[0])[-1]
    # What one epoch leaves out, and others read, should be less than a step.
    in_a_step = times.sum() / max(epochs[0].num_batches for epochs in ranks)
    is_lost = in_no_epoch.size > tail or is_never.sum() >= in_a_step
    name = "lost" if len(ranks) == 1 else "ranks_lose"
    yield name, is_lost, np.flatnonzero(is_never.any(axis=0))[:3]


# How loaders are made and read


class Epoch:
    """What one rank got: rows as positions, and how often each token is a target."""

    def __init__(self, num_tokens: int):
        self.rows: list[tuple[int, ...]] = []
        self.first_positions: list[np.ndarray] = []  # of the rows of each batch
        self.times_a_target = np.zeros(num_tokens, dtype=np.int64)

    def add(self, tokens: np.ndarray, labels: np.ndarray, scored: np.ndarray) -> None:
        is_target = scored[:, 1:] & (labels[:, 1:] >= 0)
        np.add.at(self.times_a_target, labels[:, 1:][is_target], 1)
        self.rows += map(tuple, tokens.tolist())
        self.first_positions.append(tokens[tokens[:, 0] >= 0, 0])

    @property
    def num_batches(self) -> int:
        return len(self.first_positions)

    @property
    def goes_forward(self) -> bool:
        """Whether each place of the batch reads the stream from front to back."""
        pairs = pairwise(self.first_positions)
        return all((b[: len(a)] >= a[: len(b)]).all() for a, b in pairs)

    @property
    def correlation(self) -> float:
        """Between when a row comes and where it begins; fewer than 50 don't count."""
        begins = np.concatenate(self.first_positions)
        if len(begins) <= 50:
            return 0.0
        return np.corrcoef(np.arange(len(begins)), begins)[0, 1]

    @property
    def windows_with_a_token(self) -> float:
        """How many windows have a token as a target, if they overlap by design."""
        strides = np.diff(np.unique(np.concatenate(self.first_positions)))
        stride = np.median(strides) if strides.size else 1
        return max(1, len(self.rows[0]) - 1) / stride


class Loaders:
    """Makes loaders of ids that tell their positions, and reads them; `note` is told
    what is wrong inside of batches."""

    def __init__(self, make_loader: Callable, lengths, world_size: int, note: Callable):
        self.make_loader, self.world_size, self.note = make_loader, world_size, note
        self.document_of = np.repeat(np.arange(len(lengths)), lengths)
        self.document_starts = np.cumsum([0, *lengths[:-1]])
        self.asks_for = set(inspect.signature(make_loader).parameters)

    def make(self, rank: int, epoch: int = 0) -> Iterable:
        given = {"epoch": epoch, "rank": rank, "world_size": self.world_size}
        given["document_starts"] = self.document_starts.copy()
        given = {name: given[name] for name in given if name in self.asks_for}
        return self.make_loader(FIRST_ID + np.arange(len(self.document_of)), **given)

    def read_epochs(self, rank: int, num_epochs: int) -> list[Epoch]:
        loader, epochs = self.make(rank), []
        for number in range(num_epochs):
            if number and ("epoch" in self.asks_for or isinstance(loader, Iterator)):
                loader = self.make(rank, number)
            epochs.append(self.read(loader))
        return epochs

    def read(self, batches: Iterable) -> Epoch:
        epoch, earlier = Epoch(len(self.document_of)), []
        for number, batch in enumerate(map(read_batch, batches)):
            tokens, labels = positions_of(batch, len(self.document_of))
            self.note(compare_memory(batch, earlier), f"batch {number}")
            answers = look_inside(batch, tokens, labels, self.document_of)
            self.note(answers, f"batch {number}")
            earlier = [(block, block.copy()) for block in batch.memory]
            epoch.add(tokens, labels, batch.scored)
        return epoch

    def stop_and_resume(self, rank: int, num_batches: int) -> tuple[Epoch, Epoch]:
        """Stop a loader, and read its rest, and what a new one reads of it."""
        stopped, resumed = self.make(rank), self.make(rank)
        batches = iter(stopped)
        list(islice(batches, num_batches))
        state = pickle.dumps(stopped.state_dict())  # as a checkpoint keeps it
        rest = self.read(batches)
        resumed.load_state_dict(pickle.loads(state))
        return rest, self.read(resumed)


def positions_of(batch: BatchRows, num_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Where tokens and labels come from, -1 where that is not the stream."""

    def positions(ids: np.ndarray) -> np.ndarray:
        is_ours = (ids >= FIRST_ID) & (ids < FIRST_ID + num_tokens)
        return np.where(is_ours, ids - FIRST_ID, -1)

    tokens = np.where(batch.is_kept, positions(batch.inputs), -1)
    labels = tokens if batch.labels is None else positions(batch.labels)
    if batch.is_pair:  # the last target of a row is its last token
        tokens[:, -1] = labels[:, -1]
    return tokens, labels
