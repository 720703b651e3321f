from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.run.brought import NOTHING, Brought, bring, entry_keys, fault, read_config
from harness.scenario.extenders import names_of
from harness.scenario.model import Scenario
from harness.variant.base import NOTHING_BROUGHT, SchedulerConfig
from tests.unit.run.given import scenario

SETTLE = {"op": "settle"}


def own(*extenders: dict[str, Any], **more: Any) -> Scenario:
    return scenario(SETTLE, extenders=list(extenders), **more)


def test_an_extender_is_named_after_its_subject_as_scenarios_spell_names() -> None:
    subjects = {
        "ref:want-you?node=n1": "want-you",
        "http://127.0.0.1:8888/scheduler": "127-0-0-1-8888",
        "cmd:./My_Extender.sh {port}": "my-extender-sh",
        "py:labs.third:Extender": "labs-third-extender",
        f"cmd:/opt/{'long-' * 20}name": ("long-" * 8).strip("-"),
    }
    brought = bring(list(subjects), [])
    assert {one.subject: one.name for one in brought.extenders} == subjects


def test_a_name_of_which_nothing_is_left_is_no_name() -> None:
    (only,) = bring(["cmd:./___ {port}"], []).extenders
    assert only.name is None
    assert names_of([only]) == ["extender"]


def test_the_same_subject_twice_is_told_apart() -> None:
    assert names_of(bring(["ref:lucky", "ref:lucky"], []).extenders) == ["lucky", "lucky-2"]


def test_every_extender_gets_the_keys_of_the_entry() -> None:
    brought = bring(["ref:lucky", "ref:spread"], ["weight=3", "nodeCacheCapable=true", "httpTimeout=250ms"])
    given = {"weight": 3, "nodeCacheCapable": True, "httpTimeout": "250ms"}
    assert [one.entry.given() for one in brought.extenders] == [given, given]


def test_keys_that_are_not_given_are_not_set() -> None:
    assert entry_keys([]).given() == {}
    assert entry_keys(["ignorable=false"]).given() == {"ignorable": False}
    managed = entry_keys(["managedResources=[{name: example.com/gpu, ignoredByScheduler: true}]"])
    assert managed.given() == {"managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}]}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("weight", "--entry weight: KEY=VALUE expected"),
        ("weight=x", '--entry: weight: "x" seen, a whole number expected'),
        ("nodeCacheCapabel=true", '--entry: nodeCacheCapabel: unknown field; did you mean "nodeCacheCapable"?'),
        ("node_cache_capable=true", '--entry: node_cache_capable: unknown field; did you mean "nodeCacheCapable"?'),
        ("httpTimeout=5", "--entry: httpTimeout: 5 seen, text expected"),
        ("tlsConfig={", "--entry tlsConfig={: the value is no YAML: "),
        ("httpTimeout=soon", "--entry: httpTimeout: 'soon' seen, a duration such as"),
    ],
)
def test_an_entry_that_cannot_be_used_is_told_at_once(entry: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        bring(["ref:lucky"], [entry])
    assert str(caught.value).startswith(told)


def test_a_subject_that_cannot_be_used_is_told_at_once() -> None:
    with pytest.raises(InputError, match=r'no reference "luky"; did you mean "lucky"\?'):
        bring(["ref:luky"], [])


def test_an_entry_of_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="--entry: it is about an extender; name one with --extender"):
        bring([], ["weight=1"])


def test_an_entry_without_an_extender_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    with pytest.raises(InputError, match="a configuration says it itself"):
        bring([], ["weight=4"], file)


def test_an_empty_verb_leaves_it_out() -> None:
    assert entry_keys(["prioritizeVerb="]).given() == {"prioritizeVerb": ""}


def test_a_configuration_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("kind: Policy # ä\n", encoding="utf-8")
    assert read_config(path) == SchedulerConfig("kind: Policy # ä\n", str(path))
    assert bring([], [], path).setup("extender", None, 0).scheduler_config == read_config(path)


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_configuration_that_cannot_be_read_is_told_at_once(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "config.yaml"
    if content:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"config\.yaml(:1)?: cannot be read: "):
        bring([], [], path)


def test_the_default_variant_gets_nothing_of_it() -> None:
    mine = Brought(bring(["ref:lucky"], []).extenders, Path("nowhere.yaml"), tap=False)
    assert mine.setup("default", own({"subject": "ref:spread"}), 7) is NOTHING_BROUGHT


