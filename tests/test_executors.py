"""Tasks in order wherever they run, what happens when workers die, and ranks that wait for one another."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from functools import partial

import pytest
import torch
from torch import distributed

from course_lib.foundation import InThisProcess, import_ray, process_group, process_pool, run_in_order, run_ranks
from course_lib.foundation.executors import _context
from deadly import die, die_once, refuse


@pytest.mark.parametrize("make_executor", [InThisProcess, partial(ThreadPoolExecutor, 3), partial(process_pool, 2)])
def test_results_come_in_the_order_of_the_tasks(make_executor):
    assert list(run_in_order(abs, range(-9, 0), make_executor)) == list(range(9, 0, -1))


def test_an_executor_is_used_and_not_shut_down():
    with ThreadPoolExecutor(2) as executor:
        assert list(run_in_order(abs, [-1], executor)) == [1]
        assert executor.submit(abs, -2).result() == 2


def test_the_error_is_that_of_the_first_task_that_raised_one():
    def refuse_slowly(line):
        time.sleep(0.1 * (3 - line))
        refuse(line)

    with pytest.raises(ValueError, match="line 1"):
        list(run_in_order(refuse_slowly, [1, 2, 3], partial(ThreadPoolExecutor, 3)))


def test_what_was_yielded_before_an_error_stays():
    results = run_in_order(lambda x: 1 / x, [2, 1, 0], InThisProcess)
    assert [next(results), next(results)] == [0.5, 1.0]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_what_a_killed_worker_did_is_done_again(tmp_path):
    marks = [str(tmp_path / name) for name in "ab"]
    assert list(run_in_order(die_once, marks, partial(process_pool, 2))) == marks


def test_it_is_given_up_in_the_end():
    with pytest.raises(BrokenExecutor, match="run it again"):
        list(run_in_order(die, [0], partial(process_pool, 1), retries=1))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def hold_workers(connection) -> None:
    with process_pool(2) as pool:
        connection.send([pool.submit(os.getpid).result()])
        time.sleep(600)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_end_with_a_run_that_is_killed():
    context = _context()
    mine, theirs = context.Pipe()
    run = context.Process(target=hold_workers, args=(theirs,))
    run.start()
    (pid,) = mine.recv()
    assert is_alive(pid)
    run.kill()
    run.join()
    deadline = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(pid)


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="pip install"):
        import_ray()


# Ranks


def add_up(start: float, *, tensor: torch.Tensor) -> tuple[int, float]:
    """The sum over the ranks, which each writes into a tensor of its own."""
    tensor += start + distributed.get_rank()
    distributed.all_reduce(tensor)
    return distributed.get_rank(), tensor.item()


def fail_on_rank_1() -> None:
    if distributed.get_rank() == 1:
        raise ValueError("this rank is out of order")
    distributed.all_reduce(torch.ones(1))


def die_on_rank_1() -> None:
    if distributed.get_rank() == 1:
        die()
    time.sleep(600)


def test_ranks_form_a_group_and_share_no_memory():
    tensor = torch.zeros(1)
    assert run_ranks(add_up, 3, 10.0, tensor=tensor) == [(0, 33.0), (1, 33.0), (2, 33.0)]
    assert tensor.item() == 0


def test_errors_of_ranks_are_told_and_the_others_ended():
    with pytest.raises(RuntimeError, match="rank 1 raised ValueError: this rank is out of order"):
        run_ranks(fail_on_rank_1, 2)
    with pytest.raises(RuntimeError, match="rank 1 was killed"):
        run_ranks(die_on_rank_1, 2)


def test_a_process_may_be_a_group_of_its_own():
    with process_group():
        assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
        ones = torch.ones(2)
        distributed.all_reduce(ones)
        assert ones.tolist() == [1, 1]
    assert not distributed.is_initialized()
