"""Puts one extender in place: its subject started, its entry known, probed as kube-scheduler would call it, tapped."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import VariantError
from harness.extender.entry import VERBS, Entry
from harness.extender.subject.parse import Subject
from harness.extender.subject.probe import guess_entry, probe
from harness.extender.subject.start import Running, started
from harness.extender.tap import Tap, Upstream, tapping
from harness.extender.traffic import Connected

PROBE_SECONDS = 5.0


@dataclass(frozen=True)
class Place:
    """Where an extender is put: a private folder, the rights it gets, what it draws with, whether it is tapped."""

    folder: Path
    kubeconfig: Path | None
    seed: int
    tap: bool


@contextlib.contextmanager
def connected(name: str, subject: Subject, place: Place) -> Iterator[Connected]:
    """Start an extender and connect it for as long as the context lasts.

    Raises:
        VariantError: nothing answers where kube-scheduler would call it; says the likely cause.
    """
    folder = place.folder / name
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    with started(subject, folder=folder, seed=place.seed, kubeconfig=place.kubeconfig) as running:
        entry, notes = entry_of(subject, running)
        probed = probe(entry, PROBE_SECONDS)
        if not probed.reachable:
            texts = "; ".join(notice.text for notice in probed.findings)
            log = f" Its log: {running.log}" if running.log else ""
            raise VariantError(f"extender {name} ({subject.text}) cannot be reached: {texts}.{log}")
        with _tapped(name, entry, folder, wanted=place.tap) as tap:
            yield Connected(name, subject.text, entry, running, tap, probed.findings, notes)


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
def _tapped(name: str, entry: Entry, folder: Path, *, wanted: bool) -> Iterator[Tap | None]:
    if not wanted:
        yield None
        return
    parts = urlsplit(entry.url_prefix)
    with tapping(name, Upstream(f"{parts.scheme}://{parts.netloc}", entry.tls), folder) as tap:
        yield tap
