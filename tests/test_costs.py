"""The loader whose mistakes lesson 14 measures: right, or wrong in the number of tokens that targets are ahead."""

from functools import partial

import numpy as np
import pytest
import torch

from course_lib.auditing_loaders import audit_loader
from course_lib.auditing_loaders.costs import pairs_ahead


@pytest.mark.parametrize(("ahead", "names"), [(0, ("wrong_shift",)), (1, ()), (2, ("wrong_shift",))])
def test_the_audit_says_what_is_wrong_with_it(ahead, names):
    audit = audit_loader(partial(pairs_ahead, ahead=ahead))
    assert audit.names == names
    assert not audit.undecided


def test_all_ways_read_the_same_windows_and_targets_are_as_far_ahead_as_asked():
    ids = np.arange(70_000, 70_300).astype(np.uint32)
    ways = [list(pairs_ahead(ids, 3, ahead=ahead, context_length=8, batch_size=4)) for ahead in (0, 1, 2)]
    for batches in zip(*ways, strict=True):
        for ahead, (inputs, targets) in enumerate(batches):
            assert inputs.dtype == targets.dtype == torch.int64
            assert torch.equal(inputs, batches[0][0])
            assert torch.equal(targets, inputs + ahead)


def test_epochs_differ_and_a_stream_that_is_too_short_has_no_batch():
    ids = range(300)
    first, again, second = (torch.cat([x for x, _ in pairs_ahead(ids, e, context_length=8)]) for e in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    for short in ([], [1], range(33)):
        assert not list(pairs_ahead(short))
    assert len(list(pairs_ahead(range(34), batch_size=1))) == 1


@pytest.mark.parametrize("wrong", [{"ahead": 3}, {"ahead": -1}, {"context_length": 0}, {"batch_size": 1.5}])
def test_what_it_cannot_be(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        list(pairs_ahead(range(99), **wrong))
