"""Hostile calls of lesson 14: loaders that are none, and arguments that are not what they should be."""

import numpy as np

from course_lib.auditing_loaders import FINDINGS, LoaderError, audit_loader
from planted_loaders import Bytes, pair, plain


def names(make_loader=plain, num_tokens=200, **settings):
    return audit_loader(make_loader, num_tokens=num_tokens, **settings).names


def of_documents(*lengths):
    return audit_loader(plain, document_lengths=lengths[0] if len(lengths) == 1 else lengths).names


def one_batch(ids):
    return [pair(ids, [0, 16])]


STEPS = "RankReading read_rank find_shared_memory resume resume_elsewhere choose_num_tokens judge"
TAKES_NO_DATA = dict.fromkeys(STEPS.split(), "a step of audit_loader, which checks what it takes")
CALLS = {
    "names()": (),
    "names(num_tokens=np.int16(200), num_epochs=np.uint8(2), world_size=np.int64(1))": (),
    "names(num_tokens=17)": (),
    "names(num_tokens=16)": ValueError("make_loader(ids) must yield batches, got none"),
    "names(num_tokens=1)": ValueError("num_tokens must be"),
    "names(num_tokens=0)": ValueError("num_tokens must be"),
    "names(num_tokens=2**62)": ValueError("num_tokens must be"),
    "names(num_epochs=1)": (),
    "names(world_size=2)": ("ranks_overlap",),
    "names(vocab_size=256)": (),
    "names(vocab_size=0)": ValueError("vocab_size must be"),
    "names(vocab_size=1)": ValueError("vocab_size must be"),
    "names(vocab_size=-5)": ValueError("vocab_size must be"),
    "names(max_batches=10**9)": (),
    "names(resume_after=0)": (),
    "names(resume_world_size=0)": ValueError("resume_world_size must be"),
    "names(resume_world_size=2, max_batches=3)": ValueError("need an epoch that ends"),
    "names(resume_world_size=2)": TypeError("must have state_dict and load_state_dict, but make_loader(ids) returned"),
    "names(resume_in=5)": TypeError("resume_in must be"),
    "names(separator_ids=[2])": (),
    "names(separator_ids=np.array([2, 3], dtype=np.uint8))": (),
    "names(separator_ids=2)": (),
    "names(tokenizer=5)": TypeError("tokenizer must"),
    "names(tokenizer=Bytes)": TypeError("tokenizer must"),
    "names(range)": LoaderError("make_loader(ids) raised TypeError: only integer"),
    "names(lambda: [])": LoaderError("make_loader(ids) raised TypeError: <lambda>() takes 0"),
    "names(lambda ids, other: [])": LoaderError("missing 1 required positional argument: 'other'"),
    "names(lambda ids: 5)": TypeError("make_loader(ids) must return an iterable of batches, got int"),
    "names(lambda ids: None)": TypeError("must return an iterable of batches, got NoneType"),
    "names(lambda ids: [])": ValueError("make_loader(ids) must yield batches, got none"),
    "names(lambda ids: ids)": TypeError("batch 0 of make_loader(ids) must be a pair (inputs, targets), or a mapping"),
    "names(lambda ids: [ids])": TypeError("got ndarray of int64, shape (200,)"),
    "names(lambda ids: {'input_ids': ids[None]})": TypeError("attention_mask and position_ids, got str"),
    "names(one_batch, 33)": (),
    "of_documents(200)": ValueError("document_lengths must be"),
    "of_documents([200])": (),
    "of_documents(np.array([200]))": (),
    "of_documents([])": ValueError("document_lengths must"),
    "of_documents(100, 0)": ValueError("document_lengths"),
    "of_documents(100, -1)": ValueError("document_lengths"),
    "of_documents(100, 1.5)": TypeError("document_lengths"),
    "of_documents(100, '5')": TypeError("document_lengths"),
    "of_documents(100, 100)": ("crosses_documents",),
    "len(FINDINGS)": 16,
    "Finding('lost', 3, 'ids 4 ... 6').count": 3,
    "Finding('lost', 3)": TypeError("evidence"),
    "Audit()": TypeError("missing"),
    "Audit(5)": TypeError("missing"),
    "issubclass(LoaderError, RuntimeError)": True,
    "str(LoaderError('words'))": "words",
}
