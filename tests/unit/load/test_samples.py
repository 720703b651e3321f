from pathlib import Path

import numpy as np
import pytest

from harness.load import samples
from harness.load.samples import OUTCOMES, VERBS, Samples, Taken


def test_what_is_taken_comes_back(tmp_path: Path) -> None:
    taken = Taken()
    taken.add(1_000_000_000, 1_000_500_000, 1_002_000_000, VERBS.index("bind"), samples.STATUS, 503)
    taken.add(2_000_000_000, 2_000_000_000, 2_001_000_000, 0, samples.OK, 200)
    samples.save(tmp_path / "a.npz", taken.columns(1_000_000_000), {"index": 3})
    read, meta = samples.load(tmp_path / "a.npz")
    assert meta == {"index": 3}
    assert read["intended"].tolist() == [0.0, 1.0]
    assert (read["send"] - read["intended"]).tolist() == pytest.approx([0.0005, 0.0])
    assert (read["done"] - read["send"]).tolist() == pytest.approx([0.0015, 0.001])
    assert [VERBS[one] for one in read["verb"]] == ["bind", "filter"]
    assert [OUTCOMES[one] for one in read["outcome"]] == ["status", "ok"]
    assert read["status"].tolist() == [503, 200]
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_samples_of_workers_are_merged_in_order_without_loss() -> None:
    def part(*intended: float) -> Samples:
        return Samples({name: np.array(intended) for name in samples.COLUMNS})

    merged = samples.merged([part(0.0, 2.0, 4.0), part(1.0, 3.0), part()])
    assert merged["intended"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert merged["done"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert len(samples.merged([])) == 0


def test_every_outcome_has_a_code() -> None:
    assert OUTCOMES[samples.OK] == "ok"
    assert OUTCOMES[samples.NO_DESCRIPTORS] == "no-descriptors"
    assert OUTCOMES[samples.NO_TLS] == "no-tls"
    assert len(set(OUTCOMES)) == len(OUTCOMES) == samples.NO_TLS + 1
