"""An audit on one screen: ids that tell their positions, and a few lines a finding."""

import inspect
import pickle
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from course_lib.auditing_loaders.batch_rows import BatchRows, read_batch

FIRST_ID = 1_000
Findings = Iterator[tuple]  # a name, whether it is so, and perhaps where


class Epoch:
    """What one rank got: rows as positions, and how often each token is a target."""

    def __init__(self, num_tokens: int):
        self.order: list[tuple[int, ...]] = []
        self.firsts: list[np.ndarray] = []  # where the rows of each batch begin
        self.targets = np.zeros(num_tokens, dtype=np.int64)

    def add(self, here: np.ndarray, label: np.ndarray, scored: np.ndarray) -> None:
        is_target = scored[:, 1:] & (label[:, 1:] >= 0)
        np.add.at(self.targets, label[:, 1:][is_target], 1)
        self.order += map(tuple, here.tolist())
        self.firsts.append(here[here[:, 0] >= 0, 0])

    @property
    def goes_forward(self) -> bool:
        """Whether each place of the batch reads the stream from front to back."""
        steps = (b[: len(a)] - a[: len(b)] for a, b in pairwise(self.firsts))
        return all((step >= 0).all() for step in steps)

    @property
    def correlation(self) -> float:
        """Between when a row comes and where it begins; fewer than 50 don't count."""
        begins = np.concatenate(self.firsts)
        if len(begins) <= 50:
            return 0.0
        return np.corrcoef(np.arange(len(begins)), begins)[0, 1]

    @property
    def overlaps(self) -> float:
        """How many windows hold a token if they overlap by design."""
        strides = np.diff(np.unique(np.concatenate(self.firsts)))
        stride = np.median(strides) if strides.size else 1
        return max(1, len(self.order[0]) - 1) / stride


