import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from harness.cluster.base import Cluster, Program
from harness.errors import ClusterError, VariantError
from harness.testing.cluster import FakeCluster, FakeScheduler
from harness.variant.config import prove_live, proven, render
from harness.variant.default import DefaultVariant

KUBECONFIG = Path("/x/scheduler.kubeconfig")


class Told:
    """A scheduler that tells a configuration."""

    log = Path("/x/scheduler.log")
    config = ""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def cpu_seconds(self) -> float | None:
        return None

    def page(self, path: str) -> str:
        assert path == "/configz"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_configuration_names_the_kubeconfig_and_limits_no_client() -> None:
    document = yaml.safe_load(render(KUBECONFIG))
    assert document["kind"] == "KubeSchedulerConfiguration"
    assert document["clientConnection"] == {"kubeconfig": str(KUBECONFIG), "qps": -1, "burst": 0}
    assert document["leaderElection"] == {"leaderElect": False}
    assert document["profiles"] == [{"schedulerName": "default-scheduler"}]


def test_profiles_differ_and_everything_else_does_not() -> None:
    plain = yaml.safe_load(render(KUBECONFIG))
    other = yaml.safe_load(render(KUBECONFIG, settings={"profiles": [{"schedulerName": "mine"}]}))
    assert other.pop("profiles") != plain.pop("profiles")
    assert other == plain


def test_a_scheduler_that_runs_what_was_rendered_is_proven() -> None:
    config = render(KUBECONFIG)
    prove_live(Told(json.dumps({"componentconfig": yaml.safe_load(config)})), config)


def test_keys_spelt_as_go_does_prove_as_much() -> None:
    prove_live(Told('{"componentconfig": {"Profiles": [{"SchedulerName": "default-scheduler"}]}}'), render(KUBECONFIG))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            '{"componentconfig": {"profiles": [{"schedulerName": "other"}]}}',
            r"\['other'\], \['default-scheduler'\] exp",
        ),
        ('{"componentconfig": {}}', r"runs the profiles \[\]"),
        ("{}", r"runs the profiles \[\]"),
        (ClusterError("refused"), "does not tell its configuration: refused"),
    ],
)
def test_anything_else_is_no_proof_and_names_the_log(answer: str | Exception, message: str) -> None:
    with pytest.raises(VariantError, match=rf"{message}(?s:.*)scheduler\.log"):
        prove_live(Told(answer), render(KUBECONFIG))


def test_the_default_variant_needs_a_cluster_that_runs_schedulers() -> None:
    real: Any = SimpleNamespace(name="somewhere")
    cluster: Cluster = real
    with pytest.raises(VariantError, match='cluster "somewhere" cannot run a scheduler process'):
        DefaultVariant().install(cluster).__enter__()


@pytest.mark.parametrize("page", ["ok", "[", "- a list", ClusterError("no such page")])
def test_a_stranger_that_tells_no_configuration_needs_no_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str | Exception
) -> None:
    """One that says "ok" at every path is as good as one without the page."""
    cluster = FakeCluster(tmp_path)
    monkeypatch.setattr(FakeScheduler, "page", Told(page).page)
    with proven(cluster, render(KUBECONFIG), "mine", Program(("mine",), guarded=True)) as scheduler:
        assert scheduler.config == render(KUBECONFIG)
