"""Run somebody's cells in a process of their own, which may come to any end.

The process has limits of computing time, memory and the size of files, no network, and
a temporary folder to work in. Whatever it has started is ended with it. All this is
made for accidents. It is no sandbox: a program that is made to do harm can do what its
user can do, write into files by their full names, say.

Linux alone can do all of this.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import mmap
import os
import resource
import select
import signal
import socket
import struct
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course_lib.teaching.checker.running import (
    ALL_CALLS_SECONDS,
    CALL_SECONDS,
    IDLE_SECONDS,
    Stopped,
    Watch,
)

MOST_BYTES = 64 * 2**20  # of what comes back
MOST_PROCESSES = 100
LARGEST_FILE = 100 * 2**20
OFFLINE = "the network is off while answers are scored"
# Numbers of the Linux interface.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


@dataclass(frozen=True)
class Limits:
    """What one answer may take: seconds of computing for the cells that it needs, and
    bytes of memory on top of what is there already."""

    seconds: float = 20.0
    extra_bytes: int = 2**30


class GuardedWatch(Watch):
    """Ends the process when a step has computed for too long.

    No `except:` catches that, and a busy machine stops nobody.
    """

    def __init__(self, shared: mmap.mmap, limits: Limits):
        self.shared = shared
        self.left = float(ALL_CALLS_SECONDS)
        self.limits = limits
        self.limit = 0.0

    def begin(self, call: int) -> None:
        """A call by its number, or -1 for the cells before all calls."""
        self.shared[:8] = struct.pack("q", call)
        self.limit = min(CALL_SECONDS, max(self.left, 0.01))
        if call < 0:
            self.limit = self.limits.seconds
        signal.setitimer(signal.ITIMER_PROF, self.limit)

    def end(self) -> None:
        remaining, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        if struct.unpack("q", self.shared[:8])[0] >= 0:
            self.left -= self.limit - remaining


def guard_children() -> None:
    """Become the parent of all that children leave behind, so that it can be ended."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def run_guarded(
    work: Callable[[Watch], str], folder: Path, limits: Limits
) -> str | Stopped:
    """Do `work` in a forked process, and return the text it gives, or why it did not.

    Args:
        work: gets a watch, to be told when a call begins and ends.
        folder: where it works; also its home.
        limits: what it may take.
    """
    shared = mmap.mmap(-1, 8)
    shared[:8] = struct.pack("q", -1)
    reader, writer = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python warns that a forked process has lost its other threads. It needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            _prepare(parent, folder, limits)
            own = os.getpid()
            data = work(GuardedWatch(shared, limits)).encode(errors="replace")
            while data and os.getpid() == own:  # no copy that the cells have made
                data = data[os.write(writer, data) :]
            status = 0
        finally:
            os._exit(status)  # all that is to be cleaned up is the parent's
    os.close(writer)
    try:
        data, reason = _read(reader, child, limits)
    finally:
        os.close(reader)
        status = _end(child)
    (call,) = struct.unpack("q", shared[:8])
    if reason is not None:
        return Stopped(reason, call)
    if status == 0 and data:
        return data.decode(errors="replace")
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if ended_by in (signal.SIGPROF, signal.SIGXCPU):
        return Stopped("endless", call)
    return Stopped(signal.Signals(ended_by).name if ended_by else "os._exit", call)


def _prepare(parent: int, folder: Path, limits: Limits) -> None:
    os.setsid()
    faulthandler.disable()
    for number in (signal.SIGPROF, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(folder)
    _redirect(folder)
    alone = _cut_off()
    _limit(limits, alone)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _redirect(folder: Path) -> None:
    """Point programs away from the files and settings of whoever scores."""
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR"):
        os.environ[name] = str(folder)
    os.environ |= {"MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1", "COURSE_PROGRESS": "0"}
    os.environ |= {"COURSE_WIDGETS": "0", "TOKENIZERS_PARALLELISM": "false"}


def _cut_off() -> bool:
    """Leave the network: within Python, where it is said why; and by the kernel, where
    it lets users do that, which is returned."""

    def guard(method: Callable) -> Callable:
        def only_here(self: socket.socket, *arguments: object) -> object:
            if self.family != socket.AF_UNIX:
                raise OSError(OFFLINE)
            return method(self, *arguments)

        return only_here

    def refuse(*arguments: object, **named: object) -> None:
        raise OSError(OFFLINE)

    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, guard(getattr(socket.socket, name)))
    socket.getaddrinfo = socket.gethostbyname = refuse
    try:
        return ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0
    except (OSError, AttributeError):
        return False


def _limit(limits: Limits, alone: bool) -> None:
    import torch

    # The threads that share a sum have not been forked: who waits for them waits
    # forever.
    torch.set_num_threads(1)
    with open("/proc/self/statm") as file:
        in_use = int(file.read().split()[0]) * mmap.PAGESIZE
    seconds = int(limits.seconds + ALL_CALLS_SECONDS) + 2
    values = {
        resource.RLIMIT_AS: in_use + limits.extra_bytes,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    if alone:  # else all processes of the user would count
        values[resource.RLIMIT_NPROC] = MOST_PROCESSES
    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def _read(reader: int, child: int, limits: Limits) -> tuple[bytes, str | None]:
    """Read until the child closes the pipe, sleeps for too long, or says too much."""
    pieces, size = [], 0
    idle_since, computed = time.monotonic(), -1
    # However it goes about it: at most this, by the clock.
    latest = time.monotonic() + 10 * (limits.seconds + ALL_CALLS_SECONDS)
    while time.monotonic() < latest:
        ready, _, _ = select.select([reader], [], [], 0.2)
        if ready:
            if not (piece := os.read(reader, 2**16)):
                return b"".join(pieces), None
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                return b"", "memory"
            continue
        state, now = _state_and_time(child)
        if state == "Z":  # it has ended, and something that it started has not
            return b"".join(pieces), None
        # Waiting for a processor is not sleep: then the state is R, for running.
        if now != computed or state not in "STt":
            idle_since, computed = time.monotonic(), now
        elif time.monotonic() - idle_since >= IDLE_SECONDS:
            return b"", "waits"
    return b"", "waits"


def _state_and_time(process: int) -> tuple[str, int]:
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


def is_halted(process: int) -> bool:
    """Whether somebody has sent it SIGSTOP."""
    with contextlib.suppress(OSError):
        return _state_and_time(process)[0] in "Tt"
    return False


def _end(child: int) -> int:
    """End a process with all that it has started, and return its status."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    end_descendants()
    return status


def end_descendants() -> None:
    """End all processes below this one. They are its children as soon as what has
    started them is gone."""
    for _ in range(1000):
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not done:
            for process in _children(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.002)


def _children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(path.parent.name))
    return found


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
