"""Hostile calls of what workers do with files: tasks without documents, and inputs that have changed."""

from course_lib.many_machines.inputs import Task
from hostile_calls.shard_tasks import JOB, task

CALLS = {
    "encode_task(JOB, task()).documents": 2,
    "encode_task(JOB, task(b'\\n')).documents": 0,
    "encode_task(JOB, task(b'3'))": ValueError("line 1"),
    "find_task(JOB, Task(99, ()))": None,
    "find_task(JOB, task(b' ' * 40)) if encode_task(JOB, task()) else 0": None,
}
