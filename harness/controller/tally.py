"""Counts what the controller did, and shows it as kube-scheduler shows its own counts."""

import resource
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"
RESULTS = (ERROR, SCHEDULED, UNSCHEDULABLE)

POD_DELETED = "pod_deleted"
POD_REPLACED = "pod_replaced"
BOUND_ELSEWHERE = "bound_elsewhere"
NODE_GONE = "node_gone"
NODE_GONE_AFTER = "node_gone_after"
POD_CHANGED = "pod_changed"
WATCH_LOST = "watch_lost"
RACES = (BOUND_ELSEWHERE, NODE_GONE, NODE_GONE_AFTER, POD_CHANGED, POD_DELETED, POD_REPLACED, WATCH_LOST)

_MEMORY = Path("/proc/self/statm")


class Tally:
    """The counters; safe to share between threads."""

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._lock = threading.Lock()
        self._attempts: Counter[str] = Counter()
        self._races: Counter[str] = Counter()

    def attempt(self, result: str) -> None:
        """Count an attempt by its result."""
        with self._lock:
            self._attempts[result] += 1

    def race(self, kind: str) -> None:
        """Count a race."""
        with self._lock:
            self._races[kind] += 1

    def page(self, depths: Mapping[str, int]) -> str:
        """Return the metrics page."""
        with self._lock:
            attempts, races = dict(self._attempts), dict(self._races)
        profile = self._profile.replace("\\", "\\\\").replace('"', '\\"')
        return "".join(
            [
                *_metric(
                    "scheduler_pending_pods",
                    "gauge",
                    "Number of pending pods, by the queue type.",
                    {f'queue="{name}"': value for name, value in sorted(depths.items())},
                ),
                *_metric(
                    "scheduler_schedule_attempts_total",
                    "counter",
                    "Number of attempts to schedule pods, by the result.",
                    {f'profile="{profile}",result="{name}"': attempts.get(name, 0) for name in RESULTS},
                ),
                *_metric(
                    "controller_races_total",
                    "counter",
                    "Number of times that something happened between a decision and its effect, by what it was.",
                    {f'race="{name}"': races.get(name, 0) for name in RACES},
                ),
                *_process(),
            ]
        )


def _metric(name: str, kind: str, about: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP {name} {about}\n# TYPE {name} {kind}\n"
    for labels, value in values.items():
        yield f"{name}{{{labels}}} {value}\n" if labels else f"{name} {value}\n"


def _process() -> Iterator[str]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = round(used.ru_utime + used.ru_stime, 6)
    yield from _metric("process_cpu_seconds_total", "counter", "User and system CPU time spent.", {"": cpu})
    try:
        resident = int(_MEMORY.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return  # Only Linux tells.
    yield from _metric("process_resident_memory_bytes", "gauge", "Resident memory size.", {"": resident})
