import json
import shlex
from pathlib import Path

import pytest

from harness.extender.subject.program import program_of
from harness.load.baseline import CheckedWithPairs
from harness.load.regress.compare import Compared, Options
from harness.record.baseline import Baseline
from harness.record.check import Checked
from harness.record.regress import Regression
from tests.unit.cli.conftest import Harness
from tests.unit.report.checks import SLOW, checked

WORK_FACTOR = Path(__file__).parents[2] / "subjects" / "workfactor"
QUICK = ("--verb", "filter", "--nodes", 3, "--budget", 0.5, "--entry", "nodeCacheCapable=true")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return shlex.quote(str(program_of(WORK_FACTOR)))


def test_a_regression_ends_with_1_and_a_table_that_fits(harness: Harness, program: str, tmp_path: Path) -> None:
    subjects = [f"cmd:{program} -port {{port}} -rounds 300 -factor {factor}" for factor in (1, 4)]
    ended = harness("regress", *subjects, *QUICK, "--out", tmp_path / "runs")
    assert ended.code == 1
    assert ended.out.startswith("REGRESSION: ")
    assert "cpu p50" in ended.out
    rows = [line for line in ended.out.splitlines() if "p50" in line or "p9" in line or "---" in line]
    assert max(map(len, rows)) <= 100
    (record,) = (tmp_path / "runs").iterdir()
    assert json.loads((record / "regress.json").read_text())["machine"]["cores"]
    assert str(record) in ended.out


def test_no_regression_ends_with_0(harness: Harness, program: str, tmp_path: Path) -> None:
    subject = f"cmd:{program} -port {{port}} -rounds 100"
    ended = harness("regress", subject, subject, *QUICK, "--tolerance", "50%", "--out", tmp_path, "--json")
    assert ended.code == 0
    document = json.loads(ended.out)
    assert document["options"]["tolerance"] == 0.5
    assert {one["metric"] for one in document["comparisons"][0]["metrics"]} >= {"cpu p50", "wall p50", "wall p99"}


