"""Read a batch of your loader as text, and see what is scored and where things begin.

    python -m course_lib show loader.py:my_batches --tokenizer tokenizer.json
    python -m course_lib show loader.py:my_batches --tokenizer tokenizer.json --batch 3
    python -m course_lib show loader.py:make_loader --tokenizer t.json --text a.txt

The audit gives a loader integers, so it can't see what only text shows, such as another
model's tokenizer, a document that begins twice, or a template in the wrong place. Here
the loader gets real ids, and you read what comes out:

    (token)         isn't scored
    [token]         is padding
    a double bar    is where positions begin again, or where a mask, segment_ids or
                    cu_seqlens say that a document begins

To read your own data, write a function that takes no ids, and returns the loader of
your training with its data. The command imports its file, so whatever stands there at
the top level runs.

A function make_loader(ids), as for the audit, gets another text, freshly encoded with
your tokenizer. So you see what the loader does to a text, and not what is in your data.
The text is the file that you name with --text, or else the one that COURSE_CORPUS
names, or else the course's story. If make_loader has an argument named document_starts,
each paragraph is a document. With --texts, it gets a list of the paragraphs instead of
ids.

If the function has arguments named epoch, rank or world_size, it gets those, too.

The exit status is 0, 2 if the loader could not be run, or 130 if it was interrupted.
What the loader itself prints goes to stderr. In a notebook, show_batch(batch,
tokenizer) from course_lib.auditing_loaders shows you the same.
"""

import argparse
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice

import numpy as np

from course_lib.auditing_loaders import show_batch
from course_lib.auditing_loaders.batch_view import BatchView
from course_lib.auditing_loaders.loader_calls import GIVEN, guarded
from course_lib.commands.audit import (
    NOT_RUN,
    TIME_LIMIT,
    OutOfTime,
    check_needs,
    describe,
    limited,
    load,
    prints_to_stderr,
    tokenizer_of,
)
from course_lib.commands.paths import user_path
from course_lib.foundation import check_integer, load_text

MOST_LETTERS = 1_000_000  # of a text, which are enough for many batches
NUMBERS = {  # names, what they are by default, the least that they may be, and words
    "batch": (0, 0, "which batch to show"),
    "rows": (4, 1, "how many of its rows to show"),
    "tokens": (256, 1, "how many tokens of each row to show"),
    "epoch": (0, 0, "the epoch, if make_loader has an argument epoch"),
    "rank": (0, 0, "the rank, if make_loader has an argument rank"),
    "world_size": (1, 1, "the number of ranks, if it has an argument world_size"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "loader", metavar="FILE.py:make_loader", help="a file and a function in it"
    )
    parser.add_argument(
        "--tokenizer",
        type=user_path,
        required=True,
        metavar="FILE",
        help="a tokenizer.json for the `tokenizers` library, such as `tokenize` writes",
    )
    for name, (default, _, words) in NUMBERS.items():
        flag, words = f"--{name.replace('_', '-')}", f"{words} (default: {default})"
        parser.add_argument(flag, type=int, default=default, metavar="N", help=words)
    words = f"a text to encode, of which the first {MOST_LETTERS:,} characters are read"
    parser.add_argument("--text", type=user_path, metavar="FILE", help=words)
    words = "give make_loader a list of paragraphs instead of ids"
    parser.add_argument("--texts", action="store_true", help=words)
    parser.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT,
        metavar="S",
        help=f"stop the loader after so many seconds (default: {TIME_LIMIT})",
    )


