import numpy as np
import pytest

from harness.errors import InputError
from harness.load.schedule import Plan, parse_rates


def test_a_constant_rate_comes_at_equal_distances() -> None:
    offsets = Plan("constant", (50.0,), 2.0).offsets()
    assert len(offsets) == 100
    assert np.allclose(np.diff(offsets), 0.02)
    assert offsets[0] == 0.0
    assert offsets[-1] < 2.0


def test_poisson_arrivals_follow_from_the_seed() -> None:
    first, again, other = (Plan("poisson", (1000.0,), 5.0, seed).offsets() for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first[:50], other[:50])
    # Five standard deviations around 5000, and gaps as irregular as they are long.
    assert abs(len(first) - 5000) < 354
    assert np.diff(first).std() == pytest.approx(np.diff(first).mean(), rel=0.1)
    assert first[-1] < 5.0


def test_a_ramp_ends_at_its_last_rate() -> None:
    offsets = Plan("ramp", (0.0, 1000.0), 2.0).offsets()
    assert len(offsets) == 1000
    assert 1 / np.diff(offsets)[-50:].mean() == pytest.approx(1000, rel=0.05)
    assert (offsets < 1.0).sum() == pytest.approx(250, abs=2)


def test_steps_are_equally_long_and_looked_at_one_by_one() -> None:
    plan = Plan("step", (100.0, 300.0), 4.0)
    offsets = plan.offsets()
    assert plan.segments() == [(0.0, 2.0, 100.0), (2.0, 4.0, 300.0)]
    assert [int(((offsets >= begin) & (offsets < end)).sum()) for begin, end, _ in plan.segments()] == [200, 600]
    assert (np.diff(offsets) > 0).all()


def test_a_warm_up_comes_before_the_plan_at_its_first_rate() -> None:
    steps = Plan("step", (50.0, 100.0), 4.0, warmup_seconds=1.0)
    assert steps.segments() == [(1.0, 3.0, 50.0), (3.0, 5.0, 100.0)]
    assert _counts(steps) == [50, 100, 200]
    ramp = Plan("ramp", (100.0, 300.0), 2.0, warmup_seconds=2.0)
    assert (ramp.segments(), _counts(ramp)) == ([(2.0, 4.0, 200.0)], [200, 400])
    assert _counts(Plan("ramp", (0.0, 300.0), 2.0, warmup_seconds=1.0)) == [0, 300]
    # The others are the same before and after.
    for kind in ("constant", "poisson"):
        with_it, whole = Plan(kind, (30.0,), 2.0, 7, 1.7), Plan(kind, (30.0,), 3.7, 7)
        assert np.array_equal(with_it.offsets(), whole.offsets())


def _counts(plan: Plan) -> list[int]:
    """Return how many requests the warm-up and each segment have."""
    bounds = [0.0, *(begin for begin, _, _ in plan.segments()), plan.warmup_seconds + plan.seconds]
    return [int(count) for count in np.histogram(plan.offsets() + 1e-9, bounds)[0]]


@pytest.mark.parametrize(
    ("kind", "text", "rates"),
    [
        ("constant", "200", (200.0,)),
        ("ramp", "10:20", (10.0, 20.0)),
        ("ramp", "20", (0.0, 20.0)),
        ("step", "1,2,3", (1.0, 2.0, 3.0)),
        ("step", "80", (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)),
    ],
)
def test_rates_are_read_as_the_schedule_needs_them(kind: str, text: str, rates: tuple[float, ...]) -> None:
    assert parse_rates(kind, text) == rates


@pytest.mark.parametrize("text", ["x", "nan", "-1", "1:2"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--rate"):
        parse_rates("constant", text)


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (("constant", (0.0,), 1.0), "more than 0"),
        (("constant", (60_000.0,), 1.0), "at most 50000"),
        (("constant", (50_000.0,), 500.0), "at most 5000000"),
        (("ramp", (1.0,), 1.0), "2 rates"),
        (("zigzag", (1.0,), 1.0), "one of constant"),
    ],
)
def test_more_than_may_be_asked_for_is_refused(plan: tuple[str, tuple[float, ...], float], why: str) -> None:
    with pytest.raises(InputError, match=why):
        Plan(*plan)


def test_a_plan_survives_a_file() -> None:
    plan = Plan("step", (1.0, 2.0), 3.0, 4, 5.0)
    assert Plan.from_json(plan.to_json()) == plan
