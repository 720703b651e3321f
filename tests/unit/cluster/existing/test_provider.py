from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster import abandoned
from harness.cluster.base import ClusterSpec, ExistingSpec
from harness.cluster.existing import empty
from harness.cluster.existing import provider as existing
from harness.cluster.existing.provider import ExistingProvider
from harness.cluster.folder import ClusterFolder, folder_of, folders
from harness.cluster.recovery import Recovers
from harness.cluster.registry import provider
from harness.errors import ClusterError, InputError
from harness.kube import Kube
from tests.unit.cluster.existing.test_context import config
from tests.unit.cluster.existing.world import World, node, pod


class Server(World):
    """A world that tells its version."""

    def __init__(self, version: str = "v1.36.4-gke.100") -> None:
        super().__init__()
        self.version = version
        self.create(node("real"))

    def request(self, method: str, path: str, **others: Any) -> Any:
        if path == "/version":
            return {"gitVersion": self.version}
        return super().request(method, path, **others)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(Kube, "connect", lambda *_: server)
    monkeypatch.delenv("HARNESS_PRODUCTION", raising=False)
    return server


@pytest.fixture
def spec(tmp_path: Path) -> ClusterSpec:
    file = tmp_path / "config"
    file.write_text(config("lab", "lab", "prod"))
    return ClusterSpec(kubeconfig=file)


def test_it_is_one_of_the_providers() -> None:
    found = provider("existing")
    assert isinstance(found, ExistingProvider)
    assert isinstance(found, Recovers)


def test_a_borrowed_cluster_is_given_back_as_it_was(server: Server, spec: ClusterSpec) -> None:
    before = server.held()
    with ExistingProvider().cluster(spec) as cluster:
        assert server.held() == before
        facts = folder_of(cluster.name).facts()
        assert (facts["provider"], facts["context"]) == ("existing", "lab")
        assert dict(cluster.versions) == {"kubernetes": "1.36.4", "server": "v1.36.4-gke.100"}
        assert yaml.safe_load(cluster.kubeconfig.read_text())["current-context"] == "lab"
        assert "secret" not in str(facts)
        cluster.kube.create(pod("mine"))
        assert f"Pod h-{facts['run']}-default/mine" in server.held()
    assert server.held() == before
    assert folders() == []


def test_production_is_refused_before_anything_else(server: Server, spec: ClusterSpec) -> None:
    risky = ClusterSpec(kubeconfig=spec.kubeconfig, existing=ExistingSpec(context="prod"))
    for ask in (lambda: ExistingProvider().prepare(risky), lambda: ExistingProvider().cluster(risky).__enter__()):
        with pytest.raises(InputError, match='context "prod" looks like production'):
            ask()
    assert server.asked == []
    meant = ClusterSpec(kubeconfig=spec.kubeconfig, existing=ExistingSpec(context="prod", confirmed=True))
    ExistingProvider().prepare(meant)
    with ExistingProvider().cluster(meant) as cluster:
        assert cluster.context == "prod"


def test_many_machines_of_a_cloud_are_seen_before_anything_is_created(server: Server, spec: ClusterSpec) -> None:
    for index in range(21):
        server.create(node(f"n{index}", providerID=f"aws:///i-{index}"))
    with pytest.raises(InputError, match="21 of its nodes are machines of a cloud"):
        ExistingProvider().cluster(spec).__enter__()


