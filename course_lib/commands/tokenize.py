"""Turn files of text into shards of ids, on this machine or on many.

    python -m course_lib tokenize data/ --out shards
    python -m course_lib tokenize data/ --tokenizer tokenizer.json --out shards

The command reads JSON Lines (.jsonl, also .gz and .zst), .parquet, .arrow, and plain
text (.txt and .md, where each file is one document). If a run was stopped, run the
command again, and it finishes the job. If the job is finished already, it only checks
that the files and the sizes of the shards are still the same. `verify_shards` of
course_lib.token_shards reads the shards themselves.

Without --tokenizer, the command first trains a byte-level BPE on the texts, and saves
it beside the shards, as DIR.tokenizer.json. A second run takes it from there.

For many machines, type `ray start --head` on one of them and `ray start --address
HEAD:6379` on the others. All of them must see INPUT and DIR under the same names. Then
type this command on the first machine, with --ray.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from course_lib.bpe import train_byte_level_bpe
from course_lib.commands.paths import user_path
from course_lib.foundation import (
    END_OF_TEXT,
    changes_to_first_texts,
    document_marks,
    plain_tokenizer,
    unknown_id,
    write_durably,
)
from course_lib.many_machines import tokenize_files
from course_lib.many_machines.executors import RayExecutor
from course_lib.many_machines.inputs import (
    TASK_BYTES,
    Task,
    check_apart,
    list_inputs,
    plan_tasks,
    read_task,
)
from course_lib.token_shards import load_shard
from course_lib.token_shards.shard_files import MANIFEST, Manifest

VOCAB_SIZE = 32_768
TRAINED_ON = 2**28  # characters: more texts change the merges little, and take long


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, number = parser.add_argument, {"type": int, "metavar": "N"}
    words = "files, or folders of files; documents are numbered in this order"
    add("inputs", nargs="+", type=user_path, metavar="INPUT", help=words)
    words = "a tokenizer.json (default: train a tokenizer on the texts)"
    add("--tokenizer", type=user_path, metavar="FILE", help=words)
    words = f"how many ids the trained tokenizer may have (default: {VOCAB_SIZE:,})"
    add("--vocab-size", default=VOCAB_SIZE, **number, help=words)
    words = "the folder for the shards"
    add("--out", required=True, type=user_path, metavar="DIR", help=words)
    words = "how many processes to use (default: one for each core)"
    add("--workers", default=os.cpu_count(), **number, help=words)
    add("--ray", action="store_true", help="run the tasks on a Ray cluster")
    add("--quiet", action="store_true", help="show no progress bar")
    # What follows are arguments of `tokenize_files` by the same names.
    words = "the column or field that holds the text (default: text)"
    add("--text-column", default="text", metavar="NAME", help=words)
    words = "more endings of plain text files, for example --suffixes .py .rst"
    add("--suffixes", nargs="+", default=[], metavar=".END", help=words)
    words = (
        "about how many bytes a task reads; no shard depends on it (default: 16 MiB)"
    )
    add("--task-bytes", default=TASK_BYTES, **number, help=words)
    words = "how many ids a shard may hold (default: 100,000,000)"
    add("--shard-size", default=100_000_000, **number, help=words)
    words = "put every N-th document into the split val (default: 100)"
    add("--val-every", default=100, **number, help=words)
    add("--max-tokens", **number, help="stop before there are more tokens than this")
    words = "put this id after each document, if the tokenizer adds none itself"
    add("--end-of-text-id", type=int, metavar="ID", help=words)


def run(options: argparse.Namespace) -> int:
    with warnings.catch_warnings():
        # A line of our source would tell nobody more about their texts.
        warnings.showwarning = lambda message, *where: note(message)
        return tokenize(options)


def note(message: object) -> None:
    print(f"note: {message}", file=sys.stderr, flush=True)


def tokenize(options: argparse.Namespace) -> int:
    more = dict(vars(options))
    del more["traceback"]  # for commands that run somebody else's code
    inputs, out, file = (more.pop(name) for name in ("inputs", "out", "tokenizer"))
    workers, ray, quiet = (more.pop(name) for name in ("workers", "ray", "quiet"))
    vocab_size = more.pop("vocab_size")
    was_finished = (out / MANIFEST).is_file()
    if file is None:
        own = Path(f"{out}.tokenizer.json")
        if own.is_file():
            print(f"tokenizer: {own}, which an earlier run has trained")
        else:
            check_apart(inputs, out)
            tasks = plan_tasks(inputs, suffixes=options.suffixes)
            texts = first_texts(tasks, options.text_column)
            train(own, texts, vocab_size, progress=not quiet)
        tokenizer = load_tokenizer(own)
        if more["end_of_text_id"] is None:
            more["end_of_text_id"] = tokenizer.token_to_id(END_OF_TEXT)
    else:
        tokenizer = load_tokenizer(file)
    end = end_of(tokenizer, more["end_of_text_id"])
    tokenizer, more["end_of_text_id"] = plain_tokenizer(
        tokenizer, more["end_of_text_id"]
    )
    if not was_finished:
        tasks = plan_tasks(inputs, suffixes=options.suffixes)
        texts = first_texts(tasks, options.text_column)
        if changes := changes_to_first_texts(texts, tokenizer):
            note(changes)
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
    documents = sum(map(manifest.num_documents, manifest.shards))
    if end is not None and (ends := count_id(out, manifest, end)) > documents:
        name = repr(tokenizer.id_to_token(end))
        why = (
            f"some texts hold {name}, and whoever looks for ends finds one there. A "
            "token that is marked as special in tokenizer.json is encoded as plain "
            "text where a text holds it"
        )
        if end == unknown_id(tokenizer):
            why = (
                f"{name} also stands for whatever this tokenizer can't spell, so "
                "whoever looks for ends finds too many. Choose another id for the end"
            )
        print(
            f"note: {ends:,} ids are {end}, which ends a document, but there are "
            f"{documents:,} documents: {why}"
        )
    return 0


def first_texts(tasks: list[Task], text_column: str) -> Iterator[str]:
    """The texts on which a tokenizer is trained: all, or the first of very many."""
    read = 0
    for task in tasks:
        for _, text in read_task(task, text_column):
            if read > TRAINED_ON:
                return
            read += len(text)
            yield text


def train(path: Path, texts: Iterator[str], vocab_size: int, *, progress: bool) -> None:
    """Train a byte-level BPE and save it where a second run finds it."""
    print(f"training a tokenizer, {path}", flush=True)
    tokenizer = train_byte_level_bpe(
        texts, vocab_size=vocab_size, progress=progress and None
    )
    print(f"it has {tokenizer.get_vocab_size():,} ids (asked for: {vocab_size:,})")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, tokenizer.to_str().encode())


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer.json, or say that it is none."""
    if not path.is_file():
        raise FileNotFoundError(
            f"no tokenizer at {path}; without --tokenizer, one is trained on the texts"
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises this class itself
        raise ValueError(f"{path} is not a tokenizer.json ({error})") from None


def end_of(tokenizer: Tokenizer, end_of_text_id: int | None) -> int | None:
    """Return the id that ends each document, or say which ids could."""
    end = document_marks(tokenizer)[1] if end_of_text_id is None else end_of_text_id
    special = tokenizer.get_added_tokens_decoder()
    offered = ", ".join(
        f"{number} {token.content}" for number, token in special.items()
    )
    if end is None and document_marks(tokenizer) == (None, None):
        raise ValueError(
            "--end-of-text-id must be given, because this tokenizer does not end a "
            f"text itself; its special tokens: {offered or 'none'}"
        )
    try:
        is_known = end is None or tokenizer.id_to_token(end) is not None
    except OverflowError:  # below 0, or beyond what the library can count
        is_known = False
    if not is_known:
        raise ValueError(
            f"--end-of-text-id must be an id of the tokenizer, got {end}; its special "
            f"tokens: {offered or 'none'}"
        )
    return end


def count_id(out: Path, manifest: Manifest, wanted: int) -> int:
    """Count how often an id occurs in all shards."""
    found = 0
    for split, shards in manifest.shards.items():
        for number in range(len(shards)):
            found += np.count_nonzero(load_shard(out, split, number) == wanted)
    return found
