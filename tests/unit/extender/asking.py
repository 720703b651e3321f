"""Asks an extender as kube-scheduler does, at the address that its configuration names."""

import json
from typing import Any

from harness.extender.entry import Entry
from harness.extender.requests import encoded, extender_args, nodes, pod
from harness.extender.subject.post import Reply, post
from harness.extender.traffic import Connected
from tests.processes import PATIENCE_SECONDS

NODES_COUNT = 8


def ask(one: Connected | Entry, kind: str = "filter", name: str = "a", timeout_seconds: float | None = None) -> Reply:
    """Send one call about a pod and eight nodes."""
    entry = one if isinstance(one, Entry) else one.seen_by_scheduler
    body = encoded(extender_args(pod(name), nodes(NODES_COUNT), entry.node_cache_capable))
    return post(entry.url(kind), body, entry, timeout_seconds=timeout_seconds or PATIENCE_SECONDS)


def answer(one: Connected | Entry, kind: str = "filter", name: str = "a") -> Any:
    """Return what a call was answered with; it must be a good answer."""
    reply = ask(one, kind, name)
    assert reply.status == 200, reply
    return json.loads(reply.body)
