"""Which scenarios are meant when nobody names one."""

from pathlib import Path

import pytest

from harness.cli.plan import choose, for_own_extender, plan
from harness.errors import InputError
from harness.paths import shipped
from harness.scenario.model import Scenario
from tests.unit.cli.conftest import Harness
from tests.unit.run.given import scenario

PODS = {"op": "createPods", "count": 1}
OWN = {"extenders": [{"subject": "ref:lucky"}]}


def names(chosen: list[Scenario]) -> list[str]:
    return [made.name for made in chosen]


def test_a_users_extender_is_judged_by_scenarios_about_any(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("harness.cli.plan.note", told.append)
    plain = scenario(PODS, name="plain")
    chosen = [plain, scenario(PODS, name="own", **OWN), scenario(PODS, name="broken", labels=["faults"])]
    assert names(for_own_extender(chosen)) == ["plain"]
    assert names(for_own_extender([plain])) == ["plain"]
    assert told == ["about extenders of their own, left out: 2 of 3; name one to run it with yours"]
    with pytest.raises(InputError, match="name one to run it with yours"):
        for_own_extender(chosen[1:])


def test_the_shipped_scenarios_stand_in_where_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = choose((), (), "")
    assert {made.path.is_relative_to(shipped("scenarios")) for made in chosen} == {True}
    assert not any("must_fail" in made.path.parts for made in chosen)


def test_what_ships_has_scenarios_for_any_extender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runs = plan(for_own_extender(choose((), (), "")), ["extender"], [0], "embedded")
    assert runs
    assert all(not planned.scenario.extenders and "faults" not in planned.scenario.labels for planned in runs)


def test_a_scenario_that_was_named_runs_with_ones_own_extender(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "own.yaml").write_text(
        "name: own\nsummary: Own.\nextenders: [{subject: 'ref:lucky'}]\n"
        "steps: [{op: createPods, count: 1}]\nexpect: [{kind: count, total: 1}]\n"
    )
    unnamed = harness("run", "--extender", "cmd:./nowhere {port}")
    assert unnamed.code == 2
    assert "every chosen scenario is about extenders of its own" in unnamed.err
    # Named, it goes on until the extender is looked for.
    assert "nowhere" in harness("run", "own", "--extender", "cmd:./nowhere {port}").err
