from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError, RecordError
from harness.load.regress.compare import Compared
from harness.load.regress.corpus import Cell
from harness.load.regress.decide import decide, gated, ratios
from harness.load.regress.keep import keep
from harness.load.regress.pairs import Draft, Pairs, load, save
from harness.record.regress import Regression, read

CELL = Cell("filter", 3, "names", (b"{}",))


def measured(base: float, candidate: float, count: int = 120, cpu: float = 1.0, ending: int = 0) -> Pairs:
    """Pairs of three starts, as even as no machine gives them."""
    draft = Draft()
    for number in range(count):
        restart = number * 3 // count
        row = (base * cpu, base, 0, 0.0, candidate * cpu, candidate, ending, 0.0, restart, True, 0, float(number))
        draft.rows.append(row)
    return draft.finished(size=5)


def test_pairs_survive_being_saved(tmp_path: Path) -> None:
    pairs = measured(1.0, 2.0)
    save(pairs, tmp_path / "pairs" / "1.npz")
    again = load(tmp_path / "pairs" / "1.npz")
    assert again.size == 5
    assert len(again) == 120
    np.testing.assert_array_equal(again.cpu, pairs.cpu)
    np.testing.assert_array_equal(again.restart, pairs.restart)


def test_what_is_no_record_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    for name in ("bad.npz", "missing.npz"):
        with pytest.raises(RecordError, match="the samples cannot be read"):
            load(tmp_path / name)
    np.savez(tmp_path / "other.npz", cpu=np.zeros(3))
    with pytest.raises(RecordError, match="no measurements of a comparison"):
        load(tmp_path / "other.npz")
    with pytest.raises(RecordError, match="no comparison can be read"):
        read(tmp_path)
    (tmp_path / "regress.json").write_text('{"format": 99}')
    with pytest.raises(RecordError, match="format 99 seen"):
        read(tmp_path)


def test_a_record_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nothing = Compared(Regression("a", "b", {}, ()), ())
    with pytest.raises(HarnessError, match="cannot be written"):
        keep(nothing, tmp_path / "file", {})


def test_no_block_reaches_over_a_restart() -> None:
    pairs = measured(1.0, 2.0, count=66)
    # 22 pairs of each start make four blocks of five; what is left over makes none with the next start's.
    assert len(ratios(pairs, "cpu p50")) == 12


def test_identical_numbers_pass() -> None:
    assert decide(CELL, [measured(1.0, 1.0)]).verdict == "PASS"
    slower = measured(1.0, 1.5)
    assert decide(CELL, [slower]).verdict == "INCONCLUSIVE"
    assert decide(CELL, [slower, slower]).verdict == "REGRESSION"


def test_without_a_clock_of_the_process_the_wall_decides() -> None:
    blind = measured(1.0, 1.5, cpu=float("nan"))
    assert gated(blind) == ["wall p50"]
    found = decide(CELL, [blind, blind])
    assert found.verdict == "REGRESSION"
    assert found.metric("cpu p50") is None
    unseen = measured(1.0, 1.5)
    assert decide(CELL, [unseen], sees_cpu=False).metric("cpu p50") is None


def test_nothing_measured_is_inconclusive() -> None:
    found = decide(CELL, [Draft().finished(size=5)], died="it burnt")
    assert (found.verdict, found.pairs, found.metrics) == ("INCONCLUSIVE", 0, ())
    assert found.failure == "the candidate ended by itself: it burnt"


def test_failed_requests_are_in_no_quantile() -> None:
    failing = measured(1.0, 100.0, ending=1)
    found = decide(CELL, [failing])
    assert found.metrics == ()
    assert found.candidate_errors == 120
    assert not found.ok
    assert found.error_kinds == {"candidate: a status other than 200": 120}


def test_work_between_requests_is_noted() -> None:
    pairs = measured(1.0, 1.0)
    pairs.background[1, :] = 2.0
    assert "67% of the candidate's processor time" in decide(CELL, [pairs]).notes[0]
