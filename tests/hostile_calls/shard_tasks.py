"""Hostile calls of what workers do: tasks without documents, results that are not there, plans of nothing."""

import atexit
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from course_lib.foundation import CharTokenizer
from course_lib.many_machines.file_tasks import encode_task
from course_lib.many_machines.inputs import plan_tasks
from course_lib.token_shards.shard_files import ShardSettings
from course_lib.token_shards.shard_tasks import Job, TaskWriter, plan_shards, write_shard

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


def written(*documents):
    with TaskWriter(JOB, 77) as writer:
        for ids in documents:
            writer.write(bytes(32), np.asarray(ids))
        return writer.commit()


CALLS = {
    "begin_job(elsewhere(), CHARACTERS, 7)": 7,
    "begin_job(elsewhere(text_column=np.nan), CHARACTERS, 7)": ValueError("content must be what JSON holds"),
    "remove_job(elsewhere())": None,
    "remove_job(elsewhere(folder='/nowhere'))": None,
    "find_result(JOB, 99)": None,
    "written([1, 2, 3]).tokens": (3,),
    "written([1] * 9, [1], [2]).tokens": (9, 1, 1),
    "written([1, 2**16])": ValueError("it gave the id 65536"),
    "written([1, -1])": ValueError("it gave the id -1"),
    "written(np.array([], dtype=np.uint8))": ValueError("ids must hold at least one"),
    "written().documents": 0,
    "check_begun(JOB, [], iter('a'))": None,
    "check_begun(JOB, [encode_task(JOB, task())], iter(['ab', '']))": None,
    "check_begun(JOB, [encode_task(JOB, task())], iter(['ab']))": ValueError("somewhere in the first 2"),
    "check_begun(JOB, [encode_task(JOB, task())], iter(['ab', 'c']))": ValueError("documents differ from those"),
    "find_first_results(elsewhere())": [],
    "full_plans([], JOB.settings)": [],
    "full_plans([encode_task(JOB, task())], JOB.settings)": [],  # a shard that may get more
    "finish_job(elsewhere(), [])": ValueError("documents must hold at least one"),
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

TAKES_NO_DATA = {
    **dict.fromkeys(
        ("Job", "TaskResult", "Part", "ShardPlan", "ShardResult"), "a record that is filled with what has been checked"
    ),
    **dict.fromkeys(
        ("TaskWriter", "task_paths", "find_result", "find_first_results", "finish_job"),
        "called with a job, which is made of what has been checked",
    ),
}
