"""What each lesson adds to a reader's loader: two hints, and how it is audited.

A level yields complaints, sentences, of which the reader is told the first.
"""

from __future__ import annotations

import copy
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from course_lib.auditing_loaders import FINDINGS, Audit, audit_loader
from course_lib.document_packing import assign_packs

NUM_TOKENS = 2_020  # with T = 16 and B = 4, windows for a last batch of two
# With T = 16 and B = 4, windows for 10 batches on each of 3 ranks, but for one or two.
UNEVEN = 16 * (3 * 10 * 4 - 1) + 1
FIRST_ID = 1_000  # of the streams that we make ourselves; smaller ids are padding
# Around T = 16: shorter, exact, longer by one, several chunks, and a single token.
# The last document is long, so that a loader which forgets it loses whole rows. The
# first makes one row too many, so that neither chunks nor packs fill the last batch.
LENGTHS = [16, *[5, 16, 17, 33, 1, 48, 2, 31, 20, 3, 9, 70] * 5]
STARTS = np.cumsum([0, *LENGTHS[:-1]])
MIX = {"web": 3, "code": 1}
LARGE = 70_000  # an id for which 16 bits are too few
FORWARD = 0.7  # share of steps; half of them lead forward in a shuffled order
SHUFFLED = 3  # the first level with an order of its own for each epoch
FAR = 4  # standard deviations that separate a share of draws from its weight

MakeLoader = Callable[..., Any]
Complaints = Generator[str, None, str | None]


class Level(NamedTuple):
    """What a lesson adds: its name, what is wrong with a loader, and two hints.

    If nothing is wrong, the complaints may return a sentence on what was found.
    """

    title: str
    complaints: Callable[[MakeLoader], Complaints]
    hints: tuple[str, ...]


#: By the number of the lesson.
LEVELS: dict[int, Level] = {}


def _level(number: int, title: str, *hints: str) -> Callable[[Callable], Callable]:
    def add(complaints: Callable[[MakeLoader], Complaints]) -> Callable:
        LEVELS[number] = Level(title, complaints, hints)
        return complaints

    return add


# What a loader is given, in words, and how it gets the auditor's stream in that form

ARRAY = "one array of ids"
DOCUMENTS = "one array of ids, and document_starts"
FILES = "a list of three memory maps, uint16 and read-only"
SOURCES = f"a dictionary of two arrays, web and code, and mix={MIX}"


def _given(
    make_loader: MakeLoader, form: Callable = lambda ids: ids, **more: Any
) -> MakeLoader:
    return lambda ids, epoch, rank, world_size: make_loader(
        form(ids), epoch=epoch, rank=rank, world_size=world_size, **more
    )


def _in_files(ids: np.ndarray) -> list[np.memmap]:
    return [_as_file(part) for part in np.split(ids, _borders(len(ids)))]