def test_a_cluster_that_is_too_old_or_gone_is_said_so(
    server: Server, spec: ClusterSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.version = "v1.29.9"
    with pytest.raises(InputError, match=r'context "lab": Kubernetes v1\.29\.9; 1\.30 or newer is needed'):
        ExistingProvider().cluster(spec).__enter__()

    def gone(*_: object, **__: object) -> object:
        raise ClusterError("GET /version: HTTPSConnectionPool(host='lab.test', port=6443): refused")

    monkeypatch.setattr(server, "request", gone)
    with pytest.raises(ClusterError, match=r'context "lab": .*\(server\).*; is the cluster up\?') as caught:
        ExistingProvider().cluster(spec).__enter__()
    assert "lab.test" not in str(caught.value)


def test_played_nodes_need_to_be_allowed(spec: ClusterSpec) -> None:
    wanted = ClusterSpec(kubeconfig=spec.kubeconfig, existing=ExistingSpec(kwok_nodes=True))
    with pytest.raises(InputError, match=r"--kwok-nodes: .* needs --allow-cluster-wide too"):
        ExistingProvider().prepare(wanted)


def test_what_cannot_be_removed_at_the_end_is_left_for_whoever_cleans(
    server: Server, spec: ClusterSpec, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before, right = server.held(), empty.delete_namespaces

    def stuck(*_: object, **__: object) -> None:
        raise ClusterError("it will not go")

    with ExistingProvider().cluster(spec) as cluster:
        cluster.kube.create(pod("mine"))
        monkeypatch.setattr(empty, "delete_namespaces", stuck)
    assert 'not everything could be removed: it will not go. "harness clean" tries again' in capfd.readouterr().err
    monkeypatch.setattr(empty, "delete_namespaces", right)
    said: list[str] = []
    assert abandoned.remove(said.append) == [cluster.name]
    assert server.held() == before
    (told,) = said
    assert told.endswith('-default of context "lab"')


def left_behind(name: str) -> None:
    """Leave the folder of a run that was killed."""
    with ClusterFolder.create(name) as folder:
        (folder.path / existing.KUBECONFIG).write_text("{}")
        folder.announce(provider="existing", run="0123abcd", context="lab")
        folder.leave()


@pytest.mark.parametrize("name", ["mine", "another", None])
def test_a_new_run_cleans_up_first_after_one_that_was_killed(
    name: str | None, server: Server, spec: ClusterSpec, capfd: pytest.CaptureFixture[str]
) -> None:
    before = server.held()
    named = ClusterSpec(kubeconfig=spec.kubeconfig, name=name)
    left_behind("mine")
    labels = {"scheduler-harness.io/run": "0123abcd"}
    server.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "h-0123abcd-default", "labels": labels}}
    )
    with ExistingProvider().cluster(named):
        assert server.held() == before
    assert "removed namespace h-0123abcd-default" in capfd.readouterr().err
    assert folders() == []


def test_a_run_of_the_same_name_whose_cluster_is_gone_keeps_what_tells_how_to_clean_up(
    server: Server, spec: ClusterSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind("mine")

    def gone(*_: object, **__: object) -> object:
        raise ClusterError("nobody answers")

    monkeypatch.setattr(server, "items", gone)
    with pytest.raises(ClusterError, match="nobody answers"):
        ExistingProvider().cluster(ClusterSpec(kubeconfig=spec.kubeconfig, name="mine")).__enter__()
    assert folder_of("mine").facts()["run"] == "0123abcd"


def test_a_run_that_was_killed_before_it_touched_anything_left_nothing(tmp_path: Path) -> None:
    assert ExistingProvider().recover(tmp_path, {}) == []
    assert ExistingProvider().recover(tmp_path, {"run": "0123abcd"}) == []


def test_credentials_that_cannot_be_read_are_bad_input(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(config("lab", "lab", **{"client-certificate": "gone.crt", "client-key": "gone.key"}))
    with pytest.raises(InputError, match=r'context "lab": cannot be used: .*gone'):
        ExistingProvider().cluster(ClusterSpec(kubeconfig=file)).__enter__()


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-login"}}, "No such file"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "false"}}, "process returned 1"),
        ({"exec": {"command": "true"}}, "missing key 'apiVersion'"),
        ({"client-certificate-data": "odd", "client-key-data": "odd"}, "Incorrect padding"),
        ({"client-certificate-data": 7, "client-key-data": 7}, "not 'int'"),
    ],
)
def test_credentials_that_do_not_come_are_bad_input_and_nothing_goes_on_without_them(
    user: dict[str, Any], told: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_text(config("lab", "lab", **user))
    with pytest.raises(InputError) as caught:
        ExistingProvider().cluster(ClusterSpec(kubeconfig=file)).__enter__()
    assert str(caught.value).startswith(f'{file}: context "lab": cannot be used: ')
    assert told in str(caught.value)
    assert capfd.readouterr().err == ""
