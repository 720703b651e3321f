"""Recomputes what reports say from the raw lines of records, with no reader of the harness."""

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from harness.report.sections import comparison, extenders, metrics, pending, placement, timeline, trace
from harness.report.sources import Sources, gather
from tests.unit.expect.records import NO_CPU, RecordBuilder
from tests.unit.report.large import Large
from tests.unit.report.reading import ENGLISH, rows, table

SAMPLE = Path(__file__).parents[3] / "reports" / "sample" / "record"


def sample(folder: Path) -> Path:
    return SAMPLE


def mixed(folder: Path) -> Path:
    """Pods that run, wait, have ended, are gone, came again, were refused first; nodes that went; calls that failed."""
    builder = RecordBuilder(variant="extender").node("n1").node("n2").node("n3", removed_t=6.0).extender()
    for number in range(9):
        builder.pod(f"p{number}", f"n{1 + number % 2}", created_t=1 + number / 7, bound_t=2 + number * number / 13)
    builder.pod("waits", message=NO_CPU).pod("unheard").pod("late", "n1", created_t=3.3, bound_t=9.1, message=NO_CPU)
    builder.pod("done", "n2", phase="Succeeded").pod("broken", "n2", phase="Failed").pod("gone", "n1", deleted_t=5.0)
    builder.pod("stuck", "n1", phase="Pending", created_t=4.0)
    for number in range(9):
        for kind in ("filter", "prioritize"):
            seconds = 0.001 * (number + 1) ** 2
            more = {"error": "no"} if number == 3 else {"ending": "cut"} if number == 5 else {}
            builder.call(kind, f"p{number}", 1.0 + number, seconds=seconds, nodes_in=3, nodes_out=number % 3, **more)
    return builder.write(folder)


def large(folder: Path) -> Path:
    return Large(pods=300, nodes=40, pending=50, calls=True, trace=True, variant="extender").write(folder)


RECORDS = [sample, mixed, large]


