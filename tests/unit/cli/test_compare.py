import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Harness
from tests.unit.report.placing import builder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path / "runs"


def saved(
    root: Path,
    name: str,
    counts: Sequence[int] = (7, 7, 6),
    *,
    slow: float = 1.0,
    variant: str = "default",
    **facts: object,
) -> str:
    made = builder(counts, slow=slow, variant=variant)
    made.write(root, name)
    run = root / name / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"machine": {"id": "here", "cores": 2}, **facts}))
    return name


def test_two_runs_are_compared_within_a_hundred_columns(harness: Harness, here: Path) -> None:
    ended = harness("compare", saved(here, "one"), saved(here, "two", (8, 8, 4), variant="extender"))
    assert ended.code == 0, ended.err
    assert "everything is held against default (1 run)" in ended.out
    assert "3 of 20 pods on other nodes, TVD 0.100" in ended.out
    assert "simulated" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100


def test_a_part_of_an_id_a_path_and_latest_name_runs(harness: Harness, here: Path) -> None:
    saved(here, "20261116-000001-x")
    saved(here, "20261116-000002-y")
    assert harness("compare", "20261116-000001", "latest").code == 0
    assert harness("compare", here / "20261116-000001-x", here / "20261116-000002-y").code == 0
    assert harness("compare", "latest:2").code == 0
    assert harness("compare", "latest:2").out == harness("compare", "20261116-000001", "20261116-000002").out


def test_a_condition_that_is_hit_has_code_1_and_says_by_how_much(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "two", (20, 0, 0), slow=2.0)
    ended = harness("compare", *names, "--fail-on", "placement,latency:50,pending")
    assert ended.code == 1
    assert "FAILED placement: default #2: TVD 0.650 is more than runs of the same have (0.450)" in ended.out
    assert "FAILED latency:50: default #2: wait p50, ms 220.00 against 110.00: worse by 100.0%" in ended.out
    assert "pending" not in ended.out.split("FAILED")[-1]


def test_what_cannot_be_decided_does_not_fail(harness: Harness, here: Path) -> None:
    ended = harness("compare", saved(here, "one"), saved(here, "two", slow=2.0), "--fail-on", "latency")
    assert ended.code == 0
    assert "not decided, latency: default #2: wait p50, ms worse by 100.0%; five runs of each" in ended.out
    assert "nothing worse" not in ended.out
    last = "latency could not be decided, see above; that passes unless --undecided fail is given"
    assert ended.out.splitlines()[-1] == last


def test_what_was_decided_is_told_beside_what_was_not(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "two", slow=2.0)
    ended = harness("compare", *names, "--fail-on", "throughput,pending,latency")
    assert ended.code == 0
    said = ended.out.splitlines()
    assert "nothing worse by pending" in said
    assert said[-1].startswith("throughput,latency could not be decided")


@pytest.mark.parametrize(
    ("language", "said"), [("en", "FAILED: latency could not be"), ("zh", "未通过\N{FULLWIDTH COLON}latency 无法判定")]
)
def test_a_build_can_fail_on_what_cannot_be_decided(harness: Harness, here: Path, language: str, said: str) -> None:
    names = saved(here, "one"), saved(here, "two", slow=2.0)
    failing = ("--fail-on", "latency", "--undecided", "fail", "--lang", language)
    ended = harness("compare", *names, *failing)
    assert ended.code == 1
    assert ended.out.splitlines()[-1].startswith(said)
    document = harness("compare", *names, *failing, "--json")
    assert (document.code, json.loads(document.out)["ok"]) == (1, False)
    assert harness("compare", *names, "--fail-on", "latency", "--undecided", "pass").code == 0
    assert harness("compare", *names, "--fail-on", "pending", "--undecided", "fail").code == 0


def test_a_run_that_did_not_finish_fails_whatever_was_asked(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "killed", status="running")
    ended = harness("compare", *names, "--fail-on", "latency")
    assert ended.code == 1
    assert "FAILED status: default #2: killed did not finish (status running), so that it proves nothing" in ended.out
    assert "nothing worse" not in ended.out
    assert harness("compare", *names).code == 0
    # As a base it fails nothing; its times say nothing either.
    swapped = harness("compare", *reversed(names), "--fail-on", "latency:1")
    assert swapped.code == 0
    assert "latency:1 could not be decided" in swapped.out


