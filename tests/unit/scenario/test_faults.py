import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.scenario.faults import ClearFaults, Fault, StartExtender, StopExtender
from tests.unit.scenario.given import EXPECT, HEAD, STEPS, problems, scenario

WHOLE: dict[str, dict[str, Any]] = {
    "delay": {"seconds": 2.0, "distribution": "uniform", "spread_seconds": 0.5},
    "hang": {},
    "refuse": {},
    "reset": {"after_bytes": 10},
    "close": {},
    "status": {"status": 500, "body": "no", "location": "http://x"},
    "empty": {},
    "garbage": {},
    "body": {"body": "{call}"},
    "truncate": {"share_of_body": 0.5},
    "slow": {"bytes_per_second": 9},
    "huge": {"bytes": 1000},
    "ghost": {"node": "nobody"},
    "duplicate": {},
}
NEEDED = {"delay": "seconds", "status": "status", "body": "body", "slow": "bytes_per_second", "huge": "bytes"}
AT_REPLY = {"truncate", "slow", "huge", "ghost", "duplicate"}


def fault(kind: str, **more: Any) -> Fault:
    return Fault.model_validate({"kind": kind, **more})


def extended(step: str, extenders: str = "[{subject: 'ref:lucky'}]") -> str:
    return f"{HEAD}extenders: {extenders}\nsteps:\n- {step}\n{EXPECT}"


@pytest.mark.parametrize("kind", WHOLE)
def test_every_kind_takes_what_belongs_to_it_and_hands_it_to_the_tap(kind: str) -> None:
    told = fault(kind, **WHOLE[kind]).to_tap(7, None)
    assert told.items() >= {"kind": kind, "seed": 7, "verb": None, **WHOLE[kind]}.items()
    assert told["at"] == ("reply" if kind in AT_REPLY else "request")
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize("kind", WHOLE)
def test_every_kind_refuses_what_belongs_to_another(kind: str) -> None:
    every = {name: value for values in WHOLE.values() for name, value in values.items()}
    for name in every.keys() - WHOLE[kind].keys():
        with pytest.raises(ValidationError, match=f"{kind} does not know "):
            fault(kind, **{**WHOLE[kind], name: every[name]})


@pytest.mark.parametrize("kind", WHOLE)
def test_every_kind_says_what_it_cannot_do_without(kind: str) -> None:
    name = NEEDED.get(kind)
    if name is None:
        assert fault(kind).kind == kind
        return
    spelled = {"bytes_per_second": "bytesPerSecond"}.get(name, name)
    with pytest.raises(ValidationError, match=f"{kind} needs {spelled}"):
        fault(kind)


def test_what_is_common_to_all_reaches_the_tap_as_it_spells_it() -> None:
    made = fault("hang", share=0.25, skip=2, calls=3, after_seconds=1.0, for_seconds=4.0, verb="filter", extender="x")
    assert made.to_tap(1, "predicates") == {
        "kind": "hang",
        "share": 0.25,
        "skip": 2,
        "calls": 3,
        "after_seconds": 1.0,
        "for_seconds": 4.0,
        "verb": "predicates",
        "at": "request",
        "seed": 1,
    }


def test_what_is_not_said_is_left_to_the_tap() -> None:
    assert fault("empty").to_tap(0, None) == {
        "kind": "empty",
        "share": 1.0,
        "skip": 0,
        "after_seconds": 0.0,
        "verb": None,
        "at": "request",
        "seed": 0,
    }


def test_most_faults_can_spoil_the_reply_instead() -> None:
    assert fault("status", status=500, at="reply").to_tap(0, None)["at"] == "reply"


@pytest.mark.parametrize("kind", sorted(AT_REPLY))
def test_what_spoils_an_answer_needs_one(kind: str) -> None:
    assert fault(kind, **WHOLE[kind], at="reply")
    with pytest.raises(ValidationError, match=f"{kind} spoils the extender's own answer: at can only be reply"):
        fault(kind, **WHOLE[kind], at="request")


@pytest.mark.parametrize("more", [{"verb": "filter"}, {"share": 0.5}, {"skip": 1}, {"calls": 1}, {"at": "reply"}])
def test_a_closed_port_is_closed_for_every_call(more: dict[str, Any]) -> None:
    assert fault("refuse", after_seconds=1.0, for_seconds=2.0, extender="x")
    with pytest.raises(ValidationError, match="refuse closes the port for every call"):
        fault("refuse", **more)


