"""Files cut anywhere are read once and in order, and what is wrong in them is named with its place."""

from __future__ import annotations

import gzip
import json
import os
from itertools import chain

import datasets
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from course_lib.many_machines.inputs import list_inputs, plan_tasks, read_task

TEXTS = ["", "one", "two\nlines", "Žluťoučký kůň\u2028馬", "x" * 300, "\ufeff", "end"]


def read(inputs, **options) -> list[str]:
    return list(chain.from_iterable(map(read_task, plan_tasks(inputs, **options))))


def lines_of(texts, *, end: str = "\n", ascii_only: bool = False) -> str:
    return end.join(json.dumps({"id": 1, "text": text}, ensure_ascii=ascii_only) for text in texts)


@settings(max_examples=40)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12),
    task_bytes=st.integers(1, 200),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    mark=st.booleans(),
    last=st.booleans(),
)
def test_lines_cut_at_any_byte_are_read_once_and_in_order(tmp_path_factory, texts, task_bytes, end, mark, last):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    content = "\ufeff" * mark + lines_of(texts, end=end) + end * last
    path.write_bytes(content.encode())
    assert read([path], task_bytes=task_bytes) == texts


def test_all_kinds_give_the_same_documents(tmp_path):
    (tmp_path / "a.jsonl").write_text(lines_of(TEXTS), encoding="utf-8")
    (tmp_path / "b.json").write_text(lines_of(TEXTS, ascii_only=True), encoding="ascii")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines_of(TEXTS))
    with pa.CompressedOutputStream(str(tmp_path / "c.jsonl.zst"), "zstd") as file:
        file.write(lines_of(TEXTS).encode())
    rows = datasets.Dataset.from_dict({"id": range(len(TEXTS)), "text": TEXTS})
    rows.to_parquet(tmp_path / "d.parquet", batch_size=2)
    rows.save_to_disk(tmp_path / "e")
    table = pa.table({"text": pa.array(TEXTS, pa.large_string())})
    with pa.OSFile(str(tmp_path / "f.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    for name in ("a.jsonl", "b.json", "c.jsonl.gz", "c.jsonl.zst", "d.parquet", "e", "f.arrow"):
        for task_bytes in (1, 100, 10**6):
            assert read([tmp_path / name], task_bytes=task_bytes) == TEXTS, name


def test_a_text_file_is_one_document(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffä\r\nb\rc\n".encode())
    (tmp_path / "b.md").write_bytes(b"")
    (tmp_path / "c.PY").write_text("code")
    assert read([tmp_path]) == ["ä\nb\nc\n", ""]
    assert read([tmp_path], suffixes=[".py"]) == ["ä\nb\nc\n", "", "code"]


def test_inputs_are_read_in_the_order_given_and_folders_by_name(tmp_path):
    for name in ("b/2.txt", "b/1.txt", "a.txt", "b/.hidden.txt", "b/cache-1.arrow", "b/picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert read([tmp_path / "b", tmp_path / "a.txt"]) == ["b/1.txt", "b/2.txt", "a.txt"]


def test_no_file_is_read_twice_and_links_are_followed(tmp_path):
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for path in (folder / "a.txt", elsewhere / "b.txt"):
        path.parent.mkdir()
        path.write_text(path.name)
    try:
        (folder / "linked").symlink_to(elsewhere)
        (folder / "same.txt").symlink_to(folder / "a.txt")
        (elsewhere / "round").symlink_to(folder)
    except OSError:
        pytest.skip("this system lets nobody make links")
    assert read([folder, folder / "a.txt", tmp_path]) == ["a.txt", "b.txt"]
    files, left_out = list_inputs([folder])
    assert [path.name for path in files] == ["a.txt", "b.txt"]
    assert left_out == {folder / "same.txt": "was met before"}


def test_a_folder_that_links_lead_to_is_read_where_its_first_name_stands(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "1.txt").write_text("1")
    for name in ("l", "n", "m/round"):
        try:
            (tmp_path / name).symlink_to(tmp_path / "m")
        except OSError:
            pytest.skip("this system lets nobody make links")
    (tmp_path / "l.txt").write_text("2")
    assert list_inputs([tmp_path]) == ([tmp_path / "l" / "1.txt", tmp_path / "l.txt"], {})


def test_a_folder_that_cannot_be_read_is_not_left_out_in_silence(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refusing(folder):
        if os.path.basename(folder) == "closed":
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refusing)
        with pytest.raises(PermissionError, match="closed"):
            plan_tasks([tmp_path])


@pytest.mark.parametrize("name", ["README.md", "LICENSE.txt", "readme.TXT", "CHANGELOG.md", "dataset_info.json"])
def test_what_describes_the_documents_of_a_folder_is_none_of_them(tmp_path, name):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / name).write_text("{}")
    assert read([tmp_path]) == ["a"]
    assert list(list_inputs([tmp_path])[1]) == [tmp_path / name]
    if not name.endswith("json"):
        assert read([tmp_path / name]) == ["{}"]  # who names it wants it


def test_the_parts_of_a_table_are_together_as_large_as_its_file(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": TEXTS}), path, row_group_size=2)
    tasks = plan_tasks([path], task_bytes=1)
    assert [task.num_bytes > 0 for task in tasks] == [True] * 4
    assert sum(task.num_bytes for task in tasks) == path.stat().st_size
    assert list(chain.from_iterable(map(read_task, tasks))) == TEXTS


@pytest.mark.parametrize("kind", ["jsonl", "txt", "jsonl.gz", "parquet"])
def test_a_file_that_changes_after_the_plan_or_while_it_is_read_is_refused(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        datasets.Dataset.from_dict({"text": ["a", "b"]}).to_parquet(path)
    else:
        data = lines_of(["a", "b"]).encode()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    (task,) = plan_tasks([path])
    status = path.stat()
    documents = read_task(task)
    next(documents)
    with path.open("r+b") as file:  # the same size, and the old time: what the system saw tells
        file.write(path.read_bytes()[:1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ValueError, match="was changed"):
        list(documents)
    with pytest.raises(ValueError, match="was changed"):
        list(read_task(task))


def test_small_files_share_a_task_and_large_ones_are_cut(tmp_path):
    for number, size in enumerate((30, 30, 50, 250)):
        (tmp_path / f"{number}.jsonl").write_bytes(b" " * size)
    tasks = plan_tasks([tmp_path], task_bytes=100)
    cut = [[(piece.path[-7], piece.start, piece.stop) for piece in task.pieces] for task in tasks]
    assert cut == [[("0", 0, 30), ("1", 0, 30), ("2", 0, 50)], [("3", 0, 100)], [("3", 100, 200)], [("3", 200, 250)]]
    assert [task.number for task in tasks] == [0, 1, 2, 3]
    assert [task.num_bytes for task in tasks] == [110, 100, 100, 50]
    assert plan_tasks([tmp_path], task_bytes=100) == tasks


@pytest.mark.parametrize("task_bytes", [1, 40, 10**6])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "line 4: expected a JSON object"),
        (b"3", "line 4: expected a JSON object, got int"),
        (b'{"id": 1}', "line 4: there is no 'text', only id"),
        (b"{}", "line 4: there is no 'text', only an empty object"),
        (b'{"text": 3}', "line 4: text must be a str, got int"),
        (b'{"text": "\xff"}', "line 4: expected UTF-8"),
        (b'{"text": "\\ud800"}', "line 4: text must be Unicode"),
        (b"[" * 5_000, "line 4: "),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, words, task_bytes):
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(b'{"text": "a"}\n\n{"text": "b"}\n' + line + b'\n{"text": "c"}\n')
    with pytest.raises(ValueError, match=words) as raised:
        read([path], task_bytes=task_bytes)
    assert str(path) in str(raised.value)


def test_a_wrong_row_is_named(tmp_path):
    rows = datasets.Dataset.from_dict({"text": ["a"] * 10 + [None]})
    rows.to_parquet(tmp_path / "holes.parquet", batch_size=4)
    rows.save_to_disk(tmp_path / "holes")
    for name in ("holes.parquet", "holes"):
        with pytest.raises(ValueError, match=r"row 11: text must be a str, got NoneType"):
            read([tmp_path / name])
    with pytest.raises(ValueError, match=r"holes\.parquet: no column 'body', only text"):
        list(read_task(plan_tasks([tmp_path / "holes.parquet"])[0], "body"))


def test_damaged_files_are_named(tmp_path):
    for name in ("a.parquet", "a.arrow"):
        (tmp_path / name).write_bytes(b"no such format")
        with pytest.raises(ValueError, match=rf"{name}: not "):
            plan_tasks([tmp_path / name])
    (tmp_path / "a.txt").write_bytes(b"one\ntw\xf6\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 2: expected UTF-8, got the byte 0xf6"):
        read([tmp_path / "a.txt"])
    packed = gzip.compress(lines_of(["a"] * 1000).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[:-20])
    flipped = bytearray(packed)
    flipped[10] = 0xFF  # the first byte behind the header: no such kind of block
    (tmp_path / "b.jsonl.gz").write_bytes(flipped)
    (tmp_path / "c.jsonl.zst").write_bytes(b"no such format")
    datasets.Dataset.from_dict({"text": ["abc" * 1000]}).to_parquet(tmp_path / "d.parquet")
    column = bytearray((tmp_path / "d.parquet").read_bytes())
    column[40:80] = bytes(40)
    (tmp_path / "d.parquet").write_bytes(column)
    buffers = pa.array([b"a\xff"], pa.binary()).buffers()
    parquet.write_table(pa.table({"text": pa.Array.from_buffers(pa.string(), 1, buffers)}), tmp_path / "e.parquet")
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl.zst", "d.parquet", "e.parquet"):
        with pytest.raises(ValueError, match=rf"{name}: cannot be read"):
            read([tmp_path / name])


def test_what_is_no_input(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no input file in this folder"):
        list_inputs([tmp_path / "empty"])
    (tmp_path / "a.pdf").touch()
    with pytest.raises(ValueError, match=r"must be one of .*got \.pdf"):
        list_inputs([tmp_path / "a.pdf"])
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(ValueError, match="empty: no input file in this folder"):
        list_inputs([tmp_path / "a.jsonl", tmp_path / "a.jsonl", tmp_path / "empty"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.JSONL", "lines"),
        ("a.b.txt", "text"),
        ("a.txt.jsonl.gz", "gzip lines"),
        (".json.zst", "zstd lines"),
        (".gz", None),
        ("a.txt.gz", None),
        ("a.jsonl.bak", None),
        ("jsonl", None),
        ("folder.txt/a", None),
        ("folder.jsonl/.gz", None),
        ("a.d.ts", "text"),
        ("a.ts", None),
    ],
)
def test_the_ending_of_a_name_tells_how_a_file_is_read(tmp_path, name, kind):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("a")
    if kind is None:
        with pytest.raises(ValueError, match="an input must be one of"):
            plan_tasks([path], suffixes=[".d.ts"])
    else:
        assert plan_tasks([path], suffixes=[".d.ts"])[0].pieces[0].kind == kind
