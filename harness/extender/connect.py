"""Puts one extender in place: its subject started, its entry known, probed as kube-scheduler would call it, tapped."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from harness.cluster.base import RunsImages
from harness.errors import VariantError
from harness.extender.entry import VERBS, Entry
from harness.extender.subject.parse import Subject
from harness.extender.subject.probe import guess_entry, probe
from harness.extender.subject.start import Running, started
from harness.extender.tap import Tap, Upstream, tapping
from harness.extender.traffic import Connected

PROBE_SECONDS = 5.0
# What an image has to listen on unless its entry's urlPrefix names a port; it is told as PORT.
IMAGE_PORT = 8888


@dataclass(frozen=True)
class Place:
    """Where an extender is put: a private folder, the rights it gets, what it draws with, whether it is tapped.

    `address` is this machine as the scheduler can reach it: what a tap listens at. `images` runs extenders that are
    images, where the cluster can.
    """

    folder: Path
    kubeconfig: Path | None
    seed: int
    tap: bool
    address: str = "127.0.0.1"
    images: RunsImages | None = None


@contextlib.contextmanager
def connected(name: str, subject: Subject, place: Place) -> Iterator[Connected]:
    """Start an extender and connect it for as long as the context lasts.

    Raises:
        VariantError: nothing answers where kube-scheduler would call it; says the likely cause.
    """
    folder = place.folder / name
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    with _running(name, subject, folder, place) as running:
        entry, notes = entry_of(subject, running)
        probed = probe(entry, PROBE_SECONDS)
        if not probed.reachable:
            texts = "; ".join(notice.text for notice in probed.findings)
            log = f" Its log: {running.log}" if running.log else ""
            raise VariantError(f"extender {name} ({subject.text}) cannot be reached: {texts}.{log}")
        with _tapped(name, entry, folder, place) as tap:
            _check_reach(name, urlsplit(tap.url if tap else entry.url_prefix), place)
            yield Connected(name, subject.text, entry, running, tap, probed.findings, notes)


@contextlib.contextmanager
def _running(name: str, subject: Subject, folder: Path, place: Place) -> Iterator[Running]:
    if subject.kind != "image" or place.images is None:
        with started(subject, folder=folder, seed=place.seed, kubeconfig=place.kubeconfig) as running:
            yield running
        return
    parts = urlsplit(str((subject.entry or {}).get("urlPrefix", "")))
    port = parts.port or IMAGE_PORT
    with place.images.serving(subject.target, name, port, subject.env) as url:
        yield Running(subject, url + parts.path.rstrip("/"))


def _check_reach(name: str, url: SplitResult, place: Place) -> None:
    """Raise when a scheduler that runs elsewhere could not call the extender."""
    if place.images is None:
        return
    host, port = str(url.hostname), url.port or (443 if url.scheme == "https" else 80)
    if (host == "localhost" or host.startswith("127.")) and place.address != host:
        why = "that is loopback, and the scheduler has one of its own; leave --no-tap out, the tap is reached"
    else:
        why = place.images.cannot_call(host, port) or ""
    if why:
        raise VariantError(f"extender {name}: the scheduler's node cannot connect to {host}:{port}: {why}")


def entry_of(subject: Subject, running: Running) -> tuple[Entry, tuple[str, ...]]:
    """Return what is known about an extender; what nobody said is found out by asking it."""
    known: Mapping[str, Any] = subject.entry or {}
    address = _joined(running.url, str(known.get("urlPrefix", "")))
    if any(f"{kind}Verb" in known for kind in VERBS):
        return Entry.from_json({**known, "urlPrefix": address}), ()
    guessed, _ = guess_entry(address, known)
    found = ", ".join(f"{key} {json.dumps(value)}" for key, value in guessed.to_json().items() if key != "urlPrefix")
    said = "(bind and preempt are never tried); --entry KEY=VALUE says otherwise"
    note = f"found out by asking it: {found or 'no verb that it answers'} {said}"
    return Entry.from_json({**guessed.to_json(), **known, "urlPrefix": address}), (note,)


def _joined(url: str, prefix: str) -> str:
    """Return where an extender listens, below the path that its configuration names."""
    path = urlsplit(prefix).path if prefix else urlsplit(url).path
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{path}"


@contextlib.contextmanager
def _tapped(name: str, entry: Entry, folder: Path, place: Place) -> Iterator[Tap | None]:
    if not place.tap:
        yield None
        return
    parts = urlsplit(entry.url_prefix)
    with tapping(name, Upstream(f"{parts.scheme}://{parts.netloc}", entry.tls), folder, place.address) as tap:
        yield tap
