import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.record.load import LoadRecord
from harness.report.document import Callout, Code, Facts, Section
from harness.report.sections.load import section
from harness.report.sections.load_verdict import checks, sentence
from harness.report.sources import Sources
from harness.report.words import Words
from tests.unit.report.loads import Loads, asked, column, drawn, even, pictures, said, seen_at, tables

EN, ZH = Words("en"), Words("zh")


def shown(*records: LoadRecord, words: Words = EN) -> Section:
    made = section(Sources(loads=records), words)
    assert made is not None
    return made


def uneven(count: int, seed: int = 1) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).lognormal(1.0, 1.0, count)]


def test_without_a_load_there_is_no_chapter() -> None:
    assert section(Sources(), EN) is None


def test_the_table_and_the_files_have_what_was_measured(tmp_path: Path) -> None:
    took = uneven(1500)
    made = shown(Loads(tmp_path).add(asked(even(1500), took, late_ms=0.5), rate=150.0).record())
    table = tables(made)["load-results"]
    for key, percent in (("p50_ms", 50), ("p90_ms", 90), ("p95_ms", 95), ("p99_ms", 99), ("max_ms", 100)):
        assert column(table, key) == pytest.approx([seen_at(took, percent) + 0.5])
    assert column(table, "service_p99_ms") == pytest.approx([seen_at(took, 99)])
    assert (column(table, "requests"), column(table, "errors")) == ([1500], [0])
    assert column(table, "rate_per_s") == [150.0]
    # A closed load would fill it.
    assert "schedulers" not in [one.key for one in table.columns]
    assert column(tables(made)["load-details"], "samples") == ["samples/1.npz"]


def test_what_tells_rows_apart_comes_first(tmp_path: Path) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900)), nodes=1).add(asked(even(900), uneven(900)), nodes=10)
    keys = [one.key for one in tables(shown(loads.record()))["load-results"].columns]
    assert keys[:3] == ["nodes", "rate_per_s", "p50_ms"]
    assert set(keys[-4:]) == {"subject", "verb", "wire", "record"}


def test_what_the_generator_limited_stands_apart_and_is_in_no_picture(tmp_path: Path) -> None:
    loads = Loads(tmp_path)
    loads.add(asked(even(900), uneven(900)), subject="ref:good")
    loads.add(asked(even(900), uneven(900), late_ms=9.0), subject="ref:late")
    loads.add(asked(even(900), uneven(900)), subject="ref:late", nodes=5, cpu_seconds=9.0)
    made = shown(loads.record())
    assert column(tables(made)["load-results"], "subject") == ["ref:good"]
    assert column(tables(made)["load-limited"], "subject") == ["ref:late"] * 2
    assert pictures(made)
    for picture in pictures(made).values():
        assert "ref:late" not in json.dumps(picture.spec)
        assert "ref:late" not in picture.about
    assert "2 of 3 results were limited by the load generator" in said(made.blocks)
    assert "used more than 50%" in said(made.blocks)
    # Said once, where those results stand.
    assert not [one for one in made.blocks if isinstance(one, Callout) and "generator-limited" in one.text]


def test_with_limited_results_alone_there_is_no_picture(tmp_path: Path) -> None:
    made = shown(Loads(tmp_path).add(asked(even(900), uneven(900), late_ms=9.0)).record())
    assert not pictures(made)
    assert "load-results" not in tables(made)
    outcome, text = sentence(Sources(loads=(Loads(tmp_path).record(),)), EN)
    assert (outcome, text) == ("unclear", "nothing was measured.")


def test_failures_are_told_with_their_meaning(tmp_path: Path) -> None:
    samples = asked(even(100), uneven(100), outcomes={3: "timeout", 4: "status", 5: "status"})
    record = Loads(tmp_path).add(samples).record()
    bad = [block.text for block in shown(record).blocks if isinstance(block, Callout) and block.level == "bad"]
    (text,) = bad
    assert "3 of 100 requests failed" in text
    assert "2 status (another status than 200); 1 timeout (no answer within httpTimeout)" in text
    assert "100 个请求中有 3 个失败" in said(shown(record, words=ZH).blocks)
    (check,) = checks(Sources(loads=(record,)), EN)
    assert (check.outcome, check.facts["errors"]) == ("failed", "3")
    assert sentence(Sources(loads=(record,)), EN)[0] == "failed"


