"""One position for all that can be resumed: where an iteration begins, how far it is, and who says so."""

import numpy as np
import pytest

from course_lib.foundation import Position, check_state


def reading(position: Position, epoch: int, number: int = 3):
    """An iterator of the numbers of an epoch; the last one leads to the next epoch."""
    begin = position.begin[1]
    after = (epoch + 1, 0)
    items = ((k, (epoch, k + 1) if k + 1 < number else after) for k in range(begin, number))
    return position.follow(items, after)


def test_a_position_follows_what_is_taken_and_goes_on_to_the_next_epoch():
    position = Position((0, 0))
    for number, _ in enumerate(reading(position, 0), start=1):
        assert position.now == ((0, number) if number < 3 else (1, 0))
        assert position.begin == (0, 0)
    assert position.begin == position.now == (1, 0)


def test_an_iteration_that_has_begun_forgets_what_another_has_read():
    position = Position((0, 0))
    next(reading(position, 0))
    assert position.now == (0, 1)
    reading(position, 0)
    assert position.now == (0, 0)


@pytest.mark.parametrize("place", [(5, 2), (0, 0), (1, 0)])
def test_the_end_of_an_iteration_undoes_no_place_that_was_chosen_meanwhile(place):
    position = Position((0, 0))
    iterator = reading(position, 0)
    next(iterator)
    position.go_to(place)  # even to where it began, as a new beginning
    list(iterator)
    assert position.begin == place


def test_two_ends_of_one_epoch_are_one():
    position = Position((0, 0))
    one, other = reading(position, 0), reading(position, 0)
    list(one)
    list(reading(position, 1))
    list(other)
    assert position.begin == (2, 0)


def test_where_nothing_was_left_the_position_is_the_next_epoch():
    position = Position((0, 0))
    assert list(position.follow([], (1, 0))) == []
    assert position.begin == position.now == (1, 0)


def test_an_epoch_before_that_of_a_loaded_state_is_refused_until_another_was_chosen():
    position = Position((0, 0))
    assert position.check_epoch(np.int8(0)) == 0
    position.go_to((3, 1), resumed=True)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^epoch must be at least 3, the epoch of the loaded state, got 2: count"):
            position.check_epoch(2)
    assert position.check_epoch(3) == 3
    assert position.check_epoch(2) == 2
    position.go_to((3, 1), resumed=True)
    list(reading(position, 3))
    assert position.check_epoch(0) == 0  # the epoch was read to its end


@pytest.mark.parametrize("epoch", [2.0, None, "1", -1, 2**63])
def test_an_epoch_is_a_count(epoch):
    with pytest.raises((TypeError, ValueError), match=r"^epoch must be .*0"):
        Position((0, 0)).check_epoch(epoch)


# States.

SETTINGS = {"rank": 0, "base_seed": None}
STATE = {"epoch": 3} | SETTINGS


def test_a_state_of_the_same_settings_is_returned():
    assert check_state(STATE, SETTINGS, ["epoch"], owner="loader") == STATE
    assert check_state({}, {}, [], owner="loader") == {}


@pytest.mark.parametrize("rank", [1, 0.0, None, "0", False, np.int64(0), np.array([0]), float("nan")])
def test_a_setting_that_differs_is_named(rank):
    with pytest.raises(ValueError, match=r"^state was saved with rank=.*, but this loader has rank=0$"):
        check_state(STATE | {"rank": rank}, SETTINGS, ["epoch"], owner="loader")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (STATE | {"more": 1}, "but also has 'more'"),
        (STATE | {7: 1}, "but also has 7"),
        (SETTINGS | {"more": 1}, "but lacks epoch"),
        ({"epoch": 3}, "but lacks base_seed, rank"),
    ],
)
def test_a_state_with_other_entries_is_refused_with_those_that_differ(state, words):
    with pytest.raises(ValueError, match=rf"^state must have the keys of this loader's `state_dict`, {words}$"):
        check_state(state, SETTINGS, ["epoch"], owner="loader")


def test_a_setting_that_differs_may_come_with_advice():
    advice = {"rank": ": ask somebody", "base_seed": "nobody"}
    with pytest.raises(ValueError, match=r"^state was saved with rank=1, but this loader has rank=0: ask somebody$"):
        check_state(STATE | {"rank": 1}, SETTINGS, ["epoch"], owner="loader", advice=advice)


@pytest.mark.parametrize("state", [None, [], "epoch"])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(TypeError, match=r"^state must be a dict that `state_dict` returned, got "):
        check_state(state, SETTINGS, ["epoch"], owner="loader")
