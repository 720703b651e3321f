import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cluster.registry import CLUSTERS
from harness.testing import FakeCluster, FakeProvider
from tests.unit.cli.conftest import Ended, Harness
from tests.unit.run.given import write_scenario


class Other(FakeProvider):
    """The same under the name of another provider."""

    name = "kind"


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Other:
    provider = Other(tmp_path / ".others")
    monkeypatch.setitem(sys.modules, "other_clusters", SimpleNamespace(make=lambda: provider))
    monkeypatch.setitem(CLUSTERS.built_in, "kind", "other_clusters:make")
    return provider


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def compare(harness: Harness, fake_provider: FakeProvider, other: Other) -> Any:
    """`harness parity` on two fakes with the stock scheduler."""

    def call(*arguments: object) -> Ended:
        return harness("parity", "--clusters", "fake,kind", "--variant", "default", *arguments)

    return call


def parametrised(folder: Path, there: str) -> Path:
    path = folder / "counted.yaml"
    path.write_text(
        "name: counted\nsummary: Pods are counted.\nparameters: {running: 2}\nnodes: [{count: 2}]\n"
        "steps: [{op: createPods, count: 2}]\nexpect: [{kind: count, running: $running}]\n"
        f"on: {{kind: {{because: it is real, parameters: {there}}}}}\n"
    )
    return path


def test_the_same_verdicts_end_well_with_one_session_each(
    compare: Harness, here: Path, fake_provider: FakeProvider, other: Other
) -> None:
    ended = compare(write_scenario(here), write_scenario(here, "second"))
    assert ended.code == 0, ended.err + ended.out
    assert (len(fake_provider.made), len(other.made)) == (1, 1)
    header = ended.out.splitlines()[2]
    assert header.split() == ["scenario", "variant", "fake", "pods", "s", "kind", "pods", "s", "verdicts"]
    assert "2 of 2 compared gave the same verdicts" in ended.out


def test_a_different_verdict_has_code_1_and_both_evidences(compare: Harness, here: Path) -> None:
    ended = compare(parametrised(here, "{running: 3}"))
    assert ended.code == 1
    assert "counted[default] default: expectation 1 (count): ok on fake, REJECTED on kind" in ended.out
    assert "[1] differs on kind: it is real" in ended.out


def test_what_differs_as_declared_gives_the_same_verdicts(compare: Harness, here: Path) -> None:
    ended = compare(parametrised(here, "{running: 2}"), "--json")
    assert ended.code == 0
    (row,) = json.loads(ended.out)["rows"]
    assert (row["same"], row["differs"]) == (True, {"kind": "it is real"})


def test_what_is_not_for_a_provider_is_no_difference(compare: Harness, here: Path) -> None:
    path = write_scenario(here)
    only = here / "only.yaml"
    only.write_text(path.read_text() + "clusters: [kind]\n")
    ended = compare(only)
    assert ended.code == 0
    assert "not for it" in ended.out
    assert "0 of 0 compared" in ended.out


def test_trouble_on_one_provider_is_infrastructure_and_told(
    compare: Harness, here: Path, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(cluster: FakeCluster, nodes: object) -> Sequence[str]:
        if cluster.folder.parent == other.folder:
            cluster.lose("etcd exited with code 1")
        return ()

    monkeypatch.setattr(FakeCluster, "add_nodes", lose)
    ended = compare(write_scenario(here, "a-first"), write_scenario(here, "b-second"))
    assert ended.code == 3
    assert "on kind: the cluster lost a part: etcd exited with code 1" in ended.out
    assert "not tried after the error" in ended.out
    assert ended.out.count("ERROR") == 2


def test_saved_records_give_the_same_table_without_running(
    compare: Harness, harness: Harness, here: Path, fake_provider: FakeProvider
) -> None:
    live = compare(write_scenario(here), "--clusters", "kind,fake", "--markdown", "--out", here / "kept")
    assert live.code == 0
    before = len(fake_provider.made)
    saved = harness("parity", "--records", here / "kept", "--markdown")
    assert (saved.code, saved.out) == (0, live.out)
    one_by_one = [argument for path in sorted((here / "kept").iterdir()) for argument in ("--records", path)]
    assert harness("parity", *one_by_one, "--markdown").out == live.out
    assert len(fake_provider.made) == before


def test_a_saved_run_that_was_cut_short_is_infrastructure(compare: Harness, harness: Harness, here: Path) -> None:
    compare(write_scenario(here), "--out", here / "kept")
    path = next(
        path for path in (here / "kept").glob("*/run.json") if json.loads(path.read_text())["cluster"] == "kind"
    )
    path.write_text(json.dumps({**json.loads(path.read_text()), "status": "failed", "error": "docker went away"}))
    ended = harness("parity", "--records", here / "kept")
    assert ended.code == 3
    assert "on kind: docker went away" in ended.out


def test_records_of_one_provider_alone_are_refused(harness: Harness, here: Path, fake_provider: FakeProvider) -> None:
    harness("run", "--cluster", "fake", write_scenario(here), "--out", here / "kept")
    ended = harness("parity", "--records", here / "kept")
    assert ended.code == 2
    assert "all 1 records are of cluster fake; two at least expected" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--clusters", "embedded"), "two different ones at least expected"),
        (("--clusters", "kind,kind"), "two different ones at least expected"),
        (("--records", "nowhere"), "no record of a run in there"),
        (("--records", "nowhere", "twenty-pause"), "nothing is run"),
        (("twenty-pause", "--variant", "defalt"), "--variant defalt: not available; choose from: default"),
        (("sample-plugin", "--variant", "default"), "none of the chosen scenarios is declared for it"),
        (("twenty-pause", "--clusters", "embedded,knd"), 'cluster "knd": not available; choose from:'),
    ],
)
def test_bad_input_is_told(harness: Harness, arguments: tuple[str, ...], message: str) -> None:
    ended = harness("parity", *arguments)
    assert ended.code == 2
    assert message in ended.err
