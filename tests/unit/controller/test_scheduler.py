import pytest

from harness.controller.fit import NO_NODES
from harness.controller.policies import PreferLabel
from harness.errors import ApiError
from tests.unit.controller.given import NAME, Api, node_item, pod_item, running, until


@pytest.fixture
def api() -> Api:
    return Api()


def condition(api: Api, name: str = "web") -> tuple[str, str, str] | None:
    for one in api.pod(name).get("status", {}).get("conditions", ()):
        if one["type"] == "PodScheduled":
            return one["status"], one["reason"], one["message"]
    return None


def test_pods_get_nodes_and_an_event(api: Api) -> None:
    api.add(node_item("a"), node_item("b"), pod_item("early"))
    with running(api) as at_work:
        api.add(pod_item("late"))
        until(lambda: len(api.nodes_of()) == 2, "two bindings")
        until(lambda: len(api.events("Scheduled")) == 2, "two events")
        until(lambda: at_work.attempts("scheduled") == 2, "two counted")
    assert set(api.nodes_of().values()) == {"a", "b"}
    event = api.events("Scheduled")[0]
    assert event["message"] == f"Successfully assigned default/early to {api.nodes_of()['early']}"
    assert event["involvedObject"]["uid"] == api.pod("early")["metadata"]["uid"]
    assert (event["type"], event["reportingComponent"], event["action"]) == ("Normal", NAME, "Binding")


def test_other_schedulers_pods_are_left_alone_and_counted(api: Api) -> None:
    api.add(node_item("a", cpu="2"), pod_item("other", scheduler="default-scheduler"))
    api.add(pod_item("there", cpu="1500m", scheduler="default-scheduler", nodeName="a"))
    with running(api) as at_work:
        api.add(pod_item("big", cpu="1"), pod_item("small", cpu="100m"))
        until(lambda: "small" in api.nodes_of(), "the small one's binding")
        until(lambda: at_work.waiting("unschedulable") == 1, "the big one's refusal")
    assert api.nodes_of().keys() == {"there", "small"}
    assert condition(api, "other") is None


def test_room_is_given_away_once_however_late_the_bindings_are(api: Api) -> None:
    api.add(node_item("a", cpu="2"), *(pod_item(f"pod-{number}", cpu="1") for number in range(5)))
    with running(api) as at_work:
        until(lambda: at_work.attempts("unschedulable") >= 3 and len(api.nodes_of()) == 2, "all five decided")
    assert at_work.attempts("scheduled") == 2


def test_a_refusal_is_told_once_in_condition_and_event(api: Api) -> None:
    api.add(node_item("a", cpu="1"), pod_item(cpu="2"))
    message = "0/1 nodes are available: 1 Insufficient cpu."
    with running(api) as at_work:
        until(lambda: at_work.waiting("unschedulable") == 1, "the refusal")
        # A change that could help, and does not.
        api.patch("/api/v1/nodes/a", {"metadata": {"labels": {"x": "y"}}})
        until(lambda: at_work.attempts("unschedulable") == 2, "another try")
        until(lambda: at_work.waiting("unschedulable") == 1, "another refusal")
    assert condition(api) == ("False", "Unschedulable", message)
    assert [(event["type"], event["message"]) for event in api.events("FailedScheduling")] == [("Warning", message)]


def test_a_new_node_a_roomier_node_and_a_pod_that_leaves_are_chances(api: Api) -> None:
    api.add(pod_item("first", cpu="4"), pod_item("second", cpu="4"), pod_item("third", cpu="4"))
    with running(api) as at_work:
        until(lambda: at_work.waiting("unschedulable") == 3, "three refusals")
        assert condition(api, "first") == ("False", "Unschedulable", NO_NODES)
        api.add(node_item("a"))
        until(lambda: len(api.nodes_of()) == 1, "the first binding")
        until(lambda: at_work.waiting("unschedulable") == 2, "two refusals")
        api.patch("/api/v1/nodes/a", {"status": {"allocatable": {"cpu": "8"}}})
        until(lambda: len(api.nodes_of()) == 2, "the second binding")
        until(lambda: at_work.waiting("unschedulable") == 1, "one refusal")
        gone = next(iter(api.nodes_of()))
        api.delete(f"/api/v1/namespaces/default/pods/{gone}")
        until(lambda: len(api.nodes_of()) == 2, "the third binding")


