from pathlib import Path

import pytest

from harness.cli.bring import Own
from harness.run.brought import Brought, bring, fault

FILE = Path("file.yaml")


@pytest.mark.parametrize(
    ("brought", "variants"),
    [
        (Brought(), ()),
        (Brought(tap=False), ()),
        (Brought(scheduler_config=FILE), ("extender",)),
        (Brought(extenders=bring(["ref:lucky"], []).extenders), ("extender",)),
        (Brought(manifest=FILE), ("second-scheduler",)),
        (Brought(scheduler="cmd:mine"), ("second-scheduler",)),
        (Brought(scheduler="go:mine"), ("second-scheduler",)),
        (Brought(scheduler="source:changes"), ("rebuilt-scheduler",)),
        (Brought(plugins=("go:p",)), ("framework-plugin",)),
        (Brought(controller="ref:random"), ("controller",)),
        (Brought(manifest=FILE, scheduler="cmd:mine"), ("second-scheduler",)),
        (Brought(controller="ref:random", plugins=("go:p",)), ("framework-plugin", "controller")),
        (
            Brought(controller="ref:random", plugins=("go:p",), scheduler="cmd:mine"),
            ("second-scheduler", "framework-plugin", "controller"),
        ),
    ],
)
def test_each_variant_is_chosen_by_what_only_it_can_use(brought: Brought, variants: tuple[str, ...]) -> None:
    assert Own(brought, ()).variants() == variants


def test_a_fault_needs_an_extender_to_break() -> None:
    assert Own(Brought(), (fault("hang"),)).variants() == ("extender",)


@pytest.mark.parametrize(
    "brought",
    [
        Brought(manifest=FILE, scheduler_config=FILE),
        Brought(manifest=FILE, extenders=bring(["ref:lucky"], []).extenders),
    ],
)
def test_what_every_scheduler_can_use_goes_to_the_variant_that_was_chosen(brought: Brought) -> None:
    assert Own(brought, ()).variants() == ("second-scheduler",)
    assert Own(brought, (fault("hang"),)).variants() == ("second-scheduler",)
