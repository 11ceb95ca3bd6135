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
import gc
import mmap
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import torch

CAN_FORK = sys.platform.startswith("linux")
MOST_BYTES = 64 * 2**20  # of what comes back
PATIENCE = 10  # so many times the computing time may pass by the clock
ASLEEP = (psutil.STATUS_SLEEPING, psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
# Numbers of the Linux interface.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True)
class Limits:
    """What may be taken: seconds of computing, unless they are said to be others, and
    bytes of memory on top of what is there already."""

    one_call: float
    all_calls: float
    asleep: float  # by the clock: waiting for something that does not come
    extra_bytes: int | None  # None: no limit
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
    """Counts computing time, with a timer that ends the process when it runs out.

    No `except:` of an answer catches that. And since it is computing time, a busy
    machine stops no honest answer.
    """

    def __init__(self, limits: Limits):
        # shared with the process that looks on
        self.shared = memoryview(mmap.mmap(-1, 8)).cast("q")
        self.limits = limits
        self.left = limits.all_calls
        self.began = 0.0
        self.call = -1

    @property
    def call(self) -> int:
        return self.shared[0]

    @call.setter
    def call(self, number: int) -> None:
        self.shared[0] = number

    def begin(self, call: int) -> None:
        self.call = call
        limits = self.limits
        limit = limits.before if call < 0 else min(limits.one_call, self.left)
        if limit <= 0:
            signal.raise_signal(signal.SIGPROF)
        self.began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, limit)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.call >= 0:
            # Not what the timer has left: it counts in ticks.
            self.left -= time.process_time() - self.began


class GuardedProcess:
    """A forked process that works within limits.

    Args:
        work: gets a watch, to be told when a call begins and ends.
        limits: what it may take.
        prepare: called in the process, when it has been cut off from this one.
    """

    def __init__(
        self,
        work: Callable[[Watch], bytes],
        limits: Limits,
        prepare: Callable[[], None] = lambda: None,
    ):
        self.limits, self.watch = limits, ProcessWatch(limits)
        fork = multiprocessing.get_context("fork")
        self.reader, writer = fork.Pipe(duplex=False)
        parent = os.getpid()

        def be_the_child() -> None:
            try:
                _cut_off()
                prepare()
                _settle(parent, limits)
                own = os.getpid()
                data = work(self.watch)
                if os.getpid() == own:  # no copy that the work has made
                    writer.send_bytes(data)
                    signal.pause()  # to be ended with all that it has started
            finally:
                os._exit(1)

        self.process = fork.Process(target=be_the_child)
        with warnings.catch_warnings():
            # Python warns that a forked process has lost its other threads. It needs
            # none.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        writer.close()
        self.seen = psutil.Process(self.process.pid)
        self.idle_since, self.computed = time.monotonic(), -1.0
        self.latest = self.idle_since + limits.by_the_clock

    def look(self, seconds: float) -> bytes | Stopped | None:
        """What it has come to; None if it is still at work after so many seconds."""
        try:
            if self.reader.poll(seconds):
                return self.reader.recv_bytes(MOST_BYTES)
        except EOFError:  # it is about to end, or has closed all that was open
            time.sleep(0.01)
        except OSError:  # more than is read
            return Stopped("memory", self.watch.call)
        if self.process.exitcode is not None:
            return Stopped(_told_by(self.process.exitcode), self.watch.call)
        return Stopped("waits", self.watch.call) if self._waits() else None

    def _waits(self) -> bool:
        """Whether it has slept for too long, or will never wake up."""
        now, state, times = time.monotonic(), self.seen.status(), self.seen.cpu_times()
        # Waiting for a processor is not sleep.
        if times.user + times.system != self.computed or state not in ASLEEP:
            self.idle_since, self.computed = now, times.user + times.system
        slept = now - self.idle_since >= self.limits.asleep
        return slept or state == psutil.STATUS_STOPPED or now > self.latest

    def end(self) -> None:
        """End it with all that it has started."""
        below = []
        with contextlib.suppress(psutil.NoSuchProcess):
            below = self.seen.children(recursive=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.join()
        self.reader.close()


def run_in_a_process(
    work: Callable[[Watch], bytes],
    limits: Limits,
    prepare: Callable[[], None] = lambda: None,
) -> bytes | Stopped:
    """Do `work` in a `GuardedProcess`, and return the bytes that it gives, or why it
    gave none."""
    process = GuardedProcess(work, limits, prepare)
    try:
        while (found := process.look(0.2)) is None:
            pass
        return found
    finally:
        process.end()


def limit_resources(values: dict[int, int]) -> None:
    """Set limits by the numbers that `resource` has for them, or lower ones that are
    there already."""
    import resource  # there is none on Windows

    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def _cut_off() -> None:
    os.setsid()  # who interrupts the parent does not mean it; and it ends as a whole
    faulthandler.disable()  # a crash is told in a message, not as a page of stacks
    for number in (signal.SIGPROF, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _settle(parent: int, limits: Limits) -> None:
    import resource

    gc.freeze()  # what is there already stays: not to look at it saves a tenth second
    # The threads that share a sum have not been forked: who waits for them waits
    # forever.
    torch.set_num_threads(1)
    if limits.extra_bytes is not None:
        in_use = psutil.Process().memory_info().vms
        limit_resources({resource.RLIMIT_AS: in_use + limits.extra_bytes})
    linux = ctypes.CDLL(None)
    linux.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what it starts stays below it
    linux.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _told_by(status: int) -> str:
    """Why a process has ended that was not ended from here."""
    if status >= 0:
        return "os._exit"
    timed_out = -status in (signal.SIGPROF, signal.SIGXCPU)
    return "endless" if timed_out else signal.Signals(-status).name