def test_a_build_can_fail_on_what_is_inconclusive(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whether so little decides is chance; that nothing was decided is given here."""
    nothing = Compared(Regression("ref:pass-through", "ref:pass-through", {}, ()), ())
    monkeypatch.setattr("harness.load.regress.compare.compare", lambda *_, **__: nothing)
    given = ("regress", "ref:pass-through", "ref:pass-through", "--out", tmp_path)
    assert harness(*given).code == 0
    failed = harness(*given, "--undecided", "fail")
    assert failed.code == 1
    assert "FAILED: INCONCLUSIVE seen, PASS expected by --undecided fail; repeat it" in failed.out
    document = json.loads(harness(*given, "--undecided", "fail", "--json").out)
    assert (document["ok"], document["verdict"]) == (False, "INCONCLUSIVE")


def test_a_baseline_that_decides_nothing_can_fail_a_build(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checked = CheckedWithPairs(Checked("ref:pass-through", "b.json", "ref:pass-through", 0.05, ()), ())
    monkeypatch.setattr("harness.load.baseline.check", lambda *_, **__: checked)
    monkeypatch.setattr("harness.record.baseline.read", lambda _: None)
    given = ("baseline", "check", "b.json", "ref:pass-through", "--out", tmp_path)
    assert harness(*given).code == 0
    failed = harness(*given, "--undecided", "fail")
    assert (failed.code, "FAILED: INCONCLUSIVE seen" in failed.out) == (1, True)


@pytest.fixture
def slower(monkeypatch: pytest.MonkeyPatch) -> Checked:
    """What a check finds that nobody has to wait for."""
    found = checked("REGRESSION")
    monkeypatch.setattr("harness.load.baseline.check", lambda *_, **__: CheckedWithPairs(found, (SLOW,)))
    monkeypatch.setattr("harness.record.baseline.read", lambda _: None)
    return found


def test_a_check_says_how_to_get_its_report_and_that_works(harness: Harness, slower: Checked, tmp_path: Path) -> None:
    ended = harness("baseline", "check", "b.json", "ref:pass-through", "--out", tmp_path / "runs")
    (record,) = (tmp_path / "runs").iterdir()
    assert (ended.code, ended.out.splitlines()[-1]) == (1, f"report: harness report {record}")
    made = harness("report", record, "--out", tmp_path / "report", "--lang", "en")
    assert (made.code, made.out.startswith("REGRESSION: ref:b is slower than its baseline")) == (0, True)
    assert slower.file in (tmp_path / "report" / "report.html").read_text()


def test_a_check_writes_its_report_at_once(harness: Harness, slower: Checked, tmp_path: Path) -> None:
    given = ("baseline", "check", "b.json", "ref:pass-through", "--out", tmp_path / "runs", "--report")
    ended = harness(*given, tmp_path / "one")
    assert (ended.code, f"report: {tmp_path / 'one' / 'report.html'}" in ended.out.splitlines()) == (1, True)
    ended = harness(*given, tmp_path / "two", "--json")
    document = json.loads(ended.out)
    assert (document["verdict"], document["ok"]) == ("REGRESSION", False)
    assert (Path(document["record"]) / "baseline.json").is_file()
    assert (tmp_path / "two" / "report.html").is_file()


@pytest.mark.parametrize("command", ["compare", "why", "trend"])
def test_what_reads_runs_says_what_a_check_is(harness: Harness, slower: Checked, tmp_path: Path, command: str) -> None:
    harness("baseline", "check", "b.json", "ref:pass-through", "--out", tmp_path)
    (record,) = tmp_path.iterdir()
    given = {"compare": (record, record), "why": ("pod", "--run", record), "trend": (record,)}[command]
    ended = harness(command, *given)
    assert ended.code == 2
    assert "a record of a check against a baseline seen, " in ended.err
    assert "`harness report` shows records of any kind" in ended.err


def test_a_candidate_that_fails_ends_with_1(harness: Harness, program: str, tmp_path: Path) -> None:
    base, bad = (f"cmd:{program} -port {{port}} -rounds 10 -failing {share}" for share in (0, 0.5))
    ended = harness("regress", base, bad, *QUICK, "--out", tmp_path)
    assert ended.code == 1
    assert "FAILED filter, 3 names" in ended.out
    assert "candidate: a status other than 200" in ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ref:pass-through", "ref:nothing"), "no reference"),
        (("ref:pass-through", "ref:pass-through", "--tolerance", "much"), "a share such as 3% expected"),
        (("ref:pass-through", "ref:pass-through", "--tolerance", "300%"), "0% to 100% expected"),
        (("ref:pass-through", "ref:pass-through", "--budget", "0"), "budget"),
        (("ref:pass-through", "ref:pass-through", "--verb", "score"), "'score' seen"),
        (("ref:pass-through", "http://192.0.2.1:80/x", "--entry", "filterVerb=filter"), "--allow-remote"),
        (("ref:pass-through", "go:.@nothing-like-it"), "no revision"),
        (("ref:pass-through", "ref:pass-through", "--cassette", "nowhere"), "no record"),
    ],
)
def test_bad_input_ends_with_2_and_a_reason(harness: Harness, arguments: tuple[str, ...], said: str) -> None:
    ended = harness("regress", *arguments)
    assert ended.code == 2
    assert said in ended.err


def test_a_base_that_does_not_start_ends_with_3(harness: Harness) -> None:
    ended = harness(
        "regress", "cmd:false {port}", "ref:pass-through", "--entry", "filterVerb=filter", "--wire", "names"
    )
    assert ended.code == 3
    assert "ended before it answered" in ended.err


def test_a_baseline_of_another_machine_needs_to_be_allowed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = ("http://192.0.2.1:80/x", "--entry", "filterVerb=filter")
    ended = harness("baseline", "save", tmp_path / "baseline.json", *there)
    assert (ended.code, "say --allow-remote" in ended.err) == (2, True)
    allowed = []
    checked = CheckedWithPairs(Checked("http://192.0.2.1:80/x", "b.json", "ref:pass-through", 0.05, ()), ())

    def take(subjects: object, options: Options, *_: object) -> Baseline:
        allowed.append(options.allow_remote)
        return Baseline(())

    def check(known: object, file: object, subject: object, options: Options, **_: object) -> CheckedWithPairs:
        allowed.append(options.allow_remote)
        return checked

    monkeypatch.setattr("harness.load.baseline.take", take)
    monkeypatch.setattr("harness.load.baseline.check", check)
    assert harness("baseline", "save", tmp_path / "baseline.json", *there, "--allow-remote").code == 0
    given = ("baseline", "check", tmp_path / "baseline.json", *there, "--out", tmp_path)
    assert harness(*given, "--allow-remote").code == 0
    assert allowed == [True, True]


def test_a_baseline_that_is_not_there_ends_with_2(harness: Harness, tmp_path: Path) -> None:
    ended = harness("baseline", "check", tmp_path / "none.json", "ref:pass-through")
    assert ended.code == 2
    assert "make one with harness baseline save" in ended.err


def test_a_baseline_is_saved_and_checked(harness: Harness, program: str, tmp_path: Path) -> None:
    subject = f"cmd:{program} -port {{port}} -rounds 300"
    file = tmp_path / "baseline.json"
    ended = harness("baseline", "save", file, subject, *QUICK)
    assert ended.code == 0
    assert "times that of ref:pass-through" in ended.out
    entry = ("--entry", "nodeCacheCapable=true", "--budget", 0.5, "--out", tmp_path / "runs")
    ended = harness("baseline", "check", file, f"{subject} -factor 20", *entry)
    assert ended.code == 1
    assert ended.out.startswith("REGRESSION: ")
