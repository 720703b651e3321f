import json
import os
import signal
from pathlib import Path

import pytest

from harness import process, temporary, toolchain
from harness.cluster.embedded.releases import releases
from harness.cluster.folder import folders
from harness.cluster.kind.provider import KindProvider
from harness.cluster.recovery import Swept
from harness.errors import MissingToolError
from harness.paths import runs_folder
from tests.processes import await_gone, await_text, python
from tests.unit.cli.conftest import Harness
from tests.unit.expect.records import NO_CPU, RecordBuilder

OWNS = (
    "import sys\n"
    "from harness.cluster.folder import ClusterFolder\n"
    "with ClusterFolder.create(sys.argv[1]) as folder:\n"
    "    folder.announce(versions={'kubernetes': '1.0.0'}, kubeconfig='/x', kept=True)\n"
    "    print('ready', flush=True)\n"
    "    sys.stdin.read()"
)


def own(folder: Path, name: str) -> process.Child:
    """Start a process that owns a cluster's folder, as `harness up` leaves one."""
    child = process.spawn(name, python(OWNS, name), log=folder / f"{name}.log")
    await_text(child.log)
    return child


def test_why_explains_a_pod_of_the_latest_record(harness: Harness) -> None:
    RecordBuilder().node("n").pod("waits", message=NO_CPU).write(runs_folder())
    ended = harness("why", "waits")
    assert ended.code == 0
    assert "Insufficient cpu" in ended.out
    story = json.loads(harness("why", "waits", "--json").out)
    assert story["pod"].endswith("waits")


def test_why_is_answered_with_what_there_is(harness: Harness) -> None:
    ended = harness("why", "pod-1")
    assert ended.code == 2
    assert "make one with `harness run`" in ended.err
    RecordBuilder().node("n").pod("web-1", "n").write(runs_folder())
    ended = harness("why", "web-2")
    assert ended.code == 2
    assert "web-1" in ended.err


def test_a_schema_is_printed(harness: Harness) -> None:
    document = json.loads(harness("schema").out)
    assert {"name", "steps", "expect"} <= document["properties"].keys()


def test_doctor_tells_what_is_here(harness: Harness) -> None:
    document = json.loads(harness("doctor", "--json").out)
    assert [one["minor"] for one in document["kubernetes"]] == [one.minor for one in releases()]
    assert "embedded" in document["clusters"]
    assert "default" in document["variants"]
    assert document["cache"]["free_gib"] > 0
    text = harness("doctor").out
    for one in releases():
        assert one.version in text


def test_doctor_says_when_nothing_could_be_run(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(minimum: str) -> None:
        raise MissingToolError(f"needs Go {minimum}")

    monkeypatch.setattr(toolchain, "find", missing)
    ended = harness("doctor")
    assert ended.code == 3
    assert "MISSING: needs Go" in ended.out


def test_without_clusters_there_is_nothing_to_list_end_or_clean(harness: Harness) -> None:
    assert harness("list").out == "no cluster is up\n"
    assert json.loads(harness("list", "--json").out) == []
    assert harness("down").out == "no cluster is up\n"
    assert harness("clean").out == "nothing was left behind\n"


def test_clusters_are_listed_with_their_state(harness: Harness, tmp_path: Path) -> None:
    up, crashed = own(tmp_path, "lives"), own(tmp_path, "crashed")
    os.kill(crashed.pid, signal.SIGKILL)
    await_gone([crashed.pid])
    found = {one["name"]: one for one in json.loads(harness("list", "--json").out)}
    assert (found["lives"]["state"], found["lives"]["kubernetes"], found["lives"]["owner"]) == ("up", "1.0.0", up.pid)
    assert found["crashed"]["state"] == "left behind"
    assert {"processes", "memory_mib", "kubeconfig"} <= found["lives"].keys()
    text = harness("list").out
    assert "memory MiB" in text
    assert "left behind" in text
    for child in (up, crashed):
        child.stop()


def test_clean_removes_what_crashed_and_nothing_else(harness: Harness, tmp_path: Path) -> None:
    up, crashed = own(tmp_path, "lives"), own(tmp_path, "crashed")
    os.kill(crashed.pid, signal.SIGKILL)
    await_gone([crashed.pid])
    assert harness("clean").out == "removed what was left of crashed\n"
    assert [folder.name for folder in folders()] == ["lives"]
    for child in (up, crashed):
        child.stop()


def test_clean_says_what_it_found_without_any_folder_and_what_it_leaves_alone(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KindProvider, "sweep", lambda _: Swept(["kind cluster a"], ["kind cluster b is left alone"]))
    assert harness("clean").out == "removed kind cluster a\nkind cluster b is left alone\n"
    monkeypatch.setattr(KindProvider, "sweep", lambda _: Swept([], ["kind cluster b is left alone"]))
    assert harness("clean").out == "kind cluster b is left alone\n"


def test_clean_removes_what_killed_commands_left(harness: Harness) -> None:
    """Its owner is gone: nobody holds its lock."""
    with temporary.folder("load") as folder:
        assert harness("clean").out == "nothing was left behind\n"
    folder.mkdir()
    assert harness("clean").out == f"removed temporary folders of killed commands: {folder.name}\n"
    assert not folder.exists()
    assert harness("clean").out == "nothing was left behind\n"


def test_down_ends_the_owner_and_removes_its_folder(harness: Harness, tmp_path: Path) -> None:
    child = own(tmp_path, "mine")
    assert harness("down", "mine").out == "cluster mine is down\n"
    assert child.ended.wait(10)
    assert folders() == []
    child.stop()


def test_down_wants_a_name_when_there_are_several(harness: Harness, tmp_path: Path) -> None:
    children = [own(tmp_path, name) for name in ("one", "two")]
    ended = harness("down")
    assert ended.code == 2
    assert "2 clusters are up: one, two; name one, or give --all" in ended.err
    assert harness("down", "--all").code == 0
    for child in children:
        assert child.ended.wait(10)
        child.stop()


def test_down_of_an_unknown_cluster_is_answered_with_the_known(harness: Harness, tmp_path: Path) -> None:
    child = own(tmp_path, "mine")
    ended = harness("down", "yours")
    assert ended.code == 2
    assert 'no cluster "yours" is up; up are: mine' in ended.err
    child.stop()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--kubernetes", "1.20"), "--kubernetes 1.20: not supported"),
        (("--controlplane-bin", "/nowhere"), "/nowhere: no built control plane there"),
        (("--cluster", "moon"), 'cluster "moon": not available'),
    ],
)
def test_up_refuses_bad_input(harness: Harness, arguments: tuple[str, ...], told: str) -> None:
    ended = harness("up", *arguments)
    assert ended.code == 2
    assert told in ended.err