def test_what_ended_early_says_so(tmp_path: Path) -> None:
    record = Loads(tmp_path).add(asked(even(100), uneven(100)), ended="died").record("failed", ["odd things"])
    text = said(shown(record).blocks)
    assert "it ended early: the extender ended by itself" in text
    assert "odd things" in text
    assert "the load ended early: failed" in text
    assert [check.outcome for check in checks(Sources(loads=(record,)), EN)] == ["failed"]


def test_a_load_that_measured_nothing_says_so(tmp_path: Path) -> None:
    record = Loads(tmp_path).record("generator-failed")
    text = said(shown(record).blocks)
    assert "nothing was measured" in text
    assert "the generator failed" in text


def test_a_limited_check_is_skipped_with_the_reason(tmp_path: Path) -> None:
    record = Loads(tmp_path).add(asked(even(900), uneven(900), late_ms=9.0)).record()
    (check,) = checks(Sources(loads=(record,)), EN)
    assert check.outcome == "skipped"
    assert "limited by the generator" in check.message
    assert sentence(Sources(loads=(record,)), EN)[0] == "unclear"


def test_a_search_for_the_knee_goes_where_requests_fail(tmp_path: Path) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900), outcomes={1: "timeout"}), rate=100.0)
    record = loads.knee([(50.0, True, False), (100.0, False, False)]).record()
    outcomes = {check.name.split(" ")[0]: check.outcome for check in checks(Sources(loads=(record,)), EN)}
    assert outcomes == {"ref:one": "passed", "knee": "passed"}
    assert not [one for one in shown(record).blocks if isinstance(one, Callout) and one.level == "bad"]
    outcome, text = sentence(Sources(loads=(record,)), EN)
    assert outcome == "passed"
    assert "filter takes up to 50 requests/s with p99 within 50 ms" in text
    assert "124 pods/s" in text


@pytest.mark.parametrize(("limited_by", "outcome"), [("extender", "failed"), ("generator", "skipped")])
def test_a_knee_that_was_not_found_is_judged_by_who_ended_it(tmp_path: Path, limited_by: str, outcome: str) -> None:
    record = Loads(tmp_path).knee([(50.0, False, False)], limited_by=limited_by).record()
    assert [check.outcome for check in checks(Sources(loads=(record,)), EN)] == [outcome]


@pytest.mark.parametrize(
    ("limited_by", "why"),
    [
        ("generator", "the generator could not send more"),
        ("bound", "no higher rate was tried"),
        ("time", "the search ran out of time"),
        ("interrupted", "the search ended early"),
    ],
)
def test_a_knee_that_others_than_the_extender_limited_is_the_least(tmp_path: Path, limited_by: str, why: str) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900)), rate=50.0)
    record = loads.knee([(50.0, True, False), (100.0, False, True)], limited_by=limited_by).record()
    knee = checks(Sources(loads=(record,)), EN)[-1]
    assert (knee.outcome, knee.facts["limited_by"]) == ("skipped", limited_by)
    outcome, text = sentence(Sources(loads=(record,)), EN)
    assert outcome == "unclear"
    assert f"filter takes at least 50 requests/s with p99 within 50 ms; {why}" in text
    assert "takes up to" not in said(shown(record).blocks)
    assert "至少承受 50 请求/s" in sentence(Sources(loads=(record,)), ZH)[1]


def test_who_ended_the_search_is_told_in_the_language_of_the_reader(tmp_path: Path) -> None:
    record = Loads(tmp_path).knee([(50.0, True, False), (100.0, False, True)], limited_by="generator").record()
    assert [column(tables(shown(record, words=words))["load-knees"], "limited_by") for words in (EN, ZH)] == [
        ["generator"],
        ["负载生成器"],
    ]


def test_steps_that_the_generator_limited_do_not_matter_beside_a_knee(tmp_path: Path) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900), late_ms=9.0), rate=900.0)
    record = loads.knee([(50.0, True, False), (900.0, False, True), (100.0, False, False)]).record()
    assert sentence(Sources(loads=(record,)), EN)[0] == "passed"


