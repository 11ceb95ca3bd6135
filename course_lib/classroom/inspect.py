"""Look at a packed data set: how full its rows are, and the text of one of them.

FOLDER is what `save_to_disk` of the library `datasets` wrote. It has a column
`input_ids`, and `document_starts` if `pack_examples` made it.

    python -m course_lib inspect packed
    python -m course_lib inspect packed --eos-token-id 0
    python -m course_lib inspect packed --row 3 --tokenizer tokenizer.json
"""

import argparse
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from course_lib.classroom.audit import tokenizer_of
from course_lib.classroom.links import user_path
from course_lib.document_boundaries import position_ids_from_tokens
from course_lib.foundation import check_choice, check_integer, progress_bar

PACKS_HEADER = ["", "tokens", "documents", "only in part", "filled"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=user_path, metavar="FOLDER", help="see above")
    parser.add_argument("--split", metavar="NAME", help="which, if there are several")
    for flag, words in (
        ("--max-length", "places in a row; by default as many as the longest needs"),
        (
            "--eos-token-id",
            "what ends a document: a piece without it was cut, and rows "
            "without document_starts are divided after it",
        ),
        ("--row", "show the documents of this row as text, counted from 0"),
    ):
        parser.add_argument(flag, type=int, metavar="N", help=words)
    words = "the tokenizer.json that made the ids, for --row"
    parser.add_argument("--tokenizer", type=user_path, metavar="FILE", help=words)


def run(options: argparse.Namespace) -> int:
    if (options.row is None) != (options.tokenizer is None):
        raise ValueError("--row and --tokenizer go together: a row is shown as text")
    rows = read_rows(options.folder, options.split)
    if options.row is not None:
        check_integer("--row", options.row, minimum=0, maximum=len(rows) - 1)
        tokenizer = tokenizer_of(options.tokenizer)
        print_documents(rows[options.row], tokenizer, options.eos_token_id)
        return 0
    from course_lib.document_packing import survey_packs  # takes seconds to import
    from course_lib.teaching import Table

    longest = max(len(row["input_ids"]) for row in rows)
    length = longest if options.max_length is None else options.max_length
    packs = progress_bar(rows, "reading rows", unit="row")
    rows = survey_packs(packs, length, eos_token_id=options.eos_token_id)
    print(Table(rows, PACKS_HEADER, align="<>>>>").text)
    return 0


def read_rows(folder: Path, split: str | None) -> list[dict]:
    """Return the rows of a packed data set, with the columns that say what is in it."""
    import datasets

    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    found = datasets.load_from_disk(str(folder))
    if isinstance(found, Mapping):
        found = found[check_choice("--split", split or "none", list(found))]
    if "input_ids" not in found.column_names:
        raise ValueError(
            f"{folder} must have a column input_ids, but has {found.column_names}: "
            "pack_examples makes one"
        )
    wanted = {"input_ids", "document_starts", "documents"} & set(found.column_names)
    rows = found.select_columns(sorted(wanted)).with_format("numpy")
    if not len(rows):
        raise ValueError(f"{folder} holds no rows")
    return rows


def print_documents(
    row: Mapping, tokenizer: object, eos_token_id: int | None = None
) -> None:
    """Print the documents of a row, each under a line that says where it lies."""
    ids = row["input_ids"].tolist()
    starts = row.get("document_starts", [0])
    if "document_starts" not in row and eos_token_id is not None:
        positions = position_ids_from_tokens(ids, eos_token_id)
        starts = (positions == 0).nonzero().flatten().tolist()
    for number, (begin, end) in enumerate(pairwise([*starts, len(ids)])):
        print(f"--- document {number}: places {begin} to {end - 1}")
        print(tokenizer.decode(ids[begin:end], skip_special_tokens=False))
