from pathlib import Path

import pytest

from harness.cli.bring import USED_BY, Own
from harness.errors import InputError
from harness.run.brought import Brought, bring, fault

FILE = Path("file.yaml")


@pytest.mark.parametrize(
    ("brought", "variants"),
    [
        (Brought(), ()),
        (Brought(tap=False), ()),
        (Brought(trace=False), ("framework-plugin",)),
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


GIVEN = {
    "--extender": Own(Brought(extenders=bring(["ref:lucky"], []).extenders), ()),
    "--fault": Own(Brought(), (fault("hang"),)),
    "--scheduler-config": Own(Brought(scheduler_config=FILE), ()),
    "--manifest": Own(Brought(manifest=FILE), ()),
    "--scheduler": Own(Brought(scheduler="cmd:mine"), ()),
    "--plugin": Own(Brought(plugins=("go:p",)), ()),
    "--controller": Own(Brought(controller="ref:random"), ()),
    "--no-trace": Own(Brought(trace=False), ()),
}


@pytest.mark.parametrize("option", GIVEN)
def test_what_was_brought_in_vain_is_refused_with_whom_it_is_for(option: str) -> None:
    GIVEN[option].check([*USED_BY[option], "default"])
    for user in USED_BY[option]:
        GIVEN[option].check(["default", user])
    with pytest.raises(InputError) as caught:
        GIVEN[option].check(["default"])
    users = " and ".join(USED_BY[option])
    assert str(caught.value) == f"{option}: variant default does not use it; it is for {users}"


@pytest.mark.parametrize("option", GIVEN)
def test_the_variants_that_are_chosen_by_it_use_it(option: str) -> None:
    GIVEN[option].check(GIVEN[option].variants())


def test_nothing_brought_suits_every_variant() -> None:
    Own(Brought(), ()).check(["default"])
    Own(Brought(), ()).check([])
