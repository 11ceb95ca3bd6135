"""Ranks that wait for one another, what they are told, and what is left when they are done."""

import os
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import distributed
from torch.multiprocessing import start_processes

from course_lib.foundation import ranks, run_ranks
from course_lib.foundation.processes import process_context
from course_lib.foundation.ranks import process_group
from deadly import die


def add_up(start: float, *, tensor: torch.Tensor) -> tuple[int, float]:
    """The sum over the ranks, which each writes into a tensor of its own."""
    tensor += start + distributed.get_rank()
    distributed.all_reduce(tensor)
    return distributed.get_rank(), tensor.item()


def on_rank_1(action, then_add_up: bool) -> None:
    if distributed.get_rank() == 1:
        action()
    if then_add_up:
        distributed.all_reduce(torch.ones(1))
    time.sleep(600)


def fail() -> None:
    raise ValueError("this rank is out of order: \N{BEACH WITH UMBRELLA}")


def test_ranks_form_a_group_and_share_no_memory():
    tensor = torch.zeros(1)
    assert run_ranks(add_up, 3, 10.0, tensor=tensor) == [(0, 33.0), (1, 33.0), (2, 33.0)]
    assert tensor.item() == 0


@pytest.mark.parametrize("then_add_up", [True, False])
def test_the_first_error_is_told_whether_the_others_miss_that_rank_or_not(then_add_up):
    with pytest.raises(
        RuntimeError, match=r"rank 1 raised ValueError: .*order: \N{BEACH WITH UMBRELLA} \(fail, line \d+\)"
    ):
        run_ranks(on_rank_1, 3, fail, then_add_up)


@pytest.mark.parametrize("then_add_up", [True, False])
def test_a_killed_rank_is_told(then_add_up):
    with pytest.raises(RuntimeError, match=r"rank 1 is lost: .*SIGKILL"):
        run_ranks(on_rank_1, 2, die, then_add_up)


def test_a_process_may_be_a_group_of_its_own_and_nothing_is_left_of_it():
    before = (torch.get_num_threads(), dict(os.environ), sys.excepthook)
    torch.set_num_threads(2)
    with process_group():
        assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
        assert torch.get_num_threads() == 1
        ones = torch.ones(2)
        distributed.all_reduce(ones)
        assert ones.tolist() == [1, 1]
    assert not distributed.is_initialized()
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before[0])
    assert (torch.get_num_threads(), dict(os.environ), sys.excepthook) == before


def test_the_interface_that_a_user_has_named_stays(monkeypatch):
    name = "lo" if sys.platform == "linux" else "lo0"
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", name)
    with process_group():
        pass
    assert os.environ["GLOO_SOCKET_IFNAME"] == name


def come_late(rank: int, meeting: Path) -> None:
    time.sleep(4 * rank)
    with ranks._group(3, store=ranks._meet(rank, 2, meeting, 3), rank=rank, world_size=2):
        distributed.all_reduce(torch.ones(1))


def test_the_time_limit_is_not_for_the_start_of_a_rank(tmp_path):
    method = process_context().get_start_method()
    start_processes(come_late, (tmp_path / "meeting",), nprocs=2, start_method=method)


@pytest.mark.parametrize("hash_seeds", [[1], [1, 2, 3]])
def test_there_is_a_hash_seed_for_each_rank(hash_seeds):
    with pytest.raises(ValueError, match=r"^hash_seeds must be one for each of 2 ranks, got"):
        run_ranks(abs, 2, 1, hash_seeds=hash_seeds)