def test_without_anything_brought_the_scenarios_own_is_installed() -> None:
    made = own({"subject": "ref:lucky"}, {"subject": "ref:spread", "name": "even"})
    setup = NOTHING.setup("extender", made, 7)
    assert setup.extenders == made.extenders
    assert (setup.scheduler_config, setup.tap, setup.seed) == (None, True, 7)
    assert NOTHING.setup("extender", None, 0) == NOTHING_BROUGHT


def test_another_seed_is_no_other_setup() -> None:
    made = own({"subject": "ref:lucky"})
    assert NOTHING.setup("extender", made, 1) == NOTHING.setup("extender", made, 2)


def test_ones_own_extender_stands_in_for_the_scenarios_under_its_name_and_entry() -> None:
    """Steps and expectations of the scenario speak of its own names, and its entry is what the scenario is about."""
    made = own({"subject": "ref:lucky", "name": "drawn", "entry": {"weight": 5, "ignorable": True}})
    setup = bring(["ref:spread"], ["weight=2"]).setup("extender", made, 0)
    (only,) = setup.extenders
    assert (only.subject, only.name) == ("ref:spread", "drawn")
    assert only.entry.given() == {"weight": 2, "ignorable": True}


def test_a_name_that_the_scenario_does_not_spell_out_is_kept_too() -> None:
    made = own({"subject": "ref:lucky"}, {"subject": "ref:lucky"})
    setup = bring(["ref:spread", "ref:spread"], []).setup("extender", made, 0)
    assert names_of(setup.extenders) == names_of(made.extenders) == ["lucky", "lucky-2"]


def test_fewer_leave_the_rest_and_more_are_added() -> None:
    made = own({"subject": "ref:lucky"}, {"subject": "ref:name-length"})
    one = bring(["ref:spread"], []).setup("extender", made, 0).extenders
    assert [(each.subject, each.name) for each in one] == [("ref:spread", "lucky"), ("ref:name-length", None)]
    more = bring(["ref:spread", "ref:spread", "ref:binpack"], []).setup("extender", made, 0).extenders
    assert names_of(more) == ["lucky", "name-length", "binpack"]
    alone = bring(["ref:spread"], []).setup("extender", None, 0).extenders
    assert names_of(alone) == ["spread"]


def test_a_scenarios_configuration_lies_beside_it_and_ones_own_wins(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "made.yaml"
    made = own(schedulerConfig="conf/c.yaml", manifests={"conf/c.yaml": "text"}, path=str(path))
    found = NOTHING.setup("extender", made, 0).scheduler_config
    assert found == SchedulerConfig("text", str(tmp_path / "deep" / "conf" / "c.yaml"))
    mine = tmp_path / "mine.yaml"
    mine.write_text("mine")
    assert bring([], [], mine).setup("extender", made, 0).scheduler_config == SchedulerConfig("mine", str(mine))


def test_a_tap_can_be_left_out() -> None:
    assert not bring(["ref:lucky"], [], tap=False).setup("extender", None, 0).tap


def test_a_fault_is_its_kind_and_what_belongs_to_it() -> None:
    made = fault("status,status=500,verb=filter,share=0.3,forSeconds=2,extender=mine")
    assert (made.kind, made.status, made.verb, made.share, made.extender) == ("status", 500, "filter", 0.3, "mine")
    assert made.for_seconds == 2.0
    assert fault("hang").kind == "hang"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("statsu", '--fault statsu: kind: "statsu" seen; did you mean "status"?'),
        ("", '--fault : kind: "" seen'),
        ("status,status", "--fault status: KEY=VALUE expected"),
        ("delay,seconds=-1", "--fault delay,seconds=-1: seconds: -1 seen, more than 0 expected"),
        ("delay,sceonds=1", '--fault delay,sceonds=1: sceonds: unknown field; did you mean "seconds"?'),
        ("delay,spread_seconds=1,seconds=2", "--fault delay,spread_seconds=1,seconds=2: spread_seconds: unknown field"),
        ("delay,seconds=[1", "--fault seconds=[1: the value is no YAML"),
    ],
)
def test_what_is_no_fault_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        fault(text)
    assert str(caught.value).startswith(told)


def test_what_a_kind_needs_and_does_not_know_is_told() -> None:
    with pytest.raises(InputError, match=r"--fault delay: .*delay needs seconds"):
        fault("delay")
    with pytest.raises(InputError, match=r"--fault hang,seconds=3: .*hang does not know seconds"):
        fault("hang,seconds=3")
