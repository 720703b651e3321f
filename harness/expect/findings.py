"""Gathers what is wrong with the extenders of a run, from single replies and from what calls show together."""

from collections.abc import Iterator, Sequence

from harness.expect.base import Verdict, limited, listed, status_of
from harness.expect.calls import untapped
from harness.expect.crosscalls import Seen, crosscalls
from harness.expect.finding import SEVERITIES, Finding, of_notices, order
from harness.expect.uncalled import uncalled
from harness.extender.entry import Entry
from harness.record.call import Extender
from harness.record.model import Record
from harness.scenario.expectations_extender import Findings
from harness.scenario.faults import Fault, StopExtender
from harness.scenario.words import did_you_mean


def findings(record: Record, *, provoked: bool = False) -> tuple[Finding, ...]:
    """Return every finding about the extenders of a record, the worst first.

    Args:
        record: What is looked at.
        provoked: Count also what the scenario's own faults and stopped extenders caused; that is no fault of an
            extender, and left out unless told.
    """
    found = [finding for extender in record.extenders for finding in _of_extender(record, extender, provoked=provoked)]
    return tuple(sorted(found, key=order))


def demanded(expectation: Findings, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge that exactly the demanded codes are found; a run without a tap is rejected, since nothing was looked at."""
    whom = f"extender {expectation.extender}" if expectation.extender else "extenders"
    title = f"findings about {whom}"
    wanted = set(expectation.codes)
    expected = listed(sorted(wanted), len(wanted)) or "none"
    trouble = untapped(record, expectation.extender)
    if trouble:
        return Verdict("findings", title, "rejected", expected, "nothing to look at", evidence=(trouble,))
    found = [
        finding
        for finding in findings(record, provoked=expectation.provoked)
        if expectation.extender in (None, finding.extender)
    ]
    codes = dict.fromkeys(finding.code for finding in found)
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(set(codes) == wanted),
        expected=expected,
        seen=listed(codes, len(codes)) or "none",
        evidence=limited([*_missing(wanted - set(codes)), *(finding.text for finding in found)], len(SEVERITIES)),
    )


def _missing(codes: set[str]) -> Iterator[str]:
    for code in sorted(codes):
        hint = "" if code in SEVERITIES else f"; no finding has this code{did_you_mean(code, SEVERITIES).rstrip(';')}"
        yield f"{code} was not found{hint}"


def _of_extender(record: Record, extender: Extender, *, provoked: bool) -> Iterator[Finding]:
    every = tuple(call for call in record.calls if call.extender == extender.name)
    own = tuple(call for call in every if provoked or call.fault is None)
    seen = Seen(record, extender, Entry.from_json(extender.entry, f"extender {extender.name}"), own, every)
    yield from of_notices(extender.name, own)
    yield from crosscalls(seen)
    if provoked or not _is_shut(record, extender.name):
        yield from uncalled(seen)


def _is_shut(record: Record, name: str) -> bool:
    """Tell whether the scenario itself keeps the scheduler from reaching an extender."""
    return any(
        (isinstance(step, StopExtender) or (isinstance(step, Fault) and step.kind == "refuse"))
        and step.extender in (None, name)
        for step in record.scenario.steps
    )
