"""Batches of any loader as rows: what the model reads, what it is judged by, and what
tells the documents of a row apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.foundation import IGNORED, check_dense, is_tensor

NO_ID = -1  # fills up rows of different lengths
NO_LABEL = -1  # what some programs, such as nanoGPT, write for IGNORED
# The same thing by other names, as public loaders call it.
INPUTS = ("inputs", "input", "input_ids", "tokens")
TARGETS = ("targets", "target", "target_ids", "tgt")
LOSS_MASKS = ("loss_mask", "loss_masks", "target_mask", "targets_loss_mask")
POSITIONS = ("position_ids", "positions", "input_pos", "inputs_position")
MASKS = ("attention_mask", "attn_mask")
SEGMENTS = ("segment_ids", "sequence_id", "seq_idx", "document_ids")
SEGMENTS += ("inputs_segmentation",)
LENGTHS = ("cu_seqlens", "cu_seqlens_q", "cu_seq_lens", "cu_seq_lens_q")
TELL_APART = (*POSITIONS, *MASKS, *SEGMENTS, *LENGTHS)
KNOWN = {*INPUTS, *TARGETS, "labels", *LOSS_MASKS, *TELL_APART}
WANTED = (
    "a pair (inputs, targets), or a mapping with input_ids and perhaps labels, or with "
    "inputs and targets, and perhaps attention_mask and position_ids"
)


@dataclass(frozen=True)
class Numbers:
    """Numbers, of shape (B, L), that are equal where tokens see one another."""

    name: str
    values: np.ndarray

    def hides_before(self, shape: tuple[int, int]) -> np.ndarray:
        """Where a token doesn't see the one before, for rows of this shape."""
        hides = np.zeros(shape, dtype=bool)
        hides[:, 1 : self.values.shape[1]] = np.diff(self.values) != 0
        return hides

    def leaks(self, documents: np.ndarray) -> np.ndarray:
        """Where a token is of another document than the first of those it sees.

        `documents`, of shape (B, M), numbers the document of each token, -1 unknown.
        """
        leaks, values = np.zeros(documents.shape, dtype=bool), self.values
        own = documents[:, : values.shape[1]]
        known = own >= 0
        row = np.arange(len(own), dtype=np.int64)[:, None] * (np.ptp(values) + 1)
        groups = (row + values - values.min())[known]
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        leaks[:, : values.shape[1]][known] = own[known][first][group] != own[known]
        return leaks

    def pattern(self) -> np.ndarray:
        """Which tokens see one another, whatever their numbers are: for each place, the
        first one of its row that has the same number, shape (B, L)."""
        count, width = self.values.shape
        apart = np.arange(count)[:, None] * (np.ptp(self.values) + 1)
        groups = (self.values - self.values.min() + apart).ravel()
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        return first[group].reshape(count, width) % width


@dataclass(frozen=True)
class Table:
    """Whether token i of row b sees token j, as `sees[b, i, j]`, shape (B, L, L)."""

    name: str
    sees: np.ndarray
    is_added: bool = False  #: to the attention's scores, as zeros and -inf are

    def hides_before(self, shape: tuple[int, int]) -> np.ndarray:
        """Where a token doesn't see the one before, for rows of this shape."""
        hides = np.zeros(shape, dtype=bool)
        before = np.diagonal(self.sees, offset=-1, axis1=1, axis2=2)
        hides[:, 1 : self.sees.shape[1]] = ~before
        return hides

    def leaks(self, documents: np.ndarray) -> np.ndarray:
        """Where a token sees an earlier one of another document, as in `Numbers`."""
        leaks, width = np.zeros(documents.shape, dtype=bool), self.sees.shape[1]
        own = documents[:, :width]
        others = (own[:, :, None] != own[:, None]) & (own >= 0)[:, None]
        leaks[:, :width] = np.tril(self.sees & others, -1).any(axis=2) & (own >= 0)
        return leaks

    def farthest_ahead(self, documents: np.ndarray) -> np.ndarray:
        """The last place after its own that a token sees, directly or through others,
        or -1 where it only looks back, shape (B, M).

        Each layer passes on what the one before has seen, so any path counts, also one
        through a separator. `documents` are their numbers, shape (B, M), -1 unknown.
        """
        farthest, width = np.full(documents.shape, -1), self.sees.shape[1]
        places = np.arange(width)
        for row in np.flatnonzero(np.triu(self.sees, 1).any(axis=(1, 2))):
            own = documents[row, :width]
            is_known = own >= 0
            may = (own[:, None] == own) | ~is_known | ~is_known[:, None]
            sees = self.sees[row] & may
            direct = np.where(sees & is_known, places, -1).max(axis=1)
            reach = np.full(width, -1)
            for place in np.argsort(-direct, kind="stable"):  # the farthest first
                reached = (places == place) & (reach < 0) & (direct >= 0)
                while reached.any():  # all that see it, and all that see those
                    reach[reached] = direct[place]
                    reached = (reach < 0) & sees[:, reached].any(axis=1)
            farthest[row, :width] = np.where(is_known & (reach > places), reach, -1)
        return farthest

    def pattern(self) -> np.ndarray:
        """Which tokens see one another, eight to a number, shape (B, L * L / 8)."""
        return np.packbits(self.sees.reshape(len(self.sees), -1), axis=1)


