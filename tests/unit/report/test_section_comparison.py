from dataclasses import replace
from pathlib import Path

import pytest

from harness.report import charts
from harness.report.document import Text
from harness.report.sections import comparison
from harness.report.words import Words
from tests.unit.expect.records import RecordBuilder
from tests.unit.report.given import judged
from tests.unit.report.reading import ENGLISH, blocks, from_disk, of, pictures, rows, size, table, values
from tests.unit.report.test_compare import waiting
from tests.unit.report.test_compare_columns import bound, measured, page


def test_without_runs_there_is_nothing_to_compare() -> None:
    assert comparison.section(of(), ENGLISH) is None


def test_repeats_are_one_row() -> None:
    section = comparison.section(of(waiting(10, 20), waiting(30, 40), waiting(50, variant="extender")), ENGLISH)
    first, second = rows(section, "comparison")
    assert (first["variant"], first["runs"], first["held"]) == ("default", 2, 2)
    assert first["p50_ms"] == pytest.approx(20)
    assert first["p99_ms"] == pytest.approx(40)
    assert second["p50_ms"] == pytest.approx(50)


def test_counts_that_differ_between_repeats_are_the_least_and_the_most() -> None:
    (row,) = rows(comparison.section(of(waiting(10, 20), waiting(30)), ENGLISH), "comparison")
    assert (row["running_min"], row["running_max"], row["pending"]) == (1, 2, 0)


def test_one_scenario_is_told_above_the_table_and_several_in_it() -> None:
    alone = table(comparison.section(of(waiting(10), waiting(20, variant="extender")), ENGLISH), "comparison")
    assert [column.key for column in alone.columns][:2] == ["scenario", "variant"]
    assert [column.key for column in alone.for_people().columns][:2] == ["variant", "runs"]
    assert alone.for_people().rows[0][0] == alone.rows[0][1]
    assert alone.title == "synthetic[default]: variants, repeats together"
    assert alone.filters == ("variant",)
    other = waiting(10)
    other = replace(other, record=replace(other.record, meta=replace(other.record.meta, scenario="other")))
    both = table(comparison.section(of(waiting(10), other), ENGLISH), "comparison")
    assert [column.key for column in both.columns][:2] == ["scenario", "variant"]
    assert both.filters == ("scenario", "variant")


@pytest.mark.parametrize(
    ("repeats", "en", "zh"),
    [
        (1, "One run each: this says nothing about which is faster.", "每个方案只运行了一次"),
        (2, "With fewer than 5 runs of each, this says nothing", "各方案的运行不足 5 次"),
        (5, "", ""),
    ],
)
def test_an_order_of_few_runs_is_told_with_doubt(repeats: int, en: str, zh: str) -> None:
    runs = [waiting(*range(10, 70, 10), variant=variant) for variant in ("default", "extender")] * repeats
    for language, doubt in (("en", en), ("zh", zh)):
        (text,) = [block.text for block in blocks(comparison.section(of(*runs), Words(language)), Text)]
        assert doubt in text
        assert bool(doubt) == ("nothing" in text or "不能说明" in text)


def test_rows_that_did_not_hold_are_marked() -> None:
    section = comparison.section(of(waiting(10), waiting(10, variant="extender", running=5)), ENGLISH)
    assert table(section, "comparison").marks == {1: "bad"}


def test_what_schedulers_did_not_tell_is_empty_and_no_zero(tmp_path: Path) -> None:
    (row,) = rows(comparison.section(of(judged(bound(2, 1.0))), ENGLISH), "comparison")
    assert (row["attempts"], row["extender_share_percent"], row["cpu_ms_per_pod"]) == (None, None, None)
    told = measured(tmp_path, bound(2, 1.0), page(10), page(17))
    (row,) = rows(comparison.section(of(told), ENGLISH), "comparison")
    assert row["attempts"] == 7


def test_the_share_of_extenders_is_in_percent(tmp_path: Path) -> None:
    builder = bound(1, 1.0).extender().call("filter", "p0", 1.0, seconds=0.5)
    run = measured(tmp_path, builder, page(0, 1.0), page(1, 3.0))
    (row,) = rows(comparison.section(of(run), ENGLISH), "comparison")
    assert row["extender_share_percent"] == pytest.approx(25)


def test_the_picture_reaches_every_pod_and_says_the_figures() -> None:
    section = comparison.section(
        of(waiting(*range(10, 110, 10)), waiting(*range(5, 55, 5), variant="extender")), ENGLISH
    )
    picture = pictures(section)["waiting"]
    drawn = values(picture)
    assert len(drawn) == 20
    assert max(point["share"] for point in drawn) == 1
    assert "default: half within 50.0 ms" in picture.about
    assert "extender: half within 25.0 ms" in picture.about


def test_the_picture_of_very_many_pods_stays_small() -> None:
    run = waiting(*(number % 977 for number in range(5000)))
    picture = pictures(comparison.section(of(run), ENGLISH))["waiting"]
    assert size(picture) < 30_000
    assert max(point["wait"] for point in values(picture)) == pytest.approx(976)


def test_few_pods_are_not_drawn() -> None:
    assert pictures(comparison.section(of(waiting(1, 2, 3)), ENGLISH)) == {}


def test_damaged_metrics_leave_the_rest(tmp_path: Path) -> None:
    path = RecordBuilder().node("n").pod("a", "n").write(tmp_path)
    for name in ("metrics-before.txt", "metrics-after.txt"):
        (path / name).write_text("this is {no metric")
    (row,) = rows(comparison.section(from_disk(path), ENGLISH), "comparison")
    assert (row["running"], row["attempts"]) == (1, None)


def test_sides_of_one_variant_are_curves_of_its_colour_told_apart_by_dashes() -> None:
    runs = [replace(waiting(*range(10, 70, 10)), side=side) for side in ("default #1", "default #2")]
    runs.append(replace(waiting(*range(20, 80, 10), variant="extender"), side="extender"))
    picture = pictures(comparison.section(of(*runs), ENGLISH))["waiting"]
    assert {one["variant"] for one in values(picture)} == {"default #1", "default #2", "extender"}
    encoding = picture.spec["encoding"]
    colours = dict(zip(*(encoding["color"]["scale"][key] for key in ("domain", "range")), strict=True))
    assert colours == {name: charts.colours([name])[name] for name in colours}
    assert colours["default #1"] == colours["default #2"] == charts.colours(["default"])["default"]
    dashes = encoding["strokeDash"]["scale"]
    assert dict(zip(dashes["domain"], map(tuple, dashes["range"]), strict=True)) == {
        "default #1": charts.DASHES[0],
        "default #2": charts.DASHES[1],
        "extender": charts.DASHES[0],
    }
    assert "strokeDash" not in pictures(comparison.section(of(waiting(*range(6))), ENGLISH))["waiting"].spec["encoding"]
