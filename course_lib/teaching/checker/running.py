"""Call an answer without being harmed by it: on copies, silenced, in a process of its
own.

On Linux the answer runs in a forked process. It may loop forever, fill the memory, exit
or crash: the process ends, and the kernel that asked does not. Elsewhere it runs in a
thread, which is told to stop after a while: that ends loops written in Python, but not
a single long call into compiled code, and memory has no limit.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import ctypes
import faulthandler
import inspect
import io
import itertools
import linecache
import mmap
import os
import pickle
import random
import select
import signal
import struct
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from IPython import get_ipython

from course_lib.teaching.checker.comparing import PLAIN, same

CALL_SECONDS = 2  # of computing time, for one call
ALL_CALLS_SECONDS = 10
IDLE_SECONDS = 5  # asleep, waiting for something that does not come
EXTRA_BYTES = 2**30  # what the answer may take on top of what is there already
ITEMS_TAKEN_FROM_AN_ITERATOR = 10_000
CAN_FORK = sys.platform.startswith("linux")

Case = tuple


@dataclass(frozen=True)
class Outcome:
    """What one call did: the value it returned, or the exception it raised."""

    value: object = None
    error: BaseException | None = None
    changed_arguments: bool = False
    printed: str = ""
    place: str = ""  # the line of the answer that raised

    def same_as(self, other: Outcome) -> bool:
        if self.changed_arguments != other.changed_arguments:
            return False
        if type(self.error) is not type(other.error):
            return False
        return self.error is not None or same(self.value, other.value)


def run(function: Callable, case: Case) -> Outcome:
    """Call `function` on a copy of the arguments, and look afterwards whether it has
    changed them."""
    arguments = _copied(case)
    printed = io.StringIO()
    try:
        # Hundreds of calls would print hundreds of times, and push the verdict out of
        # sight.
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            value = function(*arguments)
            if hasattr(value, "__next__"):
                value = list(itertools.islice(value, ITEMS_TAKEN_FROM_AN_ITERATOR))
    except (Exception, SystemExit) as error:
        return Outcome(
            error=error, printed=printed.getvalue(), place=_place(function, error)
        )
    # A model or a generator is not compared: no copy equals its original, and to draw
    # numbers is no mistake.
    pairs = zip(arguments, case, strict=True)
    changed = not all(a is b or _has_state(b) or same(a, b) for a, b in pairs)
    return Outcome(value, changed_arguments=changed, printed=printed.getvalue())


def _copied(value: object) -> object:
    """A deep copy; of lists of plain values, which most arguments are, a fast one."""
    kind = type(value)
    if kind in PLAIN or kind is float:
        return value
    if kind is list or kind is tuple:
        return kind(map(_copied, value))
    return copy.deepcopy(value)


def _has_state(value: object) -> bool:
    return callable(value) or isinstance(value, torch.Generator | random.Random)


def _place(function: Callable, error: BaseException) -> str:
    """The last line of the answer's own code on the way to the error."""
    try:
        code = inspect.unwrap(function).__code__
        first, last = code.co_firstlineno, max(n or 0 for *_, n in code.co_lines())
    except (AttributeError, ValueError):
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == code.co_filename]
    own = [f for f in own if first <= f.lineno <= last] or own
    if not own:
        return ""
    line = linecache.getline(own[-1].filename, own[-1].lineno).strip()
    number = own[-1].lineno - first + 1
    return f"line {number}: {line}" if line else f"line {number}"


@dataclass(frozen=True)
class Stopped:
    """An answer that was stopped: why, and during which call."""

    reason: str
    call: int


class Watch:
    """What the work says of itself while it goes on: which call, from when to when.

    Here it only counts; the process and the thread below have theirs with a limit.
    """

    call = -1

    def begin(self, call: int) -> None:
        self.call = call

    def end(self) -> None:
        pass


def limited(work: Callable[[Watch], object]) -> object:
    """Do `work`, which calls an answer, and return its result or a `Stopped`.

    The result is pickled on its way, so it must be plain data.
    """
    return _in_a_process(work) if CAN_FORK else _in_a_thread(work)


# In a process: Linux.


class _ProcessWatch(Watch):
    """Counts computing time with a timer that ends the process when it runs out.

    No `except:` of an answer catches that. And since it is computing time, a busy
    machine stops no honest answer.
    """

    def __init__(self, shared: mmap.mmap):
        self.shared = shared
        self.left = float(ALL_CALLS_SECONDS)
        self.limit = 0.0

    def begin(self, call: int) -> None:
        self.shared[:8] = struct.pack("q", call)
        self.limit = min(CALL_SECONDS, max(self.left, 0.01))
        signal.setitimer(signal.ITIMER_PROF, self.limit)

    def end(self) -> None:
        remaining, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        self.left -= self.limit - remaining


