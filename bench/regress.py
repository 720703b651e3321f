"""Checks the checker live: how often two equal extenders raise an alarm, and how often a tenth more work is missed."""

import contextlib
import signal
import statistics
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.clock import SYSTEM
from harness.extender.subject.parse import Subject, parse
from harness.load.regress.compare import Options, compare
from harness.progress import bar

SUBJECTS = Path(__file__).parents[1] / "tests" / "subjects"
VERB = "filter"
# By language: the factor of the work that makes a request cost a tenth more in all.
SLOWER = {"Go": 1.14, "Python": 1.20}
# What the project promises; both are shares of checks.
BOUNDS = {
    **{f"false alarms, equal {name} extenders": 0.01 for name in SLOWER},
    **{f"missed, {name} with +10 % CPU": 0.05 for name in SLOWER},
}


def subject(language: str, factor: float) -> Subject:
    """Return the work-factor extender in a language."""
    if language == "Go":
        return parse(f"go:{SUBJECTS / 'workfactor'} -- -factor {factor}")
    entry = {"filterVerb": "filter", "nodeCacheCapable": True}
    made = parse("py:workfactor:WorkFactor", entry)
    return replace(made, folder=SUBJECTS / "workfactor_py", env={"WORK_FACTOR": str(factor)})


def measure(rounds: int) -> dict[str, Any]:
    """Return the figures of so many checks of each sort, with what every check found."""
    plan = [(language, slower) for language in SLOWER for slower in (False, True)]
    checks: dict[str, list[dict[str, Any]]] = {_title(*one): [] for one in plan}
    # Hours of checks are not thrown away by whoever has seen enough of them, also where a shell started us in the
    # background with interrupts ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with bar("Checking the checker", rounds * len(plan)) as shown, contextlib.suppress(KeyboardInterrupt):
        for turn in range(rounds):
            # In turns: what disturbs the machine for a while disturbs all sorts alike.
            for language, slower in plan:
                checks[_title(language, slower)].append(_check(language, slower, turn))
                shown.advance(f"round {turn + 1}: {_title(language, slower)}")
    done = {title: found for title, found in checks.items() if found}
    return {"figures": _figures(done), "tolerance": Options().tolerance, "checks": done}


def describe(measured: dict[str, Any]) -> str:
    """Say what every sort of check came to."""
    parts = []
    for title, checks in measured["checks"].items():
        verdicts = Counter(one["verdict"] for one in checks)
        ratio = statistics.median(one["cpu_ratio"] for one in checks)
        seconds = statistics.median(one["seconds"] for one in checks)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        wrong = len(checks) - verdicts["REGRESSION"] if title.endswith("%") else verdicts["REGRESSION"]
        limit = f"{wrong} wrong, at most {_at_most(wrong, len(checks)):.0%} with 95 % confidence"
        parts.append(f"{title}: {told}; {limit} (CPU ratio {ratio:.3f}, {seconds:.0f} s each)")
    return "\n".join(parts)


def _at_most(wrong: int, checks: int) -> float:
    """Return the largest share that so few wrong ones do not exclude: a handful of checks proves little."""
    from scipy.stats import beta

    return 1.0 if wrong >= checks else float(beta.ppf(0.95, wrong + 1, checks - wrong))


def _title(language: str, slower: bool) -> str:
    return f"{language} {'+10 %' if slower else 'equal'}"


def _check(language: str, slower: bool, seed: int) -> dict[str, Any]:
    began = SYSTEM.now()
    candidate = subject(language, SLOWER[language] if slower else 1.0)
    (found,) = compare(subject(language, 1.0), candidate, Options(verbs=(VERB,), seed=seed)).result.comparisons
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


def _figures(checks: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    def share(title: str, verdict: str) -> float:
        return [one["verdict"] for one in checks[title]].count(verdict) / len(checks[title])

    figures = {}
    for name in SLOWER:
        if _title(name, False) in checks:
            figures[f"false alarms, equal {name} extenders"] = share(_title(name, False), "REGRESSION")
        if _title(name, True) in checks:
            figures[f"missed, {name} with +10 % CPU"] = 1 - share(_title(name, True), "REGRESSION")
    return figures
