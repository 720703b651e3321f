"""Reads the few numbers that a run needs from a scheduler's metrics; the whole page goes into the record."""

import re
from dataclasses import dataclass

_PENDING = re.compile(r'^scheduler_pending_pods\{queue="(\w+)"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True)
class QueueDepth:
    """How many pods a scheduler keeps in each of its queues; `told` is whether its page mentions any."""

    active: int
    backoff: int
    unschedulable: int
    gated: int
    told: bool = True

    @property
    def total(self) -> int:
        """Return how many it keeps in all."""
        return self.active + self.backoff + self.unschedulable + self.gated


def queue_depth(page: str) -> QueueDepth:
    """Return the depths that a metrics page tells; a queue it does not mention is empty."""
    depths = {queue: int(float(value)) for queue, value in _PENDING.findall(page)}
    return QueueDepth(
        depths.get("active", 0),
        depths.get("backoff", 0),
        depths.get("unschedulable", 0),
        depths.get("gated", 0),
        told=bool(depths),
    )
