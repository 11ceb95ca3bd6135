"""Tasks in order wherever they run, and what happens when workers die."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from course_lib.many_machines import executors
from course_lib.many_machines.executors import InThisProcess, process_pool, run_in_order
from deadly import die_once, refuse, refuse_oddly

# run_in_order


@pytest.mark.parametrize("make_executor", [InThisProcess, partial(ThreadPoolExecutor, 3), partial(process_pool, 2)])
def test_results_come_in_the_order_of_the_tasks(make_executor):
    assert list(run_in_order(abs, range(-9, 0), make_executor)) == list(range(9, 0, -1))
    assert list(run_in_order(abs, [], make_executor)) == []


def test_an_executor_is_used_and_not_shut_down_and_anything_else_is_refused():
    with ThreadPoolExecutor(2) as executor:
        assert list(run_in_order(abs, [-1], executor)) == [1]
        assert executor.submit(abs, -2).result() == 2
    with pytest.raises(TypeError, match=r"make_executor must .*got int"):
        next(run_in_order(abs, [-1], 2))


def test_the_error_is_that_of_the_first_task_that_raised_one_and_what_came_before_stays():
    def refuse_slowly(line):
        time.sleep(0.1 * (3 - line))
        if line:
            refuse(line)
        return line

    results = run_in_order(refuse_slowly, [0, 1, 2, 3], partial(ThreadPoolExecutor, 4))
    assert next(results) == 0
    with pytest.raises(ValueError, match="line 1"):
        next(results)


def test_of_many_tasks_only_some_are_submitted_ahead(monkeypatch):
    submitted = []

    class Counting(InThisProcess):
        def submit(self, function, /, *arguments, **options):
            submitted.append(arguments)
            return super().submit(function, *arguments, **options)

    monkeypatch.setattr(executors, "MOST_AHEAD", 5)
    ahead = []
    for number, result in enumerate(run_in_order(abs, range(12), Counting)):
        assert result == number
        ahead.append(len(submitted) - number)
    assert max(ahead) == 6  # the one that was yielded, and five
    assert len(submitted) == 12


def test_an_exception_that_cannot_be_sent_is_told():
    with pytest.raises(RuntimeError, match="Odd: here, there"):
        list(run_in_order(refuse_oddly, [1], partial(process_pool, 1)))


# process_pool


# Of two workers one may die each time before the other has begun the first task, which is lost with all three.
@pytest.mark.parametrize(("num_workers", "names"), [(1, "abcde"), (2, "abc")])
def test_what_a_killed_worker_did_is_done_again_for_each_task(tmp_path, num_workers, names):
    marks = [str(tmp_path / name) for name in names]
    assert list(run_in_order(die_once, marks, partial(process_pool, num_workers))) == marks


@pytest.mark.parametrize("call", ["list(run_in_order(abs, [-1], partial(process_pool, 1)))", "run_ranks(abs, 2)"])
def test_a_script_without_a_guard_is_told(tmp_path, call):
    imports = "from functools import partial\nfrom course_lib.foundation import run_ranks\n"
    imports += "from course_lib.many_machines.executors import process_pool, run_in_order\n"
    (tmp_path / "script.py").write_text(imports + call, encoding="utf-8")
    run = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].endswith('must do its work under `if __name__ == "__main__":`')