def _borders(num_tokens: int) -> list[int]:
    return [num_tokens // 3, num_tokens // 3 + 7]  # the file between is short


def _by_source(ids: np.ndarray) -> dict[str, np.ndarray]:
    code, web = np.split(ids, 2)
    # Where a window runs on from one into the other, in either order, ids jump. The
    # order is another one than that of MIX: names decide.
    return {"code": code, "web": web[1:]}


def _as_file(ids: np.ndarray) -> np.memmap:
    with tempfile.TemporaryFile() as file:
        file.write(ids.astype("<u2").tobytes())
        file.flush()
        return np.memmap(file, dtype="<u2", mode="r")


def _audited(
    given: str,
    make_loader: MakeLoader,
    by_design: tuple[str, ...] = (),
    **settings: Any,
) -> Generator[str, None, Audit]:
    """Complain of all that an audit finds, or else return the audit."""
    given = f"given {given}"
    settings = {"world_size": 1, **settings}
    if settings["world_size"] > 1:
        given += f", on {settings['world_size']} ranks"
    if "document_lengths" not in settings:
        settings = {"num_tokens": NUM_TOKENS, **settings}
    try:
        audit = audit_loader(make_loader, **settings)
    except Exception as error:
        error.add_note(given)
        raise
    found = [
        f"{finding.name} ({finding.count:,}): {FINDINGS[finding.name]}. "
        f"{finding.evidence}"
        for finding in audit.findings
        if finding.name not in by_design
    ]
    found += [
        f"undecided: {name}, because {why}. Choose a smaller T or B."
        for name, why in audit.undecided.items()
    ]
    found += [
        f"{note}. Copy what you take from it."
        for note in audit.notes
        if note.startswith("batches are views of the stream")
    ]
    if found:
        yield "\n".join([f"{given}:", *found])
    return audit


@_level(
    2,
    "windows",
    "Which starts does `window_starts` give at stride T? A batch takes the next B "
    "starts, and each of them needs the T + 1 ids that begin there.",
    "`starts[:, None] + np.arange(T + 1)` is a table of positions, with a row for each "
    "start. Index `ids` with the whole table, make the result int64, and return copies "
    "of its first T and of its last T columns.",
)
def _batches_of_windows(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(ARRAY, _given(make_loader))
    yield from _batches_are_full(_given(make_loader), audit)
    yield from _all_full_batches_come(make_loader, audit)
    stride = np.diff(np.unique(audit.starts[0])).min()
    if stride != audit.context_length:
        yield f"windows begin {stride} tokens apart. Take the stride T."


def _batches_are_full(loader_of: MakeLoader, audit: Audit) -> Complaints:
    T, B = audit.context_length, audit.batch_size
    size = T * (6 * B + max(1, B // 2)) + 1  # the last batch is not full
    # As in a text, ids come again, and none says what the next one is.
    ids = FIRST_ID + np.random.default_rng(0).integers(50, size=size)
    stream = ids.astype(np.int64).tobytes()
    for batch in loader_of(ids, epoch=0, rank=0, world_size=1):
        if not isinstance(batch, Mapping):
            inputs, targets = (np.asarray(part, dtype=np.int64) for part in batch)
            rows = np.concatenate([inputs, targets[:, -1:]], axis=1)
            in_stream = all(row.tobytes() in stream for row in rows)
            if not in_stream or (inputs[:, 1:] != targets[:, :-1]).any():
                yield (
                    "the T inputs of a row and its last target aren't T + 1 neighbors "
                    "in the stream, or its other targets aren't its other inputs. Find "
                    "ids by their places in the stream, not by their values."
                )
        for part in batch.values() if isinstance(batch, Mapping) else batch:
            kind, shape = str(part.dtype).removeprefix("torch."), tuple(part.shape)
            if (kind, shape) != ("int64", (B, T)):
                yield (
                    f"there is a batch of {kind} of shape {shape}. All batches should "
                    f"be int64 of shape (B, T), which is {(B, T)} here. Leave out a "
                    "batch that isn't full."
                )


def _all_full_batches_come(
    make_loader: MakeLoader, audit: Audit, world_size: int = 1
) -> Complaints:
    """Give windows for six full steps, and none that would be left over."""
    if _continues(audit):  # where parallel tracks end is up to the loader
        return
    T, step = audit.context_length, audit.batch_size * world_size
    firsts = set()
    # Here six steps fit at each offset from 0 to T - 1, and at the last one just so.
    for epoch in range(4 * T):
        size = 6 * step * T + T
        first = yield from _six_steps(make_loader, audit, size, epoch, world_size)
        firsts.add(first)
    if firsts == {0}:  # the cuts do not move, and so six steps just fit here
        yield from _six_steps(make_loader, audit, 6 * step * T + 1, 0, world_size)


def _six_steps(
    make_loader: MakeLoader, audit: Audit, size: int, epoch: int, world_size: int
) -> Generator[str, None, int]:
    """Complain if fewer come, or else return where the first window begins."""
    ids = FIRST_ID + np.arange(size)
    ranks = [
        [
            int(_inputs(batch)[:, 0].min()) - FIRST_ID
            for batch in make_loader(ids, epoch=epoch, rank=rank, world_size=world_size)
        ]
        for rank in range(world_size)
    ]
    first, got = min(chain(*ranks), default=0), min(map(len, ranks))
    if got < 6 and first < audit.context_length:  # level 4 tells of an offset of T
        where = f", on {world_size} ranks" if world_size > 1 else ""
        yield (
            f"given {ARRAY}, {size:,} ids{where}: in epoch {epoch}, your first window "
            f"begins at {first}, and you deliver {got} full batches, but there are "
            f"windows for 6{' on each rank' if where else ''}. Do you leave out a last "
            "batch that's full, or a last window that just fits?"
        )
    return first


@_level(
    3,
    "a seeded order that resumes",
    "Let `np.random.default_rng([SEED, epoch])` permute the numbers of the starts. A "
    "list of two numbers keeps seed 7, epoch 1 apart from seed 8, epoch 0.",
    "Count a batch *before* you yield it, because the code after a `yield` runs only "
    "when the next batch is asked for. `load_state_dict` says where the next iteration "
    "begins, and the one after that begins at 0 again.",
)
def _a_seeded_order(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(ARRAY, _given(make_loader))
    ids = FIRST_ID + np.arange(NUM_TOKENS)
    loader, second, third = make_loader(ids), make_loader(ids), make_loader(ids)
    for name in ("state_dict", "load_state_dict"):
        if not hasattr(loader, name):
            yield f"the loader has no {name}, so a run that stops cannot continue."
    yield from _is_shuffled(audit)
    batches = iter(loader)
    read = len(list(zip(range(2), batches, strict=False)))
    state = loader.state_dict()
    saved = copy.deepcopy(state)
    second.load_state_dict(copy.deepcopy(saved))
    third.load_state_dict(copy.deepcopy(second.state_dict()))
    next(batches, None)  # an epoch may have no third batch
    if repr(state) != repr(saved):
        yield (
            f"you returned the state {saved!r:.80}, and when the loader went on, that "
            f"same state became {state!r:.80}. Return a new dictionary each time."
        )
    rest, whole, stopped_twice = len(list(second)), len(list(second)), len(list(third))
    if whole not in (0, read + rest):  # 0: it's an iterator, so its only loop is over
        yield (
            f"a loader that resumed after {read} batches gives {rest} more, and when "
            f"it's iterated again {whole}, not a whole epoch."
        )
    yield from _begins_to_count_anew(make_loader, second, whole)
    if stopped_twice != rest:
        yield (
            f"a run stopped after {read} batches, resumed, and stopped again before "
            f"its next batch. Its loader has {rest} batches left, but whoever loads "
            f"its state gets {stopped_twice}."
        )
    yield from _minds_the_epoch(make_loader, FIRST_ID + np.arange(NUM_TOKENS))
    yield from _epochs_differ(make_loader, audit)
    yield from _batches_are_full(_given(make_loader), audit)
    yield from _all_full_batches_come(make_loader, audit)


def _begins_to_count_anew(
    make_loader: MakeLoader, loader: Iterable, whole: int
) -> Complaints:
    """Save a state in a later loop of the same loader, which may be its next epoch."""
    read = len(list(zip(range(2), loader, strict=False)))
    other = make_loader(FIRST_ID + np.arange(NUM_TOKENS))
    try:
        other.load_state_dict(copy.deepcopy(loader.state_dict()))
        left = len(list(other))
    except Exception:  # a state of another epoch is refused
        return
    if read and left < whole - read - 1:  # epochs may differ by a batch
        yield (
            f"a state saved after {read} batches of the loader's third loop leaves "
            f"{left} batches, and not {whole - read}. Begin to count anew in each loop."
        )


def _minds_the_epoch(make_loader: MakeLoader, ids: Any) -> Complaints:
    """Load a state of epoch 1 into a loader of epoch 0, which may refuse it."""
    loader, other = make_loader(ids, epoch=1), make_loader(ids, epoch=0)
    batches = iter(loader)
    next(batches)
    state = copy.deepcopy(loader.state_dict())
    try:
        other.load_state_dict(state)
        resumed = next(iter(other))
    except Exception:
        return
    if _inputs(resumed).tolist() != _inputs(next(batches)).tolist():
        yield (
            "a loader of epoch 0 took a state that was saved in epoch 1, and didn't go "
            "on with the next batch of epoch 1. So some windows come twice, and others "
            "never. Keep the epoch in the state, and refuse that of another epoch."
        )


def _epochs_differ(make_loader: MakeLoader, audit: Audit) -> Complaints:
    """Each epoch should leave out other windows, and put others side by side."""
    if _continues(audit):  # parallel tracks keep their neighbors
        return
    T, ids = audit.context_length, FIRST_ID + np.arange(NUM_TOKENS)
    is_read, neighbors = np.zeros(NUM_TOKENS, dtype=bool), []
    for epoch in range(8):
        batches = make_loader(ids, epoch=epoch)
        starts = [int(row[0]) - FIRST_ID for batch in batches for row in _inputs(batch)]
        for start in starts:
            is_read[start : start + T] = True
        neighbors.append({(a // T, b // T) for a, b in pairwise(starts)})
    if not is_read[T:-T].all():  # an offset may leave out less than T at each end
        yield (
            f"in eight epochs, you never read position {T + is_read[T:-T].argmin()}. "
            "If windows are left over, leave out others in each epoch: shuffle first."
        )
    # In two epochs of few windows, they may agree by chance.
    if all(len(a & b) > len(a) // 2 for a, b in pairwise(neighbors)):
        yield (
            "in each epoch, most windows are followed by the same ones. Shuffle anew "
            "each time."
        )


def epoch_depends_on_history(
    make_loader: MakeLoader, imported_anew: MakeLoader, level: int
) -> Complaints:
    """Ask a loader that has never made epoch 0 for epoch 1, as a resumed run does."""
    ids, more = FIRST_ID + np.arange(NUM_TOKENS), {}
    if level in (8, 9, 10):
        ids, more = FIRST_ID + np.arange(sum(LENGTHS)), {"document_starts": STARTS}
    if level == 13:
        ids, more = _by_source(ids), {"mix": dict(MIX)}
    list(make_loader(ids, epoch=0, **more))
    later, at_once = (
        [_inputs(batch).tolist() for batch in loader_of(ids, epoch=1, **more)]
        for loader_of in (make_loader, imported_anew)
    )
    if later != at_once:
        yield (
            "epoch 1 is another one if epoch 0 wasn't read before in the same process. "
            "So a run that stops in epoch 1 goes on in another order. Compute the "
            "order of an epoch from the seed and the epoch alone."
        )


def _is_shuffled(audit: Audit) -> Complaints:
    forward = np.mean(np.diff(audit.starts[0]) > 0)
    if forward >= FORWARD and not _continues(audit):
        yield (
            f"{forward:.0%} of all windows are followed by one that begins later in "
            "the stream. In a shuffled order, about half of them are."
        )


def _inputs(batch: Any) -> Any:
    return batch["input_ids"] if isinstance(batch, Mapping) else batch[0]


def _continues(audit: Audit) -> bool:
    """Say whether each row of a batch continues that of the batch before."""
    B = audit.batch_size
    firsts = audit.starts[0][: len(audit.starts[0]) // B * B].reshape(-1, B)
    return bool((np.diff(firsts, axis=0) == audit.context_length).all())


@_level(
    4,
    "cuts that move, or rows that continue",
    "For random offsets, add a number from 0 to T - 1 to all starts, and drop the last "
    "if it no longer fits. For parallel tracks, take the starts of `partition_starts`, "
    "and don't shuffle them.",
    "Draw the offset from the generator that permutes the starts. The number of "
    "windows depends on the offset, so draw the offset first. Parallel tracks are "
    "`partition_starts(len(ids), B, T, offset).ravel()`.",
)
def _moving_cuts_or_rows_that_continue(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(ARRAY, _given(make_loader))
    yield from _is_shuffled(audit)
    yield from _batches_are_full(_given(make_loader), audit)
    yield from _all_full_batches_come(make_loader, audit)
    yield from _epochs_differ(make_loader, audit)
    T, B = audit.context_length, audit.batch_size
    num_tokens, num_epochs = 2 * T * B + T, 16 * T  # at offsets below T, two batches
    firsts = []
    for epoch in range(num_epochs):
        batches = make_loader(FIRST_ID + np.arange(num_tokens), epoch=epoch)
        firsts.append(min(int(_inputs(batch).min()) for batch in batches) - FIRST_ID)
    offsets = sorted({first % T for first in firsts})
    if _continues(audit):
        for more in range(B * T):  # at one of them a track may be too long
            list(make_loader(FIRST_ID + np.arange(num_tokens + more)))
        if len(offsets) == 1:
            yield (
                f"in {num_epochs} epochs, the tracks always begin at position "
                f"{offsets[0]}, so the text is cut in the same places each time. Draw "
                "an offset for each epoch."
            )
        return "Each row continues in the next batch, as in parallel tracks."
    if offsets != list(range(T)):
        yield (
            f"in {num_epochs} epochs, the text is cut only at these offsets: "
            f"{offsets}. They should be 0 to {T - 1}, or each row should continue in "
            "the next batch."
        )
    if T in firsts:
        yield (
            f"in epoch {firsts.index(T)} the offset is T = {T}, which cuts where "
            "offset 0 cuts, so these cuts come twice as often."
        )
    return (
        "The cuts move, and the order is shuffled, so no row continues in the next "
        "batch. For parallel tracks, the order must stay as it is."
    )


@_level(
    8,
    "long documents in chunks",
    "`document_starts` says where each document begins. It ends where the next one "
    "begins, or with the stream. Which overlap scores all that can be scored? Pads "
    "have the id 0 and the label -100.",
    "Return dictionaries: `input_ids` and `labels`, each of shape (B, T). Fill them "
    "with 0 and -100, and copy each chunk to the beginning of its row. A subclass of "
    "`Loader` with a `batch` of its own is enough.",
)
def _chunks(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(DOCUMENTS, make_loader, document_lengths=LENGTHS)
    for number, batch in enumerate(_batches_of_documents(make_loader)):
        if not isinstance(batch, Mapping):
            yield (
                "batches of documents should be dictionaries with input_ids and "
                "labels, because a pair can hold nothing but inputs and targets."
            )
        ids = np.asarray(batch["input_ids"])
        if (wrong := ids[(ids < FIRST_ID) & (ids != 0)]).size:
            yield f"batch {number} has pads with the id {wrong[0]}. Give them the id 0."
    yield from _pads_come_last(make_loader)
    yield from _pads_are_places(make_loader, audit)
    yield from _no_chunk_is_inside_another(make_loader)
    yield from _rows_are_in_an_order_of_the_epoch(make_loader)
    with_starts = partial(make_loader, document_starts=STARTS)
    yield from _minds_the_epoch(with_starts, FIRST_ID + np.arange(sum(LENGTHS)))


def _pads_come_last(make_loader: MakeLoader) -> Complaints:
    """Complain of pads before a token, unless a mask or positions may hide them."""
    for number, batch in enumerate(_batches_of_documents(make_loader)):
        hiding = (batch.get(name) for name in ("attention_mask", "position_ids"))
        if all(values is None for values in hiding):
            is_token = np.asarray(batch["input_ids"]) >= FIRST_ID
            if (is_token[:, 1:] > is_token[:, :-1]).any():
                yield (
                    f"in batch {number}, pads come before tokens, which see them, "
                    "because nothing hides them. Put the pads after all tokens of "
                    "their row."
                )


def _pads_are_places(make_loader: MakeLoader, audit: Audit) -> Complaints:
    """Give documents that end with the id 0, as those of our own tokenizer do."""
    T, B = audit.context_length, audit.batch_size
    starts = np.arange(0, T * B * 2, T)  # each fills a row
    ids = FIRST_ID + np.arange(T * B * 2)
    ids[starts + T - 1] = 0
    batches = make_loader(ids, document_starts=starts)
    if not any((np.asarray(batch["labels"]) == 0).any() for batch in batches):
        yield (
            "where a token of the text has the id 0, no label does. Tell pads by their "
            "place, not by their id, or a model may never learn where a text ends."
        )


def _no_chunk_is_inside_another(make_loader: MakeLoader) -> Complaints:
    batches = _batches_of_documents(make_loader)
    rows = [set(row.tolist()) - {0} for own in batches for row in _inputs(own)]
    for number, row in enumerate(rows):
        others = rows[:number] + rows[number + 1 :]
        if row and any(row <= other for other in others):
            yield (
                f"row {number} holds nothing that another row doesn't hold as well, "
                "so it teaches nothing more. Leave out chunks that lie inside another."
            )


def _rows_are_in_an_order_of_the_epoch(make_loader: MakeLoader) -> Complaints:
    """The audit leaves the order to the loader, and a loader needn't resume."""
    ids = FIRST_ID + np.arange(sum(LENGTHS))
    loaders = [make_loader(ids, epoch=n, document_starts=STARTS) for n in range(2)]
    for name in ("state_dict", "load_state_dict"):
        if not hasattr(loaders[0], name):
            yield (
                f"given {DOCUMENTS}, the loader has no {name}, so a run that stops "
                "cannot continue."
            )
    first, second = (
        [np.asarray(row).tolist() for batch in loader for row in _inputs(batch)]
        for loader in loaders
    )
    if first == second:
        yield (
            f"given {DOCUMENTS}, two epochs have their rows in the same order. "
            "Shuffle them, as in lesson 3."
        )


def _batches_of_documents(make_loader: MakeLoader) -> Iterable:
    return make_loader(FIRST_ID + np.arange(sum(LENGTHS)), document_starts=STARTS)


@_level(
    9,
    "packs",
    "`assign_packs` takes the lengths of all chunks, and says which of them share a "
    "row. A row becomes a list of pieces.",
    "Copy the pieces of a row one after another. The first label of each piece is "
    "-100, because the token before it belongs to another piece.",
)
def _packs(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(DOCUMENTS, make_loader, document_lengths=LENGTHS)
    yield from _rows_are_full(make_loader, audit.context_length)
    yield from _the_last_pack_comes(make_loader, audit)
    yield from _pads_come_last(make_loader)


def _rows_are_full(make_loader: MakeLoader, T: int) -> Complaints:
    pieces = [
        min(T, length - start)
        for length in LENGTHS
        for start in range(0, max(length - 1, 1), T - 1)
    ]
    rows = sum(len(batch["input_ids"]) for batch in _batches_of_documents(make_loader))
    if rows > (enough := len(assign_packs(pieces, T, strategy="greedy"))):
        yield (
            f"{len(LENGTHS)} documents take {rows} rows, although even greedy packing "
            f"needs only {enough}. Let short pieces share a row."
        )


def _the_last_pack_comes(make_loader: MakeLoader, audit: Audit) -> Complaints:
    """Give documents that fill a row each, and all batches together."""
    T, wanted = audit.context_length, 6 * audit.batch_size
    ids = FIRST_ID + np.arange(T * wanted)
    batches = make_loader(ids, document_starts=np.arange(0, len(ids), T))
    rows = sum(len(batch["input_ids"]) for batch in batches)
    if rows < wanted:
        yield (
            f"given {wanted} documents of {T} tokens, each of which fills a row, you "
            f"deliver only {rows} rows. Do you forget the last pack?"
        )


@_level(
    10,
    "positions that begin again",
    "A piece of n tokens has the positions 0 to n - 1, wherever it is in its row. "
    "Which other entry of a batch would hide them from `transformers`?",
    "Where you copy a piece, write its positions 0, 1, 2, ... into the same places of "
    "`position_ids`. Return no `attention_mask`. Pads come after all tokens of their "
    "row, so no token sees them.",
)
def _positions_that_begin_again(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(DOCUMENTS, make_loader, document_lengths=LENGTHS)
    yield from _rows_are_full(make_loader, audit.context_length)
    for number, batch in enumerate(_batches_of_documents(make_loader)):
        ids, given = (np.asarray(batch.get(n)) for n in ("input_ids", "position_ids"))
        if given.shape != ids.shape:
            yield "there are no position_ids, or not one for each of the input_ids."
        if batch.get("attention_mask") is not None:
            yield (
                "there is an attention_mask beside the positions. Given one, "
                "transformers no longer infers documents from positions, which is what "
                "this level asks for. So leave it out."
            )
        for row, places in enumerate(ids - FIRST_ID):
            places, got = places[places >= 0], given[row][places >= 0]
            begins = (np.diff(places, prepend=-9) != 1) | np.isin(places, STARTS)
            numbers = np.arange(len(places))
            wanted = numbers - np.maximum.accumulate(np.where(begins, numbers, 0))
            if not np.array_equal(wanted, got):
                yield (
                    f"row {row} of batch {number} should have the positions "
                    f"{wanted.tolist()}, but has {got.tolist()}."
                )


def _windows_cross(loader_of: MakeLoader) -> Complaints:
    """In each epoch, an offset may lose a window or two, but not always these."""
    ids = FIRST_ID + np.arange(NUM_TOKENS)
    batches = [
        (_inputs(batch)[:, 0], batch[1][:, -1])
        for epoch in range(8)
        for batch in loader_of(ids, epoch=epoch, rank=0, world_size=1)
    ]
    for border in _borders(NUM_TOKENS):
        if not any(
            ((first < ids[border]) & (last >= ids[border])).any()
            for first, last in batches
        ):
            yield (
                f"a file ends at position {border}, and in eight epochs, no window "
                "goes on from there into the next file."
            )


@_level(
    11,
    "a stream in several files",
    "If `ids` is a list, wrap it in a class with `__len__` and `__getitem__`, and the "
    "rest of your loader can stay as it is.",
    "`__getitem__` gets a table of positions. For each file, find the positions that "
    "lie in it, subtract the position where the file begins, and read only those ids.",
)
def _several_files(make_loader: MakeLoader) -> Complaints:
    from_files = _given(make_loader, _in_files)
    audit = yield from _audited(FILES, from_files)
    yield from _audited(ARRAY, _given(make_loader))
    yield from _is_shuffled(audit)
    yield from _batches_are_full(from_files, audit)
    yield from _windows_cross(from_files)
    large = np.arange(LARGE, LARGE + NUM_TOKENS, dtype=np.uint32)
    smallest = min(int(_inputs(batch).min()) for batch in make_loader([large, large]))
    if smallest < LARGE:
        yield (
            f"files of uint32 hold only ids from {LARGE:,} on, but in your batches "
            f"there is a {smallest:,}. In which dtype do you collect what you read?"
        )
    part = np.zeros(4_000_000, dtype=np.uint32)
    tracemalloc.start()
    try:
        batches = iter(make_loader([part, part]))
        next(batches)
        before, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        next(batches)
        more = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    # Starts and their order take memory too, the more the shorter the windows are.
    if peak >= 2 * part.nbytes * max(1, 16 // audit.context_length):
        yield (
            f"given two files of {part.nbytes // 10**6} MB each, your loader uses "
            f"{peak // 10**6} MB of memory before its first batch. Does it join the "
            "files, or copy them?"
        )
    if more >= part.nbytes // 2:
        yield (
            f"given two files of {part.nbytes // 10**6} MB each, your loader uses "
            f"{more // 10**6} MB of memory for its second batch alone. Does it copy a "
            "whole file to take a few ids out of it?"
        )


@_level(
    12,
    "ranks that share one order",
    "All ranks make the same order. In each step, they take the next B * world_size "
    "rows of it together. The exercise `rank_share` from lesson 2 deals these out like "
    "cards: `rows[rank::world_size]`.",
    "A step for which there aren't enough rows is left out, so that all ranks take the "
    "same number of steps. Let the state count the rows of whole steps. After 3 steps "
    "on 2 ranks, that's 3 * 2 * B, wherever the run goes on.",
)
def _ranks(make_loader: MakeLoader) -> Complaints:
    audit = yield from _audited(
        ARRAY, _given(make_loader), num_tokens=UNEVEN, world_size=3
    )
    yield from _audited(DOCUMENTS, make_loader, document_lengths=LENGTHS, world_size=2)
    yield from _audited(FILES, _given(make_loader, _in_files), world_size=2)
    yield from _audited(ARRAY, _given(make_loader))
    yield from _equal_steps(make_loader, audit.batch_size)
    yield from _all_full_batches_come(make_loader, audit, world_size=3)
    if not _continues(audit):  # how many parallel tracks there are is up to the ranks
        ids = FIRST_ID + np.arange(UNEVEN)
        yield from _resumes_on_more_ranks(make_loader, audit.batch_size, ARRAY, ids)
    ids, more = FIRST_ID + np.arange(sum(LENGTHS)), {"document_starts": STARTS}
    with_starts = partial(make_loader, **more)
    yield from _resumes_on_more_ranks(with_starts, audit.batch_size, DOCUMENTS, ids)


def _equal_steps(make_loader: MakeLoader, B: int) -> Complaints:
    """Add a window or a document at a time, until each number of rows has once been
    left for the last step of three ranks."""
    for more in range(3 * B):
        lengths = [*LENGTHS, *[16] * more]
        starts = np.cumsum([0, *lengths[:-1]])
        for given, size, settings in (
            (ARRAY, UNEVEN + 16 * more, {}),
            (DOCUMENTS, sum(lengths), {"document_starts": starts}),
        ):
            ids = FIRST_ID + np.arange(size)
            steps = [
                sum(1 for _ in make_loader(ids, rank=rank, world_size=3, **settings))
                for rank in range(3)
            ]
            if len(set(steps)) > 1:
                yield (
                    f"given {given}, {size:,} ids, on 3 ranks:\nunequal_steps: they "
                    f"have {', '.join(map(str, steps))} batches, and need equally many."
                )


def _resumes_on_more_ranks(
    make_loader: MakeLoader, B: int, given: str, ids: Any
) -> Complaints:
    two, three = (
        [make_loader(ids, rank=rank, world_size=size) for rank in range(size)]
        for size in (2, 3)
    )
    before = [batch for own in two for _, batch in zip(range(4), own, strict=False)]
    state = two[0].state_dict()
    for own in three:
        own.load_state_dict(copy.deepcopy(state))
    read, left, whole = (
        Counter(tuple(row.tolist()) for batch in batches for row in _inputs(batch))
        for batches in (before, chain.from_iterable(three), make_loader(ids))
    )
    again, never = (read + left - whole).total(), (whole - read - left).total()
    if again or never >= 3 * B:  # fewer are no step of 3 ranks
        yield (
            f"given {given}, a run with 2 ranks stopped after 4 batches of each, and "
            f"went on with 3 ranks: {again} rows came twice, and {never} never came. "
            "Let the state count what all ranks have read."
        )


@_level(
    13,
    "a mixture of sources",
    "Cut each source into windows by itself, so that none crosses from one source to "
    "the next. `MixtureOrder(counts, mix, n, base_seed=SEED)` takes numbers of windows "
    "and weights by name, and is indexed with an array of draws. It numbers the "
    "windows through all sources, in the order of `counts`.",
    "An epoch has as many draws as there are windows. Epoch e takes the draws from "
    "e * n to (e + 1) * n of one long `MixtureOrder`, so that each source continues "
    "where the epoch before stopped.",
)
def _a_mixture(make_loader: MakeLoader) -> Complaints:
    by_design = ("lost", "repeated")  # of the source of which there is less than drawn
    mixed = _given(make_loader, _by_source, mix=dict(MIX))
    audit = yield from _audited(SOURCES, mixed, by_design)
    yield from _audited(ARRAY, _given(make_loader))
    starts, T, half = audit.starts[0], audit.context_length, NUM_TOKENS // 2
    whole, web = (half - 1) // T, starts >= half
    if len(starts) < 2 * (whole - audit.batch_size):
        yield f"an epoch draws {len(starts)} windows, but the sources hold {2 * whole}."
    wanted = MIX["web"] / sum(MIX.values())
    said = f"with the weights {MIX}, {wanted:.0%} of the windows should come from web"
    if _is_far(web, wanted):
        yield f"{said}, but {web.mean():.0%} do."
    for quarter in np.array_split(web, 4):
        if _is_far(quarter, wanted):
            yield (
                f"{said}, but in one quarter of an epoch, {quarter.mean():.0%} do. Mix "
                "the sources all through the epoch."
            )
    # The second epoch continues each source where the first has stopped.
    after = [
        int(ids[0]) - FIRST_ID
        for batch in mixed(FIRST_ID + np.arange(NUM_TOKENS), 1, 0, 1)
        for ids in _inputs(batch)
    ]
    both = np.array([*starts, *after])
    for name, own in (("web", both[both >= half]), ("code", both[both < half])):
        again = next((n for n, at in enumerate(own) if at in own[:n]), len(own))
        if again < min(len(own), (half - T) // T - audit.batch_size):
            yield (
                f"in two epochs, a window from {name} comes a second time after "
                f"{again} windows from {name}, although there are {whole}."
            )
        first, second = own[:whole].tolist(), own[whole : 2 * whole].tolist()
        in_file = sorted(first)
        for order, known, words in (
            (first, in_file, "in the file's order"),
            (second, first, "in the same order as before"),
        ):
            places = [known.index(at) for at in order if at in known]
            if len(places) > whole // 2 and np.mean(np.diff(places) > 0) > FORWARD:
                yield f"windows from {name} come {words}. Shuffle them in each reading."
    code = (both[both < half] // T)[:whole].tolist()  # numbers of windows
    web = (both[both >= half] - half) // T
    for reading in range(len(web) // whole):
        own = web[reading * whole : (reading + 1) * whole].tolist()
        places = [own.index(number) for number in code if number in own]
        if len(places) > whole // 2 and np.mean(np.diff(places) > 0) > FORWARD:
            yield (
                f"reading 1 of code has the order of reading {reading + 1} of web. "
                "Give each source orders of its own."
            )
    yield from _weights_ignore_sizes(make_loader)
    ranks = audit_loader(mixed, num_tokens=NUM_TOKENS, world_size=2)
    alone = Counter(starts.tolist())
    together = Counter(np.concatenate(ranks.starts).tolist())
    more, fewer = (together - alone).total(), (alone - together).total()
    if more + fewer > 4 * audit.batch_size:  # batches that are not full
        yield (
            f"one rank alone draws {len(starts)} windows in an epoch. Two ranks "
            f"together draw {more} others, and leave out {fewer}. Deal out the draws "
            "of one rank alone."
        )
    sources = _by_source(FIRST_ID + np.arange(NUM_TOKENS))
    with_mix = partial(make_loader, mix=dict(MIX))
    yield from _minds_the_epoch(with_mix, sources)
    yield from _resumes_on_more_ranks(with_mix, audit.batch_size, SOURCES, sources)


def _weights_ignore_sizes(make_loader: MakeLoader) -> Complaints:
    """Give four times as much of web as of code."""
    ids = FIRST_ID + np.arange(4 * NUM_TOKENS)
    code, web = np.split(ids, [len(ids) // 5])
    drawn = [
        int(row[0]) >= web[0]
        for batch in make_loader({"code": code, "web": web}, mix=dict(MIX))
        for row in _inputs(batch)
    ]
    wanted = MIX["web"] / sum(MIX.values())
    if _is_far(np.array(drawn), wanted):
        yield (
            f"with the weights {MIX}, and four times as much text in web as in code, "
            f"{np.mean(drawn):.0%} of the windows come from web. It should be "
            f"{wanted:.0%}, whatever the sizes are."
        )


def _is_far(drawn: np.ndarray, wanted: float) -> bool:
    """Say whether a share is no longer chance. The fewer draws, the more they stray."""
    deviation = (wanted * (1 - wanted) / len(drawn)) ** 0.5
    return bool(abs(drawn.mean() - wanted) > FAR * deviation)
