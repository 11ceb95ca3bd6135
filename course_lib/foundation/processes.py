"""Processes of this machine: how to start them, and how they end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait

NO_GUARD = (
    "no worker could start. Each imports the program first, so a script must do its "
    'work under `if __name__ == "__main__":`'
)


def process_context() -> multiprocessing.context.BaseContext:
    """Return a way to start processes without this one's threads, locks and open files.

    A `fork` of a process with threads may hang. We therefore use a server that forks
    before it has any threads, and that imports PyTorch once instead of once per worker.
    Where there is no such server, for example on Windows, each worker is a new Python.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["course_lib.foundation.ranks"])
    return context


def end_with_parent() -> None:
    """End this process when its parent process is gone, no matter how the parent ended.

    Otherwise the workers of a killed run would wait for tasks forever.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
