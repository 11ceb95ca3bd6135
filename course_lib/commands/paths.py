"""Words on the command line, for commands that need nothing of the lessons, too."""

import os
import shlex
import subprocess
import sys
from pathlib import Path


def user_path(text: str) -> Path:
    """A path as it is typed: the shell leaves the ~ of `--out=~/scores.csv` alone."""
    return Path(os.path.expanduser(text))


def in_a_shell(*arguments: object) -> str:
    """Write a call of this Python as it is typed, where paths may hold spaces."""
    words = [sys.executable, *map(str, arguments)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
