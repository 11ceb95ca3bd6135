"""Copying batches ahead: what can be told without a GPU, by a stand-in that writes down what is asked of it."""

from contextlib import contextmanager, nullcontext
from itertools import chain, islice

import numpy as np
import pytest
import torch
from torchdata.stateful_dataloader import StatefulDataLoader

from course_lib.many_machines import devices
from course_lib.many_machines.devices import copy_to_device
from course_lib.sliding_windows import SlidingWindowDataset, make_dataloader

BATCHES = [(torch.tensor([k]), torch.tensor([k, k])) for k in range(5)]


def test_on_a_cpu_nothing_is_copied_and_nothing_read_ahead():
    asked = []
    copied = copy_to_device((asked.append(k) or batch for k, batch in enumerate(BATCHES)), "cpu")
    assert asked == []
    assert next(copied)[0] is BATCHES[0][0]
    assert asked == [0]
    assert [tuple(map(id, batch)) for batch in copied] == [tuple(map(id, batch)) for batch in BATCHES[1:]]


class Recorder:
    """A stream, an event and a tensor of a GPU that is not there."""

    def __init__(self, log: list[str], name: str):
        self.log, self.name = log, name

    def pin_memory(self):
        self.log.append(f"pin {self.name}")
        return self

    def to(self, device, non_blocking=False):
        self.log.append(f"copy {self.name} to {device}" + (" without waiting" if non_blocking else ""))
        return self

    def record_stream(self, stream):
        self.log.append(f"keep {self.name} for {stream.name}")

    def record_event(self):
        return Recorder(self.log, self.log[-2].removesuffix(" to cuda without waiting"))

    def wait_event(self, event):
        self.log.append(f"{self.name} waits for {event.name}")


@pytest.fixture
def log(monkeypatch) -> list[str]:
    """What is asked of a GPU."""
    log = []

    @contextmanager
    def within(stream):
        log.append(f"on {stream.name}")
        yield
        log.append("off")

    monkeypatch.setattr(devices.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(devices.torch.cuda, "Stream", lambda device: Recorder(log, "copying"))
    monkeypatch.setattr(devices.torch.cuda, "stream", within)
    monkeypatch.setattr(devices.torch.cuda, "current_stream", lambda device: Recorder(log, "computing"))
    return log


def test_a_batch_may_be_a_dictionary(log):
    """As the batches of documents are."""
    (batch,) = copy_to_device([{"input_ids": Recorder(log, "a"), "labels": Recorder(log, "b")}], "cuda")
    assert {name: copy.name for name, copy in batch.items()} == {"input_ids": "a", "labels": "b"}
    assert log[1:5:2] == ["pin a", "pin b"]
    assert log[-2:] == ["keep a for computing", "keep b for computing"]
    named = [{"first": first, "second": second} for first, second in BATCHES]
    assert [list(batch) for batch in copy_to_device(named, "cpu")] == [["first", "second"]] * len(BATCHES)


def test_on_a_gpu_copies_are_pinned_run_beside_and_each_is_waited_for_alone(log):
    copied = copy_to_device([(Recorder(log, name),) for name in "abc"], "cuda", ahead=1)
    begin = [["on copying", f"pin {name}", f"copy {name} to cuda without waiting", "off"] for name in "abc"]
    end = [[f"computing waits for copy {name}", f"keep {name} for computing"] for name in "abc"]
    next(copied)
    assert log == begin[0] + begin[1] + end[0]
    assert len(list(copied)) == 2
    assert log == begin[0] + begin[1] + end[0] + begin[2] + end[1] + end[2]


@pytest.mark.parametrize("ahead", [1, 2, 4, 5, 100])
def test_what_was_read_before_an_error_comes_before_it(log, ahead):
    def until_an_error():
        yield from ((Recorder(log, str(number)),) for number in range(4))
        raise ValueError("line 5")

    seen = []
    with pytest.raises(ValueError, match="line 5"):
        seen.extend(batch[0].name for batch in copy_to_device(until_an_error(), "cuda", ahead=ahead))
    assert seen == ["0", "1", "2", "3"]


@pytest.fixture
def pretended(monkeypatch):
    """Copying to a GPU that is not there: tensors stay where they are."""
    for name, does in (
        ("is_available", lambda: True),
        ("Stream", lambda device: Recorder([], "copying")),
        ("stream", lambda stream: nullcontext()),
        ("current_stream", lambda device: Recorder([], "computing")),
    ):
        monkeypatch.setattr(devices.torch.cuda, name, does)
    monkeypatch.setattr(Recorder, "record_event", lambda self: self)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, device, non_blocking=False: tensor)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: None)


def new_loader(kind):
    windows = SlidingWindowDataset(np.arange(97), 4, 4)
    if kind == "course":
        return make_dataloader(windows, 2, base_seed=3)
    return StatefulDataLoader([windows[i] for i in range(len(windows))], batch_size=2)


@pytest.mark.filterwarnings("ignore:.set_vital.")  # torchdata asks for it
@pytest.mark.parametrize("kind", ["course", "torchdata"])
@pytest.mark.parametrize("device", ["cuda", "cpu"])
@pytest.mark.parametrize("ahead", [1, 2, 5, 100])
def test_what_is_ahead_is_read_again_after_a_resume(pretended, kind, device, ahead):
    def read(batches, steps=None):
        return [batch[0].tolist() for batch in islice(batches, steps)]

    whole = read(new_loader(kind))
    for steps in (0, 1, 5, len(whole) - 1, len(whole)):
        copied = copy_to_device(new_loader(kind), device, ahead=ahead)
        begun = read(copied, steps)
        loader = new_loader(kind)
        loader.load_state_dict(copied.state_dict())
        gone_on = read(copy_to_device(loader, device, ahead=ahead))
        if steps < len(whole):
            assert begun + gone_on == whole
        elif kind == "course":  # the next epoch
            assert sorted(chain(*gone_on)) == sorted(chain(*whole))
            assert gone_on != whole


def test_batches_of_a_list_have_no_state():
    with pytest.raises(TypeError, match=r"batches must .*got list"):
        copy_to_device(BATCHES, "cpu").state_dict()


def test_a_device_that_is_not_there_is_told():
    with pytest.raises(ValueError, match=r"^device must be .* got .graphics card"):
        copy_to_device(BATCHES, "graphics card")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="finds no CUDA device"):
            copy_to_device(BATCHES, "cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here")
def test_on_a_gpu_the_batches_are_there():
    copied = list(copy_to_device(BATCHES, "cuda"))
    assert all(tensor.is_cuda for batch in copied for tensor in batch)
    assert [batch[1].tolist() for batch in copied] == [batch[1].tolist() for batch in BATCHES]
