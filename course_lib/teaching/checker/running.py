"""Run an answer so that it can do no harm.

On Linux, it runs in a forked process: if it loops forever, fills the memory, exits or
crashes, the kernel of the notebook survives. On other systems, it runs in a thread,
which is told to stop after a while: this ends no long call into compiled code.
"""

import builtins
import ctypes
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from IPython.utils.capture import capture_output

from course_lib.teaching.checker.processes import (
    CAN_FORK,
    Limits,
    Stopped,
    Watch,
    run_in_a_process,
)

CALL_SECONDS = 2  # of computing time, for one call
ALL_CALLS_SECONDS = 10
IDLE_SECONDS = 5  # asleep, while it waits for something that does not come
EXTRA_BYTES = 2**30  # of memory that the answer may use in addition


def limits_of_answers() -> Limits:
    return Limits(CALL_SECONDS, ALL_CALLS_SECONDS, IDLE_SECONDS, EXTRA_BYTES)


def limited(work: Callable[[Watch], object], limits: Limits | None = None) -> object:
    """Do `work`, which calls an answer, for its result, plain data, or a `Stopped`."""
    limits = limits or limits_of_answers()
    if not CAN_FORK:
        return _run_in_a_thread(work, limits)
    found = run_in_a_process(lambda watch: _quietly(work, watch), limits)
    return found if isinstance(found, Stopped) else pickle.loads(found)


def _quietly(work: Callable[[Watch], object], watch: Watch) -> bytes:
    """Do `work` without displaying anything in the notebook or asking for input."""
    builtins.input = _no_input
    with capture_output():
        return pickle.dumps(work(watch))


def _no_input(*args: object) -> str:
    raise RuntimeError("an answer is called many times: it cannot ask for input")


class _TooLong(BaseException):
    """Raised in the thread of an answer that takes too long."""


class _ThreadWatch(Watch):
    began: float | None = None

    def begin(self, call: int) -> None:
        self.call, self.began = call, time.monotonic()

    def end(self) -> None:
        self.began = None


def _run_in_a_thread(work: Callable[[Watch], object], limits: Limits) -> object:
    watch, done = _ThreadWatch(), Future()

    def target() -> None:
        try:
            done.set_result(work(watch))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    gave_up = None
    while thread.is_alive():
        thread.join(0.05)
        began = watch.began
        if began is not None and time.monotonic() - began > limits.all_calls:
            gave_up = gave_up or time.monotonic()
            number = ctypes.c_ulong(thread.ident)
            too_long = ctypes.py_object(_TooLong)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, too_long)
            if time.monotonic() - gave_up > limits.asleep:
                reason = "endless, and it goes on: restart the kernel"
                return Stopped(reason, watch.call)
    try:
        return done.result(timeout=0)
    except (_TooLong, TimeoutError):
        return Stopped("endless", watch.call)
