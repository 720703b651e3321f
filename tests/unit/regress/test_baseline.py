import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import InputError
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse
from harness.load import baseline as module
from harness.load.baseline import YARDSTICK, check, inputs_of, take
from harness.load.regress.compare import Options
from harness.load.regress.corpus import generated
from harness.load.regress.duet import Side
from harness.load.regress.keep import keep_check
from harness.load.stats.against import judge_against, slower_than_p
from harness.record.baseline import Baseline, BaselineCell, BaselineMetric, BaselineSubject, read, write
from tests.unit.regress.conftest import WorkFactor

QUICK = Options(verbs=("filter",), nodes=(3,), budget_seconds=0.6)


@pytest.fixture
def taken(work_factor: WorkFactor) -> Baseline:
    """A baseline that nobody measured, with the inputs that one of now would have."""
    subject = work_factor("-rounds 400")
    cell = generated("filter", 3, "names")
    metrics = {name: BaselineMetric(1.0, 1.0, 1.0, (0.0,) * 30) for name in ("cpu p50", "wall p50")}
    kept = BaselineCell("filter", 3, "names", cell.source, cell.digest, metrics)
    inputs = inputs_of(Side(subject, Entry()), 0, list(metrics))
    return Baseline((BaselineSubject(subject.text, inputs, (kept,)),), {})


def test_a_baseline_is_kept_in_ratios_and_checked_again(work_factor: WorkFactor, tmp_path: Path) -> None:
    taken = take([work_factor("-rounds 400")], QUICK, {"machine": {"id": "one"}})
    file = tmp_path / "baseline.json"
    write(taken, file)
    assert read(file) == taken
    (subject,) = taken.subjects
    assert subject.inputs["yardstick"] == YARDSTICK
    assert set(subject.cells[0].metrics) == {"cpu p50", "wall p50"}
    assert "_ms" not in file.read_text()
    same = check(read(file), str(file), work_factor("-rounds 400"), replace(QUICK, tolerance=1.0)).result
    assert same.ok
    slower = check(read(file), str(file), work_factor("-rounds 400 -factor 8"), QUICK)
    assert slower.result.verdict == "REGRESSION"
    assert not slower.result.ok
    kept = keep_check(slower, tmp_path, {})
    assert kept.path is not None
    document = json.loads((kept.path / "baseline.json").read_text())
    assert document["rows"][0]["samples"] == ["pairs/1-1.npz", "pairs/1-2.npz"]
    assert (kept.path / "pairs" / "1-2.npz").is_file()


@pytest.mark.parametrize(
    ("name", "value"),
    [("python", "2.7"), ("yardstick digest", "0"), ("architecture", "vax"), ("system", "Plan 9"), ("go", "1.4")],
)
def test_unlike_inputs_are_refused_by_name(taken: Baseline, work_factor: WorkFactor, name: str, value: str) -> None:
    (subject,) = taken.subjects
    other = replace(taken, subjects=(replace(subject, inputs={**subject.inputs, name: value}),))
    with pytest.raises(InputError, match=f"{name}: {value} then, .* now"):
        check(other, "file", work_factor("-rounds 400"), QUICK)


def test_another_machine_is_not_loaded_unless_allowed(taken: Baseline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started or called before the refusal, also if only the last subject is elsewhere."""
    monkeypatch.setattr(module, "side_of", lambda *_: pytest.fail("a subject was touched"))
    there = parse("http://192.0.2.1:80/x", {"filterVerb": "filter"})
    with pytest.raises(InputError, match=r"192\.0\.2\.1 is not this machine.*--allow-remote"):
        take([parse(YARDSTICK), there], QUICK, {})
    with pytest.raises(InputError, match=r"192\.0\.2\.1 is not this machine.*--allow-remote"):
        check(taken, "file", there, QUICK)


def test_other_bodies_are_refused(taken: Baseline, work_factor: WorkFactor) -> None:
    (subject,) = taken.subjects
    cell = replace(subject.cells[0], body_digest="0")
    other = replace(taken, subjects=(replace(subject, cells=(cell,)),))
    with pytest.raises(InputError, match="body digest: 0 then"):
        check(other, "file", work_factor("-rounds 400"), QUICK)
    recorded = replace(subject.cells[0], source="cassette calls.zst, 3 requests")
    with pytest.raises(InputError, match="give it with --cassette"):
        check(replace(taken, subjects=(replace(subject, cells=(recorded,)),)), "file", work_factor(), QUICK)


def test_a_subject_is_found_by_its_text_or_because_it_is_the_only_one(taken: Baseline, work_factor: WorkFactor) -> None:
    (one,) = taken.subjects
    both = replace(taken, subjects=(one, replace(one, subject="other")))
    assert module._chosen(taken, "file", work_factor(), None) is one
    assert module._chosen(both, "file", work_factor(), "other").subject == "other"
    with pytest.raises(InputError, match=r"no baseline of .*; choose with --as: .*, other"):
        module._chosen(both, "file", work_factor(), None)


def test_failures_are_no_baseline(work_factor: WorkFactor) -> None:
    with pytest.raises(InputError, match="a baseline of failures is none"):
        take([work_factor("-rounds 10 -failing 0.3")], QUICK, {})
    with pytest.raises(InputError, match="ended by itself"):
        take([work_factor("-rounds 10 -die-after 130")], QUICK, {})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no json", "no JSON"),
        ("[]", "this is no baseline"),
        ('{"kind": "baseline", "format": 99}', "format 99 seen"),
        ('{"kind": "baseline", "format": 1, "subjects": [{}]}', "damaged"),
    ],
)
def test_a_file_that_is_none_says_so(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(content)
    with pytest.raises(InputError, match=said):
        read(file)
    with pytest.raises(InputError, match="make one with harness baseline save"):
        read(tmp_path / "missing.json")
    with pytest.raises(InputError, match="cannot be written"):
        write(Baseline(()), tmp_path / "missing" / "baseline.json")


def blocks(middle: float, seed: int, count: int = 30) -> Any:
    return np.log(middle) + 0.04 * np.random.default_rng(seed).standard_normal(count)


def test_ratios_of_two_times_are_judged_like_two_at_a_time() -> None:
    then = blocks(3.0, 1, 60)
    assert judge_against(then, [blocks(3.0, 2)], 0.05).verdict == "PASS"
    assert judge_against(then, [blocks(3.45, 2), blocks(3.45, 3)], 0.05).verdict == "REGRESSION"
    assert judge_against(then, [blocks(3.45, 2), blocks(3.0, 3)], 0.05).verdict != "REGRESSION"
    assert judge_against(then, [blocks(3.45, 2)], 0.05).verdict == "INCONCLUSIVE"
    assert judge_against(then[:3], [blocks(9.0, 2)], 0.05).verdict == "INCONCLUSIVE"
    assert slower_than_p(np.zeros(30), np.zeros(30), 0.05) > 0.9
    alarms = sum(slower_than_p(blocks(1, seed), blocks(1, seed + 9000, 60), 0.0) < 0.01 for seed in range(1000))
    assert 2 <= alarms <= 20
