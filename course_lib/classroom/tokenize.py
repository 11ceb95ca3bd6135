"""Turn files of texts into shards of ids, in processes of this machine or on many.

A run that was stopped goes on when it is run again. A folder that is finished is
compared with the files. JSON Lines (.jsonl, also .gz and .zst), plain text (.txt, .md:
one document each), .parquet and .arrow are read.

    python -m course_lib tokenize data/ --tokenizer tokenizer.json --out shards

On many machines, type `ray start --head` on one and `ray start --address HEAD:6379` on
the others, all of which must see INPUT and DIR under the same names. Then type this
command with --ray on the first.
"""

import argparse
import os
from pathlib import Path

from tokenizers import Tokenizer

from course_lib.foundation import RayExecutor
from course_lib.many_machines import tokenize_files
from course_lib.many_machines.inputs import TASK_BYTES, list_inputs
from course_lib.token_shards.shard_files import MANIFEST


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, number = parser.add_argument, {"type": int, "metavar": "N"}
    words = "files, or folders of them; documents are numbered in this order"
    add("inputs", nargs="+", metavar="INPUT", help=words)
    add("--tokenizer", required=True, metavar="FILE", help="a tokenizer.json")
    add("--out", required=True, metavar="DIR", help="the folder of the shards")
    words = "processes (default: one a core)"
    add("--workers", default=os.cpu_count(), **number, help=words)
    add("--ray", action="store_true", help="run the tasks on a cluster of Ray")
    add("--quiet", action="store_true", help="no progress bar")
    # What follows are arguments of `tokenize_files` by the same names.
    add("--text-column", default="text", metavar="NAME", help="default: text")
    words = "further endings of plain text, for example --suffixes .py .rst"
    add("--suffixes", nargs="+", default=[], metavar=".END", help=words)
    words = "how much a task reads, about (default: 16 MiB); the shards stay the same"
    add("--task-bytes", default=TASK_BYTES, **number, help=words)
    add("--shard-size", default=100_000_000, **number, help="ids of a shard, at most")
    words = "each N-th document goes to the split val (default: 100)"
    add("--val-every", default=100, **number, help=words)
    add("--max-tokens", **number, help="stop before exceeding this number")
    words = "ends each document, if the tokenizer does not do so itself"
    add("--end-of-text-id", type=int, metavar="ID", help=words)


def run(options: argparse.Namespace) -> int:
    more = dict(vars(options))
    inputs, out, file = (more.pop(name) for name in ("inputs", "out", "tokenizer"))
    workers, ray, quiet = (more.pop(name) for name in ("workers", "ray", "quiet"))
    tokenizer = load_tokenizer(file)
    was_finished = Path(out, MANIFEST).is_file()
    manifest = tokenize_files(
        inputs,
        tokenizer,
        out,
        num_workers=workers,
        make_executor=RayExecutor if ray else None,
        progress=False if quiet else None,
        **more,
    )
    files, left_out = list_inputs(inputs, suffixes=options.suffixes)
    size = sum(path.stat().st_size for path in files)
    print(f"input: {len(files):,} files, {size:,} bytes", end="")
    print(f"; {len(left_out):,} left out:" if left_out else "")
    for path, reason in list(left_out.items())[:5]:
        print(f"  {path} ({reason})")
    if was_finished:
        print("finished before: nothing was encoded")
    print(manifest)
    return 0


def load_tokenizer(path: str) -> Tokenizer:
    """Load a tokenizer.json, or say that it is none."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"no tokenizer at {path}")
    try:
        return Tokenizer.from_file(path)
    except Exception as error:  # the library raises this class itself
        raise ValueError(f"{path} is not a tokenizer.json ({error})") from None
