"""The extenders of an installed variant while runs go by: restarted for each run, tapped, and broken on purpose."""

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from harness.clock import WaitTimeoutError, wait_until
from harness.errors import HarnessError, StepError, VariantError
from harness.extender import recording
from harness.extender.cassette.command import LEFT_OUT, entry_without_secrets, without_logins
from harness.extender.entry import Entry
from harness.extender.injected import Injected, count
from harness.extender.spool import gather, note, owned
from harness.extender.subject.start import Running
from harness.extender.tap import Tap, ended_calls
from harness.progress import note as say
from harness.record.call import EXTENDERS, Extender, Notice
from harness.record.write import RecordWriter
from harness.scenario.faults import Fault

NOTICE_SECONDS = 10.0
SECRET_MISSING = f"its secret is not in the record: to repeat the run, write it where {LEFT_OUT} stands"


@dataclass
class Connected:
    """One extender: its subject, the entry it stands in as the user means it, and the tap before it."""

    name: str
    subject: str
    entry: Entry
    running: Running
    tap: Tap | None
    notices: tuple[Notice, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: bool = False
    faults: list[Fault] = field(default_factory=list)

    @property
    def seen_by_scheduler(self) -> Entry:
        """Return the entry that goes into the scheduler's configuration: the same, at the tap's address."""
        return _at_tap(self.entry, self.tap) if self.tap else self.entry

    def describe(self) -> Extender:
        """Return what the record keeps of it; nobody's key or password is part of that."""
        url = without_logins(self.entry.url_prefix)
        entry = entry_without_secrets(self.entry)
        missing = (SECRET_MISSING,) if LEFT_OUT in self.subject + url else ()
        notes = (*missing, *map(without_logins, (*self.notes, *(notice.text for notice in self.notices))))
        return Extender(self.name, self.subject, entry, url, tapped=self.tap is not None, notes=notes)


class Traffic:
    """All extenders of a variant, in the order of the configuration."""

    def __init__(self, extenders: Sequence[Connected]) -> None:
        self.extenders = tuple(extenders)
        self._used = False
        self._seed = 0
        self._spool: Path | None = None
        self._troubles: dict[str, str] = {}
        self._injected: list[Injected] = []

    def logs(self) -> dict[str, Path]:
        """Return the log files of the extenders and taps, by the name they get in a record."""
        logs = {f"extender-{one.name}": one.running.log for one in self.extenders if one.running.log}
        return logs | {f"tap-{one.name}": one.tap.child.log for one in self.extenders if one.tap}

    @contextlib.contextmanager
    def recorded(
        self, writer: RecordWriter, start: float, seed: int, facts: Mapping[str, str], told: Callable[[str], str] = str
    ) -> Iterator[list[str]]:
        """Record every call into a record while the context lasts; yields a list that fills with warnings.

        Args:
            writer: the record.
            start: the clock's time that counts as zero.
            seed: what random extenders and faults draw with.
            facts: scenario and Kubernetes version, for the cassette's header.
            told: what the record calls a pod.
        """
        warnings: list[str] = []
        self._begin(seed)
        writer.write_json(EXTENDERS, [one.describe().to_json() for one in self.extenders])
        with owned(writer.path) as self._spool:
            tapped = [(one, one.tap, self._spool / one.name) for one in self.extenders if one.tap]
            offsets = {}
            for one, tap, folder in tapped:
                folder.mkdir(mode=0o700)
                offsets[one.name] = recording.begin(tap, folder, start)
            note(writer, facts, offsets)
            try:
                yield warnings
            finally:
                warnings += [*self.troubles(), *self._silent()]
                warnings += self._unused()
                warnings += [problem for one, tap, _ in tapped for problem in recording.stop(one.name, tap)]
                warnings += gather(writer, told)

    def _begin(self, seed: int) -> None:
        """Give the run extenders that have not seen another run, and a tap without faults."""
        self._troubles.clear()
        self.clear(None)
        self._injected.clear()
        for one in self.extenders:
            one.stopped = False
            fresh = not self._used and seed == self._seed and one.running.alive
            if one.running.restartable and not fresh:
                _restart(one, seed)
        self._used, self._seed = True, seed

    @property
    def intact(self) -> bool:
        """Tell whether another run can be recorded: an extender is started again, a tap is not."""
        return all(one.tap.alive for one in self.extenders if one.tap)

    def busy(self) -> list[str]:
        """Return, in words, the calls that are going on now."""
        found = []
        for one in self.extenders:
            if one.tap and one.tap.alive:
                with contextlib.suppress(HarnessError):
                    count = one.tap.state()["open"]
                    if count:
                        found.append(f"{count} calls to extender {one.name} wait for their answer")
        return found

    def calls_seen(self, kind: str | None) -> int:
        """Return how many calls of a kind the taps have written down as ended in this run."""
        return sum(
            1
            for one in self.extenders
            if self._spool
            for path in ended_calls(self._spool / one.name)
            if kind is None or one.entry.kind_of(path) == kind
        )

    def watch(self) -> None:
        """Note once whatever ended without having been asked to; a run goes on without it and is judged."""
        for one in self.extenders:
            if not one.stopped and one.name not in self._troubles and (end := one.running.check()):
                self._troubles[one.name] = f"extender {one.name} ended during the run: {end}"
            tap = f"tap of {one.name}"
            if one.tap and not one.tap.alive and tap not in self._troubles:
                self._troubles[tap] = (
                    f"the {tap} ended during the run: calls after that were refused and are not recorded. "
                    f"{one.tap.child.describe_end()}"
                )

    def troubles(self) -> list[str]:
        """Return what ended by itself, in words."""
        self.watch()
        return list(self._troubles.values())

    def _silent(self) -> list[str]:
        """Return, in words, what runs elsewhere and is gone: perhaps no call came any more that would show it."""
        elsewhere = [one for one in self.extenders if not one.running.restartable]
        return [
            f"extender {one.name} did not answer any more when the run ended: {cause}"
            for one in elsewhere
            if (cause := one.running.unreachable())
        ]

    def inject(self, fault: Fault) -> list[str]:
        """Add a fault to the extenders it is meant for; return their names."""
        chosen = self._chosen(fault.extender)
        injected = Injected(fault, {one.name: one.entry for one in chosen})
        if injected.vain:
            say(injected.vain)
        self._injected.append(injected)
        for one in chosen:
            one.faults.append(fault)
            self._set_faults(one)
        return [one.name for one in chosen]

    def clear(self, name: str | None) -> list[str]:
        """Take every fault away; return the names of the extenders."""
        chosen = self._chosen(name)
        for one in chosen:
            if one.tap:
                count(self._injected, one.faults, one.tap)
                one.faults.clear()
                self._set_faults(one)
        return [one.name for one in chosen]

    def _unused(self) -> list[str]:
        """Return, in words, the faults of the run that broke nothing."""
        for one in self.extenders:
            if one.tap:
                count(self._injected, one.faults, one.tap)
        return [told for one in self._injected if (told := one.unused)]

    def stop(self, name: str | None, how: str) -> list[str]:
        """End the processes of extenders."""
        chosen = self._chosen(name)
        for one in chosen:
            _require_own(one, "stopExtender")
            one.stopped = True
            if how == "kill":
                one.running.kill()
            else:
                one.running.stop()
            _await_refusal(one)
        return [one.name for one in chosen]

    def start(self, name: str | None) -> list[str]:
        """Start the processes of extenders again."""
        chosen = self._chosen(name)
        for one in chosen:
            _require_own(one, "startExtender")
            _restart(one, self._seed)
            one.stopped = False
            self._troubles.pop(one.name, None)
        return [one.name for one in chosen]

    def _chosen(self, name: str | None) -> list[Connected]:
        chosen = [one for one in self.extenders if name in (None, one.name)]
        if not chosen:
            known = ", ".join(one.name for one in self.extenders)
            raise StepError(f'no extender is called "{name}"; there are: {known}')
        return chosen

    def _set_faults(self, one: Connected) -> None:
        if one.tap is None:
            raise StepError(f"extender {one.name} has no tap, and only a tap can inject faults; leave --no-tap out")
        one.tap.set_faults(
            [
                {
                    # By its id the tap knows a fault again: its counters and its window go on when others come.
                    "id": str(index),
                    **fault.to_tap(
                        self._seed + index, one.entry.verb(fault.verb).rpartition("/")[2] if fault.verb else None
                    ),
                }
                for index, fault in enumerate(one.faults)
            ]
        )


def _restart(one: Connected, seed: int) -> None:
    """Start an extender again, and wait until its tap has noticed: it refuses calls while the extender does."""
    one.running.restart(seed)
    if not any(fault.kind == "refuse" for fault in one.faults):
        _await_tap(one, listening=True)


def _await_refusal(one: Connected) -> None:
    """Wait until the tap refuses as its extender does; a connection of ours is what makes it look."""
    if one.tap is None or not one.tap.alive:
        return
    parts = urlsplit(one.tap.url)
    with contextlib.suppress(OSError), socket.create_connection((parts.hostname, parts.port), NOTICE_SECONDS):
        pass
    _await_tap(one, listening=False)


def _await_tap(one: Connected, *, listening: bool) -> None:
    tap = one.tap
    if tap is None or not tap.alive:
        return
    what = f"the tap of {one.name} {'listening again' if listening else 'refusing calls'}"
    try:
        wait_until(
            lambda: tap.state()["listening"] is listening,
            what=what,
            timeout_seconds=NOTICE_SECONDS,
            poll_seconds=0.01,
        )
    except WaitTimeoutError as error:
        raise VariantError(f"{error}; its state: {tap.state()}") from error


def _at_tap(entry: Entry, tap: Tap) -> Entry:
    path = urlsplit(entry.url_prefix).path
    # The tap vouches for itself; whether the extender's certificate is good is between the tap and the extender.
    tls = {"caFile": str(tap.authority)} if tap.authority else {}
    return replace(entry, url_prefix=tap.url + path, tls=tls)


def _require_own(one: Connected, op: str) -> None:
    if not one.running.restartable:
        raise StepError(f"{op}: extender {one.name} ({one.subject}) was not started by the harness")
