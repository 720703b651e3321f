import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from harness.record.load import LoadRecord
from harness.report.sections.load import section
from harness.report.sections.load_pictures import percentile_picture
from harness.report.sections.load_samples import bin_seconds, curves_of
from harness.report.sources import Sources
from harness.report.words import Words
from tests.unit.report.loads import Loads, asked, column, drawn, even, pictures, said, seen_at, tables

EN, ZH = Words("en"), Words("zh")


def shown(*records: LoadRecord, words: Words = EN) -> Any:
    made = section(Sources(loads=records), words)
    assert made is not None
    return made


def uneven(count: int, seed: int = 1) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).lognormal(1.0, 1.0, count)]


def test_every_point_of_the_percentile_curve_was_seen_and_is_right(tmp_path: Path) -> None:
    took = uneven(1777)
    record = Loads(tmp_path).add(asked(even(1777), took, late_ms=0.25), rate=200.0).record()
    rows = drawn(pictures(shown(record))["load-percentiles-open-1"])
    assert len(rows) > 40
    for row in rows:
        # A point is drawn to six digits: beside a step of the curve the percentile may fall on either side.
        percents = [100 - 100 / (row["rarity"] * factor) for factor in (1 - 1e-6, 1, 1 + 1e-6)]
        assert any(row["service"] == pytest.approx(seen_at(took, max(one, 0)), rel=1e-5) for one in percents)
        assert row["latency"] == pytest.approx(row["service"] + 0.25, rel=1e-5)
    named = {round(row["rarity"]): row["latency"] for row in rows if row.get("named")}
    table = tables(shown(record))["load-results"]
    for rarity, key in ((2, "p50_ms"), (10, "p90_ms"), (20, "p95_ms"), (100, "p99_ms")):
        assert column(table, key) == pytest.approx([named[rarity]], rel=1e-5)
    assert max(row["latency"] for row in rows) == pytest.approx(max(took) + 0.25, rel=1e-5)


def test_warm_up_other_verbs_and_quick_failures_are_in_no_curve(tmp_path: Path) -> None:
    warm = asked(even(100, 0.0, 1.0), [900.0] * 100)
    other = asked(even(500), [500.0] * 500, verb="prioritize")
    # One that was refused at once, and one that kept a scheduler waiting.
    mine = asked(even(400), [2.0] * 398 + [0.01, 5000.0], outcomes={398: "refused", 399: "timeout"})
    record = Loads(tmp_path).add(warm, other, mine, verbs=("filter", "prioritize")).record()
    curves = {curve.result.verb: curve for curve in curves_of([record]).curves}
    assert {round(point.latency_ms, 3) for point in curves["prioritize"].points} == {500.0}
    values = {round(point.latency_ms, 3) for point in curves["filter"].points}
    assert values == {2.0, 5000.0}
    course = next(one for one in curves_of([record]).courses if one.results[0].verb == "filter")
    assert sum(one.requests for one in course.bins) == 400
    assert sum(one.failed for one in course.bins) == 2


def test_a_request_of_the_warm_up_that_never_ended_counts_in_a_closed_load(tmp_path: Path) -> None:
    stuck = asked([0.5], [5000.0], outcomes={0: "timeout"})
    record = Loads(tmp_path).add(stuck, asked(even(400), [1.0] * 400), rate=None).record()
    found = curves_of([record])
    assert not found.unread
    assert found.curves[0].points[-1].latency_ms == pytest.approx(5000.0)


def test_bins_over_time_have_what_was_sent_in_them(tmp_path: Path) -> None:
    # None of them on the border of two bins.
    at, took = even(5000, start=1.00003), uneven(5000)
    record = Loads(tmp_path).add(asked(at, took, outcomes={7: "reset"}), rate=500.0).record()
    (course,) = curves_of([record]).courses
    assert course.bin_seconds == 0.2
    rows = drawn(pictures(shown(record))["load-over-time-1"])
    assert sum(row["requests"] for row in rows) == 5000
    assert sum(row["failed"] for row in rows) == 1
    assert rows[0]["second"] == pytest.approx(1.1)
    for place, row in enumerate(rows):
        here = [
            value
            for number, (second, value) in enumerate(zip(at, took, strict=True))
            if math.floor((second - 1.0) / 0.2) == place and number != 7
        ]
        for key, percent in (("p50", 50), ("p99", 99), ("max", 100)):
            assert row[key] == pytest.approx(seen_at(here, percent), rel=1e-5)


