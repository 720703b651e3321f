import pytest

from harness.controller.queue import BACKOFF_SECONDS_MAX, Queue
from harness.testing import FakeClock
from tests.unit.controller.given import pod


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(clock: FakeClock) -> Queue:
    return Queue(clock)


def popped(queue: Queue) -> str | None:
    found = queue.pop()
    return found[0].name if found else None


def depth(queue: Queue) -> dict[str, int]:
    return {name: count for name, count in queue.depths().items() if count}


def test_the_important_come_first_and_equals_in_turn(queue: Queue) -> None:
    for name, priority in (("a", 0), ("b", 0), ("c", 5), ("d", -1)):
        queue.offer(pod(name, priority=priority))
    assert [popped(queue) for _ in range(5)] == ["c", "a", "b", "d", None]


def test_what_is_known_is_not_queued_twice(queue: Queue) -> None:
    queue.offer(pod())
    queue.offer(pod())
    assert [popped(queue), popped(queue)] == ["web", None]
    queue.offer(pod())
    assert popped(queue) is None


def test_a_refused_pod_waits_for_a_change_and_its_back_off(queue: Queue, clock: FakeClock) -> None:
    queue.offer(pod())
    queue.pop()
    queue.refused("uid-web")
    assert depth(queue) == {"unschedulable": 1}
    clock.pause(100)
    assert (popped(queue), queue.idle_seconds()) == (None, None)
    queue.wake()
    assert depth(queue) == {"active": 1}
    queue.pop()
    queue.refused("uid-web")
    queue.wake()
    assert depth(queue) == {"backoff": 1}
    assert queue.idle_seconds() == pytest.approx(2)
    assert popped(queue) is None
    clock.pause(2)
    assert (queue.idle_seconds(), popped(queue)) == (0, "web")


def test_the_back_off_doubles_up_to_a_limit(queue: Queue, clock: FakeClock) -> None:
    queue.offer(pod())
    pauses = []
    for _ in range(20):
        assert popped(queue) == "web"
        queue.failed("uid-web")
        pauses.append(round(queue.idle_seconds() or 0))
        clock.pause(BACKOFF_SECONDS_MAX)
    assert pauses[:6] == [1, 2, 4, 8, 10, 10]
    assert pauses[-1] == 10


def test_a_change_during_an_attempt_is_not_lost(queue: Queue) -> None:
    queue.offer(pod())
    queue.pop()
    queue.wake()
    queue.refused("uid-web")
    assert depth(queue) == {"backoff": 1}


def test_a_change_before_an_attempt_is_no_reason_for_another(queue: Queue) -> None:
    queue.offer(pod())
    queue.wake()
    queue.pop()
    queue.refused("uid-web")
    assert depth(queue) == {"unschedulable": 1}


def test_overtaken_attempts_are_repeated_at_once(queue: Queue) -> None:
    queue.offer(pod())
    queue.pop()
    queue.again("uid-web")
    assert queue.pop() == (pod(), 2)


def test_a_gated_pod_waits_until_the_gates_are_open(queue: Queue) -> None:
    queue.offer(pod(schedulingGates=[{"name": "g"}]))
    queue.wake()
    assert (popped(queue), depth(queue)) == (None, {"gated": 1})
    queue.offer(pod())
    assert popped(queue) == "web"


def test_new_wishes_are_worth_a_try(queue: Queue) -> None:
    queue.offer(pod())
    queue.pop()
    queue.refused("uid-web")
    queue.offer(pod())
    assert depth(queue) == {"unschedulable": 1}
    queue.offer(pod(tolerations=[{"operator": "Exists"}]))
    assert depth(queue) == {"backoff": 1}


def test_who_left_comes_back_only_as_somebody_new(queue: Queue, clock: FakeClock) -> None:
    queue.offer(pod())
    queue.pop()
    queue.failed("uid-web")
    assert queue.drop("uid-web") == "backoff"
    assert queue.drop("uid-web") is None
    clock.pause(5)
    for late in (queue.refused, queue.failed, queue.again):
        late("uid-web")
    assert (popped(queue), depth(queue), queue.idle_seconds()) == (None, {}, None)


def test_one_that_is_worked_on_counts_as_active(queue: Queue) -> None:
    queue.offer(pod())
    queue.pop()
    assert depth(queue) == {"active": 1}
