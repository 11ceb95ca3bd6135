"""Run tasks in processes of this machine, or on many machines by Ray.

Both have the interface of `concurrent.futures`. Tasks are pure and may run twice, so a
task that is lost with its worker simply runs again.
"""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any

from course_lib.foundation import (
    NO_GUARD,
    AtLeast,
    checked,
    end_with_parent,
    process_context,
)

RETRIES = 3  # of a task that was lost with its worker; wrong input is not tried again
MOST_AHEAD = 10_000  # tasks that wait or run; a cluster has far fewer workers
INSTALL_RAY = (
    'Ray is not installed: pip install "ray>=2.60,<3" (or this project with its extra '
    "`cluster`), on every machine of the cluster; everything else works without it"
)
KILLED = (
    "a worker was killed while it did a task, perhaps because memory ran out; finished "
    "tasks are kept: run it again"
)

# Processes of this machine.


@checked
def process_pool(num_workers: Annotated[int, AtLeast(1, 1024)]) -> ProcessPoolExecutor:
    """Make an executor of `num_workers` processes, which end with this process.

    Each imports the script, which must call this under `if __name__ == "__main__":`.
    """
    context = process_context()
    begun = context.RawValue("b", 0)  # without a lock, which a killed worker may hold
    pool = ProcessPoolExecutor(
        num_workers, mp_context=context, initializer=_begin_worker, initargs=(begun,)
    )
    pool.has_begun = lambda: bool(begun.value)
    return pool


def _begin_worker(begun: ctypes.c_byte) -> None:
    # Ctrl-C is meant for the process that gave out the tasks: it ends the workers.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # There are already as many workers as cores.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    end_with_parent()
    begun.value = 1


# The results in the order of the tasks, wherever the tasks run.


def run_in_order(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    make_executor: Executor | Callable[[], Executor],
) -> Iterator[Any]:
    """Submit tasks, thousands ahead, and yield their results in the order of the tasks.

    Args:
        function: pure, or at least harmless when it runs twice. Other processes must
            find it by name, so it must not be defined in a notebook.
        tasks: the arguments, one for each call.
        make_executor: a function that makes an executor. If the executor breaks because
            a worker was killed, we make another one and run the unfinished tasks again,
            up to three times. If you give an executor instead, we do not shut it down,
            and the run ends if it breaks.

    Raises BrokenExecutor if a task was lost a fourth time or no worker could start (or
    Ray's own error, if Ray gives up), and otherwise the exception of the first task, by
    its order, that raised one, or a RuntimeError with its text if it cannot be sent
    between processes.
    """
    tasks = list(tasks)
    given = isinstance(make_executor, Executor)
    if not given and not callable(make_executor):
        raise TypeError(
            "make_executor must be an executor or make one, got "
            f"{type(make_executor).__name__}"
        )
    begin = 0  # the results of all tasks before this one have been yielded
    lost = 0  # how often the next task was lost
    while begin < len(tasks):
        executor = make_executor if given else make_executor()
        submitted = (executor.submit(_do, function, task) for task in tasks[begin:])
        ahead: deque[Future] = deque()
        try:
            ahead.extend(islice(submitted, MOST_AHEAD))
            while ahead:
                result = _result_of(ahead[0])
                ahead.popleft()
                ahead.extend(islice(submitted, 1))
                begin, lost = begin + 1, 0
                yield result
        except BrokenExecutor as error:
            if not getattr(executor, "has_begun", lambda: True)():
                raise BrokenExecutor(NO_GUARD) from error
            lost += 1
            if given or lost > RETRIES:
                raise BrokenExecutor(KILLED) from error
        finally:
            for future in ahead:
                future.cancel()
            if not given:
                executor.shutdown(wait=True, cancel_futures=True)


def _do(function: Callable[[Any], Any], task: Any) -> Any:
    """Do a task in its worker, and turn an exception that can't be sent into text."""
    try:
        return function(task)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


def _result_of(future: Future) -> Any:
    try:
        return future.result()
    except Exception as error:
        if cause := getattr(error, "cause", None):  # what Ray wraps
            raise cause from error
        raise


class InThisProcess(Executor):
    """Runs each task at once, in this process, which is easy to debug."""

    def submit(self, function: Callable, /, *arguments, **options) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


# The same, but on many machines.


class RayExecutor(Executor):
    """Runs tasks on a Ray cluster. Ray runs a task again if its worker is lost.

    Args:
        address: for `ray.init`, unless this program has already called it. Without one,
            it joins the cluster that `RAY_ADDRESS` names, or that was started on this
            machine, or else it starts a cluster of this machine alone, as it always
            does with "local".
        options: options of Ray for each task, such as `num_cpus` or `resources`. The
            option `max_retries`, by default three, says how often Ray runs a task again
            when its worker, or its whole machine, is lost. An exception of the task
            itself ends the run.

    A Ray that this program has started or joined before stays as it is, with the tasks
    that it was given.

    Raises ImportError without Ray, and OSError if Ray can't be started or joined.
    """

    def __init__(self, address: str | None = None, **options: Any):
        self._ray = import_ray()
        self._owns = not self._ray.is_initialized()
        if self._owns:
            quietly = {"logging_level": "error", "log_to_driver": False}
            try:
                self._ray.init(address, include_dashboard=False, **quietly)
            except Exception as error:  # Ray raises this class itself, and others
                raise OSError(
                    f"Ray can't be started or joined: {error} A busy machine may take "
                    "longer than Ray waits (ray-project/ray#65983): try again"
                ) from error
        options = {"max_retries": RETRIES, **options}
        self._remote = self._ray.remote(_call).options(**options)
        self._futures: list[Future] = []

    def submit(self, function: Callable, /, *arguments, **options) -> Future:
        future = self._remote.remote(function, *arguments, **options).future()
        self._futures.append(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if wait and not cancel_futures:
            futures.wait(self._futures)
        if self._owns:
            self._ray.shutdown()
            self._owns = False


def _call(function: Callable, *arguments, **options) -> Any:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return function(*arguments, **options)


def import_ray():
    """Return the module `ray`, set up to be quiet.

    It sends no usage statistics and logs nothing except errors. Without Ray, an
    ImportError says what to install.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise ImportError(INSTALL_RAY) from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray
