"""Faults that broke nothing and extenders that are gone are told at the end; real extenders and real taps."""

import contextlib
import functools
from pathlib import Path

import pytest

from harness.extender.injected import Injected
from harness.extender.traffic import Traffic
from harness.report.words.phrases import phrases_of
from harness.scenario.faults import Fault
from tests.unit.extender.asking import answer, ask
from tests.unit.extender.servers import keeps_names, serving
from tests.unit.extender.standing import Make
from tests.unit.extender.standing import standing as standing_in

pytestmark = pytest.mark.usefixtures("built_tap")

UNUSED = "fault status,verb=prioritize,skip=50,status=500 spoilt no call"
VAIN = "fault hang,verb=bind can spoil no call: the entry of x1 has no bindVerb"


@pytest.fixture
def standing(tmp_path: Path) -> Make:
    return functools.partial(standing_in, tmp_path)


def test_a_fault_that_spoilt_no_call_is_told(standing: Make) -> None:
    with standing("ref:pass-through") as bench:
        with bench.run():
            bench.traffic.inject(Fault(kind="status", status=500, verb="prioritize", skip=50))
            answer(bench.first, "prioritize")
        assert bench.warnings == [UNUSED]
        with bench.run():
            answer(bench.first)
        assert bench.warnings == []


def test_one_that_did_is_not_told_also_when_it_was_cleared_since(standing: Make) -> None:
    with standing("ref:pass-through") as bench, bench.run():
        bench.traffic.inject(Fault(kind="status", status=500))
        assert ask(bench.first).status == 500
        bench.traffic.clear(None)
        bench.traffic.inject(Fault(kind="refuse"))
    assert bench.warnings == []


def test_one_that_was_cleared_in_vain_is_told(standing: Make) -> None:
    with standing("ref:pass-through") as bench, bench.run():
        bench.traffic.inject(Fault(kind="hang"))
        bench.traffic.clear(None)
        answer(bench.first)
    assert bench.warnings == ["fault hang spoilt no call"]


def test_one_extender_of_several_is_enough(standing: Make) -> None:
    with standing("ref:pass-through", "ref:pass-through") as bench, bench.run():
        bench.traffic.inject(Fault(kind="status", status=500))
        ask(bench.first)
    assert bench.warnings == []


def test_a_verb_that_the_entry_lacks_is_told_at_once(standing: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("harness.extender.traffic.say", told.append)
    with standing("ref:pass-through") as bench, bench.run():
        bench.traffic.inject(Fault(kind="hang", verb="bind"))
        assert told == [VAIN]
    assert bench.warnings == [VAIN]


def test_nothing_is_said_about_what_a_dead_tap_did(standing: Make) -> None:
    with standing("ref:pass-through") as bench, bench.run():
        bench.traffic.inject(Fault(kind="hang"))
        assert bench.first.tap
        bench.first.tap.child.kill()
    assert not [warning for warning in bench.warnings if "spoilt" in warning]


def test_an_extender_elsewhere_that_is_gone_at_the_end_is_told(standing: Make) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving({"/filter": keeps_names}))
        with standing(server.url, filterVerb="filter", nodeCacheCapable=True) as bench:
            with bench.run():
                answer(bench.first)
            assert bench.warnings == []
            with bench.run():
                stack.close()
            (told,) = bench.warnings
    assert told.startswith("extender x1 did not answer any more when the run ended: ")


@pytest.mark.parametrize("text", [UNUSED, VAIN, "extender x1 did not answer any more when the run ended: gone"])
def test_it_is_told_in_chinese_as_well(text: str) -> None:
    assert phrases_of("zh").said(text).text != text


def test_a_run_without_faults_has_none() -> None:
    assert Traffic([])._unused() == []
    assert Injected(Fault(kind="hang"), {}, None).unused is None
