"""Each thing that can happen between a decision and its effect, made to happen just then."""

import threading
from collections.abc import Callable

import pytest

from harness.controller.policies import LeastLoaded
from harness.controller.scheduler import Controller
from harness.controller.state import Choice, State
from harness.kube import Object
from tests.unit.controller.given import NAME, Api, node_item, pod_item, running, until

POD = "/api/v1/namespaces/default/pods/web"


@pytest.fixture
def api() -> Api:
    made = Api()
    made.add(node_item("a"))
    return made


def once_before(api: Api, ending: str, action: Callable[[], object]) -> None:
    """Let something happen just ahead of the first request whose path ends so."""
    waiting = [action]

    def before(method: str, path: str) -> None:
        if path.endswith(ending) and waiting:
            waiting.pop()()

    api.before = before


def bound_by_another(api: Api, node: str = "b") -> None:
    api.bind(POD, {"metadata": {"uid": api.pod()["metadata"]["uid"]}, "target": {"name": node}})


def test_a_pod_is_deleted_before_its_binding(api: Api) -> None:
    once_before(api, "/binding", lambda: api.delete(POD))
    with running(api) as at_work:
        api.add(pod_item(cpu="4"))
        until(lambda: at_work.races("pod_deleted") == 1, "the race")
        # What it held is free again.
        api.add(pod_item("next", cpu="4"))
        until(lambda: "next" in api.nodes_of(), "the next one's binding")
        assert at_work.attempts("error") == 1
    assert at_work.has_said("default/web: was deleted in between (pod_deleted)")
    assert not api.events("FailedScheduling")


def test_a_pod_is_on_its_way_out_before_its_binding(api: Api) -> None:
    leaving = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    once_before(api, "/binding", lambda: api.patch(POD, leaving))
    with running(api) as at_work:
        api.add(pod_item())
        until(lambda: at_work.races("pod_deleted") == 1, "the race")
        until(lambda: at_work.waiting("active") == 0, "the end of the work")
    assert api.nodes_of() == {}


def test_a_pod_is_replaced_by_its_namesake_before_its_binding(api: Api) -> None:
    def replace() -> None:
        api.delete(POD)
        api.add(pod_item(nodeSelector={"disk": "ssd"}))

    once_before(api, "/binding", replace)
    with running(api) as at_work:
        api.add(pod_item())
        until(lambda: at_work.races("pod_replaced") == 1, "the race")
        until(lambda: at_work.waiting("unschedulable") == 1, "the refusal of the namesake")
    # Bound without the UID, it would be where it must not be.
    assert api.nodes_of() == {}


def test_a_pod_that_is_changed_before_its_binding_is_bound_all_the_same(api: Api) -> None:
    with running(api) as at_work:
        taken = threading.Event()
        take = at_work.controller.state.take_pod

        def change() -> None:
            api.patch(POD, {"metadata": {"labels": {"x": "y"}}})
            take("MODIFIED", api.pod())
            taken.set()

        once_before(api, "/binding", change)
        api.add(pod_item())
        until(lambda: at_work.attempts("scheduled") == 1, "the binding")
        assert taken.is_set()
        until(lambda: not sum(at_work.controller.state.depths().values()), "an empty queue")
    assert api.nodes_of() == {"web": "a"}


def test_somebody_else_binds_the_pod_first(api: Api) -> None:
    once_before(api, "/binding", lambda: bound_by_another(api))
    with running(api) as at_work:
        api.add(node_item("b"), pod_item(cpu="4"))
        until(lambda: at_work.races("bound_elsewhere") == 1, "the race")
        until(lambda: at_work.waiting("active") == 0, "the end of the work")
        assert api.nodes_of() == {"web": "b"}
        # The room that was kept is free, and the room that was taken is not.
        api.add(pod_item("next", cpu="4"))
        until(lambda: "next" in api.nodes_of(), "the next one's binding")
        assert api.nodes_of()["next"] == "a"
    assert at_work.races("bound_elsewhere") == 1
    assert [event["involvedObject"]["name"] for event in api.events("Scheduled")] == ["next"]


def test_somebody_else_binds_a_pod_that_waits(api: Api) -> None:
    with running(api) as at_work:
        api.add(pod_item(cpu="64"))
        until(lambda: at_work.waiting("unschedulable") == 1, "the refusal")
        bound_by_another(api)
        until(lambda: at_work.races("bound_elsewhere") == 1, "the race")
        until(lambda: at_work.waiting("unschedulable") == 0, "the end of the wait")


def test_two_controllers_of_one_name_bind_every_pod_once(api: Api) -> None:
    api.add(node_item("b"))
    with running(api) as one, running(api) as other:
        api.add(*(pod_item(f"pod-{number}") for number in range(40)))
        until(lambda: len(api.nodes_of()) == 40, "forty bindings")
        until(lambda: one.attempts("scheduled") + other.attempts("scheduled") == 40, "forty counted")
        until(lambda: not one.waiting("active") + other.waiting("active"), "the end of the work")
    until(lambda: len(api.events("Scheduled")) == 40, "forty events")
    # An unfair share is fine, but whoever tried in vain has noticed.
    lost = [each.races("bound_elsewhere") - each.attempts("error") for each in (one, other)]
    assert min(lost) >= 0


