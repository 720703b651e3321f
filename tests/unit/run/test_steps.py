from pathlib import Path

import pytest

from harness.errors import ApiError, StepError
from harness.kube import names
from harness.run import extender_steps as _registered  # noqa: F401 - its steps are known once it is imported
from harness.run.settle import Settled, Until
from harness.run.steps import PARALLEL_FROM, carry_out
from tests.unit.run.given import PODS, StepBench, scenario, stage


@pytest.fixture
def bench(tmp_path: Path) -> StepBench:
    return StepBench(tmp_path)


def test_create_makes_the_objects_it_is_given_in_order(bench: StepBench) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "own"}}
    assert bench.do(op="create", objects=[account, config]) == {"created": ["ServiceAccount/a", "ConfigMap/c"]}
    assert names(bench.kube.items("/api/v1/namespaces/own/configmaps")) == ["c"]


def test_create_fills_parameters_into_a_manifest(bench: StepBench) -> None:
    manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: $replicas}\n"
    made = scenario({"op": "create", "file": "web.yaml"}, manifests={"web.yaml": manifest}, parameters={"replicas": 7})
    bench.do(made)
    (deployment,) = bench.kube.items("/apis/apps/v1/deployments")
    assert deployment["spec"]["replicas"] == 7


def test_create_of_an_unknown_kind_is_refused_by_the_server(bench: StepBench) -> None:
    with pytest.raises(ApiError, match=r"the server knows no example\.com/v1 Gadget"):
        bench.do(op="create", objects=[{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}])


def test_create_pods_counts_names_and_merges_the_spec_over_a_pause_pod(bench: StepBench) -> None:
    bench.do(
        op="createPods",
        count=2,
        name="web-{index}",
        labels={"app": "web"},
        requests={"cpu": "1", "nvidia.com/gpu": "2"},
        spec={"schedulerName": "mine", "nodeSelector": {"zone": "a"}},
    )
    assert bench.pods() == ["web-1", "web-2"]
    made = bench.kube.items(PODS)[0]
    (container,) = made["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "1", "nvidia.com/gpu": "2"}
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    assert made["spec"]["schedulerName"] == "mine"
    assert made["metadata"]["labels"] == {"app": "web"}


def test_few_pods_are_created_in_their_order_and_many_all_the_same(bench: StepBench) -> None:
    bench.do(op="createPods", count=12)
    assert bench.pods() == [f"pod-{index}" for index in range(1, 13)]
    bench.do(op="createPods", count=PARALLEL_FROM, name="many-{index}")
    assert len(bench.pods()) == 12 + PARALLEL_FROM


def test_scale_changes_the_replicas_and_nothing_else(bench: StepBench) -> None:
    spec = {"replicas": 1, "paused": True}
    bench.kube.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    bench.do(op="scale", name="web", replicas=5)
    assert bench.kube.items("/apis/apps/v1/deployments")[0]["spec"] == {"replicas": 5, "paused": True}
    with pytest.raises(ApiError, match="404"):
        bench.do(op="scale", name="nobody", replicas=5)


def test_delete_by_name_wants_it_to_be_there(bench: StepBench) -> None:
    bench.pod("a")
    assert bench.do(op="delete", kind="Pod", name="a") == {"deleted": ["a"]}
    assert bench.pods() == []
    with pytest.raises(ApiError, match="404"):
        bench.do(op="delete", kind="Pod", name="a")


def test_delete_by_selector_wants_a_match(bench: StepBench) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        bench.pod(name, app=app)
    assert bench.do(op="delete", kind="Pod", selector="app=web") == {"deleted": ["a", "c"]}
    assert bench.pods() == ["b"]
    with pytest.raises(StepError, match='no Pod in namespace "default" matches "app=web"'):
        bench.do(op="delete", kind="Pod", selector="app=web")


def churned(folder: Path, seed: int) -> list[list[str]]:
    folder.mkdir()
    bench = StepBench(folder)
    for number in range(9, 0, -1):
        bench.pod(f"p{number}", app="web")
    bench.pod("spared", app="db")
    detail = bench.do(seed=seed, op="churn", selector="app=web", count=2, rounds=3)
    assert "spared" in bench.pods()
    assert len(bench.pods()) == 4
    return [one["deleted"] for one in detail["rounds"]]


def test_churn_deletes_what_the_seed_says(tmp_path: Path) -> None:
    first = churned(tmp_path / "1", seed=1)
    assert first == churned(tmp_path / "2", seed=1)
    assert first != churned(tmp_path / "3", seed=2)
    assert [len(names) for names in first] == [2, 2, 2]


def test_churn_needs_enough_pods(bench: StepBench) -> None:
    bench.pod("only", app="web")
    with pytest.raises(StepError, match='churn: round 1: 1 pods match "app=web", 2 are to be deleted'):
        bench.do(op="churn", selector="app=web", count=2, rounds=1)


def test_churn_stops_when_it_does_not_settle(bench: StepBench) -> None:
    for name in ("a", "b"):
        bench.pod(name)
    made = scenario({"op": "churn", "count": 1, "rounds": 2})
    on = stage(
        bench.cluster,
        bench.live,
        made,
        settle=lambda timeout_seconds, until=None: Settled(timeout_seconds, ("pod x: moves",)),
    )
    detail = carry_out(made.steps[0], on)
    assert len(detail["rounds"]) == 1
    assert detail["moving"] == ["pod x: moves"]


@pytest.mark.parametrize(("own", "waited"), [({"timeoutSeconds": 5}, 5), ({}, 30)])
def test_settle_has_its_own_deadline_or_the_scenarios(bench: StepBench, own: dict[str, int], waited: int) -> None:
    asked: list[float] = []

    def settle(timeout_seconds: float, until: Until | None = None) -> Settled:
        asked.append(timeout_seconds)
        return Settled(1.5)

    made = scenario({"op": "settle", **own}, timeoutSeconds=30)
    detail = carry_out(made.steps[0], stage(bench.cluster, bench.live, made, settle=settle))
    assert detail == {"seconds": 1.5, "moving": []}
    assert asked == [waited]


@pytest.mark.parametrize(
    ("step", "waited"),
    [
        ({"op": "settle"}, 150),
        ({"op": "settle", "timeoutSeconds": 5}, 25),
        ({"op": "await", "running": 1, "timeoutSeconds": 2}, 10),
        ({"op": "churn", "selector": "", "rounds": 1, "count": 1}, 150),
    ],
)
def test_a_cluster_whose_pods_really_start_is_given_more_time(
    bench: StepBench, monkeypatch: pytest.MonkeyPatch, step: dict[str, object], waited: int
) -> None:
    monkeypatch.setattr(bench.cluster, "patience", 5.0, raising=False)
    bench.pod("there")
    seen: list[float] = []

    def settle(timeout_seconds: float, until: Until | None = None) -> Settled:
        seen.append(timeout_seconds)
        return Settled(0.1)

    made = scenario(step, timeoutSeconds=30)
    carry_out(made.steps[0], stage(bench.cluster, bench.live, made, settle=settle))
    assert seen == [waited]


def test_what_is_no_step_is_refused(bench: StepBench) -> None:
    with pytest.raises(StepError, match="str: no such step"):
        carry_out("jump", stage(bench.cluster, bench.live, scenario({"op": "settle"})))
