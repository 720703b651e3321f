"""Fixtures that measure extenders: under load, and one against another. They need no cluster."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import ExpectationFailed, InputError
from harness.pytest_plugin.reporting import MEASURED

if TYPE_CHECKING:
    from harness.extender.subject.parse import Subject
    from harness.record.load import LoadRecord, LoadResult
    from harness.record.regress import Comparison, Regression

# What a test calls a single one of; the options themselves take several.
_SINGLE = {"verb": "verbs", "wire": "wires", "rate": "rates", "node_kib": "node_kibs"}
ENDED_BY_EXTENDER = ("died", "gone")
_SEVERAL = ("verbs", "nodes", "wires", "rates", "node_kibs")


@dataclass(frozen=True)
class JudgedLoad:
    """A load as a test sees it: its results, one per verb, number of nodes and wire."""

    record: "LoadRecord"

    def __iter__(self) -> "Iterator[LoadResult]":
        return iter(self.record.results)

    def __len__(self) -> int:
        return len(self.record.results)

    def __getitem__(self, place: int) -> "LoadResult":
        return self.record.results[place]

    def assert_in_time(self, budget_ms: float | None = None) -> None:
        """Fail the test if a call failed, the extender ended, answers came later and later, or p99 is above a budget.

        The budget is half of httpTimeout unless told. How late answers are is not the extender's where the generator
        was the limit: if nothing else speaks against it, or nothing was measured, the test is skipped.
        """
        __tracebackhide__ = True  # the table tells more than our own lines
        from harness.report.load import load_text  # noqa: PLC0415 - loaded only where it is used

        if said := [text for one in self for text in _not_in_time(one, budget_ms)]:
            raise ExpectationFailed("\n".join([*said, "", load_text(self.record)]))
        if not len(self) or any(one.generator_limited or one.ended != "complete" or not one.requests for one in self):
            pytest.skip(load_text(self.record))


def _not_in_time(result: "LoadResult", budget_ms: float | None) -> Iterator[str]:
    place = f"{result.subject}: {result.verb} with {result.nodes} nodes"
    if failed := {kind: count for kind, count in result.error_kinds.items() if kind != "no-descriptors"}:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in failed.items())
        yield f"{place}: {sum(failed.values())} of {result.requests} requests failed ({kinds}), none expected"
    if result.ended in ENDED_BY_EXTENDER:
        yield f"{place}: the extender was gone before the end ({result.ended})"
    if result.generator_limited:
        return
    if result.falls_behind == "extender":
        yield f"{place}: answers came later and later at {result.rate:g} requests per second"
    budget = result.timeout_seconds * 1000 / 2 if budget_ms is None else budget_ms
    if result.p99_ms is not None and result.p99_ms > budget:
        yield f"{place}: p99 {result.p99_ms:.1f} ms seen, at most {budget:g} ms expected"


@dataclass(frozen=True)
class JudgedRegression:
    """A comparison as a test sees it."""

    result: "Regression"

    @property
    def verdict(self) -> str:
        """Return PASS, REGRESSION or INCONCLUSIVE."""
        return self.result.verdict

    @property
    def comparisons(self) -> "tuple[Comparison, ...]":
        """Return what was compared, one by one."""
        return self.result.comparisons

    def assert_not_slower(self) -> None:
        """Fail the test for a REGRESSION or a candidate that fails; skip it, with the reason, if it is INCONCLUSIVE."""
        __tracebackhide__ = True  # the table tells more than our own lines
        from harness.report.regress import regression_text  # noqa: PLC0415 - loaded only where it is used

        if not self.result.ok:
            raise ExpectationFailed(regression_text(self.result))
        if self.result.verdict == "INCONCLUSIVE":
            pytest.skip(regression_text(self.result))


@pytest.fixture
def load_test(request: pytest.FixtureRequest) -> Callable[..., JudgedLoad]:
    """A function that puts a subject under load: `load_test("go:.", rate=100, seconds=5).assert_in_time()`."""

    def run(
        subject: "str | None" = None, *, entry: Mapping[str, Any] | None = None, processes: int = 1, **options: Any
    ) -> JudgedLoad:
        from harness.load.campaign import Options, carry_out  # noqa: PLC0415 - loaded only where it is used
        from harness.load.generate import Scale  # noqa: PLC0415

        chosen = Options(**_several({"seed": _seed(request), **options}))
        record = carry_out([_subject(request, subject, entry)], chosen, Scale(processes=processes), _runs(request))
        request.node.user_properties.append(("load", str(record.path)))
        request.node.stash.setdefault(MEASURED, []).append(record.path)
        if record.meta["status"] == "interrupted":
            # What was measured is kept; the session ends as it would anywhere else.
            raise KeyboardInterrupt
        return JudgedLoad(record)

    return run


@pytest.fixture
def regress(request: pytest.FixtureRequest) -> Callable[..., JudgedRegression]:
    """A function that compares a candidate with a base: `regress("go:.@main", "go:.").assert_not_slower()`."""

    def run(
        base: str, candidate: str | None = None, *, entry: Mapping[str, Any] | None = None, **options: Any
    ) -> JudgedRegression:
        from harness.load.regress.compare import Options, compare  # noqa: PLC0415 - loaded only where it is used
        from harness.load.regress.keep import keep  # noqa: PLC0415
        from harness.run import machine  # noqa: PLC0415

        wire = {"wire": options.pop("wire")} if "wire" in options else {}
        chosen = Options(**_several({"seed": _seed(request), **options}), **wire)
        compared = compare(_subject(request, base, entry), _subject(request, candidate, entry), chosen)
        facts = {"machine": machine.fingerprint(), "versions": machine.versions()}
        result = keep(compared, _runs(request), facts)
        request.node.user_properties.extend(_properties(result))
        if result.path:
            request.node.stash.setdefault(MEASURED, []).append(result.path)
        return JudgedRegression(result)

    return run


def _subject(request: pytest.FixtureRequest, text: str | None, entry: Mapping[str, Any] | None) -> "Subject":
    """Return what a test names, else the extender that was brought, with the entry that was told with it."""
    from harness.extender.subject.parse import parse  # noqa: PLC0415 - loaded only where it is used
    from harness.run.brought import entry_keys  # noqa: PLC0415

    brought = request.config.getoption("--extender") or []
    if text is None and len(brought) != 1:
        raise InputError(f"{request.node.name}: no subject is named; give one with --extender ({len(brought)} seen)")
    named = text if text is not None else brought[0]
    told = entry_keys(request.config.getoption("--sched-entry")).given() if named in brought else {}
    return parse(named, {**told, **(entry or {})})


def _several(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as they are meant: a single value where several may stand is one of them."""
    renamed = {_SINGLE.get(name, name): value for name, value in options.items()}
    return {
        name: (value,) if name in _SEVERAL and not isinstance(value, list | tuple) else value
        for name, value in renamed.items()
    }


def _properties(result: "Regression") -> list[tuple[str, object]]:
    return [
        (
            f"{one.title}, {metric.metric}",
            f"{metric.ratio} [{metric.low}, {metric.high}] n={one.pairs} mde={metric.mde}",
        )
        for one in result.comparisons
        for metric in one.metrics
    ]


def _seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--sched-seed"))


def _runs(request: pytest.FixtureRequest) -> Path:
    from harness.paths import runs_folder  # noqa: PLC0415 - loaded only where it is used

    return Path(request.config.getoption("--sched-runs") or request.config.rootpath / runs_folder())
