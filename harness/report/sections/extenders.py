"""What went between schedulers and extenders: calls, what is wrong with replies, how long they took. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from harness.expect.finding import Finding
from harness.report.calls import call_rows, share_of_attempts
from harness.report.document import Block, Callout, Cell, Column, Fold, Listing, Section, Table, Text
from harness.report.sections.grouping import GROUPS_DRAWN_MAX, Shown, groups, key_columns, readable, shown, trouble
from harness.report.sections.latency import latency_curves
from harness.report.sections.transcripts import transcripts
from harness.report.sources import Sources
from harness.report.words import Words

FINDINGS_SHOWN_MAX = 20
# So many in the short form of a report, the worst first.
FINDINGS_SHORT_MAX = 5
_LEVELS: dict[str, Literal["bad", "warning", "info"]] = {
    "critical": "bad",
    "high": "bad",
    "medium": "warning",
    "low": "info",
}
Found = tuple[Shown, Finding]


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about extenders, None if no run had any."""
    runs = [one for one in shown(sources.runs) if one.run.record.extenders or one.run.record.calls]
    if not runs:
        return None
    found = [(one, finding) for one in runs for finding in readable((), _findings, one)]
    told = list(_callouts(found, words))
    blocks: list[Block] = [*_with_evidence(told, words)]
    if not found and all(_is_seen(one) for one in runs):
        blocks.append(Callout("good", words("run.extenders.nothing-wrong")))
    blocks.append(_installed_table(runs, words))
    if any(one.run.record.calls for one in runs):
        blocks += [_call_table(runs, words), *_shares(runs, words)]
        with_calls = [group for group in groups(sources.runs) if any(one.run.record.calls for one in group.runs)]
        for group in with_calls[:GROUPS_DRAWN_MAX]:
            blocks += latency_curves(group, words)
        if len(with_calls) > GROUPS_DRAWN_MAX:
            blocks.append(Text(words("run.drawn", drawn=GROUPS_DRAWN_MAX, count=len(with_calls))))
    if found:
        blocks.append(Fold(words("run.extenders.all-findings"), (_finding_table(found, words),)))
    blocks += transcripts(runs, words)
    return Section("extenders", words("run.extenders.title"), tuple(blocks), short=tuple(_short(told, words)))


def _findings(one: Shown) -> tuple[Finding, ...]:
    return one.run.findings


def _is_seen(one: Shown) -> bool:
    """Tell whether a record shows what was answered, so that the absence of findings means something."""
    record = one.run.record
    return bool(record.calls) and all(extender.tapped for extender in record.extenders) and not trouble(_findings, one)


def _callouts(found: Sequence[Found], words: Words) -> Iterator[tuple[Finding, Callout]]:
    """Yield what is wrong, once for all runs that show the same."""
    alike: dict[tuple[str, str], list[Found]] = {}
    for one, finding in found:
        alike.setdefault((finding.extender, finding.code), []).append((one, finding))
    for pairs in alike.values():
        one, finding = pairs[0]
        severity = words(f"run.severity.{finding.severity}")
        where = one.title if len(pairs) == 1 else words("run.extenders.in-runs", run=one.title, count=len(pairs))
        text = words("run.extenders.finding", severity=severity, text=words.phrase(finding.text), where=where)
        yield finding, Callout(_LEVELS.get(finding.severity, "warning"), text)


def _with_evidence(told: Sequence[tuple[Finding, Callout]], words: Words) -> Iterator[Block]:
    for finding, callout in told[:FINDINGS_SHOWN_MAX]:
        yield callout
        if finding.evidence:
            yield Listing(tuple(words.phrase(line) for line in finding.evidence))
    if len(told) > FINDINGS_SHOWN_MAX:
        yield Text(words("run.more", count=len(told) - FINDINGS_SHOWN_MAX))


def _short(told: Sequence[tuple[Finding, Callout]], words: Words) -> Iterator[Block]:
    """Yield the worst of it, for the short form of a report."""
    grave = list(_LEVELS)
    order = sorted(told, key=lambda pair: grave.index(pair[0].severity) if pair[0].severity in grave else len(grave))
    yield from (callout for _, callout in order[:FINDINGS_SHORT_MAX])
    if len(told) > FINDINGS_SHORT_MAX:
        yield Text(words("run.extenders.more-findings", count=len(told) - FINDINGS_SHORT_MAX))


def _finding_table(found: Sequence[Found], words: Words) -> Table:
    keys = ("extender", "severity", "code", "times", "finding", "evidence")
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}")) for key in keys))
    rows = tuple(
        (
            *one.keys,
            finding.extender,
            words(f"run.severity.{finding.severity}"),
            finding.code,
            finding.count,
            words.phrase(finding.text),
            words("run.join").join(words.phrase(line) for line in finding.evidence),
        )
        for one, finding in found
    )
    marks = {
        place: "bad" if _LEVELS.get(finding.severity) == "bad" else "warning"
        for place, (_, finding) in enumerate(found)
    }
    filters = ("scenario", "variant", "extender", "severity")
    return Table("findings", words("run.extenders.findings"), columns, rows, marks=marks, filters=filters)


def _installed_table(runs: Sequence[Shown], words: Words) -> Table:
    keys = ("extender", "subject", "tapped", "notes")
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}")) for key in keys))
    rows: list[tuple[Cell, ...]] = []
    for one in runs:
        for extender in one.run.record.extenders:
            notes = words("run.join").join(words.phrase(note) for note in extender.notes)
            tapped = words("run.yes" if extender.tapped else "run.no")
            rows.append((*one.keys, extender.name, extender.subject, tapped, notes))
    return Table("extenders", words("run.extenders.installed"), columns, tuple(rows), filters=("scenario", "variant"))


def _call_table(runs: Sequence[Shown], words: Words) -> Table:
    counts = ("extender", "call", "calls", "failed", "broken_on_purpose")
    times = ("p50_ms", "p95_ms", "max_ms")
    sizes = ("request_bytes", "response_bytes", "nodes_in", "nodes_out")
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in counts),
        *(Column(key, words(f"run.column.call_{key}"), 2) for key in times),
        *(Column(key, words(f"run.column.{key}")) for key in sizes),
    )
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for one in runs:
        calls = one.run.record.calls
        faults = Counter((call.extender, call.kind or call.path) for call in calls if call.fault)
        for row in call_rows(one.run.record):
            if row.failed:
                marks[len(rows)] = "warning"
            broken = faults[row.extender, row.kind]
            numbers = (row.p50_ms, row.p95_ms, row.max_ms, *(getattr(row, size) for size in sizes))
            rows.append((*one.keys, row.extender, row.kind, row.calls, row.failed, broken, *numbers))
    return Table(
        "calls",
        words("run.extenders.calls"),
        columns,
        tuple(rows),
        note=words("run.extenders.calls-note"),
        marks=marks,
        filters=("scenario", "variant", "extender", "call"),
    )


def _shares(runs: Sequence[Shown], words: Words) -> Iterator[Text]:
    told = []
    for one in runs:
        share = readable(None, share_of_attempts, one.run.record)
        if share is not None:
            told.append(words("run.extenders.share", run=one.title, percent=f"{100 * share:.1f}"))
    if told:
        more = [words("run.more", count=len(told) - GROUPS_DRAWN_MAX)] if len(told) > GROUPS_DRAWN_MAX else []
        yield Text(words("run.join").join([*told[:GROUPS_DRAWN_MAX], *more]) + words("run.stop"))
