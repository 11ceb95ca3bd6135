"""Hostile calls of what workers do: tasks without documents, results that are not there, plans of nothing."""

import atexit
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

from course_lib.foundation import CharTokenizer
from course_lib.many_machines.inputs import plan_tasks
from course_lib.many_machines.shard_tasks import Job, encode_task, plan_shards, write_shard
from course_lib.token_shards.shard_files import ShardSettings

ROOM = tempfile.TemporaryDirectory(prefix="course-hostile-")
atexit.register(ROOM.cleanup)
NUMBERS = itertools.count()
CHARACTERS = CharTokenizer("abc")
FOLDERS = tempfile.mkdtemp(dir=ROOM.name), tempfile.mkdtemp(dir=ROOM.name)
JOB = Job(*FOLDERS, "text", ShardSettings.of(CHARACTERS), CHARACTERS)


def task(data=b'{"text": "ab"}\n{"text": ""}\n'):
    path = Path(ROOM.name) / f"{next(NUMBERS)}.jsonl"
    path.write_bytes(data)
    return plan_tasks([path])[0]


def plan(data=b'{"text": "ab"}'):
    return plan_shards([encode_task(JOB, task(data))], JOB.settings)[0]


def lost(plan):
    return replace(plan, parts=(replace(plan.parts[0], result=replace(plan.parts[0].result, number=98)),))


def elsewhere(**changes):
    folders = {"folder": tempfile.mkdtemp(dir=ROOM.name), "out_dir": tempfile.mkdtemp(dir=ROOM.name)}
    return replace(JOB, **folders | changes)


CALLS = {
    "begin_job(elsewhere(), CHARACTERS, 7)": 7,
    "begin_job(elsewhere(text_column=np.nan), CHARACTERS, 7)": ValueError("content must be what JSON holds"),
    "remove_job(elsewhere())": None,
    "remove_job(elsewhere(folder='/nowhere'))": None,
    "encode_task(JOB, task()).documents": 2,
    "encode_task(JOB, task(b'\\n')).documents": 0,
    "encode_task(JOB, task(b'3'))": ValueError("line 1"),
    "find_result(JOB, Task(99, ()))": None,
    "find_result(JOB, task(b' ' * 40)) if encode_task(JOB, task()) else 0": None,
    "[count_up_to(JOB, encode_task(JOB, task()), limit).documents for limit in (2, 3, 4)]": [0, 1, 2],
    "count_up_to(JOB, replace(encode_task(JOB, task()), number=98), 4)": FileNotFoundError("No such file"),
    "count_up_to(JOB, encode_task(JOB, task()), 2**64).documents": 2,
    "plan_shards([], JOB.settings)": [],
    "plan_shards([encode_task(JOB, task(b'\\n'))], JOB.settings)": [],
    "write_shard(JOB, plan()).shard.tokens": 3,
    "write_shard(JOB, lost(plan()))": FileNotFoundError("No such file"),
    "find_shard(JOB, lost(plan()))": None,
    "find_shard(JOB, write_shard(JOB, made := plan()) and made, verify=True).shard.documents": 1,
    "len(hash_of(()))": 64,
    "hash_of([1]) == hash_of((1,))": False,
    "[path.name for path in task_paths(JOB, 3)]": ["00003.bin", "00003.documents", "00003.json"],
}

TAKES_NO_DATA = dict.fromkeys(
    ("Job", "TaskResult", "Part", "ShardPlan", "ShardResult"), "a record that is filled with what has been checked"
)
