"""Where the pods are: how many each node holds with each variant, and for few pods which pod is where. Pure."""

from collections.abc import Sequence
from statistics import fmean, median

from harness.report.document import Block, Cell, Column, Section, Table, Text
from harness.report.repeats import sides
from harness.report.sections.grouping import (
    GROUPS_DRAWN_MAX,
    Group,
    Shown,
    groups,
    key_columns,
    natural,
    readable,
    shown,
    slug,
)
from harness.report.sections.placement_line import of_side
from harness.report.sections.placement_pictures import pictures
from harness.report.sources import Sources
from harness.report.words import Words

RUNS_SIDE_BY_SIDE_MAX = 12
PODS_NAMED_MAX = 1000


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about placement."""
    runs = shown(sources.runs)
    if not any(one.run.record.pods or one.run.record.nodes for one in runs):
        return None
    every = groups(sources.runs)
    blocks: list[Block] = [_spread_table(runs, words)]
    for number, group in enumerate(every):
        if number < GROUPS_DRAWN_MAX:
            blocks += pictures(group, words)
        blocks += _node_tables(group, words)
    if len(every) > GROUPS_DRAWN_MAX:
        blocks.append(Text(words("run.drawn", drawn=GROUPS_DRAWN_MAX, count=len(every))))
    count = sum(one.exists for named in runs for one in named.run.record.pods)
    blocks.append(_pod_table(runs, words) if count <= PODS_NAMED_MAX else Text(words("run.placement.elsewhere")))
    alone = [group.runs[0].run for group in every if len(group.runs) == 1]
    # Runs of one scenario are told apart where they are compared.
    short = tuple(line for run in alone for line in readable((), lambda run: of_side(sides([run])[0], words), run))
    return Section("placement", words("run.placement.title"), tuple(blocks), short=short)


def _spread_table(runs: Sequence[Shown], words: Words) -> Table:
    """Return how evenly each run used its nodes."""
    keys = ("nodes", "placed", "pending", "empty_nodes", "pods_min", "pods_median", "pods_mean", "pods_max")
    digits = {"pods_median": 1, "pods_mean": 2}
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}"), digits.get(key)) for key in keys))
    rows: list[tuple[Cell, ...]] = []
    for one in runs:
        counts = list(one.run.per_node().values())
        ends: tuple[Cell, ...] = (None, None, None, None)
        if counts:
            ends = (min(counts), float(median(counts)), fmean(counts), max(counts))
        placed, pending = len(_placed(one)), one.run.counts()["pending"]
        rows.append((*one.keys, len(counts), placed, pending, counts.count(0), *ends))
    note = words("run.placement.spread-note")
    return Table("spread", words("run.placement.spread"), columns, tuple(rows), note, filters=("scenario", "variant"))


def _node_tables(group: Group, words: Words) -> list[Block]:
    """Return pods per node, a column per run; more runs than fit side by side get tables of their own."""
    tables: list[Block] = []
    for start in range(0, len(group.runs), RUNS_SIDE_BY_SIDE_MAX):
        some = group.runs[start : start + RUNS_SIDE_BY_SIDE_MAX]
        per_node = [one.run.per_node() for one in some]
        names = sorted({name for counts in per_node for name in counts}, key=natural)
        if not names:
            continue
        columns = (
            Column("node", words("run.column.node")),
            *(Column(f"{slug(one.variant)}_{one.repeat}_pods", one.label) for one in some),
        )
        part = f"-{start // RUNS_SIDE_BY_SIDE_MAX + 1}" if start else ""
        tables.append(
            Table(
                f"placement{group.suffix}{part}",
                words("run.placement.table", scenario=group.scenario),
                columns,
                tuple((name, *(counts.get(name) for counts in per_node)) for name in names),
                note=words("run.placement.table-note"),
            )
        )
    return tables


def _pod_table(runs: Sequence[Shown], words: Words) -> Table:
    keys = ("pod", "node", "state")
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}")) for key in keys))
    rows: list[tuple[Cell, ...]] = []
    marks = {}
    for one in runs:
        present = [pod for pod in one.run.record.pods if pod.exists]
        for pod in sorted(present, key=lambda pod: (pod.node is None, pod.node or "", pod.full_name)):
            if pod.pending:
                marks[len(rows)] = "warning"
            state = words("run.pod.pending") if pod.pending else pod.phase
            rows.append((*one.keys, pod.full_name, pod.node, state))
    title = words("run.placement.pods")
    return Table("pods-by-node", title, columns, tuple(rows), marks=marks, filters=("variant", "node", "state"))


def _placed(one: Shown) -> list[str]:
    """Return the nodes of the pods that were there at the end."""
    return [pod.node for pod in one.run.record.pods if pod.exists and pod.node]
