"""Checks the checker live: how often equal extenders raise an alarm, and how often more work is missed."""

import contextlib
import signal
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.clock import SYSTEM
from harness.extender.subject.parse import Subject, parse
from harness.load.baseline import TOLERANCE, check, take
from harness.load.regress.compare import Options, compare
from harness.progress import bar

SUBJECTS = Path(__file__).parents[1] / "tests" / "subjects"
VERB = "filter"
TAIL = 0.02
BASELINE_SECONDS = 5.0


@dataclass(frozen=True)
class Sort:
    """One sort of checks.

    Args:
        title: its name.
        language: that of both extenders.
        factor: of the work of the candidate; by language, another one makes a request cost a tenth more in all.
        tail: share of the candidate's calls that do three times the work.
        figure: the promise that it measures, with the most that it may be as a share of checks; nothing if it is only
            shown.
        metric: what has to find it; the verdict of the whole unless told.
        slower: whether an alarm is right.
        kept: whether the base is a baseline, measured before.
        each: how many checks of it a round has; a rate of at most 1 % takes three hundred to be shown.
    """

    title: str
    language: str
    factor: float = 1.0
    tail: float = 0.0
    figure: tuple[str, float] | None = None
    metric: str | None = None
    slower: bool = False
    kept: bool = False
    each: int = 1


SORTS = (
    Sort("Go equal", "Go", figure=("false alarms, equal Go extenders", 0.01), each=5),
    Sort("Go +10 %", "Go", 1.14, figure=("missed, Go with +10 % CPU", 0.05), slower=True),
    Sort("Python equal", "Python", figure=("false alarms, equal Python extenders", 0.01), each=5),
    Sort("Python +10 %", "Python", 1.20, figure=("missed, Python with +10 % CPU", 0.05), slower=True),
    # What two stages find of it follows from the trace: nine of ten each.
    Sort(
        "Go, 2 % thrice the work",
        "Go",
        tail=TAIL,
        figure=("missed by cpu p99, Go with a tail", 0.20),
        metric="cpu p99",
        slower=True,
    ),
    # Between the tolerance and what has to be found: either verdict is right.
    Sort("Go +5 %", "Go", 1.07),
    Sort("Go equal, baseline", "Go", figure=("false alarms, equal Go extenders, baseline", 0.01), kept=True),
)
BOUNDS = dict(sort.figure for sort in SORTS if sort.figure)


def subject(language: str, factor: float = 1.0, tail: float = 0.0) -> Subject:
    """Return the work-factor extender in a language."""
    if language == "Go":
        return parse(f"go:{SUBJECTS / 'workfactor'} -- -factor {factor} -tail {tail}")
    entry = {"filterVerb": "filter", "nodeCacheCapable": True}
    made = parse("py:workfactor:WorkFactor", entry)
    return replace(made, folder=SUBJECTS / "workfactor_py", env={"WORK_FACTOR": str(factor)})


def measure(rounds: int, only: str = "") -> dict[str, Any]:
    """Return the figures of so many checks of each sort, or of those of that name, with what every check found."""
    checks: dict[str, list[dict[str, Any]]] = {sort.title: [] for sort in SORTS}
    # Hours of checks are not thrown away by whoever has seen enough of them, also where a shell started us in the
    # background with interrupts ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    order = [sort for sort in _order() if only in sort.title]
    with bar("Checking the checker", rounds * len(order)) as shown, contextlib.suppress(KeyboardInterrupt):
        for turn in range(rounds):
            for sort in order:
                found = checks[sort.title]
                seed = len(found)
                found.append(_against_baseline(sort, seed) if sort.kept else _side_by_side(sort, seed))
                shown.advance(f"round {turn + 1}: {sort.title}")
    done = {title: found for title, found in checks.items() if found}
    tolerances = {"side by side": Options().tolerance, "baseline": TOLERANCE}
    return {"figures": figures(done), "tolerances": tolerances, "checks": done}


