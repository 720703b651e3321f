"""kube-scheduler with extenders: each one started, tapped and proven to stand in the live configuration."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cluster.base import Cluster, RunsSchedulers, Scheduler
from harness.errors import ClusterError, InputError, VariantError
from harness.extender.connect import Place, connected
from harness.extender.subject.parse import Subject, parse
from harness.extender.traffic import Connected, Traffic
from harness.scenario.extenders import EntryKeys, ExtenderSpec, names_of
from harness.variant.base import NOTHING_BROUGHT, Installed, SchedulerConfig, Setup
from harness.variant.config import prove_live, render, scheduler_names
from harness.variant.legacy import translate

FALLBACK = ExtenderSpec(subject="ref:pass-through")
"""What stands behind the scheduler when nobody brought an extender: it changes nothing."""


class ExtenderVariant:
    """A stock kube-scheduler that asks extenders over HTTP."""

    name = "extender"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Run the extenders, their taps and the scheduler that calls them."""
        if not isinstance(cluster, RunsSchedulers):
            raise VariantError(f'cluster "{cluster.name}" cannot run a scheduler process; variant "extender" needs one')
        settings, notes = _settings(setup.scheduler_config)
        chosen = _subjects(setup.extenders, settings.pop("extenders", None) or [])
        place = Place(cluster.folder / "extenders", cluster.scheduler_kubeconfig, setup.seed, setup.tap)
        with contextlib.ExitStack() as stack:
            extenders = [stack.enter_context(connected(name, subject, place)) for name, subject in chosen]
            entries = [one.seen_by_scheduler.to_json() for one in extenders]
            config = render(cluster.scheduler_kubeconfig, entries, settings)
            scheduler = stack.enter_context(_scheduler(cluster, config))
            prove_live(scheduler, config)
            schedulers = dict.fromkeys(scheduler_names(config), scheduler)
            said = (*notes, *(text for one in extenders for text in _told(one)))
            yield Installed(self.name, schedulers, config, Traffic(extenders), said)


@contextlib.contextmanager
def _scheduler(cluster: RunsSchedulers, config: str) -> Iterator[Scheduler]:
    """Run kube-scheduler; one that does not start says itself what is wrong with its configuration."""
    with contextlib.ExitStack() as stack:
        try:
            scheduler = stack.enter_context(cluster.scheduler(config, "kube-scheduler"))
        except ClusterError as error:
            raise VariantError(f"kube-scheduler does not start with this configuration:\n{config}\n{error}") from error
        yield scheduler


def _settings(brought: SchedulerConfig | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the configuration that the user brought, as v1, and what was done to it."""
    if brought is None:
        return {}, ()
    folder = Path(brought.where).parent

    def beside(name: str) -> str | None:
        # A lab's file names a path of the control plane's node; the file itself lies beside this one.
        for path in (folder / name, folder / Path(name).name):
            if path.is_file():
                return path.read_text(encoding="utf-8")
        return None

    translated = translate(brought.text, brought.where, beside)
    if not translated.changes:
        return dict(translated.config), translated.warnings
    count = len(translated.changes)
    told = f'{brought.where}: translated to v1 with {count} changes; "harness translate {brought.where}" shows them'
    lost = [f"{brought.where}:{one.line}: {one.text}" for one in translated.changes if one.kind == "unsupported"]
    return dict(translated.config), (told, *lost, *translated.warnings)


def _subjects(brought: Sequence[ExtenderSpec], entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, Subject]]:
    """Return the subjects in the order of the configuration.

    The n-th extender that was brought stands in the n-th entry of the configuration; an entry that nobody brought an
    extender for is about one that runs already, at the address it names.
    """
    specs = list(brought) or ([] if entries else [FALLBACK])
    for index, entry in enumerate(entries):
        if index >= len(specs):
            address = str(entry.get("urlPrefix", ""))
            if not address:
                raise InputError(f"extenders[{index}].urlPrefix: empty; kube-scheduler could call nobody")
            specs.append(ExtenderSpec(subject=address, entry=EntryKeys()))
    subjects = []
    for index, spec in enumerate(specs):
        written = dict(entries[index]) if index < len(entries) else {}
        subjects.append(parse(spec.subject, {**written, **spec.entry.given()}))
    return list(zip(names_of(specs), subjects, strict=True))


def _told(extender: Connected) -> Iterator[str]:
    yield from (f"extender {extender.name}: {note}" for note in extender.notes)
    yield from (f"extender {extender.name}: {notice.text}" for notice in extender.notices)
