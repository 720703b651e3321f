"""What differs between runs of the same scenario: everything is held against the first of them. Pure."""

from collections.abc import Iterator, Sequence

from harness.report.difference import Comparison, Figure, Versus, compare
from harness.report.document import Block, Callout, Fold, Listing, Section, Text
from harness.report.likeness import RECORD, Unlike, unlike
from harness.report.render.cells import shown
from harness.report.repeats import sides
from harness.report.sections.difference_pictures import loads_picture
from harness.report.sections.difference_tables import DIGITS, Tables
from harness.report.sections.grouping import GROUPS_DRAWN_MAX, readable
from harness.report.sections.placement_line import of_comparison
from harness.report.sources import Sources
from harness.report.summary import RunSummary
from harness.report.words import Words

TOLD = ("p50_ms", "pods_per_second", "cpu_ms_per_pod")


def section(sources: Sources, words: Words) -> Section | None:
    """Return the differences of all runs that are comparable; None where nothing is."""
    comparisons: list[Comparison] = []
    left_out: list[Unlike] = []
    for runs in _buckets(sources.runs):
        refused = _refused(runs)
        strange = {one.run for one in refused}
        fitting = [run for run in runs if run.record.meta.id not in strange]
        left_out += refused
        made = _compared(fitting) if len(fitting) > 1 else None
        comparisons += [made] if made else []
    return section_of(comparisons, words, left_out) if comparisons else None


def section_of(comparisons: Sequence[Comparison], words: Words, left_out: Sequence[Unlike] = ()) -> Section:
    """Return the chapter on comparisons that were made; `left_out` is why runs are in none of them."""
    tables = Tables(comparisons, words)
    blocks: list[Block] = []
    for comparison in comparisons:
        blocks.append(Text(_intro(comparison, words)))
        blocks += _warnings(comparison, words)
        blocks.append(Listing(tuple(_found(one, words) for one in comparison.others)))
        blocks += _rejected(comparison, words)
    blocks += [Callout("warning", _left_out(one, words)) for one in _first_of_each(left_out)]
    blocks += [tables.figures(), tables.spread()]
    blocks += [Text(note) for comparison in comparisons for note in _spread_notes(comparison, words)]
    for number, comparison in enumerate(comparisons[:GROUPS_DRAWN_MAX]):
        picture = loads_picture(comparison, words, f"-{number + 1}" if comparisons[1:] else "")
        blocks += [picture] if picture else []
    blocks += [tables.apart(), tables.moves()]
    movers, workloads, calls = tables.movers(), tables.workloads(), tables.calls()
    blocks += [Text(words("compare.workloads.same"))] if workloads and not workloads.rows else []
    details = [table for table in (movers, workloads, calls) if table and table.rows]
    blocks += [Fold(table.title, (table,)) for table in details]
    short = tuple(line for comparison in comparisons for line in of_comparison(comparison, words))
    return Section("differences", words("compare.title"), tuple(blocks), short=short)


def _buckets(runs: Sequence[RunSummary]) -> list[list[RunSummary]]:
    """Return the runs of each scenario, size and cluster provider."""
    found: dict[tuple[str, str, str], list[RunSummary]] = {}
    for run in runs:
        meta = run.record.meta
        found.setdefault((meta.scenario, meta.size, meta.cluster), []).append(run)
    return [some for some in found.values() if len(some) > 1]


def _refused(runs: Sequence[RunSummary]) -> list[Unlike]:
    found: tuple[Unlike, ...] = readable((), unlike, [run.record for run in runs])
    return [one for one in found if one.refuses]


def _compared(runs: Sequence[RunSummary]) -> Comparison | None:
    return readable(None, lambda: compare(sides(runs)))


def _first_of_each(left_out: Sequence[Unlike]) -> list[Unlike]:
    """Return one reason for every run."""
    return list({one.run: one for one in reversed(left_out)}.values())[::-1]


def _left_out(one: Unlike, words: Words) -> str:
    if one.key == RECORD:
        return words("compare.unlike.left_out", run=one.run, problem=words.phrase(one.seen))
    return words("compare.unlike.refused", run=one.run, input=one.key, seen=one.seen, expected=one.expected)


def _intro(comparison: Comparison, words: Words) -> str:
    meta = comparison.base.first.record.meta
    count = len(comparison.base.runs)
    return words(
        "compare.intro",
        scenario=f"{meta.scenario}[{meta.size}]",
        cluster=meta.cluster,
        base=comparison.base.name,
        runs=_counted(count, words),
    )


def _counted(count: int, words: Words) -> str:
    return words("compare.runs_one") if count == 1 else words("compare.runs_many", count=count)


def _warnings(comparison: Comparison, words: Words) -> Iterator[Block]:
    """Say in what inputs runs differ, each input once."""
    groups: dict[tuple[str, bool, str], list[Unlike]] = {}
    for one in comparison.unlike:
        if one.key == RECORD:
            told = words("compare.unlike.damaged", run=one.run, problem=words.phrase(one.seen))
            yield Callout("warning", told)
            continue
        groups.setdefault((one.key, one.slows, one.expected), []).append(one)
    for (key, slows, expected), some in groups.items():
        seen = ", ".join(dict.fromkeys(one.seen for one in some))
        text = words(
            f"compare.unlike.{'slows' if slows else 'differs'}",
            input=key,
            seen=seen,
            expected=expected,
            runs=_counted(len(some), words),
        )
        yield Text(text) if key == "seed" else Callout("warning", text)


def _found(one: Versus, words: Words) -> str:
    apart = one.apart
    if apart.distance is None:
        return words("compare.found_nowhere", side=one.side.name)
    told = [_figure(figure, words) for figure in one.figures if figure.name in TOLD and figure.change is not None]
    moved = [counts["moved"] for counts in one.counts.values()]
    span = words("compare.found_span", least=min(moved), most=max(moved))
    return words(
        "compare.found",
        side=one.side.name,
        moved=moved[0] if len(set(moved)) == 1 else span,
        pods=one.moves.pods,
        distance=f"{apart.distance:.3f}",
        placed=words(f"compare.outcome.{apart.outcome}"),
        figures=words("run.join").join(told),
    )


def _figure(figure: Figure, words: Words) -> str:
    digits = DIGITS[figure.name]
    here = words(f"compare.value.{figure.name}", value=shown(figure.here, digits, words))
    outcome = words(f"compare.outcome.{figure.outcome}")
    return words("compare.found_figure", here=here, base=shown(figure.base, digits, words), outcome=outcome)


def _rejected(comparison: Comparison, words: Words) -> Iterator[Block]:
    for one in comparison.others:
        for verdict in one.rejected:
            told = words.phrase(verdict)
            yield Callout("bad", words("compare.rejected", side=one.side.name, base=comparison.base.name, verdict=told))


def _spread_notes(comparison: Comparison, words: Words) -> Iterator[str]:
    unclear: dict[str, list[str]] = {}
    for side in comparison.sides:
        spread = side.spread
        if spread.left_out:
            yield words("compare.spread.left_out", side=side.name, count=spread.left_out)
        if spread.policy == "unclear" and spread.evener is not None and spread.more_uneven is not None:
            unclear.setdefault(f"{min(spread.evener, spread.more_uneven):.1%}", []).append(side.name)
    for share, names in unclear.items():
        yield words("compare.spread.unclear", share=share, sides=words("run.list").join(names))
