"""Where tasks run: processes of this machine, or of many by Ray, behind one interface.

It is that of `concurrent.futures`: `submit` a function, get a future. Tasks are pure
and may be done twice, so whatever is lost with a worker is simply done again. Ranks are
another thing: processes that run at the same time and wait for one another.
"""

from __future__ import annotations

import inspect
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from course_lib.foundation.arguments import check_integer, check_number

SECONDS_FOR_OTHER_ERRORS = 1.0
RETRIES = 3  # of what was lost with its worker; a wrong input is not tried again
PRELOADED = ["course_lib.many_machines"]  # imported once for all processes
# What a node of Ray starts beside its workers, and cannot do without.
HELPERS = ("--dashboard_agent_command", "--runtime_env_agent_command")
STAND_IN = """import os, time
parent = os.getppid()
while os.getppid() == parent:
    time.sleep(1)
"""
INSTALL_RAY = (
    'Ray is not installed: pip install "ray>=2.60,<3" (or this project with its extra '
    "`cluster`), on every machine of the cluster; without it, all else works"
)

# Processes of this machine.


def _context() -> multiprocessing.context.BaseContext:
    """Make processes that inherit no threads, locks or open files of this one.

    A `fork` of a process with threads may hang. A server that forks before it has any
    imports PyTorch once instead of once a worker; where there is none, as on Windows,
    each worker is a new Python.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def process_pool(num_workers: int) -> ProcessPoolExecutor:
    """Make an executor of `num_workers` processes; they end with this process."""
    num_workers = check_integer("num_workers", num_workers, minimum=1, maximum=1024)
    return ProcessPoolExecutor(
        num_workers, mp_context=_context(), initializer=_begin_worker
    )


def _begin_worker() -> None:
    # Ctrl-C is for the process that gave out the tasks; it ends the workers.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    # As many workers as cores are there already.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _end_with_parent()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended.

    Otherwise the workers of a killed run would wait for tasks forever.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# One task after another, wherever they run.


def run_in_order(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    make_executor: Executor | Callable[[], Executor],
    *,
    retries: int = RETRIES,
) -> Iterator[Any]:
    """Run `function` on all tasks at once, and yield the results in the tasks' order.

    Args:
        function: pure, or at least harmless when done twice; known by name to other
            processes, so not defined in a notebook.
        tasks: its arguments.
        make_executor: makes an executor, and another one if that breaks because a
            worker was killed: what is not done is then done again. An executor itself
            is used, and not shut down; if it breaks, so does the run.
        retries: how often a broken executor is replaced.

    Raises:
        BrokenExecutor: workers were killed once more than that.
        Exception: that of the first task, by its order, that raised one.
    """
    retries = check_integer("retries", retries, minimum=0)
    tasks = list(tasks)
    given = isinstance(make_executor, Executor)
    if not given and not callable(make_executor):
        raise TypeError(
            "make_executor must be an executor or make one, got "
            f"{type(make_executor).__name__}"
        )
    begin = 0  # all tasks before have been yielded
    while begin < len(tasks):
        executor = make_executor if given else make_executor()
        futures: list[Future] = []
        try:
            futures = [executor.submit(function, task) for task in tasks[begin:]]
            for future in futures:
                result = future.result()
                begin += 1
                yield result
        except BrokenExecutor as error:
            if given or retries == 0:
                raise type(error)(
                    "a worker was killed while it did a task, perhaps for want of "
                    "memory; what is finished stays: run it again"
                ) from error
            retries -= 1
        finally:
            for future in futures:
                future.cancel()
            if not given:
                executor.shutdown(wait=True, cancel_futures=True)


class InThisProcess(Executor):
    """Runs each task at once, in this process: nothing to start, easy to debug."""

    def submit(self, function: Callable, /, *arguments, **options) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


# The same on many machines.


class RayExecutor(Executor):
    """Runs tasks on a cluster of Ray, which does again what is lost with a worker.

    It joins the cluster that `RAY_ADDRESS` names, or the one that was started on this
    machine, or starts one of this machine alone.

    Args:
        retries: how often a task is done again when its worker, or its whole machine,
            is lost. An exception of the task itself is an answer, and ends the run.
        options: what else Ray is told of each task: `num_cpus`, `resources`, ...

    Raises:
        ImportError: Ray is not installed.
    """

    def __init__(self, retries: int = RETRIES, **options: Any):
        self.retries = check_integer("retries", retries, minimum=0)
        self._ray = import_ray()
        self._owns = not self._ray.is_initialized()
        if self._owns:
            try:
                self._ray.init(logging_level="error", log_to_driver=False)
            except Exception as error:  # Ray raises this class itself, and others
                raise OSError(f"Ray can't be started or joined: {error}") from error
        self._remote = self._ray.remote(_call).options(
            max_retries=self.retries, **options
        )
        self._references: list[tuple[Any, Future]] = []

    def submit(self, function: Callable, /, *arguments, **options) -> Future:
        reference = self._remote.remote(function, *arguments, **options)
        future: Future = Future()
        self._references.append((reference, future))
        reference.future().add_done_callback(lambda done: self._pass_on(done, future))
        return future

    def _pass_on(self, done: Future, future: Future) -> None:
        if not future.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is None:
            future.set_result(done.result())
            return
        # What a task itself raised is inside; anything else is Ray's, about a worker.
        cause = getattr(error, "cause", None)
        if isinstance(error, self._ray.exceptions.RayTaskError) and cause is not None:
            future.set_exception(cause)
        else:
            first = str(error).splitlines()[0] if str(error) else ""
            future.set_exception(
                BrokenExecutor(f"Ray gave a task up: {type(error).__name__}. {first}")
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            for reference, future in self._references:
                if not future.done() or future.cancelled():
                    with suppress(self._ray.exceptions.RayError):
                        self._ray.cancel(reference, force=True)
        if wait:
            references = [reference for reference, _ in self._references]
            if references and self._ray.is_initialized():
                self._ray.wait(references, num_returns=len(references), timeout=60)
        self._references.clear()
        if self._owns:
            self._ray.shutdown()
            self._owns = False


def _call(function: Callable, *arguments, **options) -> Any:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return function(*arguments, **options)


def import_ray():
    """Return the module `ray`, told to be quiet, or say what to install.

    It sends no statistics, and writes of errors alone.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise ImportError(INSTALL_RAY) from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


