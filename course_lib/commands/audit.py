"""Find out from its batches what your loader does, and what is wrong with it.

    python -m course_lib audit loader.py:make_loader --vocab-size 50257
    python -m course_lib audit loader.py:make_loader --world-size 4 --picture audit.png
    python -m course_lib audit loader.py:make_loader --document-lengths 400,90,200x250
    python -m course_lib audit loader.py:make_loader --allow lost:31 --json

Write a function make_loader(ids) that returns one epoch of your batches, as an
iterable. The command imports its file, so whatever stands there at the top level runs:
in a training script, the training must stand below `if __name__ == "__main__":`.

`ids` is an int64 array in which each id tells its own position. A batch holds tensors,
arrays or lists of shape (B, T), as one of these:

    a pair (inputs, targets)
    a mapping with inputs and targets
    a mapping with input_ids, and perhaps labels that are not shifted, because the model
        shifts them

A mapping may also have attention_mask, position_ids, loss_mask, segment_ids or
cu_seqlens. If make_loader has arguments named epoch, rank, world_size or
document_starts, it gets those, too. If it names rank and world_size, two ranks are
read, or as many as --world-size says. If your loader asks torch.distributed or the
environment for its rank, add --processes. If your loader reads files, write the ids
into a file of its format first, as course_lib.auditing_loaders.recipes shows.

The report says what is wrong, with evidence that you can check by hand, and what the
loader does. The exit status lets you make the command one of your tests:

    0    the loader is clean, or all that was found is allowed
    1    something was found that isn't allowed
    2    the loader could not be run
    3    nothing was found that isn't allowed, but something could not be decided
    130  it was interrupted

What the loader itself prints goes to stderr.

The audit is for loaders that feed next-token prediction. If labels are what was masked
in the inputs, it leaves open whether tokens are lost, and says nothing of shifts,
broken rows and visible answers.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from course_lib.auditing_loaders import (
    FACTS,
    FINDINGS,
    NOT_TRIED,
    VERSION,
    Audit,
    audit_loader,
)
from course_lib.auditing_loaders.loader_files import import_file
from course_lib.commands.paths import in_a_shell, user_path
from course_lib.foundation import uncut

CLEAN, FOUND, NOT_RUN, UNDECIDED = 0, 1, 2, 3
TIME_LIMIT, MOST_SECONDS = 600, 10**8  # more, and the timer overflows
WIDTH = 88  # letters in a line of --help
# The audit itself needs NumPy alone. A loader that hands out tensors brings PyTorch.
NEEDS = {"picture": "matplotlib", "processes": "torch", "tokenizer": "tokenizers"}
NUMBERS = {
    "num_tokens": "how many ids to feed (default: fifty steps of all ranks, and more)",
    "num_epochs": "how many epochs to read (default: 2)",
    "world_size": "how many ranks there are (default: 2 if make_loader names rank and "
    "world_size, or with --processes; otherwise 1)",
    "resume_after": "stop and resume after N batches (default: half an epoch)",
    "vocab_size": "keep all ids below N, for example the size of your vocabulary",
    "max_batches": "end each epoch after N batches, if the loader is endless",
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
        metavar="N,N,RxN,...",
        help="feed documents of these lengths (RxN: R times N), or those in @FILE",
    )
    parser.add_argument(
        "--separator-ids",
        type=_numbers,
        metavar="N,...",
        help="ids that the loader adds and may score, such as an end-of-text token",
    )
    parser.add_argument(
        "--tokenizer",
        type=user_path,
        metavar="FILE",
        help="a tokenizer.json for `tokenizers`; make_loader gets texts instead of ids",
    )
    parser.add_argument(
        "--processes",
        action="store_const",
        const=True,
        help="run ranks in real processes, as one torch.distributed group",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="NAME[:COUNT]",
        help="allow a finding, up to COUNT, or those in @FILE, one on each line",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT,
        metavar="S",
        help=f"stop the loader after so many seconds (default: {TIME_LIMIT})",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )
    words = "write a picture of the ledger, the order and the ranks"
    parser.add_argument("--picture", type=user_path, metavar="FILE.png", help=words)
    not_tried: list[str] = []
    findings = [f"    {name:<18} {words}" for name, words in FINDINGS.items()]
    facts = [
        f"    {name:<30} {fact.meaning} ({fact.type})" for name, fact in FACTS.items()
    ]
    lines = ["findings:", *findings, "", "facts, as they are called in JSON:", *facts]
    for item in NOT_TRIED:
        indent = {"initial_indent": "    ", "subsequent_indent": " " * 8}
        not_tried += textwrap.wrap(item, WIDTH, **indent)
    lines += ["", "what isn't tried:", *not_tried]
    parser.epilog = "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    names = (*NUMBERS, "document_lengths", "separator_ids", "processes")
    given = {n: value for n in names if (value := getattr(options, n)) is not None}
    arguments = {"loader": options.loader, **given, "allow": options.allow}
    try:
        allowed = read_allowed(options.allow)
        with prints_to_stderr(), limited(options.time_limit):
            check_needs(options)
            if options.tokenizer is not None:
                given["tokenizer"] = tokenizer_of(options.tokenizer)
            audit = audit_loader(load(options.loader), **given)
            if options.picture is not None:
                write_picture(audit, options.picture)
    except (Exception, SystemExit, OutOfTime) as error:
        # Somebody else's file may raise anything.
        words = describe(error)
        if options.traceback:
            traceback.print_exception(error)
        print(f"python -m course_lib audit: {words}", file=sys.stderr)
        if options.json:
            report = {"version": VERSION, "clean": False, "error": words}
            print(json.dumps(report | {"arguments": arguments}, indent=2, default=str))
        return NOT_RUN
    excess = [
        finding
        for finding in audit.findings
        if finding.count > allowed.get(finding.name, 0)
    ]
    if options.json:
        report = audit.as_dict() | {"clean": audit.clean, "arguments": arguments}
        report["allowed"] = [f.name for f in audit.findings if f not in excess]
        print(json.dumps(report, indent=2, default=str))
    else:
        print(audit)
        for finding in audit.findings:
            if finding not in excess:
                print(f"allowed: {finding.name}, {finding.count:,}")
    if excess:
        return FOUND
    # what is allowed up to a count is not allowed where nobody could count it
    is_open = any(allowed.get(name, 0) < float("inf") for name in audit.undecided)
    return UNDECIDED if is_open else CLEAN


def check_needs(options: argparse.Namespace) -> None:
    """Refuse an option whose package or folder is missing before the loader is read,
    and not after."""
    picture = getattr(options, "picture", None)
    if picture is not None and not picture.parent.is_dir():
        raise ValueError(f"--picture: there is no folder {picture.parent}")
    for option, package in NEEDS.items():
        is_wanted = getattr(options, option, None) is not None
        if is_wanted and importlib.util.find_spec(package) is None:
            install = in_a_shell("-m", "pip", "install", package)
            raise ValueError(
                f"--{option} needs the package {package!r}, which is not installed. "
                f"Type: {install}"
            )


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Keep stdout for the report, also from what a loader's processes write there."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.__stdout__.flush()  # what was written past `sys.stdout` is not the report
        os.dup2(kept, 1)
        os.close(kept)


def read_allowed(words: list[str]) -> dict[str, float]:
    """Return what is by design: names of findings, and up to which count."""
    allowed: dict[str, float] = {}
    for word in words:
        if word.startswith("@"):
            lines = user_path(word[1:]).read_text(encoding="utf-8-sig").splitlines()
            lines = [line.partition("#")[0].strip() for line in lines]
            allowed |= read_allowed([line for line in lines if line])
            continue
        name, colon, count = word.partition(":")
        if name not in FINDINGS:
            raise ValueError(f"--allow must name a finding, got {name!r}")
        if colon and not count.isdecimal():
            raise ValueError(
                f"--allow must have a number after the colon, got {word!r}"
            )
        allowed[name] = int(count) if colon else float("inf")
    return allowed


class OutOfTime(BaseException):
    """No Exception, or a loader that catches those and tries again would go on.

    One that catches everything, by a bare `except:`, still does.
    """


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after so many seconds, also in a loader that sleeps.

    Where there is no such timer, as on Windows or in a thread, nothing is stopped.

    The exercises stop an answer in a process of its own (`teaching.checker.guard`). An
    audit can't be in one: a limit on its memory would be a limit on the loader's, CUDA
    doesn't survive a fork, and `guard` needs packages that an audit doesn't.
    """
    if not 0 < seconds <= MOST_SECONDS:
        wanted = f"more than 0 seconds, and at most {MOST_SECONDS:,}"
        raise ValueError(f"--time-limit must be {wanted}, got {seconds}")
    in_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main:
        yield
        return

    def stop(number: int, frame: object) -> None:
        words = f"the loader gave nothing more within --time-limit {seconds:g} seconds"
        raise OutOfTime(words)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def describe(error: BaseException) -> str:
    """What was raised, and at which line of the loader's own files."""
    says_it_all = isinstance(error, (ValueError, OutOfTime))
    kind = "" if says_it_all else f"{type(error).__name__}: "
    ours = str(Path(__file__).parent.parent)
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    others = ours, sys.prefix, sys.base_prefix, "<"
    own = [frame for frame in frames if not frame.filename.startswith(others)]
    at = f" (at {own[-1].filename}:{own[-1].lineno}: {own[-1].line})" if own else ""
    return f"{kind}{error}{at}"


