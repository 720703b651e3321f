"""Tells which bound pods do not run because an image did not come: once for all pods that miss the same one."""

import re
from collections.abc import Iterable, Sequence

from harness.expect.base import at, counted, listed
from harness.record.model import PodHistory, Record
from harness.record.pulling import PullTrouble, more_telling, trouble

_NAMES_MAX = 3
_PULLING = re.compile(r'Pulling image "(?P<image>[^"]+)"')


def missing_image(record: Record, pod: PodHistory) -> PullTrouble | None:
    """Return the image that a pod waited for at the end, with the best that was ever said about why."""
    if not starts(pod):
        return None
    found = None
    for event in record.events_by_uid.get(pod.uid, ()):
        # What came in the end is no longer missing.
        found = None if event.reason == "Pulled" else more_telling(found, trouble(event.message))
    waits = [seen.waits for seen in pod.observations]
    if waits[-1] is None:
        return found
    if trouble(waits[-1]) is None:
        return None
    for text in waits:
        found = more_telling(found, trouble(text)) if text else found
    return found


def starts(pod: PodHistory) -> bool:
    """Tell whether a pod has a node and does not run on it yet."""
    return bool(pod.nodes) and pod.phase == "Pending" and pod.exists and not pod.terminating


def images(record: Record, pods: Iterable[PodHistory]) -> tuple[str, ...]:
    """Return one sentence per image that pods wait for, and one per image that was still on its way."""
    troubles: dict[PullTrouble, list[PodHistory]] = {}
    coming: dict[str, list[PodHistory]] = {}
    since: dict[str, float] = {}
    for pod in pods:
        if found := missing_image(record, pod):
            troubles.setdefault(found, []).append(pod)
        elif pulled := _pulled_since(record, pod):
            image, t = pulled
            coming.setdefault(image, []).append(pod)
            since[image] = min(t, since.get(image, t))
    lines = []
    for found, group in troubles.items():
        lines.append(f"{_waiting(group)} for {found.sentence(record.meta.cluster)}")
    for image, group in coming.items():
        lines.append(f"{_waiting(group)} while image {image} is pulled, since {at(since[image])}")
    return tuple(lines)


def _pulled_since(record: Record, pod: PodHistory) -> tuple[str, float] | None:
    """Return the image that is still being pulled for a pod, and since when."""
    if not starts(pod):
        return None
    last = None
    for event in record.events_by_uid.get(pod.uid, ()):
        if event.reason == "Pulling" and (found := _PULLING.search(event.message)):
            last = found["image"], event.t
        elif event.reason in {"Pulled", "Failed"}:
            last = None
    return last


def _waiting(pods: Sequence[PodHistory]) -> str:
    names = listed((pod.name for pod in pods), _NAMES_MAX)
    return f"{counted(len(pods), 'pod')} ({names}) {'waits' if len(pods) == 1 else 'wait'}"
