import math
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.metrics import AFTER, parse, read_metrics

PAGES = r"""# scheduler: kube-scheduler
# HELP attempts_total [STABLE] Number of attempts, by "result".
# TYPE attempts_total counter
attempts_total{profile="default-scheduler",result="scheduled"} 2
attempts_total{profile="default-scheduler",result="error",} 1e+03 1700000000000

plain 0.25
odd{text="a \"quoted\" \\ and\nbroken, {brace}",other=""} +Inf
spaced { a = "b" } NaN
# scheduler: second
attempts_total{profile="second",result="scheduled"} 4
"""


def test_every_line_becomes_a_sample_of_its_scheduler() -> None:
    metrics = parse(PAGES)
    assert metrics.names == {"attempts_total", "plain", "odd", "spaced"}
    assert [(one.scheduler, one.value) for one in metrics.matching("attempts_total", {"result": "scheduled"})] == [
        ("kube-scheduler", 2.0),
        ("second", 4.0),
    ]
    (error,) = metrics.matching("attempts_total", {"result": "error"})
    assert (error.value, error.labels) == (1000.0, {"profile": "default-scheduler", "result": "error"})
    assert metrics.matching("plain", {})[0].labels == {}
    assert not metrics.matching("plain", {"result": "error"})
    assert not metrics.matching("attempts", {})


def test_escapes_and_special_numbers() -> None:
    metrics = parse(PAGES)
    (odd,) = metrics.matching("odd", {})
    assert odd.labels == {"text": 'a "quoted" \\ and\nbroken, {brace}', "other": ""}
    assert math.isinf(odd.value)
    (spaced,) = metrics.matching("spaced", {"a": "b"})
    assert math.isnan(spaced.value)


def test_no_page_is_no_sample() -> None:
    assert parse("").names == frozenset()
    assert parse("# scheduler: only\n").samples == ()


@pytest.mark.parametrize("line", ["<html>", "name{a=b} 1", 'name{a="b} 1', "name many", "name", 'name{a="b" c="d"} 1'])
def test_what_is_no_metric_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(RecordError, match=r"^page:2: .* seen, a (metric|number) expected"):
        parse(f"fine 1\n{line}\n", "page")


def test_a_run_that_did_not_get_so_far_has_none(tmp_path: Path) -> None:
    assert read_metrics(tmp_path, AFTER) is None
    (tmp_path / AFTER).write_text(PAGES)
    metrics = read_metrics(tmp_path, AFTER)
    assert metrics is not None
    assert len(metrics.samples) == 6
    (tmp_path / AFTER).write_bytes(b"\xff\xfe")
    with pytest.raises(RecordError, match="cannot be read"):
        read_metrics(tmp_path, AFTER)
