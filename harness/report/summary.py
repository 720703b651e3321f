"""The facts of one run that every way of showing it starts from."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.expect.base import Verdict
from harness.expect.finding import Finding
from harness.expect.findings import findings
from harness.record.model import Record
from harness.report.calls import attempts, call_rows, share_of_attempts
from harness.report.likeness import identity

_MS = 1000


@dataclass(frozen=True)
class RunSummary:
    """One judged run; `side` is its side in a comparison, empty where nobody told sides apart."""

    record: Record
    verdicts: tuple[Verdict, ...]
    side: str = ""

    @property
    def ok(self) -> bool:
        """Return whether nothing that was expected is contradicted."""
        return all(verdict.ok for verdict in self.verdicts)

    @property
    def title(self) -> str:
        """Return the run's name for people."""
        meta = self.record.meta
        return f"{meta.scenario}[{meta.size}] {meta.variant}"

    @cached_property
    def identity(self) -> str:
        """What it has in common with its repeats."""
        return identity(self.record)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the extenders, the worst first; what the scenario broke itself is not."""
        return findings(self.record)

    @cached_property
    def attempts(self) -> int | None:
        """How often schedulers tried to find a node, as they count it themselves; None if they did not tell."""
        return attempts(self.record)

    @property
    def pods_per_second(self) -> float | None:
        """How many pods were bound per second, from the first creation to the last binding."""
        bound = [pod for pod in self.record.pods if pod.bound_t is not None]
        if not bound:
            return None
        seconds = max(pod.bound_t or 0.0 for pod in bound) - min(pod.created_t for pod in bound)
        return len(bound) / seconds if seconds > 0 else None

    @cached_property
    def waits_ms(self) -> tuple[float, ...]:
        """Milliseconds that each pod that was bound had waited for it, as watched, the shortest first."""
        bound = (pod for pod in self.record.pods if pod.bound_t is not None)
        return tuple(sorted(_MS * ((pod.bound_t or 0.0) - pod.created_t) for pod in bound))

    @property
    def cpu_ms_per_pod(self) -> float | None:
        """The CPU time of schedulers, extenders and taps for each bound pod; None if it was not measured."""
        used = self.record.meta.cpu_seconds
        return _MS * sum(used.values()) / len(self.waits_ms) if used and self.waits_ms else None

    def counts(self) -> dict[str, int]:
        """Return how many pods ended how; pods that were deleted during the run do not count.

        Pods that were bound and did not run yet are in the total only: the API calls them Pending, we do not.
        """
        present = [pod for pod in self.record.pods if pod.exists]
        phases = Counter(pod.phase.lower() for pod in present if pod.pending or pod.phase != "Pending")
        return {**{name: phases[name] for name in ("running", "pending", "succeeded", "failed")}, "total": len(present)}

    def placements(self) -> dict[str, str]:
        """Return the node of every pod that has one, by pod; other namespaces than `default` stand before the name."""
        return {
            pod.name if pod.namespace == "default" else pod.full_name: pod.node
            for pod in self.record.pods
            if pod.exists and pod.node
        }

    def per_node(self) -> dict[str, int]:
        """Return how many pods each node holds, also those that hold none."""
        counts = Counter(pod.node for pod in self.record.pods if pod.exists and pod.node)
        return {node.name: counts[node.name] for node in self.record.nodes if node.exists}

    def to_json(self) -> dict[str, Any]:
        """Return the run as a program reads it."""
        meta = self.record.meta
        return {
            "scenario": meta.scenario,
            "size": meta.size,
            "variant": meta.variant,
            "cluster": meta.cluster,
            "seed": meta.seed,
            "ok": self.ok,
            "settled": meta.settled,
            "ready_seconds": meta.ready_seconds,
            "duration_seconds": meta.duration_seconds,
            "pods": self.counts(),
            "placements": self.placements(),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "warnings": [*meta.warnings, *self.record.warnings],
            "findings": [finding.to_json() for finding in self.findings],
            "calls": [row.to_json() for row in call_rows(self.record)],
            "share_of_attempts": share_of_attempts(self.record),
            "attempts": self.attempts,
            "pods_per_second": self.pods_per_second,
            "cpu_seconds": dict(meta.cpu_seconds),
            "versions": dict(meta.versions),
            "record": str(self.record.path),
        }
