"""The generator itself, against extenders in every trouble; each ends in a result that says what happened."""

import shlex
import signal
import sys
from pathlib import Path

import numpy as np
import orjson
import psutil
import pytest

from harness.clock import wait_until
from harness.errors import InputError
from harness.extender.subject.parse import parse
from harness.load.generate import Scale
from harness.load.schedule import Plan
from harness.load.sweep import judged
from harness.process import spawn
from harness.record.load import read
from harness.report.load import load_text
from tests.processes import PATIENCE_SECONDS, await_gone
from tests.unit.load.given import ENTRY, ROOT, assert_sent, await_end, command_of, loaded, trouble


def test_a_closed_load_waits_for_its_answers(tmp_path: Path) -> None:
    record = loaded(trouble("--delay-ms", "20"), tmp_path, schedulers=3, floor=True)
    (one,) = record.results
    assert (one.model, one.rate, one.errors, one.ended) == ("closed", None, 0, "complete")
    # Three schedulers that wait 20 ms each cannot ask more often than this.
    assert 5 <= one.requests <= 3 * 0.8 / 0.02 + 3
    assert one.p50_ms is not None
    assert one.p50_ms >= 20
    assert one.connections == 3
    assert one.cpu_ms_per_request is not None
    assert one.floor_p50_ms is not None
    assert one.floor_p50_ms < one.p50_ms


def test_an_open_load_sends_on_time_however_slow_the_answers(tmp_path: Path) -> None:
    record = loaded(trouble("--delay-ms", "300"), tmp_path, rates=(100.0,))
    (one,) = record.results
    assert_sent(record, Plan("constant", (100.0,), 1.0))
    assert one.errors == 0
    # More at once than any pool of connections that waits for answers would have.
    assert one.connections >= 25
    assert one.p50_ms is not None
    assert one.p50_ms >= 300


def test_a_slow_extender_that_keeps_up_does_not_fall_behind(tmp_path: Path) -> None:
    record = loaded(trouble("--delay-ms", "300"), tmp_path, schedule="poisson", rates=(50.0,), seconds=2.0)
    assert record.results[0].falls_behind != "extender"
    step = judged(50.0, record.results, 2500.0)
    assert step.within or step.limited


def test_workers_share_the_schedule_without_loss(tmp_path: Path) -> None:
    record = loaded(trouble(), tmp_path, processes=2, rates=(300.0,))
    (one,) = record.results
    assert one.ended == "complete"
    assert len(record.meta["measurements"][0]["workers"]) == 2
    assert_sent(record, Plan("constant", (300.0,), 1.0))


@pytest.mark.parametrize("processes", [1, 2])
def test_steps_end_with_the_one_that_saturates_the_extender(processes: int, tmp_path: Path) -> None:
    """It answers a hundred requests per second at most; 300/s is too much."""
    rates = (20.0, 40.0, 300.0, 600.0, 900.0)
    one_by_one = trouble("--delay-ms", "10", "--one-by-one")
    record = loaded(one_by_one, tmp_path, processes=processes, schedule="step", rates=rates, seconds=5.0)
    assert record.meta["status"] == "complete"
    *_, last = record.results
    made = len(record.results)
    if made == len(rates):
        # A generator that gets no processor never blames the extender, and goes on.
        assert all(one.generator_limited for one in record.results[2:])
        return
    assert made <= 3 or record.results[2].generator_limited
    assert last.notes[-1] == f"the load ended after this step: {len(rates) - made} higher steps were not made"
    # Nobody sends beyond the next step: its end is when an extender whose answers are late is judged at last.
    assert (record.samples(last)["send"] < last.segment[1] + 1.5).all()


def test_a_cycle_filters_before_it_prioritizes_and_binds_beside(tmp_path: Path) -> None:
    subject = trouble("--delay-ms", "20", prioritizeVerb="prioritize", weight=1, bindVerb="bind")
    record = loaded(subject, tmp_path, verbs=("cycle",))
    assert [one.verb for one in record.results] == ["filter", "prioritize", "bind"]
    columns = record.samples(record.results[0])
    names = np.array(record.meta["verbs"])[columns["verb"]]
    sent = {verb: columns["send"][names == verb] for verb in ("filter", "prioritize", "bind")}
    done = {verb: columns["done"][names == verb] for verb in ("filter", "prioritize", "bind")}
    count = len(sent["bind"])
    assert count > 3
    assert (sent["prioritize"][:count] >= done["filter"][:count]).all()
    assert (sent["bind"] >= done["prioritize"][:count]).all()
    # The next pod does not wait for a bind.
    later = min(count, len(sent["filter"]) - 1)
    assert (sent["filter"][1 : later + 1] < done["bind"][:later]).all()


def test_the_size_of_a_node_is_measured_like_that_of_the_cluster(tmp_path: Path) -> None:
    record = loaded(
        trouble(), tmp_path, nodes=(20, 40), wires=("names", "objects"), node_kibs=(2.0, 8.0), rates=(50.0,)
    )
    seen = [(one.nodes, one.wire, one.node_kib) for one in record.results]
    each = [("names", None), ("objects", 2.0), ("objects", 8.0)]
    assert seen == [(nodes, wire, kib) for nodes in (20, 40) for wire, kib in each]
    small, large = (one.body_bytes for one in record.results[1:3])
    assert 3 < large / small < 5
    assert "20 objects 8 KiB" in load_text(record)