View = Numbers | Table  # what says which tokens of a row see which


@dataclass(frozen=True)
class BatchRows:
    """The rows of one batch, as ids, shape (B, M).

    At each place stand a token and the label that it is as the next token, so a model
    predicts the label from the tokens before. This is how mappings come, with M = L. A
    pair of shape (B, T) has M = T + 1 places: the first has no label, and the last no
    input.
    """

    inputs: np.ndarray  #: int64, NO_ID where a row has no input
    labels: np.ndarray | None  #: int64, or None if the loader hands out no labels
    is_pair: bool
    is_kept: np.ndarray  #: False where a mask says padding, or the row has ended
    #: True where positions begin again, or a mask hides the token before
    begins: np.ndarray
    memory: list[np.ndarray]  #: of inputs and labels, where it is known
    #: positions, a mask or numbers of documents come along
    tells_apart: bool = False
    positions: np.ndarray | None = None  #: in the row or document, -1 where none is
    views: tuple[View, ...] = ()  #: what says which tokens see which
    #: where a narrow dtype has made other ids, which these are, and the dtype
    wrapped: np.ndarray | None = None
    came: np.ndarray | None = None
    kept_as: str = ""
    inverted: str = ""  #: the name of a mask that says 1 where it hides
    has_mask: bool = False  #: of padding, or of which tokens see which
    in_loss: np.ndarray | None = None  #: False where a loss mask hides the label
    lengths: tuple[int, ...] = ()  #: ids in each row, as they came
    label_type: str = ""  #: "int64", or what else the loss would get, "" without labels
    remarks: tuple[str, ...] = ()  #: what to know of the batch that is no mistake

    @property
    def hides_before(self) -> np.ndarray:
        """Where the attention doesn't reach the token before. Positions say so only
        where nothing else does."""
        if not self.views:
            return self.begins
        return np.any([view.hides_before(self.begins.shape) for view in self.views], 0)

    @property
    def hides_padding(self) -> np.ndarray:
        """Where attention doesn't reach padding that stands before, and is kept. Beside
        a mask that tells only padding, a model need not look at positions."""
        if self.has_mask and not self.views:
            return np.zeros_like(self.begins)
        return self.hides_before

    @property
    def judged(self) -> np.ndarray:
        """Where no mask hides what predicts the label: in a pair, the input before."""
        kept = self.is_kept.copy()
        if self.is_pair:
            kept[:, 1:] = self.is_kept[:, :-1]
        return kept

    @property
    def scored(self) -> np.ndarray:
        """Where the loss counts, shape (B, M)."""
        scored = self.is_kept if self.labels is None else self.labels != IGNORED
        return scored if self.in_loss is None else scored & self.in_loss

    @property
    def counted(self) -> np.ndarray:
        """Where a token counts in the loss, shape (B, M): not the first of a row."""
        ids = self.inputs if self.labels is None else self.labels
        counted = self.scored & (ids != IGNORED)
        if not self.is_pair:
            counted[:, 0] = False  # the model shifts, and nothing predicts the first
        return counted