class MiniAudit:
    """Findings by name, in `found`, each with a place to look at. The stream has
    documents of these lengths, one after another."""

    def __init__(self, make_loader, lengths=(1_000,), num_epochs=2, world_size=1):
        self.found: dict[str, str] = {}
        loaders = Loaders(make_loader, lengths, world_size, self.tell)
        ranks = [loaders.read_epochs(rank, num_epochs) for rank in range(world_size)]
        for rank, epochs in enumerate(ranks):
            (again,) = loaders.read_epochs(rank, 1)
            self.tell(compare_epochs(epochs, again), f"rank {rank}")
            if hasattr(loaders.make(rank), "load_state_dict"):
                rests = loaders.stop_and_resume(rank, len(again.firsts) // 2)
                self.tell(compare_resumed(*rests), f"rank {rank}")
        self.tell(compare_ranks(ranks, loaders.starts))

    def tell(self, findings: Findings, at: str = "") -> None:
        for name, is_so, *where in findings:
            if is_so:
                self.found.setdefault(name, f"{at} {' '.join(map(str, where))}")


class Loaders:
    """Makes loaders of ids that tell their positions, and reads them; what is wrong
    inside a batch, it tells at once."""

    def __init__(self, make_loader, lengths, world_size, tell):
        self.make_loader, self.world_size, self.tell = make_loader, world_size, tell
        self.document = np.repeat(np.arange(len(lengths)), lengths)
        self.starts = np.cumsum([0, *lengths[:-1]])
        self.asks_for = set(inspect.signature(make_loader).parameters)

    def make(self, rank: int, epoch: int = 0) -> Iterable:
        given = {"epoch": epoch, "rank": rank, "world_size": self.world_size}
        given["document_starts"] = self.starts.copy()
        given = {name: given[name] for name in given if name in self.asks_for}
        return self.make_loader(FIRST_ID + np.arange(len(self.document)), **given)

    def read_epochs(self, rank: int, num_epochs: int) -> list[Epoch]:
        loader, epochs = self.make(rank), []
        for number in range(num_epochs):
            if number and ("epoch" in self.asks_for or isinstance(loader, Iterator)):
                loader = self.make(rank, number)
            epochs.append(self.read(loader))
        return epochs

    def read(self, batches: Iterable) -> Epoch:
        epoch, before = Epoch(len(self.document)), []
        for number, batch in enumerate(map(read_batch, batches)):
            here, label = positions_of(batch, len(self.document))
            self.tell(compare_memory(batch, before), f"batch {number}")
            self.tell(look_inside(batch, here, label, self.document), f"batch {number}")
            before = [(block, block.copy()) for block in batch.memory]
            epoch.add(here, label, batch.scored)
        return epoch

    def stop_and_resume(self, rank: int, num_batches: int) -> tuple[Epoch, Epoch]:
        """Stop a loader, and read its rest, and what a new one reads of it."""
        stopped, resumed = self.make(rank), self.make(rank)
        batches = iter(stopped)
        for _ in range(num_batches):
            next(batches)
        state = pickle.dumps(stopped.state_dict())
        rest = self.read(batches)
        resumed.load_state_dict(pickle.loads(state))
        return rest, self.read(resumed)


def positions_of(batch: BatchRows, num_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Where tokens and labels come from, -1 where that is not the stream."""

    def positions(ids: np.ndarray) -> np.ndarray:
        is_ours = (ids >= FIRST_ID) & (ids < FIRST_ID + num_tokens)
        return np.where(is_ours, ids - FIRST_ID, -1)

    here = np.where(batch.is_kept, positions(batch.inputs), -1)
    label = here if batch.labels is None else positions(batch.labels)
    if batch.is_pair:  # the last target of a row is its last token
        here[:, -1] = label[:, -1]
    return here, label


def compare_memory(batch: BatchRows, before: list) -> Findings:
    """Find memory that inputs and targets share, or one batch and the next."""
    shared = len(batch.memory) == 2 and np.shares_memory(*batch.memory)
    yield "shared_memory", shared or any((now != then).any() for now, then in before)


def look_inside(batch: BatchRows, here, label, document) -> Findings:
    """Find what is wrong inside rows: at each place stand a token and its label."""
    yield "scored_padding", scores_padding(batch, here, label)
    for row, (tokens, labels) in enumerate(zip(here, label, strict=True)):
        right = np.append(-1, tokens[:-1] + 1) if batch.is_pair else tokens
        known = batch.scored[row] & (labels >= 0) & (right > 0)
        if known.any() and (ahead := np.median((labels - right)[known])):
            yield "wrong_shift", True, f"row {row}: {ahead:+.0f}"
            continue
        for one, other in unannounced_neighbors(batch, row, tokens):
            crosses = document[one] != document[other]
            where = f"row {row}: {one}, then {other}"
            yield "crosses_documents", crosses, where
            yield "broken_row", other != one + 1 and not crosses, where


def scores_padding(batch: BatchRows, here, label) -> bool:
    """Whether a label is scored that is no token, or that its model can't know."""
    if batch.labels is None:
        return False
    padding = batch.scored & ((label < 0) | ~batch.judged)
    unseen = batch.scored & batch.hides_before & (label == here)
    return (padding | unseen)[:, 1:].any()


def unannounced_neighbors(batch: BatchRows, row: int, tokens) -> Iterator[tuple]:
    """Yield neighbors in a row between which nothing says that a document begins."""
    announced = batch.hides_before[row].copy()
    if not batch.tells_apart:  # then a label that is dropped does
        announced |= ~batch.scored[row] & batch.is_kept[row]
    for one, other in pairwise(np.flatnonzero(tokens >= 0)):
        if not announced[one + 1 : other + 1].any():
            yield tokens[one], tokens[other]


def compare_epochs(epochs: list[Epoch], again: Epoch) -> Findings:
    """Find what the epochs of one rank show of its order."""
    first = epochs[0]
    yield "not_repeatable", again.order != first.order
    shuffled = [tuple(epoch.order) for epoch in epochs if not epoch.goes_forward]
    yield "same_order", len(set(shuffled)) < len(shuffled)
    yield "weak_shuffle", not first.goes_forward and first.correlation > 0.8
    yield "repeated", first.targets.max() >= 1 + first.overlaps


def compare_resumed(rest: Epoch, got: Epoch) -> Findings:
    """Find what a loader that was resumed reads otherwise than the one that stopped."""
    more = got.targets - rest.targets
    yield "resume_repeats", (more > 0).any()
    yield "resume_loses", (more < 0).any()
    yield "resume_reorders", not more.any() and got.order != rest.order


def compare_ranks(ranks: list[list[Epoch]], starts: np.ndarray) -> Findings:
    """Find what all ranks together read twice, or never."""
    targets = np.array(
        [[e.targets for e in epochs] for epochs in zip(*ranks, strict=True)]
    )
    several = np.flatnonzero((targets[0] > 0).sum(axis=0) > 1)
    yield "ranks_overlap", several.size, several
    steps = [len(epochs[0].firsts) for epochs in ranks]
    yield "unequal_steps", len(set(steps)) > 1, steps
    never = targets.sum(axis=1) == 0
    never[:, starts] = False  # nothing predicts the first of a document
    tail = never.shape[1] - np.flatnonzero(targets[0].sum(axis=0))[-1]
    always = np.flatnonzero(never.all(axis=0))  # is lost, but for a tail
    is_lost = always.size > tail or never.sum() >= targets.sum() / max(steps)
    name = "lost" if len(ranks) == 1 else "ranks_lose"
    yield name, is_lost, np.flatnonzero(never.any(axis=0))
