from pathlib import Path
from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.judge import judge
from harness.record.read import read
from tests.unit.expect.records import RecordBuilder

LINES = b'I1 "Skipping extender as it returned error" pod="a"\nE1 "Error" pod="b"\r\nE2 \xff bytes\nE3 no line end'


def judged(tmp_path: Path, **expect: Any) -> Verdict:
    path = RecordBuilder({"kind": "log", **expect}).write(tmp_path)
    (path / "logs").mkdir()
    (path / "logs" / "kube-scheduler.log").write_bytes(LINES)
    (path / "logs" / "extender-lucky.log").write_bytes(b"lucky node-2 for pod-7\n")
    return judge(read(path))[0]


@pytest.mark.parametrize(
    "demand",
    [
        {"message": "Skipping extender.*error"},
        {"message": "^E", "count": 3},
        {"message": 'pod="b"$', "count": 1},
        {"message": "panic", "count": 0},
        {"part": "extender-lucky", "message": r"lucky node-\d"},
    ],
)
def test_lines_as_demanded_hold(tmp_path: Path, demand: dict[str, Any]) -> None:
    assert judged(tmp_path, **demand).status == "held"


def test_lines_otherwise_are_rejected_and_shown(tmp_path: Path) -> None:
    verdict = judged(tmp_path, message="^E", count=1)
    assert (verdict.status, verdict.seen) == ("rejected", "3 of 4 lines")
    assert verdict.evidence[0] == 'E1 "Error" pod="b"'
    assert judged(tmp_path / "again", message="panic").status == "rejected"


def test_a_log_that_is_not_there_is_rejected_with_those_that_are(tmp_path: Path) -> None:
    verdict = judged(tmp_path, part="kube-schedular", message="x", count=0)
    assert (verdict.status, verdict.seen) == ("rejected", "no such log")
    assert verdict.evidence == (
        'no kube-schedular.log; did you mean "kube-scheduler"? logs: extender-lucky, kube-scheduler',
    )
