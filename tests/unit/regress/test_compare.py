"""Live comparisons, as short as they can be: what they find is so large that no noise hides it."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import InputError, VariantError
from harness.extender.subject.parse import parse
from harness.extender.subject.start import started
from harness.load.regress.compare import Compared, Options, compare
from harness.load.regress.corpus import generated
from harness.load.regress.decide import decide
from harness.load.regress.keep import keep, samples
from harness.load.stats.blocks import Floats
from harness.record.regress import read
from tests.unit.regress.conftest import WorkFactor

QUICK = Options(verbs=("filter",), nodes=(3,), budget_seconds=0.6)
# For what takes long on purpose: a comparison is cut off at four times its budget, and then has too few blocks.
PATIENT = replace(QUICK, budget_seconds=3.0)
# However slow the machine is, a start asks more often: 10 times to warm up, and seven blocks of five.
SOON = "-die-after 30"
SMALL = "-rounds 100"


def verdicts(compared: Compared) -> dict[str, str | None]:
    return {one.metric: one.verdict for one in compared.result.comparisons[0].metrics}


def test_twice_the_work_is_a_regression(work_factor: WorkFactor, tmp_path: Path) -> None:
    compared = compare(work_factor("-rounds 300"), work_factor("-rounds 300 -factor 3"), QUICK)
    result = compared.result
    assert (result.verdict, result.ok) == ("REGRESSION", False)
    assert verdicts(compared)["cpu p50"] == "REGRESSION"
    assert verdicts(compared)["wall p99"] is None
    assert len(compared.pairs[0]) == 2
    kept = keep(compared, tmp_path, {"machine": {"cores": 2}})
    assert kept.path is not None
    again = read(kept.path)
    assert again == kept
    stages = samples(again.comparisons[0], kept.path)
    assert len(stages) == 2
    assert {0, 1, 2} <= set(stages[0].restart)
    assert 0 < stages[0].base_first.mean() < 1
    # Every number can be made again from what was kept.
    remade = decide(generated("filter", 3, "names"), stages)
    assert remade.metrics == again.comparisons[0].metrics


@pytest.mark.parametrize(("noisy", "budget_seconds", "starts"), [(True, 600.0, 9), (True, 0.05, 3), (False, 600.0, 3)])
def test_a_noisy_stage_goes_on_while_there_is_time(
    work_factor: WorkFactor, monkeypatch: pytest.MonkeyPatch, noisy: bool, budget_seconds: float, starts: int
) -> None:
    asked: list[float] = []

    def is_too_noisy(ratios: Floats, tolerance: float) -> bool:
        asked.append(tolerance)
        return noisy

    monkeypatch.setattr("harness.load.regress.duet.is_too_noisy", is_too_noisy)
    options = replace(QUICK, budget_seconds=budget_seconds, tolerance=1.0)
    compared = compare(work_factor(SMALL), work_factor(SMALL), options)
    ((stage,),) = compared.pairs
    assert set(stage.restart) == set(range(starts))
    assert set(asked) <= {1.0}


def test_equals_are_no_regression(work_factor: WorkFactor) -> None:
    compared = compare(work_factor(SMALL), work_factor(SMALL), QUICK)
    assert compared.result.ok
    assert compared.result.comparisons[0].candidate_errors == 0


def test_a_pause_is_seen_by_the_wall_clock_alone(work_factor: WorkFactor) -> None:
    compared = compare(work_factor(SMALL), work_factor(f"{SMALL} -sleep 10ms"), PATIENT)
    found = verdicts(compared)
    assert compared.result.verdict == "REGRESSION"
    assert found["wall p50"] == "REGRESSION"
    cpu = compared.result.comparisons[0].metric("cpu p50")
    assert cpu is not None
    assert cpu.candidate_ms is not None
    assert cpu.candidate_ms < 10


def test_a_candidate_that_remembers_its_answers_passes(work_factor: WorkFactor) -> None:
    compared = compare(work_factor("-rounds 2000"), work_factor("-rounds 2000 -caching"), QUICK)
    ratio = compared.result.comparisons[0].metrics[0].ratio
    assert compared.result.verdict == "PASS"
    assert ratio is not None
    assert ratio < 0.8


def test_a_candidate_that_dies_fails_and_says_how(work_factor: WorkFactor) -> None:
    result = compare(work_factor(SMALL), work_factor(f"{SMALL} {SOON}"), QUICK).result
    assert not result.ok
    assert "I was told to die" in result.failures[0]


def test_a_base_that_dies_leaves_nothing_to_compare_with(work_factor: WorkFactor) -> None:
    with pytest.raises(VariantError, match=r"the base ended by itself(.|\n)*I was told to die"):
        compare(work_factor(f"{SMALL} {SOON}"), work_factor(SMALL), QUICK)


@pytest.mark.parametrize("option", ["-failing 0.3", "-reporting 0.3"])
def test_failing_answers_are_a_failure_of_their_own(work_factor: WorkFactor, option: str) -> None:
    result = compare(work_factor(SMALL), work_factor(f"{SMALL} {option}"), QUICK).result
    assert not result.ok
    assert "Fisher" in result.failures[0]
    assert any(kind.startswith("candidate: ") for kind in result.comparisons[0].error_kinds)


def test_errors_of_both_sides_are_no_fault_of_the_candidate(work_factor: WorkFactor) -> None:
    result = compare(work_factor(f"{SMALL} -failing 1"), work_factor(f"{SMALL} -failing 1"), QUICK).result
    assert result.ok
    assert result.verdict == "INCONCLUSIVE"
    assert result.comparisons[0].base_errors > 0


def test_a_candidate_that_hangs_is_given_up(work_factor: WorkFactor) -> None:
    slow = work_factor(f"{SMALL} -sleep 30s", httpTimeout="100ms")
    result = compare(work_factor(SMALL), slow, QUICK).result
    assert not result.ok
    assert any("does not answer in time" in note for note in result.notes)


def test_what_runs_elsewhere_is_compared_by_the_wall_clock(work_factor: WorkFactor, tmp_path: Path) -> None:
    with started(work_factor(SMALL), folder=tmp_path, seed=0, kubeconfig=None) as running:
        there = parse(running.url, {"filterVerb": "filter", "nodeCacheCapable": True})
        result = compare(there, work_factor(SMALL), QUICK).result
    assert result.comparisons[0].metric("cpu p50") is None
    assert result.comparisons[0].metric("wall p50") is not None
    assert any("processor time is not compared" in note and "runs elsewhere" in note for note in result.notes)


FORKING = """
import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        pid = os.fork()
        if pid == 0:
            sum(range(300_000))
            os._exit(0)
        os.waitpid(pid, 0)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *rest): pass
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_time_that_goes_to_passing_processes_is_not_mistaken_for_none(work_factor: WorkFactor, tmp_path: Path) -> None:
    (tmp_path / "forking.py").write_text(FORKING)
    entry = {"filterVerb": "filter", "nodeCacheCapable": True}
    forking = parse(f"cmd:{sys.executable} {tmp_path / 'forking.py'} {{port}}", entry)
    result = compare(work_factor(SMALL), forking, QUICK).result
    assert any("processes that come and go" in note for note in result.notes)
    assert result.comparisons[0].metric("cpu p50") is None


def test_a_subject_that_says_nothing_of_itself_is_asked(program: Path) -> None:
    bare = parse(f"cmd:{program} -port {{port}} {SMALL}")
    assert compare(bare, bare, QUICK).result.comparisons[0].wire == "names"


def test_what_cannot_be_compared_is_refused(work_factor: WorkFactor) -> None:
    one = work_factor(SMALL)
    with pytest.raises(InputError, match="both have to be asked the same; choose with --wire"):
        compare(one, work_factor(SMALL, nodeCacheCapable=False), QUICK)
    with pytest.raises(InputError, match="has no bindVerb"):
        compare(one, one, Options(verbs=("bind",)))
    with pytest.raises(InputError, match="--allow-remote"):
        compare(parse("http://example.test:80/x", {"filterVerb": "filter"}), one, QUICK)
    with pytest.raises(InputError, match="budget"):
        compare(one, one, Options(budget_seconds=0))
    with pytest.raises(InputError, match="tolerance"):
        compare(one, one, Options(tolerance=2))
    with pytest.raises(InputError, match="'score' seen"):
        compare(one, one, Options(verbs=("score",)))
    with pytest.raises(InputError, match="at most 24"):
        compare(one, one, Options(nodes=tuple(range(1, 30))))