@contextmanager
def local_ray(num_nodes: int = 1, cpus: int = 1) -> Iterator[Any]:
    """Start a cluster of Ray on this machine alone, for trying things out.

    Each node is what `ray start` would start on a machine of its own. Nothing listens
    to the network, and there is no dashboard.

    Args:
        num_nodes: nodes; the first is the head.
        cpus: tasks that each runs at a time.

    Yields:
        Ray's `Cluster`, with `add_node()` and `remove_node(node)`; `RayExecutor()`
        joins it.
    """
    num_nodes = check_integer("num_nodes", num_nodes, minimum=1, maximum=16)
    cpus = check_integer("cpus", cpus, minimum=1)
    ray = import_ray()
    from ray.cluster_utils import Cluster

    # An address that is this machine's own and not called localhost, which Ray would
    # replace by one that other machines can reach.
    address = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
    cluster = Cluster()
    try:
        with _patience():
            for _ in range(num_nodes):
                cluster.add_node(
                    num_cpus=cpus,
                    include_dashboard=False,
                    include_log_monitor=False,  # nothing is passed on to the driver
                    no_monitor=True,  # of the autoscaler: nodes come by add_node
                    object_store_memory=100 * 2**20,
                    node_ip_address=address,
                    runtime_env_agent_port=_free_port(address),
                )
        ray.init(
            address=cluster.address,
            logging_level="error",
            log_to_driver=False,
            _node_ip_address=address,
        )
        yield cluster
    finally:
        if ray.is_initialized():
            ray.shutdown()
        cluster.shutdown()


