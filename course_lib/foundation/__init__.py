"""What the lessons are built on: checks, bars, texts, ids, orders, ledger, models.

What needs no more than NumPy is imported here, and the rest when it is asked for: the
auditor runs where nothing else of the course is installed.
"""

import importlib
from typing import TYPE_CHECKING

from course_lib.foundation.arguments import (
    AtLeast,
    Count,
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
    check_range,
    check_type,
)
from course_lib.foundation.corpora import (
    Document,
    load_documents,
    load_sources,
    load_text,
    load_translations,
)
from course_lib.foundation.dtypes import smallest_dtype
from course_lib.foundation.executors import (
    InThisProcess,
    RayExecutor,
    process_pool,
    run_in_order,
)
from course_lib.foundation.intervals import (
    Interval,
    confidence_interval,
)
from course_lib.foundation.ledger import TokenLedger, token_ledger
from course_lib.foundation.orders import (
    AffineOrder,
    BlockOrder,
    FileOrder,
    measure_mixing,
    pages_read,
    through_a_buffer,
)
from course_lib.foundation.packs import (
    Pack,
    check_pad_token,
    packing_report,
)
from course_lib.foundation.positions import Position, check_state
from course_lib.foundation.shuffling import RandomOrder
from course_lib.foundation.visible import plain, signs, spelled

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
    from course_lib.foundation.durable import write_durably
    from course_lib.foundation.models import (
        AttentionModel,
        BigramModel,
        ConvolutionModel,
        GRUModel,
        adam_with_linear_decay,
        check_model,
        conditional_entropy,
        count_pairs,
        evaluation_mode,
        learn,
        one_thread,
    )
    from course_lib.foundation.progress import progress_bar, shows
    from course_lib.foundation.ranks import process_group, run_ranks
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
    "durable": ("write_durably",),
    "models": (
        "AttentionModel",
        "BigramModel",
        "ConvolutionModel",
        "GRUModel",
        "adam_with_linear_decay",
        "check_model",
        "conditional_entropy",
        "count_pairs",
        "evaluation_mode",
        "learn",
        "one_thread",
    ),
    "progress": (
        "progress_bar",
        "shows",
    ),
    "ranks": (
        "process_group",
        "run_ranks",
    ),
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
        "look_at_first_texts",
    ),
}


def __getattr__(name: str) -> object:
    """Import the module that has a name of `LATER`, which may need what isn't there."""
    for module, names in LATER.items():
        if name in names:
            found = importlib.import_module(f"course_lib.foundation.{module}")
            value = globals()[name] = getattr(found, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *(name for names in LATER.values() for name in names)]
