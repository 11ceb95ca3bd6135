"""Ids that were kept in a dtype too narrow for them, and so came back as others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.auditing_loaders.batch_rows import BatchRows
from course_lib.auditing_loaders.coded_stream import CodedStream


def restore_ids(batch: BatchRows, stream: CodedStream) -> BatchRows:
    """Put back the ids that were handed out, where a narrow dtype has made others of
    them, and keep in the batch which these are.

    They are recognized by their neighbors, as other ids are. So what else a loader does
    can be seen as if it kept them rightly.
    """
    parts = [batch.inputs, *([] if batch.labels is None else [batch.labels])]
    counts = {
        name: sum(narrow.count(part) for part in parts)
        for name, narrow in stream.narrowed.items()
    }
    name = max(counts, key=counts.get, default="")
    if not counts.get(name):
        return batch
    came, wrapped = batch.inputs, np.zeros(batch.inputs.shape, dtype=bool)
    restored = []
    for part in parts:
        right = stream.narrowed[name].restore(part)
        came = np.where((right != part) & ~wrapped, part, came)
        wrapped |= right != part
        restored.append(right)
    return replace(
        batch,
        inputs=restored[0],
        labels=restored[1] if len(restored) > 1 else None,
        wrapped=wrapped,
        came=came,
        kept_as=name,
    )
