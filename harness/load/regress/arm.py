"""One side of a comparison: what it is, and how it is asked while it runs."""

import math
from dataclasses import dataclass

from harness.extender.entry import Entry
from harness.extender.subject.parse import Subject
from harness.extender.subject.start import Running
from harness.load.lean import CUT, REFUSED, TOO_LATE, LeanClient, Outcome, Request, prepare
from harness.load.regress.corpus import Cell
from harness.load.regress.cpu import TreeClock

FAILURES_IN_A_ROW_MAX = 30
LATE_IN_A_ROW_MAX = 3
END_SECONDS = 2.0
_SECOND = 1e-9
Asked = tuple[float, float, int, float]


@dataclass(frozen=True)
class Side:
    """A subject with what the scheduler would be told about it."""

    subject: Subject
    entry: Entry


class Ended(Exception):  # noqa: N818 - it is no fault of ours
    """A subject ended by itself."""


@dataclass
class Arm:
    """One side while it runs."""

    side: Side
    running: Running
    client: LeanClient
    clock: TreeClock | None
    failures: int = 0
    late: int = 0
    last: int = -1

    def requests(self, cell: Cell) -> list[Request]:
        """Return the requests of a comparison, ready to be sent to it."""
        url = self.side.entry.at(self.running.url).url(cell.verb)
        return [prepare(url, body) for body in cell.bodies]

    def ask(self, request: Request) -> Asked:
        """Return processor seconds, wall seconds and ending of a request, and processor seconds since the last one."""
        before = self.clock.read() if self.clock else -1
        outcome = self.client.send(request)
        after = self.clock.read() if self.clock else -1
        between = (before - self.last) * _SECOND if before >= 0 and self.last >= 0 else math.nan
        self.last = after
        if not outcome.ok:
            self._failed(outcome)
        else:
            self.failures = self.late = 0
        cpu = (after - before) * _SECOND if before >= 0 and after >= 0 else math.nan
        return cpu, (outcome.done_ns - outcome.sent_ns) * _SECOND, outcome.ending, between

    def refresh(self) -> None:
        """Look for processes that came or went."""
        if self.clock:
            self.clock.refresh()
        self.last = -1

    def _failed(self, outcome: Outcome) -> None:
        self.failures += 1
        self.late += outcome.ending == TOO_LATE
        if outcome.ending == REFUSED and self.running.child:
            # Its end may not have been noticed yet.
            self.running.child.ended.wait(END_SECONDS)
        if outcome.ending in (CUT, REFUSED) and not self.running.alive:
            raise Ended

    @property
    def hopeless(self) -> bool:
        """Tell whether nothing but failures came for a while."""
        return self.failures >= FAILURES_IN_A_ROW_MAX or self.late >= LATE_IN_A_ROW_MAX
