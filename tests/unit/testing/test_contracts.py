"""A contract that cannot be broken proves nothing."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from harness.cluster.base import Cluster
from harness.kube import Object
from harness.scenario.nodes import NodeSpec
from harness.testing import ClusterContract, FakeCluster, FakeScheduler, VariantContract
from harness.variant.base import NOTHING_BROUGHT, Installed, Setup
from harness.variant.default import DefaultVariant


class Nameless(FakeCluster):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, name="two words")


class Unversioned(FakeCluster):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.versions = {}


class Unreachable(FakeCluster):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kubeconfig = folder / "nowhere"


class Broken(FakeCluster):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lose("etcd")


class Logless(FakeCluster):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.logs = {"part": folder / "nowhere.log"}


class Forgetful(FakeCluster):
    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        return super().add_nodes(nodes[:1])


class Unready(FakeCluster):
    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        told = super().add_nodes(nodes)
        for node in nodes:
            self.kube.patch(f"/api/v1/nodes/{node.name}", {"status": {"conditions": []}})
        return told


class NeverEmptied(FakeCluster):
    def reset(self) -> None:
        """Leave everything."""


class EmptiedTooMuch(FakeCluster):
    def reset(self) -> None:
        super().reset()
        self.kube.delete("/api/v1/namespaces/default")


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (Nameless, "has_a_name"),
        (Unversioned, "tells_its_versions"),
        (Unreachable, "has_a_kubeconfig"),
        (Broken, "is_whole"),
        (Logless, "keeps_its_logs"),
        (Forgetful, "shows_added_nodes"),
        (Unready, "shows_added_nodes"),
        (NeverEmptied, "reset_empties_it"),
        (EmptiedTooMuch, "reset_keeps_what_was_there"),
    ],
)
def test_a_broken_cluster_breaks_its_promise(tmp_path: Path, make: Callable[[Path], Cluster], promise: str) -> None:
    contract = ClusterContract(lambda: contextlib.nullcontext(make(tmp_path)))
    with pytest.raises(Exception, match=r"\w"):
        contract.check(promise)


class Misnamed(DefaultVariant):
    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        with super().install(cluster) as installed:
            yield Installed("other", installed.schedulers, installed.config)


class Unconfigured(DefaultVariant):
    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        with super().install(cluster) as installed:
            yield Installed(self.name, installed.schedulers, " \n")


class Empty(DefaultVariant):
    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        with super().install(cluster) as installed:
            yield Installed(self.name, {}, installed.config)


class Immortal:
    log = Path("scheduler.log")
    config = ""

    def cpu_seconds(self) -> float | None:
        return None

    def page(self, path: str) -> str:
        return "ok"


class Stays(DefaultVariant):
    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        with super().install(cluster) as installed:
            yield Installed(self.name, {"default-scheduler": Immortal()}, installed.config)


class Once(DefaultVariant):
    def __init__(self) -> None:
        self.used = False

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        assert not self.used, "installed before"
        self.used = True
        with super().install(cluster) as installed:
            yield installed


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (Misnamed, "says_what_is_installed"),
        (Unconfigured, "says_what_is_installed"),
        (Empty, "says_what_is_installed"),
        (Stays, "goes_when_told"),
        (Once, "can_be_installed_again"),
    ],
)
def test_a_broken_variant_breaks_its_promise(tmp_path: Path, make: type[DefaultVariant], promise: str) -> None:
    contract = VariantContract(make, lambda: contextlib.nullcontext(FakeCluster(tmp_path)))
    with pytest.raises(AssertionError):
        contract.check(promise)


def test_a_variant_that_schedules_nothing_breaks_its_promise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ignore(scheduler: FakeScheduler, event: str, item: Object) -> None:
        """Look away."""

    monkeypatch.setattr(FakeScheduler, "notice", ignore)
    monkeypatch.setattr("harness.testing.contracts.BIND_TIMEOUT_SECONDS", 0.05)
    contract = VariantContract(DefaultVariant, lambda: contextlib.nullcontext(FakeCluster(tmp_path)))
    with pytest.raises(Exception, match="every pod of the contract being bound did not happen"):
        contract.check("schedules")


def test_every_promise_is_listed() -> None:
    assert len(ClusterContract.promises()) == 8
    assert len(VariantContract.promises()) == 5
    assert not {"check", "promises"} & {*ClusterContract.promises(), *VariantContract.promises()}
