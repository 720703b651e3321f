"""Reads the few numbers that a run needs from a scheduler's metrics; the whole page goes into the record."""

import re
from dataclasses import dataclass

_PENDING = re.compile(r'^scheduler_pending_pods\{queue="(\w+)"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True)
class QueueDepth:
    """How many pods a scheduler keeps in each of its queues."""

    active: int
    backoff: int
    unschedulable: int
    gated: int


def queue_depth(page: str) -> QueueDepth:
    """Return the depths that a metrics page tells; a queue it does not mention is empty."""
    depths = {queue: int(float(value)) for queue, value in _PENDING.findall(page)}
    return QueueDepth(**{name: depths.get(name, 0) for name in QueueDepth.__dataclass_fields__})
