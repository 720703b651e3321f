import json
import math
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from harness.load.regress.compare import Compared
from harness.load.regress.corpus import Cell
from harness.load.regress.decide import METRICS, decide, ratios
from harness.load.regress.keep import keep
from harness.load.regress.pairs import Draft, Pairs
from harness.record.regress import Comparison, Regression, read
from harness.report.document import Callout, Section
from harness.report.sections.regress import checks, section, sentence
from harness.report.sections.regress_blocks import blocks
from harness.report.sources import Sources
from harness.report.words import Words
from tests.unit.report.loads import column, drawn, pictures, said, tables

EN, ZH = Words("en"), Words("zh")
CELL = Cell("filter", 100, "names", (b"{}",))


def measured(factor: float, count: int = 600, *, noise: float = 0.02, failing: int = 0, seed: int = 1) -> Pairs:
    """Pairs of three starts, of which the candidate takes so many times what the base takes."""
    random = np.random.default_rng(seed)
    draft = Draft()
    for number in range(count):
        base, candidate = (0.001 * float(random.lognormal(0.0, noise)) for _ in range(2))
        ending = 1 if number < failing else 0
        row = (base, 2 * base, 0, 0.0, candidate * factor, 2 * candidate * factor, ending, 0.0)
        draft.rows.append((*row, number * 3 // count, True, 0, float(number)))
    return draft.finished(size=count // 30)


def kept(folder: Path, *stages: tuple[Pairs, ...], tolerance: float = 0.03) -> Regression:
    comparisons = tuple(decide(CELL, one, tolerance=tolerance) for one in stages)
    result = Regression("ref:base", "ref:new", {"tolerance": tolerance, "seed": 0}, comparisons, ("a note",))
    return keep(Compared(result, tuple(stages)), folder, {})


def shown(*regressions: Regression, words: Words = EN) -> Section:
    made = section(Sources(regressions=regressions), words)
    assert made is not None
    return made


def slow(seed: int = 1) -> tuple[Pairs, Pairs]:
    return measured(1.2, seed=seed), measured(1.2, seed=seed + 1)


def test_without_a_comparison_there_is_no_chapter() -> None:
    assert section(Sources(), EN) is None


def test_the_table_has_what_was_decided(tmp_path: Path) -> None:
    regression = kept(tmp_path, slow(), (measured(1.0),))
    made = tables(shown(read(regression.path or tmp_path)))
    every = [metric for one in regression.comparisons for metric in one.metrics]
    table, expected = made["regress"], [metric for metric in every if metric.verdict]
    assert column(made["regress-shown"], "metric") == ["cpu p99", "wall p95", "wall p99"] * 2
    assert column(table, "metric") == [metric.metric for metric in expected]
    for key, name in (
        ("base_ms", "base_ms"),
        ("candidate_ms", "candidate_ms"),
        ("ratio", "ratio"),
        ("ratio_low", "low"),
        ("ratio_high", "high"),
    ):
        assert column(table, key) == [getattr(metric, name) for metric in expected]
    assert column(table, "verdict") == [metric.verdict for metric in expected]
    assert column(table, "mde_percent") == [None if one.mde is None else 100 * one.mde for one in expected]
    assert set(column(table, "pairs")) == {1200, 600}
    assert {table.marks[0], table.marks[len(expected) - 1]} == {"bad", "good"}


VERDICTS = {
    "PASS": ("passed", "good", (measured(1.0),)),
    "REGRESSION": ("failed", "bad", slow()),
    "INCONCLUSIVE": ("skipped", "warning", (measured(1.0, noise=3.0),)),
}


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_is_told_and_checked(tmp_path: Path, words: Words, verdict: str) -> None:
    outcome, level, stages = VERDICTS[verdict]
    regression = kept(tmp_path, stages)
    sources = Sources(regressions=(regression,))
    assert regression.verdict == verdict
    (check,) = checks(sources, words)
    assert check.outcome == outcome
    assert check.message or outcome == "passed"
    first = regression.comparisons[0].metrics[0]
    assert (check.facts["cpu p50 ratio"], check.facts["cpu p50 mde"]) == (str(first.ratio), str(first.mde))
    whole, text = sentence(sources, words)
    assert whole == {"skipped": "unclear"}.get(outcome, outcome)
    assert text.startswith(verdict)
    (told, *_) = shown(regression, words=words).blocks
    assert isinstance(told, Callout)
    assert (told.level, told.text) == (level, text)


def test_a_slowdown_that_cannot_be_excluded_is_told(tmp_path: Path) -> None:
    regression = kept(tmp_path, (measured(1.0, noise=3.0),))
    high = max(metric.high or 0.0 for metric in regression.comparisons[0].metrics if metric.verdict)
    (check,) = checks(Sources(regressions=(regression,)), EN)
    assert check.message == f"a slowdown of up to {100 * (high - 1):.3g} % could not be excluded"


def test_a_candidate_that_answers_worse_fails_whatever_its_speed(tmp_path: Path) -> None:
    sources = Sources(regressions=(kept(tmp_path, (measured(0.5, failing=60),)),))
    (check,) = checks(sources, EN)
    assert check.outcome == "failed"
    assert sentence(sources, EN)[0] == "failed"
    assert "answers worse" in said(shown(*sources.regressions).blocks)


def test_the_forest_has_each_ratio_with_its_interval_and_the_bands(tmp_path: Path) -> None:
    regression = kept(tmp_path, slow())
    picture = pictures(shown(regression))["regress-ratios-1"]
    rows = {row["metric"]: row for row in drawn(picture) if "metric" in row}
    for metric in regression.comparisons[0].metrics:
        row = rows[metric.metric]
        assert [row[key] for key in ("ratio", "low", "high")] == pytest.approx(
            [metric.ratio, metric.low, metric.high], rel=1e-5
        )
    assert [row["from"] for row in drawn(picture) if "from" in row] == [1.03, 1.1]
    wide = pictures(shown(kept(tmp_path, slow(), tolerance=0.1)))["regress-ratios-1"]
    assert [row["from"] for row in drawn(wide) if "from" in row] == [1.1, 1.2]


def test_each_panel_shows_its_own_comparison(tmp_path: Path) -> None:
    spec = pictures(shown(kept(tmp_path, slow(), (measured(1.0),))))["regress-ratios-1"].spec
    # A layer with data of its own would show all of it in every panel.
    layers = [layer for layer in spec["spec"]["layer"] if "metric" in str(layer.get("encoding"))]
    assert layers
    assert all("data" not in layer for layer in layers)


def test_blocks_are_those_of_the_verdict(tmp_path: Path) -> None:
    stages = (measured(1.2, failing=35), measured(1.2, seed=9))
    regression = kept(tmp_path, stages)
    made = blocks(regression, regression.comparisons[0])
    assert made
    for metric in ("cpu p50", "wall p50"):
        expected = [math.exp(value) for one in stages for value in ratios(one, metric)]
        assert [one.ratio for one in made if one.metric == metric] == pytest.approx(expected)
        assert metric in METRICS
    rows = [row for row in drawn(pictures(shown(regression))["regress-blocks-1"]) if "block" in row]
    assert [row["ratio"] for row in rows] == pytest.approx([one.ratio for one in made], rel=1e-5)
    assert {row["start"] for row in rows} == {f"{stage}.{start}" for stage in (1, 2) for start in (1, 2, 3)}


@pytest.mark.parametrize("content", [None, b"", b"nothing", "cut"])
def test_damaged_pairs_give_a_warning_and_the_rest(tmp_path: Path, content: bytes | str | None) -> None:
    regression = kept(tmp_path, (measured(1.0),), (measured(1.0, seed=2),))
    file = (regression.path or tmp_path) / "pairs" / "1-1.npz"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-100] if isinstance(content, str) else content)
    made = shown(regression)
    assert "the raw pairs pairs/1-1.npz are missing or damaged" in said(made.blocks)
    assert {"regress-ratios-1", "regress-blocks-1"} == set(pictures(made))
    assert len(tables(made)["regress"].rows) == 4


def test_several_comparisons_keep_their_pictures_apart(tmp_path: Path) -> None:
    made = shown(kept(tmp_path, slow()), kept(tmp_path, (measured(1.0),)))
    assert len(pictures(made)) == len([one for one in made.all_blocks() if hasattr(one, "spec")]) == 4
    assert len({column(tables(made)["regress"], "record")[place] for place in (0, -1)}) == 2


def test_a_comparison_of_nothing_is_told(tmp_path: Path) -> None:
    empty = decide(CELL, [Draft().finished(size=5)], died="it burnt")
    regression = Regression("a", "b", {}, (empty,))
    made = shown(regression)
    assert not pictures(made)
    assert "it burnt" in said(made.blocks)
    lost = Regression("a", "b", {"tolerance": "?"}, ())
    assert sentence(Sources(regressions=(lost,)), ZH)[0] == "unclear"
    assert shown(lost, words=ZH)


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_every_picture_can_be_drawn(tmp_path: Path, words: Words) -> None:
    for picture in pictures(shown(kept(tmp_path, slow(), (measured(1.0),)), words=words)).values():
        marks = vl_convert.vegalite_to_svg(dict(picture.spec), allowed_base_urls=[])
        assert marks.count("<path") > 10
        assert len(json.dumps(picture.spec)) < 200_000


def test_many_comparisons_take_several_pictures(tmp_path: Path) -> None:
    one = decide(CELL, slow())
    many = tuple(Comparison(**{**vars(one), "nodes": nodes, "samples": ()}) for nodes in range(20))
    made = pictures(shown(Regression("a", "b", {"tolerance": 0.03}, many)))
    titles = [row["title"] for picture in made.values() for row in drawn(picture) if "title" in row]
    assert len(set(titles)) == 20
    assert len(made) == 3
