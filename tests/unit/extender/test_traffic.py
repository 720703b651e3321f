"""Real extenders and real taps; kube-scheduler is played by single calls."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.clock import SYSTEM, wait_until
from harness.errors import StepError
from harness.extender.cassette import file as cassette
from harness.extender.connect import Place, connected
from harness.extender.subject.parse import parse
from harness.extender.traffic import SPOOL, Connected, Traffic
from harness.record.call import EXTENDERS, Call, calls
from harness.record.write import RecordWriter
from harness.scenario.faults import Fault
from tests.processes import PATIENCE_SECONDS, await_gone
from tests.unit.extender.asking import answer, ask
from tests.unit.extender.servers import keeps_names, serving

pytestmark = pytest.mark.usefixtures("built_tap")

SECRET = "c2VjcmV0IGtleSBvZiBhIHVzZXI="


@dataclass
class Bench:
    """Extenders that stand, and one record per run of them."""

    folder: Path
    traffic: Traffic
    warnings: list[str] = field(default_factory=list)
    path: Path = Path()

    @property
    def first(self) -> Connected:
        return self.traffic.extenders[0]

    @contextlib.contextmanager
    def run(self, seed: int = 0) -> Iterator[None]:
        number = len(list(self.folder.iterdir()))
        with RecordWriter.create(self.folder, f"run-{number}", {}) as writer:
            self.path = writer.path
            facts = {"scenario": "made", "kubernetes": "1.36"}
            with self.traffic.recorded(writer, SYSTEM.now(), seed, facts) as self.warnings:
                yield

    def calls(self) -> tuple[Call, ...]:
        lines = (self.path / "calls.jsonl").read_text().splitlines()
        return calls(map(json.loads, lines))


Make = Callable[..., contextlib.AbstractContextManager[Bench]]


@pytest.fixture
def standing(tmp_path: Path) -> Make:
    @contextlib.contextmanager
    def standing(*texts: str, tap: bool = True, **entry: Any) -> Iterator[Bench]:
        (tmp_path / "runs").mkdir()
        place = Place(tmp_path / "extenders", None, 0, tap)
        with contextlib.ExitStack() as stack:
            extenders = [
                stack.enter_context(connected(f"x{number}", parse(text, entry), place))
                for number, text in enumerate(texts, 1)
            ]
            yield Bench(tmp_path / "runs", Traffic(extenders))

    return standing


@pytest.fixture
def lucky(standing: Make) -> Iterator[Bench]:
    """One extender whose answers depend on its seed and on how often it was asked."""
    with standing("ref:lucky", nodeCacheCapable=True) as bench:
        yield bench


@pytest.fixture
def bench(standing: Make) -> Iterator[Bench]:
    with standing("ref:pass-through") as bench:
        yield bench


def crash(pid: int) -> None:
    """End a process from outside, with all that it started."""
    process = psutil.Process(pid)
    every = [*process.children(recursive=True), process]
    for one in every:
        # Some end by themselves as soon as one of the others has.
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    await_gone(one.pid for one in every)


def crash_extender(one: Connected) -> None:
    assert one.running.child
    crash(one.running.child.pid)
    wait_until(lambda: not one.running.alive, what="the end being noticed", timeout_seconds=PATIENCE_SECONDS)


def crash_tap(one: Connected) -> None:
    assert one.tap
    tap = one.tap
    crash(tap.child.pid)
    wait_until(lambda: not tap.alive, what="the end being noticed", timeout_seconds=PATIENCE_SECONDS)


def test_every_call_of_a_run_stands_in_its_record(bench: Bench) -> None:
    before = SYSTEM.now()
    with bench.run():
        answer(bench.first)
        answer(bench.first, "prioritize", "b")
    seconds = SYSTEM.now() - before
    filtered, scored = bench.calls()
    assert (filtered.extender, filtered.kind, filtered.status, filtered.pod) == ("x1", "filter", 200, "default/a")
    assert (scored.kind, scored.pod, filtered.nodes_in, filtered.nodes_out) == ("prioritize", "default/b", 8, 8)
    assert scored.end_t is not None
    assert 0 <= filtered.t <= scored.t <= scored.end_t <= seconds
    taped = cassette.read(bench.path)
    assert [call.kind for call in taped.calls] == ["filter", "prioritize"]
    assert (taped.header["scenario"], taped.header["kubernetes"]) == ("made", "1.36")
    assert taped.extenders[0]["subject"] == "ref:pass-through"
    (told,) = json.loads((bench.path / EXTENDERS).read_text())
    assert (told["name"], told["url"], told["tapped"]) == ("x1", bench.first.running.url, True)
    assert bench.warnings == []


def test_the_taps_own_files_do_not_stay(bench: Bench) -> None:
    with bench.run():
        answer(bench.first)
        assert (bench.path / SPOOL).is_dir()
    assert not (bench.path / SPOOL).exists()


def test_a_run_that_ends_in_trouble_is_recorded_as_well(bench: Bench) -> None:
    def fail() -> None:
        with bench.run():
            answer(bench.first)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(bench.calls()) == 1
    assert not (bench.path / SPOOL).exists()


def test_calls_between_runs_are_in_no_record(bench: Bench) -> None:
    answer(bench.first)
    with bench.run():
        answer(bench.first, name="b")
    answer(bench.first)
    with bench.run():
        answer(bench.first, name="c")
    assert [call.pod for call in bench.calls()] == ["default/c"]


def test_each_run_gets_an_extender_that_has_seen_no_other(lucky: Bench) -> None:
    with lucky.run():
        first, second = answer(lucky.first), answer(lucky.first)
    with lucky.run():
        assert answer(lucky.first) == first
        assert answer(lucky.first) == second
    assert first != second


def test_the_first_run_takes_the_extender_as_it_was_installed(lucky: Bench) -> None:
    child = lucky.first.running.child
    with lucky.run():
        assert lucky.first.running.child is child
    with lucky.run():
        assert lucky.first.running.child is not child


def test_a_run_with_another_seed_has_other_luck(lucky: Bench) -> None:
    drawn: dict[int, list[Any]] = {}
    for seed in (0, 5, 5, 0):
        with lucky.run(seed):
            drawn.setdefault(seed, []).append([answer(lucky.first) for _ in range(4)])
    assert drawn[0][0] == drawn[0][1]
    assert drawn[5][0] == drawn[5][1]
    assert drawn[0][0] != drawn[5][0]


def test_faults_of_one_run_are_gone_in_the_next(bench: Bench) -> None:
    with bench.run():
        assert bench.traffic.inject(Fault(kind="status", status=503)) == ["x1"]
        assert ask(bench.first).status == 503
    assert bench.calls()[0].fault == "status 503"
    with bench.run():
        assert ask(bench.first).status == 200


def test_a_port_that_was_closed_by_a_fault_is_open_in_the_next_run(bench: Bench) -> None:
    with bench.run():
        bench.traffic.inject(Fault(kind="refuse"))
        assert ask(bench.first).ending == "unreachable"
    with bench.run():
        assert ask(bench.first).status == 200


def test_faults_are_cleared_when_told(bench: Bench) -> None:
    with bench.run():
        bench.traffic.inject(Fault(kind="status", status=503))
        assert bench.traffic.clear("x1") == ["x1"]
        assert ask(bench.first).status == 200


def test_the_first_fault_that_fits_wins_and_others_still_count(bench: Bench) -> None:
    with bench.run():
        bench.traffic.inject(Fault(kind="status", status=503, verb="filter"))
        bench.traffic.inject(Fault(kind="status", status=504))
        assert (ask(bench.first).status, ask(bench.first, "prioritize").status) == (503, 504)


@pytest.mark.xfail(strict=True, reason="every new fault makes those before it begin anew")
def test_a_fault_that_is_used_up_stays_used_up_when_another_comes(bench: Bench) -> None:
    with bench.run():
        bench.traffic.inject(Fault(kind="status", status=503, verb="filter", calls=1))
        assert [ask(bench.first).status, ask(bench.first).status] == [503, 200]
        bench.traffic.inject(Fault(kind="status", status=504, verb="prioritize"))
        assert ask(bench.first).status == 200


def test_faults_of_a_verb_find_it_however_the_configuration_spells_it(standing: Make) -> None:
    with (
        serving({"/s/v1/predicates": keeps_names}) as served,
        standing(f"{served.url}/s", filterVerb="v1/predicates", nodeCacheCapable=True) as bench,
        bench.run(),
    ):
        bench.traffic.inject(Fault(kind="status", status=503, verb="prioritize"))
        assert ask(bench.first).status == 200
        bench.traffic.inject(Fault(kind="status", status=504, verb="filter"))
        assert ask(bench.first).status == 504


def test_faults_reach_the_extender_that_they_name(standing: Make) -> None:
    with standing("ref:pass-through", "ref:pass-through") as bench, bench.run():
        first, second = bench.traffic.extenders
        assert bench.traffic.inject(Fault(kind="status", status=503, extender="x2")) == ["x2"]
        assert (ask(first).status, ask(second).status) == (200, 503)
        assert bench.traffic.inject(Fault(kind="status", status=504)) == ["x1", "x2"]
        assert (ask(first).status, ask(second).status) == (504, 503)
        bench.traffic.clear("x2")
        assert (ask(first).status, ask(second).status) == (504, 200)


def test_an_unknown_name_is_answered_with_those_there_are(standing: Make) -> None:
    with standing("ref:pass-through", "ref:lucky") as bench, bench.run():
        orders: list[Callable[[], object]] = [
            lambda: bench.traffic.inject(Fault(kind="hang", extender="x3")),
            lambda: bench.traffic.clear("x3"),
            lambda: bench.traffic.stop("x3", "kill"),
            lambda: bench.traffic.start("x3"),
        ]
        for order in orders:
            with pytest.raises(StepError, match='no extender is called "x3"; there are: x1, x2'):
                order()


def test_calls_are_counted_as_they_end(bench: Bench) -> None:
    assert bench.traffic.calls_seen(None) == 0
    with bench.run():
        assert bench.traffic.calls_seen(None) == 0
        answer(bench.first)
        answer(bench.first)
        answer(bench.first, "prioritize")
        ask(bench.first.seen_by_scheduler.at(f"{bench.first.seen_by_scheduler.url_prefix}/nowhere"))
        wait_until(lambda: bench.traffic.calls_seen(None) == 4, what="four calls", timeout_seconds=PATIENCE_SECONDS)
        seen = [bench.traffic.calls_seen(kind) for kind in ("filter", "prioritize", "bind")]
        assert seen == [2, 1, 0]
    with bench.run():
        assert bench.traffic.calls_seen(None) == 0


def test_a_call_that_waits_is_told_and_not_counted(bench: Bench) -> None:
    with bench.run():
        assert bench.traffic.busy() == []
        bench.traffic.inject(Fault(kind="hang"))
        waits = threading.Thread(target=ask, args=(bench.first,), kwargs={"timeout_seconds": 1.0})
        waits.start()
        told = wait_until(bench.traffic.busy, what="a call in flight", timeout_seconds=PATIENCE_SECONDS)
        assert told == ["1 calls to extender x1 wait for their answer"]
        assert bench.traffic.calls_seen(None) == 0
        waits.join()
        wait_until(lambda: not bench.traffic.busy(), what="its end", timeout_seconds=PATIENCE_SECONDS)
        wait_until(lambda: bench.traffic.calls_seen(None), what="its line", timeout_seconds=PATIENCE_SECONDS)
    assert [call.ending for call in bench.calls()] == ["aborted"]


def test_the_order_of_calls_to_two_extenders_is_kept(standing: Make) -> None:
    """Each tap has a clock of its own; kube-scheduler asks one extender right after another."""
    with standing("ref:pass-through", "ref:pass-through") as bench:
        with bench.run():
            for _ in range(10):
                for one in bench.traffic.extenders:
                    answer(one)
        assert [call.extender for call in bench.calls()] == ["x1", "x2"] * 10


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_an_extender_that_a_step_stops_is_no_trouble_and_comes_back(bench: Bench, how: str) -> None:
    with bench.run():
        assert bench.traffic.stop(None, how) == ["x1"]
        assert ask(bench.first).status is None
        assert bench.traffic.troubles() == []
        assert bench.traffic.start("x1") == ["x1"]
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_an_extender_that_a_step_stopped_runs_in_the_next_run(bench: Bench) -> None:
    with bench.run():
        bench.traffic.stop("x1", "kill")
    with bench.run():
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_an_extender_that_dies_is_told_once_and_started_for_the_next_run(bench: Bench) -> None:
    with bench.run():
        crash_extender(bench.first)
        bench.traffic.watch()
        bench.traffic.watch()
        assert ask(bench.first).status is None
        assert bench.traffic.intact
    (warning,) = bench.warnings
    assert warning.startswith("extender x1 ended during the run: ")
    with bench.run():
        assert ask(bench.first).status == 200
    assert bench.warnings == []


def test_a_dead_extender_that_a_step_starts_again_is_no_trouble_any_more(bench: Bench) -> None:
    with bench.run():
        crash_extender(bench.first)
        bench.traffic.watch()
        bench.traffic.start("x1")
        assert bench.traffic.troubles() == []


def test_a_tap_that_dies_is_told_and_what_it_wrote_is_kept(bench: Bench) -> None:
    with bench.run():
        answer(bench.first)
        wait_until(lambda: bench.traffic.calls_seen(None), what="its line", timeout_seconds=PATIENCE_SECONDS)
        assert bench.traffic.intact
        crash_tap(bench.first)
        assert not bench.traffic.intact
        assert bench.traffic.busy() == []
        assert ask(bench.first).ending == "unreachable"
    (warning,) = bench.warnings
    assert warning.startswith("the tap of x1 ended during the run: calls after that were refused")
    assert [call.status for call in bench.calls()] == [200]
    assert not (bench.path / SPOOL).exists()


def test_an_extender_that_runs_elsewhere_can_neither_be_stopped_nor_started(standing: Make) -> None:
    with serving({"/filter": keeps_names}) as served, standing(served.url, filterVerb="filter") as bench:
        traffic = bench.traffic
        orders: list[Callable[[], object]] = [lambda: traffic.stop(None, "kill"), lambda: traffic.start(None)]
        for _ in range(2):
            with bench.run():
                for order in orders:
                    with pytest.raises(StepError, match=r"x1 \(http://.*\) was not started by the harness"):
                        order()
        assert bench.traffic.logs().keys() == {"tap-x1"}


def test_without_a_tap_nothing_is_seen_and_no_fault_is_possible(standing: Make) -> None:
    with standing("ref:pass-through", tap=False) as bench:
        with bench.run():
            answer(bench.first)
            assert bench.traffic.calls_seen(None) == 0
            assert bench.traffic.busy() == []
            with pytest.raises(StepError, match="extender x1 has no tap, and only a tap can inject faults"):
                bench.traffic.inject(Fault(kind="hang"))
        assert not (bench.path / "calls.jsonl").exists()
        assert json.loads((bench.path / EXTENDERS).read_text())[0]["tapped"] is False
        assert list(cassette.read(bench.path).calls) == []
        assert bench.traffic.intact
        assert bench.traffic.logs().keys() == {"extender-x1"}
        with bench.run():
            assert answer(bench.first)


def test_logs_are_named_after_the_extender(bench: Bench) -> None:
    logs = bench.traffic.logs()
    assert logs.keys() == {"extender-x1", "tap-x1"}
    assert all(path.is_file() for path in logs.values())


def test_nobodys_key_is_in_a_record(standing: Make) -> None:
    tls = {"keyData": SECRET, "certData": "Y2VydA==", "caFile": "/etc/ca.pem"}
    with serving({"/filter": keeps_names}) as served:
        with standing(served.url, filterVerb="filter", nodeCacheCapable=True, tlsConfig=tls) as bench:
            with bench.run():
                answer(bench.first)
            assert bench.first.entry.tls["keyData"] == SECRET
        (told,) = json.loads((bench.path / EXTENDERS).read_text())
        assert told["entry"]["tlsConfig"] == {"certData": "Y2VydA==", "caFile": "/etc/ca.pem"}
        assert SECRET not in json.dumps(dict(cassette.read(bench.path).header))
