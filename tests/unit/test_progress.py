import io
import re
import sys
import threading

import pytest

from harness import progress
from harness.clock import SYSTEM, wait_until
from harness.testing import FakeClock
from tests.processes import PATIENCE_SECONDS


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(type(SYSTEM), "now", lambda _: clock.now())
    return clock


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is shown where nobody watches."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", stream)
    return stream


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "__stderr__", stream)
    return stream


def test_where_nobody_watches_a_line_comes_now_and_then(plain: io.StringIO, clock: FakeClock) -> None:
    with progress.bar("Compiling packages", 3) as bar:
        bar.advance("first")
        clock.pause(progress.PLAIN_INTERVAL_SECONDS)
        bar.advance("second")
        bar.advance("third")
    assert plain.getvalue() == "Compiling packages: 2 of 3 done after 10 s (second)\n"


def test_without_a_total_only_what_is_done_is_told(plain: io.StringIO, clock: FakeClock) -> None:
    with progress.bar("Fetching") as bar:
        clock.pause(60)
        bar.show("module")
    assert plain.getvalue() == "Fetching: 0 done after 60 s (module)\n"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come as soon as they may."""
    monkeypatch.setattr(progress, "PLAIN_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(progress, "BEAT_SECONDS_MIN", 0.01)


def lines(stream: io.StringIO, count: int) -> list[str]:
    """The first lines of it, waited for."""
    wait_until(lambda: stream.getvalue().count("\n") >= count, what=f"{count} lines", timeout_seconds=PATIENCE_SECONDS)
    return stream.getvalue().splitlines()[:count]


@pytest.mark.usefixtures("hurried")
def test_lines_come_also_while_one_piece_takes_long(plain: io.StringIO) -> None:
    with progress.bar("Running scenarios", 2) as bar:
        bar.show("5000 nodes")
        told = lines(plain, 3)
    assert all(re.fullmatch(r"Running scenarios: 0 of 2 done after 0 s \(5000 nodes\)", line) for line in told)
    with progress.bar("Creating kind cluster x"):
        wait_until(lambda: "kind" in plain.getvalue(), what="a line", timeout_seconds=PATIENCE_SECONDS)
    assert "Creating kind cluster x: goes on after 0 s\n" in plain.getvalue()
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


@pytest.mark.usefixtures("hurried")
def test_only_the_innermost_work_says_that_it_goes_on(plain: io.StringIO) -> None:
    with progress.bar("Running", 1), progress.bar("Making nodes", 9):
        told = lines(plain, 3)
    assert {line.partition(":")[0] for line in told[1:]} == {"Making nodes"}


def test_a_terminal_gets_a_bar_that_goes_when_it_is_done(terminal: Terminal) -> None:
    with progress.bar("Running scenarios", 2) as bar:
        bar.show("twenty-pause[lab] default")
        bar.advance("twenty-pause[lab] default")
    assert "Running scenarios" in terminal.getvalue()
    assert "1/2" in terminal.getvalue()


def test_work_inside_other_work_shares_its_bar(terminal: Terminal) -> None:
    with progress.bar("Running", 1), progress.bar("Compiling", 9) as inner:
        inner.advance("k8s.io/api")
    assert "Compiling: 1 of 9" in terminal.getvalue()


def test_no_stream_at_all_is_no_trouble(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    monkeypatch.setattr(sys, "__stderr__", None)
    progress.note("hello")
    with progress.bar("Running", 1) as bar:
        clock.pause(60)
        bar.advance("it")


def test_a_note_is_seen_at_once(plain: io.StringIO) -> None:
    progress.note("building")
    assert plain.getvalue() == "building\n"
