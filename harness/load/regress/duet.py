"""Measures two subjects side by side: both alive, asked the same one after the other, in an order drawn by lot."""

import contextlib
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import ports
from harness.errors import VariantError
from harness.extender.subject.start import started
from harness.extender.subject.tls import demanded_tls
from harness.load.lean import LeanClient, Request
from harness.load.regress.arm import LATE_IN_A_ROW_MAX, Arm, Ended, Side
from harness.load.regress.around import Around
from harness.load.regress.corpus import Cell
from harness.load.regress.cpu import LOST_SHARE_MAX, TreeClock, cannot_read
from harness.load.regress.decide import middle
from harness.load.regress.pairs import SIDES, Draft, Pairs, Row
from harness.load.stats.blocks import PAIRS_MAX, plan
from harness.load.stats.judge import is_too_noisy

RESTARTS = 3
HELPINGS_MAX = 3
WARM_UP_MIN, WARM_UP_MAX = 10, 100
# Of the budget; long requests are warm after fewer.
WARM_UP_SHARE = 0.25
# A comparison that takes so many times its budget is cut off.
OVERTIME = 4.0


@dataclass(frozen=True)
class Order:
    """How to measure.

    `budget_seconds` is for one comparison in one stage, without starts and warm-up. With `tolerance`, a stage whose
    blocks are too noisy to find what matters starts both sides so many times again, if the budget has room for it.
    """

    seed: int = 0
    budget_seconds: float = 15.0
    stage: int = 1
    restarts: int = RESTARTS
    pairs_max: int = PAIRS_MAX
    tolerance: float | None = None


@dataclass
class Measured:
    """What a stage gave: pairs by comparison, what a person should know, and which side ended by itself.

    `sees_cpu` is false if the processor time that was read is not all of it.
    """

    pairs: list[Pairs] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sees_cpu: bool = True
    died: Mapping[str, str] = field(default_factory=dict)

    def note(self, text: str) -> None:
        """Keep a note, once."""
        if text not in self.notes:
            self.notes.append(text)


