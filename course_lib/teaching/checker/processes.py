"""Work in a forked process with limits of computing time, sleep and memory, which may
end in any way; on Linux. Checking an answer and scoring a class both use it."""

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
MOST_BYTES = 64 * 2**20  # of the result
PATIENCE = 10  # the most time by the clock, in multiples of the computing time
ASLEEP = (psutil.STATUS_SLEEPING, psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
# Numbers of the Linux interface.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


@dataclass(frozen=True)
class Limits:
    """What a process may use: seconds of computing, and bytes of additional memory."""

    one_call: float
    all_calls: float
    asleep: float  # by the clock, while it waits for something that does not come
    extra_bytes: int | None  # None means no limit
    before: float = 0.0  # for the code that runs before the calls

    @property
    def by_the_clock(self) -> float:
        return PATIENCE * (self.before + self.all_calls)


@dataclass(frozen=True)
class Stopped:
    """Work that was stopped, with the reason, and the call during which it happened."""

    reason: str
    call: int


class Watch:
    """Is told by the work when each call begins and ends, and remembers the call."""

    call = -1

    def begin(self, call: int) -> None:
        """Note that a call begins: its number, or -1 for the code before all calls."""
        self.call = call

    def end(self) -> None:
        pass


class ProcessWatch(Watch):
    """Counts computing time, with a timer that ends the process when it runs out: no
    `except:` can catch this, and a busy machine stops no honest answer."""

    def __init__(self, limits: Limits):
        # Shared with the process that supervises this one.
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
            # We do not use what the timer has left, because it counts in ticks.
            self.left -= time.process_time() - self.began


class GuardedProcess:
    """A forked process that does `work` within limits, after `prepare`, which is called
    when it is separated from this one. The work tells a watch of its calls."""

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
                if os.getpid() == own:  # not in a copy of it that the work has forked
                    writer.send_bytes(data)
                    signal.pause()  # until it is ended with all that it has started
            finally:
                os._exit(1)

        self.process = fork.Process(target=be_the_child)
        with warnings.catch_warnings():  # it has lost other threads, and needs none
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        writer.close()
        self.seen = psutil.Process(self.process.pid)
        self.idle_since, self.computed = time.monotonic(), -1.0
        self.latest = self.idle_since + limits.by_the_clock

    def look(self, seconds: float) -> bytes | Stopped | None:
        """Return what came of it, or None if it is still at work after `seconds`."""
        try:
            if self.reader.poll(seconds):
                return self.reader.recv_bytes(MOST_BYTES)
        except EOFError:  # it is about to end, or has closed all of its files
            time.sleep(0.01)
        except OSError:  # the result is longer than we read
            return Stopped("memory", self.watch.call)
        if self.process.exitcode is not None:
            return Stopped(_told_by(self.process.exitcode), self.watch.call)
        return Stopped("waits", self.watch.call) if self._waits() else None

    def _waits(self) -> bool:
        """Say whether it has slept for too long, or will never wake up."""
        now, state, times = time.monotonic(), self.seen.status(), self.seen.cpu_times()
        # Waiting for a processor is not sleep.
        if times.user + times.system != self.computed or state not in ASLEEP:
            self.idle_since, self.computed = now, times.user + times.system
        slept = now - self.idle_since >= self.limits.asleep
        return slept or state == psutil.STATUS_STOPPED or now > self.latest

    def end(self) -> None:
        """End it, with all processes that it has started."""
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
    """Do `work` in a `GuardedProcess`, and return its bytes, or why there are none."""
    process = GuardedProcess(work, limits, prepare)
    try:
        while (found := process.look(0.2)) is None:
            pass
        return found
    finally:
        process.end()


def limit_resources(values: dict[int, int]) -> None:
    """Set limits, given by the numbers of `resource`, but never raise existing ones."""
    import resource  # there is none on Windows

    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def _cut_off() -> None:
    os.setsid()  # an interrupt of the parent spares it, and it can be ended as a whole
    faulthandler.disable()  # we report a crash in a message, not as a page of stacks
    for number in (signal.SIGPROF, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _settle(parent: int, limits: Limits) -> None:
    import resource

    gc.freeze()  # not looking at existing objects saves a tenth of a second
    torch.set_num_threads(1)  # or it would wait for threads that are not forked
    if limits.extra_bytes is not None:
        in_use = psutil.Process().memory_info().vms
        limit_resources({resource.RLIMIT_AS: in_use + limits.extra_bytes})
    linux = ctypes.CDLL(None)
    linux.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what it starts stays below it
    linux.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _told_by(status: int) -> str:
    if status >= 0:
        return "os._exit"
    timed_out = -status in (signal.SIGPROF, signal.SIGXCPU)
    return "endless" if timed_out else signal.Signals(-status).name
