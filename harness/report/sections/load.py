"""The chapter about loads: how long extenders took, how much they took, and how that was measured. Pure.

What the generator limited stands apart, and is in no picture: it is not the extender's.
"""

from collections.abc import Sequence

from harness.record.load import LoadRecord
from harness.report.document import Block, Callout, Fold, Picture, Section, Text
from harness.report.sections.load_facts import callouts, limits, method
from harness.report.sections.load_pictures import course_pictures, percentile_pictures
from harness.report.sections.load_samples import Curves, curves_of
from harness.report.sections.load_sweeps import knee_pictures, nodes_pictures
from harness.report.sections.load_tables import (
    detail_table,
    in_situ_table,
    knee_table,
    limited_table,
    result_table,
    step_table,
)
from harness.report.sources import Sources
from harness.report.words import Words

# A table of more rows does not fit the short form of a report.
BRIEF_ROWS_MAX = 12
NOTES_SHOWN_MAX = 12


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter, None without a load."""
    records = sources.loads
    if not records:
        return None
    curves = curves_of(records)
    pairs = [(record, result) for record in records for result in record.results]
    good = [pair for pair in pairs if not pair[1].generator_limited]
    limited = [pair for pair in pairs if pair[1].generator_limited]
    knees = [(record, knee) for record in records for knee in record.knees]
    said = callouts(records, curves.unread, words)
    blocks: list[Block] = said[:NOTES_SHOWN_MAX]
    if len(said) > NOTES_SHOWN_MAX:
        blocks.append(Fold(words("load.more-notes", count=len(said) - NOTES_SHOWN_MAX), tuple(said[NOTES_SHOWN_MAX:])))
    if knees:
        blocks.append(knee_table(knees, words))
    if good:
        blocks.append(result_table(good, words))
    blocks += _pictures(records, curves, words)
    if seen := in_situ_table(records, words):
        blocks += [Text(words("load.in-situ")), seen]
    if limited:
        blocks.append(Callout("warning", words("load.limited", count=len(limited), total=len(pairs))))
        blocks += [*map(Text, limits(limited, words)), limited_table(limited, words)]
    if any(knee.steps for _, knee in knees):
        blocks.append(Fold(words("load.table.steps"), (step_table(knees, words),)))
    if pairs:
        blocks.append(Fold(words("load.table.details"), (detail_table(pairs, words),)))
    blocks += [method(record, words) for record in records]
    return Section("load", words("load.title"), tuple(blocks), brief=len(pairs) <= BRIEF_ROWS_MAX)


def _pictures(records: Sequence[LoadRecord], curves: Curves, words: Words) -> list[Block]:
    """Return what the records can fill; curves of every step of a sweep or a search are for those who ask."""
    searched = {record.path for record in records if record.knees or _sizes(record) > 1}
    plain = [curve for curve in curves.curves if curve.record.path not in searched]
    stepped = [curve for curve in curves.curves if curve.record.path in searched]
    courses = [course for course in curves.courses if course.record.path not in searched]
    shown: list[Picture] = [
        *knee_pictures(records, words),
        *nodes_pictures(records, words),
        *percentile_pictures(plain, words),
        *course_pictures(courses, words),
    ]
    folded = percentile_pictures(stepped, words, name="load-step-percentiles")
    return [*shown, *([Fold(words("load.step-curves"), tuple(folded))] if folded else [])]


def _sizes(record: LoadRecord) -> int:
    return len({(result.nodes, result.wire, result.node_kib) for result in record.results})