@contextmanager
def _patience(seconds: float = 300) -> Iterator[None]:
    """Let a node take its time: on a busy machine Ray itself gives it too little.

    It waits 30 seconds for the whole node, and 15 for each port of helpers that only
    its dashboard needs: those are answered at once, with "there is none". Neither these
    helpers nor the dashboard's server are started, though Ray would do so without a
    dashboard, too, nor what prepares environments for tasks that ask for some: each is
    a Python that imports for seconds. A process that waits stands in for them.
    """
    from ray._private import services

    ask, start = services.get_node, services.start_raylet
    serve, launch = services.start_api_server, services.start_ray_process

    def ask_again(*arguments, **options):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return ask(*arguments, **options)
            except RuntimeError:  # it has not registered yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def answer_and_start(*arguments, **options):
        given = inspect.signature(start).bind(*arguments, **options).arguments
        for name in (
            "metrics_agent_port",
            "metrics_export_port",
            "dashboard_agent_listen_port",
        ):
            Path(given["session_dir"], f"{name}_{given['node_id']}").write_text("-1")
        return start(*arguments, **options)

    def launch_without(command, *arguments, **options):
        waits = subprocess.list2cmdline([sys.executable, "-I", "-S", "-c", STAND_IN])
        command = [
            f"{name}={waits}" if (name := part.partition("=")[0]) in HELPERS else part
            for part in command
        ]
        return launch(command, *arguments, **options)

    limits = {
        "RAY_agent_register_timeout_ms": str(int(seconds * 1000)),
        "RAY_gcs_server_port_wait_time_s": str(int(seconds)),
        "RAY_worker_register_timeout_seconds": str(int(seconds)),
        "RAY_health_check_failure_threshold": "10",
    }
    before = {name: os.environ.get(name) for name in limits}
    services.get_node, services.start_raylet = ask_again, answer_and_start
    services.start_api_server = lambda *_, **__: (None, None)
    services.start_ray_process = launch_without
    os.environ.update(limits)
    try:
        yield
    finally:
        services.get_node, services.start_raylet = ask, start
        services.start_api_server, services.start_ray_process = serve, launch
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as taken:
        return taken.getsockname()[1]


# Ranks: processes that run at the same time, and wait for one another.


