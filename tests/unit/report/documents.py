"""Reports to be rendered, made of nothing but what a format may trip over."""

from dataclasses import replace
from typing import Any

from harness.record.load import Knee, LoadResult
from harness.record.regress import Comparison, MetricResult, Regression
from harness.report.document import (
    Callout,
    Check,
    Code,
    Column,
    Document,
    Facts,
    Fold,
    Listing,
    Picture,
    Section,
    Table,
    Text,
)

LONG = "p" * 253
HOSTILE = "<script>alert(1)</script> | *a* [b](c) `d` \\ 🐧 \x00"
SPEC: dict[str, Any] = {
    "data": {"values": [{"a": 1, "b": 2}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}, "y": {"field": "b", "type": "quantitative"}},
}
COLUMNS = (Column("pod", "pod"), Column("p99_ms", "p99 (ms)", 1), Column("ready", "ready"), Column("count", "count"))
ROWS = ((HOSTILE, 1.25, True, 3), (LONG, None, False, None), ("two\nlines", float("nan"), None, 12345))


def table(name: str = "pods", rows: Any = ROWS, **more: Any) -> Table:
    return Table(name, "Pods", COLUMNS, tuple(rows), **more)


def document(*sections: Section, **more: Any) -> Document:
    made = sections or (
        Section(
            "everything",
            f"Everything {HOSTILE}",
            (
                Text(f"A text with `code`, and {HOSTILE}"),
                Listing(("one", HOSTILE)),
                Callout("bad", HOSTILE),
                Code("a\n```\nb", "yaml", "Configuration"),
                Facts((("name", HOSTILE), (HOSTILE, "value"))),
                table(marks={0: "bad"}, note="A note."),
                Picture("bars", "Bars", "One bar [2] high.", SPEC),
                Fold(f"More {HOSTILE}", (Text("folded"), table("inner", ROWS * 40))),
            ),
        ),
    )
    whole = Document("A title", "It held.", "passed", "en", tuple(made), ("id-1", "id-2"), CHECKS)
    return replace(whole, **more)


CHECKS = (
    Check("run 1", "count", "passed", detail="20 pods", seconds=1.5, facts={"record": "id-1", "kind": "count"}),
    Check("run 1", f"spread {HOSTILE}", "failed", HOSTILE, "first\nsecond\x0b", facts={"record": "id-1"}),
    Check("run 2", "timing", "skipped", "nothing to compare with"),
)


def load_result(**more: Any) -> LoadResult:
    numbers = {f"{name}_ms": 1.0 for name in ("p50", "p90", "p95", "p99", "max", "service_p99", "lag_p99")}
    given: dict[str, Any] = {"rate": 50.0, "requests": 200, "errors": 0, "generator_limited": False, **numbers}
    result = LoadResult("ref:x", "filter", 100, "names", "open", **given)
    return replace(result, **more)


KNEE = Knee("ref:x", "filter", 1, "names", 50.0, 10.0, None, "bound", 3.0, ())


def regression(verdict: str = "PASS", failure: str | None = None) -> Regression:
    metric = MetricResult("cpu p50", verdict, 1.0, 1.1, 1.1, 1.0, 1.2, (0.5,), 0.03, 20)
    one = Comparison("filter", 3, "names", 10, 1, "d", 100, 5, 0, 0, {}, failure, verdict, (metric,))
    return Regression("ref:a", "ref:b", {}, (one,))