def test_a_pod_that_has_ended_makes_room(api: Api) -> None:
    api.add(node_item("a"), pod_item("job", cpu="4", scheduler="x", nodeName="a"))
    with running(api) as at_work:
        api.add(pod_item("next", cpu="4"))
        until(lambda: at_work.waiting("unschedulable") == 1, "the refusal")
        api.patch("/api/v1/namespaces/default/pods/job", {"status": {"phase": "Succeeded"}})
        until(lambda: "next" in api.nodes_of(), "the binding")


def test_news_without_meaning_start_nothing(api: Api) -> None:
    api.add(node_item("a", cpu="1"), pod_item(cpu="2"))
    with running(api) as at_work:
        until(lambda: at_work.waiting("unschedulable") == 1, "the refusal")
        api.patch("/api/v1/nodes/a", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        api.patch("/api/v1/namespaces/default/pods/web", {"metadata": {"labels": {"x": "y"}}})
        api.add(pod_item("marker"))
        until(lambda: "marker" in api.nodes_of(), "what came after the news")
        assert (at_work.waiting("unschedulable"), at_work.attempts("unschedulable")) == (1, 1)


def test_gated_and_leaving_pods_are_not_tried(api: Api) -> None:
    leaving = pod_item("leaving")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    api.add(node_item("a"), leaving, pod_item("gated", schedulingGates=[{"name": "g"}]), pod_item("marker"))
    with running(api) as at_work:
        until(lambda: "marker" in api.nodes_of(), "the marker's binding")
        until(lambda: at_work.attempts("scheduled") == 1, "the marker's count")
        assert at_work.waiting("gated") == 1
        assert at_work.attempts("error") == 0
        api.patch("/api/v1/namespaces/default/pods/gated", {"spec": {"schedulingGates": None}})
        until(lambda: "gated" in api.nodes_of(), "the opened one's binding")
    assert "leaving" not in api.nodes_of()


def test_what_is_not_looked_at_is_said_once(api: Api) -> None:
    api.add(node_item("a"), pod_item(affinity={"podAntiAffinity": {}}))
    with running(api) as at_work:
        until(api.nodes_of, "the binding")
    assert [line for line in at_work.said if "does not look at" in line] == [
        "default/web: asks for affinity, which this scheduler does not look at"
    ]


def test_an_error_is_told_and_tried_again(api: Api) -> None:
    answers = [ApiError("POST", "x", 500, "no luck"), None]

    def before(method: str, path: str) -> None:
        if path.endswith("/binding") and (error := answers.pop(0)):
            raise error

    api.before = before
    api.add(node_item("a"), pod_item())
    with running(api) as at_work:
        until(lambda: condition(api) is not None, "the condition")
        assert condition(api) == ("False", "SchedulerError", "POST x: 500 no luck")
        until(lambda: at_work.waiting("backoff") == 1 or api.nodes_of(), "the back-off")
        until(lambda: api.nodes_of() == {"web": "a"}, "the binding")
        until(lambda: at_work.attempts("scheduled") == 1, "the count")
        assert at_work.attempts("error") == 1
    assert len(api.events("FailedScheduling")) == 1


def test_an_error_whose_telling_fails_too_is_tried_again(api: Api) -> None:
    left = 2

    def before(method: str, path: str) -> None:
        nonlocal left
        if path.endswith(("/binding", "/status")) and left:
            left -= 1
            raise ApiError(method, path, 403, "forbidden")

    api.before = before
    api.add(node_item("a"), pod_item())
    with running(api) as at_work:
        until(lambda: api.nodes_of() == {"web": "a"}, "the binding")
        assert at_work.has_said("cannot be told: PATCH")


def test_the_policy_decides(api: Api) -> None:
    api.add(node_item("a"), node_item("b", labels={"disk": "ssd"}), *(pod_item(f"pod-{n}") for n in range(5)))
    with running(api, PreferLabel("disk=ssd")):
        until(lambda: len(api.nodes_of()) == 5, "five bindings")
    assert set(api.nodes_of().values()) == {"b"}
