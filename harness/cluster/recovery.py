"""What providers can do whose clusters leave something behind when their owners are killed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Recovers(Protocol):
    """**Protocol**: a provider whose clusters leave something outside of their folder when their owner is killed."""

    def recover(self, folder: Path, facts: Mapping[str, Any]) -> Sequence[str]:
        """Remove what is left of a cluster whose owner is gone; return what it was, in words.

        Raises:
            HarnessError: that is not possible now; the folder is kept for another time.
        """
        ...


@dataclass(frozen=True)
class Swept:
    """What was removed, and what stays because of a doubt: with its reason, and how to remove it."""

    removed: Sequence[str] = ()
    doubts: Sequence[str] = ()


@runtime_checkable
class Sweeps(Protocol):
    """**Protocol**: a provider that knows what its clusters left although their folders are lost."""

    def sweep(self) -> Swept:
        """Remove what certainly nobody needs any more.

        Raises:
            HarnessError: that is not possible now.
        """
        ...
