import copy
from typing import Any

import pytest

from harness.run.asking import TEMPLATES, asking, unserved
from tests.unit.run.given import scenario

CONTAINERS = {"containers": [{"name": "pause"}]}


def workload(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a kind with this spec for its pods."""
    below: dict[str, Any] = {"spec": spec}
    for part in reversed(TEMPLATES.get(kind, ())):
        below = {part: below, "kept": part}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "it"}, **below}


def pods_of(item: dict[str, Any]) -> Any:
    found: Any = item
    for part in TEMPLATES.get(item["kind"], ()):
        found = found[part]
    return found["spec"]


@pytest.mark.parametrize("kind", ["Pod", *TEMPLATES])
def test_pods_ask_for_the_scheduler_wherever_their_spec_stands(kind: str) -> None:
    item = workload(kind, CONTAINERS)
    before = copy.deepcopy(item)
    asked = asking(item, "mine")
    assert pods_of(asked) == {**CONTAINERS, "schedulerName": "mine"}
    assert item == before, "the scenario's own object is used again in the next run"
    pods_of(asked).pop("schedulerName")
    assert asked == before


def test_a_cron_job_has_its_pods_deeper_than_a_job() -> None:
    item = {"kind": "CronJob", "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": {}}}}}}
    asked = asking(item, "mine")
    assert asked["spec"]["jobTemplate"]["spec"]["template"]["spec"] == {"schedulerName": "mine"}
    assert asked["spec"]["schedule"] == "@daily"
    assert "schedulerName" not in asked["spec"]


@pytest.mark.parametrize("kind", ["Pod", *TEMPLATES])
def test_pods_that_ask_for_one_themselves_are_left_alone(kind: str) -> None:
    item = workload(kind, {**CONTAINERS, "schedulerName": "other"})
    assert asking(item, "mine") == item


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_without_a_scheduler_to_ask_for_nothing_changes(kind: str) -> None:
    item = workload(kind, CONTAINERS)
    assert asking(item, None) is item


@pytest.mark.parametrize("kind", ["ConfigMap", "PriorityClass", "Service"])
def test_what_makes_no_pods_is_left_alone(kind: str) -> None:
    item = {"kind": kind, "spec": {"template": {"spec": {}}}}
    assert asking(item, "mine") is item


@pytest.mark.parametrize(
    "item",
    [
        {"kind": "Pod"},
        {"kind": "Pod", "spec": None},
        {"kind": "Deployment", "spec": {"replicas": 1}},
        {"kind": "CronJob", "spec": {"jobTemplate": "x"}},
        {"metadata": {}},
    ],
)
def test_what_is_not_whole_is_left_for_the_api_server_to_refuse(item: dict[str, Any]) -> None:
    assert asking(item, "mine") == item


@pytest.mark.parametrize("kind", ["Pod", *TEMPLATES])
def test_pods_that_ask_for_nobody_are_told_ahead(kind: str) -> None:
    asked = workload(kind, {**CONTAINERS, "schedulerName": "my-schedular"})
    made = scenario({"op": "create", "objects": [asked, workload(kind, CONTAINERS)]}, {"op": "settle"})
    told = "pods will ask for my-schedular, but the schedulers here serve default-scheduler, my-scheduler"
    assert unserved(made, ["default-scheduler", "my-scheduler"]) == [told]
    assert unserved(made, ["my-schedular"]) == []


def test_pods_of_one_step_are_told_once() -> None:
    pods = {"op": "createPods", "count": 2, "spec": {"schedulerName": "nobody"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"schedulerName": "no"}}
    plain = {"op": "createPods", "count": 1, "name": "plain"}
    made = scenario(pods, {**pods, "name": "b-{index}"}, plain, {"op": "create", "objects": [config]})
    assert unserved(made, ["default-scheduler"]) == [
        "pods will ask for nobody, but the schedulers here serve default-scheduler"
    ]