def load(place: str) -> Callable:
    """Import a function from `FILE.py:name`, in a way that workers can repeat."""
    file, _, name = place.rpartition(":")
    path = user_path(file).resolve()
    if not file or not name:
        raise ValueError(
            f"the loader must be given as FILE.py:make_loader, got {place}"
        )
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    # A worker that is not forked finds the file by its name, in the same folders.
    sys.path.insert(0, str(path.parent))
    found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    is_found = found is not None and Path(found.origin or "").resolve() == path
    # If its name cannot be imported, only a forked worker knows the module.
    module = import_file(path, path.stem if is_found else f"audited {path.name}")
    loader = getattr(module, name, None)
    if not callable(loader):
        raise ValueError(f"{path.name} must have a function {name}, got {loader!r:.60}")
    return loader


def write_picture(audit: Audit, path: Path) -> None:
    from course_lib.teaching.plots.audits import plot_audit  # takes seconds to import

    path.write_bytes(plot_audit(audit).png())


def _numbers(text: str) -> list[int]:
    """Read numbers such as `400,90,20x250`, or those of a file, as `@lengths.txt`."""
    if text.startswith("@"):
        try:
            text = user_path(text[1:]).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            words = f"cannot read {text[1:]}: {error}"
            raise argparse.ArgumentTypeError(words) from None
    numbers = []
    for word in text.replace(",", " ").split():
        times, by, number = word.rpartition("x")
        try:
            count, value = int(times) if by else 1, int(number)
        except ValueError:
            words = f"expected numbers such as 400,90,20x250, got {word!r}"
            raise argparse.ArgumentTypeError(words) from None
        if count < 1:
            raise argparse.ArgumentTypeError(f"{word} must be at least once")
        numbers += [value] * count
    return numbers


def tokenizer_of(path: Path) -> object:
    """Load what a `tokenizer.json` holds, without truncation, padding and dropout."""
    from tokenizers import Tokenizer

    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        return uncut(Tokenizer.from_file(str(path)))
    except Exception as error:  # the library raises nothing more special
        raise ValueError(f"{path} is no tokenizer.json: {error}") from None