def run(options: argparse.Namespace) -> int:
    try:
        for name, (_, least, _) in NUMBERS.items():
            flag = f"--{name.replace('_', '-')}"
            check_integer(flag, getattr(options, name), minimum=least)
        if options.rank >= options.world_size:
            wanted = f"below --world-size {options.world_size}"
            raise ValueError(f"--rank must be {wanted}, got {options.rank}")
        check_needs(options)
        with prints_to_stderr(), limited(options.time_limit):
            view = view_of(load(options.loader), options)
    except (Exception, SystemExit, OutOfTime) as error:
        # Somebody else's file may raise anything.
        if options.traceback:
            traceback.print_exception(error)
        print(f"python -m course_lib show: {describe(error)}", file=sys.stderr)
        return NOT_RUN
    has_colors = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(view.text(colors=has_colors))
    return 0


def view_of(
    make_loader: Callable[..., Iterable], options: argparse.Namespace
) -> BatchView:
    """Make the loader, and look at one of its batches."""
    tokenizer = tokenizer_of(options.tokenizer)
    positional, named = what_it_takes(make_loader)
    given: dict[str, object] = {
        name: getattr(options, name) for name in GIVEN[:3] if name in named
    }
    arguments: list[object] = []
    if positional:
        data, document_starts = data_for(tokenizer, options, "document_starts" in named)
        arguments.append(data)
        if "document_starts" in named:
            given["document_starts"] = document_starts
    elif "document_starts" in named:
        raise ValueError("make_loader names document_starts, but takes no ids")
    shown = [*["texts" if options.texts else "ids"] * len(arguments), *given]
    name = getattr(make_loader, "__name__", "make_loader")
    words = f"{name}({', '.join(shown)})"
    loader = guarded(words, make_loader, *arguments, **given)
    batches = guarded(words, iter, loader)
    found = guarded(words, list, islice(batches, options.batch + 1))
    if not found:
        raise ValueError(f"{words} has no batches")
    if len(found) <= options.batch:
        wanted = f"below {len(found)}, the number of batches of {words}"
        raise ValueError(f"--batch must be {wanted}, got {options.batch}")
    view = show_batch(
        found[-1], tokenizer, num_rows=options.rows, num_tokens=options.tokens
    )
    if positional:
        # or a reader takes it for their own data
        words = f"these are not your data, but {_name_of_text(options)}"
        words += ", encoded with your tokenizer; a function without ids shows your data"
        view = replace(view, notes=(*view.notes, words))
    return view


def what_it_takes(make_loader: Callable) -> tuple[bool, set[str]]:
    """Whether a loader must be given ids, or texts, and what it names of `GIVEN`."""
    try:
        parameters = inspect.signature(make_loader).parameters.values()
    except (TypeError, ValueError):  # a function that is not written in Python
        return True, set()
    by_place = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    others = [each for each in parameters if each.name not in GIVEN]
    first = next((each for each in others if each.kind in by_place), None)
    needs_it = first is not None and (
        first.default is first.empty or first.name in ("ids", "texts")
    )
    return needs_it, {each.name for each in parameters} & set(GIVEN)


def _name_of_text(options: argparse.Namespace) -> str:
    if options.text is not None:
        return f"the text of {options.text}"
    if corpus := os.environ.get("COURSE_CORPUS"):
        return f"the text of {corpus}"
    return "the course's story"


def data_for(
    tokenizer: object, options: argparse.Namespace, in_documents: bool
) -> tuple[object, np.ndarray]:
    """Return ids, or texts, and where documents start among the ids."""
    try:
        text = load_text(options.text)[:MOST_LETTERS]
    except FileNotFoundError as error:
        if options.text is not None:
            raise
        raise FileNotFoundError(f"{error}. Name a text with --text FILE") from None
    paragraphs = [each.strip() for each in text.split("\n\n") if each.strip()]
    if options.texts:
        return paragraphs, np.arange(len(paragraphs))
    texts = paragraphs if in_documents else [text]
    encoded = [tokenizer.encode(each, add_special_tokens=False).ids for each in texts]
    encoded = [ids for ids in encoded if ids]
    if not encoded:
        raise ValueError("the tokenizer makes no ids of this text")
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in encoded])[:-1]])
    return np.concatenate(encoded).astype(np.int64), starts.astype(np.int64)