def _in_a_process(work: Callable[[Watch], object]) -> object:
    shared = mmap.mmap(-1, 8)
    shared[:8] = struct.pack("q", -1)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns that a forked process has lost its other threads. It needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            _shut_off()
            data = pickle.dumps(work(_ProcessWatch(shared)))
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:
            # no clean-up: all that is to be cleaned up is the parent's
            os._exit(status)
    os.close(writer)
    try:
        data, reason = _read(reader, child)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # if it is still there: an interrupt, say
        _, status = os.waitpid(child, 0)
    (call,) = struct.unpack("q", shared[:8])
    if reason is not None:
        return Stopped(reason, call)
    if data:
        return pickle.loads(data)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if ended_by == signal.SIGPROF:
        return Stopped("endless", call)
    name = signal.Signals(ended_by).name if ended_by else "os._exit"
    return Stopped(name, call)


def _shut_off() -> None:
    """Keep the forked process from talking through the parent's channels."""
    faulthandler.disable()  # a crash is told in the message, not as a page of stacks
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    if (shell := get_ipython()) is not None:
        shell.display_pub.publish = lambda *args, **kwargs: None
    builtins.input = _no_input
    # The threads that share a sum have not been forked: who waits for them waits
    # forever.
    torch.set_num_threads(1)
    _limit_memory()


def _limit_memory() -> None:
    import resource  # there is none on Windows

    with open("/proc/self/statm") as file:
        in_use = int(file.read().split()[0]) * mmap.PAGESIZE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = in_use + EXTRA_BYTES
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _no_input(*args: object) -> str:
    raise RuntimeError("an answer is called many times: it cannot ask for input")


def _read(reader: int, child: int) -> tuple[bytes, str | None]:
    """Read until the child closes the pipe, or until it has slept for too long."""
    pieces = []
    asleep, computed = 0.0, -1
    while True:
        ready, _, _ = select.select([reader], [], [], 0.5)
        if ready:
            if not (piece := os.read(reader, 2**16)):
                return b"".join(pieces), None
            pieces.append(piece)
            continue
        state, now = _state_and_time(child)
        # Waiting for a processor is not sleep: then the state is R, for running.
        asleep = asleep + 0.5 if state == "S" and now == computed else 0.0
        computed = now
        if asleep >= IDLE_SECONDS:
            return b"", "waits"


def _state_and_time(process: int) -> tuple[str, int]:
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


# In a thread: everywhere else.


class _TooLong(BaseException):
    """Raised in the thread of an answer that was given up."""


class _ThreadWatch(Watch):
    began: float | None = None

    def begin(self, call: int) -> None:
        self.call, self.began = call, time.monotonic()

    def end(self) -> None:
        self.began = None


def _in_a_thread(work: Callable[[Watch], object]) -> object:
    watch, results, errors = _ThreadWatch(), [], []

    def target() -> None:
        try:
            results.append(work(watch))
        except _TooLong:
            pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    gave_up = None
    while thread.is_alive():
        thread.join(0.05)
        began = watch.began
        if began is not None and time.monotonic() - began > ALL_CALLS_SECONDS:
            gave_up = gave_up or time.monotonic()
            number = ctypes.c_ulong(thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                number, ctypes.py_object(_TooLong)
            )
            if time.monotonic() - gave_up > IDLE_SECONDS:
                return Stopped(
                    "endless, and it goes on: restart the kernel", watch.call
                )
    if errors:
        raise errors[0]
    return results[0] if results else Stopped("endless", watch.call)


# How calls and results are written.


def format_call(function: Callable, case: Case) -> str:
    names = inspect.signature(function).parameters
    arguments = (f"{n}={show(v)}" for n, v in zip(names, case, strict=False))
    return f"{function.__name__}({', '.join(arguments)})"


def format_outcome(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    changed = ", and the arguments changed" if outcome.changed_arguments else ""
    return show(outcome.value) + changed


def show(value: object) -> str:
    """Write a value as short as it can be compared; whatever it is, this never
    raises."""
    try:
        text = _written(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else f"{text[:195]} ..."


def _written(value: object) -> str:
    if isinstance(value, torch.Tensor | np.ndarray):
        array = (
            value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        )
        return repr((np.round(array, 4) if array.dtype.kind == "f" else array).tolist())
    if isinstance(value, float):
        return repr(round(value, 6))
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(_written, value))}{comma})"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)  # not textwrap.shorten: it would make one blank of several
