"""The tables of a comparison; several comparisons share each table, and then say which scenario a row is of. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.report.difference import Comparison, Versus, calls_of
from harness.report.distance import ALPHA, Floor
from harness.report.document import Cell, Column, Table
from harness.report.moves import moves
from harness.report.spread import PODS
from harness.report.words import Words

COUNTS = ("moved", "newly-pending", "no-longer-pending", "only-here", "only-there")
BAD = frozenset({"newly-pending", "only-there"})
DIGITS = {"p50_ms": 1, "p90_ms": 1, "pods_per_second": 1, "cpu_ms_per_pod": 2, "attempts": 0, "pending": 0}
# What programs read: the same in every language.
UNITS = {
    "p50_ms": "ms",
    "p90_ms": "ms",
    "pods_per_second": "pods/s",
    "cpu_ms_per_pod": "ms/pod",
    "attempts": "attempts",
    "pending": "pods",
}

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Tables:
    """Makes the tables of some comparisons in one language."""

    comparisons: Sequence[Comparison]
    words: Words

    def spread(self) -> Table:
        """How evenly nodes are filled."""
        sides = [(comparison, side) for comparison in self.comparisons for side in comparison.sides]
        measured = any(side.spread.measure != PODS for _, side in sides)
        keys = ["runs", "pods", "nodes", "empty", *(["measure"] if measured else [])]
        columns = [
            *(self._column(key) for key in ("side", *keys)),
            *(self._column(key, 2) for key in ("cv", "max_over_mean", "index", "low", "high")),
            self._column("policy"),
        ]
        rows: list[Row] = []
        for comparison, side in sides:
            one = side.spread
            measure: list[Cell] = [self.words(f"compare.measure.{one.measure}")] if measured else []
            rows.append(
                (
                    *self._where(comparison),
                    *(side.name, one.runs, one.pods, one.nodes, one.empty, *measure),
                    *(one.cv, one.max_over_mean, one.index, one.low, one.high),
                    self.words(f"compare.policy.{one.policy}"),
                )
            )
        return self._table("spread", columns, rows, note=self.words("compare.spread.note"))

    def apart(self) -> Table:
        """How far placements are apart."""
        columns = [
            self._column("side"),
            *(self._column(key, 3) for key in ("distance", "floor_mean", "floor_most", "nameless")),
            self._column("nameless_floor_most", 3),
            self._column("floor_from"),
            self._column("p", 4),
            self._column("outcome"),
        ]
        rows: list[Row] = []
        for comparison, one in self._versus():
            apart, floor = one.apart, one.apart.floor
            rows.append(
                (
                    *self._where(comparison),
                    *(one.side.name, apart.distance, *((floor.mean, floor.most) if floor else (None, None))),
                    *(apart.nameless, floor.nameless_most if floor else None),
                    *(self._source(floor), apart.p, self.words(f"compare.outcome.{apart.outcome}")),
                )
            )
        return self._table("apart", columns, rows, note=self.words("compare.apart.note"))

    def moves(self) -> Table:
        """How many pods are elsewhere, run by run; repeats of the base first."""
        keys = [key.replace("-", "_") for key in COUNTS]
        columns = [self._column(key) for key in ("side", "repeat", "pods", *keys)]
        rows: list[Row] = []
        marks: dict[int, str] = {}
        repeated = False
        for comparison in self.comparisons:
            base = comparison.base
            repeats = [moves(run.record, base.first.record).counts for run in base.runs[1:]]
            counted = [(base.name, number, counts) for number, counts in enumerate(repeats, 2)]
            repeated = repeated or bool(repeats)
            for one in comparison.others:
                counted += [(one.side.name, number, counts) for number, counts in enumerate(one.counts.values(), 1)]
            pods = sum(base.loads[0].counts.values())
            for name, number, counts in counted:
                if counts["newly-pending"]:
                    marks[len(rows)] = "bad"
                rows.append((*self._where(comparison), name, number, pods, *(counts[key] for key in COUNTS)))
        names = ", ".join(dict.fromkeys(comparison.base.name for comparison in self.comparisons))
        note = self.words("compare.moves.note" if repeated else "compare.moves.note_single", base=names)
        return self._table("moves", columns, rows, note=note, marks=marks)

    def movers(self) -> Table | None:
        """Which pods are elsewhere, of those whose names repeat."""
        columns = [self._column(key) for key in ("side", "pod", "what", "node_base", "node_here")]
        rows: list[Row] = []
        marks: dict[int, str] = {}
        for comparison, one in self._versus():
            for move in one.moves.named:
                if move.what in BAD:
                    marks[len(rows)] = "bad"
                what = self.words(f"compare.what.{move.what}")
                rows.append((*self._where(comparison), one.side.name, move.pod, what, move.there, move.here))
        return self._table("movers", columns, rows, marks=marks, filters=("side", "what")) if rows else None

    def workloads(self) -> Table | None:
        """Which nodes hold another number of the pods of a workload."""
        columns = [self._column(key) for key in ("side", "workload", "node", "pods_base", "pods_here", "difference")]
        rows: list[Row] = []
        drawn = False
        for comparison, one in self._versus():
            for work in one.moves.workloads:
                drawn = True
                for node in work.nodes:
                    there, here = work.there.get(node, 0), work.here.get(node, 0)
                    cells = (one.side.name, work.workload, node, there, here, here - there)
                    rows.append((*self._where(comparison), *cells))
        note = self.words("compare.workloads.note")
        return self._table("workloads", columns, rows, note=note, filters=("side", "workload")) if drawn else None

    def figures(self) -> Table:
        """Waiting, speed and cost."""
        columns = [
            *(self._column(key) for key in ("side", "figure")),
            *(Column(key, self.words(f"compare.column.{key}"), in_files_only=True) for key in ("name", "unit")),
            *(self._column(key, 2) for key in ("base", "here")),
            self._column("change", 1, key="change_percent"),
            self._column("p", 4),
            *(self._column(key) for key in ("tested", "outcome")),
        ]
        rows: list[Row] = []
        for comparison, one in self._versus():
            for figure in one.figures:
                change = None if figure.change is None else 100 * figure.change
                rows.append(
                    (
                        *self._where(comparison),
                        *(one.side.name, self.words(f"compare.figure.{figure.name}"), figure.name, UNITS[figure.name]),
                        *(figure.base, figure.here, change, figure.p),
                        self.words(f"compare.tested.{figure.tested or 'none'}"),
                        self.words(f"compare.outcome.{figure.outcome}"),
                    )
                )
        note = self.words("compare.figures.note", alpha=ALPHA)
        return self._table("figures", columns, rows, note=note, filters=("side", "figure"))

    def calls(self) -> Table | None:
        """The calls to extenders."""
        columns = [
            *(self._column(key) for key in ("side", "extender", "call")),
            *(self._column(key, 0) for key in ("calls", "failed")),
            *(self._column(key, 2) for key in ("p50_ms", "p95_ms")),
        ]
        rows: list[Row] = [
            (
                *self._where(comparison),
                side.name,
                *(one.extender, one.kind, one.calls, one.failed),
                one.p50_ms,
                one.p95_ms,
            )
            for comparison in self.comparisons
            for side in comparison.sides
            for one in calls_of(side)
        ]
        return self._table("calls", columns, rows, note=self.words("compare.calls.note")) if rows else None

    def _versus(self) -> Iterator[tuple[Comparison, Versus]]:
        for comparison in self.comparisons:
            for one in comparison.others:
                yield comparison, one

    def _where(self, comparison: Comparison) -> tuple[Cell, ...]:
        if len(self.comparisons) == 1:
            return ()
        meta = comparison.base.first.record.meta
        return (f"{meta.scenario}[{meta.size}] {meta.cluster}",)

    def _column(self, name: str, digits: int | None = None, key: str = "") -> Column:
        return Column(key or name, self.words(f"compare.column.{name}"), digits)

    def _source(self, floor: Floor | None) -> str | None:
        if floor is None:
            return None
        kind = "drawn" if not floor.runs else "weak" if floor.weak else "measured"
        return self.words(f"compare.floor.{kind}", count=floor.runs)

    def _table(
        self,
        name: str,
        columns: Iterable[Column],
        rows: Sequence[Row],
        *,
        note: str = "",
        marks: dict[int, str] | None = None,
        filters: tuple[str, ...] = (),
    ) -> Table:
        where = () if len(self.comparisons) == 1 else (self._column("scenario"),)
        return Table(
            f"compared-{name}",
            self.words(f"compare.{name}.title"),
            (*where, *columns),
            tuple(rows),
            note=note,
            marks=marks or {},
            filters=(*(column.key for column in where), *filters),
        )
