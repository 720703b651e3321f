from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.scenario.expectations import COMPARING, Expectation
from harness.scenario.expectations_extender import Calls, Findings, InvariantViolated, Log, Metric, SameAs

EXPECTATION: TypeAdapter[Any] = TypeAdapter(Expectation)


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ({"kind": "calls", "verb": "filter", "count": 3}, Calls),
        ({"kind": "calls", "verb": "bind", "pods": "web-*", "perPod": {"max": 1}, "ending": "cut"}, Calls),
        ({"kind": "calls", "verb": "preempt", "gapsAtLeast": [0, 1, 2.5], "status": 500, "unfaulted": True}, Calls),
        ({"kind": "findings", "codes": []}, Findings),
        ({"kind": "findings", "codes": ["not-found"], "extender": "lucky", "provoked": True}, Findings),
        ({"kind": "metric", "name": "x_total", "labels": {"result": "error"}, "increase": 0}, Metric),
        ({"kind": "log", "message": "x"}, Log),
        ({"kind": "invariant", "name": "settled", "violated": True}, InvariantViolated),
        ({"kind": "sameAs", "relativeTo": "default", "selector": "app=web"}, SameAs),
    ],
)
def test_what_can_be_written(written: dict[str, Any], model: type[Any]) -> None:
    expectation = EXPECTATION.validate_python(written)
    assert isinstance(expectation, model)
    assert EXPECTATION.validate_json(EXPECTATION.dump_json(expectation, by_alias=True)) == expectation


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"kind": "calls", "verb": "filter"}, "nothing is demanded; give at least one of count, perPod, gapsAtLeast"),
        ({"kind": "calls", "verb": "score", "count": 1}, "'filter', 'prioritize', 'preempt' or 'bind'"),
        ({"kind": "calls", "verb": "filter", "count": 1, "ending": "lost"}, "'answered'"),
        ({"kind": "calls", "verb": "filter", "count": 1, "status": 42}, "greater than or equal to 100"),
        ({"kind": "calls", "verb": "filter", "gapsAtLeast": []}, "nothing is demanded"),
        ({"kind": "calls", "verb": "filter", "gapsAtLeast": [-1]}, "greater than or equal to 0"),
        ({"kind": "calls", "verb": "filter", "count": 1, "pods": "a", "selector": "a=b"}, "both seen"),
        ({"kind": "findings"}, "codes"),
        ({"kind": "findings", "codes": ["Not Found"]}, "pattern"),
        ({"kind": "metric", "name": "x"}, "nothing is demanded; give increase, value or both"),
        ({"kind": "log", "message": "("}, "is not a regular expression"),
        ({"kind": "log", "message": "x", "part": "../run.json"}, "pattern"),
        ({"kind": "invariant", "name": "settled"}, "violated"),
        ({"kind": "invariant", "name": "settled", "violated": False}, "judged without being written"),
        ({"kind": "invariant", "name": "never", "violated": True}, "'settled'"),
        ({"kind": "sameAs", "relativeTo": "default", "unless": "a", "differs": "b"}, "either unless or differs"),
        ({"kind": "sameAs", "relativeTo": "defualt"}, "unknown variant"),
    ],
)
def test_what_cannot_be_written(written: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        EXPECTATION.validate_python(written)
    assert told in str(caught.value)


def test_defaults() -> None:
    log = Log(message="x")
    assert (log.part, str(log.count)) == ("kube-scheduler", "at least 1")
    assert SameAs in COMPARING