def test_what_could_not_be_judged_makes_the_whole_unclear(tmp_path: Path) -> None:
    loads = Loads(tmp_path).add(asked(even(900), uneven(900), late_ms=9.0), rate=100.0)
    record = loads.add(asked(even(900), uneven(900)), rate=100.0).record()
    assert sentence(Sources(loads=(record,)), EN)[0] == "unclear"


def test_real_runs_stand_beside_as_what_they_are(tmp_path: Path) -> None:
    times = {"p50_ms": 1.5, "p90_ms": 2.0, "p95_ms": 2.5, "p99_ms": 3.0, "max_ms": 4.0}
    row = {"record": "run-1", "extender": "a", "verb": "filter", "calls": 20, "failed": 1, **times}
    record = Loads(tmp_path, in_situ=[row]).add(asked(even(900), uneven(900))).record()
    made = shown(record)
    table = tables(made)["load-in-situ"]
    assert column(table, "p99_ms") == [3.0]
    assert column(table, "calls") == [20]
    assert "in a real run" in said(made.blocks)
    assert "nodes" not in [one.key for one in table.columns]


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_how_it_was_measured_is_told(tmp_path: Path, words: Words) -> None:
    facts: dict[str, Any] = {
        "command": ["/somewhere/bin/harness", "load", "ref:one", "--rate", "100"],
        "inputs": {"seed": 7, "rates": [100.0], "schedule": "poisson", "scale": {"processes": 2}},
        "machine": {"cpu": "fast", "cores": 2, "load": 0.51},
    }
    made = shown(Loads(tmp_path, **facts).add(asked(even(900), uneven(900))).record(), words=words)
    (pairs,) = [dict(block.pairs) for block in made.all_blocks() if isinstance(block, Facts)]
    assert pairs[words("load.fact.seed")] == "7"
    assert "poisson" in pairs[words("load.fact.model")]
    assert pairs[words("load.fact.samples")].endswith("samples/1.npz")
    (code,) = [block.text for block in made.all_blocks() if isinstance(block, Code)]
    assert code == "harness load ref:one --rate 100"


def test_every_ending_and_failure_has_words_in_both_languages(tmp_path: Path) -> None:
    kinds = ("status", "reply-error", "refused", "unreachable", "reset", "cut", "not-http", "timeout", "unanswered")
    failing = asked(even(100), uneven(100), outcomes=dict(enumerate((*kinds, "overflow", "no-descriptors"))))
    for words in (EN, ZH):
        for ended in ("died", "gone", "interrupted", "deadline", "worker-lost", "generator-failed", "new-thing"):
            record = Loads(tmp_path, title=ended).add(failing, ended=ended).record(ended)
            assert shown(record, words=words).blocks
            assert checks(Sources(loads=(record,)), words)
            assert sentence(Sources(loads=(record,)), words)


def test_strange_names_are_kept_apart(tmp_path: Path) -> None:
    first, second = ("cmd:" + "x" * 200 + tail for tail in ("<b>1</b>", "😀2"))
    loads = Loads(tmp_path)
    for subject in (first, second, second):
        loads.add(asked(even(900), uneven(900)), subject=subject)
    again = Loads(tmp_path, title="again").add(asked(even(900), uneven(900)), subject=second)
    made = shown(loads.record(), again.record())
    names = {row["series"] for row in drawn(pictures(made)["load-percentiles-open-1"]) if "series" in row}
    assert len(names) == 4
    assert all(len(name) < 100 for name in names)
    assert set(column(tables(made)["load-results"], "subject")) == {first, second}


def test_cells_and_bodies_are_told_in_chinese(tmp_path: Path) -> None:
    record = Loads(tmp_path).add(asked(even(900), uneven(900))).record()
    results = tables(shown(record, words=ZH))["load-results"]
    assert (column(results, "wire"), column(results, "model")) == (["节点名"], ["开环"])
    results = tables(shown(record))["load-results"]
    assert (column(results, "wire"), column(results, "model")) == (["names"], ["open"])
    for told in (
        "64 made-up pods, 100 nodes",
        "64 made-up pods, 100 nodes of 2.5 KiB",
        "64 made-up pods, 3 nodes of kind",
    ):
        assert "虚构的 Pod" in ZH.phrase(told)
