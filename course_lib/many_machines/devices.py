"""Copy batches from the host's memory to a GPU's, while the GPU is working."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

import torch

from course_lib.foundation import AtLeast, Several, checked

Tensors = tuple[torch.Tensor, ...] | Mapping[str, torch.Tensor]


@checked
def copy_to_device(
    batches: Annotated[Iterable[Tensors], Several("tuples or dictionaries of tensors")],
    device: str | torch.device,
    *,
    ahead: Annotated[int, AtLeast(1, 1000)] = 2,
) -> CopiedBatches:
    """Iterate over batches on a device. On a GPU, they are copied while it works.

    A GPU can copy by itself from *pinned* memory, which the system never moves. From
    such memory, `non_blocking=True` returns at once, and the copy runs beside the
    computation, on a stream of its own. From other memory, the call would wait. On a
    CPU there is nothing to copy, so we yield the same tensors, one batch at a time.

    Args:
        batches: tuples or dictionaries of tensors. If they raise an error, the batches
            before it still come first.
        device: "cuda", "cpu", ...
        ahead: how many batches to copy to a GPU before they are needed, at least 1.

    Returns an iterator with a `state_dict()`, for which `batches` must be a loader that
    has one. Use it to save, since the loader itself is `ahead` batches further on.
    """
    try:
        device = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device must be one of PyTorch's, got {device!r}") from error
    if device.type != "cuda":
        return CopiedBatches(batches, device, 0)
    if not torch.cuda.is_available():
        raise ValueError("device must exist, but PyTorch finds no CUDA device here")
    return CopiedBatches(batches, device, ahead)


class CopiedBatches(Iterator[Tensors]):
    """Batches on a device, and the state of their loader when each came out of it."""

    def __init__(self, batches: Iterable[Tensors], device: torch.device, ahead: int):
        self._loader, self._batches = batches, iter(batches)
        self._device, self._ahead = device, ahead
        self._stream = torch.cuda.Stream(device) if ahead else None
        self._under_way: deque[tuple[Tensors, torch.cuda.Event | None, Any]] = deque()
        self._end: Exception | None = None
        self._state = self._state_now()

    def __next__(self) -> Tensors:
        while self._end is None and len(self._under_way) <= self._ahead:
            try:
                batch = next(self._batches)
            except Exception as error:  # also StopIteration; what was read comes first
                self._end = error
            else:
                copy = _begin_copy(batch, self._device, self._stream)
                self._under_way.append((*copy, self._state_now()))
        if not self._under_way:
            raise self._end
        copy, copied, self._state = self._under_way.popleft()
        return _end_copy(copy, copied, self._device)

    def state_dict(self) -> Any:
        """Return the state of the loader after the batch that came last from here.

        The batches that are still being copied count as not delivered, so that a run
        that goes on from this state reads them again. Raises TypeError if the batches
        come from something without a `state_dict`.
        """
        if not hasattr(self._loader, "state_dict"):
            kind = type(self._loader).__name__
            raise TypeError(f"batches must be a loader with a state_dict, got {kind}")
        return self._state

    def _state_now(self) -> Any:
        is_loader = hasattr(self._loader, "state_dict")
        return self._loader.state_dict() if is_loader else None


def _begin_copy(
    batch: Tensors, device: torch.device, stream: torch.cuda.Stream | None
) -> tuple[Tensors, torch.cuda.Event | None]:
    if stream is None:
        return _each(batch, lambda tensor: tensor.to(device)), None
    with torch.cuda.stream(stream):
        # `pin_memory` copies no tensor that is pinned already, as by a DataLoader.
        copy = _each(batch, lambda t: t.pin_memory().to(device, non_blocking=True))
    return copy, stream.record_event()


def _end_copy(
    copy: Tensors, copied: torch.cuda.Event | None, device: torch.device
) -> Tensors:
    if copied is None:
        return copy
    # The model must not start before this copy has ended, while later copies may still
    # run. And the copy's memory must not be reused before the model has ended.
    current = torch.cuda.current_stream(device)
    current.wait_event(copied)
    _each(copy, lambda tensor: tensor.record_stream(current))
    return copy


def _each(batch: Tensors, do: Callable[[torch.Tensor], Any]) -> Any:
    """Do this to each tensor of a batch, and return what comes of it in its place."""
    if isinstance(batch, Mapping):
        return {name: do(tensor) for name, tensor in batch.items()}
    return tuple(map(do, batch))
