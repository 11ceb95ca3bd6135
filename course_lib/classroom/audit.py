"""What a loader of yours does, told by the batches that it makes.

    python -m course_lib audit train.py:make_loader
    python -m course_lib audit train.py:make_loader --world-size 2 --picture audit.png
    python -m course_lib audit train.py:make_loader --document-lengths 400,90,250 --json

`make_loader(ids)` returns an iterable of batches, one epoch. `ids` is an int64 array in
which each id tells its position. A batch is a pair (inputs, targets), or a mapping with
inputs and targets, or with input_ids and perhaps labels, which stand where the inputs
stand. A mapping may also have attention_mask and position_ids. If make_loader names
epoch, rank, world_size or document_starts, it is also given those.

The report says what the loader does and what is wrong, with evidence that you can check
by hand. The exit status is 0 if the loader is clean, 1 if something was found, and 2 if
it could not be run, so the command may be one of your tests. What the loader itself
prints goes to stderr.
"""

import argparse
import contextlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

from course_lib.auditing_loaders import FINDINGS, Audit, audit_loader
from course_lib.classroom.links import user_path

CLEAN, FOUND, NOT_RUN = 0, 1, 2
NUMBERS = {
    "num_tokens": "ids to feed (default: 4000)",
    "num_epochs": "epochs to read (default: 2)",
    "world_size": "ranks (default: 1)",
    "resume_after": "batches after which to resume (default: half of an epoch)",
    "vocab_size": "keep all ids below this",
    "max_batches": "where an epoch of an endless loader ends",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "loader", metavar="FILE.py:make_loader", help="a file and a function in it"
    )
    for name, words in NUMBERS.items():
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, type=int, metavar="N", help=words)
    parser.add_argument(
        "--document-lengths",
        type=_numbers,
        metavar="N,N,...",
        help="the stream is documents of these lengths",
    )
    parser.add_argument(
        "--separator-ids",
        type=_numbers,
        metavar="N,...",
        help="ids of the loader's own, such as an end of text, that may be scored",
    )
    parser.add_argument(
        "--tokenizer",
        type=user_path,
        metavar="FILE",
        help="give texts instead of ids; a tokenizer.json of the library tokenizers",
    )
    parser.add_argument(
        "--processes",
        action="store_const",
        const=True,
        help="run ranks in real processes, as one group of torch.distributed",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )
    words = "write a picture of ledger, order and ranks"
    parser.add_argument("--picture", type=user_path, metavar="FILE.png", help=words)
    parser.epilog = "\n".join(
        ["findings:", *(f"    {name:<18} {words}" for name, words in FINDINGS.items())]
    )


def run(options: argparse.Namespace) -> int:
    names = (*NUMBERS, "document_lengths", "separator_ids", "processes")
    given = {n: value for n in names if (value := getattr(options, n)) is not None}
    try:
        with contextlib.redirect_stdout(sys.stderr):
            if options.tokenizer is not None:
                given["tokenizer"] = _tokenizer(options.tokenizer)
            audit = audit_loader(load(options.loader), **given)
            if options.picture is not None:
                write_picture(audit, options.picture)
    except (Exception, SystemExit) as error:  # whatever somebody else's file raises
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        print(f"python -m course_lib audit: {kind}{error}", file=sys.stderr)
        return NOT_RUN
    print(json.dumps(audit.as_dict(), indent=2) if options.json else audit)
    return CLEAN if audit.clean else FOUND


def load(place: str) -> Callable:
    """Import a function from `FILE.py:name`, in a way that workers can repeat."""
    file, _, name = place.rpartition(":")
    path = Path(file).expanduser().resolve()
    if not file or not name:
        raise ValueError(
            f"the loader must be given as FILE.py:make_loader, got {place}"
        )
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    # A worker that is not forked finds the file by its name, in the same folders.
    sys.path.insert(0, str(path.parent))
    found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    if found is None or Path(found.origin or "").resolve() != path:
        raise ValueError(
            f"{path.name} must have a name that can be imported and that no other "
            "module has: rename it"
        )
    loader = getattr(importlib.import_module(path.stem), name, None)
    if not callable(loader):
        raise ValueError(f"{path.name} must have a function {name}, got {loader!r:.60}")
    return loader


def write_picture(audit: Audit, path: Path) -> None:
    from course_lib.teaching.plots.audits import plot_audit  # takes seconds to import

    path.write_bytes(plot_audit(audit).png())


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.replace(",", " ").split()]


def _tokenizer(path: Path) -> object:
    from tokenizers import Tokenizer

    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return Tokenizer.from_file(str(path))
