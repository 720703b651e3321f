"""The life of every pod of a run as times: created, refused, tried again, bound, running. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.expect.evidence import latest_events
from harness.record.model import PodHistory, Record

REFUSED = "FailedScheduling"


@dataclass(frozen=True)
class Life:
    """One pod; times are seconds since the run's start.

    Args:
        refused_t: when a scheduler was seen to find no node: by its events, or by the pod's condition if it sent none.
        tried_t: when each attempt began, as far as a tap saw it.
        attempts: how many attempts were seen; there may have been more, since schedulers leave out events.
    """

    pod: PodHistory
    refused_t: tuple[float, ...]
    tried_t: tuple[float, ...]
    attempts: int

    @property
    def wait_seconds(self) -> float | None:
        """How long the pod waited for its binding, None if it has none."""
        return None if self.pod.bound_t is None else self.pod.bound_t - self.pod.created_t

    @property
    def start_seconds(self) -> float | None:
        """How long it took from the binding until the pod ran, None if it never did."""
        bound, running = self.pod.bound_t, self.pod.running_t
        return None if bound is None or running is None else running - bound

    @property
    def retries(self) -> int:
        """How many attempts were seen after the first."""
        return max(0, self.attempts - 1)

    @property
    def moments_t(self) -> tuple[float, ...]:
        """Every moment that a picture shows."""
        known = (self.pod.bound_t, self.pod.running_t)
        return (*self.refused_t, *self.tried_t, *(t for t in known if t is not None))


def lives(record: Record) -> tuple[Life, ...]:
    """Return the lives of all pods, in the order of their creation."""
    return tuple(sorted((_life(record, pod) for pod in record.pods), key=lambda one: one.pod.created_t))


def _life(record: Record, pod: PodHistory) -> Life:
    events = [event for event in record.events_by_uid.get(pod.uid, ()) if event.reason == REFUSED]
    calls = record.calls_by_uid.get(pod.uid, ())
    tried: dict[int, float] = {}
    for call in calls:
        if call.attempt:
            tried.setdefault(call.attempt, call.t)
    conditions = [one.t for one in pod.conditions if one.status == "False"]
    refusals = sum(event.count for event in latest_events(events)) or len(conditions)
    given = bool(pod.observations) and pod.observations[0].node is not None
    succeeded = int(pod.bound_t is not None and not given)
    return Life(
        pod=pod,
        refused_t=_distinct([event.t for event in events] or conditions),
        tried_t=_distinct(tried.values()),
        attempts=max(refusals + succeeded, *tried, 0) if tried else refusals + succeeded,
    )


def _distinct(times: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted(set(times)))
