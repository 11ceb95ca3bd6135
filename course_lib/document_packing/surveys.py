"""What is in packs, whoever made them: as rows to draw, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np

from course_lib.foundation import Count, Ids, Length, Several, as_ids, checked

MOST_LISTED = 12  # packs, in a survey of many


@checked
def pack_rows(
    packs: Annotated[Sequence[Sequence[int]], Several("packs")],
    lengths: Ids,
    max_length: Length,
) -> dict[str, list[tuple]]:
    """Name packs, for `plot_rows`: a box for each document, and what is padding.

    Args:
        packs: the numbers of the documents in each, as `assign_packs` returns them.
        lengths, max_length: tokens of each document, and L.
    """
    rows = {}
    for number, pack in enumerate(packs):
        boxes, end = [], 0
        for place, document in enumerate(pack):
            look = ("inputs", "inputs2")[place % 2]
            boxes.append((end, int(lengths[document]), look, document))
            end += int(lengths[document])
        if end > max_length:
            most = f"at most max_length {max_length} tokens"
            raise ValueError(f"packs must hold {most}, got one of {end}")
        rows[f"row {number}"] = [*boxes, (end, max_length - end, "lost")]
    return rows


@checked
def survey_packs(
    packs: Annotated[Iterable[object], Several("packs")],
    max_length: Length,
    *,
    eos_token_id: Count | None = None,
) -> list[list[object]]:
    """Count what packs hold: a row for each, and one for all of them together.

    A row is a name, the tokens, the documents, how many of these are there only in part
    (None where nothing tells), and how full the pack is. Of more than 12 packs, 12 are
    listed, spread from the first to the last.

    Args:
        packs: each with `input_ids` and `document_starts`, as attributes or by key, and
            perhaps `documents`, which document each piece is from.
        max_length: L.
        eos_token_id: what ends a document; a piece without it at its end was cut.
            Rows without `document_starts` are divided after it.
    """
    read = [
        _read_pack(f"packs[{number}]", pack, max_length, eos_token_id)
        for number, pack in enumerate(packs)
    ]
    if not read:
        raise ValueError("packs must be at least one, got none")
    cut = _count_cut(read, eos_token_id)
    rows = [
        [f"pack {number}", len(ids), sizes.size, cut[number], len(ids) / max_length]
        for number, (ids, sizes, _) in enumerate(read)
    ]
    tokens, pieces = (sum(row[column] for row in rows) for column in (1, 2))
    in_part = None if None in cut else sum(cut)
    total = [f"all {len(rows):,} packs", tokens, pieces, in_part]
    total.append(tokens / len(rows) / max_length)
    # Spread over all of them: best fit begins with full packs, and ends with the rest.
    listed = np.linspace(0, len(rows) - 1, min(MOST_LISTED, len(rows))).round()
    chosen = [rows[number] for number in listed.astype(int)]
    return [[*row, f"{filled:.1%}"] for *row, filled in [*chosen, total]]


def _read_pack(
    name: str, pack: object, max_length: int, eos_token_id: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The ids of a pack, the lengths of its pieces, and their documents if told."""

    def part(key: str) -> np.ndarray | None:
        is_mapping = isinstance(pack, Mapping)
        value = pack.get(key) if is_mapping else getattr(pack, key, None)
        return None if value is None else as_ids(f"{name}.{key}", value)

    ids, starts, documents = map(part, ("input_ids", "document_starts", "documents"))
    if ids is None:
        raise TypeError(f"{name} must have `input_ids`, got {type(pack).__name__}")
    if not 1 <= (count := len(ids)) <= max_length:
        allowed = f"1 to max_length {max_length} ids"
        raise ValueError(f"{name} must hold {allowed}, got {count}")
    if starts is None and eos_token_id is None:
        raise ValueError(
            f"{name} has no `document_starts`: give `eos_token_id` to divide it after "
            "each such id"
        )
    if starts is None:
        starts = np.append(0, np.flatnonzero(ids[:-1] == eos_token_id) + 1)
    starts = starts.astype(np.int64)
    if (
        starts[:1].tolist() != [0]
        or (np.diff(starts) <= 0).any()
        or starts[-1] >= count
    ):
        wanted = f"rise from 0 to less than {count}"
        got = f"got {starts.tolist()!s:.60}"
        raise ValueError(f"{name}.document_starts must {wanted}, {got}")
    sizes = np.diff(np.append(starts, count))
    if documents is not None and documents.size != starts.size:
        wanted = f"one for each of its {starts.size} pieces"
        raise ValueError(f"{name}.documents must name {wanted}, got {documents.size}")
    return ids, sizes, documents


def _count_cut(rows: list[tuple], eos_token_id: int | None) -> list[int | None]:
    """How many pieces of each row are only a part of their document, None if nothing
    tells."""
    known = [documents for _, _, documents in rows if documents is not None]
    seen, counts = np.unique(np.concatenate(known or [[]]), return_counts=True)
    in_parts = seen[counts > 1]
    numbers: list[int | None] = []
    for ids, sizes, documents in rows:
        cut = np.zeros(sizes.size, dtype=bool)
        if documents is not None:
            cut |= np.isin(documents, in_parts)
        if eos_token_id is not None:
            cut |= ids[np.cumsum(sizes) - 1] != eos_token_id
        nothing_tells = documents is None and eos_token_id is None
        numbers.append(None if nothing_tells else int(cut.sum()))
    return numbers
