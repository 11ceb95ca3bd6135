"""What a worker does with a task: it reads its pieces of files, and encodes them."""

from __future__ import annotations

from course_lib.foundation import encode_named
from course_lib.many_machines.inputs import Task, read_task
from course_lib.token_shards.shard_tasks import (
    Job,
    TaskResult,
    TaskWriter,
    find_result,
    hash_of,
    load_tokenizer,
)


def encode_task(job: Job, task: Task) -> TaskResult:
    """Encode the documents of a task into files of its own, unless that was done before
    and the files that it reads have not changed since; see `TaskWriter`."""
    inputs = hash_of(task.pieces)
    if found := find_result(job, task.number, inputs):
        return found
    tokenizer = job.tokenizer or load_tokenizer(job.folder, job.settings.tokenizer)
    texts = read_task(task, job.text_column)
    end = job.settings.end_of_text_id
    with TaskWriter(job, task.number) as writer:
        for text, ids in encode_named(texts, tokenizer, end_of_text_id=end):
            writer.write(text, ids)
        return writer.commit(inputs)
