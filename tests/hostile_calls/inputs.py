"""Hostile calls of input files: what is no list of paths, no file, no kind, and documents where none are."""

import atexit
import itertools
import tempfile
from pathlib import Path

from course_lib.many_machines.inputs import plan_tasks, read_task

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()


def new(data=b"", ending=".jsonl"):
    path = Path(ROOM.name) / f"{next(NUMBERS)}{ending}"
    path.write_bytes(data)
    return path


def read(data, ending=".jsonl", column="text", **options):
    return [text for task in plan_tasks([new(data, ending)], **options) for text in read_task(task, column)]


def first_piece(data=b'{"text": "a"}'):
    return plan_tasks([new(data)])[0].pieces[0]


NOT_A_PATH, EMPTY_FOLDER = Path(ROOM.name) / "nothing.jsonl", Path(tempfile.mkdtemp(dir=ROOM.name))

CALLS = {
    "plan_tasks([])": ValueError("inputs must hold at least one file"),
    "plan_tasks('a.jsonl')": TypeError("inputs must be several paths, got 'a.jsonl' (str)"),
    "plan_tasks(new())": TypeError("inputs must be several paths"),
    "plan_tasks(None)": TypeError("inputs must be several paths, got None"),
    "plan_tasks([3])": TypeError("inputs must be"),
    "plan_tasks([NOT_A_PATH])": FileNotFoundError("no input file at"),
    "plan_tasks([new(ending='.exe')])": ValueError("an input must be one of .jsonl"),
    "plan_tasks([new(ending='')])": ValueError("a name without an ending"),
    "plan_tasks([new()])": [],
    "len(plan_tasks([new(b'x' * 300)], task_bytes=np.uint8(100)))": 3,
    "len(plan_tasks([new(b'x' * 300)], task_bytes=10**30))": 1,
    "list_inputs([EMPTY_FOLDER])": ValueError("no input file in this folder"),
    "list_inputs([])": ValueError("inputs must hold at least one file"),
    "list_inputs(3)": TypeError("inputs must be several paths, got 3 (int)"),
    "list_inputs([b'a.jsonl'])": TypeError("inputs must be"),
    "list_inputs([''])": ValueError("inputs must"),
    "list_inputs([new()], suffixes='.py')": TypeError("suffixes must be several endings"),
    "list_inputs([new()], suffixes=['py'])": ValueError("suffixes must be endings"),
    "[len(part) for part in list_inputs([new(ending='.py')], suffixes=['.PY'])]": [1, 0],
    "list_inputs([new()], suffixes=[''])": ValueError("suffixes must be endings such as '.py', got ['']"),
    "list_inputs([new()], suffixes=[3])": ValueError("suffixes must be endings"),
    "list_inputs([new()], suffixes=None)": TypeError("suffixes must be several endings"),
    "read(b'')": [],
    "read(b'', '.txt')": [""],
    "read(b'\\n \\n\\t\\n')": [],
    'read(b\'{"text": ""}\', task_bytes=1)': [""],
    'read(b\'{"text": "a", "text": "b"}\')': ValueError("line 1: expected a JSON object ('text' occurs 2 times)"),
    "read(b'{\"text\": NaN}')": ValueError("line 1: text must be a str, got float"),
    "read(b'null')": ValueError("line 1: expected a JSON object, got NoneType"),
    "read(b'\\x00')": ValueError("line 1: expected a JSON object"),
    "read(b'{\"text\": \"a\"}', column='body')": ValueError("there is no 'body', only text"),
    "list(read_task(plan_tasks([new(b'3')])[0]))": ValueError("line 1"),
    "list(read_task(Task(0, ())))": [],
    "list(read_piece(first_piece()))": ["a"],
    "Task(0, (first_piece(), first_piece())).num_bytes": 26,
    "Task(3, ()).num_bytes": 0,
}

TAKES_NO_DATA = {"Piece": "a record that plan_tasks fills with what it has checked"}
