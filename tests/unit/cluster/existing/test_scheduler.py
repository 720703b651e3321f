from pathlib import Path

import pytest
import yaml

from harness.cluster.base import Program, Scheduler
from harness.cluster.existing import scheduler
from harness.errors import ClusterError
from tests.unit.cluster.existing.world import NAMES

CONFIG = (
    "kind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n- schedulerName: mine\n- {}\n"
)


def test_profiles_get_names_of_the_run() -> None:
    made, mapping = scheduler.renamed(CONFIG.replace("- {}\n", ""), NAMES)
    assert mapping == {"default-scheduler": "h-0123abcd", "mine": "h-0123abcd-mine"}
    assert [profile["schedulerName"] for profile in yaml.safe_load(made)["profiles"]] == [
        "h-0123abcd",
        "h-0123abcd-mine",
    ]
    assert yaml.safe_load(made)["kind"] == "KubeSchedulerConfiguration"


def test_a_profile_without_a_name_is_the_default_one() -> None:
    _, mapping = scheduler.renamed("profiles: [{}]", NAMES)
    assert mapping == {"default-scheduler": "h-0123abcd"}


def test_a_program_is_told_the_names_it_has_here() -> None:
    program = Program(("run", "--name", "mine", "minery"), {"SCHEDULER_NAME": "mine", "OTHER": "mine or not"})
    told = scheduler.told_names(program, {"mine": "h-0123abcd-mine"})
    assert told is not None
    assert told.command == ("run", "--name", "h-0123abcd-mine", "minery")
    assert told.env == {"SCHEDULER_NAME": "h-0123abcd-mine", "OTHER": "mine or not"}
    assert scheduler.told_names(None, {}) is None


def test_the_clusters_own_scheduler_shows_nothing(tmp_path: Path) -> None:
    own: Scheduler = scheduler.OwnScheduler(tmp_path / "log")
    assert own.cpu_seconds() is None
    assert yaml.safe_load(own.config)["profiles"] == [{"schedulerName": "default-scheduler"}]
    with pytest.raises(ClusterError, match="/metrics: the cluster's own scheduler is not reached"):
        own.page("/metrics")


def test_kwok_plays_the_nodes_of_the_run_and_no_others(tmp_path: Path) -> None:
    flags = list(scheduler.kwok_flags(tmp_path / "k", tmp_path / "s", NAMES))
    assert "--manage-all-nodes=false" in flags
    assert "--manage-nodes-with-label-selector=scheduler-harness.io/run=0123abcd" in flags
