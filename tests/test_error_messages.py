"""The messages on the page of questions are those of the installed libraries: each is made here, word for word."""

import contextlib
import inspect
import io
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import datasets
import numpy as np
import pytest
import tokenizers
import torch
import transformers
from accelerate.logging import MultiProcessAdapter
from torch import distributed, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset, IterableDataset, _utils
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments

from any_tokenizer import library, tiktoken
from course_lib.experiments.scored_tokens import chat_tokenizer, rows_of_trl, tiny_llama
from course_lib.foundation import END_OF_TEXT
from course_lib.foundation.ranks import INTERFACE, LOOPBACK

PAGE = Path(__file__).parents[1] / "notebooks" / "QUESTIONS.md"

CHAT = [{"role": "user", "content": "Is the tide in? Not yet."}, {"role": "assistant", "content": "Not yet."}]
WITHOUT_MARKS = "{%- for m in messages -%}{{ m.content + eos_token }}{%- endfor -%}"
END_OUTSIDE = """{%- for m in messages -%}{%- if m.role == "assistant" -%}
{% generation %}{{ m.content }}{% endgeneration %}{{ eos_token }}
{%- else -%}{{ m.content + eos_token }}{%- endif -%}{%- endfor -%}"""
QUIET = {"report_to": [], "disable_tqdm": True, "save_strategy": "no", "use_cpu": True}
QUIET |= {"max_steps": 1, "logging_steps": 1}


# Tokenizers


def wrapped(**names: object) -> PreTrainedTokenizerFast:
    tokenizer = library()
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def too_long():
    wrapped(model_max_length=4)("low lower lowest newest")


def no_pad_token():
    wrapped()(["low lower", "low"], padding=True)


def rows_of_two_lengths():
    wrapped()(["low lower lowest", "low"], return_tensors="pt")


def no_text():
    wrapped()(["low", None])


def disallowed():
    tiktoken(**{END_OF_TEXT: 256}).encode(f"low{END_OF_TEXT}")


def no_template():
    wrapped().apply_chat_template(CHAT)


# Models


def an_id_too_large():
    nn.Embedding(4, 2)(torch.tensor([4]))


def a_target_too_large():
    cross_entropy(torch.zeros(1, 4), torch.tensor([7]))


def fewer_targets_than_logits():
    cross_entropy(torch.zeros(6, 4), torch.zeros(4, dtype=torch.long))


def vocabulary_last():
    cross_entropy(torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long))


def ids_of_two_bytes():
    nn.Embedding(4, 2)(torch.tensor([1], dtype=torch.uint16))


def targets_of_two_bytes():
    cross_entropy(torch.zeros(1, 4), torch.tensor([1], dtype=torch.uint16))


def backward_twice():
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    loss.backward()


def resized():
    tiny_llama(8).resize_token_embeddings(9)


def longer_than_it_was_trained():
    model = tiny_llama(8)
    model.config.max_position_embeddings = 4
    model.generate(torch.tensor([[2, 3]]), max_new_tokens=5, pad_token_id=1, eos_token_id=None)


def padded_on_the_right():
    ids, mask = torch.tensor([[2, 3], [2, 1]]), torch.tensor([[1, 1], [1, 0]])
    tiny_llama(8).generate(ids, attention_mask=mask, max_new_tokens=1, pad_token_id=1)


def no_mask():
    model = tiny_llama(8)
    model.generation_config.pad_token_id = None
    model.generate(torch.tensor([[2, 3], [2, 1]]), max_new_tokens=1)


# Rows and loaders


def a_row_too_short():
    torch.tensor([[0] * 1024, [0] * 507])


def tensors_of_two_lengths():
    list(DataLoader([torch.zeros(3), torch.zeros(2)], batch_size=2))


def lists_of_two_lengths():
    list(DataLoader(datasets.Dataset.from_dict({"input_ids": [[1, 2], [3]]}), batch_size=2))