def test_commas_make_repeats(harness: Harness, here: Path) -> None:
    base = ",".join(saved(here, f"a{turn}", slow=1 + turn / 100) for turn in range(5))
    new = ",".join(saved(here, f"b{turn}", slow=2 + turn / 100) for turn in range(5))
    ended = harness("compare", base, new, "--fail-on", "latency", "--json")
    assert ended.code == 1
    document = json.loads(ended.out)
    assert (document["ok"], len(document["base"]["runs"])) == (False, 5)
    assert document["others"][0]["changes"][0]["outcome"] == "different"
    assert document["findings"][0]["hit"] is True


def test_other_nodes_are_refused_with_the_key_and_both_values(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "wide", (7, 7, 5, 1))
    ended = harness("compare", *names)
    assert ended.code == 2
    assert "error: wide: nodes: 4 with node-4 seen, 3 without expected" in ended.err
    assert "--anyway" in ended.err
    anyway = harness("compare", *names, "--anyway")
    assert anyway.code == 0
    assert "! nodes differs: 4 with node-4 instead of 3 without (1 run)." in anyway.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["one"], "1 seen, two at least expected"),
        (["one", "one"], "one is given twice"),
        (["one", "nothing"], "no such record"),
        (["one", "load"], "a record of a load seen, of a run expected; `harness report` shows"),
        (["one", "two", "--fail-on", "speed"], "choose from placement"),
        (["one", "two", "--format", "html"], "give --out"),
        (["one", "two", "--undecided", "fail"], "give --fail-on"),
        (["one", "two", "--out", "x", "--format", "pdf"], "choose from html"),
    ],
)
def test_bad_input(harness: Harness, here: Path, arguments: list[str], said: str) -> None:
    saved(here, "one")
    saved(here, "two")
    (here / "load").mkdir()
    (here / "load" / "load.json").write_text("{}")
    ended = harness("compare", *arguments)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_damaged_record_is_named(harness: Harness, here: Path) -> None:
    saved(here, "one")
    saved(here, "two")
    (here / "two" / "pods.jsonl").write_text("{broken\n{}\n")
    ended = harness("compare", "one", "two")
    assert ended.code == 2
    assert "two/pods.jsonl:1" in ended.err


def test_a_record_that_was_cut_is_refused_and_compared_only_when_told(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "two", slow=2.0)
    with (here / "two" / "pods.jsonl").open("a") as file:
        file.write('{"uid": "cut')
    for order in (names, reversed(names)):
        ended = harness("compare", *order)
        assert ended.code == 2
        assert "error: two: pods.jsonl:61: the last line was cut by a crash and is left out; a whole" in ended.err
    ended = harness("compare", *names, "--anyway", "--fail-on", "latency:1")
    assert ended.code == 0, ended.err
    assert "! The record of two is damaged: pods.jsonl:61: the last line was cut" in ended.out
    assert "latency:1 could not be decided" in ended.out
    assert "two 的记录已损坏\N{FULLWIDTH COLON}pods.jsonl:61\N{FULLWIDTH COLON}最后一行" in harness(
        "compare", *names, "--anyway", "--lang", "zh"
    ).out.replace("\n", "")


def test_a_record_whose_pods_are_lost_is_refused(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "two")
    (here / "two" / "pods.jsonl").unlink()
    (here / "two" / "steps.jsonl").write_text(
        '{"t":0.2,"index":0,"op":"create","phase":"end","detail":{"created":["Pod/pod-1"]}}\n'
    )
    ended = harness("compare", *names)
    assert ended.code == 2
    assert "two: pods.jsonl: no line is there, although steps.jsonl tells of pods; a whole record expected" in ended.err


def test_it_speaks_chinese(harness: Harness, here: Path) -> None:
    names = saved(here, "one"), saved(here, "two", (20, 0, 0))
    ended = harness("compare", *names, "--lang", "zh", "--fail-on", "placement")
    assert ended.code == 1
    assert "均匀程度" in ended.out
    assert "未通过 placement" in ended.out


def test_the_report_has_this_comparison(harness: Harness, here: Path, tmp_path: Path) -> None:
    names = saved(here, "one"), saved(here, "wide", (7, 7, 5, 1))
    ended = harness("compare", *names, "--anyway", "--out", tmp_path / "page", "--format", "json")
    assert ended.code == 0, ended.err
    assert str(tmp_path / "page" / "report.json") in ended.out
    tables = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))["tables"]
    # `harness report` alone would leave out what is unlike.
    assert "compared-apart" in {table["name"] for table in tables}


