from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ClusterError, StepError
from harness.extender.traffic import Traffic
from harness.observe.live import Live
from harness.run import extender_steps  # noqa: F401 - its steps are known once it is imported
from harness.run.settle import CHECK_SECONDS, QUIET_SECONDS, Settled, Settler, Until
from harness.run.steps import carry_out
from harness.scenario.faults import Fault
from harness.testing import FakeClock
from tests.unit.observe.given import node, pod
from tests.unit.run.given import StepBench, scenario, stage
from tests.unit.run.test_settle import PausingLive, Queue


class Ordered(Traffic):
    """Extenders that only note what they are told; `seen` counts calls by kind."""

    def __init__(self, **seen: int) -> None:
        super().__init__(())
        self.orders: list[tuple[Any, ...]] = []
        self.seen = seen

    def inject(self, fault: Fault) -> list[str]:
        self.orders.append(("inject", fault.kind, fault.extender))
        return ["a", "b"]

    def clear(self, name: str | None) -> list[str]:
        self.orders.append(("clear", name))
        return ["a"]

    def stop(self, name: str | None, how: str) -> list[str]:
        self.orders.append(("stop", name, how))
        return ["a"]

    def start(self, name: str | None) -> list[str]:
        self.orders.append(("start", name))
        return ["a"]

    def calls_seen(self, kind: str | None) -> int:
        return sum(count for known, count in self.seen.items() if kind in (None, known))


class Bench(StepBench):
    """A bench whose steps reach extenders; `asked` is what a step waited for."""

    def __init__(self, folder: Path, traffic: Traffic | None) -> None:
        super().__init__(folder)
        self.traffic = traffic
        self.asked: list[tuple[float, Until | None]] = []

    def settle(self, timeout_seconds: float, until: Until | None = None) -> Settled:
        self.asked.append((timeout_seconds, until))
        missing = until(self.live) if until else None
        return Settled(1.25, (missing,) if missing else ())

    def order(self, **step: Any) -> dict[str, Any]:
        made = scenario(step, timeoutSeconds=33, extenders=[{"subject": "ref:lucky", "name": "mine"}])
        on = replace(stage(self.cluster, self.live, made, settle=self.settle), traffic=self.traffic)
        return carry_out(made.steps[0], on)


@pytest.fixture
def traffic() -> Ordered:
    return Ordered()


@pytest.fixture
def bench(tmp_path: Path, traffic: Ordered) -> Bench:
    return Bench(tmp_path, traffic)


@pytest.mark.parametrize(
    ("step", "order", "detail"),
    [
        ({"op": "fault", "kind": "hang"}, ("inject", "hang", None), {"extenders": ["a", "b"], "kind": "hang"}),
        ({"op": "fault", "kind": "hang", "extender": "mine"}, ("inject", "hang", "mine"), None),
        ({"op": "clearFaults"}, ("clear", None), {"extenders": ["a"]}),
        ({"op": "clearFaults", "extender": "mine"}, ("clear", "mine"), None),
        ({"op": "stopExtender"}, ("stop", None, "kill"), {"extenders": ["a"]}),
        ({"op": "stopExtender", "extender": "mine", "how": "terminate"}, ("stop", "mine", "terminate"), None),
        ({"op": "startExtender", "extender": "mine"}, ("start", "mine"), {"extenders": ["a"]}),
    ],
)
def test_a_step_about_extenders_is_handed_to_them_and_noted(
    bench: Bench, traffic: Ordered, step: dict[str, Any], order: tuple[Any, ...], detail: dict[str, Any] | None
) -> None:
    seen = bench.order(**step)
    assert traffic.orders == [order]
    assert detail in (None, seen)


@pytest.mark.parametrize(
    "step",
    [
        {"op": "fault", "kind": "hang"},
        {"op": "clearFaults"},
        {"op": "stopExtender"},
        {"op": "startExtender"},
        {"op": "await", "calls": 1},
    ],
)
def test_without_an_extender_such_a_step_makes_no_sense(tmp_path: Path, step: dict[str, Any]) -> None:
    with pytest.raises(StepError, match="no extender is installed; the step is for variants that have one"):
        Bench(tmp_path, None).order(**step)


def test_pods_can_be_awaited_without_any_extender(tmp_path: Path) -> None:
    assert Bench(tmp_path, None).order(op="await", bound=0) == {"seconds": 1.25, "moving": []}


def told(bench: Bench, **step: Any) -> list[str]:
    moving: list[str] = bench.order(op="await", **step)["moving"]
    return moving