def read_batch(batch: object, *, masks_hide: bool = False) -> BatchRows:
    """Read a batch: a pair, or a mapping, of tensors, arrays or lists.

    A pair may also be a mapping with inputs and targets, a mapping of inputs and the
    targets, or a triple whose third is a loss mask of zeros and ones. Inputs and labels
    have the shape (B, L), or (L,) for a single row. With `masks_hide`, an attention
    mask says 1 where it hides a token. Raises TypeError or ValueError if it cannot be
    read.
    """
    given, remarks = _as_mapping(batch)
    labels_name = _first(given, TARGETS)
    is_pair = labels_name is not None
    inputs_name = _first(given, INPUTS if is_pair else ("input_ids",))
    labels_name = labels_name or _first(given, ("labels",))
    if inputs_name is None or (is_pair and "labels" in given):
        raise TypeError(f"must be {WANTED}, got {_kind(batch)}{_advice(batch)}")
    names = [name for name in (inputs_name, labels_name) if name]
    parts = {name: _as_rows(name, given[name]) for name in names}
    inputs, *labels = parts.values()
    lengths = [len(row) for row in inputs]
    if any([len(row) for row in rows] != lengths for rows in labels):
        shapes = " and ".join(f"{n} of {_shape(rows)}" for n, rows in parts.items())
        raise ValueError(f"must have a label for each input, got {shapes}")
    width = max(lengths, default=0) + is_pair
    is_kept = np.arange(width) < np.array(lengths, dtype=np.int64)[:, None] + is_pair
    begins = np.zeros(is_kept.shape, dtype=bool)
    positions, views, more = _read_what_tells_apart(
        given,
        is_kept[:, : width - is_pair],
        begins[:, : width - is_pair],
        masks_hide=masks_hide,
    )
    remarks += more
    label_type, remark = type_of_labels(*(given[name] for name in names))
    remarks += [remark] * bool(remark)
    if unread := [str(name) for name in given if name not in KNOWN]:
        verb = "was" if len(unread) == 1 else "were"
        remarks.append(f"the batches' {', '.join(unread)} {verb} not looked at")
    memory = [_memory(given[name]) for name in names]
    filled = _fill_up(labels[0], width, IGNORED, is_pair) if labels else None
    if filled is not None and (filled == NO_LABEL).any():
        filled[filled == NO_LABEL] = IGNORED
        words = f"labels of {NO_LABEL} were read as left out of the loss"
        remarks.append(f"{words}: cross_entropy needs ignore_index={NO_LABEL} for them")
    return BatchRows(
        inputs=_fill_up(inputs, width, NO_ID),
        labels=filled,
        is_pair=is_pair,
        is_kept=is_kept,
        begins=begins,
        memory=[block for block in memory if block is not None],
        tells_apart=_first(given, TELL_APART) is not None,
        positions=None if positions is None else _fill_up(positions, width, -1),
        views=views,
        inverted=(_first(given, MASKS) or "") if masks_hide else "",
        has_mask=_first(given, MASKS) is not None,
        in_loss=_read_loss_mask(given, is_kept.shape, is_pair),
        lengths=tuple(lengths),
        label_type=label_type,
        remarks=tuple(remarks),
    )


def type_of_labels(inputs: object, labels: object = None) -> tuple[str, str]:
    """Return what type labels have, and words if a loss of PyTorch would refuse it."""
    kind = "list" if labels is not None else ""
    if not hasattr(labels, "dtype"):
        return kind, ""
    kind = str(labels.dtype).removeprefix("torch.")
    if not is_tensor(labels):  # a training loop makes tensors of them
        return kind, ""
    if kind not in ("int64", "uint8"):
        return kind, f"labels are {kind}, and PyTorch's cross_entropy wants int64"
    if is_tensor(inputs) and inputs.device != labels.device:
        places = f"{labels.device}, and inputs on {inputs.device}"
        return f"{kind} on {places}", f"labels are on {places}"
    return kind, ""


