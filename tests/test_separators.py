"""What stands before and after documents, in rows, packs and streams that are cut anywhere."""

import re
from functools import cache, partial

import pytest

from course_lib.auditing_loaders import Audit, audit_loader
from planted_loaders import BEGIN, DOCUMENTS, END, FRAMED, OF_DOCUMENTS, framed_by_a_buffer

FEW = {"others": (5, 17)}
WRONG = {  # how a loader frames documents, and what it says of which ones
    "begun twice": ({"before": (BEGIN, BEGIN)}, "1 1: the same separator twice"),
    "ended twice": ({"after": (END, END)}, "2 2: the same separator twice"),
    "some not begun": (FEW | {"unlike": ((), (END,))}, "unlike most"),
    "some not ended": (FEW | {"unlike": ((BEGIN,), ())}, "unlike most"),
    "some begun twice": (FEW | {"unlike": ((BEGIN, BEGIN), (END,))}, "unlike most"),
    "some without the only end": (FEW | {"before": (), "unlike": ((), ())}, "unlike most"),
    "some without the only beginning": (FEW | {"after": (), "unlike": ((), ())}, "unlike most"),
}
RIGHT = {"both": {}, "only a beginning": {"after": ()}, "only an end": {"before": ()}}


@cache
def audit_of(make: str, how: str) -> Audit:
    more = RIGHT[how] if how in RIGHT else WRONG[how][0]
    loader = partial(FRAMED[make], **more)
    return audit_loader(loader, **OF_DOCUMENTS, separator_ids=(BEGIN, END), num_epochs=1)


def said_of_separators(audit: Audit) -> str:
    return " ".join(note for note in audit.notes if re.search(r"documents? (is|are) (preceded|followed)", note))


@pytest.mark.parametrize("how", RIGHT)
@pytest.mark.parametrize("make", FRAMED)
def test_documents_that_are_all_alike_are_facts_and_nothing_else(make, how):
    audit = audit_of(make, how)
    assert not said_of_separators(audit)
    whole = {"chunks", "rows", "packs", "rows_padded_on_the_left", "rows_padded_with_ends"}
    for side in ("before", "after"):
        fact = audit.facts[f"separators_{side}_documents"]
        counts = [each["documents"] for each in fact]
        # a stream has no first or last separator; what its last rows leave out is not seen
        assert len(DOCUMENTS) - 3 * (make not in whole) <= sum(counts) <= len(DOCUMENTS)
        assert counts == sorted(counts, reverse=True)
        assert len(counts) == 1 or make == "packs"  # where documents stand first in a row, or after another one


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("make", FRAMED)
def test_what_comes_twice_or_not_at_all_is_told(make, how):
    said = said_of_separators(audit_of(make, how))
    words = WRONG[how][1]
    if words == "unlike most":
        numbers = set(map(int, re.findall(r"\d+", " ".join(re.findall(r"numbers? (.+?), which", said)))))
        assert words in said
        assert {5, 17} <= numbers
    else:
        twice = words[:3]  # in a stream, with the separator of the neighbor
        assert re.search(rf"by (\d )?{twice}( \d)?: the same separator twice", said)


def test_a_beginning_that_is_lost_where_an_end_fills_a_row_is_told():
    for mends in (True, False):
        audit = audit_loader(partial(framed_by_a_buffer, mends=mends), **OF_DOCUMENTS, separator_ids=(BEGIN, END))
        assert bool(said_of_separators(audit)) != mends
    assert "unlike most, 5 documents are preceded by 2" in said_of_separators(audit)


def test_nothing_is_said_where_there_are_no_separators_or_no_known_documents():
    loader = FRAMED["stream"]
    for more in ({"separator_ids": (BEGIN, END), "num_tokens": 1_000}, OF_DOCUMENTS):
        audit = audit_loader(loader, **more)
        assert "separators_before_documents" not in audit.facts
        assert not said_of_separators(audit)
