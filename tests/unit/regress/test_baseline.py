import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse
from harness.extender.subject.start import started
from harness.load import baseline as module
from harness.load.baseline import YARDSTICK, check, inputs_of, take
from harness.load.regress.arm import Side
from harness.load.regress.compare import Options
from harness.load.regress.corpus import generated
from harness.load.regress.duet import Measured
from harness.load.regress.keep import keep_check
from harness.record.baseline import Baseline, BaselineCell, BaselineMetric, BaselineSubject, read, write
from harness.report.regress import checked_text
from tests.unit.regress.conftest import WorkFactor
from tests.unit.regress.test_keeping import measured

QUICK = Options(verbs=("filter",), nodes=(3,), budget_seconds=0.6)


@pytest.fixture
def taken(work_factor: WorkFactor) -> Baseline:
    """A baseline that nobody measured, with the inputs that one of now would have."""
    subject = work_factor("-rounds 400")
    cell = generated("filter", 3, "names")
    metrics = {name: BaselineMetric(1.0, 1.0, 1.0, ((0.0,) * 5,) * 12) for name in ("cpu p50", "wall p50")}
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
    slower = check(read(file), str(file), work_factor("-rounds 400 -factor 20"), QUICK)
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


def test_processor_time_that_cannot_be_read_now_is_refused_by_name(
    taken: Baseline, work_factor: WorkFactor, tmp_path: Path
) -> None:
    """A baseline of processor time and a subject that runs already, whose clock is nobody's to read."""
    with started(work_factor("-rounds 10"), folder=tmp_path, seed=0, kubeconfig=None) as running:
        there = parse(running.url, {"filterVerb": "filter", "nodeCacheCapable": True})
        with pytest.raises(InputError, match=r"metrics: \['cpu p50', 'wall p50'\] then, \['wall p50'\] now"):
            check(taken, "file", there, QUICK)


def test_processor_time_that_is_lost_while_measuring_is_refused_by_name(
    taken: Baseline, work_factor: WorkFactor, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Measured([measured(1.0, 2.0)], sees_cpu=False)
    monkeypatch.setattr(module, "_stage", lambda *_: lost)
    with pytest.raises(InputError, match=r"metrics: .*'cpu p50'.* then, \['wall p50'\] now"):
        check(taken, "file", work_factor("-rounds 400"), QUICK)


def test_what_was_never_answered_is_a_failure_without_numbers(
    taken: Baseline, work_factor: WorkFactor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_stage", lambda *_: Measured([measured(1.0, 2.0, ending=1)]))
    checked = check(taken, "file", work_factor("-rounds 400"), QUICK)
    (row,) = checked.result.rows
    assert (row.verdict, row.now, row.change) == ("INCONCLUSIVE", (None, None, None), (None, None, None))
    assert row.failure is not None
    assert not checked.result.ok
    json.dumps(checked.result.to_json(), allow_nan=False)
    text = checked_text(checked.result)
    assert " - " in text
    assert text.startswith("INCONCLUSIVE, and it FAILS: ")


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
        # However slow the machine is, a start asks at least 25 times: 10 to warm up, and three blocks of five.
        take([work_factor("-rounds 10 -die-after 20")], QUICK, {})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no json", "no JSON"),
        ("[]", "this is no baseline"),
        ('{"kind": "baseline", "format": 99}', "format 99 seen"),
        ('{"kind": "baseline", "format": 2, "subjects": [{}]}', "damaged"),
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
