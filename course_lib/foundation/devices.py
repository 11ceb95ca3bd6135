"""From the memory of the host to that of a GPU, while the GPU works."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import torch

from course_lib.foundation.arguments import (
    check_integer,
    check_iterable,
)

Batch = tuple[torch.Tensor, ...]


def copy_to_device(
    batches: Iterable[Batch],
    device: str | torch.device,
    *,
    ahead: int = 2,
) -> Iterator[Batch]:
    """Yield batches on a device, on a GPU with copies under way while the model works.

    A GPU copies by itself from memory that the system keeps in its place, which is
    called pinned: then `non_blocking=True` returns at once, and the copy runs beside
    the computing, on a stream of its own. From other memory it would not. On a CPU
    there is nothing to copy: the batches are the same tensors, one at a time.

    A GPU is given `ahead` batches before they are needed, and a loader counts them as
    delivered: a `state_dict()` of the loader taken inside the loop is ahead, too.

    Args:
        batches: tuples of tensors. An error in them comes after the batches before it.
        device: "cuda", "cpu", ...
        ahead: batches that a GPU is given before they are needed, at least 1.
    """
    device = torch.device(device)
    ahead = check_integer("ahead", ahead, minimum=1, maximum=1000)
    batches = iter(check_iterable("batches", batches, "tuples of tensors"))
    if device.type != "cuda":
        return (tuple(tensor.to(device) for tensor in batch) for batch in batches)
    if not torch.cuda.is_available():
        raise ValueError("device must be there: PyTorch finds no CUDA device here")
    return _copied(batches, device, ahead)


def _copied(
    batches: Iterator[Batch], device: torch.device, ahead: int
) -> Iterator[Batch]:
    stream = torch.cuda.Stream(device)
    under_way: deque[tuple[Batch, torch.cuda.Event]] = deque()

    def rest() -> Iterator[Batch]:
        while under_way:
            yield _end_copy(*under_way.popleft(), device)

    try:
        for batch in batches:
            under_way.append(_begin_copy(batch, device, stream))
            if len(under_way) > ahead:
                yield _end_copy(*under_way.popleft(), device)
    except Exception:  # in the batches: those before it come first
        yield from rest()
        raise
    yield from rest()


def _begin_copy(
    batch: Batch, device: torch.device, stream: torch.cuda.Stream
) -> tuple[Batch, torch.cuda.Event]:
    with torch.cuda.stream(stream):
        # What is pinned already, as by `DataLoader(pin_memory=True)`, stays as it is.
        copy = tuple(t.pin_memory().to(device, non_blocking=True) for t in batch)
    return copy, stream.record_event()


def _end_copy(copy: Batch, copied: torch.cuda.Event, device: torch.device) -> Batch:
    # The model must not begin before this copy has ended; later ones may go on. Nor may
    # its memory be given to somebody else before the model has ended.
    current = torch.cuda.current_stream(device)
    current.wait_event(copied)
    for tensor in copy:
        tensor.record_stream(current)
    return copy
