"""From the memory of the host to that of a GPU, while the GPU works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from course_lib.foundation.arguments import check_integer

Batch = tuple[torch.Tensor, ...]


def copy_to_device(
    batches: Iterable[Batch],
    device: str | torch.device,
    *,
    ahead: int = 2,
) -> Iterator[Batch]:
    """Yield batches on a device, with `ahead` copies under way while the model works.

    A GPU copies by itself from memory that the system keeps in its place, which is
    called pinned: then `non_blocking=True` returns at once, and the copy runs beside
    the computing, on a stream of its own. From other memory it would not. On a CPU
    there is nothing to copy: the batches are the same tensors.

    Args:
        batches: tuples of tensors.
        device: "cuda", "cpu", ...
        ahead: batches that are asked for before they are needed, at least 1.
    """
    device = torch.device(device)
    ahead = check_integer("ahead", ahead, minimum=1, maximum=1000)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("device must be there: PyTorch finds no CUDA device here")
    return _copied(iter(batches), device, ahead)


def _copied(
    batches: Iterator[Batch], device: torch.device, ahead: int
) -> Iterator[Batch]:
    stream = torch.cuda.Stream(device) if device.type == "cuda" else None
    under_way: list[Batch] = []
    for batch in batches:
        under_way.append(_begin_copy(batch, device, stream))
        if len(under_way) > ahead:
            yield _end_copy(under_way.pop(0), stream)
    while under_way:
        yield _end_copy(under_way.pop(0), stream)


def _begin_copy(batch, device, stream):
    if stream is None:
        return tuple(tensor.to(device) for tensor in batch)
    with torch.cuda.stream(stream):
        # What is pinned already, as by `DataLoader(pin_memory=True)`, stays as it is.
        return tuple(t.pin_memory().to(device, non_blocking=True) for t in batch)


def _end_copy(batch, stream):
    if stream is not None:
        # The model must not begin before the copy has ended, nor its memory be given
        # to somebody else before the model has.
        current = torch.cuda.current_stream(stream.device)
        current.wait_stream(stream)
        for tensor in batch:
            tensor.record_stream(current)
    return batch