def test_a_node_goes_before_the_binding() -> None:
    api = Api()
    said: list[str] = []
    controller = Controller(api, NAME, LeastLoaded(), said.append)
    state = controller.state
    for name in ("a", "b"):
        state.take_node("ADDED", api.create(node_item(name)))
    api.add(pod_item())
    state.take_pod("ADDED", api.pod())
    choice = state.next_choice()
    assert choice is not None
    assert choice.node == "a"
    state.take_node("DELETED", node_item("a"))

    controller._write(choice)

    assert "default/web: is tried again: its node went away before the binding (node_gone)" in said
    assert api.nodes_of() == {}
    assert controller.step()
    until(lambda: api.nodes_of() == {"web": "b"}, "the binding to the node that is left")
    controller._writers.shutdown()
    controller._reporter.shutdown()
    assert 'controller_races_total{race="node_gone"} 1\n' in controller.page()
    assert 'controller_races_total{race="node_gone_after"} 0\n' in controller.page()


def test_a_node_goes_during_the_binding(api: Api) -> None:
    with running(api) as at_work:
        state = at_work.controller.state

        def go() -> None:
            api.delete("/api/v1/nodes/a")
            until(lambda: not state.has_node("a"), "the news of the node")

        once_before(api, "/binding", go)
        api.add(pod_item())
        until(lambda: at_work.races("node_gone_after") == 1, "the race")
    assert at_work.has_said("its node went away during the binding")


def test_a_pod_is_deleted_before_its_refusal(api: Api) -> None:
    once_before(api, "/status", lambda: api.delete(POD))
    with running(api) as at_work:
        api.add(pod_item(cpu="64"))
        until(lambda: at_work.races("pod_deleted") == 1, "the race")
        until(lambda: not sum(at_work.controller.state.depths().values()), "an empty queue")


def test_a_pod_that_was_bound_is_not_told_that_it_fits_nowhere(api: Api) -> None:
    once_before(api, "/status", lambda: bound_by_another(api, "a"))
    with running(api) as at_work:
        api.add(pod_item(cpu="64"))
        until(lambda: at_work.races("pod_changed") == 1, "the race")
        until(lambda: not sum(at_work.controller.state.depths().values()), "an empty queue")
    assert "conditions" not in api.pod()["status"]


def test_a_pod_that_changed_while_it_was_refused_is_tried_again(api: Api) -> None:
    change = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    once_before(api, "/status", lambda: api.patch(POD, change))
    with running(api) as at_work:
        api.add(pod_item(cpu="64"))
        until(lambda: api.nodes_of() == {"web": "a"}, "the binding")
        assert at_work.races("pod_changed") == 1


def seen(name: str, version: int, **spec: str) -> Object:
    item = pod_item(name, cpu="4", **spec)
    item["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": str(version)}
    return item


def test_late_news_do_not_unbind_a_pod() -> None:
    told: list[str] = []
    state = State(NAME, LeastLoaded(), lambda pod: told.append(pod.name))
    state.take_node("ADDED", node_item("a"))
    state.take_pod("ADDED", seen("web", 1))
    choice = state.next_choice()
    assert choice is not None
    state.done(choice)
    # From before the binding, told after it.
    state.take_pod("MODIFIED", seen("web", 2))
    assert state.next_choice() is None
    state.take_pod("MODIFIED", seen("web", 3, nodeName="a"))
    state.take_pod("MODIFIED", seen("web", 2))
    assert state.next_choice() is None
    # And its room is still taken.
    state.take_pod("ADDED", seen("next", 4))
    refused = state.next_choice()
    assert refused is not None
    assert refused.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert told == []


def test_pods_of_a_node_that_comes_later_are_counted() -> None:
    state = State(NAME, LeastLoaded(), lambda pod: None)
    state.take_pod("ADDED", seen("there", 1, nodeName="a"))
    state.take_node("ADDED", node_item("a"))
    state.take_pod("ADDED", seen("web", 2))
    choice = state.next_choice()
    assert choice is not None
    assert choice.node == ""


def decided(state: State) -> Choice:
    state.take_node("ADDED", node_item("a"))
    state.take_node("ADDED", node_item("b"))
    state.take_pod("ADDED", seen("web", 1))
    choice = state.next_choice()
    assert choice is not None
    assert choice.node == "a"
    assert state.race(choice) is None
    return choice


def test_what_overtakes_a_decision_is_known_before_the_request() -> None:
    leaving = seen("web", 2)
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    for event, item, race in (
        ("DELETED", seen("web", 2), "pod_deleted"),
        ("MODIFIED", leaving, "pod_deleted"),
        ("MODIFIED", seen("web", 2, nodeName="b"), "bound_elsewhere"),
        ("MODIFIED", seen("web", 2), None),
    ):
        state = State(NAME, LeastLoaded(), lambda pod: None)
        choice = decided(state)
        state.take_pod(event, item)
        assert state.race(choice) == race


def test_a_failed_binding_gives_back_only_what_was_assumed() -> None:
    state = State(NAME, LeastLoaded(), lambda pod: None)
    choice = decided(state)
    # The answer was lost, but the binding was done, and the watch is faster than we are.
    state.take_pod("MODIFIED", seen("web", 2, nodeName="a"))
    state.failed(choice)
    state.take_pod("ADDED", seen("next", 3))
    following = state.next_choice()
    assert following is not None
    assert following.node == "b"
    state.failed(following)
    state.take_pod("ADDED", seen("last", 4))
    last = state.next_choice()
    assert last is not None
    assert last.node == "b"


def test_new_wishes_during_a_binding_count_in_the_next_attempt() -> None:
    state = State(NAME, LeastLoaded(), lambda pod: None)
    choice = decided(state)
    state.take_pod("MODIFIED", {**seen("web", 2), "spec": {**seen("web", 2)["spec"], "nodeSelector": {"disk": "ssd"}}})
    state.again(choice)
    following = state.next_choice()
    assert following is not None
    assert following.message == "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