def _order() -> list[Sort]:
    """Return the checks of a round in turns: what disturbs the machine for a while disturbs all sorts alike."""
    most = max(sort.each for sort in SORTS)
    return [sort for turn in range(most) for sort in SORTS if turn < sort.each]


def describe(measured: dict[str, Any]) -> str:
    """Say what every sort of check came to."""
    parts = []
    for sort in SORTS:
        if not (checks := measured["checks"].get(sort.title)):
            continue
        verdicts = Counter(one["verdict"] for one in checks)
        ratio = statistics.median(one["cpu_ratio"] or 0.0 for one in checks)
        seconds = statistics.median(one["seconds"] for one in checks)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        if sort.figure:
            told += f"; {_confidence(wrong(sort, checks), len(checks))}"
        parts.append(f"{sort.title}: {told} (CPU ratio {ratio:.3f}, {seconds:.0f} s each)")
    bad, count = equals(measured["checks"])
    if count:
        parts.append(f"equals side by side, {count} in all: {_confidence(bad, count)}")
    return "\n".join(parts)


def equals(checks: dict[str, list[dict[str, Any]]]) -> tuple[int, int]:
    """Return how many alarms equal extenders side by side raised in all languages, and in how many checks."""
    alike = [sort for sort in SORTS if sort.figure and not sort.slower and not sort.kept]
    found = [(sort, checks.get(sort.title, [])) for sort in alike]
    return sum(wrong(sort, some) for sort, some in found), sum(len(some) for _, some in found)


def figures(checks: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """Return the share of wrong checks, by promise."""
    return {
        sort.figure[0]: wrong(sort, found) / len(found)
        for sort in SORTS
        if sort.figure and (found := checks.get(sort.title))
    }


def wrong(sort: Sort, checks: Sequence[dict[str, Any]]) -> int:
    """Return how many checks said what is not so."""
    found = [one["metrics"].get(sort.metric, {}).get("verdict") if sort.metric else one["verdict"] for one in checks]
    alarms = found.count("REGRESSION")
    return len(checks) - alarms if sort.slower else alarms


def _confidence(wrong: int, checks: int) -> str:
    return f"{wrong} wrong, at most {_at_most(wrong, checks):.1%} with 95 % confidence"


def _at_most(wrong: int, checks: int) -> float:
    """Return the largest share that so few wrong ones do not exclude: a handful of checks proves little."""
    from scipy.stats import beta

    return 1.0 if wrong >= checks else float(beta.ppf(0.95, wrong + 1, checks - wrong))


def _side_by_side(sort: Sort, seed: int) -> dict[str, Any]:
    began = SYSTEM.now()
    candidate = subject(sort.language, sort.factor, sort.tail)
    (found,) = compare(subject(sort.language), candidate, Options(verbs=(VERB,), seed=seed)).result.comparisons
    cpu = found.metric("cpu p50")
    return {
        "verdict": found.verdict,
        "seconds": SYSTEM.now() - began,
        "cpu_ratio": cpu.ratio if cpu else None,
        "metrics": {
            one.metric: {"verdict": one.verdict, "ratio": one.ratio, "p_values": one.p_values, "mde": one.mde}
            for one in found.metrics
            if one.verdict
        },
    }


def _against_baseline(sort: Sort, seed: int) -> dict[str, Any]:
    began = SYSTEM.now()
    options = Options(verbs=(VERB,), seed=seed, tolerance=TOLERANCE, budget_seconds=BASELINE_SECONDS)
    kept = take([subject(sort.language)], options, {})
    found = check(
        kept, "baseline", subject(sort.language, sort.factor, sort.tail), options, name=kept.subjects[0].subject
    )
    (row,) = found.result.rows
    return {
        "verdict": row.verdict,
        "seconds": SYSTEM.now() - began,
        "cpu_ratio": row.change[0],
        "interval": row.change[1:],
        "metrics": {row.metric: {"verdict": row.verdict, "p_values": row.p_values, "mde": row.mde}},
    }
