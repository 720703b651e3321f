"""The only place that reads a clock or waits, so that every wait has a deadline and tests can bring their own time."""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import tenacity

Value = TypeVar("Value")


class Clock(Protocol):
    """**Protocol**: where time comes from."""

    def now(self) -> float:
        """Return seconds that only ever grow."""
        ...

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> float:
        """Return the monotonic clock's seconds."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


SYSTEM = SystemClock()


def unix_ns() -> int:
    """Return the time of day in nanoseconds, for what other processes stamped with it; never for measuring."""
    return time.time_ns()


class WaitTimeoutError(Exception):
    """A wait ended without the awaited thing; callers turn it into an error of their own stage."""

    def __init__(self, what: str, waited_seconds: float) -> None:
        self.what = what
        self.waited_seconds = waited_seconds
        super().__init__(f"{what} did not happen within {waited_seconds:.1f} s")


def wait_until(
    check: Callable[[], Value | None],
    *,
    what: str,
    timeout_seconds: float,
    poll_seconds: float = 0.02,
    clock: Clock = SYSTEM,
) -> Value:
    """Call `check` until it returns something truthy, and return that.

    Only for things that offer no event to wait for: a process's health page, a file of another process.

    Raises:
        WaitTimeoutError: the deadline passed; `check` was called once more just before.
    """
    start = clock.now()

    def expired(_: tenacity.RetryCallState) -> bool:
        return clock.now() - start >= timeout_seconds

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda value: not value),
        stop=expired,
        wait=tenacity.wait_fixed(poll_seconds),
        sleep=clock.pause,
    )
    try:
        value = retrying(check)
    except tenacity.RetryError as error:
        raise WaitTimeoutError(what, clock.now() - start) from error
    if value is None:  # pragma: no cover - retry_if_result never lets None through
        raise WaitTimeoutError(what, clock.now() - start)
    return value
