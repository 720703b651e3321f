import functools

import pytest

from harness.clock import SYSTEM, WaitTimeoutError, wait_until
from harness.testing import FakeClock


def test_system_time_only_grows_and_pauses_last() -> None:
    before = SYSTEM.now()
    SYSTEM.pause(0.01)
    assert SYSTEM.now() - before >= 0.01


def test_wait_returns_what_the_check_found_without_pausing() -> None:
    clock = FakeClock()
    assert wait_until(lambda: "found", what="it", timeout_seconds=5, clock=clock) == "found"
    assert clock.now() == 0


def test_wait_goes_on_while_the_check_finds_nothing() -> None:
    clock = FakeClock()
    answers: list[object] = [None, False, "", 0, ["at last"]]
    assert wait_until(functools.partial(answers.pop, 0), what="it", timeout_seconds=5, poll_seconds=1, clock=clock) == [
        "at last"
    ]
    assert clock.now() == 4


def test_wait_ends_at_its_deadline_and_says_what_it_waited_for() -> None:
    clock = FakeClock()
    with pytest.raises(WaitTimeoutError, match=r"the door opening did not happen within 3\.0 s") as caught:
        wait_until(lambda: None, what="the door opening", timeout_seconds=3, poll_seconds=0.5, clock=clock)
    assert caught.value.what == "the door opening"
    assert caught.value.waited_seconds == clock.now() == 3


def test_the_check_is_asked_once_more_at_the_deadline() -> None:
    clock = FakeClock()
    asked: list[float] = []
    with pytest.raises(WaitTimeoutError):
        wait_until(lambda: asked.append(clock.now()), what="it", timeout_seconds=2, poll_seconds=1, clock=clock)
    assert asked == [0, 1, 2]


def test_an_error_of_the_check_ends_the_wait() -> None:
    clock = FakeClock()

    def check() -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        wait_until(check, what="it", timeout_seconds=2, clock=clock)
    assert clock.now() == 0


def test_what_is_planned_happens_when_a_pause_reaches_it() -> None:
    clock = FakeClock(start=10)
    seen: list[tuple[str, float]] = []
    clock.at(12, lambda: seen.append(("late", clock.now())))
    clock.at(11, lambda: seen.append(("early", clock.now())))
    clock.pause(0.5)
    assert seen == []
    clock.pause(5)
    assert seen == [("early", 11), ("late", 12)]
    assert clock.now() == 15.5


def test_what_is_planned_can_end_a_wait() -> None:
    clock = FakeClock()
    door: list[str] = []
    clock.at(3, lambda: door.append("open"))
    assert wait_until(lambda: door, what="it", timeout_seconds=9, poll_seconds=1, clock=clock) == ["open"]
    assert clock.now() == 3
