from pathlib import Path

from harness.report.document import Code, Facts, Fold
from harness.report.sections import environment
from harness.report.sections.environment import FILES_MAX
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, from_disk, of, rows

MACHINE = {"system": "Linux", "cpu": "fast one", "cores": 2, "memory_bytes": 8_000_000_000, "id": "abc"}


def commands(*runs: object) -> list[str]:
    section = environment.section(of(*runs), ENGLISH)  # type: ignore[arg-type]
    assert section is not None
    (code,) = [block for block in section.blocks if isinstance(block, Code)]
    return str(code.text).splitlines()


def test_without_runs_there_is_nothing_to_say() -> None:
    assert environment.section(of(), ENGLISH) is None


def test_the_command_is_quoted_as_a_shell_reads_it() -> None:
    run = judged(RecordBuilder(), command=("/somewhere/bin/harness", "run", "x", "--extender", "cmd:./my ext {port}"))
    assert commands(run, run) == ["harness run x --extender 'cmd:./my ext {port}'"]


def test_a_run_of_pytest_gets_the_command_that_it_comes_down_to() -> None:
    builder = RecordBuilder(variant="extender").extender("pass-through")
    run = judged(builder, command=("-q", "-k", "a or b"), seed=7)
    expected = "harness run synthetic --size default --variant extender --seed 7 --cluster embedded"
    assert commands(run) == [f"{expected} --extender ref:pass-through"]
    folds = blocks(environment.section(of(run), ENGLISH), Fold)
    assert any("pytest -q -k 'a or b'" in getattr(block, "text", "") for fold in folds for block in fold.blocks)


def test_what_differs_between_runs_is_told_with_all_its_values() -> None:
    first = judged(RecordBuilder(), versions={"kubernetes": "1.34.0"}, machine=MACHINE, seed=0)
    second = judged(RecordBuilder(), versions={"kubernetes": "1.36.0"}, machine=MACHINE, seed=1)
    (facts,) = blocks(environment.section(of(first, second), ENGLISH), Facts)
    told = dict(facts.pairs)
    assert told["Kubernetes"] == "1.34.0; 1.36.0"
    assert told["seed"] == "0; 1"
    assert told["machine"] == "fast one, 2 cores, 8.0 GB of memory, Linux"


def test_moments_are_told_to_the_second() -> None:
    first = judged(RecordBuilder(), started_at="2026-11-16T18:44:17.280834+00:00")
    second = judged(RecordBuilder(), started_at="2026-11-16T20:45:00+01:00")
    damaged = judged(RecordBuilder(), started_at="yesterday")
    section = environment.section(of(first, second), ENGLISH)
    (facts,) = blocks(section, Facts)
    assert dict(facts.pairs)["started at (first; last)"] == "2026-11-16 18:44:17 UTC; 2026-11-16 19:45:00 UTC"
    assert rows(section, "environment")[0]["started_at"] == "2026-11-16 18:44:17 UTC"
    (row,) = rows(environment.section(of(damaged), ENGLISH), "environment")
    assert row["started_at"] == "yesterday"


def test_configuration_and_scenario_are_told_once_per_text(tmp_path: Path) -> None:
    paths = []
    for name, variant in (("a", "default"), ("b", "default"), ("c", "extender"), ("d", "controller")):
        path = RecordBuilder(variant=variant).node("n").write(tmp_path, f"20261116-053610-{name}")
        (path / "scheduler-config.yaml").write_text("kind: Other\n" if variant == "controller" else "kind: Config\n")
        (path / "inputs" / "scenario.yaml").write_text("name: x\n")
        paths.append(path)
    folds = blocks(environment.section(from_disk(*paths), ENGLISH), Fold)
    titles = {fold.title: fold.blocks[0].text for fold in folds if isinstance(fold.blocks[0], Code)}
    assert titles == {
        "Scheduler configuration: synthetic[default] default, synthetic[default] extender": "kind: Config\n",
        "Scheduler configuration: synthetic[default] controller": "kind: Other\n",
        "Scenario file: synthetic[default]": "name: x\n",
    }


def test_files_are_bounded(tmp_path: Path) -> None:
    paths = []
    for number in range(FILES_MAX + 3):
        path = RecordBuilder(variant=f"v{number}").node("n").write(tmp_path, f"20261116-053610-{number}")
        (path / "scheduler-config.yaml").write_text(f"number: {number}\n" + "# long\n" * 20_000)
        paths.append(path)
    section = environment.section(from_disk(*paths), ENGLISH)
    folds = [fold for fold in blocks(section, Fold) if isinstance(fold.blocks[0], Code)]
    assert len(folds) == FILES_MAX
    assert all(len(fold.blocks[0].text) < 50_000 for fold in folds)
    assert any("3 more are in the records" in getattr(block, "text", "") for block in section.blocks)  # type: ignore[union-attr]


def test_every_run_is_a_row_with_versions_and_times() -> None:
    run = judged(RecordBuilder(), machine={**MACHINE, "load_at_start": 1.5}, ready_seconds=2.5)
    (row,) = rows(environment.section(of(run), ENGLISH), "environment")
    assert (row["kubernetes_version"], row["etcd_version"], row["machine"]) == ("1.36.3", None, "abc")
    assert (row["ready_seconds"], row["duration_seconds"], row["load_at_start"]) == (2.5, 10.0, 1.5)


def test_the_settings_of_schedulers_are_told_once_as_far_as_they_are_known() -> None:
    stock = {"name": "default-scheduler", "verbosity": 2, "qps": -1, "burst": 0, "leaderElect": False, "traced": False}
    mine = {"name": "mine", "command": ["mine"], "verbosity": None, "qps": None, "traced": False}
    runs = [judged(RecordBuilder(), schedulers=(stock, mine)), judged(RecordBuilder(), schedulers=(stock, "damaged"))]
    (facts,) = blocks(environment.section(of(*runs), ENGLISH), Facts)
    assert dict(facts.pairs)["settings of the schedulers"] == (
        "default-scheduler (verbosity 2, qps -1, burst 0, leaderElect false, traced false); mine (traced false)"
    )
    (facts,) = blocks(environment.section(of(judged(RecordBuilder())), ENGLISH), Facts)
    assert "settings of the schedulers" not in dict(facts.pairs)