def _as_mapping(batch: object) -> tuple[Mapping, list[str]]:
    """Return the parts of a batch by name, and how they were read if it is unusual."""
    if isinstance(batch, Mapping):
        return batch, []
    if not isinstance(batch, list | tuple) or len(batch) not in (2, 3):
        return {}, []
    inputs, targets, *mask = batch
    if isinstance(targets, Mapping):
        return {}, []
    if mask and not _is_loss_mask(mask[0], targets):
        return {}, []
    parts: dict[str, object] = {}
    if isinstance(inputs, Mapping):
        if _first(inputs, INPUTS) is None or _first(inputs, (*TARGETS, "labels")):
            return {}, []
        parts |= inputs
    else:
        parts["inputs"] = inputs
    parts["targets"] = targets
    if not mask:
        return parts, []
    words = "the third part of a batch was read as a loss mask"
    return parts | {"loss_mask": mask[0]}, [words]


def _is_loss_mask(value: object, targets: object) -> bool:
    if np.shape(value) != np.shape(targets) or not hasattr(value, "dtype"):
        return False
    if is_tensor(value):
        value = check_dense("the third part", value)
    values = np.asarray(value)
    return bool(np.isin(values, (0, 1)).all())


def _first(given: Mapping, names: Sequence[str]) -> str | None:
    """Return the first of these names that the mapping has a value for."""
    return next((name for name in names if given.get(name) is not None), None)


def _as_rows(name: str, value: object) -> np.ndarray | list[np.ndarray]:
    """Return integers of shape (B, L), or a list of rows of different lengths."""
    if isinstance(value, list | tuple) and any(np.ndim(row) for row in value):
        rows = [_as_integers(name, row) for row in value]
        if any(row.ndim != 1 for row in rows):
            raise ValueError(f"{name} must have rows of ids, got {_kind(value)}")
        return rows
    rows = np.atleast_2d(_as_integers(name, value))
    if rows.ndim > 2 or not rows.size:
        raise ValueError(f"{name} must have the shape (B, T), got {rows.shape}")
    return rows


def _as_integers(name: str, value: object) -> np.ndarray:
    if is_tensor(value):
        value = check_dense(name, value).numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got {_kind(value)}")
    return array.astype(np.int64)  # a copy, because a loader may reuse its memory


def _fill_up(rows: Sequence, width: int, fill: int, first: int = 0) -> np.ndarray:
    """Put rows into an array of `width` places, from the place `first` on."""
    filled = np.full((len(rows), width), fill, dtype=np.int64)
    if isinstance(rows, np.ndarray):
        filled[:, first : first + rows.shape[1]] = rows
        return filled
    for number, row in enumerate(rows):
        filled[number, first : first + len(row)] = row
    return filled


def _read_what_tells_apart(
    given: Mapping, is_kept: np.ndarray, begins: np.ndarray, *, masks_hide: bool
) -> tuple[np.ndarray | None, tuple[View, ...], list[str]]:
    """Read positions, and masks, numbers and ends of documents, which are the views.

    Returns both, and where positions contradict the others, in words. A model with
    relative positions does not mind, but one with learned positions has them wrong.
    """
    said: list[str] = []
    parts = [
        *(
            _read_mask(name, given.get(name), is_kept, begins, said, hides=masks_hide)
            for name in MASKS
        ),
        *(_read_segments(name, given.get(name), is_kept) for name in SEGMENTS),
        *(_read_lengths(name, given.get(name), begins.shape) for name in LENGTHS),
    ]
    views = tuple(part for part in parts if part is not None)
    for view in views:
        begins |= view.hides_before(begins.shape)
    name = _first(given, POSITIONS)
    if name is None:
        return None, views, said
    positions = _like_inputs(name, given[name], begins.shape, -1)
    steps = np.diff(positions, prepend=positions[:, :1] - 1)
    positions_begin = steps <= 0
    inside = is_kept.copy()  # with a token before that is no padding
    inside[:, 1:] &= is_kept[:, :-1]
    first = is_kept.argmax(axis=1)
    counted = np.take_along_axis(positions, first[:, None], axis=1)[:, 0]
    harm = "harmless if a model uses relative positions, wrong if it has learned ones"
    begin_again = (steps < 0) & inside
    others = " and ".join(view.name for view in views)
    remarks = {
        f"run on where a document begins: {harm}": begins & (steps > 0) & inside,
        f"begin again where {others} goes on: harmless inside a document, but one that "
        "begins there sees the document before": begin_again & ~begins & bool(views),
        f"count the padding before a row: {harm}": (first > 0) & (counted == first),
    }
    mask = _first(given, MASKS)
    if mask is None:
        remarks[
            "rise by more than 1: without a mask, the transformers library begins a "
            "document there, but other models don't"
        ] = (steps > 1) & inside & ~begins
    elif not views:
        remarks[
            f"begin again, and {mask} hides only padding: with its default attention, "
            "the transformers library infers documents from positions only where it "
            "gets no mask"
        ] = begin_again & ~begins
    begins |= positions_begin
    said += [f"{name} {words}" for words, at in remarks.items() if at.any()]
    return positions, views, said


