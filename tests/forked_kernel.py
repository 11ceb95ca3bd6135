"""Kernels that are copies of this process: PyTorch is loaded in them, which takes a fresh one seconds."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
import warnings

CAN_FORK = sys.platform.startswith("linux")


class ForkedKernel:
    """Stands where jupyter_client has the process of a kernel, a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], *, cwd: str | None = None, env: dict | None = None, **kwargs):
        self.returncode = None
        with warnings.catch_warnings():
            # Python warns that a forked process has lost its other threads. It needs none.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _be_a_kernel(command, cwd, env)
        os.setpgid(self.pid, self.pid)  # here as well as there: whoever is first

    def poll(self) -> int | None:
        if self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if done else None
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def _be_a_kernel(command: list[str], cwd: str | None, env: dict | None) -> None:
    status = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # The loop that launches kernels is the parent's.
        asyncio.events._set_running_loop(None)
        asyncio.set_event_loop(asyncio.new_event_loop())
        os.chdir(cwd or ".")
        os.environ.update(env or {})
        from ipykernel.kernelapp import IPKernelApp

        IPKernelApp.clear_instance()
        connection_file = command[command.index("-f") + 1]
        IPKernelApp.launch_instance(argv=["-f", connection_file, "--HistoryManager.enabled=False"])
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
