"""A report that nobody measured: every kind of block, and the texts that break pages."""

from pathlib import Path
from typing import Any

import yaml

from harness.report import charts
from harness.report.document import (
    Block,
    Callout,
    Cell,
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

VARIANTS = ("default", "extender", "second-scheduler", "framework-plugin", "controller")
NODES = ("node-a", "node-b", "node-c")
ATTACK = "<script>window.attacked = true</script>"
EMOJI = "web-🐙-</script><img src=x onerror=alert(1)>"
LONGEST = "a" * 253
POD_NAMES = (ATTACK, EMOJI, LONGEST)
# What lies between two roundings, and what only seems to.
ROUNDED = (0.125, 0.375, 2.675, -0.125, 1234567.885, 0.0, 1e-9, 2.5)

TEXTS: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def everything(language: str = "en", pods: int = 200) -> Document:
    """Return a report with everything in it and a table of so many pods."""
    texts = TEXTS[language]
    return Document(
        title=texts["title"],
        sentence=texts["sentence"],
        outcome="failed" if pods > 1000 else "passed",
        language=language,
        sections=(
            Section("comparison", texts["comparison"], (Text(texts["about"]), _comparison(texts)), brief=True),
            Section("placement", texts["placement"], _placement(texts, pods)),
            Section("details", texts["details"], _details(texts)),
        ),
        sources=tuple(f"20261116-1200-{variant}" for variant in VARIANTS),
        checks=(Check("default", "all bound", "passed"), Check("extender", "in time", "skipped")),
    )


def _comparison(texts: dict[str, str]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (variant, 20, 101.5 + 37.25 * place, None if place == 4 else 0.001 * place, place != 3)
        for place, variant in enumerate(VARIANTS)
    )
    columns = (
        Column("variant", texts["variant"]),
        Column("pods", texts["pods"]),
        Column("bound_ms", texts["time"], 1),
        Column("share", "CV", 3),
        Column("bound", texts["bound"]),
    )
    marks = {1: "warning", 3: "bad", 0: "good"}
    return Table("comparison", texts["comparison"], columns, rows, marks=marks)


def _placement(texts: dict[str, str], pods: int) -> tuple[Block, ...]:
    columns = (
        Column("pod", texts["pod"]),
        Column("variant", texts["variant"]),
        Column("node", texts["nodes"]),
        Column("bound_ms", texts["time"], 2),
    )
    names = [*POD_NAMES, *(f"web-{number}" for number in range(pods - len(POD_NAMES)))]
    rows = tuple(
        (name, VARIANTS[place % 5], None if place == 7 else NODES[place % 3], _milliseconds(place))
        for place, name in enumerate(names)
    )
    table = Table("pods", texts["pod"], columns, rows, texts["note"], 20, {7: "bad"}, ("variant", "node"))
    return (_bars(texts), _facets(texts), table)


def _milliseconds(place: int) -> float:
    return ROUNDED[place] if place < len(ROUNDED) else (place * 7919 % 10007) / 16


def _details(texts: dict[str, str]) -> tuple[Block, ...]:
    call = '{"pod": "' + ATTACK + '", "nodes": ["node-a"]}\n' + "x" * 300
    empty = Table("nothing", texts["warning"], (Column("pod", texts["pod"]),), ())
    return (
        Callout("warning", texts["warning"]),
        Callout("bad", f"{ATTACK} {LONGEST}"),
        Callout("good", texts["about"]),
        Callout("info", texts["note"]),
        Listing((texts["note"], LONGEST, EMOJI)),
        Facts((("Kubernetes", "1.36.3"), ("Seed", "0"), (texts["pod"], LONGEST))),
        Code("harness run twenty-pause --variant default --seed 0", "console"),
        Fold(texts["transcript"], (Code(call, "json", texts["transcript"]), _heat_map(texts), empty)),
    )


def _bars(texts: dict[str, str]) -> Picture:
    values = [
        {"variant": variant, "node": node, "pods": 6 + (place + other) % 2}
        for place, variant in enumerate(VARIANTS)
        for other, node in enumerate(NODES)
    ]
    spec = _spec(
        values,
        "bar",
        x={"field": "node", "type": "nominal", "title": texts["nodes"]},
        xOffset={"field": "variant", "sort": list(VARIANTS)},
        y={"field": "pods", "type": "quantitative", "title": texts["pods"]},
        color=_colour(texts),
    )
    return Picture("bars", texts["placement"], texts["about"], spec)


def _facets(texts: dict[str, str]) -> Picture:
    values = [
        {"variant": variant, "at": at, "bound": min(20, at * (2 + place))}
        for place, variant in enumerate(VARIANTS)
        for at in range(12)
    ]
    spec = _spec(
        values,
        {"type": "line", "clip": True},
        x={"field": "at", "type": "quantitative", "title": texts["time"]},
        y={"field": "bound", "type": "quantitative", "title": texts["bound"]},
        color=_colour(texts),
        facet={"field": "variant", "columns": 3, "title": None},
    )
    return Picture("facets", texts["time"], texts["about"], {**spec, "width": 180, "height": 120})


def _heat_map(texts: dict[str, str]) -> Picture:
    values = [{"row": place // 40, "column": place % 40, "pods": place * 37 % 11} for place in range(1000)]
    spec = _spec(
        values,
        {"type": "rect", "clip": True, "tooltip": True},
        x={"field": "column", "type": "ordinal", "title": texts["nodes"], "axis": {"labels": False}},
        y={"field": "row", "type": "ordinal", "title": None, "axis": None},
        color={"field": "pods", "type": "quantitative", "title": texts["pods"]},
    )
    return Picture("heat", texts["pods"], texts["about"], {**spec, "width": 640, "height": 260})


def _colour(texts: dict[str, str]) -> dict[str, Any]:
    colours = charts.colours(VARIANTS)
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": "variant", "type": "nominal", "title": texts["variant"], "scale": scale}


def _spec(values: list[dict[str, Any]], mark: Any, **encoding: Any) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": values},
        "mark": mark,
        "encoding": encoding,
    }
