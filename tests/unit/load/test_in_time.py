"""What a test says of a load: in time, not in time, or not to be known."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ExpectationFailed
from harness.pytest_plugin.measuring import JudgedLoad
from harness.record.load import LoadRecord
from tests.unit.report.documents import load_result


def loaded(*changes: dict[str, Any]) -> JudgedLoad:
    results = [load_result(timeout_seconds=5.0, **one) for one in changes]
    return JudgedLoad(LoadRecord(Path("nowhere"), {}, tuple(results)))


def failure(judged: JudgedLoad, budget_ms: float | None = None) -> str:
    """Return why a test fails; a skip in its place would skip the test that asks."""
    with pytest.raises((ExpectationFailed, pytest.skip.Exception)) as raised:
        judged.assert_in_time(budget_ms)
    assert raised.type is ExpectationFailed
    return str(raised.value)


def test_what_is_in_time_passes() -> None:
    judged = loaded({}, {"verb": "prioritize", "falls_behind": "generator"})
    judged.assert_in_time()
    assert [one.verb for one in judged] == ["filter", "prioritize"]
    assert (len(judged), judged[1].verb) == (2, "prioritize")


@pytest.mark.parametrize(
    ("change", "budget_ms", "said"),
    [
        ({"errors": 2, "error_kinds": {"status": 2}}, None, r"2 of 200 requests failed \(status: 2\), none expected"),
        ({"ended": "died"}, None, r"the extender was gone before the end \(died\)"),
        ({"falls_behind": "extender"}, None, "answers came later and later at 50 requests per second"),
        ({"p99_ms": 2501.0}, None, "p99 2501.0 ms seen, at most 2500 ms expected"),
        ({}, 0.5, "p99 1.0 ms seen, at most 0.5 ms expected"),
    ],
)
def test_what_is_not_in_time_fails(change: dict[str, Any], budget_ms: float | None, said: str) -> None:
    assert re.search(f"ref:x: filter with 100 nodes: {said}", failure(loaded({}, change), budget_ms))


@pytest.mark.parametrize("results", [(), ({"generator_limited": True, "p99_ms": 9000.0}, {}), ({"ended": "deadline"},)])
def test_what_cannot_be_known_is_nobodys_fault(results: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(pytest.skip.Exception):
        loaded(*results).assert_in_time()
    assert failure(loaded(*results, {"p99_ms": 9000.0}))


def test_a_failure_is_one_also_where_the_generator_was_the_limit() -> None:
    limited = {"generator_limited": True, "errors": 3}
    both = loaded({**limited, "error_kinds": {"no-descriptors": 2, "status": 1}})
    assert "1 of 200 requests failed (status: 1)" in failure(both)
    with pytest.raises(pytest.skip.Exception):
        loaded({**limited, "error_kinds": {"no-descriptors": 3}}).assert_in_time()