def run_ranks(
    function: Callable[..., Any],
    world_size: int,
    *arguments: Any,
    time_limit: float = 60.0,
    **options: Any,
) -> list[Any]:
    """Run a function in processes that form one group, as `torchrun` does.

    In each, `torch.distributed` is ready (gloo, on this machine alone), and its
    `get_rank()` tells which one it is. They share no memory, as if each had a machine
    of its own. A rank that is done stays until all are, as one
    that goes on to write a checkpoint would.

    Args:
        function: known by name to other processes, so not defined in a notebook.
        world_size: number of processes.
        arguments, options: the same for all.
        time_limit: seconds; a group that waits longer never ends.

    Returns:
        what each returned, by rank.

    Raises:
        TimeoutError: not all were done in time; it says which were. All are ended.
        RuntimeError: a rank raised an error, or was killed; all are ended.
    """
    world_size = check_integer("world_size", world_size, minimum=1, maximum=64)
    time_limit = check_number("time_limit", time_limit, above=0)
    context = _context()
    # Pickled here: on its own way to a process, a tensor would become shared memory,
    # in which one rank sees what another one writes.
    work = pickle.dumps(partial(function, *arguments, **options))
    results: dict[int, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(world_size):
            mine, theirs = context.Pipe()
            process = context.Process(
                target=_run_rank,
                args=(theirs, rank, world_size, folder, work),
                daemon=True,
            )
            process.start()
            theirs.close()
            ranks.append((process, mine))
        try:
            # Starting them is not their work.
            for rank, (_, connection) in enumerate(ranks):
                _receive(connection, rank)
            deadline = time.monotonic() + time_limit
            waiting = {connection: rank for rank, (_, connection) in enumerate(ranks)}
            errors: list[RuntimeError] = []
            while waiting:
                ready = wait(list(waiting), max(0, deadline - time.monotonic()))
                if not ready and not errors:
                    raise TimeoutError(_who_waits(waiting, results, time_limit))
                if not ready:
                    break
                for connection in ready:
                    rank = waiting.pop(connection)
                    try:
                        results[rank] = _receive(connection, rank)
                    except RuntimeError as error:
                        errors.append(error)
                        # One that is killed is often told of later than those that
                        # miss it.
                        soon = time.monotonic() + SECONDS_FOR_OTHER_ERRORS
                        deadline = min(deadline, soon)
            if errors:
                raise min(errors, key=lambda error: not isinstance(error, _Killed))
            for _, connection in ranks:
                connection.send("all are done")
            for process, _ in ranks:
                process.join(10)
        finally:
            for process, connection in ranks:
                connection.close()
                process.kill()
                process.join()
    return [results[rank] for rank in range(world_size)]


def _who_waits(waiting: dict, results: dict, time_limit: float) -> str:
    late = ", ".join(map(str, sorted(waiting.values())))
    done = ", ".join(map(str, sorted(results))) or "none"
    return (
        f"after {time_limit:g} seconds rank {late} still waits; done: {done}. Every "
        "rank must take part in every step of all, so they must take equally many"
    )


class _Killed(RuntimeError):
    """A process that is gone without a word."""


def _receive(connection: Connection, rank: int) -> Any:
    try:
        kind, content = connection.recv()
    except (EOFError, ConnectionError):
        raise _Killed(f"rank {rank} was killed") from None
    if kind == "error":
        raise RuntimeError(f"rank {rank} raised {content}")
    return pickle.loads(content) if kind == "result" else None


def _run_rank(
    connection: Connection,
    rank: int,
    world_size: int,
    folder: str,
    work: bytes,
) -> None:
    _end_with_parent()
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with process_group(rank, world_size, Path(folder) / "meeting"):
            try:
                connection.send(("started", None))
                connection.send(("result", pickle.dumps(pickle.loads(work)())))
                connection.recv()  # that all are done
            except EOFError:  # the run was given up
                return
            except BaseException as error:
                # Before it leaves the group: the others would tell of that first.
                connection.send(("error", _reason(error)))
    except BaseException as error:
        connection.send(("error", _reason(error)))


def _reason(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"


@contextmanager
def process_group(
    rank: int | None = None,
    world_size: int | None = None,
    meeting: str | os.PathLike | None = None,
    *,
    time_limit: float = 1800.0,
) -> Iterator[None]:
    """Join the ranks of one run inside a `with`: `torch.distributed` by gloo.

    Args:
        rank, world_size, meeting: which rank this is, of how many, and a file by which
            they find one another. Without them they are what `torchrun` has put into
            the environment; and if it did not, the process is alone.
        time_limit: seconds that one rank waits for the others before it gives up.
    """
    # Imported here, since whoever runs only tasks needs none of it.
    import torch
    from torch import distributed

    loopback = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    if meeting is not None:
        how = {"init_method": Path(meeting).resolve().as_uri()}
        how |= {"rank": rank, "world_size": world_size}
    elif "RANK" in os.environ:
        how = {}
    else:
        how = {"store": distributed.HashStore(), "rank": 0, "world_size": 1}
    local = meeting is not None or os.environ.get("MASTER_ADDR") in (
        None,
        "localhost",
        "127.0.0.1",
    )
    if local and loopback:  # or gloo would ask the network for this machine's name
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
    torch.set_num_threads(1)  # the ranks share this machine's cores
    distributed.init_process_group("gloo", timeout=timedelta(seconds=time_limit), **how)
    try:
        yield
    finally:
        # A thread of gloo lets go of the last sum when it gets Python's lock.
        # PyTorch 2.6 keeps that lock while it destroys the group, and waits for
        # the thread: for ever.
        time.sleep(0.1)
        distributed.destroy_process_group()