def a_collator_without_ids():
    DataCollatorWithPadding(wrapped(pad_token="<pad>"))([{"text": "low"}])


def fewer_rows_than_texts():
    texts = datasets.Dataset.from_dict({"text": ["low"] * 1000})
    texts.map(lambda batch: {"input_ids": [[0]] * 507}, batched=True)


class Stream(IterableDataset):
    """Every worker reads all of it."""

    def __iter__(self) -> Iterator[int]:
        yield from range(4)


class LongStream(Stream):
    def __len__(self) -> int:
        return 4


class Killed(Dataset):
    """A worker that reads it is killed, as by a system that has no memory left."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> None:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def rows(*numbers: int) -> datasets.IterableDataset:
    return datasets.Dataset.from_dict({"number": list(numbers)}).to_iterable_dataset()


def more_workers_than_shards():
    # what a worker finds; a worker of its own would write into another process's log
    _utils.worker._worker_info = _utils.worker.WorkerInfo(id=0, num_workers=2, seed=0, dataset=None)
    try:
        next(iter(rows(1)))
    finally:
        _utils.worker._worker_info = None


def shuffled_stream():
    DataLoader(Stream(), shuffle=True)


def everything_twice():
    loader = DataLoader(LongStream(), num_workers=2)
    assert len(loader) == 4
    assert len(list(loader)) == 8


def no_length():
    len(rows(1))


def resumed_in_a_buffer():
    stream = rows(*range(40)).shuffle(buffer_size=5)
    reader = iter(stream)
    for _ in range(8):
        next(reader)
    stream.load_state_dict(stream.state_dict())
    next(iter(stream))


def a_worker_killed():
    list(DataLoader(Killed(), num_workers=1))


def too_many_workers():
    DataLoader([1], num_workers=1_000)


def pinned_for_no_gpu():
    if torch.accelerator.is_available():
        pytest.skip("this machine has one")
    list(DataLoader([1], pin_memory=True))


def a_script_without_a_guard(folder: Path):
    script = folder / "train.py"
    script.write_text("import multiprocessing as m\nm.get_context('spawn').Process(target=print).start()\n")
    print(subprocess.run([sys.executable, script], stderr=subprocess.PIPE, text=True, check=False).stderr)


def not_writable():
    ids = np.arange(3)
    ids.flags.writeable = False
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # or only the first test to do so would be told
    try:
        torch.from_numpy(ids)
    finally:
        torch.set_warn_always(before)


def too_large_for_two_bytes():
    np.array([70_000], dtype=np.uint16)


def a_file_cut_short(folder: Path):
    (folder / "ids.bin").write_bytes(b"\0\0\0")
    np.memmap(folder / "ids.bin", dtype=np.uint16, mode="r", shape=(8,))


def a_rank_that_does_not_come(monkeypatch):
    if sys.platform in LOOPBACK:
        monkeypatch.setenv(INTERFACE, LOOPBACK[sys.platform])
    store, failures = distributed.HashStore(), []

    def rank(number: int) -> None:
        group = distributed.ProcessGroupGloo(store, number, 2, timedelta(seconds=1))
        if number:
            time.sleep(1.5)
            return
        try:
            group.allreduce([torch.ones(1)]).wait()
        except RuntimeError as error:
            failures.append(error)

    ranks = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for thread in ranks:
        thread.start()
    for thread in ranks:
        thread.join()
    raise failures[0]


# Trainers


def trainer(folder: Path, data: object, **options: object) -> Trainer:
    return Trainer(tiny_llama(8), TrainingArguments(str(folder), **QUIET | options), train_dataset=data)


def a_stream_without_steps(folder: Path):
    trainer(folder, rows(1), max_steps=-1)


def no_labels(folder: Path):
    made = trainer(folder, [{"input_ids": [5, 6]}])
    made.compute_loss(made.model, {"input_ids": torch.tensor([[5, 6]])})


def only_text(folder: Path):
    trainer(folder, datasets.Dataset.from_dict({"text": ["low"]})).get_train_dataloader()


def other_special_tokens():
    transformers.trainer_utils.align_special_tokens(tiny_llama(8), wrapped(eos_token=END_OF_TEXT))


def nothing_scored(folder: Path, **options: object):
    trainer(folder, [{"input_ids": [5, 6], "labels": [-100, -100]}], **options).train()


def chat(template: str = WITHOUT_MARKS) -> PreTrainedTokenizerFast:
    return chat_tokenizer(CHAT, template)


def a_space_at_the_end():
    rows_of_trl([{"prompt": "Is the tide in? ", "completion": "Not yet."}], chat())


def plain_text():
    rows_of_trl([{"text": "Not yet."}], chat(), assistant_only_loss=True)


def no_marks_in_trl():
    rows_of_trl([{"messages": CHAT}], chat(), assistant_only_loss=True)


def no_marks():
    chat().apply_chat_template(CHAT, return_dict=True, return_assistant_tokens_mask=True)


def no_answer():
    rows_of_trl([{"messages": CHAT[:1]}], chat(END_OUTSIDE), assistant_only_loss=True)


def an_end_outside():
    rows_of_trl([{"messages": CHAT}], chat(END_OUTSIDE), assistant_only_loss=True)


# From the page's words to what makes them; "..." stands for what differs from run to run.
MAKERS: dict[str, Callable] = {
    "Token indices sequence length is longer than the specified maximum sequence length": too_long,
    "Asking to pad but the tokenizer does not have a padding token": no_pad_token,
    "Unable to create tensor, you should probably activate truncation and/or padding": rows_of_two_lengths,
    "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]": no_text,
    "Encountered text corresponding to disallowed special token": disallowed,
    "Cannot use chat template functions because tokenizer.chat_template is not set": no_template,
    "index out of range in self": an_id_too_large,
    "Target ... is out of bounds": a_target_too_large,
    "Expected input batch_size (...) to match target batch_size (...)": fewer_targets_than_logits,
    "Expected target size [2, 5], got [2, 3]": vocabulary_last,
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int": ids_of_two_bytes,
    "expected target dtype to be Long or Byte, but got": targets_of_two_bytes,
    "Trying to backward through the graph a second time": backward_twice,
    "The new embeddings will be initialized from a multivariate normal distribution": resized,
    "the current text generation call has exceeded the model's predefined maximum length": longer_than_it_was_trained,
    "A decoder-only architecture is being used, but right-padding was detected": padded_on_the_right,
    "The attention mask and the pad token id were not set": no_mask,
    "expected sequence of length 1024 at dim 1 (got 507)": a_row_too_short,
    "stack expects each tensor to be equal size, but got": tensors_of_two_lengths,
    "each element in list of batch should be of equal size": lists_of_two_lengths,
    "You should supply an encoding or a list of encodings to this method": a_collator_without_ids,
    "Column ... named input_ids expected length 1000 but got length 507": fewer_rows_than_texts,
    "Too many dataloader workers: ... (max is dataset.num_shards=...)": more_workers_than_shards,
    "DataLoader with IterableDataset: expected unspecified shuffle option": shuffled_stream,
    "Length of IterableDataset ... was reported to be ..., but ... samples have been fetched": everything_twice,
    "object of type 'IterableDataset' has no len()": no_length,
    "Loading a state dict of a shuffle buffer of a dataset without the buffer content": resumed_in_a_buffer,
    "DataLoader worker (pid(s) ...) exited unexpectedly": a_worker_killed,
    "This DataLoader will create ... worker processes in total": too_many_workers,
    "An attempt has been made to start a new process before the": a_script_without_a_guard,
    "'pin_memory' argument is set as true but no accelerator is found": pinned_for_no_gpu,
    "The given NumPy array is not writable": not_writable,
    "Python integer ... out of bounds for uint16": too_large_for_two_bytes,
    "mmap length is greater than file size": a_file_cut_short,
    "Timed out waiting ...ms for recv operation to complete": a_rank_that_does_not_come,
    "The train_dataset does not implement __len__, ... max_steps has to be specified": a_stream_without_steps,
    "The model did not return a loss from the inputs, only the following keys: logits": no_labels,
    "No columns in the dataset match the model's forward method signature": only_text,
    "The tokenizer has new PAD/BOS/EOS tokens that differ from the model config": other_special_tokens,
    "'loss': '0', 'grad_norm': '0'": nothing_scored,
    "'loss': 'nan', 'grad_norm': '0'": partial(nothing_scored, logging_nan_inf_filter=False),
    "The tokenized prompt is not a prefix of the tokenized prompt+completion": a_space_at_the_end,
    "You set `assistant_only_loss=True`, but the dataset is not conversational": plain_text,
    "The chat template is not training-compatible": no_marks_in_trl,
    "return_assistant_tokens_mask==True but chat template does not contain `{% generation %}` keyword": no_marks,
    "at least one example has no assistant tokens": no_answer,
    "does not include the assistant turn's end-of-turn token in the loss mask": an_end_outside,
}
# What takes GPUs, or an older version; the page says where its words come from.
QUOTED = {
    "Watchdog caught collective operation timeout: WorkNCCL(...) ran for ... milliseconds before timing out",
    "CUDA error: device-side assert triggered",
    "huggingface/tokenizers: The current process just got forked, after parallelism has already been used",
}


def messages_of(make: Callable) -> str:
    """Everything that a call says, as an error, a warning, in a log or on the screen."""
    for warning_once in (transformers.utils.logging.warning_once, MultiProcessAdapter.warning_once):
        warning_once.cache_clear()  # or only the first test to hear it would be told
    said = io.StringIO()
    heard = logging.StreamHandler(said)
    loggers = [logging.getLogger(name) for name in ("datasets", "transformers", "trl")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(said):
        warnings.simplefilter("always")
        for logger in loggers:
            logger.addHandler(heard)
            logger.setLevel(logging.WARNING)
        try:
            make()
        except Exception as error:
            print(error)
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.removeHandler(heard)
                logger.setLevel(level)
        print(*(one.message for one in warned), sep="\n")
    return said.getvalue()


def on_the_page() -> dict[str, str]:
    """The messages in the page's second table, each with the rest of its row."""
    table = PAGE.read_text(encoding="utf-8").partition("## Error messages")[2]
    return {row[2]: row[3] for row in re.finditer(r"^\| (`+)(.+?)\1 \| (.+)$", table, flags=re.MULTILINE)}


