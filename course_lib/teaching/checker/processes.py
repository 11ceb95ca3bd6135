"""Do something in a forked process that may come to any end, within limits of computing
time, sleep and memory.

Those who check an answer and those who score a class differ in what they prepare in the
process, which limits they set, and how they write results as bytes. Linux alone can do
this.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import mmap
import os
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch

CAN_FORK = sys.platform.startswith("linux")
MOST_BYTES = 64 * 2**20  # of what comes back
PATIENCE = 10  # so many times the computing time may pass by the clock
PR_SET_PDEATHSIG = 1  # a number of the Linux interface


@dataclass(frozen=True)
class Limits:
    """What may be taken: seconds of computing, unless they are said to be others, and
    bytes of memory on top of what is there already."""

    one_call: float
    all_calls: float
    asleep: float  # by the clock: waiting for something that does not come
    extra_bytes: int
    before: float = 0.0  # for what comes before the calls

    @property
    def by_the_clock(self) -> float:
        """The seconds after which it is over, however the process spends them."""
        return PATIENCE * (self.before + self.all_calls)


@dataclass(frozen=True)
class Stopped:
    """Work that was stopped: why, and during which call."""

    reason: str
    call: int


class Watch:
    """What the work says of itself while it goes on: which call, from when to when.

    Here it only counts; the watches of processes and threads have limits.
    """

    call = -1

    def begin(self, call: int) -> None:
        """A call by its number, or -1 for what comes before all calls."""
        self.call = call

    def end(self) -> None:
        pass


class ProcessWatch(Watch):
    """Counts computing time with a timer that ends the process when it runs out.

    No `except:` of an answer catches that. And since it is computing time, a busy
    machine stops no honest answer.
    """

    def __init__(self, limits: Limits):
        self.shared = mmap.mmap(-1, 8)  # with the process that looks on
        self.limits = limits
        self.left = float(limits.all_calls)
        self.limit = 0.0
        self.call = -1

    @property
    def call(self) -> int:
        return struct.unpack("q", self.shared[:8])[0]

    @call.setter
    def call(self, number: int) -> None:
        self.shared[:8] = struct.pack("q", number)

    def begin(self, call: int) -> None:
        self.call = call
        self.limit = self.limits.before
        if call >= 0:
            self.limit = min(self.limits.one_call, max(self.left, 0.01))
        signal.setitimer(signal.ITIMER_PROF, self.limit)

    def end(self) -> None:
        remaining, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        if self.call >= 0:
            self.left -= self.limit - remaining


def run_in_a_process(
    work: Callable[[Watch], bytes],
    limits: Limits,
    prepare: Callable[[], None] = lambda: None,
) -> bytes | Stopped:
    """Do `work` in a forked process, and return the bytes that it gives, or why it gave
    none.

    Args:
        work: gets a watch, to be told when a call begins and ends.
        limits: what it may take.
        prepare: called in the process, when it has been cut off from this one.
    """
    watch, parent = ProcessWatch(limits), os.getpid()

    def be_the_child(writer: int) -> None:
        _cut_off()
        prepare()
        _settle(parent, limits)
        own = os.getpid()
        data = work(watch)
        if os.getpid() == own:  # no copy that the work has made
            write_all(writer, data)

    child, reader = fork(be_the_child)
    try:
        data, reason = _read(reader, child, limits)
    finally:
        os.close(reader)
        status = _end(child)
    if reason is None and status == 0 and data:
        return data
    return Stopped(reason or _told_by(status), watch.call)


def fork(work: Callable[[int], None]) -> tuple[int, int]:
    """Start a copy of this process that does `work` and nothing else; return its number
    and the end of a pipe from which to read what it writes into the other end."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns that a forked process has lost its other threads. It needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            work(writer)
            status = 0
        finally:
            # no clean-up: all that is to be cleaned up is the parent's
            os._exit(status)
    os.close(writer)
    return child, reader


def write_all(writer: int, data: bytes) -> None:
    while data:
        data = data[os.write(writer, data) :]


def state_and_time(process: int) -> tuple[str, int]:
    """The letter that Linux has for the state of a process, and how long it has
    computed."""
    fields = fields_of(process)
    return fields[0], int(fields[11]) + int(fields[12])


def fields_of(process: int | str) -> list[str]:
    """What Linux tells of a process, behind its number and name: its state, its parent,
    and so on."""
    with open(f"/proc/{process}/stat", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


# In the process.


def say_nothing() -> None:
    """Keep a forked process from talking through the parent's channels."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def limit_resources(values: dict[int, int]) -> None:
    """Set limits by the numbers that `resource` has for them, or lower ones that are
    there already."""
    import resource  # there is none on Windows

    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def control_process(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _cut_off() -> None:
    os.setsid()  # who interrupts the parent does not mean it; and it ends as a whole
    faulthandler.disable()  # a crash is told in a message, not as a page of stacks
    for number in (signal.SIGPROF, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    say_nothing()


def _settle(parent: int, limits: Limits) -> None:
    import resource

    # The threads that share a sum have not been forked: who waits for them waits
    # forever.
    torch.set_num_threads(1)
    with open("/proc/self/statm") as file:
        in_use = int(file.read().split()[0]) * mmap.PAGESIZE
    limit_resources({resource.RLIMIT_AS: in_use + limits.extra_bytes})
    control_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


# Beside the process.


def _read(reader: int, child: int, limits: Limits) -> tuple[bytes, str | None]:
    """Read until the child closes the pipe, sleeps for too long, or says too much."""
    pieces, size = [], 0
    idle_since, computed, ended = time.monotonic(), -1, False
    latest = time.monotonic() + limits.by_the_clock
    while time.monotonic() < latest:
        ready, _, _ = select.select([reader], [], [], 0 if ended else 0.2)
        if ready:
            if not (piece := os.read(reader, 2**16)):
                return b"".join(pieces), None
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                return b"", "memory"
            continue
        if ended:  # and something that it has started holds the pipe
            return b"".join(pieces), None
        state, now = state_and_time(child)
        ended = state == "Z"
        # Waiting for a processor is not sleep: then the state is R, for running.
        if now != computed or state not in "STt":
            idle_since, computed = time.monotonic(), now
        elif time.monotonic() - idle_since >= limits.asleep:
            return b"", "waits"
    return b"", "waits"


def _end(child: int) -> int:
    """End a process, and what it has started that has not left its session; return its
    status."""
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _told_by(status: int) -> str:
    """Why a process has ended that was not ended from here."""
    if not os.WIFSIGNALED(status):
        return "os._exit"
    number = os.WTERMSIG(status)
    timed_out = number in (signal.SIGPROF, signal.SIGXCPU)
    return "endless" if timed_out else signal.Signals(number).name
