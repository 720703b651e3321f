"""What the user and the scenario bring for the variants besides the extender."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.run.brought import NOTHING, Brought, bring
from harness.scenario.model import Scenario
from harness.variant.base import NOTHING_BROUGHT, SchedulerConfig, Setup
from tests.unit.run.given import scenario

VARIANTS = ["extender", "second-scheduler", "framework-plugin", "controller", "rebuilt-scheduler"]
FIRST, SECOND = {"source": "go:a", "weight": 3}, {"source": "go:b", "args": {"favoriteNumber": 7}}


def own(**more: Any) -> Scenario:
    return scenario({"op": "settle"}, **more)


def plugins(setup: Setup) -> list[dict[str, Any]]:
    return [one.model_dump(exclude_defaults=True) for one in setup.plugins]


def test_without_anything_brought_the_scenarios_own_is_installed(tmp_path: Path) -> None:
    made = own(
        schedulerManifest="m.yaml",
        manifests={"m.yaml": "text"},
        path=str(tmp_path / "made.yaml"),
        scheduler="cmd:theirs",
        plugins=[FIRST],
        controller="ref:random",
    )
    setup = NOTHING.setup("second-scheduler", made, 0)
    assert setup.manifest == SchedulerConfig("text", str(tmp_path / "m.yaml"))
    assert (setup.scheduler, setup.controller, plugins(setup)) == ("cmd:theirs", "ref:random", [FIRST])


def test_without_a_scenario_only_what_was_brought_is_installed(tmp_path: Path) -> None:
    manifest = tmp_path / "mine.yaml"
    manifest.write_text("mine")
    mine = Brought(manifest=manifest, scheduler="cmd:mine", plugins=("go:p",), controller="cmd:c")
    setup = mine.setup("second-scheduler", None, 0)
    assert setup.manifest == SchedulerConfig("mine", str(manifest))
    assert (setup.scheduler, setup.controller, plugins(setup)) == ("cmd:mine", "cmd:c", [{"source": "go:p"}])
    for variant in VARIANTS:
        assert NOTHING.setup(variant, None, 0) == NOTHING_BROUGHT


def test_ones_own_wins_over_the_scenarios(tmp_path: Path) -> None:
    manifest = tmp_path / "mine.yaml"
    manifest.write_text("mine")
    made = own(
        schedulerManifest="m.yaml", manifests={"m.yaml": "theirs"}, scheduler="cmd:theirs", controller="ref:random"
    )
    mine = Brought(manifest=manifest, scheduler="cmd:mine", controller="cmd:c")
    setup = mine.setup("controller", made, 0)
    assert setup.manifest == SchedulerConfig("mine", str(manifest))
    assert (setup.scheduler, setup.controller) == ("cmd:mine", "cmd:c")


def test_ones_own_plugin_stands_under_the_scenarios_weight_and_arguments() -> None:
    setup = Brought(plugins=("go:mine", "go:other")).setup("framework-plugin", own(plugins=[FIRST, SECOND]), 0)
    assert plugins(setup) == [{**FIRST, "source": "go:mine"}, {**SECOND, "source": "go:other"}]


def test_more_plugins_than_the_scenario_has_stand_alone() -> None:
    setup = Brought(plugins=("go:mine", "go:other")).setup("framework-plugin", own(plugins=[FIRST]), 0)
    assert plugins(setup) == [{**FIRST, "source": "go:mine"}, {"source": "go:other"}]
    alone = Brought(plugins=("go:mine",)).setup("framework-plugin", own(), 0)
    assert plugins(alone) == [{"source": "go:mine"}]


def test_the_scenarios_own_plugins_are_not_changed_by_it() -> None:
    made = own(plugins=[FIRST])
    Brought(plugins=("go:mine",)).setup("framework-plugin", made, 0)
    assert [one.source for one in made.plugins] == ["go:a"]


def test_another_seed_is_another_controller_and_no_other_variant() -> None:
    for variant in VARIANTS:
        one, other = (NOTHING.setup(variant, own(), seed) for seed in (1, 2))
        assert (one == other) is (variant != "controller"), variant
        assert (one.seed, other.seed) == (1, 2)
    assert NOTHING.setup("controller", own(), 7).controller_seed == 7
    assert NOTHING.setup("extender", own(), 7).controller_seed == 0


def test_the_default_variant_gets_nothing_of_it() -> None:
    mine = Brought(manifest=Path("nowhere"), scheduler="cmd:x", plugins=("go:p",), controller="ref:random")
    made = own(plugins=[FIRST], controller="ref:random", scheduler="cmd:theirs")
    assert mine.setup("default", made, 7) is NOTHING_BROUGHT


def test_options_join_what_else_was_brought() -> None:
    more = Brought(scheduler="cmd:x", plugins=("go:p",), controller="ref:random", trace=False)
    joined = bring(["ref:lucky"], ["weight=2"], tap=False, more=more)
    assert (joined.scheduler, joined.plugins, joined.controller) == ("cmd:x", ("go:p",), "ref:random")
    assert [one.subject for one in joined.extenders] == ["ref:lucky"]
    assert not joined.tap
    assert not joined.setup("framework-plugin", None, 0).trace
    assert Brought().setup("framework-plugin", None, 0).trace
    assert more.extenders == ()


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_manifest_that_cannot_be_read_is_told_at_once(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "manifest.yaml"
    if content:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.yaml(:1)?: cannot be read: "):
        bring([], [], more=Brought(manifest=path))
