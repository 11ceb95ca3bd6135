"""A reader's file is run as it is now, under a name that pickle finds."""

import os
import pickle
import sys

import pytest

from course_lib.auditing_loaders.loader_files import import_file

NAME = "a_file_of_a_reader"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, NAME, None)  # put back afterward
    return tmp_path / f"{NAME}.py"


def test_an_edit_of_the_same_size_in_the_same_second_counts(file, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # as it is for readers
    for number in (1, 2):
        file.write_text(f"NUMBER = {number}\n", encoding="utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert number == import_file(file, NAME).NUMBER


def test_pickle_finds_its_classes_and_an_error_says_its_line(file):
    file.write_text("class Windows:\n    pass\n\n\ndef fail():\n    1 / 0\n", encoding="utf-8")
    module = import_file(file, NAME)
    assert type(pickle.loads(pickle.dumps(module.Windows()))) is module.Windows
    with pytest.raises(ZeroDivisionError) as caught:
        module.fail()
    assert str(caught.traceback[-1].path) == str(file)
    assert caught.traceback[-1].lineno == 5
