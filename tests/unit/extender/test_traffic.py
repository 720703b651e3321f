"""Real extenders and real taps; kube-scheduler is played by single calls."""

import functools
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.clock import SYSTEM, wait_until
from harness.errors import StepError
from harness.extender.cassette import file as cassette
from harness.extender.cassette.command import LEFT_OUT
from harness.extender.traffic import SECRET_MISSING
from harness.record.call import EXTENDERS, SPOOL
from harness.scenario.faults import Fault
from tests.processes import PATIENCE_SECONDS
from tests.unit.extender.asking import answer, ask
from tests.unit.extender.servers import Status, keeps_names, serving
from tests.unit.extender.standing import Bench, Make
from tests.unit.extender.standing import standing as standing_in

pytestmark = pytest.mark.usefixtures("built_tap")

SECRET = "c2VjcmV0IGtleSBvZiBhIHVzZXI="


@pytest.fixture
def standing(tmp_path: Path) -> Make:
    return functools.partial(standing_in, tmp_path)


@pytest.fixture
def lucky(standing: Make) -> Iterator[Bench]:
    """One extender whose answers depend on its seed and on how often it was asked."""
    with standing("ref:lucky", nodeCacheCapable=True) as bench:
        yield bench


@pytest.fixture
def bench(standing: Make) -> Iterator[Bench]:
    with standing("ref:pass-through") as bench:
        yield bench


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
    for seed in (5, 0, 5, 0):
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
        waits = threading.Thread(target=ask, args=(bench.first,), kwargs={"timeout_seconds": 5.0})
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


def test_nobodys_password_is_in_a_record(standing: Make) -> None:
    with serving({"/filter": lambda _: Status(500)}) as served:
        address = served.url.replace("http://", "http://user:hunter2@")
        with standing(address, filterVerb="filter", nodeCacheCapable=True) as bench:
            with bench.run():
                ask(bench.first)
            assert "hunter2" in bench.first.entry.url_prefix
    texts = [path.read_text() for path in (bench.path / EXTENDERS, bench.path / "calls.jsonl")]
    texts.append(json.dumps(dict(cassette.read(bench.path).header)))
    assert not [text for text in texts if "hunter2" in text]
    told = json.loads(texts[0])[0]
    assert told["url"] == told["subject"] == address.replace("hunter2", LEFT_OUT)
    assert SECRET_MISSING in told["notes"]