@pytest.fixture(params=RECORDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    make: Callable[[Path], Path] = request.param
    return make(tmp_path)


@pytest.fixture
def sources(path: Path) -> Sources:
    return gather([path])


def lines(path: Path, stream: str) -> list[dict[str, Any]]:
    file = path / f"{stream}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def raw_pods(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of every pod, in the order in which they were written."""
    pods: dict[str, list[dict[str, Any]]] = {}
    for line in lines(path, "pods"):
        pods.setdefault(line["uid"], []).append(line)
    return pods


def there(seen: list[dict[str, Any]]) -> bool:
    return all(line["event"] != "DELETED" for line in seen)


def last_node(seen: list[dict[str, Any]]) -> str | None:
    return next((line["node"] for line in reversed(seen) if line["node"]), None)


def waits(seen: list[dict[str, Any]]) -> bool:
    ended = any(line["phase"] in {"Succeeded", "Failed"} for line in seen)
    leaving = any(line.get("terminating") for line in seen)
    return there(seen) and last_node(seen) is None and not ended and not leaving


def waited_ms(seen: list[dict[str, Any]]) -> float | None:
    bound = next((line["t"] for line in seen if line["node"]), None)
    return None if bound is None else 1000 * (bound - seen[0]["t"])


def seen_within(values: list[float], percent: int) -> float:
    """Return the least value that so many percent of all lie at or below."""
    return min(one for one in values if 100 * sum(other <= one for other in values) >= percent * len(values))


def test_pods_per_node(path: Path, sources: Sources) -> None:
    gone = {line["uid"] for line in lines(path, "nodes") if line["event"] == "DELETED"}
    nodes = {line["name"] for line in lines(path, "nodes") if line["uid"] not in gone}
    held = Counter(last_node(seen) for seen in raw_pods(path).values() if there(seen))
    section = placement.section(sources, ENGLISH)
    assert set(table(section, "placement").rows) == {(node, held[node]) for node in nodes}
    (spread,) = rows(section, "spread")
    counts = [held[node] for node in nodes]
    assert (spread["pods_min"], spread["pods_max"]) == (min(counts), max(counts))
    assert spread["pods_median"] == median(counts)
    assert spread["pods_mean"] == pytest.approx(sum(counts) / len(counts))
    assert spread["placed"] == sum(count for node, count in held.items() if node)


def test_waits_of_the_comparison(path: Path, sources: Sources) -> None:
    known = [wait for seen in raw_pods(path).values() if (wait := waited_ms(seen)) is not None]
    (row,) = rows(comparison.section(sources, ENGLISH), "comparison")
    for percent in (50, 90, 99):
        assert row[f"p{percent}_ms"] == pytest.approx(seen_within(known, percent))


def test_speed_and_counts_of_the_comparison(path: Path, sources: Sources) -> None:
    pods = raw_pods(path).values()
    (row,) = rows(comparison.section(sources, ENGLISH), "comparison")
    assert row["pending"] == sum(waits(seen) for seen in pods)
    assert row["running"] == sum(there(seen) and not waits(seen) and seen[-1]["phase"] == "Running" for seen in pods)
    bound = [(seen[0]["t"], next(line["t"] for line in seen if line["node"])) for seen in pods if last_node(seen)]
    seconds = max(t for _, t in bound) - min(t for t, _ in bound)
    assert row["pods_per_second"] == pytest.approx(len(bound) / seconds)


def test_times_of_every_pod(path: Path, sources: Sources) -> None:
    told = rows(timeline.section(sources, ENGLISH), "pods")
    pods = raw_pods(path)
    assert len(told) == len(pods)
    expected = sorted(
        (f"{seen[0]['namespace']}/{seen[0]['name']}", 1000 * seen[0]["t"], waited_ms(seen) or -1)
        for seen in pods.values()
    )
    found = sorted((str(row["pod"]), row["created_ms"], row["waited_ms"] or -1) for row in told)
    assert [one[0] for one in found] == [one[0] for one in expected]
    assert [one[1] for one in found] == pytest.approx([one[1] for one in expected])
    assert [one[2] for one in found] == pytest.approx([one[2] for one in expected])


def test_pending_pods(path: Path, sources: Sources) -> None:
    expected = {f"{seen[0]['namespace']}/{seen[0]['name']}" for seen in raw_pods(path).values() if waits(seen)}
    section = pending.section(sources, ENGLISH)
    if not expected:
        assert section is None
        return
    counts = [row["pods"] for row in rows(section, "pending")]
    assert sum(count for count in counts if isinstance(count, int)) == len(expected)
    assert {row["pod"] for row in rows(section, "pending-pods")} == expected


def test_calls(path: Path, sources: Sources) -> None:
    calls = lines(path, "calls")
    section = extenders.section(sources, ENGLISH)
    if not calls:
        assert section is None
        return
    assert len(rows(section, "transcript")) == len(calls)
    told = rows(section, "calls")
    assert {(row["extender"], row["call"]) for row in told} == {(call["extender"], call["kind"]) for call in calls}
    for row in told:
        mine = [call for call in calls if (call["extender"], call["kind"]) == (row["extender"], row["call"])]
        times = sorted(1000 * (call["end_t"] - call["t"]) for call in mine)
        assert row["calls"] == len(mine)
        assert row["failed"] == sum(bool(call.get("error")) or call["ending"] != "answered" for call in mine)
        assert row["p50_ms"] == pytest.approx(times[math.ceil(0.5 * len(times)) - 1])
        assert row["p95_ms"] == pytest.approx(times[math.ceil(0.95 * len(times)) - 1])
        assert row["max_ms"] == pytest.approx(times[-1])
        assert row["nodes_out"] == sum(call["nodes_out"] for call in mine)


def test_calls_of_plugins(path: Path, sources: Sources) -> None:
    made = lines(path, "trace")
    section = trace.section(sources, ENGLISH)
    if not made:
        assert section is None
        return
    for row in rows(section, "trace"):
        mine = [call for call in made if (call["point"], call["plugin"]) == (row["point"], row["plugin"])]
        assert row["calls"] == sum(call["count"] for call in mine)
        assert row["total_ms"] == pytest.approx(1000 * sum(call["seconds"] for call in mine))


def test_attempts_as_the_scheduler_counts_them(path: Path, sources: Sources) -> None:
    def total(name: str) -> float | None:
        file = path / name
        if not file.exists():
            return None
        found = [line for line in file.read_text().splitlines() if line.startswith("scheduler_schedule_attempts_total")]
        return sum(float(line.rpartition(" ")[2]) for line in found)

    before, after = total("metrics-before.txt"), total("metrics-after.txt")
    (row,) = rows(comparison.section(sources, ENGLISH), "comparison")
    section = metrics.section(sources, ENGLISH)
    if before is None or after is None:
        assert row["attempts"] is None
        assert section is None
        return
    assert row["attempts"] == after - before
    told = [
        line["difference"] for line in rows(section, "metrics") if line["metric"] == "scheduler_schedule_attempts_total"
    ]
    assert sum(value for value in told if isinstance(value, float)) == after - before