@pytest.mark.parametrize(
    ("seconds", "requests", "expected"),
    [
        (5.0, 500, 0.2),
        (20.0, 2000, 1.0),
        (10.0, 10**6, 0.1),
        (3600.0, 10**6, 60.0),
        (10**6, 10**6, 10**4),
        (0.4, 3, 0.05),
    ],
)
def test_bins_are_neither_too_many_nor_too_empty(seconds: float, requests: int, expected: float) -> None:
    assert bin_seconds(seconds, requests) == expected


def test_the_two_models_share_no_picture(tmp_path: Path) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900)))
    loads.add(asked(even(900), uneven(900)), rate=None)
    made = pictures(shown(loads.record()))
    assert {"load-percentiles-open-1", "load-percentiles-closed-1"} <= set(made)
    # In a closed load the two times are the same, and one line is enough.
    assert all("service" not in row for row in drawn(made["load-percentiles-closed-1"]))


def test_a_sweep_is_drawn_over_the_number_of_nodes(tmp_path: Path) -> None:
    loads = Loads(tmp_path)
    for nodes in (1, 10, 1000):
        for wire, factor in (("names", 1.0), ("objects", 3.0)):
            took = [value * factor + nodes / 100 for value in uneven(900, nodes)]
            loads.add(asked(even(900), took), nodes=nodes, wire=wire)
    loads.add(asked(even(900), uneven(900), late_ms=9.0), nodes=5000)
    made = shown(loads.record())
    rows = drawn(pictures(made)["load-nodes-1"])
    assert {row["line"] for row in rows} == {"names", "whole nodes"}
    assert {row["nodes"] for row in rows} == {1, 10, 1000}
    table = tables(made)["load-results"]
    for key, stat in (("p50_ms", "p50"), ("p99_ms", "p99")):
        drawn_values = [row["ms"] for row in rows if row["stat"] == stat]
        assert sorted(drawn_values) == pytest.approx(sorted(column(table, key)), rel=1e-5)
    # Curves of each size are there for those who ask, and strips over time of none.
    assert any(name.startswith("load-step-percentiles") for name in pictures(made))
    assert not any(name.startswith("load-over-time") for name in pictures(made))


def test_nodes_of_several_sizes_are_lines_of_their_own(tmp_path: Path) -> None:
    loads = Loads(tmp_path)
    for nodes in (10, 100):
        for kib in (2.0, 8.0):
            loads.add(asked(even(900), uneven(900)), nodes=nodes, wire="objects", node_kib=kib)
    made = shown(loads.record())
    assert {row["line"] for row in drawn(pictures(made)["load-nodes-1"])} == {"2 KiB", "8 KiB"}
    assert column(tables(made)["load-results"], "node_kib") == [2.0, 8.0, 2.0, 8.0]
    curves = {row["series"] for row in drawn(pictures(made)["load-step-percentiles-open-1"])}
    assert "100 whole nodes of 8 KiB" in curves


def test_one_size_is_no_sweep(tmp_path: Path) -> None:
    made = shown(Loads(tmp_path).add(asked(even(900), uneven(900))).record())
    assert not any(name.startswith("load-nodes") for name in pictures(made))


def test_the_knee_shows_what_all_verbs_answered(tmp_path: Path) -> None:
    loads = Loads(tmp_path)
    for rate, count in ((40.0, 360), (80.0, 700)):
        both = [asked(even(count), uneven(count), verb=verb) for verb in ("filter", "prioritize")]
        loads.add(*both, rate=rate, verbs=("filter", "prioritize"))
    tried = [(80.0, False, False), (20.0, True, True), (40.0, True, False)]
    record = loads.knee(tried, verb="filter+prioritize").record()
    made = shown(record)
    rows = [row for row in drawn(pictures(made)["load-knee-1"]) if "state" in row]
    assert [row["rate"] for row in rows] == [40.0, 80.0]
    assert [row["p99"] for row in rows] == [4.0, 8.0]
    answered = [sum(one.achieved_rate for one in record.results if one.rate == rate / 2) for rate in (40.0, 80.0)]
    assert [row["answered"] for row in rows] == pytest.approx(answered, rel=1e-5)
    assert [row["within"] for row in rows] == [True, False]
    assert {"budget": 50.0, "told": "budget: p99 within 50 ms"} in drawn(pictures(made)["load-knee-1"])
    assert "1 steps that the generator limited are left out" in pictures(made)["load-knee-1"].about
    assert column(tables(made)["load-knees"], "pods_per_s") == [123.5]
    assert column(tables(made)["load-knee-steps"], "rate_per_s") == [80.0, 20.0, 40.0]


