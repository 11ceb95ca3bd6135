"""Work in the process of an answer, in a folder of its own and without the network.

This protects against accidents, and is not a sandbox: a program that is meant to do
harm can do whatever its user can.
"""

import ast
import ctypes
import linecache
import os
import socket
import sys
from pathlib import Path

from course_lib.classroom.grading.carrying import dump, dump_result, from_outcome
from course_lib.classroom.grading.slices import Attempt, place
from course_lib.teaching.checker import Exercise
from course_lib.teaching.checker.processes import (
    Limits,
    Stopped,
    Watch,
    limit_resources,
)

MOST_PROCESSES = 100
LARGEST_FILE = 100 * 2**20
OFFLINE = "the network is off while answers are scored"
# Events of `sys.addaudithook`.
CALLS = "connect", "sendto", "getaddrinfo", "gethostbyname"
NETWORK = {f"socket.{call}" for call in CALLS}
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # numbers of the Linux interface
# Programs find their files and settings through these, and not those of the teacher.
HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR")
SETTINGS = {"MPLBACKEND": "agg", "TOKENIZERS_PARALLELISM": "false"}
SETTINGS |= {"COURSE_PROGRESS": "0", "COURSE_WIDGETS": "0", "HF_HUB_OFFLINE": "1"}


def prepare(folder: Path, limits: Limits) -> None:
    """Prepare this process for running a student's cells."""
    import resource  # there is none on Windows

    os.chdir(folder)
    os.environ |= dict.fromkeys(HOMES, str(folder)) | SETTINGS
    sys.path.insert(0, "")
    values = {
        resource.RLIMIT_CPU: int(limits.before + limits.all_calls) + 2,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    sys.addaudithook(_refuse_the_network)
    # The kernel also refuses the network, where it lets users leave it.
    if ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0:
        # Otherwise all processes of the user would count.
        values[resource.RLIMIT_NPROC] = MOST_PROCESSES
    limit_resources(values)


def _refuse_the_network(event: str, arguments: tuple) -> None:
    if event in NETWORK and getattr(arguments[0], "family", None) != socket.AF_UNIX:
        raise OSError(OFFLINE)


def run_attempt(
    attempt: Attempt, item: object, watch: Watch, stopped: Stopped | None
) -> bytes:
    """Run the statements, and write down the answer, or what it does in its calls, up
    to the one in which it was `stopped` before."""
    space: dict = {"__name__": "__main__", "display": lambda *shown, **more: None}
    where = ""
    watch.begin(-1)
    try:
        for statement in attempt.statements:
            where, name = place(statement.cell), f"<cell {statement.cell}>"
            source = attempt.sources[statement.cell]
            # As IPython does, so that `inspect` finds the source.
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            tree = ast.Module([statement.node], type_ignores=[])
            exec(compile(tree, name, "exec"), space)
        where = ""
        tree = ast.Expression(attempt.expression)
        answer = eval(compile(tree, "<check>", "eval"), space)
    except BaseException as error:
        return dump(("error", f"{type(error).__name__}: {error}{where}"))
    watch.end()
    if not isinstance(item, Exercise):
        return dump(("value", dump_result(answer)))
    if refusal := item.refusal(answer):
        return dump(("refusal", (refusal.outcome, refusal.diagnosis)))
    got = item.call_all(answer, watch, stopped)
    if isinstance(got, Stopped):
        return dump(("stopped", (got.reason, got.call)))
    return dump(("outcomes", [from_outcome(outcome) for outcome in got]))
