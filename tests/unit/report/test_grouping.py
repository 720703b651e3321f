from dataclasses import replace
from pathlib import Path

from harness.errors import RecordError
from harness.record.read import read
from harness.report.repeats import sides
from harness.report.sections.grouping import groups, natural, readable, shown, slug, trouble
from harness.report.summary import RunSummary
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged


def run(variant: str = "default", *, scenario: str = "synthetic", extender: str | None = None) -> RunSummary:
    builder = RecordBuilder(variant=variant).node("n")
    if extender:
        builder.extender(extender)
    return judged(builder, scenario=scenario)


def test_repeats_are_numbered_and_others_are_not() -> None:
    labels = [one.label for one in shown([run(), run("extender"), run()])]
    assert labels == ["default #1", "extender", "default #2"]


def test_the_same_variant_of_another_scenario_is_no_repeat() -> None:
    named = shown([run(), run(scenario="other")])
    assert [one.label for one in named] == ["default", "default"]
    assert [one.title for one in named] == ["synthetic[default] default", "other[default] default"]


def test_runs_with_other_extenders_are_no_repeats_of_each_other() -> None:
    named = shown([run("extender", extender="a"), run("extender", extender="b"), run("extender", extender="a")])
    assert [one.label for one in named] == ["extender (ref:a) #1", "extender (ref:b)", "extender (ref:a) #2"]


def test_runs_on_another_version_are_told_apart() -> None:
    other = run()
    newer = replace(other.record, meta=replace(other.record.meta, versions={"kubernetes": "1.99.0"}))
    assert [one.variant for one in shown([other, RunSummary(newer, ())])] == ["default (1.36.3)", "default (1.99.0)"]


def test_sides_of_a_comparison_are_told_apart_and_so_are_their_runs() -> None:
    given = [replace(run(), side=side) for side in ("default #1", "default #1", "default #2")]
    named = shown(given)
    assert [one.variant for one in named] == ["default #1", "default #1", "default #2"]
    assert [one.label for one in named] == ["default #1.1", "default #1.2", "default #2"]


def test_another_configuration_of_the_scheduler_is_no_repeat(tmp_path: Path) -> None:
    runs = []
    for number, config in enumerate(("percentageOfNodesToScore: 0", "percentageOfNodesToScore: 9") * 2):
        path = RecordBuilder().node("n").write(tmp_path, f"run-{number}")
        (path / "scheduler-config.yaml").write_text(config)
        runs.append(RunSummary(read(path), ()))
    assert [one.label for one in shown(runs)] == ["default #1.1", "default #2.1", "default #1.2", "default #2.2"]
    # The chapter on differences calls them the same.
    assert [side.name for side in sides(runs)] == ["default #1", "default #2"]


def test_groups_are_scenarios_and_have_names_for_files() -> None:
    every = groups([run(), run(scenario="a b"), run("extender"), run(scenario="a/b")])
    assert [group.scenario for group in every] == ["synthetic[default]", "a b[default]", "a/b[default]"]
    assert [group.suffix for group in every] == ["-synthetic-default", "-a-b-default", "-a-b-default-2"]
    assert every[0].variants == ["default", "extender"]
    assert [group.suffix for group in groups([run(), run()])] == [""]


def test_a_name_for_a_file_has_nothing_that_a_file_cannot_have() -> None:
    assert slug("../a[b] c/<x>") == "a-b-c-x"
    assert slug("场景") == "run"


def test_numbers_in_names_count_as_numbers() -> None:
    names = ["node-10", "node-9", "a", "node-1-b", "node-1"]
    assert sorted(names, key=natural) == ["a", "node-1", "node-1-b", "node-9", "node-10"]


def test_damage_gives_something_else_and_can_be_told() -> None:
    def damaged(text: str) -> int:
        raise RecordError(text)

    assert readable(7, damaged, "x") == 7
    assert trouble(damaged, "it is broken") == "it is broken"
    assert trouble(int, "5") is None
    assert trouble(int, "five") is not None
