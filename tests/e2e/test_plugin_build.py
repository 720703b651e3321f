"""A kube-scheduler with a plugin, or of changed sources, built and run for real."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import process
from harness.clock import wait_until
from harness.cluster.base import ClusterSpec, Program
from harness.cluster.embedded.build import is_built
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.cluster.embedded.provider import EmbeddedProvider
from harness.cluster.embedded.releases import Release, release, releases
from harness.errors import BuildError
from harness.paths import shipped
from harness.plugin import trace
from harness.plugin.build import plugin_names, scheduler_for
from harness.plugin.source import PluginSource
from harness.plugin.trace import Trace
from harness.scenario.nodes import NodeGroup
from harness.variant.config import render
from tests.processes import PATIENCE_SECONDS

pytestmark = pytest.mark.embedded

SAMPLE = shipped("plugins") / "sample"
POINTS = ["PreEnqueue", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind"]
POINTS += ["Bind", "PostBind"]
ORDER = ["PreEnqueue", "PreFilter", "Filter", "PreScore", "Score", "NormalizeScore", "Reserve", "Permit", "PreBind"]
ORDER += ["Bind", "PostBind"]
# Not every version asks this, and two pods that never meet in the queue are not compared.
SOMETIMES = {"PreBindPreFlight", "QueueSort"}


def sample(wanted: Release) -> Path:
    return scheduler_for([PluginSource.parse(f"go:{SAMPLE}")], wanted)


def profile(arguments: Mapping[str, Any], points: list[str]) -> dict[str, Any]:
    plugins: dict[str, Any] = {point[0].lower() + point[1:]: {"enabled": [{"name": "Sample"}]} for point in points}
    for only in {"bind", "queueSort"} & plugins.keys():
        plugins[only]["disabled"] = [{"name": "*"}]
    config = [{"name": "Sample", "args": {**arguments, "points": points}}]
    return {"schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": config}


def pod(name: str, **wishes: str) -> dict[str, Any]:
    annotations = {f"sample.harness.test/{key.replace('_', '-')}": value for key, value in wishes.items()}
    spec = {"containers": [{"name": "c", "image": "pause"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations}, "spec": spec}


class Running:
    """A scheduler under test on a cluster of its own."""

    def __init__(self, cluster: EmbeddedCluster, file: Path, page: Callable[[str], str]) -> None:
        self.cluster = cluster
        self.page = page
        self._file = file
        self._started = time.time_ns()

    @property
    def trace(self) -> Trace:
        return trace.read(self._file, self._started)

    def await_point(self, name: str, point: str) -> Trace:
        """Wait until a pod has passed a point."""

        def passed() -> Trace | None:
            seen = self.trace
            return seen if point in seen.points(f"default/{name}") else None

        return wait_until(passed, what=f"{point} of {name}", timeout_seconds=PATIENCE_SECONDS)


@contextmanager
def running(program: Path, folder: Path, profiles: list[dict[str, Any]], wanted: Release) -> Iterator[Running]:
    file = folder / "trace.jsonl"
    with EmbeddedProvider().cluster(ClusterSpec(kubernetes=wanted.minor)) as cluster:
        cluster.add_nodes(NodeGroup(count=3, labels={"disk": "ssd"}).expand())
        config = render(cluster.scheduler_kubeconfig, settings={"profiles": profiles})
        traced = Program((str(program),), env={trace.VARIABLE: str(file)})
        with cluster.scheduler(config, "kube-scheduler", traced) as scheduler:
            yield Running(cluster, file, scheduler.page)


@pytest.mark.parametrize("minor", [one.minor for one in releases()])
def test_every_point_is_called_in_its_order_and_traced(minor: str, tmp_path: Path) -> None:
    wanted = release(minor)
    # Asked here: a build between the collections of two workers would give them different tests.
    if not wanted.default and not is_built(wanted):
        pytest.skip(f"Kubernetes {minor} is not compiled here, and that takes minutes")
    program = sample(wanted)
    assert plugin_names(program) == ["Sample"]
    arguments = {"favorite_color": "red", "favoriteNumber": 7, "thanks_to": "you"}
    points = ["QueueSort", *POINTS]
    with running(program, tmp_path, [profile(arguments, points)], wanted) as scheduler:
        scheduler.cluster.kube.create(pod("plain"))
        for number in range(5):
            scheduler.cluster.kube.create(pod(f"more-{number}"))
        scheduler.await_point("plain", "PostBind")
        scheduler.cluster.kube.create(pod("failing", pre_bind="fail"))
        seen = scheduler.await_point("failing", "Unreserve")
    for plugin in ("Sample", None):
        plain = [point for point in seen.points("default/plain", plugin, attempt=1) if point not in SOMETIMES]
        assert [point for point in plain if point != "Sign"] == ORDER
    nodes = {call.node for call in seen.of("default/plain") if (call.point, call.plugin) == ("Filter", "Sample")}
    assert nodes == {"node-1", "node-2", "node-3"}
    assert {"NodeResourcesFit", "Sample", "DefaultPreemption"} <= {call.plugin for call in seen.calls}
    refused = next(call for call in seen.of("default/failing", 1) if call.point == "PreBind" and call.code != "Success")
    assert (refused.plugin, refused.text) == ("Sample", "sample plugin fails at PreBind as asked")
    told = seen.arguments["Sample"]
    assert (told["favoriteColor"], told["favoriteNumber"], told["thanksTo"]) == ("red", 7, "you")


def test_permit_has_three_answers_and_refusals_unreserve(tmp_path: Path) -> None:
    wanted = release(None)
    with running(sample(wanted), tmp_path, [profile({}, ["Filter", "Reserve", "Permit"])], wanted) as scheduler:
        create = scheduler.cluster.kube.create
        create(pod("denied", permit="deny"))
        create(pod("late", permit="wait", permit_timeout_seconds="0.2"))
        create(pod("timed", permit="wait", permit_approve_seconds="0.2"))
        create(pod("first", permit="wait", permit_group="pair", permit_timeout_seconds="60"))
        scheduler.await_point("first", "Permit")
        create(pod("second", permit="wait", permit_group="pair"))
        create(pod("unreserved", reserve="fail"))
        create(pod("nowhere", refuse_nodes_with_label="disk=ssd"))
        for name in ("first", "second", "timed"):
            scheduler.await_point(name, "Bind")
        for name in ("denied", "late", "unreserved"):
            scheduler.await_point(name, "Unreserve")
        seen = scheduler.await_point("nowhere", "Filter")

    def answers(name: str, point: str) -> set[tuple[str, str | None]]:
        calls = (call for call in seen.of(f"default/{name}") if call.point == point and call.plugin == "Sample")
        return {(call.code, call.text) for call in calls}

    assert answers("denied", "Permit") == {("Unschedulable", "sample plugin denies at Permit as asked")}
    assert answers("late", "Permit") == answers("timed", "Permit") == answers("first", "Permit") == {("Wait", None)}
    assert answers("second", "Permit") == {("Success", None)}
    assert answers("timed", "WaitOnPermit") == answers("first", "WaitOnPermit") == {("Success", None)}
    ((code, text),) = answers("late", "WaitOnPermit")
    assert (code, "rejected due to timeout" in (text or "")) == ("Unschedulable", True)
    assert answers("unreserved", "Reserve") == {("Unschedulable", "sample plugin fails at Reserve as asked")}
    assert answers("nowhere", "Filter") == {
        ("UnschedulableAndUnresolvable", "node has a label that the sample plugin refuses")
    }


@pytest.mark.parametrize("ranked", [False, True])
def test_nodes_with_a_label_are_preferred(tmp_path: Path, *, ranked: bool) -> None:
    wanted = release(None)
    alone = profile({"preferNodesWithLabel": "disk=nvme", "ranked": ranked}, ["Score"])
    alone["plugins"]["score"]["disabled"] = [{"name": "*"}]
    with running(sample(wanted), tmp_path, [alone], wanted) as scheduler:
        fast = NodeGroup(count=2, name="fast-{index}", labels={"disk": "nvme"}).expand()
        scheduler.cluster.add_nodes(fast)
        names = [f"pod-{number}" for number in range(6)]
        for name in names:
            scheduler.cluster.kube.create(pod(name))
            scheduler.await_point(name, "Bind")
        found = scheduler.cluster.kube.items("/api/v1/namespaces/default/pods")
    nodes = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in found}
    assert set(nodes.values()) <= {"fast-1", "fast-2"}
    if ranked:
        assert [nodes[name] for name in names] == ["fast-1", "fast-2"] * 3


def test_without_a_file_nothing_is_traced_and_the_pod_runs(tmp_path: Path) -> None:
    wanted = release(None)
    settings = {"profiles": [profile({}, POINTS)]}
    with EmbeddedProvider().cluster(ClusterSpec()) as cluster:
        cluster.add_nodes(NodeGroup(count=1).expand())
        config = render(cluster.scheduler_kubeconfig, settings=settings)
        with cluster.scheduler(config, "kube-scheduler", Program((str(sample(wanted)),))):
            cluster.kube.create(pod("plain"))

            def node() -> str:
                (found,) = cluster.kube.items("/api/v1/namespaces/default/pods")
                return str(found["spec"].get("nodeName", ""))

            assert wait_until(node, what="a bound pod", timeout_seconds=PATIENCE_SECONDS) == "node-1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"favoriteColour": "red"}, 'unknown field "favoriteColour"'),
        ({"favoriteNumber": "seven"}, "favoriteNumber: string seen, int expected"),
        ({"favorite_number": -1}, "favoriteNumber: -1 seen, 0 or more expected"),
        ({"favorite_color": "red", "favoriteColor": "blue"}, "favoriteColor is given twice, in both spellings"),
        ({"permit": "maybe"}, 'permit: "maybe" seen, one of approve, deny, wait expected'),
        ({"points": ["Filtre"]}, 'points: "Filtre" seen, some of QueueSort, PreEnqueue'),
        ({"preferNodesWithLabel": "=x"}, 'preferNodesWithLabel: "=x" seen, KEY or KEY=VALUE expected'),
    ],
)
def test_arguments_that_make_no_sense_end_the_scheduler_at_its_start(
    tmp_path: Path, arguments: dict[str, Any], told: str
) -> None:
    user: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": "c"}
    user["clusters"] = [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}]
    user["contexts"] = [{"name": "c", "context": {"cluster": "c", "user": "c"}}]
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(user))
    (tmp_path / "config.yaml").write_text(
        render(
            tmp_path / "kubeconfig",
            settings={
                "profiles": [{**profile({}, ["Filter"]), "pluginConfig": [{"name": "Sample", "args": arguments}]}]
            },
        )
    )
    command = [str(sample(release(None))), f"--config={tmp_path / 'config.yaml'}", "--secure-port=0"]
    child = process.spawn("kube-scheduler", command, log=tmp_path / "log")
    try:
        assert child.ended.wait(PATIENCE_SECONDS), child.tail()
    finally:
        child.kill()
    output = child.log.read_text().replace('\\"', '"')
    assert f'initializing plugin "Sample": arguments of Sample: {told}' in output


def test_a_changed_default_weight_is_what_the_scheduler_runs_with(tmp_path: Path) -> None:
    wanted = release(None)
    program = scheduler_for([], wanted, shipped("plugins") / "rebuilt")
    profiles = [{"schedulerName": "default-scheduler"}]
    with running(program, tmp_path, profiles, wanted) as scheduler:
        live = yaml.safe_load(scheduler.page("/configz"))
    (config,) = live.values()
    (found,) = config["profiles"]
    weights = {one["name"]: one.get("weight") for one in found["plugins"]["multiPoint"]["enabled"]}
    assert (weights["NodeAffinity"], weights["TaintToleration"]) == (20, 3)


def test_a_compile_error_is_told_as_the_compiler_told_it(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    with (folder / "sample.go").open("a") as file:
        file.write('\nfunc Broken() int { return "x" }\n')
    line = len((folder / "sample.go").read_text().splitlines())
    with pytest.raises(BuildError) as caught:
        scheduler_for([PluginSource.parse(f"go:{folder}")], release(None))
    assert f'{folder}/sample.go:{line}:28: cannot use "x" (untyped string constant) as int value' in str(caught.value)
