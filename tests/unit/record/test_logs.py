from pathlib import Path

import pytest

from harness.record import logs
from harness.record.logs import excerpts


def write(record: Path, component: str, text: str) -> None:
    (record / "logs").mkdir(exist_ok=True)
    (record / "logs" / f"{component}.log").write_text(text)


def test_the_end_and_the_first_errors_are_kept(tmp_path: Path) -> None:
    lines = [f"I1116 12:00:00 line {number}" for number in range(100)]
    lines[20:20] = [f"E1116 12:00:00 trouble {number}" for number in range(15)]
    write(tmp_path, "kube-scheduler", "\n".join(lines) + "\n")
    write(tmp_path, "etcd", "")
    (found,) = excerpts(tmp_path)
    assert (found.component, found.lines, found.errors, found.cut) == ("kube-scheduler", 115, 15, False)
    assert found.last == tuple(lines[-10:])
    assert found.first_errors == tuple(lines[20:30])


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        ('{"level":"error","msg":"x"}', True),
        ('{"level":"ERROR"}', True),
        ("level=error msg=x", True),
        ("ERROR: x", True),
        ("panic: x", True),
        ("Traceback (most recent call last):", True),
        ("I1116 no error", False),
        ("filter pod: kept 0 of 3 after errors", False),
        ('{"level":"INFO"}', False),
    ],
)
def test_errors_are_known_by_their_level(tmp_path: Path, line: str, is_error: bool) -> None:
    write(tmp_path, "extender", line)
    assert excerpts(tmp_path)[0].errors == int(is_error)


def test_long_lines_and_long_logs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "READ_BYTES_MAX", 1000)
    write(tmp_path, "extender", "x" * 900 + "\n" + "y" * 900 + "\n")
    (found,) = excerpts(tmp_path)
    assert found.cut
    assert found.last == ("x" * 400 + "…", "y" * 99)


def test_a_record_without_logs_has_no_excerpts(tmp_path: Path) -> None:
    assert excerpts(tmp_path) == ()
