"""What several lessons are built on: checks, texts, ids, orders, ledger, models.

What serves one lesson lives with that lesson. These serve few, and are here because a
later lesson or another room needs them without the lesson that came first: `packs` (8
to 10), `copies` (11 and 13), `durable` (11, 12 and the command `tokenize`), `processes`
(2 and 12), and `ranks` (12, and audits of a loader's ranks, which need PyTorch and
nothing else of lesson 12).

What needs no more than NumPy is imported here, and the rest when it is asked for: the
auditor runs where nothing else of the course is installed.
"""

import importlib
from typing import TYPE_CHECKING

from course_lib.foundation.arguments import (
    AtLeast,
    Count,
    Count64,
    FilePath,
    Finite,
    Ids,
    Integers,
    Length,
    OneOf,
    Seed,
    Several,
    Text,
    checked,
    named_elsewhere,
)
from course_lib.foundation.checks import (
    IGNORED,
    as_ids,
    as_integers,
    as_numbers,
    as_places,
    check_callable,
    check_choice,
    check_dense,
    check_flag,
    check_integer,
    check_iterable,
    check_number,
    check_path,
    check_range,
    check_type,
    check_unicode,
    holds_a_flag,
    is_tensor,
)
from course_lib.foundation.corpora import (
    BYTE_ORDER_MARK,
    Document,
    decode_text,
    load_documents,
    load_sources,
    load_text,
    load_translations,
    read_text,
    without_doubles,
)
from course_lib.foundation.dtypes import (
    id_dtype,
    smallest_dtype,
)
from course_lib.foundation.intervals import (
    Interval,
    confidence_interval,
)
from course_lib.foundation.ledger import (
    TokenLedger,
    token_ledger,
    why_unused,
)
from course_lib.foundation.orders import (
    AffineOrder,
    BlockOrder,
    FileOrder,
    RandomOrder,
    identity_of,
    measure_mixing,
    some_positions,
)
from course_lib.foundation.packs import (
    LONGEST,
    Pack,
    Piece,
    check_pad_token,
    check_rows,
    check_starts,
    iterate_documents,
    join_pieces,
    packing_report,
)
from course_lib.foundation.positions import Position, check_state
from course_lib.foundation.processes import NO_GUARD, end_with_parent, process_context
from course_lib.foundation.uncut import uncut
from course_lib.foundation.visible import (
    BYTE_CHARACTERS,
    SCROLLING,
    plain,
    signs,
    spelled,
)

if TYPE_CHECKING:
    from course_lib.foundation.copies import (
        candidate_pairs,
        containment,
        count_copies,
        drop_copies,
        match_probability,
        minhash,
        normalized,
        shingles,
        similarity,
    )
    from course_lib.foundation.durable import (
        TEMPORARY,
        DurableFile,
        checksum,
        read_json,
        write_durably,
        write_json,
    )
    from course_lib.foundation.models import (
        AttentionModel,
        BigramModel,
        ConvolutionModel,
        GRUModel,
        adam_with_linear_decay,
        check_batch,
        check_model,
        evaluation_mode,
        learn,
        one_thread,
    )
    from course_lib.foundation.progress import is_switched_off, progress_bar, shows
    from course_lib.foundation.ranks import process_group, run_ranks
    from course_lib.foundation.round_trips import unknown_id
    from course_lib.foundation.streams import AnyStream, Stream, table_of_windows
    from course_lib.foundation.texts import (
        check_special_tokens,
        column_of_batch,
        iterate_texts,
        training_batches,
    )
    from course_lib.foundation.tokenizing import (
        END_OF_TEXT,
        CharTokenizer,
        changes_to_first_texts,
        document_marks,
        encode_corpus,
        encode_each,
        encode_named,
        look_at_first_texts,
        plain_tokenizer,
    )

LATER = {
    "copies": (
        "candidate_pairs",
        "containment",
        "count_copies",
        "drop_copies",
        "match_probability",
        "minhash",
        "normalized",
        "shingles",
        "similarity",
    ),
    "durable": (
        "TEMPORARY",
        "DurableFile",
        "checksum",
        "read_json",
        "write_durably",
        "write_json",
    ),
    "models": (
        "AttentionModel",
        "BigramModel",
        "ConvolutionModel",
        "GRUModel",
        "adam_with_linear_decay",
        "check_batch",
        "check_model",
        "evaluation_mode",
        "learn",
        "one_thread",
    ),
    "progress": (
        "is_switched_off",
        "progress_bar",
        "shows",
    ),
    "ranks": (
        "process_group",
        "run_ranks",
    ),
    "round_trips": ("unknown_id",),
    "streams": (
        "AnyStream",
        "Stream",
        "table_of_windows",
    ),
    "texts": (
        "check_special_tokens",
        "column_of_batch",
        "iterate_texts",
        "training_batches",
    ),
    "tokenizing": (
        "END_OF_TEXT",
        "CharTokenizer",
        "document_marks",
        "encode_corpus",
        "encode_each",
        "encode_named",
        "plain_tokenizer",
        "changes_to_first_texts",
        "look_at_first_texts",
    ),
}


#: What has moved, and keeps its old name here until 0.2: a reader may have it in a
#: notebook. To where, and what it is called there.
MOVED = {
    "InThisProcess": ("many_machines.executors", "InThisProcess"),
    "RayExecutor": ("many_machines.executors", "RayExecutor"),
    "conditional_entropy": ("next_token_shifting", "conditional_entropy"),
    "count_pairs": ("next_token_shifting", "count_followers"),
    "pages_read": ("token_shards.disk_reading", "pages_read"),
    "process_pool": ("many_machines.executors", "process_pool"),
    "run_in_order": ("many_machines.executors", "run_in_order"),
    "through_a_buffer": ("token_shards.disk_reading", "through_a_buffer"),
}


def __getattr__(name: str) -> object:
    """Import the module that has a name of `LATER`, which may need what isn't there."""
    if name in MOVED:
        module, its_name = MOVED[name]
        return getattr(importlib.import_module(f"course_lib.{module}"), its_name)
    for module, names in LATER.items():
        if name in names:
            found = importlib.import_module(f"course_lib.foundation.{module}")
            value = globals()[name] = getattr(found, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *(name for names in LATER.values() for name in names)]
