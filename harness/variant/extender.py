"""kube-scheduler with extenders: each one started, tapped and proven to stand in the live configuration."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cluster.base import Cluster, RunsImages
from harness.errors import InputError
from harness.extender.connect import Place, connected
from harness.extender.subject.parse import Subject, parse
from harness.extender.traffic import Connected, Traffic
from harness.files import read_text
from harness.scenario.extenders import EntryKeys, ExtenderSpec, names_of
from harness.variant.base import NOTHING_BROUGHT, Installed, SchedulerConfig, Setup
from harness.variant.config import proven, render, runs_schedulers, scheduler_names
from harness.variant.entries import check_connected, check_known
from harness.variant.legacy import translate

FALLBACK = ExtenderSpec(subject="ref:pass-through")
"""What stands behind the scheduler when nobody brought an extender: it changes nothing."""


LOOPBACK = "127.0.0.1"
_OFF = {"filterVerb": "", "prioritizeVerb": "", "preemptVerb": "", "bindVerb": "", "nodeCacheCapable": False}


class ExtenderVariant:
    """A stock kube-scheduler that asks extenders over HTTP."""

    name = "extender"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Run the extenders, their taps and the scheduler that calls them."""
        runner = runs_schedulers(cluster, self.name)
        settings, notes = settings_of(setup.scheduler_config)
        entries = settings.pop("extenders", None) or []
        brought = brought_of(setup, entries)
        with contextlib.ExitStack() as stack:
            identity = runner.scheduler_kubeconfig
            extenders = stack.enter_context(connected_all(cluster, identity, setup, brought, entries))
            config = render(identity, seen_by_scheduler(extenders), settings)
            scheduler = stack.enter_context(proven(runner, config, "kube-scheduler"))
            schedulers = dict.fromkeys(scheduler_names(config), scheduler)
            yield Installed(self.name, schedulers, scheduler.config, Traffic(extenders), (*notes, *told(extenders)))


def brought_of(setup: Setup, entries: Sequence[Mapping[str, Any]]) -> tuple[ExtenderSpec, ...]:
    """Return the extenders that were brought; the one that changes nothing where nobody speaks of any."""
    return setup.extenders or (() if entries else (FALLBACK,))


@contextlib.contextmanager
def connected_all(
    cluster: Cluster,
    kubeconfig: Path,
    setup: Setup,
    brought: Sequence[ExtenderSpec],
    entries: Sequence[Mapping[str, Any]],
) -> Iterator[list[Connected]]:
    """Start and tap every extender that was brought or that a configuration names, in the order of its entries."""
    images = cluster if isinstance(cluster, RunsImages) else None
    address = cluster.address if setup.tap else LOOPBACK
    place = Place(cluster.folder / "extenders", kubeconfig, setup.seed, setup.tap, address, images)
    with contextlib.ExitStack() as stack:
        subjects = subjects_of(brought, entries)
        check_known(subjects)
        extenders = [stack.enter_context(connected(name, subject, place)) for name, subject in subjects]
        check_connected(extenders)
        yield extenders


def seen_by_scheduler(extenders: Sequence[Connected]) -> list[dict[str, Any]]:
    """Return the entries as a scheduler's configuration spells them."""
    return [one.seen_by_scheduler.to_json() for one in extenders]


def told(extenders: Sequence[Connected]) -> Iterator[str]:
    """Yield what the user should know about extenders before the first pod comes."""
    for one in extenders:
        yield from (f"extender {one.name}: {note}" for note in one.notes)
        yield from (f"extender {one.name}: {notice.text}" for notice in one.notices)


def settings_of(brought: SchedulerConfig | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration that the user brought, as v1, and what was done to it."""
    if brought is None:
        return {}, ()
    folder = Path(brought.where).parent

    def beside(name: str) -> str | None:
        # A lab's file names a path of the control plane's node; the file itself lies beside this one.
        for path in (folder / name, folder / Path(name).name):
            if path.is_file():
                return read_text(path)
        return None

    translated = translate(brought.text, brought.where, beside)
    if not translated.changes:
        return dict(translated.config), translated.warnings
    count = len(translated.changes)
    told = f'{brought.where}: translated to v1 with {count} changes; "harness translate {brought.where}" shows them'
    lost = [f"{brought.where}:{one.line}: {one.text}" for one in translated.changes if one.kind == "unsupported"]
    return dict(translated.config), (told, *lost, *translated.warnings)


def subjects_of(brought: Sequence[ExtenderSpec], entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, Subject]]:
    """Return the subjects in the order of the configuration.

    The n-th extender that was brought stands in the n-th entry of the configuration; an entry that nobody brought an
    extender for is about one that runs already, at the address it names.
    """
    specs = list(brought)
    for index, entry in enumerate(entries):
        if index >= len(specs):
            address = str(entry.get("urlPrefix", ""))
            if not address:
                raise InputError(f"extenders[{index}].urlPrefix: empty; kube-scheduler could call nobody")
            specs.append(ExtenderSpec(subject=address, entry=EntryKeys()))
    subjects = []
    for index, spec in enumerate(specs):
        # An entry of a configuration is whole: what it leaves out is off, whatever the subject says of itself.
        written = {**_OFF, **entries[index]} if index < len(entries) else {}
        subjects.append(parse(spec.subject, {**written, **spec.entry.given()}))
    return list(zip(names_of(specs), subjects, strict=True))