FAILED = {
    "en": (
        "Failed.",
        "A condition of --fail-on is hit: latency:20, default #2: wait p50, ms 220.00 against 110.00",
        "## Differences",
    ),
    "zh": (
        "未通过。",
        "触发了 --fail-on 的条件\N{FULLWIDTH COLON}latency:20, default #2\N{FULLWIDTH COLON}等待 p50",
        "## 差异对比",
    ),
}


@pytest.mark.parametrize("language", FAILED)
def test_a_build_that_failed_is_failed_in_every_file(
    harness: Harness, here: Path, tmp_path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    word, told, title = FAILED[language]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "job.md"))
    names, out = (saved(here, "one"), saved(here, "two", slow=2.0)), tmp_path / "page"
    asked = ("--fail-on", "latency:20,pending,cost", "--lang", language)
    ended = harness("compare", *names, *asked, "--out", out, "--format", "html,md,junit,json")
    assert ended.code == 1, ended.err
    for file in (out / "summary.md", out / "report.md", tmp_path / "job.md"):
        text = file.read_text(encoding="utf-8")
        assert word in text
        assert told in text.replace("\\", "")
    assert told in (out / "report.html").read_text(encoding="utf-8")
    document = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert (document["outcome"], told in document["sentence"]) == ("failed", True)
    gate = {one["name"]: one["outcome"] for one in document["checks"] if one["group"] == "--fail-on"}
    assert gate == {"latency:20": "failed", "pending": "passed", "cost": "skipped"}
    junit = (out / "junit.xml").read_text(encoding="utf-8")
    assert '<testsuite name="--fail-on" tests="3" failures="1" errors="0" skipped="1"' in junit
    # First of all in its chapter, with what stayed open.
    chapter = (out / "report.md").read_text(encoding="utf-8").split(title)[1]
    assert chapter.index("latency:20") < chapter.index("cost") < chapter.index("default #1")


@pytest.mark.parametrize(("undecided", "ends"), [("pass", (0, "passed", "skipped")), ("fail", (1, "failed", "failed"))])
def test_what_cannot_be_decided_is_in_the_files_too(
    harness: Harness, here: Path, tmp_path: Path, undecided: str, ends: tuple[int, str, str]
) -> None:
    names = saved(here, "one"), saved(here, "two", slow=2.0)
    asked = ("--fail-on", "latency", "--undecided", undecided, "--out", tmp_path / "page", "--format", "json")
    code = harness("compare", *names, *asked).code
    document = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))
    (check,) = [one["outcome"] for one in document["checks"] if one["group"] == "--fail-on"]
    assert (code, document["outcome"], check) == ends
    assert "A condition of --fail-on could not be decided: latency, default #2" in document["sentence"]


def test_a_build_that_held_says_so(harness: Harness, here: Path, tmp_path: Path) -> None:
    names = saved(here, "one"), saved(here, "two")
    asked = ("--fail-on", "pending", "--out", tmp_path / "page", "--format", "json")
    assert harness("compare", *names, *asked).code == 0
    document = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))
    assert (document["outcome"], "Nothing is worse by --fail-on pending." in document["sentence"]) == ("passed", True)
    assert harness("compare", *names, "--out", tmp_path / "page", "--format", "json").code == 0
    document = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))
    assert "--fail-on" not in document["sentence"]
    assert [one for one in document["checks"] if one["group"] == "--fail-on"] == []


def test_before_and_after_are_two_rows_and_two_curves(harness: Harness, here: Path, tmp_path: Path) -> None:
    base, new = (
        ",".join(saved(here, f"{name}{turn}", slow=slow + turn / 100) for turn in range(2))
        for name, slow in (("old", 1.0), ("new", 3.0))
    )
    ended = harness("compare", base, new, "--out", tmp_path / "page", "--format", "json,csv")
    assert ended.code == 0, ended.err
    tables = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))["tables"]
    (compared,) = [table for table in tables if table["name"] == "comparison"]
    assert [row[1:3] for row in compared["rows"]] == [["default #1", 2], ["default #2", 2]]
    (placed,) = [table for table in tables if table["name"] == "placement"]
    titles = [column["title"] for column in placed["columns"][1:]]
    assert titles == ["default #1.1", "default #1.2", "default #2.1", "default #2.2"]
