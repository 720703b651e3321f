import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.base import ClusterSpec
from harness.errors import BuildError, HarnessError, MissingToolError, VariantError
from harness.testing import FakeCluster, FakeProvider
from tests.unit.cli.conftest import Ended, Harness
from tests.unit.run.given import write_scenario


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(harness: Harness, fake_provider: FakeProvider) -> Any:
    """`harness run` on the fake cluster."""

    def call(*arguments: object) -> Ended:
        return harness("run", "--cluster", "fake", *arguments)

    return call


def test_an_unknown_scenario_is_answered_with_the_nearest(run: Harness, fake_provider: FakeProvider) -> None:
    ended = run("twenty-paus")
    assert ended.code == 2
    assert 'scenario "twenty-paus"' in ended.err
    assert 'did you mean "twenty-pause"?' in ended.err
    assert fake_provider.made == []


def test_an_unknown_variant_is_answered_with_the_choices(run: Harness, here: Path, fake_provider: FakeProvider) -> None:
    ended = run(write_scenario(here), "--variant", "defualt")
    assert ended.code == 2
    assert "--variant defualt: not available; choose from: default" in ended.err
    assert fake_provider.made == []


def test_an_unknown_cluster_is_answered_with_the_choices(harness: Harness, here: Path) -> None:
    ended = harness("run", write_scenario(here), "--cluster", "kin")
    assert ended.code == 2
    assert 'cluster "kin": not available; choose from: embedded' in ended.out + ended.err


def test_an_unknown_kubernetes_version_is_answered_with_the_choices(harness: Harness, here: Path) -> None:
    ended = harness("run", write_scenario(here), "--kubernetes", "1.20")
    assert ended.code == 2
    assert "--kubernetes 1.20: not supported; choose one of 1.34 (" in ended.out + ended.err


def test_a_folder_without_a_control_plane_is_refused(harness: Harness, here: Path) -> None:
    ended = harness("run", write_scenario(here), "--controlplane-bin", here)
    assert ended.code == 2
    assert "no built control plane there" in ended.out + ended.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [broken\n", "broken.yaml:2:1:"),
        ("name: x\nsummary: y\nsteps: [{op: jump}]\nexpect: [{kind: count, total: 1}]\n", "broken.yaml:3: steps[0]"),
        (
            "name: x\nsummary: y\nsteps: [{op: createPods, count: -1}]\nexpect: [{kind: count, total: 1}]\n",
            "broken.yaml:3: steps[0].count",
        ),
        (
            "name: x\nsummary: y\nsteps: [{op: create, file: nowhere.yaml}]\nexpect: [{kind: count, total: 1}]\n",
            "nowhere.yaml",
        ),
    ],
    ids=["yaml", "step", "count", "manifest"],
)
def test_a_broken_scenario_is_told_with_file_and_line(
    run: Harness, here: Path, fake_provider: FakeProvider, text: str, told: str
) -> None:
    (here / "broken.yaml").write_text(text)
    ended = run("broken.yaml")
    assert ended.code == 2
    assert told in ended.err
    assert fake_provider.made == []


def test_an_unknown_size_is_answered_with_the_choices(run: Harness) -> None:
    ended = run("twenty-pause", "--size", "huge")
    assert ended.code == 2
    assert "huge" in ended.err
    assert "lab" in ended.err


def test_labels_that_fit_nothing_are_refused(run: Harness, here: Path) -> None:
    ended = run(write_scenario(here), "--label", "slow")
    assert ended.code == 2
    assert "quick" in ended.err


def test_a_run_that_held_is_told_to_people(run: Harness, here: Path) -> None:
    ended = run(write_scenario(here))
    assert ended.code == 0
    first, nodes, record, _, held, last = ended.out.splitlines()
    assert first.startswith("PASS  small[default] default: 4 running (")
    assert nodes.strip() == "pods per node: node-1 2, node-2 2"
    folder = Path(record.split("record:")[1].strip())
    assert folder.is_dir()
    assert held == "1 of 1 runs held"
    assert last == f"report: harness report {folder.name}"


def test_a_run_that_did_not_hold_has_code_1_and_the_evidence(run: Harness, here: Path) -> None:
    ended = run(write_scenario(here, running=5))
    assert ended.code == 1
    assert ended.out.startswith("FAIL  small[default] default")
    assert "REJECTED" in ended.out
    assert "0 of 1 runs held\n" in ended.out


def test_every_verdict_is_shown_on_demand(run: Harness, here: Path) -> None:
    path = write_scenario(here)
    assert "overcommitted nodes" not in run(path).out
    assert "overcommitted nodes" in run(path, "--verbose").out


def test_the_json_document_has_what_a_program_wants(run: Harness, here: Path) -> None:
    ended = run(
        write_scenario(here), write_scenario(here, "wrong", running=5), "--json", "--seed", "7", "--out", "kept"
    )
    assert ended.code == 1
    document = json.loads(ended.out)
    assert document["ok"] is False
    held, wrong = document["runs"]
    assert (held["scenario"], held["size"], held["variant"], held["seed"]) == ("small", "default", "default", 7)
    assert held["ok"] is True
    assert held["pods"] == {"running": 4, "pending": 0, "succeeded": 0, "failed": 0, "total": 4}
    assert held["placements"] == {"pod-1": "node-1", "pod-2": "node-2", "pod-3": "node-1", "pod-4": "node-2"}
    assert {verdict["kind"] for verdict in held["verdicts"]} >= {"count", "overcommit", "missingPod"}
    assert Path(held["record"]).parent == Path("kept")
    assert json.loads((Path(held["record"]) / "verdicts.json").read_text())
    assert wrong["ok"] is False
    assert [verdict["kind"] for verdict in wrong["verdicts"] if not verdict["ok"]] == ["count"]


