"""What a worker does with a task: it reads its pieces of files, and encodes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from course_lib.foundation import checked, encode_each
from course_lib.many_machines.inputs import Task, read_piece
from course_lib.token_shards import shard_files
from course_lib.token_shards.shard_tasks import (
    Job,
    TaskResult,
    TaskWriter,
    find_result,
    hash_of,
    load_tokenizer,
)


@checked
def encode_task(job: Job, task: Task) -> TaskResult:
    """Encode the documents of a task into files of its own; see `TaskWriter`."""
    tokenizer = job.tokenizer or load_tokenizer(job.folder, job.settings.tokenizer)
    digests, names = deque(), deque()  # of texts that are read but not yet written

    def texts() -> Iterator[str]:
        for piece in task.pieces:
            for place, text in enumerate(read_piece(piece, job.text_column), start=1):
                digests.append(shard_files.text_digest(text))
                names.append(f"{place} of {piece}")
                yield text

    end, names_in_order = job.settings.end_of_text_id, iter(names.popleft, None)
    with TaskWriter(job, task.number) as writer:
        for ids in encode_each(
            texts(), tokenizer, end_of_text_id=end, names=names_in_order
        ):
            writer.write(digests.popleft(), ids)
        return writer.commit(hash_of(task.pieces))


@checked
def find_task(job: Job, task: Task) -> TaskResult | None:
    """Return the result of a task if it is done and its input has not changed."""
    result = find_result(job, task.number)
    same = result is not None and result.inputs == hash_of(task.pieces)
    return result if same else None
