"""The command line of lesson 12: tokenize files into shards, and train on them.

python -m course_lib.many_machines tokenize --help
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path

from tokenizers import Tokenizer

from course_lib.foundation import RayExecutor
from course_lib.foundation.ranks import process_group
from course_lib.foundation.tokenizing import tokenizer_hash
from course_lib.many_machines import (
    rank_and_size,
    tokenize_files,
    train_on_shards,
)
from course_lib.many_machines.inputs import list_inputs
from course_lib.token_shards import shard_files
from course_lib.token_shards.shard_files import MANIFEST


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 a message, 130 Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        return 0
    except KeyboardInterrupt:
        print("interrupted; run it again to go on", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ImportError, BrokenExecutor) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course_lib.many_machines",
        description="Tokenize files into shards, on one machine or many; train on them",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    tokenize = commands.add_parser(
        "tokenize",
        help="turn files into shards of ids",
        description="Tokenize files into shards. A run that was stopped goes on when "
        "it is run again. Exit code 0: done; 1: a message says what is wrong; 2: wrong "
        "usage; 130: interrupted.",
        epilog="On many machines: `ray start --head` on one, `ray start --address "
        "HEAD:6379` on the others, all of which must see INPUT and DIR under the same "
        "names; then this command with --ray on the first.",
    )
    tokenize.set_defaults(run=_tokenize)
    add, number = tokenize.add_argument, {"type": int, "metavar": "N"}
    add(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="JSON Lines (.jsonl, also .gz and .zst), plain text (.txt, .md: one "
        "document each), .parquet, .arrow, or folders of them; documents are numbered "
        "in this order",
    )
    add("--tokenizer", required=True, metavar="FILE", help="a tokenizer.json")
    add("--out", required=True, metavar="DIR", help="the folder of the shards")
    add(
        "--workers",
        default=os.cpu_count(),
        **number,
        help="processes (default: one a core)",
    )
    add("--ray", action="store_true", help="run the tasks on a cluster of Ray")
    add("--text-column", default="text", metavar="NAME", help="default: text")
    add("--shard-size", default=100_000_000, **number, help="ids of a shard, at most")
    add(
        "--val-every",
        default=100,
        **number,
        help="each N-th document goes to the split val (default: 100)",
    )
    add("--max-tokens", **number, help="stop before exceeding this number")
    add(
        "--end-of-text-id",
        type=int,
        metavar="ID",
        help="ends each document, if the tokenizer does not do so itself",
    )
    words = "how many a task reads, about (default: 4 a worker, of 16 MiB at most)"
    add("--task-bytes", **number, help=f"{words}; the shards stay as they are")
    words = "further endings of plain text, for example --suffix .py .rst"
    several = {"nargs": "+", "action": "extend", "default": []}
    add("--suffix", **several, metavar=".END", help=words)
    add(
        "--verify",
        action="store_true",
        help="after a stop, compare finished shards' SHA-256, not their sizes alone",
    )
    add("--quiet", action="store_true", help="no progress bar")
    train = commands.add_parser(
        "train",
        help="train a small model on shards, by torchrun",
        description="Train a small model on shards: torchrun --nproc-per-node 2 -m "
        "course_lib.many_machines train DIR... A run that was killed goes on from its "
        "checkpoint when it is run again. The first rank prints a line of JSON.",
    )
    train.set_defaults(run=_train)
    add = train.add_argument
    add("shards", metavar="DIR", help="a folder that `tokenize` wrote")
    add("--tokenizer", required=True, metavar="FILE", help="that of the shards")
    add("--context-length", type=int, default=64, metavar="T")
    add(
        "--batch-size",
        type=int,
        metavar="WINDOWS",
        help="of all ranks together (default: 24, or one a rank if they are more)",
    )
    add("--steps", default=10, **number, help="when to end, from the run's beginning")
    add("--seed", default=0, **number)
    add(
        "--checkpoint",
        metavar="FILE",
        help="go on from this file, if it exists, and save weights, optimizer and "
        "position there; the first rank alone reads and writes it",
    )
    add("--save-every", default=100, **number, help="steps (default: 100)")
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def _tokenizer_of(path: str) -> Tokenizer:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no tokenizer at {path}")
    try:
        return Tokenizer.from_file(path)
    except Exception as error:  # the library raises this class itself
        raise ValueError(f"{path} is not a tokenizer.json ({error})") from None


def _tokenize(options: argparse.Namespace) -> None:
    tokenizer = _tokenizer_of(options.tokenizer)
    was_finished = Path(options.out, MANIFEST).is_file()
    files, left_out = list_inputs(options.inputs, suffixes=options.suffix)
    manifest = tokenize_files(
        options.inputs,
        tokenizer,
        options.out,
        num_workers=options.workers,
        make_executor=RayExecutor if options.ray else None,
        shard_size=options.shard_size,
        val_every=options.val_every,
        max_tokens=options.max_tokens,
        end_of_text_id=options.end_of_text_id,
        text_column=options.text_column,
        suffixes=options.suffix,
        task_bytes=options.task_bytes,
        verify=options.verify,
        progress=False if options.quiet else None,
    )
    size = sum(path.stat().st_size for path in files)
    print(f"input: {len(files):,} files, {size:,} bytes", end="")
    print(f"; {len(left_out):,} left out:" if left_out else "")
    for path, reason in list(left_out.items())[:5]:
        print(f"  {path} ({reason})")
    if was_finished:
        print("finished before: nothing was encoded")
    print(manifest)


def _train(options: argparse.Namespace) -> None:
    tokenizer = _tokenizer_of(options.tokenizer)
    manifest = shard_files.open_manifest(options.shards, check_sizes=False)
    if manifest.settings.tokenizer != tokenizer_hash(tokenizer):
        raise ValueError(
            f"{options.shards} was written with another tokenizer than "
            f"{options.tokenizer}"
        )
    with process_group():
        rank, world_size = rank_and_size()
        report = train_on_shards(
            options.shards,
            tokenizer.get_vocab_size(),
            context_length=options.context_length,
            batch_size=options.batch_size or max(1, 24 // world_size) * world_size,
            last_step=options.steps,
            base_seed=options.seed,
            checkpoint=options.checkpoint,
            save_every=options.save_every,
            progress=False if options.quiet else None,
        )
    if rank:
        return
    weights = float(report.weights.double().square().sum())
    line = {"ranks": world_size, "steps": report.state["steps"], "weights": weights}
    print(json.dumps(line | {"losses": report.losses, "rows": report.rows}))


if __name__ == "__main__":
    sys.exit(main())