@pytest.mark.parametrize(
    "more",
    [
        {"share": 0.0},
        {"share": 1.1},
        {"share": float("nan")},
        {"skip": -1},
        {"calls": 0},
        {"after_seconds": -1.0},
        {"for_seconds": 0.0},
        {"for_seconds": float("inf")},
        {"verb": "score"},
        {"at": "end"},
        {"extender": "Not A Name"},
        {"unknown": 1},
    ],
)
def test_values_that_make_no_sense_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        fault("hang", **more)


def test_a_fault_begins_some_day() -> None:
    with pytest.raises(ValidationError):
        fault("hang", after_seconds=float("inf"))


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("status", {"status": 199}),
        ("status", {"status": 600}),
        ("status", {"status": "500"}),
        ("delay", {"seconds": 0.0}),
        ("delay", {"seconds": 1.0, "distribution": "pareto"}),
        ("truncate", {"share_of_body": 0.0}),
        ("slow", {"bytes_per_second": 0}),
        ("huge", {"bytes": 256 * 1024 * 1024 + 1}),
        ("ghost", {"node": "No Node"}),
        ("reset", {"after_bytes": -1}),
    ],
)
def test_values_of_a_kind_are_checked(kind: str, more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        fault(kind, **more)


def test_steps_about_extenders_are_about_all_of_them_unless_told(tmp_path: Path) -> None:
    text = extended("{op: stopExtender}\n- {op: startExtender, extender: lucky}\n- {op: clearFaults}")
    stop, start, clear = scenario(tmp_path, text).steps
    assert stop == StopExtender(extender=None, how="kill")
    assert start == StartExtender(extender="lucky")
    assert clear == ClearFaults(extender=None)


def test_problems_of_a_fault_are_told_with_their_line(tmp_path: Path) -> None:
    (told,) = problems(tmp_path, extended("{op: fault, kind: statsu}"))
    known = ", ".join(WHOLE)
    assert told == f'sample.yaml:5: steps[0].kind: "statsu" seen; did you mean "status"? expected one of: {known}'
    assert problems(tmp_path, extended("{op: fault, kind: delay}")) == ["sample.yaml:5: steps[0]: delay needs seconds"]
    (told,) = problems(tmp_path, extended("{op: fault, kind: hang, for_seconds: 1}"))
    assert told.startswith('sample.yaml:5: steps[0].for_seconds: unknown field; did you mean "forSeconds"?')


def test_a_saved_fault_is_the_same_fault(tmp_path: Path) -> None:
    made = scenario(tmp_path, extended("{op: fault, kind: delay, seconds: 2, forSeconds: 3, verb: filter}"))
    assert type(made).from_json(made.to_json()).steps == made.steps


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{op: fault, kind: hang, extender: luky}", 'steps[0].extender: no extender is called "luky"; did you mean'),
        ("{op: stopExtender, extender: other}", 'steps[0].extender: no extender is called "other"; extenders: lucky'),
        ("{op: startExtender, extender: other}", "steps[0].extender: no extender is called"),
        ("{op: clearFaults, extender: other}", "steps[0].extender: no extender is called"),
    ],
)
def test_a_step_about_an_extender_that_is_not_there_is_refused(tmp_path: Path, step: str, told: str) -> None:
    (problem,) = problems(tmp_path, extended(step))
    assert problem.startswith(f"sample.yaml:5: {told}")


def test_expectations_about_an_extender_that_is_not_there_are_refused(tmp_path: Path) -> None:
    text = f"{HEAD}extenders: [{{subject: 'ref:lucky', name: mine}}]\n{STEPS}expect:\n"
    text += "- {kind: calls, verb: filter, count: 1, extender: mien}\n- {kind: findings, codes: [], extender: mine}\n"
    assert problems(tmp_path, text) == [
        'sample.yaml:7: expect[0].extender: no extender is called "mien"; did you mean "mine"? extenders: mine'
    ]


def test_without_extenders_none_can_be_named(tmp_path: Path) -> None:
    (told,) = problems(tmp_path, extended("{op: clearFaults, extender: mine}", extenders="[]"))
    assert told.endswith('no extender is called "mine"; extenders: none')
