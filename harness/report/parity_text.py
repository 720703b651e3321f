"""Shows what `harness.report.parity` put side by side: as a table for a terminal, or in Markdown."""

from collections.abc import Iterator, Sequence

from harness.expect.base import Verdict
from harness.report.parity import Disagreement, Parity, Row, pods_per_node, running_seconds
from harness.report.text import MARKS, table

SAME = {True: "same", False: "DIFFERENT", None: "-"}
LEGEND = """\
(per cluster: what came out, the pods on each node, the seconds from the first pod's creation until the last one ran)"""


def parity_text(parity: Parity) -> str:
    """Return the table, what is declared to differ, and every verdict that differs with all of its evidence."""
    notes = _notes(parity)
    headers = [
        "scenario",
        "variant",
        *(part for name in parity.clusters for part in (name, "pods", "s")),
        "verdicts",
        "",
    ]
    lines = [_versions(parity), "", table([_cells(row, parity, notes) for row in parity.rows], headers), LEGEND]
    lines += [f"[{number}] {text}" for text, number in notes.items()]
    for row in parity.rows:
        lines += [f"\n{row.title} on {provider}: {why}" for provider, why in row.failed.items()]
        for one in row.disagreements:
            lines += ["", f"{row.title}: {one.title}: {_statuses(one)}", *_evidence(one)]
    lines += ["", _sum(parity)]
    return "\n".join(lines)


def parity_markdown(parity: Parity) -> str:
    """Return the same table for a document."""
    notes = _notes(parity)
    parts = ("{}", "pods per node", "s")
    headers = [
        "scenario",
        "variant",
        *(part.format(name) for name in parity.clusters for part in parts),
        "verdicts",
        "",
    ]
    rows = [headers, ["---"] * len(headers), *(_cells(row, parity, notes) for row in parity.rows)]
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows]
    lines += ["", f"{_versions(parity)}. {_sum(parity)}."]
    lines += ["", *(f"- [{number}] {text}" for text, number in notes.items())] if notes else []
    return "\n".join(lines)


def _notes(parity: Parity) -> dict[str, int]:
    """Number what scenarios declare to differ, each reason once."""
    texts = [_declared(provider, why) for row in parity.rows for provider, why in row.differs.items()]
    return {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}


def _declared(provider: str, why: str) -> str:
    return f"differs on {provider}: {why}"


def _cells(row: Row, parity: Parity, notes: dict[str, int]) -> list[str]:
    cells = [f"{row.scenario}[{row.size}]", row.variant]
    for provider in parity.clusters:
        if run := row.runs.get(provider):
            seconds = running_seconds(run)
            told = "-" if seconds is None else f"{seconds:.1f}"
            cells += ["held" if run.ok else "REJECTED", pods_per_node(run), told]
        else:
            why = "ERROR" if provider in row.failed else row.absent.get(provider, "no run")
            cells += [why, "-", "-"]
    marks = [f"[{notes[_declared(provider, why)]}]" for provider, why in row.differs.items()]
    return [*cells, SAME[row.same], " ".join(marks)]


def _versions(parity: Parity) -> str:
    told = [f"{provider}: Kubernetes {version}" for provider, version in parity.versions().items()]
    return "; ".join(told) or "no runs"


def _statuses(one: Disagreement) -> str:
    return ", ".join(f"{_mark(verdict)} on {provider}" for provider, verdict in one.verdicts.items())


def _mark(verdict: Verdict | None) -> str:
    return MARKS[verdict.status] if verdict else "not there"


def _evidence(one: Disagreement) -> Iterator[str]:
    for provider, verdict in one.verdicts.items():
        if verdict is None:
            continue
        yield f"  {provider}: {verdict.title}: {verdict.expected} expected, {verdict.seen} seen"
        facts: Sequence[str | None] = (verdict.detail, *verdict.evidence, verdict.note)
        yield from (f"    {fact}" for fact in facts if fact)


def _sum(parity: Parity) -> str:
    same = sum(row.same is True for row in parity.rows)
    lost = sum(bool(row.failed) for row in parity.rows)
    tail = f", {lost} could not be made everywhere" if lost else ""
    return f"{same} of {parity.compared} compared gave the same verdicts{tail}"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