@pytest.mark.parametrize("words", MAKERS)
def test_the_installed_libraries_say_so(words, tmp_path, monkeypatch):
    make = MAKERS[words]
    takes = inspect.signature(make).parameters
    wanted = {name: value for name, value in (("folder", tmp_path), ("monkeypatch", monkeypatch)) if name in takes}
    said = messages_of(partial(make, **wanted))
    assert re.search(re.escape(words).replace(r"\.\.\.", ".*?"), said), said


def test_every_message_on_the_page_is_made_here_or_quoted():
    assert sorted(on_the_page()) == sorted([*MAKERS, *QUOTED])
    assert {words for words, rest in on_the_page().items() if "quoted" in rest} == QUOTED


def test_the_readme_counts_questions_and_messages():
    page, readme = PAGE.read_text(encoding="utf-8"), (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!question|message|-)", page, flags=re.MULTILINE)
    questions, messages = map(
        int, re.search(r"\[more than (\d+)\].+?(\d+) \[error messages\]", readme, re.DOTALL).groups()
    )
    assert messages == len(on_the_page())
    assert questions < len(rows) - messages


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
def test_the_installed_tokenizers_are_forked_in_silence(capfd):
    wrapped(model_max_length=9)(["low"] * 1_000)
    child = multiprocessing.get_context("fork").Process(target=print)
    child.start()
    child.join()
    assert tokenizers.__version__ > "0.21.4"
    assert "forked" not in capfd.readouterr().err
