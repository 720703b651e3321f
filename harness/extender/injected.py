"""Whether faults broke anything: one that spoilt no call proves nothing, and its run would pass without a word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.extender.entry import Entry
from harness.extender.tap import Tap
from harness.scenario.faults import Fault


@dataclass
class Injected:
    """A fault of a run, the entries of the extenders it is meant for, and the calls that it spoilt, None if unknown."""

    fault: Fault
    entries: Mapping[str, Entry]
    spoilt: int | None = 0

    @property
    def vain(self) -> str | None:
        """Say that no call can ever come that it would spoil."""
        verb = self.fault.verb
        if verb is None or any(entry.verb(verb) for entry in self.entries.values()):
            return None
        names = ", ".join(self.entries)
        return f"fault {self.fault.spelled()} can spoil no call: the entry of {names} has no {verb}Verb"

    @property
    def unused(self) -> str | None:
        """Say that it did nothing; a closed port is seen by nobody who would count."""
        if self.spoilt != 0 or self.fault.kind == "refuse":
            return None
        return self.vain or f"fault {self.fault.spelled()} spoilt no call"


def count(injected: Iterable[Injected], faults: Sequence[Fault], tap: Tap) -> None:
    """Add what a tap has spoilt so far with the faults that it was given, in their order."""
    try:
        spoilt = tap.state()["spoilt"] if tap.alive else [None] * len(faults)
    except HarnessError:
        spoilt = [None] * len(faults)
    for fault, used in zip(faults, spoilt, strict=True):
        for one in injected:
            if one.fault is fault:
                one.spoilt = None if used is None or one.spoilt is None else one.spoilt + used
