"""Finds extenders that kube-scheduler never reached, and says why: not asked at all, or asked in vain."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import yaml

from harness.expect.base import at, counted, listed
from harness.expect.crosscalls import Seen
from harness.expect.finding import Finding, where
from harness.expect.log import FOLDER, lines
from harness.expect.matching import SYSTEM_NAMESPACES
from harness.record.model import PodHistory, Record

CONFIG = "scheduler-config.yaml"
_DEFAULT_SCHEDULER = "default-scheduler"
_GATED = "SchedulingGated"
# As Go writes it, and as it stands in quotes in a log.
_FAILED_POST = re.compile(r'Post \\?"(?P<url>[^"\\]+)\\?": (?P<why>(?:dial |tls: |proxyconnect )[^"\\]*)')


def uncalled(seen: Seen) -> Iterator[Finding]:
    """Yield that the extender could not be reached, or else that nobody called it although pods needed a node."""
    unreachable = _unreachable(seen)
    if unreachable:
        why = unreachable[0].partition(": ")[2]
        text = f"could not be reached ({why}); start it, or correct urlPrefix and TLS of its entry"
        yield seen.finding("extender-unreachable", text, len(unreachable), unreachable)
        return
    needing = [pod for pod in seen.record.pods if _needs_node(pod)]
    if needing and seen.extender.tapped and not seen.all_calls:
        cause, move = _why_never(seen, needing)
        text = f"was never called although {counted(len(needing), 'pod')} needed a node: {cause}; {move}"
        states = [
            f"{pod.name}: {pod.node or (pod.condition.message if pod.condition else 'pending')}" for pod in needing
        ]
        yield seen.finding("never-called", text, len(needing), states)


def _unreachable(seen: Seen) -> list[str]:
    """Return what kube-scheduler or the tap said about it, a line for each time; a tap refuses as the extender does."""
    found = [
        f"{where(call)}: the extender refused the connection" for call in seen.calls if call.ending == "unreachable"
    ]
    is_own = _own_addresses(seen)
    for pod in seen.record.pods:
        for condition in pod.conditions:
            failed = _FAILED_POST.search(condition.message)
            if failed and is_own(failed["url"]):
                found.append(f"{pod.name} at {at(condition.t)}: {failed['why']}")
    # Nobody but the log tells that an ignorable extender failed.
    if seen.entry.ignorable and not found:
        for file in sorted((seen.record.path / FOLDER).glob("*scheduler*.log")):
            for line in lines(file):
                failed = _FAILED_POST.search(line) if "xtender" in line else None
                if failed and is_own(failed["url"]):
                    found.append(f"{file.name}: {failed['why']}")
    return found


def _own_addresses(seen: Seen) -> Callable[[str], bool]:
    """Return what tells whether an address is the extender's, as the scheduler knows it: that of its tap."""
    configured = [
        str(entry.get("urlPrefix", "")).rstrip("/")
        for config in _configurations(seen.record)
        for entry in config.get("extenders") or ()
    ]
    names = [one.name for one in seen.record.extenders]
    if len(configured) == len(names):
        prefix = f"{configured[names.index(seen.name)]}/"
        return lambda url: url.startswith(prefix)
    own = f"{seen.extender.url.rstrip('/')}/"
    return lambda url: url.startswith(own) or seen.entry.kind_of(urlsplit(url).path) is not None


def _needs_node(pod: PodHistory) -> bool:
    gated = bool(pod.conditions) and all(one.reason == _GATED for one in pod.conditions)
    return pod.namespace not in SYSTEM_NAMESPACES and pod.observations[0].node is None and not gated


def _why_never(seen: Seen, needing: list[PodHistory]) -> tuple[str, str]:
    """Return the likely cause and the next move, the most certain first."""
    entry = seen.entry
    if not entry.verbs():
        return (
            "its entry has no verb",
            "set filterVerb, prioritizeVerb, preemptVerb or bindVerb to a route of its server",
        )
    profiles = _profiles(seen.record)
    ours = [pod for pod in needing if pod.scheduler in profiles]
    if not ours:
        asked = listed(sorted({pod.scheduler for pod in needing}))
        cause = (
            f"the pods ask for schedulerName {asked}, and the profiles of this scheduler are {listed(sorted(profiles))}"
        )
        return cause, "make them agree"
    managed = {str(one.get("name")) for one in entry.managed_resources}
    asking = [pod for pod in ours if not managed or managed & set(pod.requests)]
    if not asking:
        cause = f"its managedResources ({listed(sorted(managed))}) exclude every pod, as none asks for one of them"
        return cause, "request one, or leave managedResources out"
    if all(pod.condition is None and not pod.nodes for pod in asking):
        return "no scheduler has said anything about the pods", "look whether kube-scheduler runs"
    if any(pod.nodes for pod in asking) and (entry.filter_verb or entry.bind_verb):
        cause = "kube-scheduler bound pods without asking it, so its urlPrefix leads elsewhere"
        return cause, f"compare extenders[] in {CONFIG} with the extender's own address"
    if entry.filter_verb or entry.bind_verb:
        cause = "no node passed the scheduler's own filters, and an extender is asked only about nodes that do"
        return cause, f"see why with `harness why {asking[0].name}`"
    if entry.prioritize_verb:
        cause = "it only prioritizes, and no pod had two nodes to choose from, without which nothing is scored"
        return cause, "add nodes"
    return "it only preempts, and no preemption had a candidate", "let a pod of high priority find full nodes"


def _profiles(record: Record) -> set[str]:
    profiles: list[dict[str, Any]] = []
    for config in _configurations(record):
        profiles += config.get("profiles") or [{}]
    found = {str(profile.get("schedulerName") or _DEFAULT_SCHEDULER) for profile in profiles}
    return found or {_DEFAULT_SCHEDULER}


def _configurations(record: Record) -> list[dict[str, Any]]:
    """Return the scheduler's configuration; a record without one, or with a text that is none, has no say here."""
    file = record.path / CONFIG
    try:
        documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    return [one for one in documents if isinstance(one, dict)]