def _read_segments(name: str, numbers: object, is_kept: np.ndarray) -> Numbers | None:
    """Read the number of each place's document; a negative one is padding."""
    if numbers is None:
        return None
    numbers = _like_inputs(name, numbers, is_kept.shape, -1)
    is_kept &= numbers >= 0
    return Numbers(name, numbers)


def _read_lengths(name: str, ends: object, shape: tuple[int, int]) -> Numbers | None:
    """Read where the documents of all rows end, one row after another, from 0 on."""
    if ends is None:
        return None
    ends, size = _as_integers(name, ends).ravel(), shape[0] * shape[1]
    if not ends.size or ends[0] or (np.diff(ends) < 0).any() or ends[-1] > size:
        wanted = f"rise from 0 to at most {size}, the inputs of all rows"
        raise ValueError(f"{name} must {wanted}, got {ends.tolist()!s:.60}")
    numbers = np.searchsorted(ends, np.arange(size), side="right")
    return Numbers(name, numbers.reshape(shape))


def _read_loss_mask(
    given: Mapping, shape: tuple[int, int], is_pair: bool
) -> np.ndarray | None:
    name = _first(given, LOSS_MASKS)
    if name is None:
        return None
    value = given[name]
    if is_tensor(value):
        value = check_dense(name, value).double().numpy()
    mask = np.atleast_2d(np.asarray(value))
    count, width = shape[0], shape[1] - is_pair
    if mask.shape != (count, width):
        raise ValueError(
            f"{name} must have the shape {(count, width)}, got {mask.shape}"
        )
    in_loss = np.ones(shape, dtype=bool)
    in_loss[:, int(is_pair) :] = mask != 0
    return in_loss


def _like_inputs(
    name: str, value: object, shape: tuple[int, int], fill: int
) -> np.ndarray:
    """Return integers of the shape of the inputs; one row may stand for all."""
    rows = _as_rows(name, value)
    count, width = shape
    if len(rows) not in (1, count) or max(map(len, rows)) != width:
        wanted = f"B, L = {count}, {width}, got {_shape(rows)}"
        raise ValueError(f"{name} must have the shape (B, L), with {wanted}")
    return np.broadcast_to(_fill_up(rows, width, fill), shape)


