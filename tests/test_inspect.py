"""A packed data set, looked at from the shell."""

import datasets
import pytest

from course_lib.__main__ import main
from course_lib.document_packing import pack_examples
from course_lib.tokenizer_pipeline import build_tokenizer

TEXTS = ["The tide came in.", "It went out again, as it does.", "Nobody saw it."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tokenizer, packs that know where documents start, and the same without, as one of two splits."""
    made = tmp_path_factory.mktemp("inspected")
    tokenizer = build_tokenizer(TEXTS, vocab_size=300, progress=False)
    tokenizer.save(str(made / "tokenizer.json"))
    packed = datasets.Dataset.from_dict(pack_examples({"text": TEXTS}, tokenizer, max_length=40))
    packed.save_to_disk(made / "packed")
    ids_alone = packed.remove_columns("document_starts")
    datasets.DatasetDict({"train": ids_alone, "val": ids_alone}).save_to_disk(made / "splits")
    return made


def inspect(capsys, *arguments) -> tuple[int, str, str]:
    status = main(["inspect", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_counts_of_rows_and_of_all(folder, capsys):
    packed = datasets.load_from_disk(folder / "packed")
    status, table, _ = inspect(capsys, folder / "packed", "--eos-token-id", 0, "--max-length", 40)
    assert status == 0
    last = table.splitlines()[-1].split()
    tokens = sum(map(len, packed["input_ids"]))
    documents = sum(map(len, packed["document_starts"]))
    share = f"{100 * tokens / 40 / len(packed):.1f}"
    assert last == ["all", str(len(packed)), "packs", str(tokens), str(documents), "0", share, "%"]
    assert len(table.splitlines()) == 2 + len(packed) + 1


def test_a_row_as_text(folder, capsys):
    seen = []
    for row in range(len(datasets.load_from_disk(folder / "packed"))):
        status, text, _ = inspect(capsys, folder / "packed", "--row", row, "--tokenizer", folder / "tokenizer.json")
        assert status == 0
        seen += [line for line in text.splitlines() if not line.startswith("--- document")]
    assert sorted(seen) == sorted(f"{text}<|endoftext|>" for text in TEXTS)


def test_without_starts_it_says_what_to_give_and_divides_by_ends(folder, capsys):
    status, _, error = inspect(capsys, folder / "splits", "--split", "val")
    assert status == 1
    assert "has no `document_starts`: give `eos_token_id`" in error
    _, with_starts, _ = inspect(capsys, folder / "packed", "--eos-token-id", 0)
    assert inspect(capsys, folder / "splits", "--split", "val", "--eos-token-id", 0) == (0, with_starts, "")
    text = inspect(capsys, folder / "splits", "--split", "val", "--row", 0, "--tokenizer", folder / "tokenizer.json")
    assert text[1].startswith("--- document 0: places 0 to")
    shown = "--row", 0, "--tokenizer", folder / "tokenizer.json"
    _, with_starts, _ = inspect(capsys, folder / "packed", *shown)
    divided = inspect(capsys, folder / "splits", "--split", "val", *shown, "--eos-token-id", 0)
    assert divided == (0, with_starts, "")
    assert "--- document 1:" in with_starts


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no folder"),
        (["splits"], "--split must be one of 'train', 'val'"),
        (["splits", "--split", "test"], "--split must be one of 'train', 'val'"),
        (["packed", "--row", "0"], "--row and --tokenizer go together"),
        (["packed", "--row", "99", "--tokenizer", "tokenizer.json"], "--row must be"),
        (["packed", "--row", "-1", "--tokenizer", "tokenizer.json"], "--row must be"),
        (["packed", "--max-length", "2"], "must hold 1 to max_length 2 ids"),
        (["packed", "--row", "0", "--tokenizer", "none.json"], "there is no file"),
    ],
)
def test_wrong_usage(folder, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    status, out, error = inspect(capsys, *arguments)
    assert (status, out) == (1, "")
    assert error.startswith("python -m course_lib inspect: ")
    assert words in error
