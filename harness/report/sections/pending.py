"""Pods that wait for a node, and why: pods with the same cause are one row, and one of them tells its story. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.expect.evidence import waited_seconds
from harness.expect.explain import Explanation, explain
from harness.expect.held_up import HeldUp
from harness.expect.traced import TRACE
from harness.expect.waiting import images
from harness.expect.why import PodStory, tell
from harness.record.model import PodHistory, Record
from harness.report.document import Block, Callout, Cell, Column, Fold, Listing, Section, Table, Text
from harness.report.sections.grouping import Shown, key_columns, readable, shown
from harness.report.sources import Sources
from harness.report.words import Words

EXAMPLES_MAX = 3
STORIES_MAX = 20
STORIES_PER_RUN_MAX = 5
HELD_UP = "held up"
CALLS_BYTES_MAX = 8_000_000
_LINES_MAX = 30
_PARTS = ("timeline", "reasons", "extenders", "plugins", "preemption", "events", "moves")


@dataclass
class Cause:
    """Pods of one run that wait for the same reason; `explained` is what was said about the first."""

    one: Shown
    reason: str
    refused_by: tuple[str, ...]
    explained: Explanation | None
    pods: list[PodHistory] = field(default_factory=list)


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about pending pods, None if there is no such pod."""
    runs = shown(sources.runs)
    causes = [cause for one in runs for cause in _causes(one, words)]
    stuck = [
        Callout("warning", words("run.said", where=one.title, text=words.phrase(line)))
        for one in runs
        for line in _not_started(one)
    ]
    if not causes:
        return Section("pending", words("run.pending.title"), tuple(stuck)) if stuck else None
    blocks: list[Block] = [_table(causes, words), *stuck]
    told: dict[Shown, int] = {}
    for cause in causes:
        told[cause.one] = told.get(cause.one, 0) + 1
        if told[cause.one] <= STORIES_PER_RUN_MAX and len(blocks) <= STORIES_MAX + len(stuck):
            blocks += _story(cause, words)
    stories = sum(isinstance(block, Fold) for block in blocks)
    if stories < len(causes):
        blocks.append(Text(words("run.pending.bounded", told=stories, count=len(causes))))
    blocks.append(Fold(words("run.pending.all"), (_pod_table(causes, words),)))
    return Section("pending", words("run.pending.title"), tuple(blocks), brief=True)


def _causes(one: Shown, words: Words) -> list[Cause]:
    """Return the causes of a run, the commonest first; how many nodes were refused does not tell two apart."""
    said: dict[tuple[str, str], tuple[str, tuple[str, ...], Explanation | None]] = {}
    causes: dict[tuple[str, tuple[str, ...]], Cause] = {}
    held = HeldUp(one.run.record)
    for pod in one.run.record.pods:
        if not pod.pending:
            continue
        condition = pod.condition
        known = (
            (condition.reason, condition.message) if condition and condition.status != "True" else ("", pod.scheduler)
        )
        if not known[0] and held.by(pod):
            known = ("", HELD_UP)
        if known not in said:
            said[known] = _reason(*known, words)
        reason, plugins, explained = said[known]
        causes.setdefault((reason, plugins), Cause(one, reason, plugins, explained)).pods.append(pod)
    return sorted(causes.values(), key=lambda cause: -len(cause.pods))


def _reason(condition: str, message: str, words: Words) -> tuple[str, tuple[str, ...], Explanation | None]:
    """Return what keeps a pod pending, without numbers of nodes, and the plugins that say so."""
    if not condition and message == HELD_UP:
        return words("run.pending.held-up"), (), None
    if not condition:
        return words("run.pending.silent", scheduler=message), (), None
    explained = explain(message)
    parts = [words.phrase(text) for text in dict.fromkeys(reason.text for reason in explained.reasons)]
    if explained.general:
        parts.append(words.phrase(explained.general))
    plugins = dict.fromkeys(
        reason.plugin or words("run.pending.unknown-plugin") for reason in explained.reasons
    ) | dict.fromkeys([explained.general_plugin] if explained.general_plugin else [])
    return words("run.list").join(parts) or condition, tuple(str(name) for name in plugins), explained


def _table(causes: Sequence[Cause], words: Words) -> Table:
    keys = ("pods", "reason", "refused_by", "nodes_refused", "nodes_looked_at")
    columns = (
        *key_columns(words),
        *(Column(key, words(f"run.column.{key}")) for key in keys),
        Column("longest_wait_ms", words("run.column.longest_wait_ms"), 1),
        Column("examples", words("run.column.examples")),
    )
    rows: list[tuple[Cell, ...]] = []
    for cause in causes:
        record, explained = cause.one.run.record, cause.explained
        refused = explained and "; ".join(str(reason) for reason in explained.reasons)
        waited = 1000 * max(waited_seconds(record, pod) for pod in cause.pods)
        names = words("run.list").join(pod.full_name for pod in cause.pods[:EXAMPLES_MAX])
        by = words("run.list").join(cause.refused_by)
        looked_at = explained.total if explained else None
        rows.append((*cause.one.keys, len(cause.pods), cause.reason, by, refused or None, looked_at, waited, names))
    marks = dict.fromkeys(range(len(rows)), "warning")
    note = words("run.pending.note")
    title = words("run.pending.table")
    return Table("pending", title, columns, tuple(rows), note, marks=marks, filters=("scenario", "variant"))


def _pod_table(causes: Sequence[Cause], words: Words) -> Table:
    columns = (
        *key_columns(words),
        Column("pod", words("run.column.pod")),
        Column("waited_ms", words("run.column.waiting_ms"), 1),
        Column("reason", words("run.column.reason")),
    )
    rows = [
        (*cause.one.keys, pod.full_name, 1000 * waited_seconds(cause.one.run.record, pod), cause.reason)
        for cause in causes
        for pod in cause.pods
    ]
    filters = ("scenario", "variant", "reason")
    return Table("pending-pods", words("run.pending.pods"), columns, tuple(rows), filters=filters)


def _story(cause: Cause, words: Words) -> Iterator[Fold]:
    record, name = cause.one.run.record, cause.pods[0].full_name
    small = readable(0, _calls_bytes, record) <= CALLS_BYTES_MAX
    story = readable(None, lambda: tell(record, name, calls=small))
    if story is not None:
        title = words("run.pending.story", pod=story.pod, run=cause.one.title, count=len(cause.pods))
        bounded = () if small else (Text(words("run.pending.large", pod=name)),)
        yield Fold(title, (*_story_blocks(story, words), *bounded))


def _calls_bytes(record: Record) -> int:
    """Return how much has to be read to tell what extenders and plugins did with one pod."""
    trace = record.path / TRACE
    bodies = sum(call.request_bytes + call.response_bytes for call in record.calls)
    return bodies + (trace.stat().st_size if trace.exists() else 0)


def _story_blocks(story: PodStory, words: Words) -> Iterator[Block]:
    yield Text(words.phrase(story.headline))
    for part in _PARTS:
        lines: Sequence[str] = getattr(story, part)
        if lines:
            yield Text(words(f"run.pending.{part}"))
            hidden = [words("run.more", count=len(lines) - _LINES_MAX)] if len(lines) > _LINES_MAX else []
            yield Listing((*(words.phrase(line) for line in lines[:_LINES_MAX]), *hidden))


def _not_started(one: Shown) -> tuple[str, ...]:
    """Return what pods wait for that have a node and do not run."""
    return readable((), images, one.run.record, one.run.record.pods)
