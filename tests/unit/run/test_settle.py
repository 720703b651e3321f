from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ClusterError, NoSuchPage, SchedulerDied
from harness.observe.live import Live
from harness.run.settle import (
    ATTEMPT_SECONDS,
    CHECK_SECONDS,
    FORSAKEN_SECONDS,
    LONG_QUIET_SECONDS,
    QUIET_SECONDS,
    SILENT_SECONDS,
    Settler,
)
from harness.testing import FakeClock
from tests.unit.observe.given import REFUSED, node, pod, workload


class PausingLive(Live):
    """A view whose waits let fake time pass."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(["default-scheduler"], clock)
        self._own_clock = clock

    def wait_for_change(self, timeout_seconds: float) -> None:
        self._own_clock.pause(timeout_seconds)


class Queue:
    """A scheduler that only tells its queues."""

    log = Path("scheduler.log")
    config = ""

    def __init__(self, active: int = 0, backoff: int = 0, *, unschedulable: int = 9, alive: bool = True) -> None:
        self.active = active
        self.backoff = backoff
        self.unschedulable = unschedulable
        self.error: ClusterError | None = None if alive else ClusterError("no answer")

    def cpu_seconds(self) -> float | None:
        return None

    def page(self, path: str) -> str:
        if self.error:
            raise self.error
        return "\n".join(
            f'scheduler_pending_pods{{queue="{name}"}} {depth}'
            for name, depth in (
                ("active", self.active),
                ("backoff", self.backoff),
                ("unschedulable", self.unschedulable),
            )
        )

    def becomes(self, active: int, backoff: int) -> None:
        self.active, self.backoff, self.error = active, backoff, None

    def fails(self, error: ClusterError) -> None:
        self.error = error


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def live(clock: FakeClock) -> PausingLive:
    live = PausingLive(clock)
    live.node(node())
    return live


def settler(live: Live, clock: FakeClock, *schedulers: Queue, check: Callable[[], None] = lambda: None) -> Settler:
    return Settler(live, schedulers, check, clock)


def test_nothing_there_settles_after_a_moment_of_quiet(live: Live, clock: FakeClock) -> None:
    settled = settler(live, clock, Queue()).settle(60)
    assert settled.moving == ()
    assert settled.seconds == pytest.approx(QUIET_SECONDS, abs=0.001)


def test_quiet_from_before_does_not_count(live: Live, clock: FakeClock) -> None:
    """What a step has just asked for may not have arrived yet."""
    clock.pause(100)
    assert settler(live, clock).settle(60).seconds >= QUIET_SECONDS


def test_a_moving_pod_is_waited_for(live: Live, clock: FakeClock) -> None:
    live.pod(pod())
    clock.at(2, lambda: live.pod(pod(node="n")))
    clock.at(3, lambda: live.pod(pod(node="n", phase="Running")))
    settled = settler(live, clock, Queue()).settle(60)
    assert settled.moving == ()
    assert 3 + QUIET_SECONDS <= settled.seconds < 4


def test_a_refused_pod_is_at_rest(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    settled = settler(live, clock, Queue()).settle(60)
    assert settled.moving == ()
    assert settled.seconds == pytest.approx(LONG_QUIET_SECONDS, abs=0.001)


def test_what_news_on_its_way_could_wake_is_given_more_time(live: Live, clock: FakeClock) -> None:
    live.workload(workload("DaemonSet", current=2))
    assert settler(live, clock, Queue()).settle(60).seconds == pytest.approx(LONG_QUIET_SECONDS, abs=0.001)
    live.workload(workload("DaemonSet", event="DELETED"))
    assert settler(live, clock, Queue()).settle(60).seconds == pytest.approx(QUIET_SECONDS, abs=0.001)
    live.pod(pod(scheduled=REFUSED))
    live.pod(pod(node="n", phase="Running"))
    assert settler(live, clock, Queue()).settle(60).seconds == pytest.approx(QUIET_SECONDS, abs=0.001)


def test_a_refused_pod_that_stands_in_no_queue_is_being_tried(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    queue = Queue(unschedulable=0)
    clock.at(2, lambda: setattr(queue, "unschedulable", 1))
    settled = settler(live, clock, queue).settle(60)
    assert settled.moving == ()
    assert 2 <= settled.seconds < 3


def test_a_deadline_in_the_middle_of_an_attempt_is_told(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    settled = settler(live, clock, Queue(unschedulable=0)).settle(2)
    assert settled.moving == ("a scheduler tries 1 refused pods again",)


def test_a_pod_that_its_scheduler_lost_is_not_waited_for_for_ever(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    settled = settler(live, clock, Queue(unschedulable=0)).settle(60)
    assert settled.moving == ()
    assert ATTEMPT_SECONDS <= settled.seconds < ATTEMPT_SECONDS + 2


@pytest.mark.parametrize("queue", [Queue(active=1), Queue(backoff=2)])
def test_a_pod_that_is_due_for_a_retry_is_waited_for(live: Live, clock: FakeClock, queue: Queue) -> None:
    live.pod(pod(scheduled=REFUSED))
    clock.at(5, lambda: queue.becomes(0, 0))
    settled = settler(live, clock, Queue(), queue).settle(60)
    assert settled.moving == ()
    assert 5 <= settled.seconds < 6


def test_what_the_retry_starts_is_waited_for_too(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    queue = Queue(backoff=1)
    clock.at(5, lambda: live.pod(pod(node="n")))
    clock.at(5, lambda: queue.becomes(0, 0))
    clock.at(7, lambda: live.pod(pod(node="n", phase="Running")))
    assert settler(live, clock, queue).settle(60).seconds >= 7 + QUIET_SECONDS


def test_pods_that_a_scheduler_fails_on_for_ever_are_not_waited_for(live: Live, clock: FakeClock) -> None:
    failed = {"status": "False", "reason": "SchedulerError", "message": "boom"}
    live.pod(pod("a", scheduled=failed))
    live.pod(pod("b", scheduled=failed))
    assert settler(live, clock, Queue(backoff=2)).settle(60).moving == ()
    assert settler(live, clock, Queue(backoff=3)).settle(60).moving


def test_a_scheduler_that_is_gone_ends_the_wait(live: Live, clock: FakeClock) -> None:
    gone: list[str] = []
    queue = Queue(alive=False)

    def check() -> None:
        if gone:
            raise SchedulerDied("kube-scheduler died")
        # It is found in the moment when its page does not come.
        gone.append("kube-scheduler")

    with pytest.raises(SchedulerDied):
        settler(live, clock, queue, check=check).settle(60)


def test_a_page_that_did_not_come_says_nothing_about_the_queue(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    queue = Queue(alive=False)
    clock.at(5, lambda: queue.becomes(0, 1))
    clock.at(9, lambda: queue.becomes(0, 0))
    settled = settler(live, clock, queue).settle(60)
    assert settled.moving == ()
    assert 9 <= settled.seconds < 10


def test_a_scheduler_that_stays_silent_is_not_waited_for_until_the_deadline(live: Live, clock: FakeClock) -> None:
    live.pod(pod())
    clock.at(40, lambda: live.pod(pod(node="n", phase="Running")))
    settled = settler(live, clock, Queue(alive=False)).settle(600)
    assert settled.moving == ("a scheduler does not tell its queues: no answer",)
    assert 40 + SILENT_SECONDS <= settled.seconds < 42 + SILENT_SECONDS


def test_silence_counts_only_in_a_row(live: Live, clock: FakeClock) -> None:
    queue = Queue(alive=False)
    clock.at(SILENT_SECONDS - 5, lambda: queue.becomes(1, 0))
    clock.at(SILENT_SECONDS, lambda: queue.fails(ClusterError("no answer")))
    clock.at(SILENT_SECONDS + 20, lambda: queue.becomes(0, 0))
    assert settler(live, clock, queue).settle(600).moving == ()


def test_a_scheduler_that_has_no_such_page_holds_nothing_that_could_be_told(live: Live, clock: FakeClock) -> None:
    queue = Queue()
    queue.fails(NoSuchPage("/metrics: the scheduler serves no pages"))
    settled = settler(live, clock, queue).settle(60)
    assert settled.moving == ()
    assert settled.seconds == pytest.approx(QUIET_SECONDS, abs=0.001)


def test_the_deadline_names_what_still_moves_and_why(live: Live, clock: FakeClock) -> None:
    live.pod(pod("lonely", scheduler="nobody"))
    live.pod(pod("done", node="n", phase="Running"))
    settled = settler(live, clock, Queue()).settle(10)
    assert settled.seconds == pytest.approx(10, abs=0.001)
    (movement,) = settled.moving
    assert movement.startswith('pod lonely: no scheduler has looked at it: it asks for schedulerName "nobody"')


def test_the_deadline_names_a_queue_that_never_empties(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduled=REFUSED))
    settled = settler(live, clock, Queue(active=1, backoff=2)).settle(10)
    assert settled.moving == ("a scheduler holds 1 pods to be tried and 2 to be tried again",)


def test_endless_change_ends_at_the_deadline(live: Live, clock: FakeClock) -> None:
    def change() -> None:
        live.node(node())
        clock.at(clock.now() + QUIET_SECONDS / 2, change)

    change()
    settled = settler(live, clock, Queue()).settle(5)
    assert settled.seconds == pytest.approx(5, abs=0.001)
    assert settled.moving == ("objects keep changing, though none has far to go",)


def test_a_dead_part_ends_the_wait(live: Live, clock: FakeClock) -> None:
    lost: list[str] = []

    def check() -> None:
        if lost:
            raise ClusterError("etcd died")

    live.pod(pod())
    clock.at(2, lambda: lost.append("etcd"))
    with pytest.raises(ClusterError, match="etcd died"):
        settler(live, clock, check=check).settle(60)
    assert clock.now() < 3


def closed(live: Live, clock: FakeClock, *schedulers: Queue) -> Settler:
    return Settler(live, schedulers, lambda: None, clock, closed=True)


def test_pods_that_no_scheduler_will_look_at_are_told_soon(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduler="other"))
    settled = closed(live, clock, Queue()).settle(60)
    assert settled.seconds == pytest.approx(FORSAKEN_SECONDS, abs=CHECK_SECONDS)
    assert 'it asks for schedulerName "other", running is: default-scheduler' in settled.moving[0]


def test_where_another_scheduler_may_come_they_are_waited_for(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduler="other"))
    clock.at(20, lambda: live.pod(pod(scheduler="other", node="n", phase="Running")))
    assert settler(live, clock, Queue()).settle(60).moving == ()


def test_whatever_else_moves_is_waited_for_too(live: Live, clock: FakeClock) -> None:
    live.pod(pod(scheduler="other"))
    live.pod(pod("mine", node="n"))
    clock.at(20, lambda: live.pod(pod("mine", node="n", phase="Running")))
    assert closed(live, clock, Queue()).settle(60).seconds >= 20 + FORSAKEN_SECONDS
    busy = Queue(active=1)
    assert closed(live, clock, busy).settle(60).seconds >= 60
