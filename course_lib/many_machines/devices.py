"""Copy batches from the host's memory to a GPU's, while the GPU is working."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated

import torch

from course_lib.foundation.arguments import (
    AtLeast,
    Several,
    checked,
)

Tensors = tuple[torch.Tensor, ...]


@checked
def copy_to_device(
    batches: Annotated[Iterable[Tensors], Several("tuples of tensors")],
    device: str | torch.device,
    *,
    ahead: Annotated[int, AtLeast(1, 1000)] = 2,
) -> Iterator[Tensors]:
    """Yield batches on a device. On a GPU, they are copied while the model works.

    A GPU can copy by itself from *pinned* memory, which the system never moves. From
    such memory, `non_blocking=True` returns at once, and the copy runs beside the
    computation, on a stream of its own. From other memory, the call would wait. On a
    CPU there is nothing to copy, so we yield the same tensors, one batch at a time.

    We start to copy `ahead` batches to a GPU before they are needed, and a loader
    counts these batches as delivered, so its `state_dict()` inside the loop is also
    that many batches ahead.

    Args:
        batches: tuples of tensors. If they raise an error, the batches before it still
            come first.
        device: "cuda", "cpu", ...
        ahead: how many batches to copy to a GPU before they are needed, at least 1.
    """
    device = torch.device(device)
    batches = iter(batches)
    if device.type != "cuda":
        return (tuple(tensor.to(device) for tensor in batch) for batch in batches)
    if not torch.cuda.is_available():
        raise ValueError("device must exist, but PyTorch finds no CUDA device here")
    return _copied(batches, device, ahead)


def _copied(
    batches: Iterator[Tensors], device: torch.device, ahead: int
) -> Iterator[Tensors]:
    stream = torch.cuda.Stream(device)
    under_way: deque[tuple[Tensors, torch.cuda.Event]] = deque()

    def rest() -> Iterator[Tensors]:
        while under_way:
            yield _end_copy(*under_way.popleft(), device)

    try:
        for batch in batches:
            under_way.append(_begin_copy(batch, device, stream))
            if len(under_way) > ahead:
                yield _end_copy(*under_way.popleft(), device)
    except Exception:  # raised by `batches`; the batches before it come first
        yield from rest()
        raise
    yield from rest()


def _begin_copy(
    batch: Tensors, device: torch.device, stream: torch.cuda.Stream
) -> tuple[Tensors, torch.cuda.Event]:
    with torch.cuda.stream(stream):
        # `pin_memory` copies no tensor that is pinned already, as by a DataLoader.
        copy = tuple(t.pin_memory().to(device, non_blocking=True) for t in batch)
    return copy, stream.record_event()


def _end_copy(copy: Tensors, copied: torch.cuda.Event, device: torch.device) -> Tensors:
    # The model must not start before this copy has ended, while later copies may still
    # run. And the copy's memory must not be reused before the model has ended.
    current = torch.cuda.current_stream(device)
    current.wait_event(copied)
    for tensor in copy:
        tensor.record_stream(current)
    return copy
