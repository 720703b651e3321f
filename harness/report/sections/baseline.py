"""The chapter about checks against a baseline: the verdict, what it is made of, and how sure it is. Pure."""

from collections.abc import Sequence
from typing import Literal

from harness.record.check import Checked, CheckedRow
from harness.report.document import Block, Callout, Cell, Check, Column, Facts, Fold, Picture, Section, Table, Text
from harness.report.sections.load_pictures import Row, rounded, share
from harness.report.sections.regress_blocks import lost
from harness.report.sections.regress_pictures import ROWS_MAX, Labels, excluded, forest
from harness.report.sources import Sources
from harness.report.words import Words

BRIEF_ROWS_MAX = 25
NAMED_MAX = 3
UNKNOWN = "-"
Outcome = Literal["passed", "failed", "unclear"]
Level = Literal["good", "bad", "warning"]
_LEVELS: dict[str, Level] = {"PASS": "good", "REGRESSION": "bad", "INCONCLUSIVE": "warning"}
_COLUMNS: tuple[tuple[str, int | None], ...] = (
    ("subject", None),
    ("baseline", None),
    ("verb", None),
    ("nodes", None),
    ("wire", None),
    ("metric", None),
    *((name, 3) for name in ("then", "then_low", "then_high", "now", "now_low", "now_high")),
    *((name, 3) for name in ("change", "change_low", "change_high")),
    ("verdict", None),
    ("p_first", 4),
    ("p_second", 4),
    ("mde_percent", 1),
    ("pairs", None),
    ("failure", None),
    ("record", None),
)
# Of a single check, everything before the table says what it compares.
_OF_SEVERAL = ("subject", "baseline")


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter, None without a check."""
    checked = sources.checked
    if not checked:
        return None
    made: list[Block] = [_verdict(one, words) for one in checked]
    made += [Callout("bad", text) for one in checked for text in _failures(one, words)]
    made.append(_table(checked, words))
    for place, one in enumerate(checked, 1):
        made += _pictures(f"baseline-{place}-changes" if len(checked) > 1 else "baseline-changes", one, words)
    made += [
        Callout("info", text) for text in dict.fromkeys(words.phrase(note) for one in checked for note in one.notes)
    ]
    made += [callout for one in checked for callout in _unread(one, words)]
    made += [_method(one, words) for one in checked]
    rows = sum(len(one.rows) for one in checked)
    return Section("baseline", words("baseline.title"), tuple(made), brief=rows <= BRIEF_ROWS_MAX)


def sentence(sources: Sources, words: Words) -> tuple[Outcome, str]:
    """Return how the checks went as a whole, and the same in a sentence; only a PASS of all is one."""
    told = [_told(one, words) for one in sources.checked[:NAMED_MAX]]
    if len(sources.checked) > NAMED_MAX:
        told.append(words("baseline.more", count=len(sources.checked) - NAMED_MAX))
    outcome: Outcome = "passed" if all(one.verdict == "PASS" for one in sources.checked) else "unclear"
    if not all(one.ok for one in sources.checked):
        outcome = "failed"
    return outcome, words("regress.sentence", text=words("regress.join").join(told))


def checks(sources: Sources, words: Words) -> tuple[Check, ...]:
    """Return a check for each comparison; one that is inconclusive is skipped, with the reason."""
    made = [_check(one, row, words) for one in sources.checked for row in one.rows]
    return (*made, *(_check_of_lost(one, words) for one in sources.checked if one.kept))


def _check(checked: Checked, row: CheckedRow, words: Words) -> Check:
    facts = {"subject": checked.subject, "baseline": checked.file, "yardstick": checked.yardstick}
    facts |= {"tolerance": str(checked.tolerance), "pairs": str(row.pairs)}
    for name, numbers in (("then", row.then), ("now", row.now), ("change", row.change)):
        keys = (name, f"{name} low", f"{name} high")
        facts |= {key: str(value) for key, value in zip(keys, numbers, strict=True) if value is not None}
    if row.mde is not None:
        facts["mde"] = str(row.mde)
    if row.p_values:
        facts["p values"] = ", ".join(map(str, row.p_values))
    outcome: Literal["passed", "failed", "skipped"] = "passed" if row.verdict == "PASS" else "skipped"
    message = "" if row.verdict == "PASS" else _doubt(row, words)
    if not row.ok:
        outcome, message = "failed", words.phrase(row.failure) if row.failure else _slower(row)
    name = words("regress.said", name=_name(row, words), text=row.metric)
    detail = "\n".join(map(words.phrase, checked.notes))
    return Check(_group(checked), name, outcome, message, detail, facts=facts)


def _check_of_lost(checked: Checked, words: Words) -> Check:
    """Return a check for what cannot be read any more, so that a failure among it is not forgotten."""
    kept = checked.kept
    failed = kept is not None and not kept.ok
    message = words("baseline.lost", verdict=kept.verdict if kept else UNKNOWN)
    return Check(_group(checked), words("baseline.lost.name"), "failed" if failed else "skipped", message)


def _verdict(checked: Checked, words: Words) -> Callout:
    level: Level = _LEVELS[checked.verdict] if checked.ok else "bad"
    return Callout(level, words("regress.sentence", text=_told(checked, words)))


def _told(checked: Checked, words: Words) -> str:
    """Return the verdict with all that it depends on."""
    # What else was compared, and how surely, says nothing about the verdict.
    deciding = [row for row in checked.rows if row.verdict == checked.verdict]
    mde = [row.mde for row in deciding if row.mde is not None]
    known = len(mde) == len(deciding) > 0
    facts = {"file": checked.file, "yardstick": checked.yardstick, "tolerance": share(checked.tolerance)}
    return words(
        "baseline.told",
        text=_verdict_told(checked, words),
        mde=f"+{share(max(mde))}" if known else words("baseline.mde.unknown"),
        **facts,
    )


def _verdict_told(checked: Checked, words: Words) -> str:
    said = {"subject": checked.subject, "verdict": checked.verdict}
    failures = _failures(checked, words)
    if failures:
        return words("baseline.told.failure", failure=failures[0], yardstick=checked.yardstick, **said)
    if checked.kept and not any(row.verdict == checked.verdict and row.ok == checked.ok for row in checked.rows):
        return words("baseline.told.lost" if checked.ok else "baseline.told.lost.failed", **said)
    if checked.verdict == "PASS":
        return words("baseline.told.PASS", excluded=share(excluded(checked.tolerance)), **said)
    deciding = [row for row in checked.rows if row.verdict == checked.verdict]
    why = words("regress.join").join(
        words("regress.said", name=_name(row, words), text=_why(row, words)) for row in deciding[:NAMED_MAX]
    )
    return words(f"baseline.told.{checked.verdict}", why=why or words("regress.doubt.nothing"), **said)


def _failures(checked: Checked, words: Words) -> list[str]:
    failed = [(row, row.failure) for row in checked.rows if row.failure]
    return [words("regress.said", name=_name(row, words), text=words.phrase(failure)) for row, failure in failed]


def _why(row: CheckedRow, words: Words) -> str:
    return _slower(row) if row.verdict == "REGRESSION" else _doubt(row, words)


def _slower(row: CheckedRow) -> str:
    return f"{row.metric} {_ratio(row.change)}"


def _doubt(row: CheckedRow, words: Words) -> str:
    """Say which slowdown could not be excluded."""
    high = row.change[2]
    if high is None:
        return words("regress.doubt.nothing")
    return words("regress.doubt", more=share(max(high - 1, 0.0)))


def _table(checked: Sequence[Checked], words: Words) -> Table:
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for one in checked:
        for row in one.rows:
            marks[len(rows)] = _LEVELS[row.verdict] if row.ok else "bad"
            rows.append(_cells(one, row, words))
    several = len(checked) > 1
    columns = tuple(
        Column(key, words(f"baseline.column.{key}"), digits, in_files_only=key in _OF_SEVERAL and not several)
        for key, digits in _COLUMNS
    )
    filters = ("verb", "metric")
    return Table(
        "baseline", words("baseline.table"), columns, tuple(rows), words("baseline.note"), marks=marks, filters=filters
    )


def _cells(checked: Checked, row: CheckedRow, words: Words) -> tuple[Cell, ...]:
    stages = (*row.p_values, None, None)
    return (
        *(checked.subject, checked.file, *row.cell, row.metric),
        *(*row.then, *row.now, *row.change, row.verdict, stages[0], stages[1]),
        *(None if row.mde is None else 100 * row.mde, row.pairs, words.phrase(row.failure) if row.failure else None),
        checked.path.name if checked.path else None,
    )


def _pictures(name: str, checked: Checked, words: Words) -> list[Picture]:
    """Return every change with its interval; many take several pictures."""
    drawn = [row for row in checked.rows if None not in row.change]
    pages = [drawn[start : start + ROWS_MAX] for start in range(0, len(drawn), ROWS_MAX)]
    return [_picture(f"{name}-{place}", checked, page, words) for place, page in enumerate(pages, 1)]


def _picture(name: str, checked: Checked, rows: Sequence[CheckedRow], words: Words) -> Picture:
    drawn: list[Row] = [
        {
            "title": _name(row, words),
            "metric": row.metric,
            **{key: rounded(value) for key, value in zip(("ratio", "low", "high"), row.change, strict=True)},
            "verdict": words(f"regress.verdict.{row.verdict}"),
        }
        for row in rows
    ]
    lines = (
        words(
            "baseline.about.line",
            name=row["title"],
            verdict=row["verdict"],
            metric=row["metric"],
            ratio=f"{row['ratio']:.3f}",
        )
        for row in drawn
    )
    about = words(
        "baseline.about.forest",
        tolerance=share(checked.tolerance),
        excluded=share(excluded(checked.tolerance)),
        lines=words("regress.join").join(lines),
    )
    labels = Labels(words("baseline.picture.forest"), about, words("baseline.axis.ratio"))
    return forest(name, drawn, checked.tolerance, labels, words)


def _unread(checked: Checked, words: Words) -> list[Callout]:
    """Say which raw pairs nobody can trace the numbers to any more."""
    files = lost(checked.path, list(dict.fromkeys(file for row in checked.rows for file in row.samples)))
    if not files:
        return []
    return [Callout("warning", words("baseline.unread", record=_group(checked), files=", ".join(files)))]


def _method(checked: Checked, words: Words) -> Fold:
    tolerance, limit = share(checked.tolerance), share(excluded(checked.tolerance))
    text = words("baseline.method", yardstick=checked.yardstick, tolerance=tolerance, excluded=limit)
    raw = [
        words("regress.said", name=_name(row, words), text=", ".join(row.samples) or UNKNOWN) for row in checked.rows
    ]
    facts = Facts(
        (
            (words("baseline.column.subject"), checked.subject),
            (words("baseline.column.baseline"), checked.file),
            (words("baseline.yardstick"), checked.yardstick),
            (words("baseline.tolerance"), tolerance),
            (words("baseline.column.record"), _group(checked)),
            *((words("regress.raw"), one) for one in dict.fromkeys(raw)),
        )
    )
    return Fold(words("baseline.method.title", subject=checked.subject, file=checked.file), (Text(text), facts))


def _group(checked: Checked) -> str:
    return checked.path.name if checked.path else checked.subject


def _name(row: CheckedRow, words: Words) -> str:
    verb, nodes, wire = row.cell
    if nodes is None:
        return row.title
    size = words(f"load.size.{wire}" if wire in ("names", "objects") else "load.size.other", nodes=nodes)
    return words("regress.cell", verb=verb, size=size)


def _ratio(numbers: tuple[float | None, float | None, float | None]) -> str:
    ratio, low, high = numbers
    return UNKNOWN if ratio is None or low is None or high is None else f"{ratio:.3f} [{low:.3f}, {high:.3f}]"