def test_a_step_says_itself_what_all_verbs_answered(tmp_path: Path) -> None:
    """Only of older records it has to be looked for in the results."""
    tried = [(40.0, True, False), (80.0, False, False)]
    made = shown(Loads(tmp_path).knee(tried, verb="filter+prioritize", worst_verb="filter").record())
    rows = [row for row in drawn(pictures(made)["load-knee-1"]) if "state" in row]
    assert [row["answered"] for row in rows] == [40.0, 80.0]
    assert "the other figures are over all verbs" in str(tables(made)["load-knee-steps"].note)


def test_a_knee_of_limited_steps_is_not_drawn(tmp_path: Path) -> None:
    record = Loads(tmp_path).knee([(40.0, True, True), (80.0, True, True), (90.0, False, False)]).record()
    assert not pictures(shown(record))
    assert column(tables(shown(record))["load-knees"], "knee_per_s") == [80.0]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _other_columns(path: Path) -> None:
    np.savez(path, intended=np.arange(3.0))


def _unequal(path: Path) -> None:
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored.files}
    np.savez(path, **{**columns, "done": columns["done"][:-1]})


def _of_another(path: Path) -> None:
    with np.load(path) as stored:
        np.savez(path, **{name: stored[name][:-5] for name in stored.files})


@pytest.mark.parametrize("damage", [Path.unlink, _cut, _emptied, _other_columns, _unequal, _of_another])
@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_damaged_samples_give_a_warning_and_the_rest(tmp_path: Path, damage: Any, words: Words) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900)), subject="ref:lost")
    record = loads.add(asked(even(900), uneven(900)), subject="ref:kept").record()
    damage(record.path / "samples" / "1.npz")
    made = shown(record, words=words)
    assert column(tables(made)["load-results"], "subject") == ["ref:lost", "ref:kept"]
    assert words("load.unread", record=record.path.name, file="samples/1.npz", count=1) in said(made.blocks)
    picture = pictures(made)["load-percentiles-open-1"]
    assert "ref:lost" not in json.dumps(picture.spec)
    assert drawn(picture)


def test_samples_outside_the_record_are_not_read(tmp_path: Path) -> None:
    record = Loads(tmp_path / "one").add(asked(even(900), uneven(900))).record()
    text = (record.path / "load.json").read_text().replace('"samples/1.npz"', '"../../x.npz"')
    (tmp_path / "x.npz").write_bytes((record.path / "samples" / "1.npz").read_bytes())
    (record.path / "load.json").write_text(text)
    from harness.record.load import read  # noqa: PLC0415 - the record as it is now

    assert curves_of([read(record.path)]).curves == ()


def test_a_million_requests_make_a_small_picture(tmp_path: Path) -> None:
    count = 1_000_000
    at = np.linspace(1.0, 9.999, count)
    took = np.random.default_rng(1).lognormal(1.0, 1.0, count)
    record = Loads(tmp_path).add(asked(at, took), rate=100_000.0).record()  # type: ignore[arg-type]
    (curve,) = curves_of([record]).curves
    picture = percentile_picture("many", [curve] * 8, ZH)
    assert len(json.dumps(picture.spec, ensure_ascii=False).encode()) < 200_000


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_every_picture_can_be_drawn_in_both_languages(tmp_path: Path, words: Words) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900), outcomes={3: "reset"}), subject="ref:a")
    plain = loads.add(asked(even(900), uneven(900)), subject="ref:b").record()
    swept = Loads(tmp_path, title="swept")
    for nodes in (1, 100):
        swept.add(asked(even(900), uneven(900)), nodes=nodes, rate=None)
    searched = Loads(tmp_path, title="knee").add(asked(even(900), uneven(900)), rate=40.0)
    searched.add(asked(even(900), uneven(900)), rate=80.0).knee([(40.0, True, False), (80.0, False, False)])
    made = shown(plain, swept.record(), searched.record(), words=words)
    assert len(pictures(made)) >= 5
    for picture in pictures(made).values():
        marks = vl_convert.vegalite_to_svg(dict(picture.spec), allowed_base_urls=[])
        assert marks.count("<path") > 10, picture.name
