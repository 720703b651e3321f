"""What `make bench` says and how it ends; what it measures is no test."""

from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as bench
from bench import regress

PROMISE = "false alarms, equal Go extenders"


@pytest.mark.parametrize(("value", "code"), [(0.01, 0), (0.02, 1), (float("nan"), 1)])
def test_a_missed_bound_fails_after_everything_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, value: float, code: int
) -> None:
    measured: list[str] = []

    def measure(part: str, rounds: int, only: str) -> tuple[dict[str, Any], str]:
        measured.append(part)
        return {"figures": {PROMISE: value} if part == "tap" else {}}, f"{rounds} rounds{only}"

    monkeypatch.setattr(bench, "_measure", measure)
    monkeypatch.setattr("sys.argv", ["bench", "tap", "load", "--out", str(tmp_path)])
    assert bench.main() == code
    assert measured == ["tap", "load"]
    assert (f"FAILED: 1 figures are not within their bounds: {PROMISE}" in capsys.readouterr().out) == bool(code)


def check(verdict: str, tail: str = "INCONCLUSIVE") -> dict[str, Any]:
    return {"verdict": verdict, "seconds": 1.0, "cpu_ratio": 1.0, "metrics": {"cpu p99": {"verdict": tail}}}


def test_alarms_are_wrong_among_equals_and_silence_is_wrong_elsewhere() -> None:
    checks = {
        "Go equal": [check("PASS"), check("REGRESSION")],
        "Go +10 %": [check("REGRESSION"), check("REGRESSION"), check("INCONCLUSIVE"), check("PASS")],
        "Go, 2 % thrice the work": [check("REGRESSION", "REGRESSION"), check("REGRESSION")],
        "Go +5 %": [check("REGRESSION"), check("PASS")],
        "Go equal, baseline": [check("INCONCLUSIVE")],
    }
    assert regress.figures(checks) == {
        PROMISE: 0.5,
        "missed, Go with +10 % CPU": 0.5,
        "missed by cpu p99, Go with a tail": 0.5,
        "false alarms, equal Go extenders, baseline": 0.0,
    }
    told = regress.describe({"checks": checks})
    assert "Go +5 %: 1 PASS, 1 REGRESSION (CPU" in told
    assert "equals side by side, 2 in all: 1 wrong, at most" in told
    assert "Go equal: 1 PASS, 1 REGRESSION; 1 wrong, at most" in told