def test_a_json_document_that_held_says_ok(run: Harness, here: Path) -> None:
    ended = run(write_scenario(here), "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["ok"] is True


def test_repeats_have_seeds_of_their_own_and_end_in_a_table(run: Harness, here: Path) -> None:
    document = json.loads(run(write_scenario(here), "--repeat", "3", "--seed", "5", "--json").out)
    assert [one["seed"] for one in document["runs"]] == [5, 6, 7]
    out = run(write_scenario(here), "--repeat", "2").out
    assert "2/2" in out
    assert "p50" in out
    assert out.endswith("2 of 2 runs held\nreport: harness report latest:2\n")


def test_a_step_that_is_refused_is_bad_input_and_the_others_still_run(run: Harness, here: Path) -> None:
    (here / "refused.yaml").write_text(
        "name: refused\nsummary: y\n"
        "steps: [{op: scale, name: nobody, replicas: 1}]\n"
        "expect: [{kind: count, total: 0}]\n"
    )
    document = json.loads(run("refused.yaml", write_scenario(here), "--json").out)
    assert document["ok"] is False
    held, refused = document["runs"]
    assert held["ok"] is True
    assert refused["ok"] is False
    assert "refused.yaml:3: step 1 (scale)" in refused["error"]
    ended = run("refused.yaml", write_scenario(here))
    assert ended.code == 2
    assert "ERROR refused[default] default" in ended.out
    assert "1 of 2 runs held, 1 could not be made" in ended.out


def test_a_lost_cluster_is_infrastructure_and_ends_everything(
    run: Harness, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(cluster: FakeCluster, nodes: object) -> Sequence[str]:
        cluster.lose("etcd exited with code 1")
        return ()

    monkeypatch.setattr(FakeCluster, "add_nodes", lose)
    ended = run(write_scenario(here), write_scenario(here, "never"), "--json")
    assert ended.code == 3
    (only,) = json.loads(ended.out)["runs"]
    assert "lost a part: etcd exited with code 1" in only["error"]


def test_a_failed_build_is_infrastructure(run: Harness, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(provider: FakeProvider, spec: ClusterSpec) -> None:
        raise BuildError("no Go module proxy")

    monkeypatch.setattr(FakeProvider, "prepare", fail)
    monkeypatch.setattr(FakeProvider, "cluster", fail)
    ended = run(write_scenario(here))
    assert ended.code == 3
    assert "no Go module proxy" in ended.out + ended.err


def test_what_is_not_declared_for_the_cluster_is_left_out_and_told(
    run: Harness, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("harness.cli.plan.note", told.append)
    only = here / "only.yaml"
    only.write_text(write_scenario(here, "other").read_text() + "clusters: [kind]\n")
    ended = run(write_scenario(here), only)
    assert ended.code == 0
    assert "1 of 1 runs held" in ended.out
    assert told == ["not declared for cluster fake, left out: other"]
    ended = run(only)
    assert ended.code == 2
    assert "cluster fake: none of the chosen scenarios is declared for it" in ended.err


def test_a_variant_that_a_scenario_is_not_for_is_told_with_those_that_it_is_for(run: Harness, here: Path) -> None:
    only = here / "only.yaml"
    only.write_text(write_scenario(here, "other").read_text() + "controller: ref:random\n")
    ended = run(only, "--variant", "default")
    assert ended.code == 2
    assert "none of the chosen scenarios is declared for it (other is for controller)" in ended.err


def test_a_report_of_what_was_just_run_is_written_on_demand(run: Harness, here: Path) -> None:
    ended = run(write_scenario(here), "--repeat", "2", "--report", "made")
    assert ended.code == 0
    assert "report: made/report.html\nreport: made/report.md\n" in ended.out
    assert (here / "made" / "report.html").is_file()
    as_json = run(write_scenario(here), "--json", "--report", "again")
    assert json.loads(as_json.out)["ok"] is True
    assert (here / "again" / "report.html").is_file()


def test_the_command_for_a_report_fits_where_the_records_are(run: Harness, here: Path) -> None:
    one = run(write_scenario(here), "--out", "kept").out.splitlines()[-1]
    assert one.startswith("report: harness report kept/")
    two = run(write_scenario(here), "--out", "kept", "--repeat", "2").out.splitlines()[-1]
    assert two == "report: HARNESS_RUNS=kept harness report latest:2"


@pytest.mark.parametrize(
    "error",
    [VariantError("no such identity"), BuildError("plugin does not compile"), MissingToolError("Go is not here")],
)
def test_a_variant_that_cannot_be_installed_leaves_the_others_their_runs(
    run: Harness, here: Path, monkeypatch: pytest.MonkeyPatch, error: HarnessError
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("harness.variant.second_scheduler.SecondSchedulerVariant.install", fail)
    ended = run(write_scenario(here), *(f"--variant={name}" for name in ("second-scheduler", "default", "controller")))
    assert ended.code == 3
    assert f"ERROR small[default] second-scheduler: {error}" in ended.out
    assert "\n2 of 3 runs held, 1 could not be made\n" in ended.out
    table = [line.split() for line in ended.out.splitlines() if line.startswith("small[default]")]
    assert [row[1:4] for row in table] == [
        ["default", "1/1", "4"],
        ["controller", "1/1", "4"],
        ["second-scheduler", "not", "made"],
    ]
