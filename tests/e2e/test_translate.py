"""What the real kube-scheduler says to a translated configuration: it reads it, checks it and makes every plugin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import process
from harness.certificates import Authority
from harness.clock import wait_until
from harness.cluster.base import ClusterSpec, PlaysNodes, RunsSchedulers
from harness.cluster.embedded.build import binaries_for, is_built
from harness.cluster.embedded.releases import Release, releases
from harness.cluster.registry import provider
from harness.errors import CommandError
from harness.kube import Kube
from harness.scenario import positions
from harness.scenario.nodes import NodeGroup
from harness.variant.config import render
from tests.processes import PATIENCE_SECONDS
from tests.unit.variant.test_legacy import FIXTURES, NAMES, of, translated
from tests.unit.variant.test_legacy_problems import FATAL, USELESS

pytestmark = pytest.mark.embedded

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""

# What kube-scheduler says to each.
SAID = {
    "case": 'unknown field "extenders[0].enableHttps"',
    "unknown": 'unknown field "profile"',
    "timeout": "extenders.httpTimeout of type string",
    "duration": 'in duration "5 s"',
    "weight": "extenders[0].weight: Invalid value: 0",
    "no weight": "extenders[0].weight: Invalid value: 0",
    "binders": "only one extender can implement bind",
    "resource": "is an invalid extended resource name",
    "twice": "duplicate extender managed resource name",
    "ignored": "can't find NodeResourcesFitArgs in plugin config",
    "type": "extenders.ignorable of type bool",
    "number": "extenders.weight of type int64",
    "argument": 'unknown field "strategy"',
    "plugin": "profiles[0].plugins.filter.enabled[0]: Invalid value",
    "gone": '"SelectorSpread" does not exist',
    "names": "profiles[1].schedulerName: Duplicate value",
    "no name": "profiles[1].schedulerName: Required value",
    "lock": 'resourceLock value must be "leases"',
    "percentage": "percentageOfNodesToScore: Invalid value: 101",
    "back-off": "podMaxBackoffSeconds: Invalid value",
    "tls": "specifying a root certificates file with the insecure flag is not allowed",
}

Start = Callable[[str, Release], str]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts kube-scheduler, which ends before it connects; returns the configuration that it has understood."""
    kubeconfig, config, written = (tmp_path / name for name in ("kubeconfig", "config.yaml", "written.yaml"))
    kubeconfig.write_text(KUBECONFIG)
    authority = Authority(tmp_path / "certificates")

    def start(text: str, release: Release) -> str:
        text = text.replace("/etc/extender/ca.crt", str(authority.certificate))
        text = text.replace("/etc/kubernetes/scheduler.conf", str(kubeconfig))
        if "clientConnection:" not in text:
            text += f"\nclientConnection: {{kubeconfig: {kubeconfig}}}\n"
        config.write_text(text)
        program = binaries_for(ClusterSpec(kubernetes=release.version)).program
        # Without a port: it would listen on every address, and two of them would be in each other's way.
        options = [f"--config={config}", f"--write-config-to={written}", "--secure-port=0"]
        process.run([str(program), "kube-scheduler", *options])
        return written.read_text()

    return start


def built(release: Release) -> Release:
    if not release.default and not is_built(release):
        pytest.skip(f"Kubernetes {release.version} is not built; harness build --kubernetes {release.minor}")
    return release


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.minor)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_translated_is_accepted(name: str, release: Release, start: Start) -> None:
    translation = translated(name)
    (document,), _ = positions.read(start(translation.text, built(release)), name)
    wanted = translation.config.get("extenders") or []
    seen = document.data.get("extenders") or []
    # Go leaves out what is false, and fills in the timeout.
    assert [{"httpTimeout": "5s", **{key: part for key, part in one.items() if part}} for one in wanted] == [
        {**one, **({"tlsConfig": wanted[index]["tlsConfig"]} if "tlsConfig" in one else {})}
        for index, one in enumerate(seen)
    ]
    for number, profile in enumerate(translation.config.get("profiles") or []):
        live = document.data["profiles"][number]["plugins"]
        for point, chosen in (profile.get("plugins") or {}).items():
            for key in chosen:
                assert _names(chosen, key) <= _names(live[point], key), (point, key)


def _names(chosen: dict[str, list[dict[str, object]]], key: str) -> set[tuple[object, object]]:
    return {(one["name"], one.get("weight", 0) or 0) for one in chosen.get(key, [])}


@pytest.mark.parametrize("name", FATAL)
def test_what_is_refused_is_refused_by_kube_scheduler_too(name: str, start: Start) -> None:
    default = next(release for release in releases() if release.default)
    with pytest.raises(CommandError) as caught:
        start(FATAL[name][0], default)
    assert SAID[name] in caught.value.output.replace("\\", "")


@pytest.mark.parametrize("name", USELESS)
def test_what_is_useless_is_accepted_by_kube_scheduler(name: str, start: Start) -> None:
    """Nobody else would have said anything."""
    default = next(release for release in releases() if release.default)
    assert "extenders:" in start(USELESS[name][0], default)


def test_old_ones_are_refused_by_kube_scheduler(start: Start) -> None:
    default = next(release for release in releases() if release.default)
    for name in NAMES:
        if name not in ("v1.yaml", "index-bind.yaml"):
            with pytest.raises(CommandError):
                start((FIXTURES / name).read_text(), default)


def test_every_translated_profile_schedules() -> None:
    """A filter may need what its plugin prepares at another point, which only a pod shows."""
    found = [of('{"kind": "Policy", "predicates": [], "priorities": []}'), *map(translated, NAMES)]
    profiles = [profile for one in found for profile in one.config.get("profiles") or []]
    profiles = [{**profile, "schedulerName": f"profile-{number}"} for number, profile in enumerate(profiles)]
    with provider("embedded").cluster(ClusterSpec()) as cluster:
        assert isinstance(cluster, RunsSchedulers)
        assert isinstance(cluster, PlaysNodes)
        cluster.add_nodes(NodeGroup(count=2, labels={"zone": "a", "disk": "big"}).expand())
        config = render(cluster.scheduler_kubeconfig, settings={"profiles": profiles})
        with cluster.scheduler(config, "kube-scheduler"):
            for profile in profiles:
                cluster.kube.create(_pod(profile["schedulerName"]))
            told = wait_until(
                lambda: _told(cluster.kube), what="word about every pod", timeout_seconds=PATIENCE_SECONDS
            )
    assert {message for _, message in told} == {"bound"}, (told, profiles)


def _told(kube: Kube) -> list[tuple[str, str]]:
    """Return what became of every pod, empty while the scheduler has not said it."""
    found = []
    for pod in kube.items("/api/v1/pods"):
        conditions = {one["type"]: one for one in pod["status"].get("conditions", ())}
        message = conditions.get("PodScheduled", {}).get("message")
        found.append((pod["metadata"]["name"], "bound" if pod["spec"].get("nodeName") else message))
    return [] if None in {message for _, message in found} else found


def _pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "100m", "memory": "10Mi"}}}
    spec = {"schedulerName": name, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec}
