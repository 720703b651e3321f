import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import progress
from harness.cluster.base import ClusterSpec
from harness.errors import ApiError, ClusterError, CommandError, HarnessError, InputError
from harness.record.read import read
from harness.run.session import Session
from harness.testing import FakeProvider
from harness.variant.registry import VARIANTS
from tests.unit.run.given import OtherVariant, scenario

PODS = {"op": "createPods", "count": 2}
NODES = [{"count": 1}]


@pytest.fixture
def session(tmp_path: Path, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setitem(VARIANTS.built_in, "other", f"{OtherVariant.__module__}:{OtherVariant.__name__}")
    return Session("fake", ClusterSpec(name="mine"), tmp_path / "runs", ["harness"])


def test_a_cluster_comes_up_when_first_used_and_once(session: Session, fake_provider: FakeProvider) -> None:
    with session:
        assert fake_provider.made == []
        assert session.cluster.name == "mine"
        assert session.cluster is session.cluster
    assert len(fake_provider.made) == 1


def test_a_variant_stays_until_another_is_wanted(session: Session) -> None:
    with session:
        first = session.install("default")
        assert session.install("default") is first
        second = session.install("other")
        assert second.variant == "other"
        with pytest.raises(ClusterError, match="has ended"):
            first.schedulers["default-scheduler"].page("/healthz")
        assert second.schedulers["default-scheduler"].page("/healthz") == "ok"
    with pytest.raises(ClusterError, match="has ended"):
        second.schedulers["default-scheduler"].page("/healthz")


def test_an_unknown_variant_leaves_the_installed_one_alone(session: Session) -> None:
    with session:
        first = session.install("default")
        with pytest.raises(InputError, match='variant "nowhere": not available'):
            session.install("nowhere")
        assert session.install("default") is first


def test_a_cluster_is_emptied_only_after_somebody_used_it(session: Session, fake_provider: FakeProvider) -> None:
    with session:
        kube = session.cluster.kube
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
        kube.create(config)
        session.empty()
        assert len(kube.items("/api/v1/configmaps")) == 1
        session.touch()
        session.empty()
        assert kube.items("/api/v1/configmaps") == []


def test_every_run_starts_on_an_empty_cluster_and_knows_its_variant(session: Session) -> None:
    made = scenario(PODS, nodes=NODES, expect=[{"kind": "count", "running": 2, "total": 2}])
    with session:
        records = [read(session.run(made, name, seed=4)) for name in ("default", "other", "default")]
    assert [record.meta.variant for record in records] == ["default", "other", "default"]
    for record in records:
        assert len(record.pods) == 2
        assert record.meta.seed == 4
        assert record.meta.ready_seconds is not None
        assert record.meta.command == ("harness",)


def test_a_run_with_a_variant_it_was_not_written_for_is_refused(session: Session, fake_provider: FakeProvider) -> None:
    made = scenario(PODS, variants=["extender", "controller"])
    with session, pytest.raises(InputError, match=r'variant "default": .* declared for extender, controller only'):
        session.run(made, "default")
    assert fake_provider.made == []


def test_a_cluster_that_lost_a_part_is_replaced(session: Session, fake_provider: FakeProvider) -> None:
    made = scenario(PODS, nodes=NODES)
    with session:
        session.run(made, "default")
        fake_provider.made[0].lose("etcd")
        assert read(session.run(made, "default")).meta.status == "finished"
        assert len(fake_provider.made) == 2
        assert session.cluster is fake_provider.made[1]


def test_a_variant_is_never_taken_from_a_cluster_that_lost_a_part(
    session: Session, fake_provider: FakeProvider
) -> None:
    with session:
        first = session.install("default")
        fake_provider.made[0].lose("etcd")
        assert session.install("default") is not first
        assert len(fake_provider.made) == 2


def test_a_cluster_that_cannot_be_emptied_is_replaced(
    session: Session, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    monkeypatch.setattr(progress, "note", notes.append)
    with session:
        session.run(scenario(PODS, nodes=NODES), "default")

        def stuck() -> None:
            raise ClusterError("reset: 1 objects will not go: Pod default/stuck")

        monkeypatch.setattr(fake_provider.made[0], "reset", stuck)
        session.empty()
        assert session.cluster is fake_provider.made[1]
    assert len(notes) == 1
    assert "Pod default/stuck" in notes[0]


def test_an_error_still_ends_what_was_started(session: Session) -> None:
    def fail() -> None:
        with session:
            schedulers.update(session.install("default").schedulers)
            raise RuntimeError("test failed")

    schedulers: dict[str, object] = {}
    with pytest.raises(RuntimeError, match="test failed"):
        fail()
    scheduler = schedulers["default-scheduler"]
    with pytest.raises(ClusterError, match="has ended"):
        scheduler.page("/healthz")  # type: ignore[attr-defined]


def test_a_scenario_that_is_not_for_the_provider_is_refused(session: Session, fake_provider: FakeProvider) -> None:
    with (
        session,
        pytest.raises(InputError, match=r'made\.yaml: cluster "fake": the scenario is declared for kind, exi'),
    ):
        session.run(scenario(PODS, clusters=["kind", "existing"]), "default")
    assert fake_provider.made == []


def test_what_differs_on_the_provider_is_what_is_run_and_kept(session: Session) -> None:
    there = scenario({"op": "createPods", "count": 5}, nodes=NODES, parameters={"pods": 5})
    made = scenario(PODS, nodes=NODES).model_copy(update={"elsewhere": {"fake": there}})
    with session:
        record = read(session.run(made, "default"))
    assert len(record.pods) == 5
    assert record.meta.parameters == {"pods": 5}


def test_after_a_node_died_the_next_run_has_a_new_cluster(session: Session, fake_provider: FakeProvider) -> None:
    def lose_a_node(told: str) -> None:
        if "step 2" in told:
            fake_provider.made[0].lose_node("node-1")

    with session:
        record = read(session.run(scenario(PODS, nodes=NODES), "default", report=lose_a_node))
        assert record.meta.node_deaths == ("node node-1 is gone",)
        assert read(session.run(scenario(PODS, nodes=NODES), "default")).meta.settled
    assert len(fake_provider.made) == 2


@pytest.mark.parametrize(
    "error",
    [
        CommandError(["docker", "exec", "mine-worker", "systemctl", "stop", "kubelet"], 1, "not running"),
        ApiError("DELETE", "/api/v1/pods", 500, "etcdserver: request timed out"),
        ApiError("GET", "/api/v1/pods", 429, "too many requests"),
    ],
)
@pytest.mark.parametrize("asked", ["reset", "check"])
def test_whatever_a_broken_cluster_answers_with_it_is_replaced(
    session: Session, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, asked: str, error: HarnessError
) -> None:
    def fails() -> None:
        raise error

    with session:
        session.run(scenario(PODS, nodes=NODES), "default")
        monkeypatch.setattr(fake_provider.made[0], asked, fails)
        assert read(session.run(scenario(PODS, nodes=NODES), "default")).meta.settled
    assert len(fake_provider.made) == 2


def test_a_cluster_that_cannot_be_made_is_not_tried_again(
    session: Session, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[ClusterSpec] = []

    @contextlib.contextmanager
    def fails(spec: ClusterSpec) -> Iterator[None]:
        tries.append(spec)
        raise CommandError(["kind", "create cluster"], 1, "no such image")
        yield

    monkeypatch.setattr(fake_provider, "cluster", fails)
    with session:
        for _ in range(3):
            with pytest.raises(CommandError, match="no such image"):
                session.run(scenario(PODS, nodes=NODES), "default")
    assert len(tries) == 1


def test_a_new_cluster_that_nobody_used_is_taken_where_every_run_gets_one(
    tmp_path: Path, fake_provider: FakeProvider
) -> None:
    with Session("fake", ClusterSpec(fresh=True), tmp_path / "runs") as session:
        assert session.cluster
        session.run(scenario(PODS, nodes=NODES), "default")
    assert len(fake_provider.made) == 1


def test_every_run_gets_a_new_cluster_where_that_was_chosen(tmp_path: Path, fake_provider: FakeProvider) -> None:
    made = scenario(PODS, nodes=NODES, expect=[{"kind": "count", "running": 2, "total": 2}])
    with Session("fake", ClusterSpec(fresh=True), tmp_path / "runs") as session:
        session.run(made, "default")
        session.run(made, "default")
    assert len(fake_provider.made) == 2
