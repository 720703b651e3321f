"""Puts the runs of one scenario on the clusters of several providers side by side, expectation by expectation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.expect.base import Verdict
from harness.report.summary import RunSummary
from harness.scenario.clusters import BUILT_IN

NODES_SHOWN_MAX = 12
FINISHED = "finished"

Key = tuple[str, str, str]
"""Scenario, size and variant."""


@dataclass(frozen=True)
class Disagreement:
    """One expectation or invariant that was judged differently; by provider, None where it was not judged at all."""

    index: int | None
    kind: str
    verdicts: Mapping[str, Verdict | None]

    @property
    def title(self) -> str:
        """Return what it is about: its place among the expectations, and its kind."""
        return f"invariant {self.kind}" if self.index is None else f"expectation {self.index + 1} ({self.kind})"

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        verdicts = {provider: one.to_json() if one else None for provider, one in self.verdicts.items()}
        return {"index": self.index, "kind": self.kind, "verdicts": verdicts}


@dataclass(frozen=True)
class Row:
    """One scenario, size and variant; `absent` says why a provider has no run, `failed` why it could not be made."""

    scenario: str
    size: str
    variant: str
    runs: Mapping[str, RunSummary] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.scenario}[{self.size}] {self.variant}"

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """What was judged differently, in the order of the scenario."""
        judged = {provider: {(one.index, one.kind): one for one in run.verdicts} for provider, run in self.runs.items()}
        keys = dict.fromkeys(key for verdicts in judged.values() for key in verdicts)
        found = []
        for index, kind in keys:
            verdicts = {provider: each.get((index, kind)) for provider, each in judged.items()}
            if len({one.status if one else None for one in verdicts.values()}) > 1:
                found.append(Disagreement(index, kind, verdicts))
        return tuple(found)

    @property
    def same(self) -> bool | None:
        """Whether every verdict is the same; None where fewer than two runs can be compared."""
        return not self.disagreements if len(self.runs) > 1 else None

    @property
    def differs(self) -> dict[str, str]:
        """Return what the scenario declares to differ, by provider."""
        declared = {provider: run.record.scenario.on.get(provider) for provider, run in self.runs.items()}
        return {provider: one.because for provider, one in declared.items() if one}

    def to_json(self) -> dict[str, Any]:
        """Return the row as a program reads it."""
        return {
            "scenario": self.scenario,
            "size": self.size,
            "variant": self.variant,
            "same": self.same,
            "differs": self.differs,
            "runs": {provider: _run_json(run) for provider, run in self.runs.items()},
            "absent": dict(self.absent),
            "failed": dict(self.failed),
            "disagreements": [one.to_json() for one in self.disagreements],
        }


@dataclass(frozen=True)
class Parity:
    """All rows, and the providers in the order in which they are shown."""

    clusters: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def same(self) -> bool:
        """Whether every run could be made, and every one that can be compared gave the same verdicts."""
        return not any(row.disagreements or row.failed for row in self.rows)

    @property
    def compared(self) -> int:
        """How many rows could be compared."""
        return sum(row.same is not None for row in self.rows)

    def versions(self) -> dict[str, str]:
        """Return the version of Kubernetes that each provider ran; all of them if there were several."""
        found: dict[str, dict[str, None]] = {name: {} for name in self.clusters}
        for row in self.rows:
            for provider, run in row.runs.items():
                found[provider][str(run.record.meta.versions.get("kubernetes", "unknown"))] = None
        return {provider: ", ".join(versions) for provider, versions in found.items() if versions}

    def to_json(self) -> dict[str, Any]:
        """Return everything as a program reads it."""
        return {
            "same": self.same,
            "clusters": list(self.clusters),
            "versions": self.versions(),
            "rows": [row.to_json() for row in self.rows],
        }


def parity(
    runs: Iterable[RunSummary],
    clusters: Sequence[str] = (),
    *,
    absent: Mapping[tuple[Key, str], str] | None = None,
    failed: Mapping[tuple[Key, str], str] | None = None,
) -> Parity:
    """Put runs side by side; of several runs of the same thing the newest counts, and one that failed is not compared.

    Args:
        runs: Judged runs of any scenarios, variants and providers.
        clusters: The providers to show, in order; those of the runs unless told.
        absent: Why there is no run, by what it would be of and by provider.
        failed: Why there could be none.
    """
    newest: dict[tuple[Key, str], RunSummary] = {}
    for run in sorted(runs, key=lambda run: run.record.meta.started_at):
        meta = run.record.meta
        newest[(meta.scenario, meta.size, meta.variant), meta.cluster] = run
    shown = tuple(clusters) or _ordered({provider for _, provider in newest})
    whole = {place: run for place, run in newest.items() if run.record.meta.status == FINISHED}
    cut = {place: _cut(run) for place, run in newest.items() if place not in whole}
    absent, failed = absent or {}, cut | dict(failed or {})
    keys = dict.fromkeys(sorted(key for key, _ in (*whole, *absent, *failed)))

    def of(key: Key, texts: Mapping[tuple[Key, str], Any]) -> dict[str, Any]:
        return {provider: texts[key, provider] for provider in shown if (key, provider) in texts}

    return Parity(shown, tuple(Row(*key, of(key, whole), of(key, absent), of(key, failed)) for key in keys))


def _ordered(providers: Iterable[str]) -> tuple[str, ...]:
    """Return providers as scenarios list them, those of strangers last."""
    return tuple(
        sorted(providers, key=lambda name: (BUILT_IN.index(name) if name in BUILT_IN else len(BUILT_IN), name))
    )


def _cut(run: RunSummary) -> str:
    meta = run.record.meta
    return f"{meta.error or 'the run never finished'} (record: {run.record.path})"


def running_seconds(run: RunSummary) -> float | None:
    """Return how long it took from the first pod's creation until the last that ever ran was running."""
    started = [pod for pod in run.record.pods if pod.running_t is not None]
    if not started:
        return None
    return max(pod.running_t or 0.0 for pod in started) - min(pod.created_t for pod in started)


def pods_per_node(run: RunSummary) -> str:
    """Return how many pods the nodes hold, the fullest first, and how many pods wait: `7 7 6, 1 pending`."""
    counts = sorted(run.per_node().values(), reverse=True)
    if len(counts) > NODES_SHOWN_MAX:
        shown = f"{counts[0]} to {counts[-1]} on {len(counts)} nodes"
    else:
        shown = " ".join(map(str, counts))
    pending = run.counts()["pending"]
    return f"{shown or 'no nodes'}{f', {pending} pending' if pending else ''}"


def _run_json(run: RunSummary) -> dict[str, Any]:
    meta = run.record.meta
    return {
        "ok": run.ok,
        "seed": meta.seed,
        "pods": run.counts(),
        "per_node": run.per_node(),
        "running_seconds": running_seconds(run),
        "kubernetes": meta.versions.get("kubernetes"),
        "warnings": [*meta.warnings, *run.record.warnings],
        "record": str(run.record.path),
    }