class Stage:
    """One stage: some fresh starts of both sides, and every comparison in each of them."""

    def __init__(
        self, sides: Sequence[Side], cells: Sequence[Cell], order: Order, folder: Path, advance: Callable[[str], None]
    ) -> None:
        self._sides = sides
        self._cells = cells
        self._order = order
        self._folder = folder
        self._advance = advance
        self._random = random.Random(order.seed * 2 + order.stage)  # noqa: S311 - repeatable, not secret
        self._sizes: dict[int, tuple[int, int]] = {}
        self._drafts = [Draft() for _ in cells]
        self._spent = [0.0 for _ in cells]
        self._began = time.perf_counter()
        self._measured = Measured()

    def run(self) -> Measured:
        """Measure everything.

        Raises:
            VariantError: a side does not start, or the base ended by itself: nothing is left to compare with.
        """
        fresh = any(side.subject.is_started for side in self._sides)
        restarts = self._order.restarts if fresh else 1
        if restarts == 1:
            self._measured.note("neither side can be restarted: what differs from start to start is not averaged out")
        with ports.reserved(2) as pair:
            number, last = 0, restarts
            while number < last:
                chosen = pair if (number + self._order.stage) % 2 else pair[::-1]
                if not self._start(number, restarts, chosen):
                    break
                number += 1
                if number == last and self._needs_more(number / restarts):
                    last += restarts
        self._measured.pairs = self._pairs()
        return self._measured

    def _pairs(self) -> list[Pairs]:
        return [draft.finished(self._sizes.get(number, (0, 1))[1]) for number, draft in enumerate(self._drafts)]

    def _needs_more(self, helpings: float) -> bool:
        """Tell whether noise asks for as many starts again, and every comparison has the time for them."""
        tolerance, budget = self._order.tolerance, self._order.budget_seconds
        fits = max(self._spent) * (helpings + 1) / helpings <= budget
        if tolerance is None or helpings >= HELPINGS_MAX or not fits:
            return False
        return any(is_too_noisy(found, tolerance) for one in self._pairs() if len(found := middle(one)))

    def _start(self, number: int, restarts: int, chosen: Sequence[int]) -> bool:
        """Measure in one start of both sides; return whether both lived to its end."""
        with self._arms(number, chosen) as arms:
            for index, cell in enumerate(self._cells):
                self._advance(f"{cell.title}: stage {self._order.stage}, start {number + 1}")
                try:
                    self._measure(index, cell, arms, number, restarts)
                except Ended:
                    self._bury(arms)
                    return False
            self._look_for_lost(arms, number)
        return True

    @contextlib.contextmanager
    def _arms(self, number: int, chosen: Sequence[int]) -> Iterator[list[Arm]]:
        with contextlib.ExitStack() as stack:
            arms = []
            for name, side, port in zip(SIDES, self._sides, chosen, strict=True):
                folder = self._folder / f"{name}-{self._order.stage}-{number + 1}"
                seed = self._order.seed
                running = stack.enter_context(
                    started(side.subject, folder=folder, seed=seed, kubeconfig=None, port=port)
                )
                tls = demanded_tls(side.subject.text, running.url, side.entry)
                client = stack.enter_context(LeanClient(running.url, side.entry.timeout_seconds, tls))
                arms.append(Arm(side, running, client, None))
            reasons = [(name, cannot_read(arm.running)) for name, arm in zip(SIDES, arms, strict=True)]
            for name, why in reasons:
                if why:
                    self._measured.note(f"processor time is not compared: that of the {name} cannot be read, {why}")
            if not any(why for _, why in reasons):
                for arm in arms:
                    arm.clock = TreeClock(arm.running)
            yield arms

    def _measure(self, index: int, cell: Cell, arms: list[Arm], restart: int, restarts: int) -> None:
        requests = [arm.requests(cell) for arm in arms]
        seconds = self._warm_up(arms, requests)
        if index not in self._sizes:
            self._sizes[index] = plan(self._order.budget_seconds, seconds, self._order.pairs_max)
        total, size = self._sizes[index]
        draft = self._drafts[index]
        began = time.perf_counter()
        limit = began + self._order.budget_seconds * OVERTIME / restarts
        around = Around()
        for _ in range(total // size // restarts or 1):
            if time.perf_counter() > limit:
                self._measured.note(f"{cell.title}: cut off, it took {OVERTIME:g} times its budget")
                break
            for arm in arms:
                arm.refresh()
            around.watch(*(arm.clock.pids if arm.clock else () for arm in arms))
            rows = []
            for _ in range(size):
                rows.append(self._pair(arms, requests, restart))
                if any(arm.hopeless for arm in arms):
                    break
            draft.rows += rows
            draft.around.append(around.block())
            if any(arm.hopeless for arm in arms):
                self._give_up(cell, arms)
                break
        self._spent[index] += time.perf_counter() - began

    def _pair(self, arms: list[Arm], requests: list[list[Request]], restart: int) -> Row:
        """Ask both sides the same; return a row of `pairs.Draft`."""
        body = self._random.randrange(len(requests[0]))
        base_first = self._random.random() < 0.5  # noqa: PLR2004 - a fair coin
        at = time.perf_counter() - self._began
        if base_first:
            base = arms[0].ask(requests[0][body])
            candidate = arms[1].ask(requests[1][body])
        else:
            candidate = arms[1].ask(requests[1][body])
            base = arms[0].ask(requests[0][body])
        return (*base, *candidate, restart, base_first, body, at)

    def _warm_up(self, arms: list[Arm], requests: list[list[Request]]) -> float:
        """Ask until both are warm; return the seconds of a pair, in the middle of the later half."""
        limit = time.perf_counter() + self._order.budget_seconds * WARM_UP_SHARE
        seconds: list[float] = []
        while len(seconds) < WARM_UP_MAX and (len(seconds) < WARM_UP_MIN or time.perf_counter() < limit):
            began = time.perf_counter()
            self._pair(arms, requests, 0)
            seconds.append(time.perf_counter() - began)
            if any(arm.hopeless for arm in arms):
                break
        for arm in arms:
            arm.failures = arm.late = 0
        return statistics.median(seconds[len(seconds) // 2 :])

    def _give_up(self, cell: Cell, arms: list[Arm]) -> None:
        for name, arm in zip(SIDES, arms, strict=True):
            if arm.hopeless:
                why = "does not answer in time" if arm.late >= LATE_IN_A_ROW_MAX else "fails every time"
                self._measured.note(f"{cell.title}: given up in this start, the {name} {why}")
            arm.failures = arm.late = 0

    def _look_for_lost(self, arms: list[Arm], restart: int) -> None:
        for row, (name, arm) in enumerate(zip(SIDES, arms, strict=True)):
            if arm.clock is None:
                continue
            rows = (line for draft in self._drafts for line in draft.rows if line[8] == restart)
            share = arm.clock.lost_share(sum(line[4 * row] for line in rows if line[4 * row] > 0))
            if share > LOST_SHARE_MAX:
                self._measured.sees_cpu = False
                self._measured.note(
                    f"processor time is not compared: {share:.0%} of the {name}'s goes to processes that come and go"
                )

    def _bury(self, arms: list[Arm]) -> None:
        dead = {
            name: arm.running.check() or "it is gone"
            for name, arm in zip(SIDES, arms, strict=True)
            if not arm.running.alive
        }
        if SIDES[0] in dead:
            raise VariantError(f"{self._sides[0].subject.text}: the base ended by itself: {dead[SIDES[0]]}")
        self._measured.died = dead
