"""An audit on one screen: ids that tell their positions, and a few lines a finding."""

import inspect
import pickle
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from course_lib.auditing_loaders.batch_rows import BatchRows, read_batch

FIRST_ID = 1_000


class Epoch:
    """What one rank got: rows as positions, and how often each token is a target."""

    def __init__(self, num_tokens: int):
        self.order: list[tuple[int, ...]] = []
        self.firsts: list[np.ndarray] = []  # where the rows of each batch begin
        self.targets = np.zeros(num_tokens, dtype=np.int64)

    @property
    def goes_forward(self) -> bool:
        """Whether each place of the batch reads the stream from front to back."""
        steps = (b[: len(a)] - a[: len(b)] for a, b in pairwise(self.firsts))
        return all((step >= 0).all() for step in steps)


class MiniAudit:
    """Findings by name, in `found`, each with a place to look at. The stream has
    documents of these lengths, one after another."""

    def __init__(self, make_loader, lengths=(1_000,), num_epochs=2, world_size=1):
        self.make_loader, self.world_size = make_loader, world_size
        self.document = np.repeat(np.arange(len(lengths)), lengths)
        self.starts = np.cumsum([0, *lengths[:-1]])
        self.named = set(inspect.signature(make_loader).parameters)
        self.found: dict[str, str] = {}
        ranks = [self.read_rank(rank, num_epochs) for rank in range(world_size)]
        self.compare_ranks(list(zip(*ranks, strict=True)))

    def tell(self, name: str, is_so: object, evidence: object) -> None:
        if is_so:
            self.found.setdefault(name, str(evidence))

    def make(self, rank: int, epoch: int = 0) -> Iterable:
        given = {"epoch": epoch, "rank": rank, "world_size": self.world_size}
        given["document_starts"] = self.starts.copy()
        ids = FIRST_ID + np.arange(len(self.document))
        return self.make_loader(ids, **{n: given[n] for n in given if n in self.named})

    def read(self, batches: Iterable) -> Epoch:
        epoch, before = Epoch(len(self.document)), []
        for number, batch in enumerate(map(read_batch, batches)):
            at = f"batch {number}"
            shared = len(batch.memory) == 2 and np.shares_memory(*batch.memory)
            shared |= any((now != then).any() for now, then in before)
            self.tell("shared_memory", shared, at)
            before = [(block, block.copy()) for block in batch.memory]
            here = np.where(batch.is_kept, self.positions(batch.inputs), -1)
            label = here if batch.labels is None else self.positions(batch.labels)
            if batch.is_pair:  # the last target of a row is its last token
                here[:, -1] = label[:, -1]
            self.look_inside(batch, here, label, at)
            is_target = batch.scored[:, 1:] & (label[:, 1:] >= 0)
            np.add.at(epoch.targets, label[:, 1:][is_target], 1)
            epoch.order += map(tuple, here.tolist())
            epoch.firsts.append(here[here[:, 0] >= 0, 0])
        return epoch

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Where ids come from, -1 where that is not the stream."""
        is_ours = (ids >= FIRST_ID) & (ids < FIRST_ID + len(self.document))
        return np.where(is_ours, ids - FIRST_ID, -1)

    def look_inside(self, batch: BatchRows, here, label, at: str) -> None:
        """Find what is wrong inside rows: at each place stand a token and its label."""
        if batch.labels is not None:
            padding = batch.scored & ((label < 0) | ~batch.judged)
            unseen = batch.scored & batch.hides_before & (label == here)
            self.tell("scored_padding", (padding | unseen)[:, 1:].any(), at)
        announced = batch.hides_before.copy()
        if not batch.tells_apart:  # then a label that is dropped does
            announced |= ~batch.scored & batch.is_kept
        for row, (tokens, labels) in enumerate(zip(here, label, strict=True)):
            right = np.append(-1, tokens[:-1] + 1) if batch.is_pair else tokens
            known = batch.scored[row] & (labels >= 0) & (right > 0)
            if known.any() and (ahead := np.median((labels - right)[known])):
                self.tell("wrong_shift", True, f"{at}, row {row}: {ahead:+.0f}")
                continue
            for one, other in pairwise(np.flatnonzero(tokens >= 0)):
                if announced[row, one + 1 : other + 1].any():
                    continue
                before, after = tokens[one], tokens[other]
                crosses = self.document[before] != self.document[after]
                evidence = f"{at}, row {row}: {before}, then {after}"
                self.tell("crosses_documents", crosses, evidence)
                self.tell("broken_row", after != before + 1 and not crosses, evidence)

    def read_rank(self, rank: int, num_epochs: int) -> list[Epoch]:
        """Read epochs, the first of them again, and find what they show of orders."""
        loader, epochs, at = self.make(rank), [], f"rank {rank}"
        for number in range(num_epochs):
            if number and ("epoch" in self.named or isinstance(loader, Iterator)):
                loader = self.make(rank, number)
            epochs.append(self.read(loader))
        first, again = epochs[0], self.read(self.make(rank))
        self.tell("not_repeatable", again.order != first.order, at)
        shuffled = [tuple(e.order) for e in epochs if not e.goes_forward]
        self.tell("same_order", len(set(shuffled)) < len(shuffled), at)
        begins = np.concatenate(first.firsts)
        if len(begins) > 50 and not first.goes_forward:  # fewer are so by chance
            correlation = np.corrcoef(np.arange(len(begins)), begins)[0, 1]
            self.tell("weak_shuffle", correlation > 0.8, at)
        strides = np.diff(np.unique(begins))
        stride = np.median(strides) if strides.size else 1
        by_design = max(1, len(first.order[0]) - 1) / stride  # overlaps of windows
        self.tell("repeated", first.targets.max() >= 1 + by_design, at)
        if hasattr(loader, "load_state_dict"):
            self.resume(rank, len(first.firsts) // 2)
        return epochs

    def resume(self, rank: int, num_batches: int) -> None:
        """Stop a loader, go on in a new one, and compare it with the first."""
        stopped, resumed = self.make(rank), self.make(rank)
        batches = iter(stopped)
        for _ in range(num_batches):
            next(batches)
        state = pickle.dumps(stopped.state_dict())
        expected = self.read(batches)
        resumed.load_state_dict(pickle.loads(state))
        got = self.read(resumed)
        more, at = got.targets - expected.targets, f"rank {rank}"
        self.tell("resume_repeats", (more > 0).any(), at)
        self.tell("resume_loses", (more < 0).any(), at)
        self.tell("resume_reorders", not more.any() and got.order != expected.order, at)

    def compare_ranks(self, by_epoch: list[tuple[Epoch, ...]]) -> None:
        """Find what all ranks together read twice, or never."""
        targets = np.array([[e.targets for e in ranks] for ranks in by_epoch])
        several = np.flatnonzero((targets[0] > 0).sum(axis=0) > 1)
        self.tell("ranks_overlap", several.size, several)
        steps = [len(epoch.firsts) for epoch in by_epoch[0]]
        self.tell("unequal_steps", len(set(steps)) > 1, steps)
        never = targets.sum(axis=1) == 0
        never[:, self.starts] = False  # nothing predicts the first of a document
        tail = len(self.document) - np.flatnonzero(targets[0].sum(axis=0))[-1]
        always = np.flatnonzero(never.all(axis=0))  # is lost, but for a tail
        is_lost = always.size > tail or never.sum() >= targets.sum() / max(steps)
        name = "lost" if self.world_size == 1 else "ranks_lose"
        self.tell(name, is_lost, np.flatnonzero(never.any(axis=0)))
