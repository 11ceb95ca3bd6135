"""Kernels for tests, forked from one process that has loaded PyTorch: a fresh one takes seconds to load it, and the
tests start some twenty. Linux only; elsewhere, and for readers, kernels start as they always do.

`offer(folder)` makes a kernel named `python3` known that is started by this file as a program, in place of ipykernel's.
That program asks the server for a fork, and stays as long as the fork lives: it is what Jupyter knows, watches and
signals. The first to ask starts the server; it goes when the process that offered is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

CAN_FORK = sys.platform.startswith("linux")
SOCKET = "forks"
PATIENCE = 300  # seconds: a busy machine is no failure


def offer(folder: Path) -> dict[str, str]:
    """Write the kernel's specification into `folder`, and return the variables that let Jupyter find it."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    argv = [sys.executable, "-IS", __file__, "ask", str(folder), str(os.getpid()), "-f", "{connection_file}"]
    specification = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    return {"JUPYTER_PATH": str(folder)}


# What Jupyter starts: a small program, which loads nothing.


def ask(folder: Path, owner: int, connection_file: str) -> int:
    """Have a kernel forked, pass signals on to it, and end as it ends."""
    with _reach_server(folder, owner) as server:
        wanted = {"file": connection_file, "cwd": os.getcwd(), "env": dict(os.environ)}
        socket.send_fds(server, [json.dumps(wanted).encode() + b"\n"], [0, 1, 2])
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, frame: server.send(bytes([number])))
        status = server.recv(16)
    return int(status or -signal.SIGKILL)


def _reach_server(folder: Path, owner: int) -> socket.socket:
    import fcntl  # there is none on Windows, where nobody asks

    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one of those who ask at first starts the server
        if (server := _connect(folder)) is not None:
            return server
        command = [sys.executable, __file__, "serve", str(folder), str(owner)]
        with open(folder / "log", "wb") as log:
            import subprocess  # seldom needed here

            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + PATIENCE
        while (server := _connect(folder)) is None:
            if time.monotonic() > until:
                raise TimeoutError("the process from which kernels are forked does not answer")
            time.sleep(0.05)
        return server


def _connect(folder: Path) -> socket.socket | None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        server.connect(str(folder / SOCKET))
    except OSError:
        server.close()
        return None
    return server


# The server.


def serve(folder: Path, owner: int) -> None:
    """Fork kernels for those who connect, until the owner is gone."""
    import selectors

    _load()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    waiting = str(folder / f"{SOCKET}.new")
    listener.bind(waiting)
    listener.listen(16)
    os.rename(waiting, folder / SOCKET)  # who finds it can connect
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ, ("asks", None, 0))
    selector.register(os.pidfd_open(owner), selectors.EVENT_READ, ("owner ends", None, 0))
    kernels = set()
    while True:
        for key, _ in selector.select():
            what, client, child = key.data
            if what == "owner ends":
                for kernel in kernels:
                    _signal(kernel, signal.SIGKILL)
                return
            if what == "asks":
                client, _ = listener.accept()
                if (child := _fork(client, listener, selector)) is not None:
                    kernels.add(child)
                    selector.register(os.pidfd_open(child), selectors.EVENT_READ, ("kernel ends", client, child))
                    selector.register(client, selectors.EVENT_READ, ("signals", client, child))
            elif what == "signals":
                numbers = client.recv(16)
                if not numbers:  # whoever asked has gone
                    selector.unregister(client)
                for number in numbers or [signal.SIGKILL]:
                    _signal(child, number)
            elif what == "kernel ends":
                selector.unregister(key.fd)
                os.close(key.fd)
                if client in {other.fileobj for other in selector.get_map().values()}:
                    selector.unregister(client)
                kernels.remove(child)
                _, status = os.waitpid(child, 0)
                with client, contextlib.suppress(BrokenPipeError):
                    client.send(str(os.waitstatus_to_exitcode(status)).encode())


def _load() -> None:
    """Load what every kernel of the course loads, and what starts no threads."""
    import importlib

    del sys.path[0]  # the folder of this file, in which a kernel has no business
    for name in ("ipykernel.kernelapp", "matplotlib.figure", "torch"):
        importlib.import_module(name)


def _signal(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if number == signal.SIGKILL else os.kill)(child, number)


def _fork(client: socket.socket, listener: socket.socket, selector: object) -> int | None:
    message, streams = b"", []
    while not message.endswith(b"\n"):
        data, passed, _, _ = socket.recv_fds(client, 2**20, 3)
        if not data:
            return None
        message, streams = message + data, streams + passed
    child = os.fork()
    if child == 0:
        selector.close()
        listener.close()
        client.close()
        _be_a_kernel(streams, **json.loads(message))
    for stream in streams:
        os.close(stream)
    return child


def _be_a_kernel(streams: list[int], file: str, cwd: str, env: dict[str, str]) -> None:
    import traceback

    status = 1
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        os.environ.pop("JPY_PARENT_PID", None)  # the server sees to it that no kernel stays
        from ipykernel.kernelapp import IPKernelApp

        sys.argv[:] = ["ipykernel_launcher.py", "-f", file]
        IPKernelApp.launch_instance(argv=["-f", file, "--HistoryManager.enabled=False"])
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    job, place, pid, *rest = sys.argv[1:]
    if job == "ask":
        sys.exit(ask(Path(place), int(pid), rest[rest.index("-f") + 1]))  # more may follow
    serve(Path(place), int(pid))
