"""A forked kernel is for Jupyter like any other: it runs, is interrupted, ends, and is gone when it is killed."""

from __future__ import annotations

import os
import time

import pytest

import forked_kernels

pytestmark = pytest.mark.skipif(not forked_kernels.CAN_FORK, reason="only Linux forks kernels")
PATIENCE = 300  # seconds: a busy machine is no failure


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forked")
    forked_kernels.offer(folder)
    return folder


@pytest.fixture
def kernel(folder, monkeypatch):
    from jupyter_client.manager import start_new_kernel

    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    monkeypatch.setenv("COURSE_TRIED", "passed on")
    manager, client = start_new_kernel(startup_timeout=PATIENCE, kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def value_of(client, expression: str) -> str:
    reply = client.execute("", user_expressions={"it": expression}, reply=True, timeout=PATIENCE)
    return reply["content"]["user_expressions"]["it"]["data"]["text/plain"]


def wait_until_gone(process: int) -> None:
    until = time.monotonic() + PATIENCE
    while os.path.exists(f"/proc/{process}"):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_it_has_the_environment_and_the_folder_of_whoever_asked_and_a_namespace_of_its_own(kernel):
    _, client = kernel
    assert value_of(client, "__import__('os').environ['COURSE_TRIED']") == "'passed on'"
    assert value_of(client, "__import__('os').getcwd()") == repr(os.getcwd())
    assert value_of(client, "'torch' in __import__('sys').modules") == "True"
    assert value_of(client, "'torch' in globals() or 'forked_kernels' in __import__('sys').modules") == "False"
    tests = os.path.dirname(__file__)
    assert value_of(client, f"{tests!r} in __import__('sys').path") == "False"


def test_it_is_interrupted_and_its_end_is_seen(kernel):
    manager, client = kernel
    process = int(value_of(client, "__import__('os').getpid()"))
    # What comes before the cell itself runs is deaf to interrupts.
    asleep = client.execute("print('asleep', flush=True)\nimport time\ntime.sleep(10_000)")
    while client.get_iopub_msg(timeout=PATIENCE)["msg_type"] != "stream":
        pass
    manager.interrupt_kernel()
    while (reply := client.get_shell_msg(timeout=PATIENCE))["parent_header"]["msg_id"] != asleep:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    client.execute("import os; os._exit(7)")
    wait_until_gone(process)
    until = time.monotonic() + PATIENCE
    while manager.is_alive():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert manager.provisioner.process.wait() == 7


def test_it_goes_when_whoever_asked_is_killed(kernel):
    manager, client = kernel
    process = int(value_of(client, "__import__('os').getpid()"))
    manager.provisioner.process.kill()
    wait_until_gone(process)
