"""How far something has been read, and where the next reader goes on.

Everything in the course that can be resumed counts what it has delivered, and keeps the
count in a `Position`. A *place* is whatever its owner counts, for example the epoch and
how many of its windows were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

from course_lib.foundation.checks import check_integer

Item = TypeVar("Item")
Place = TypeVar("Place")


class Position(Generic[Place]):
    """Where the next iteration begins, and how far the last one has come.

    There may be several iterators at a time. The position is that of the one that last
    began or delivered something.

    Attributes:
        begin: the place where the next iteration begins.
        now: the place behind what was delivered last, or None if nobody can tell.
    """

    def __init__(self, begin: Place):
        self._moves = 0
        self.go_to(begin)

    def go_to(self, place: Place, *, resumed: bool = False) -> None:
        """Let iterations begin at a place, which is that of a loaded state if
        `resumed`."""
        self.begin = self.now = place
        self._moves += 1
        self._resumed = resumed

    def check_epoch(self, epoch: int) -> int:
        """Return the epoch to read next, where a place begins with its epoch.

        One before that of a loaded state is a ValueError, because a loop or a library
        that counts from 0 would begin the whole run again.
        """
        epoch = check_integer("epoch", epoch, minimum=0, maximum=2**62)
        if self._resumed and epoch < self.begin[0]:
            raise ValueError(
                f"epoch must be at least {self.begin[0]}, the epoch of the loaded "
                f"state, got {epoch}: count epochs from there"
            )
        self._resumed = False
        return epoch

    def follow(
        self, items: Iterable[tuple[Item, Place]], after: Place
    ) -> Iterator[Item]:
        """Yield items, and note the place behind each at the moment it is taken.

        When all are taken, the next iteration begins at `after`. It doesn't if somebody
        has gone elsewhere meanwhile: to another epoch, or to a loaded state.
        """
        self.now = self.begin
        return self._follow(items, after, self._moves)

    def _follow(
        self, items: Iterable[tuple[Item, Place]], after: Place, moves: int
    ) -> Iterator[Item]:
        place = after
        for item, place in items:
            self.now = place
            yield item
        if self._moves == moves:
            self.go_to(after)
            self.now = place


def check_state(
    state: object,
    settings: Mapping[str, object],
    position: Iterable[str],
    *,
    owner: str,
    advice: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, object]:
    """Return a saved state if its settings are those of the object that loads it.

    Besides the present `settings`, the state holds the entries of `position`, which the
    caller checks, because only the caller knows how far it can go. Messages call the
    object `owner`, for example "loader", and end with the `advice` on a setting that
    differs, where there is one.
    """
    if not isinstance(state, Mapping):
        got = type(state).__name__
        raise TypeError(f"state must be a dict that `state_dict` returned, got {got}")
    wanted = {*position, *settings}
    for words, keys in (
        ("but lacks", sorted(wanted.difference(state))),
        ("but also has", sorted(map(repr, set(state) - wanted))),
    ):
        if keys:
            raise ValueError(
                f"state must have the keys of this {owner}'s `state_dict`, {words} "
                f"{', '.join(keys)}"
            )
    for name, value in settings.items():
        saved = state[name]
        # Types as well, because 1 == 1.0 == True, and a state is read back as saved.
        if type(saved) is not type(value) or saved != value:
            here = f"this {owner} has {name}={value!r}{advice.get(name, '')}"
            raise ValueError(f"state was saved with {name}={saved!r}, but {here}")
    return state
