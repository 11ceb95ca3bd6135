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
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from course_lib.teaching.checker.processes import (
    Limits,
    Stopped,
    Watch,
    control_process,
    fields_of,
    limit_resources,
    run_in_a_process,
    state_and_time,
)

MOST_PROCESSES = 100
LARGEST_FILE = 100 * 2**20
OFFLINE = "the network is off while answers are scored"
# Numbers of the Linux interface.
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


def guard_children() -> None:
    """Become the parent of all that children leave behind, so that it can be ended."""
    control_process(PR_SET_CHILD_SUBREAPER, 1)


def run_guarded(
    work: Callable[[Watch], str], folder: Path, limits: Limits
) -> str | Stopped:
    """Do `work` in a forked process, and return the text it gives, or why it did not.

    Args:
        work: gets a watch, to be told when a call begins and ends.
        folder: where it works; also its home.
        limits: what it may take.
    """
    try:
        found = run_in_a_process(
            lambda watch: work(watch).encode(errors="replace"),
            limits,
            lambda: _prepare(folder, limits),
        )
    finally:
        end_descendants()
    return found if isinstance(found, Stopped) else found.decode(errors="replace")


def _prepare(folder: Path, limits: Limits) -> None:
    import resource  # there is none on Windows

    os.chdir(folder)
    _redirect(folder)
    values = {
        resource.RLIMIT_CPU: int(limits.before + limits.all_calls) + 2,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    if _go_offline():  # else all processes of the user would count
        values[resource.RLIMIT_NPROC] = MOST_PROCESSES
    limit_resources(values)


def _redirect(folder: Path) -> None:
    """Point programs away from the files and settings of whoever scores."""
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR"):
        os.environ[name] = str(folder)
    os.environ |= {"MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1", "COURSE_PROGRESS": "0"}
    os.environ |= {"COURSE_WIDGETS": "0", "TOKENIZERS_PARALLELISM": "false"}


def _go_offline() -> bool:
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


def is_halted(process: int) -> bool:
    """Whether somebody has sent it SIGSTOP."""
    with contextlib.suppress(OSError):
        return state_and_time(process)[0] in "Tt"
    return False


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
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(fields_of(path.name)[1]) == parent:
                found.append(int(path.name))
    return found