def test_names_have_no_size(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is sent names, which have no size; say --wire objects"):
        loaded(trouble(), tmp_path, node_kibs=(2.0,))


def test_failed_requests_are_counted_by_kind(tmp_path: Path) -> None:
    (status,) = loaded(trouble("--status-every", "20"), tmp_path, rates=(200.0,)).results
    assert status.error_kinds == {"status": status.errors}
    # Every twentieth, whatever a stalled machine did not send.
    assert abs(status.errors - status.requests / 20) <= 3
    assert status.errors
    assert status.statuses["500"] == status.errors
    (error,) = loaded(trouble("--error-every", "20"), tmp_path, rates=(200.0,)).results
    assert error.error_kinds == {"reply-error": error.errors}
    (garbage,) = loaded(trouble("--garbage"), tmp_path, rates=(50.0,)).results
    assert garbage.error_kinds == {"not-http": garbage.requests}
    assert garbage.p99_ms is None


def test_an_extender_that_dies_is_told(tmp_path: Path) -> None:
    record = loaded(trouble("--die-after", "100"), tmp_path, rates=(200.0,), seconds=1.5)
    (one,) = record.results
    assert one.ended == "died"
    assert not any("generator" in note for note in one.notes if "left late" not in note)
    assert any("out of luck" in note for note in one.notes)
    assert set(one.error_kinds) <= {"refused", "reset", "cut"}
    assert one.errors


def test_an_extender_that_hangs_is_given_up_at_its_time_out(tmp_path: Path) -> None:
    (one,) = loaded(trouble("--hang-after", "15", httpTimeout="400ms"), tmp_path, rates=(100.0,)).results
    assert one.error_kinds == {"timeout": one.errors}
    assert one.errors == one.requests
    assert one.p50_ms is not None
    assert one.p50_ms >= 400


def test_leaked_connections_are_told(tmp_path: Path) -> None:
    (one,) = loaded(trouble("--close", "--leak"), tmp_path, rates=(150.0,)).results
    assert one.errors == 0
    assert one.connections + one.unsent == 150
    assert any("leaks them" in note for note in one.notes)


def test_connections_that_are_closed_each_time_are_no_leak(tmp_path: Path) -> None:
    (one,) = loaded(trouble("--close"), tmp_path, rates=(150.0,)).results
    assert (one.errors, one.connections + one.unsent) == (0, 150)
    assert not any("leaks them" in note for note in one.notes)


def test_a_rate_that_nobody_reaches_ends_and_is_the_generators_limit(tmp_path: Path) -> None:
    # As many threads as connections would be thousands.
    subject = trouble("--at-once", "50", httpTimeout="500ms")
    (one,) = loaded(subject, tmp_path, rates=(50_000.0,), seconds=1.0).results
    assert one.generator_limited
    assert one.ended == "complete"
    assert one.requests + one.warmup_cut + one.unsent == 60_000


def test_large_objects_arrive_whole(tmp_path: Path) -> None:
    (one,) = loaded(trouble(), tmp_path, nodes=(400,), wires=("objects",), schedulers=2).results
    assert one.body_bytes > 1_600_000
    assert one.errors == 0
    assert one.requests > 0


def test_without_descriptors_the_generator_blames_itself(tmp_path: Path) -> None:
    # Its one slow answer after the other needs more connections than there are.
    out = tmp_path / "out"
    command = [word.replace("--delay-ms 5", "--delay-ms 900") for word in command_of(out, "--json")]
    command += ["--rate", "100", "--duration", "0.8", "--warmup", "0.2"]
    limited = ["sh", "-c", f"ulimit -n 64; exec {shlex.join(command)}"]
    child = spawn("limited", limited, log=tmp_path / "log", cwd=ROOT)
    await_end(child)
    (folder,) = out.iterdir()
    (one,) = read(folder).results
    assert one.generator_limited
    assert one.error_kinds["no-descriptors"] == one.errors > 0
    assert child.exit_code == 1


def test_ctrl_c_keeps_what_was_measured_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    mark = tmp_path / "mark"
    command = [word.replace("--delay-ms 5", f"--delay-ms 5 --mark {mark}") for word in command_of(out, "--rate", "100")]
    child = spawn("load", [*command, "--duration", "60", "--warmup", "0"], log=tmp_path / "log", cwd=ROOT)
    process = psutil.Process(child.pid)
    family: set[int] = set()

    def is_answered() -> bool:
        family.update(one.pid for one in process.children(recursive=True))
        return mark.exists()

    wait_until(is_answered, what="answers", timeout_seconds=PATIENCE_SECONDS * 2)
    process.send_signal(signal.SIGINT)
    await_end(child)
    assert child.exit_code == 130, (tmp_path / "log").read_text()
    await_gone(family)
    (folder,) = out.iterdir()
    record = read(folder)
    assert record.meta["status"] == "interrupted"
    (one,) = record.results
    assert one.ended == "interrupted"
    assert one.requests >= 1


def test_a_record_can_be_recomputed(tmp_path: Path) -> None:
    record = loaded(trouble("--delay-ms", "3"), tmp_path, rates=(200.0,))
    (one,) = record.results
    columns = record.samples(one)
    chosen = (columns["intended"] >= one.segment[0]) & (columns["intended"] < one.segment[1])
    latency = (columns["done"] - columns["intended"])[chosen] * 1000
    assert np.percentile(latency, 99, method="inverted_cdf") == pytest.approx(one.p99_ms)
    raw = orjson.loads((record.path / "load.json").read_bytes())
    assert raw["outcomes"][0] == "ok"
    assert raw["measurements"][0]["shape"]["plan"]["rates"] == [200.0]


def test_locust_is_never_loaded_here() -> None:
    _ = Scale()
    _ = parse("ref:pass-through", ENTRY)
    assert not {"locust", "gevent"} & set(sys.modules)
