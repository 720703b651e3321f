"""A manifest of a second scheduler is taken apart, and what is missing in it is told with its line."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import ApiError, InputError
from harness.testing import FakeCluster, FakeKube
from harness.variant.ahead import check_ahead
from harness.variant.base import SchedulerConfig, Setup
from harness.variant.manifest import SchedulerManifest, read_manifest
from harness.variant.second_scheduler import SHIPPED, SecondSchedulerVariant

TEXT = SHIPPED.read_text(encoding="utf-8")


def read(text: str = TEXT) -> SchedulerManifest:
    return read_manifest(text, "m.yaml")


def test_the_shipped_manifest() -> None:
    manifest = read()
    assert (manifest.namespace, manifest.service_account) == ("kube-system", "my-scheduler")
    assert (manifest.flags, manifest.misdirected) == ((), ())
    kinds = [item["kind"] for item in manifest.objects]
    assert kinds == ["ServiceAccount", "ClusterRoleBinding", "ClusterRoleBinding", "ConfigMap"]
    assert "schedulerName: my-scheduler" in manifest.config
    assert manifest.where == "m.yaml: ConfigMap my-scheduler-config, key my-scheduler-config.yaml"


def test_a_sidecar_before_the_scheduler_is_passed_over() -> None:
    sidecar = "      containers:\n      - name: extender\n        image: example.com/extender\n"
    assert read(TEXT.replace("      containers:\n", sidecar)).config == read().config


def test_config_as_two_words_and_items_of_the_volume() -> None:
    text = TEXT.replace(
        "command: [kube-scheduler, --config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml]",
        "args: [kube-scheduler, --config, /etc/kubernetes/my-scheduler/renamed.yaml]",
    ).replace(
        "configMap: {name: my-scheduler-config}",
        "configMap: {name: my-scheduler-config, items: [{key: my-scheduler-config.yaml, path: renamed.yaml}]}",
    )
    assert read(text).config == read().config


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kind: Deployment", "kind: Service", r"one Deployment or .* expected, ServiceAccount, .*Service seen"),
        ("--config=", "--conf=", r"m\.yaml:\d+: Deployment my-scheduler: no container with --config"),
        ("configMap: {name: my-scheduler-config}", "emptyDir: {}", "volume 'config', which is no ConfigMap"),
        ("mountPath: /etc/kubernetes/my-scheduler", "mountPath: /elsewhere", "nothing is mounted at /etc/kubernetes"),
        ("  my-scheduler-config.yaml: |", "  other.yaml: |", "has no key 'my-scheduler-config.yaml'; its keys: other"),
        ("configMap: {name: my-", "configMap: {name: your-", "kube-system/your-scheduler-config is mounted, and"),
        ("kind: ServiceAccount\n", "kind: [\n", r"m\.yaml:\d+"),
        ("kind: ServiceAccount\n", "kind: 5\n", r"m\.yaml:2: not a Kubernetes object: kind missing or not text"),
        ("metadata:\n  name: my-scheduler\n", "metadata: nope\nx:\n", r"m\.yaml:2: .*metadata\.name missing"),
        ("      containers:\n", "      containers: [5]\n      x:\n", r"\.containers\[0\]: 5 seen, a mapping expected"),
        ("      containers:\n", "      containers: {a: b}\n      x:\n", r'\.containers: \{"a": "b"\} seen, a list'),
        ("      - name: my-scheduler\n        image", "      - image", r"containers\[0\]\.name: missing or not text"),
        ("        command: [", "        command: what\n        x: [", r'\.command: "what" seen, a list expected'),
        ("httpGet: {path: /healthz, port: 10259, scheme: HTTPS}", "httpGet: /", r'\.httpGet: "/" seen, a mapping'),
        ("configMap: {name: my-scheduler-config}", "configMap: mine", r'\.configMap: "mine" seen, a mapping'),
        ("  template:\n", "  template: 3\n  x:\n", r"spec\.template: 3 seen, a mapping expected"),
        ("\ndata:\n", "\ndata: 3\nx:\n", r"m\.yaml:\d+: data: 3 seen, a mapping expected"),
        ("# A second", "- 1\n---\n# A second", r"m\.yaml:1: \[1\] seen, a Kubernetes object expected"),
    ],
)
def test_what_is_missing(old: str, new: str, told: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=told):
        read(TEXT.replace(old, new, 1))


COMMAND = "[kube-scheduler, --config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml"
PROBE = "httpGet: {path: /healthz, port: 10259, scheme: HTTPS}"
SERVED = "kube-scheduler with these arguments serves HTTPS on port 10259 at /healthz, /livez, /readyz"


@pytest.mark.parametrize(
    ("probe", "words", "told"),
    [
        (PROBE, "", []),
        ("httpGet: {path: readyz, port: 10259, scheme: HTTPS}", "", []),
        ("httpGet: {path: /healthz, port: health, scheme: HTTPS}", "", []),
        ("tcpSocket: {port: 10259}", "", []),
        ("exec: {command: ['true']}", "", []),
        ("httpGet: {path: /healthz, port: 10251}", "", [f"HTTP on port 10251 at /healthz, but {SERVED}"]),
        ("httpGet: {path: /healthz, port: 10259}", "", [f"HTTP on port 10259 at /healthz, but {SERVED}"]),
        ("httpGet: {port: 10259, scheme: HTTPS}", "", [f"HTTPS on port 10259 at /, but {SERVED}"]),
        ("httpGet: {path: /healthz, port: pages, scheme: HTTPS}", "", [f"port 8080 (pages) at /healthz, but {SERVED}"]),
        ("httpGet: {path: /healthz, port: none, scheme: HTTPS}", "", [f"port none at /healthz, but {SERVED}"]),
        ("tcpSocket: {port: 1}", "", [f"TCP on port 1, but {SERVED}"]),
        (PROBE, ", --secure-port=10300", ["serves HTTPS on port 10300 at"]),
        (PROBE, ", --secure-port, '10300'", ["serves HTTPS on port 10300 at"]),
        (PROBE, ", --secure-port=1, --secure-port=10259", []),
        (PROBE, ", --secure-port=0", ["serves nothing (--secure-port=0)"]),
    ],
)
def test_a_probe_that_nobody_answers_is_told_with_what_is_served(probe: str, words: str, told: list[str]) -> None:
    ports = "ports: [{name: health, containerPort: 10259}, {name: pages, containerPort: 8080}]"
    text = (
        TEXT.replace(PROBE, probe)
        .replace(COMMAND, COMMAND + words)
        .replace("        command:", f"        {ports}\n        command:")
    )
    found = read(text).misdirected
    assert len(found) == len(told)
    for one, part in zip(found, told, strict=True):
        assert one.startswith("livenessProbe asks ")
        assert part in one


def test_a_probe_that_nobody_answers_is_refused_unless_the_program_is_the_users() -> None:
    """Of a program that is not kube-scheduler nobody knows what it serves."""
    text = TEXT.replace(PROBE, "httpGet: {path: /healthz, port: 10251}")
    manifest = SchedulerConfig(text, "m.yaml")
    told = r"^m\.yaml:\d+: Deployment my-scheduler: livenessProbe asks HTTP on port 10251"
    with pytest.raises(InputError, match=told):
        check_ahead("second-scheduler", Setup(manifest=manifest))
    check_ahead("second-scheduler", Setup(manifest=manifest, scheduler="cmd:sh {port}"))


def test_arguments_that_do_not_count_are_told(tmp_path: Path) -> None:
    text = TEXT.replace(COMMAND, f"{COMMAND}, --leader-elect=true, --config, x, -v=9")
    setup = Setup(manifest=SchedulerConfig(text, "m.yaml"))
    with SecondSchedulerVariant().install(FakeCluster(tmp_path), setup) as installed:
        (note,) = installed.notes
    assert note.endswith("so these of its command do not count: --leader-elect=true -v=9")


class Refusing(FakeKube):
    """A server that refuses whatever is about one path."""

    def __init__(self, about: str, status: int) -> None:
        super().__init__()
        self._about, self._status = about, status

    def request(self, method: str, path: str, **more: Any) -> Any:
        if method == "POST" and path.endswith(self._about):
            raise ApiError(method, path, self._status, "not found")
        return super().request(method, path, **more)


ACCOUNT = "kube-system/my-scheduler"


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ("/token", f"runs as ServiceAccount {ACCOUNT}, which is not there; the manifest has: {ACCOUNT}"),
        ("/configmaps", "m.yaml: ConfigMap kube-system/my-scheduler-config cannot be created: not found"),
        ("/clusterrolebindings", "ClusterRoleBinding my-scheduler-as-kube-scheduler cannot be created: not found"),
    ],
)
def test_what_the_server_refuses_is_told_by_its_kind_and_name(tmp_path: Path, about: str, told: str) -> None:
    cluster = FakeCluster(tmp_path, kube=Refusing(about, 404))
    with (
        pytest.raises(InputError) as caught,
        SecondSchedulerVariant().install(cluster, Setup(manifest=SchedulerConfig(TEXT, "m.yaml"))),
    ):
        pass
    assert str(caught.value).startswith("m.yaml: ")
    assert told in str(caught.value)


@pytest.mark.parametrize("about", ["/token", "/configmaps"])
def test_trouble_of_the_server_is_no_fault_of_the_manifest(tmp_path: Path, about: str) -> None:
    cluster = FakeCluster(tmp_path, kube=Refusing(about, 500))
    with pytest.raises(ApiError), SecondSchedulerVariant().install(cluster):
        pass
