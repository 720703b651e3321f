import re
from pathlib import Path

import pytest

from harness.report.assemble import assemble
from harness.report.lab import write_up
from harness.report.render import markdown
from harness.report.sources import gather
from harness.report.words import Words
from tests.unit.expect.records import NO_CPU, RecordBuilder


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    made = []
    for number, variant in enumerate(("default", "extender")):
        builder = RecordBuilder({"kind": "count", "running": 3 - number}, variant=variant).node("node-2").node("node-1")
        builder.pod("a", "node-1").pod("b", "node-2").pod("c", message=NO_CPU)
        if variant == "extender":
            builder.extender("mine").call("filter", "a")
        path = builder.write(tmp_path, f"20261116-05361{number}-synthetic-default-{variant}-0000")
        (path / "scheduler-config.yaml").write_text(f"kind: KubeSchedulerConfiguration # {variant}\n")
        (path / "logs").mkdir()
        (path / "logs" / "kube-scheduler.log").write_text(
            f"I1116 begins\nE1116 12:00 no room for {variant}\nI1116 ends\n"
        )
        made.append(path)
    return made


def text(runs: list[Path], language: str = "en") -> str:
    words = Words(language)
    sources = gather(runs)
    return markdown.render(write_up(sources, assemble(sources, words), words), words)["report.md"].decode()


def test_chapters_come_in_the_order_of_a_course(runs: list[Path]) -> None:
    headings = re.findall(r"^## (\d+)\. (.*)$", text(runs), re.MULTILINE)
    assert [int(number) for number, _ in headings] == list(range(1, len(headings) + 1))
    titles = [title for _, title in headings]
    wanted = ["Aim", "Method", "Result: synthetic[default] default", "Result: synthetic[default] extender"]
    wanted += ["Comparison of variants", "Log excerpts", "Analysis", "Appendix: commands"]
    assert [title for title in titles if title in wanted] == wanted


def test_what_was_used_and_seen_is_in_it(runs: list[Path]) -> None:
    made = text(runs)
    method = made.partition(". Method")[2].partition("\n## ")[0]
    assert "KubeSchedulerConfiguration # default" in method
    assert "KubeSchedulerConfiguration # extender" in method
    assert made.count("KubeSchedulerConfiguration # default") == 1
    assert "| node-1 | 1 |\n| node-2 | 1 |" in made
    assert "**extenders** | mine (ref:mine)" in made
    assert "kube-scheduler: 3 lines, 1 of them about errors." in made
    assert "E1116 12:00 no room for extender" in made
    appendix = made.partition(". Appendix")[2]
    assert "harness run synthetic --size default --variant extender" in appendix
    assert "harness report 20261116-053610-synthetic-default-default-0000" in appendix
    assert "--template lab --lang en\n" in appendix


def test_questions_fit_what_happened(runs: list[Path]) -> None:
    both, alone = text(runs), text(runs[1:])
    for question in ("In what do the variants differ", "Why are some pods pending", "calls to the extender"):
        assert question in both
    assert "In what do the variants differ" not in alone
    assert "Which expectation failed" in both
    assert "Which expectation failed" not in alone
    assert both.count("> ✏️ (Write your answer here.)") >= 6


def test_damaged_metrics_leave_the_rest(runs: list[Path]) -> None:
    for name in ("metrics-before.txt", "metrics-after.txt"):
        (runs[0] / name).write_text("scheduler_schedule_attempts_total oops\n")
    made = text(runs[:1])
    assert "scheduling attempts" not in made
    assert "**running pods** | 2 / 3" in made


def test_the_write_up_speaks_chinese(runs: list[Path]) -> None:
    made = text(runs, "zh")
    for title in ("实验目的", "实验方法", "实验结果", "日志摘录", "结果分析", "所用命令"):
        assert title in made
    assert made.startswith("# 实验报告")
    assert "--template lab --lang zh\n" in made
    assert "formats." not in made


def test_many_runs_do_not_make_many_chapters(tmp_path: Path) -> None:
    paths = [RecordBuilder().pod("a").write(tmp_path, f"20261116-0536{number}-x-0000") for number in range(10, 40)]
    assert len(re.findall(r"^## \d+\. Result: ", text(paths), re.MULTILINE)) == 12
