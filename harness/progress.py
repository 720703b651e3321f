"""Shows that long work moves: a bar on a terminal, a line now and then where nobody watches."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from harness.clock import SYSTEM

PLAIN_INTERVAL_SECONDS = 10.0

Advance = Callable[[str], None]


@contextlib.contextmanager
def bar(title: str, total: int | None = None) -> Iterator[Advance]:
    """Show progress until the context ends; call what it yields once per finished piece, with a word about it."""
    # Not sys.stderr: pytest captures that, and a person waiting for a first build must see that it goes on.
    stream = sys.__stderr__
    if stream is None:
        yield lambda _: None
    elif stream.isatty():
        with _rich_bar(title, total) as advance:
            yield advance
    else:
        with _plain_lines(title, total) as advance:
            yield advance


def note(text: str) -> None:
    """Say one thing that a waiting person wants to know."""
    if sys.__stderr__ is not None:
        print(text, file=sys.__stderr__, flush=True)


@contextlib.contextmanager
def _rich_bar(title: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console  # noqa: PLC0415 - slow to import, and only a terminal needs it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[piece]}"),
    )
    with Progress(*columns, console=Console(file=sys.__stderr__), transient=True) as progress:
        task = progress.add_task(title, total=total, piece="")
        yield lambda piece: progress.update(task, advance=1, piece=piece[-48:])


@contextlib.contextmanager
def _plain_lines(title: str, total: int | None) -> Iterator[Advance]:
    started = last = SYSTEM.now()
    done = 0

    def advance(piece: str) -> None:
        nonlocal done, last
        done += 1
        now = SYSTEM.now()
        if now - last >= PLAIN_INTERVAL_SECONDS:
            last = now
            of = f" of {total}" if total else ""
            note(f"{title}: {done}{of} after {now - started:.0f} s ({piece[-60:]})")

    yield advance
