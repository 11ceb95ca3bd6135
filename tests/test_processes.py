"""Processes that others start end with them."""

import os
import sys
import time

import pytest

from course_lib.foundation import process_context
from course_lib.many_machines.executors import process_pool


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
    context = process_context()
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
