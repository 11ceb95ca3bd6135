"""The file that a reader's loader is in."""

from __future__ import annotations

import importlib.util
import linecache
import sys
from pathlib import Path
from types import ModuleType


def import_file(path: Path, name: str) -> ModuleType:
    """Run a file as the module `name`, as it is now, perhaps just edited.

    Pickle finds the file's classes by that name in this process, and in those that are
    forked from it. A worker that isn't forked imports the name, so it must be one that
    `sys.path` leads to. Raises whatever the file raises.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    linecache.checkcache(str(path))  # or a traceback would show lines of before
    # Python itself may run an old .pyc, if the edit kept the size and the second.
    source = path.read_bytes()
    exec(compile(source, str(path), "exec"), vars(module))
    return module
