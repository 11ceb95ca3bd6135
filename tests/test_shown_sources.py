"""What lessons show is the thing itself: short, and with few guards in front of it."""

from __future__ import annotations

import pytest

from shown_sources import Shown, measured, shown_sources

MOST_LINES = 15  # of code
MOST_GUARDS = 0.05  # of all lines of code that lessons show

#: what is longer, and why it has to be
LONGER = {
    "OneScreen": "a whole on purpose, on one screen, with a comment at each step",
    "pack_on_one_screen": "a whole on purpose, on one screen, with a comment at each step",
    "MiniAudit": "the story of the audit, whole on purpose: each question is a function of its own",
    "STRATEGIES": "what makes a packer fast is the point where it is shown, and in two pieces it was slower",
    "experiments.": "an instrument that only trains and collects: its source is offered folded",
}
LONGEST_RUN = 8  # lines without a comment, in a whole


@pytest.fixture(scope="module")
def shown() -> list[Shown]:
    return list(shown_sources())


def is_longer(one: Shown) -> bool:
    return one.name.startswith(tuple(LONGER)) or one.name == "evaluate"  # which lesson 5 calls an experiment's


def test_of_all_that_lessons_show_few_lines_are_guards(shown):
    assert len(shown) > 40
    guards = sorted(((one.guards, one.name) for one in shown if one.guards), reverse=True)
    assert sum(one.guards for one in shown) <= MOST_GUARDS * sum(one.code for one in shown), guards


def test_each_object_shown_is_short_unless_it_is_a_whole(shown):
    assert not [one for one in shown if one.code > MOST_LINES and not is_longer(one)]


def test_a_whole_has_a_comment_at_each_step(shown):
    wholes = [one for one in shown if "one_screen" in one.name or "OneScreen" in one.name]
    assert len(wholes) >= 4
    assert not [one for one in wholes if one.uncommented > LONGEST_RUN]


# What is measured


PLAIN = '''
def shift(window):
    """Split.

    More.
    """
    # a comment

    return window[:-1], window[1:]
'''

GUARDED = '''
@checked
def cut(ids, starts, length):
    """Cut."""
    ids = as_ids("ids", ids)
    check_range(
        "starts", starts, len(ids)
    )
    longest = max(starts)
    if longest > 9:
        words = "too long"
        raise ValueError(words)
    try:
        found = ids[starts]
    except IndexError:
        raise ValueError from None
    step = check_step(length)
    return found, step
'''


@pytest.mark.parametrize(("source", "code", "guards"), [(PLAIN, 2, 0), (GUARDED, 16, 12)])
def test_lines_and_guards_are_counted(source, code, guards):
    one = measured("00", "it", source)
    assert (one.code, one.guards) == (code, guards)
