"""Time that passes only when a test lets it."""

from collections.abc import Callable

SHORTEST_PAUSE_SECONDS = 1e-6


class FakeClock:
    """A clock whose pauses cost nothing; what was planned `at` a moment happens when a pause reaches it."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._planned: list[tuple[float, Callable[[], object]]] = []

    def now(self) -> float:
        """Return the seconds that have been paused so far, counted from the start."""
        return self._now

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass, and with them everything that was planned for this time, in order."""
        # As on a machine, time moves on however short the pause: or rounding could keep a loop waiting for ever.
        end = self._now + max(seconds, SHORTEST_PAUSE_SECONDS)
        while self._planned and self._planned[0][0] <= end:
            moment, action = self._planned.pop(0)
            self._now = max(self._now, moment)
            action()
        self._now = max(self._now, end)

    def at(self, moment: float, action: Callable[[], object]) -> None:
        """Plan something for a moment; it is called from inside the pause that reaches it."""
        self._planned.append((moment, action))
        self._planned.sort(key=lambda planned: planned[0])
