"""Shows that long work moves: a bar on a terminal, a line now and then where nobody watches."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Protocol, TextIO

from harness.clock import SYSTEM

PLAIN_INTERVAL_SECONDS = 10.0
PIECE_CHARACTERS_MAX = 48


class Bar(Protocol):
    """**Protocol**: progress that is being shown."""

    def show(self, piece: str) -> None:
        """Name the piece that is being worked on."""
        ...

    def advance(self, piece: str) -> None:
        """Count one piece as done."""
        ...


# The bar on the terminal, if there is one: a terminal has room for one.
_shown: list[Bar] = []


@contextlib.contextmanager
def bar(title: str, total: int | None = None) -> Iterator[Bar]:
    """Show progress until the context ends."""
    # Not sys.stderr: pytest captures that, and a person waiting for a first build must see that it goes on.
    stream = sys.__stderr__
    if stream is None or not stream.isatty():
        yield _PlainLines(title, total)
    elif _shown:
        yield _Inside(_shown[-1], title, total)
    else:
        with _rich_bar(title, total, stream) as shown:
            _shown.append(shown)
            try:
                yield shown
            finally:
                _shown.pop()


def _short(piece: str) -> str:
    """Return the end of a long name, which tells more than its beginning, and show that it is not all."""
    return piece if len(piece) <= PIECE_CHARACTERS_MAX else f"…{piece[1 - PIECE_CHARACTERS_MAX :]}"


def note(text: str) -> None:
    """Say one thing that a waiting person wants to know."""
    if sys.__stderr__ is not None:
        print(text, file=sys.__stderr__, flush=True)


@contextlib.contextmanager
def _rich_bar(title: str, total: int | None, stream: TextIO) -> Iterator[Bar]:
    from rich import progress  # noqa: PLC0415 - slow to import, and only a terminal needs it
    from rich.console import Console  # noqa: PLC0415 - see above

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[piece]}", markup=False),
    )
    with progress.Progress(*columns, console=Console(file=stream), transient=True) as live:
        task = live.add_task(title, total=total, piece="")

        class RichBar:
            def show(self, piece: str) -> None:
                live.update(task, piece=_short(piece))

            def advance(self, piece: str) -> None:
                live.update(task, advance=1, piece=_short(piece))

        yield RichBar()


class _Inside:
    """Work within other work: shown as the piece that the outer bar is busy with."""

    def __init__(self, outer: Bar, title: str, total: int | None) -> None:
        self._outer = outer
        self._title = title
        self._of = f" of {total}" if total else ""
        self._done = 0

    def show(self, piece: str) -> None:
        self._outer.show(f"{self._title}: {self._done}{self._of}")

    def advance(self, piece: str) -> None:
        self._done += 1
        self.show(piece)


class _PlainLines:
    def __init__(self, title: str, total: int | None) -> None:
        self._title = title
        self._of = f" of {total}" if total else ""
        self._done = 0
        self._started = self._last = SYSTEM.now()

    def show(self, piece: str) -> None:
        now = SYSTEM.now()
        if now - self._last >= PLAIN_INTERVAL_SECONDS:
            self._last = now
            piece = _short(piece)
            note(f"{self._title}: {self._done}{self._of} done after {now - self._started:.0f} s ({piece})")

    def advance(self, piece: str) -> None:
        self._done += 1
        self.show(piece)
