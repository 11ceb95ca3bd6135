"""The gallery of loaders: each does what the lesson says of it, and imports its library when it is called."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.auditing_loaders import audit_loader
from course_lib.auditing_loaders.gallery import DOCUMENT_LENGTHS, GALLERY, T
from course_lib.teaching.lessons import find_lessons

ROOT = Path(__file__).parent.parent
FINDINGS = {
    "memory map and stack": ["lost", "repeated"],
    "windows of a book": ["not_repeatable"],
    "random offsets": [],
    "parallel tracks": [],
    "grouped texts": ["crosses_documents", "lost"],
    "packs, best fit": ["lost"],
    "packs, wrapped": ["crosses_documents", "lost"],
    "cropped to fit": ["crosses_documents", "lost", "same_order", "shared_memory"],
    "two workers": ["repeated"],
    "a shuffle of its own": ["same_order", "ranks_overlap", "ranks_lose"],
    "sampler without epochs": ["same_order"],
    "sampler with epochs": [],
    "split by node": ["ranks_lose", "unequal_steps", "resume_repeats", "resume_loses"],
    "stateful loader": ["resume_reorders"],
    "shuffled nodes": ["not_repeatable", "resume_repeats", "resume_loses"],
    "ours": [],
}


def shown() -> str:
    """What the lesson prints of all of them."""
    (lesson,) = find_lessons(["auditing_loaders"])
    (cell,) = (cell for cell in lesson.notebook.cells if "for name, exhibit in GALLERY.items()" in cell.source)
    return "\n".join(str(output.get("data", output).get("text/plain", "")) for output in cell.outputs)


def test_each_has_a_row_of_the_table():
    assert list(FINDINGS) == list(GALLERY)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # by torchdata
@pytest.mark.parametrize("name", GALLERY)
def test_an_audit_finds_what_the_lesson_tells(name):
    exhibit = GALLERY[name]
    audit = audit_loader(exhibit.make_loader, **exhibit.audit)
    assert list(audit.names) == FINDINGS[name]


def test_the_lesson_prints_the_same():
    printed = re.findall(rf"^ *({'|'.join(map(re.escape, GALLERY))})  .*  (.+?) *$", shown(), flags=re.MULTILINE)
    assert len(printed) >= 10
    for name, findings in printed:
        assert findings == (", ".join(FINDINGS[name]) or "clean"), name


@pytest.mark.slow
def test_no_library_is_imported_before_it_is_asked_for():
    program = "import sys, course_lib.auditing_loaders.gallery; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"transformers", "datasets", "trl", "torchdata"} & set(done.stdout.split())


def test_documents_are_short_and_long():
    lengths, longer = DOCUMENT_LENGTHS, sum(length > T for length in DOCUMENT_LENGTHS)
    assert (len(lengths), sum(lengths), min(lengths), max(lengths)) == (185, 4_070, 4, 40)
    assert longer / len(lengths) == pytest.approx(1 / 5, abs=0.03)