def _read_mask(
    name: str,
    mask: object,
    is_kept: np.ndarray,
    begins: np.ndarray,
    said: list[str],
    *,
    hides: bool,
) -> View | None:
    """Read a mask of shape (B, L), (B, L, L) or (B, 1, L, L), of flags or numbers.

    A mask of shape (B, L) may number the documents, from 1 on, with 0 or -1 for
    padding. One with other negative numbers is added to the attention, so its zeros are
    what can be seen. So is one of shape (B, L, L) whose floats are all zero, as where
    nothing is hidden. With `hides`, flags are 1 where a token is hidden. If the
    transformers library would read the mask otherwise, words about it join `said`.
    """
    if mask is None:
        return None
    if isinstance(mask, list | tuple) and len({np.shape(row)[:1] for row in mask}) > 1:
        mask = _fill_up(_as_rows(name, mask), is_kept.shape[1], 0)
    is_float = is_tensor(mask) and mask.is_floating_point()
    if is_tensor(mask):
        mask = check_dense(name, mask).double().numpy()
    else:
        mask = np.asarray(mask)
        is_float = mask.dtype.kind not in "biu"
    if hides:
        mask = mask == 0
    rows, width = is_kept.shape
    if mask.ndim <= 2 and mask.size == rows * width:
        flags = f"but the transformers library takes a {name} of shape (B, L) for flags"
        if mask.min(initial=0) < NO_ID:
            mask = mask == 0
            words = "is read as added to the scores, 0 where a token is seen"
            said.append(f"{name} {words}, {flags}: there, it hides what it should show")
        elif mask.max(initial=0) > 1 or mask.min(initial=0) < 0:
            words = "is read as numbers of documents, from 1 on"
            said.append(f"{name} {words}, {flags}: there, it hides no other document")
        mask = np.where(is_kept, mask.reshape(rows, width), 0)
        is_kept &= mask > 0
        begins[:, 1:] |= np.diff(mask) != 0
        # one that says 0 or 1 tells only padding
        return Numbers(name, mask.astype(np.int64)) if mask.max(initial=0) > 1 else None
    if mask.ndim in (3, 4) and mask.shape[-2:] == (width, width):
        is_added = mask.min(initial=0) < 0 or (is_float and not mask.any())
        sees = mask == 0 if is_added else mask != 0
        sees = sees if sees.ndim == 3 else sees.any(axis=1)  # by any head
        sees = np.broadcast_to(sees, (rows, width, width))
        if not is_added and not hides:
            said.append(
                f"{name} is read as 1 where a token sees, but the transformers library "
                "adds floats to its scores, and with eager attention flags, too: "
                "there, such a mask hides nothing, so make it of 0 and -inf"
            )
        is_kept &= np.diagonal(sees, axis1=1, axis2=2)
        return Table(name, sees, is_added)
    raise ValueError(
        f"{name} must have the shape (B, L), (B, L, L) or (B, 1, L, L), "
        f"with B, L = {rows}, {width}, got {mask.shape}"
    )


def _memory(value: object) -> np.ndarray | None:
    """View the memory of a tensor or an array, or return None if it is not ours."""
    if is_tensor(value) and value.device.type == "cpu":
        return value.detach().numpy()
    return value if isinstance(value, np.ndarray) else None


def _kind(value: object) -> str:
    shape = getattr(value, "shape", None)
    of = f" of {value.dtype}, shape {tuple(shape)}" if shape is not None else ""
    if isinstance(value, Mapping):
        of = f" with {', '.join(map(str, value)) or 'nothing'}"
    elif isinstance(value, list | tuple):
        of = f" of {len(value)}"
    return f"{type(value).__name__}{of}"


def _is_table(value: object) -> bool:
    return len(getattr(value, "shape", ())) == 2


def _advice(batch: object) -> str:
    """Say how to make a batch that can be read, if it is of a common form."""
    if isinstance(batch, Mapping) and len(batch) > 1:
        names = [name for name in ("inputs", "x", "tokens", "text") if name in batch]
        inputs = repr((names or list(batch))[0])
        others = [name for name in batch if repr(name) != inputs]
        names = [name for name in ("labels", "y", "targets") if name in others]
        targets = repr((names or others)[0])
        words = f"(batch[{inputs}], batch[{targets}])"
    elif isinstance(batch, Mapping) and batch:
        words = f"{{'input_ids': batch[{next(iter(batch))!r}]}}"
    elif _is_table(batch):
        words = "{'input_ids': batch}"  # halves of it would share its memory
    elif isinstance(batch, list | tuple) and len(batch) > 2 and _is_table(batch[0]):
        words = "{'inputs': batch[0], 'targets': batch[1]}"
        more = f" (with what the rest is, by one of the names {', '.join(TELL_APART)})"
        return f": make_loader could return ({words} for batch in loader){more}"
    else:
        return ""
    return f": make_loader could return ({words} for batch in loader)"


def _shape(rows: np.ndarray | list[np.ndarray]) -> str:
    lengths = sorted({len(row) for row in rows})
    return f"{len(rows)} rows of {' and '.join(map(str, lengths[:3]))} ids"
