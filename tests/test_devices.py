"""Copying batches ahead: what can be told without a GPU, by a stand-in that writes down what is asked of it."""

from __future__ import annotations

import pytest
import torch

from course_lib.foundation import copy_to_device, devices

BATCHES = [(torch.tensor([k]), torch.tensor([k, k])) for k in range(5)]


@pytest.mark.parametrize("ahead", [1, 2, 4, 5, 100])
def test_all_batches_come_in_order(ahead):
    copied = list(copy_to_device(BATCHES, "cpu", ahead=ahead))
    assert len(copied) == len(BATCHES)
    for got, batch in zip(copied, BATCHES, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(got, batch, strict=True))


def test_on_a_cpu_nothing_is_copied():
    (batch,) = copy_to_device(BATCHES[:1], torch.device("cpu"))
    assert batch[0] is BATCHES[0][0]


def test_so_many_batches_are_asked_for_ahead():
    asked = []
    source = (asked.append(k) or batch for k, batch in enumerate(BATCHES))
    copied = copy_to_device(source, "cpu", ahead=2)
    assert asked == []
    next(copied)
    assert asked == [0, 1, 2]
    assert len(list(copied)) == 4


def test_no_batches():
    assert list(copy_to_device([], "cpu")) == []


class Recorder:
    """A stream and a tensor of a GPU that is not there."""

    def __init__(self, log: list[str], name: str = "tensor"):
        self.log, self.name, self.device = log, name, torch.device("cuda")

    def pin_memory(self):
        self.log.append("pin")
        return self

    def to(self, device, non_blocking=False):
        self.log.append(f"copy to {device}" + (" without waiting" if non_blocking else ""))
        return self

    def record_stream(self, stream):
        self.log.append(f"keep for {stream.name}")

    def wait_stream(self, stream):
        self.log.append(f"{self.name} waits for {stream.name}")


def test_on_a_gpu_copies_are_pinned_run_beside_and_are_waited_for(monkeypatch):
    log = []

    class Within:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            log.append(f"on {self.stream.name}")

        def __exit__(self, *_):
            log.append("off")

    monkeypatch.setattr(devices.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(devices.torch.cuda, "Stream", lambda device: Recorder(log, "copying"))
    monkeypatch.setattr(devices.torch.cuda, "stream", Within)
    monkeypatch.setattr(devices.torch.cuda, "current_stream", lambda device: Recorder(log, "computing"))
    copied = copy_to_device([(Recorder(log),), (Recorder(log),)], "cuda", ahead=1)
    next(copied)
    begin = ["on copying", "pin", "copy to cuda without waiting", "off"]
    end = ["computing waits for copying", "keep for computing"]
    assert log == begin + begin + end
    assert len(list(copied)) == 1
    assert log[-2:] == end


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here")
def test_on_a_gpu_the_batches_are_there():
    copied = list(copy_to_device(BATCHES, "cuda"))
    assert all(tensor.is_cuda for batch in copied for tensor in batch)
    assert [batch[1].tolist() for batch in copied] == [batch[1].tolist() for batch in BATCHES]
