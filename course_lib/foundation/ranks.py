"""Ranks: processes that run at the same time, and wait for one another."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from torch import distributed
from torch.multiprocessing import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    start_processes,
)

from course_lib.foundation.arguments import AtLeast, Finite, checked
from course_lib.foundation.models import one_thread
from course_lib.foundation.processes import NO_GUARD, end_with_parent, process_context

SECONDS_TO_COME = 300.0  # until all ranks have met; a busy machine starts them slowly
# The interface that gloo uses, or it would ask the network for this machine's name.
INTERFACE = "GLOO_SOCKET_IFNAME"
LOOPBACK = {"linux": "lo", "darwin": "lo0"}


@checked
def run_ranks(
    function: Callable[..., Any],
    world_size: Annotated[int, AtLeast(1, 64)],
    *arguments: Any,
    time_limit: Annotated[float, Finite(minimum=0.01, maximum=1e6)] = 60.0,
    hash_seeds: Sequence[int] | None = None,
    **options: Any,
) -> list[Any]:
    """Run a function in processes that form one group, as `torchrun` does.

    In each process, `torch.distributed` is ready (with gloo, on this machine alone),
    and `get_rank()` gives the number of the process. The processes share no memory, as
    if each had a machine of its own. When the function returns, the rank leaves the
    group, and its process ends. Each process imports the script, which must therefore
    call `run_ranks` under `if __name__ == "__main__":`.

    Args:
        function: other processes must find it by name, so not one of a notebook.
        world_size: the number of processes.
        arguments, options: arguments of the function, the same for all ranks.
        time_limit: seconds that a rank waits for the others, as in `process_group`.
        hash_seeds: by rank, a PYTHONHASHSEED for its strings. Each rank is then a new
            Python, which takes seconds; else all ranks have the seed of one server.

    Returns the results of the function, by rank. Raises RuntimeError with the first
    error of a rank and its number, after which all others are ended. The error may be
    gloo's, because the time limit was reached or another rank is gone, or say that a
    rank was killed.
    """
    if hash_seeds is not None and len(hash_seeds) != world_size:
        wanted = f"one for each of {world_size} ranks"
        raise ValueError(f"hash_seeds must be {wanted}, got {len(hash_seeds)}")
    # Pickled here, because a tensor would be sent as memory that ranks share.
    work = pickle.dumps(partial(function, *arguments, **options))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Not `elastic_launch`, which writes failures to stderr with time and process,
        # so that no notebook would give the same output twice.
        rest = world_size, folder, time_limit, work
        if hash_seeds is None:
            method = process_context().get_start_method()
            ranks = start_processes(_run_rank, rest, world_size, False, False, method)
        else:
            ranks = _start_apart(rest, hash_seeds)
        first_error = folder / "error"
        results = [folder / f"{rank}.pickle" for rank in range(world_size)]
        try:
            while not ranks.join() and not first_error.exists():
                pass
            if first_error.exists():
                ranks.join(1)  # the news that a rank was killed may come a little later
                done = [str(rank) for rank, path in enumerate(results) if path.exists()]
                raise RuntimeError(
                    f"{first_error.read_bytes().decode()}; ranks that were done: "
                    f"{', '.join(done) or 'none'}"
                )
        except (ProcessExitedException, ProcessRaisedException) as error:
            begun = (folder / "meeting").exists()
            lost = f"rank {error.error_index} is lost: {error}"
            raise RuntimeError(lost if begun else f"{lost}; {NO_GUARD}") from None
        finally:
            for process in ranks.processes:
                process.kill()
                process.join()
        return [pickle.loads(path.read_bytes()) for path in results]


def _start_apart(rest: tuple, hash_seeds: Sequence[int]) -> ProcessContext:
    """Start each rank as a new Python with a hash seed of its own."""
    before = os.environ.get("PYTHONHASHSEED")
    ranks = []
    try:
        for rank, seed in enumerate(hash_seeds):
            os.environ["PYTHONHASHSEED"] = str(seed)
            ranks.append(start_processes(_run_rank_apart, (rank, *rest), join=False))
    finally:
        os.environ.pop("PYTHONHASHSEED")
        if before is not None:
            os.environ["PYTHONHASHSEED"] = before
    processes = [process for each in ranks for process in each.processes]
    return ProcessContext(processes, [file for r in ranks for file in r.error_files])


def _run_rank_apart(_: int, rank: int, *rest: Any) -> None:
    _run_rank(rank, *rest)


def _run_rank(
    rank: int, world_size: int, folder: Path, time_limit: float, work: bytes
) -> None:
    end_with_parent()
    store = _meet(rank, world_size, folder / "meeting", time_limit)
    with _group(time_limit, store=store, rank=rank, world_size=world_size):
        # Written before this rank leaves the group: from then on the others fail.
        try:
            result = pickle.dumps(pickle.loads(work)())
            (folder / f"{rank}.pickle").write_bytes(result)
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            text = f"rank {rank} raised {type(error).__name__}: {error}"
            text = f"{text} ({last.name}, line {last.lineno})"
            with suppress(FileExistsError), (folder / "error").open("xb") as first:
                first.write(text.encode())


@checked
def process_group(
    *, time_limit: Annotated[float, Finite(minimum=0.01, maximum=1e6)] = 1800.0
) -> AbstractContextManager[None]:
    """Join the ranks of one run inside a `with`, using `torch.distributed` with gloo.

    The environment variables of `torchrun` say which rank this is, how many ranks there
    are, and where they meet. Without these variables, the process is alone. The ranks
    share this machine's cores, so PyTorch computes with one thread inside the `with`. A
    rank waits `time_limit` seconds for the others in each sum before gloo gives up with
    a RuntimeError; 1800 is PyTorch's default.
    """
    if "RANK" in os.environ:
        return _group(time_limit)
    return _group(time_limit, store=distributed.HashStore(), rank=0, world_size=1)


@contextmanager
def _group(time_limit: float, **how: Any) -> Iterator[None]:
    named = INTERFACE in os.environ
    hook = sys.excepthook  # PyTorch sets another one
    here = how or os.environ.get("MASTER_ADDR") in ("localhost", "127.0.0.1")
    if here and not named and sys.platform in LOOPBACK:
        os.environ[INTERFACE] = LOOPBACK[sys.platform]
    try:
        with one_thread():
            limit = timedelta(seconds=time_limit)
            distributed.init_process_group("gloo", timeout=limit, **how)
            try:
                yield
            finally:
                # A thread of gloo needs Python's lock to release the last sum. PyTorch
                # 2.6 holds that lock while it destroys the group, and so waits for the
                # thread forever. pytorch/pytorch#154976 fixed this after 2.7.
                time.sleep(0.1)
                distributed.destroy_process_group()
    finally:
        sys.excepthook = hook
        if not named:
            os.environ.pop(INTERFACE, None)


def _meet(
    rank: int, world_size: int, meeting: Path, time_limit: float
) -> distributed.Store:
    """Wait until all ranks are there, even if the limit for their sums is shorter."""
    store = distributed.FileStore(str(meeting), world_size)
    store.set(f"rank {rank}", "here")
    patience = timedelta(seconds=max(time_limit, SECONDS_TO_COME))
    store.wait([f"rank {other}" for other in range(world_size)], patience)
    return store
