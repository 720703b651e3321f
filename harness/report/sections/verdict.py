"""The first chapter: whether what was expected is what happened, run by run, and what contradicts it. Pure."""

from collections.abc import Iterator, Sequence
from typing import Literal

from harness.expect.base import Verdict
from harness.report.document import Block, Callout, Cell, Check, Column, Fold, Listing, Section, Table, Text
from harness.report.sections.grouping import Shown, key_columns, shown
from harness.report.sources import Sources
from harness.report.words import Words

REJECTED_SHOWN_MAX = 20
_NAMED_MAX = 3
State = Literal["held", "rejected", "unfinished", "unjudged"]
Outcome = Literal["passed", "failed", "skipped"]
_OUTCOMES: dict[str, Outcome] = {"held": "passed", "rejected": "failed", "not-judged": "skipped"}
_MARKS = {"held": "good", "rejected": "bad", "unfinished": "bad", "unjudged": "warning", "not-judged": "warning"}


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about verdicts."""
    runs = shown(sources.runs)
    if not runs:
        return None
    blocks: list[Block] = [_runs_table(runs, words), *_rejections(runs, words)]
    if any(one.run.verdicts for one in runs):
        blocks.append(Fold(words("run.verdict.all"), (_verdict_table(runs, words),)))
    return Section("verdict", words("run.verdict.title"), tuple(blocks), brief=True)


def sentence(sources: Sources, words: Words) -> tuple[Literal["passed", "failed", "unclear"], str]:
    """Return how the runs ended as a whole, and the same in one sentence."""
    runs = shown(sources.runs)
    if not runs:
        return "unclear", words("run.verdict.none")
    states = {one.title: state(one) for one in runs}
    bad = [one for one in runs if states[one.title] != "held"]
    if not bad:
        return "passed", _all_held(runs, words)
    failed = any(states[one.title] == "rejected" or one.run.record.meta.status == "failed" for one in bad)
    told = [words("run.said", where=_name(one, runs), text=_why_not(one, words)) for one in bad[:_NAMED_MAX]]
    if len(bad) > _NAMED_MAX:
        told.append(words("run.more", count=len(bad) - _NAMED_MAX))
    key = "run.verdict.one-not" if len(runs) == 1 else "run.verdict.some-not"
    text = words(key, bad=len(bad), runs=len(runs), why=words("run.join").join(told))
    return "failed" if failed else "unclear", text


def checks(sources: Sources, words: Words) -> tuple[Check, ...]:
    """Return every verdict of every run, and one more for each run that did not come to its end."""
    return tuple(check for one in shown(sources.runs) for check in _checks(one, words))


def state(one: Shown) -> State:
    """Return how a run ended: a run that did not end by itself is no run that held."""
    if not one.run.ok:
        return "rejected"
    if one.run.record.meta.status != "finished":
        return "unfinished"
    return "held" if any(verdict.status == "held" for verdict in one.run.verdicts) else "unjudged"


def _runs_table(runs: Sequence[Shown], words: Words) -> Table:
    columns = (
        *key_columns(words),
        Column("result", words("run.column.result")),
        *(Column(key, words(f"run.column.{key}")) for key in ("held", "rejected", "not_judged")),
        Column("duration_seconds", words("run.column.duration_seconds"), 2),
        Column("record", words("run.column.record")),
    )
    rows, marks = [], {}
    for place, one in enumerate(runs):
        statuses = [verdict.status for verdict in one.run.verdicts]
        ended = state(one)
        marks[place] = _MARKS[ended]
        counts = (statuses.count("held"), statuses.count("rejected"), statuses.count("not-judged"))
        meta = one.run.record.meta
        rows.append((*one.keys, words(f"run.state.{ended}"), *counts, meta.duration_seconds, meta.id))
    return Table("runs", words("run.verdict.runs"), columns, tuple(rows), marks=marks, filters=("variant", "result"))


def _rejections(runs: Sequence[Shown], words: Words) -> Iterator[Block]:
    rejected = [(one, verdict) for one in runs for verdict in one.run.verdicts if not verdict.ok]
    for one in runs:
        if state(one) == "unfinished":
            yield Callout("bad", words("run.said", where=_name(one, runs), text=_why_not(one, words)))
    for one, verdict in rejected[:REJECTED_SHOWN_MAX]:
        yield Callout("bad", words("run.said", where=_name(one, runs), text=_contradiction(verdict, words)))
        facts = tuple(words.phrase(fact) for fact in (verdict.detail, *verdict.evidence, verdict.note) if fact)
        if facts:
            yield Listing(facts)
    if len(rejected) > REJECTED_SHOWN_MAX:
        yield Text(words("run.verdict.more-rejected", count=len(rejected) - REJECTED_SHOWN_MAX))


def _verdict_table(runs: Sequence[Shown], words: Words) -> Table:
    keys = ("kind", "expectation", "verdict", "expected", "seen", "detail", "evidence", "note")
    columns = (*key_columns(words), *(Column(key, words(f"run.column.{key}")) for key in keys))
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for one in runs:
        for verdict in one.run.verdicts:
            marks[len(rows)] = _MARKS[_status(verdict)]
            texts = (verdict.expected, verdict.seen, verdict.detail)
            rows.append(
                (
                    *one.keys,
                    verdict.kind,
                    words.phrase(verdict.title),
                    words(f"run.state.{_status(verdict)}"),
                    *(words.phrase(text) for text in texts),
                    words("run.join").join(words.phrase(fact) for fact in verdict.evidence),
                    words.phrase(verdict.note or ""),
                )
            )
    title = words("run.verdict.table")
    return Table("verdicts", title, columns, tuple(rows), marks=marks, filters=("scenario", "variant", "verdict"))


def _all_held(runs: Sequence[Shown], words: Words) -> str:
    verdicts = [verdict for one in runs for verdict in one.run.verdicts]
    open_ = sum(verdict.status == "not-judged" for verdict in verdicts)
    key = "run.verdict.one-held" if len(runs) == 1 else "run.verdict.all-held"
    text = words(key, runs=len(runs), verdicts=len(verdicts) - open_, name=runs[0].title)
    return text + (words("run.verdict.some-open", count=open_) if open_ else "")


def _why_not(one: Shown, words: Words) -> str:
    rejected = [verdict for verdict in one.run.verdicts if not verdict.ok]
    if rejected:
        more = words("run.verdict.and-more", count=len(rejected) - 1) if rejected[1:] else ""
        return _contradiction(rejected[0], words) + more
    return _why_ended(one, words) if one.run.record.meta.status != "finished" else words("run.verdict.nothing-judged")


def _status(verdict: Verdict) -> str:
    """Return the status of a verdict; one that a damaged file made up says nothing."""
    return verdict.status if verdict.status in _OUTCOMES else "not-judged"


def _contradiction(verdict: Verdict, words: Words) -> str:
    parts = {name: words.phrase(getattr(verdict, name)) for name in ("title", "expected", "seen")}
    return words("run.verdict.contradiction", **parts)


def _name(one: Shown, runs: Sequence[Shown]) -> str:
    """Return what a run is called: with its scenario only where there are several."""
    return one.title if len({other.scenario for other in runs}) > 1 else one.label


def _checks(one: Shown, words: Words) -> Iterator[Check]:
    meta = one.run.record.meta
    if meta.status != "finished":
        outcome: Outcome = "failed" if meta.status == "failed" else "skipped"
        name, why = words("run.verdict.finished"), _why_ended(one, words)
        yield Check(one.title, name, outcome, why, facts={"kind": "run", "record": meta.id})
    for verdict in one.run.verdicts:
        facts = [verdict.detail, *verdict.evidence, verdict.note or ""]
        yield Check(
            group=one.title,
            name=words.phrase(verdict.title),
            outcome=_OUTCOMES[_status(verdict)],
            message=_contradiction(verdict, words),
            detail="\n".join(words.phrase(fact) for fact in facts if fact),
            facts={"kind": verdict.kind, "record": meta.id},
        )


def _why_ended(one: Shown, words: Words) -> str:
    meta = one.run.record.meta
    if meta.status == "failed":
        return words("run.verdict.broke-off", error=words.phrase(meta.error or ""))
    return words("run.verdict.never-ended")
