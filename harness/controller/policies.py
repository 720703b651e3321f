"""The policies: which of the nodes that a pod fits on it gets. Each is a pure function of what it is given."""

import difflib
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from harness.controller.fit import Pod, Room
from harness.errors import InputError


class Policy(Protocol):
    """**Protocol**: a way to choose."""

    def pick(self, pod: Pod, rooms: Sequence[Room]) -> Room:
        """Return one of the rooms; there is at least one, in no particular order."""
        ...


class Random:
    """A lot for every node, drawn of the seed, the pod's namespace and name, and the node's name; the highest wins.

    So the choice depends on which nodes the pod fits on, and on nothing else: not on the order of pods, not on time.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def pick(self, pod: Pod, rooms: Sequence[Room]) -> Room:
        """Draw."""
        return max(rooms, key=lambda room: (self._lot(pod, room), room.name))

    def _lot(self, pod: Pod, room: Room) -> bytes:
        return hashlib.blake2b(f"{self._seed}\n{pod}\n{room.name}".encode(), digest_size=8).digest()


class LeastLoaded:
    """The node whose pods hold the least of it; the first by name, if several do."""

    def pick(self, pod: Pod, rooms: Sequence[Room]) -> Room:
        """Compare."""
        return min(rooms, key=lambda room: (room.load, room.name))


class PreferLabel:
    """A node with a label, if the pod fits on one; the least loaded of them. KEY alone means the pod's own value."""

    def __init__(self, label: str) -> None:
        self._key, equals, value = label.partition("=")
        self._value = value if equals else None
        if not self._key:
            raise InputError(f"--option label={label}: KEY or KEY=VALUE expected, such as label=disk=ssd")

    def pick(self, pod: Pod, rooms: Sequence[Room]) -> Room:
        """Compare."""
        wanted = pod.labels.get(self._key) if self._value is None else self._value
        return min(
            rooms, key=lambda room: (wanted is None or room.labels.get(self._key) != wanted, room.load, room.name)
        )


POLICIES: Mapping[str, Callable[..., Policy]] = {
    "random": Random,
    "least-loaded": LeastLoaded,
    "prefer-label": PreferLabel,
}


def policy(name: str, seed: int = 0, options: Mapping[str, str] | None = None) -> Policy:
    """Make a policy.

    Raises:
        InputError: there is none of that name, or it has other options.
    """
    make = POLICIES.get(name)
    if make is None:
        near = difflib.get_close_matches(name, POLICIES, n=1)
        meant = f'; "{near[0]}" is near' if near else ""
        raise InputError(f'policy "{name}": unknown{meant}; there are: {", ".join(POLICIES)}')
    known = inspect.signature(make).parameters
    given = dict(options or {})
    takes = sorted(known.keys() - {"seed"})
    if unknown := sorted(given.keys() - set(takes)):
        raise InputError(f"--option {unknown[0]}: policy {name} takes {' and '.join(takes) or 'no options'}")
    if missing := [key for key in takes if key not in given]:
        raise InputError(f"policy {name} needs --option {missing[0]}=KEY=VALUE")
    return make(**given, **({"seed": seed} if "seed" in known else {}))
