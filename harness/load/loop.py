"""What the generator needs of an event loop: gevent's, which only the locust file imports."""

from collections.abc import Callable
from typing import Any, Protocol

READ, WRITE = 1, 2


class Watcher(Protocol):
    """**Protocol**: something of an event loop that calls back."""

    def start(self, callback: Callable[..., Any], *args: Any) -> None:
        """Begin to call."""
        ...

    def stop(self) -> None:
        """Stop calling."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


class Loop(Protocol):
    """**Protocol**: what is needed of gevent's event loop, which this module must not import."""

    def io(self, fd: int, events: int) -> Watcher:
        """Return a watcher of a file descriptor."""
        ...

    def timer(self, after: float, repeat: float = 0.0) -> Watcher:
        """Return a watcher of time."""
        ...
