from pathlib import Path

import pytest

from harness.scenario.extenders import EntryKeys, ExtenderSpec, names_of
from harness.scenario.steps import Await
from tests.unit.scenario.given import EXPECT, HEAD, STEPS, problems, scenario, write


def extended(step: str, extenders: str = "[{subject: 'ref:lucky'}]") -> str:
    return f"{HEAD}extenders: {extenders}\nsteps:\n- {step}\n{EXPECT}"


def test_an_extender_is_called_by_its_name_its_reference_or_its_number() -> None:
    specs = [
        ExtenderSpec(subject="ref:want-you?node=n1"),
        ExtenderSpec(subject="ref:lucky", name="mine"),
        ExtenderSpec(subject="cmd:./x {port}"),
        ExtenderSpec(subject="go:./x"),
        ExtenderSpec(subject="ref:lucky", name="mine"),
    ]
    assert names_of(specs) == ["want-you", "mine", "extender", "extender-4", "mine-5"]
    assert names_of([]) == []


def test_names_are_distinct_whatever_they_are() -> None:
    names = names_of([ExtenderSpec(subject="ref:lucky", name=name) for name in ("x-3", "x", "x")])
    assert len(set(names)) == 3


def test_only_the_keys_that_are_given_are_handed_on_as_kube_scheduler_spells_them() -> None:
    keys = EntryKeys.model_validate(
        {"filterVerb": "", "enableHTTPS": False, "managedResources": [{"name": "example.com/gpu"}]}
    )
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": False}]
    assert keys.given() == {"filterVerb": "", "enableHTTPS": False, "managedResources": managed}


@pytest.mark.parametrize(
    ("extenders", "told"),
    [
        ("[{name: x}]", "extenders[0]"),
        ("[{subject: ''}]", "extenders[0].subject"),
        ("[{subject: 'ref:lucky', name: No Name}]", "extenders[0].name"),
        ("[{subject: 'ref:lucky', entry: {weight: '1'}}]", "extenders[0].entry.weight"),
        ("[{subject: 'ref:lucky', entry: {managedResources: [{name: cpu}]}}]", "extenders[0].entry.managedResources"),
        ("[{subject: 'ref:lucky', entry: {nodeCacheCapabel: true}}]", "extenders[0].entry.nodeCacheCapabel"),
    ],
)
def test_extenders_that_cannot_be_meant_are_told_with_their_line(tmp_path: Path, extenders: str, told: str) -> None:
    found = problems(tmp_path, extended("{op: settle}", extenders))
    assert found
    assert found[0].startswith(f"sample.yaml:3: {told}")


def test_a_scenario_with_extenders_is_for_their_variant_unless_told(tmp_path: Path) -> None:
    made = scenario(tmp_path, extended("{op: settle}"))
    assert made.is_for("extender")
    assert not made.is_for("default")
    told = scenario(tmp_path, f"variants: [default, extender]\n{extended('{op: settle}')}")
    assert told.is_for("default")
    assert scenario(tmp_path, extended("{op: settle}", "[]")).is_for("default")


CONFIG = "kind: KubeSchedulerConfiguration # $not-a-parameter\n"


def test_a_configuration_is_kept_with_the_scenario_as_it_is(tmp_path: Path) -> None:
    """It is no manifest: nothing is put into it, and it need not be a Kubernetes object with a name."""
    write(tmp_path, CONFIG, "conf/c.yaml")
    made = scenario(tmp_path, f"{HEAD}schedulerConfig: conf/c.yaml\n{STEPS}{EXPECT}")
    assert made.scheduler_config == "conf/c.yaml"
    assert made.manifests == {"conf/c.yaml": CONFIG}
    assert type(made).from_json(made.to_json()) == made


def test_a_configuration_that_is_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, CONFIG, "config.yaml")
    (told,) = problems(tmp_path, f"{HEAD}schedulerConfig: confg.yaml\n{STEPS}{EXPECT}")
    assert told.startswith('sample.yaml:3: schedulerConfig: manifest "confg.yaml" cannot be read: No such file')
    assert 'did you mean "config.yaml"?' in told


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside.yaml", "a/../../b.yaml", "''"])
def test_a_configuration_outside_the_scenarios_folder_is_refused(tmp_path: Path, name: str) -> None:
    (told,) = problems(tmp_path, f"{HEAD}schedulerConfig: {name}\n{STEPS}{EXPECT}")
    assert told.startswith("sample.yaml:3: schedulerConfig: ")
    assert "a path beside or below the scenario file expected" in told


def test_the_name_of_a_configuration_may_be_a_parameter(tmp_path: Path) -> None:
    write(tmp_path, CONFIG, "a.yaml")
    text = f"{HEAD}parameters: {{which: a}}\nschedulerConfig: ${{which}}.yaml\n{STEPS}{EXPECT}"
    assert scenario(tmp_path, text).scheduler_config == "a.yaml"


@pytest.mark.parametrize(
    ("step", "field", "count"),
    [("{op: await, bound: 3}", "bound", 3), ("{op: await, running: 0}", "running", 0)],
)
def test_pods_can_be_awaited(tmp_path: Path, step: str, field: str, count: int) -> None:
    (made,) = scenario(tmp_path, extended(step)).steps
    assert isinstance(made, Await)
    assert (getattr(made, field), made.namespace, made.timeout_seconds) == (count, "default", None)


def test_calls_can_be_awaited(tmp_path: Path) -> None:
    (made,) = scenario(tmp_path, extended("{op: await, calls: 2, verb: filter, timeoutSeconds: 5}")).steps
    assert isinstance(made, Await)
    assert (made.calls, made.verb, made.timeout_seconds) == (2, "filter", 5.0)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{op: await}", "give either bound or running or calls, neither seen"),
        ("{op: await, bound: 1, calls: 1}", "bound"),
        ("{op: await, bound: 1, verb: filter}", "verb is about calls; give calls"),
        ("{op: await, calls: 1, verb: score}", '"score" seen'),
        ("{op: await, bound: -1}", "-1 seen"),
        ("{op: await, calls: 1, timeoutSeconds: 0}", "0 seen"),
        ("{op: await, bound: 1, selector: 'a ~ b'}", "steps[0].selector"),
    ],
)
def test_what_cannot_be_awaited_is_told_with_its_line(tmp_path: Path, step: str, told: str) -> None:
    (problem,) = problems(tmp_path, extended(step))
    assert problem.startswith("sample.yaml:5: steps[0]")
    assert told in problem