def test_bound_pods_are_awaited(bench: Bench) -> None:
    bench.pod("here", "node-1")
    bench.pod("waits")
    assert told(bench, bound=1) == []
    assert told(bench, bound=2) == ["1 of 2 pods are bound, 2 awaited"]


def test_running_pods_are_awaited(bench: Bench) -> None:
    bench.pod("here", "node-1")
    assert told(bench, running=1) == ["0 of 1 pods are running, 1 awaited"]
    bench.kube.patch("/api/v1/namespaces/default/pods/here", {"status": {"phase": "Running"}})
    assert told(bench, running=1) == []


def test_only_pods_of_the_selector_and_namespace_are_awaited(bench: Bench) -> None:
    bench.pod("web", "node-1", app="web")
    bench.pod("db", "node-1", app="db")
    assert told(bench, bound=2) == []
    assert told(bench, bound=2, selector="app=web") == ["1 of 1 pods are bound, 2 awaited"]
    assert told(bench, bound=1, namespace="other") == ["0 of 0 pods are bound, 1 awaited"]


def test_calls_are_awaited(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Ordered(filter=2, bind=1))
    assert told(bench, calls=3) == []
    assert told(bench, calls=2, verb="filter") == []
    assert told(bench, calls=4) == ["3 calls of any kind seen, 4 awaited"]
    assert told(bench, calls=2, verb="bind") == ["1 calls of bind seen, 2 awaited"]


def test_the_deadline_is_the_steps_own_or_the_scenarios(bench: Bench) -> None:
    bench.order(op="await", bound=0)
    bench.order(op="await", bound=0, timeoutSeconds=7)
    assert [seconds for seconds, _ in bench.asked] == [33, 7]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def live(clock: FakeClock) -> PausingLive:
    live = PausingLive(clock)
    live.node(node())
    return live


def settler(
    live: Live,
    clock: FakeClock,
    *schedulers: Queue,
    check: Callable[[], None] = lambda: None,
    busy: Callable[[], list[str]] = list,
) -> Settler:
    return Settler(live, schedulers, check, clock, busy)


def first_bound(live: Live) -> str | None:
    return None if any(pod["node"] for pod in live.pods()) else "nobody is bound"


def test_what_is_there_already_is_not_waited_for(live: Live, clock: FakeClock) -> None:
    live.pod(pod(node="n"))
    assert settler(live, clock).wait(60, first_bound) == Settled(0.0)


def test_waiting_ends_when_it_has_come_and_not_when_all_is_at_rest(live: Live, clock: FakeClock) -> None:
    live.pod(pod("moves"))
    clock.at(3, lambda: live.pod(pod("comes", node="n")))
    settled = settler(live, clock, Queue(active=5), busy=lambda: ["a call waits"]).wait(60, first_bound)
    assert settled.moving == ()
    assert 3 <= settled.seconds <= 3 + CHECK_SECONDS


def test_the_deadline_of_waiting_tells_what_is_missing(live: Live, clock: FakeClock) -> None:
    settled = settler(live, clock).wait(10, first_bound)
    assert settled.moving == ("nobody is bound",)
    assert settled.seconds == pytest.approx(10, abs=0.001)


def test_what_comes_at_the_deadline_has_come(live: Live, clock: FakeClock) -> None:
    clock.at(10, lambda: live.pod(pod(node="n")))
    assert settler(live, clock).wait(10, first_bound).moving == ()


def test_a_dead_part_ends_the_waiting(live: Live, clock: FakeClock) -> None:
    def check() -> None:
        if clock.now() >= 2:
            raise ClusterError("etcd died")

    with pytest.raises(ClusterError, match="etcd died"):
        settler(live, clock, check=check).wait(60, first_bound)
    assert clock.now() < 3


def test_a_call_that_waits_keeps_the_cluster_from_settling(live: Live, clock: FakeClock) -> None:
    """While an extender thinks, neither a queue nor the API shows the pod as moving."""
    calls = ["1 calls to extender lucky wait for their answer"]
    clock.at(4, calls.clear)
    settled = settler(live, clock, Queue(), busy=lambda: list(calls)).settle(60)
    assert settled.moving == ()
    assert 4 <= settled.seconds < 4 + QUIET_SECONDS + CHECK_SECONDS


def test_a_call_that_never_ends_is_told_at_the_deadline_beside_the_queues(live: Live, clock: FakeClock) -> None:
    settled = settler(live, clock, Queue(active=1), busy=lambda: ["a call waits"]).settle(5)
    assert settled.moving == ("a call waits", "a scheduler holds 1 pods to be tried and 0 to be tried again")
