import json
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.existing import undo
from harness.cluster.existing.body import marked
from harness.cluster.existing.undo import Journal
from harness.errors import ApiError, ClusterError
from harness.kube import CONFLICT
from tests.unit.cluster.existing.world import NAMES, World, node

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
NODE = "/api/v1/nodes/n"
OWN = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
TAINT = {"key": "dedicated", "effect": "NoSchedule"}
CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def test_what_was_created_goes_and_what_somebody_else_put_there_stays(tmp_path: Path) -> None:
    kube, journal = World(), Journal(tmp_path)
    journal.creating(f"{CLASSES}/high")
    journal.creating(f"{CLASSES}/never-made")
    journal.creating(f"{CLASSES}/replaced")
    kube.create(marked(OWN, NAMES))
    kube.create({**OWN, "metadata": {"name": "replaced"}})
    assert journal.undo(kube, NAMES) == ["priorityclasses/high"]
    assert [key for key in kube.held() if "PriorityClass" in key] == ["PriorityClass replaced"]
    assert not journal.has_created(f"{CLASSES}/high")


def test_what_is_kept_stays_until_it_is_not(tmp_path: Path) -> None:
    kube, journal = World(), Journal(tmp_path)
    journal.creating(f"{CLASSES}/high")
    kube.create(marked(OWN, NAMES))
    assert journal.undo(kube, NAMES, {f"{CLASSES}/high"}) == []
    assert journal.undo(kube, NAMES) == ["priorityclasses/high"]


def test_it_is_written_down_before_it_is_done_and_read_by_whoever_comes_next(tmp_path: Path) -> None:
    kube = World()
    kube.create(node("n", {"zone": "a"}))
    Journal(tmp_path).creating(f"{CLASSES}/high")
    Journal(tmp_path).changing(kube.request("GET", NODE), {"metadata": {"labels": {"zone": "b"}}})
    assert json.loads((tmp_path / undo.FILE).read_text())["created"] == [f"{CLASSES}/high"]
    kube.create(marked(OWN, NAMES))
    kube.patch(NODE, {"metadata": {"labels": {"zone": "b"}}})
    assert Journal(tmp_path).undo(kube, NAMES) == ["priorityclasses/high", "nodes/n as it was"]
    assert kube.request("GET", NODE)["metadata"]["labels"] == {"zone": "a"}
    assert Journal(tmp_path).undo(kube, NAMES) == []


def changed(kube: World, journal: Journal, change: dict[str, Any]) -> None:
    journal.changing(kube.request("GET", NODE), change)
    kube.patch(NODE, change)


def test_a_node_is_put_back_as_it_was_before_the_first_change(tmp_path: Path) -> None:
    kube, journal = World(), Journal(tmp_path)
    kube.create(node("n", {"zone": "a"}, taints=[TAINT]))
    changed(kube, journal, {"metadata": {"labels": {"zone": "b", "new": "x"}}})
    changed(kube, journal, {"metadata": {"labels": {"zone": "c"}}, "spec": {"taints": [], "unschedulable": True}})
    # Others go on meanwhile: a controller taints, a person labels.
    kube.patch(NODE, {"metadata": {"labels": {"by": "others"}}, "spec": {"taints": [CORDONED]}})
    journal.undo(kube, NAMES)
    now = kube.request("GET", NODE)
    assert now["metadata"]["labels"] == {"zone": "a", "by": "others"}
    assert now["spec"]["taints"] == [TAINT, CORDONED]
    assert "unschedulable" not in now["spec"]


def test_a_node_that_was_cordoned_stays_cordoned(tmp_path: Path) -> None:
    kube, journal = World(), Journal(tmp_path)
    kube.create(node("n", unschedulable=True))
    changed(kube, journal, {"spec": {"unschedulable": False}})
    journal.undo(kube, NAMES)
    assert kube.request("GET", NODE)["spec"]["unschedulable"] is True


def test_a_node_that_is_gone_or_busy_is_no_riddle(tmp_path: Path) -> None:
    kube, journal = World(), Journal(tmp_path)
    kube.create(node("n"))
    changed(kube, journal, {"spec": {"unschedulable": True}})
    tries = 0

    def patch(path: str, change: object) -> dict[str, Any]:
        nonlocal tries
        tries += 1
        raise ApiError("PATCH", path, CONFLICT, "modified")

    real, kube.patch = kube.patch, patch  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match=r"node n could not be put back .* Before: .*unschedulable"):
        journal.undo(kube, NAMES)
    assert tries == undo.TRIES
    kube.patch = real  # type: ignore[method-assign]
    kube.delete(NODE)
    journal.undo(kube, NAMES)
