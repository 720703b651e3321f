"""Shows that long work moves: a bar on a terminal, a line now and then where nobody watches."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Protocol, TextIO

from harness.clock import SYSTEM

PLAIN_INTERVAL_SECONDS = 10.0
# So that what is late is not asked for over and over.
BEAT_SECONDS_MIN = 0.1
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
# Work that is told in lines, that within other work last: only the last says by itself that it goes on.
_told: list["_PlainLines"] = []


@contextlib.contextmanager
def bar(title: str, total: int | None = None) -> Iterator[Bar]:
    """Show progress until the context ends."""
    # Not sys.stderr: pytest captures that, and a person waiting for a first build must see that it goes on.
    stream = sys.__stderr__
    if stream is None or not stream.isatty():
        with _plain_lines(title, total) as lines:
            yield lines
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


@contextlib.contextmanager
def _plain_lines(title: str, total: int | None) -> Iterator[Bar]:
    lines, ended = _PlainLines(title, total), threading.Event()
    # CI ends jobs that say nothing, and some pieces take minutes.
    beating = threading.Thread(target=lines.beat, args=(ended,), name="progress", daemon=True)
    _told.append(lines)
    beating.start()
    try:
        yield lines
    finally:
        ended.set()
        beating.join()
        _told.remove(lines)


class _PlainLines:
    def __init__(self, title: str, total: int | None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._piece = ""
        self._started = self._last = SYSTEM.now()
        self._one_at_a_time = threading.Lock()

    def show(self, piece: str) -> None:
        self._piece = piece
        self._tell()

    def advance(self, piece: str) -> None:
        self._done += 1
        self.show(piece)

    def beat(self, ended: threading.Event) -> None:
        """Say now and then that it goes on, also while nothing is shown."""
        while not ended.wait(max(self._last + PLAIN_INTERVAL_SECONDS - SYSTEM.now(), BEAT_SECONDS_MIN)):
            if _told[-1] is self:
                self._tell()

    def _tell(self) -> None:
        with self._one_at_a_time:
            now = SYSTEM.now()
            if now - self._last >= PLAIN_INTERVAL_SECONDS:
                self._last = now
                note(f"{self._title}: {self._state()} after {now - self._started:.0f} s{self._busy_with()}")

    def _state(self) -> str:
        if self._total:
            return f"{self._done} of {self._total} done"
        return f"{self._done} done" if self._done or self._piece else "goes on"

    def _busy_with(self) -> str:
        return f" ({_short(self._piece)})" if self._piece else ""
