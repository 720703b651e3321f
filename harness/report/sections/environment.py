"""What the runs were made with, and how to make them again: versions, machine, command, seed, configuration. Pure."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from harness.report.document import Block, Cell, Code, Column, Facts, Fold, Section, Table, Text
from harness.report.sections.grouping import Shown, key_columns, readable, shown
from harness.report.sources import Sources
from harness.report.words import Words

CONFIG = "scheduler-config.yaml"
SCENARIO = "inputs/scenario.yaml"
VERSIONS = ("kubernetes", "etcd", "kwok", "harness", "python")
SETTINGS = ("verbosity", "qps", "burst", "leaderElect", "traced")
COMMANDS_MAX = 20
FILES_MAX = 12
RUNS_NAMED_MAX = 5
_CHARACTERS_MAX = 40_000
_GIGABYTE = 1_000_000_000


def section(sources: Sources, words: Words) -> Section | None:
    """Return the chapter about how the runs were made."""
    runs = shown(sources.runs)
    if not runs:
        return None
    blocks: list[Block] = [Facts(tuple(_facts(runs, words))), Text(words("run.environment.repeat"))]
    blocks.append(Code(_limited_lines(list(dict.fromkeys(repeated(one) for one in runs)), words), "console"))
    others = dict.fromkeys(_pytest(one) for one in runs if one.run.record.meta.command and not _is_own(one))
    if others:
        code = Code(_limited_lines(list(others), words), "console")
        blocks.append(Fold(words("run.environment.recorded"), (code,)))
    blocks += _files(runs, CONFIG, "run.environment.config", words)
    blocks += _files(runs, SCENARIO, "run.environment.scenario", words)
    blocks.append(Fold(words("run.environment.runs"), (_table(runs, words),)))
    return Section("environment", words("run.environment.title"), tuple(blocks))


def repeated(one: Shown) -> str:
    """Return the command that makes the same run again: the one that was given, or what it comes down to."""
    meta = one.run.record.meta
    if _is_own(one):
        return shlex.join(["harness", *map(str, meta.command[1:])])
    words = ["harness", "run", meta.scenario, "--size", meta.size, "--variant", meta.variant]
    if meta.seed is not None:
        words += ["--seed", str(meta.seed)]
    if meta.cluster:
        words += ["--cluster", meta.cluster]
    if meta.variant == "extender" and not one.run.record.scenario.extenders:
        for extender in one.run.record.extenders:
            words += ["--extender", extender.subject]
    return shlex.join(words)


def _is_own(one: Shown) -> bool:
    command = one.run.record.meta.command
    return bool(command) and PurePath(str(command[0])).name == "harness"


def _pytest(one: Shown) -> str:
    """Return the command of a test run, of which only the arguments are recorded."""
    return shlex.join(["pytest", *map(str, one.run.record.meta.command)])


def _facts(runs: Sequence[Shown], words: Words) -> Iterator[tuple[str, str]]:
    """Yield what the runs have in common, or every value there is."""
    metas = [one.run.record.meta for one in runs]
    for name in VERSIONS:
        yield words(f"run.version.{name}"), _values((meta.versions.get(name) for meta in metas), words)
    yield words("run.column.cluster"), _values((meta.cluster for meta in metas), words)
    yield words("run.column.seed"), _values((meta.seed for meta in metas), words)
    settings = [_settings(one) for meta in metas for one in meta.schedulers if isinstance(one, Mapping)]
    if settings:
        yield words("run.environment.schedulers"), _values(iter(settings), words)
    yield words("run.environment.machine"), _values((_machine(meta.machine, words) for meta in metas), words)
    started = [_moment(text) for text in sorted(meta.started_at for meta in metas if meta.started_at)]
    yield words("run.environment.started"), _values(iter([*started[:1], *started[1:][-1:]]), words)


def _settings(scheduler: Mapping[str, Any]) -> str:
    """Return how a scheduler was set up, in its own words; what is not known is left out."""
    known = {key: scheduler.get(key) for key in SETTINGS if scheduler.get(key) is not None}
    told = ", ".join(f"{key} {str(value).lower()}" for key, value in known.items())
    return f"{scheduler.get('name')} ({told or '?'})"


def _moment(text: str) -> str:
    """Return a moment to the second, as people write it; a damaged one stays as it is."""
    moment = readable(None, datetime.fromisoformat, text)
    return text if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _machine(machine: Mapping[str, Any], words: Words) -> str | None:
    if not machine:
        return None
    memory = readable(0.0, float, machine.get("memory_bytes") or 0) / _GIGABYTE
    system = " ".join(str(machine[key]) for key in ("system", "release", "architecture") if machine.get(key))
    cores = machine.get("cores") or "?"
    cpu = machine.get("cpu") or "?"
    return words("run.environment.machine-is", cpu=cpu, cores=cores, memory=f"{memory:.1f}", system=system)


def _values(values: Iterator[Any], words: Words) -> str:
    distinct = list(dict.fromkeys(str(value) for value in values if value not in (None, "")))
    more = [words("run.more", count=len(distinct) - FILES_MAX)] if len(distinct) > FILES_MAX else []
    return words("run.join").join([*distinct[:FILES_MAX], *more]) or "-"


def _files(runs: Sequence[Shown], name: str, key: str, words: Words) -> Iterator[Block]:
    """Yield a file of each scenario and variant, each text once."""
    texts: dict[str, list[str]] = {}
    first: dict[tuple[str, str], None] = {}
    for one in runs:
        pair = (one.scenario, one.variant if name == CONFIG else "")
        if pair in first:
            continue
        first[pair] = None
        text = readable("", _text, one.run.record.path / name)
        if text:
            texts.setdefault(text, []).append(" ".join(part for part in pair if part))
    for text, places in list(texts.items())[:FILES_MAX]:
        where = words("run.list").join(places[:RUNS_NAMED_MAX])
        more = f"{words('run.list')}{words('run.more', count=len(places) - RUNS_NAMED_MAX)}"
        title = words(key, where=where + (more if len(places) > RUNS_NAMED_MAX else ""))
        yield Fold(title, (Code(_limited(text, words), "yaml"),))
    if len(texts) > FILES_MAX:
        yield Text(words("run.environment.more-files", count=len(texts) - FILES_MAX))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _limited(text: str, words: Words) -> str:
    hidden = len(text) - _CHARACTERS_MAX
    return text if hidden <= 0 else f"{text[:_CHARACTERS_MAX]}\n# {words('run.more-characters', count=hidden)}\n"


def _limited_lines(lines: Sequence[str], words: Words) -> str:
    hidden = len(lines) - COMMANDS_MAX
    return "\n".join([*lines[:COMMANDS_MAX], *([f"# {words('run.more', count=hidden)}"] if hidden > 0 else [])])


def _table(runs: Sequence[Shown], words: Words) -> Table:
    keys = ("cluster", "seed", "started_at")
    times = ("ready_seconds", "duration_seconds", "load_at_start")
    columns = (
        *key_columns(words),
        Column("record", words("run.column.record")),
        *(Column(key, words(f"run.column.{key}")) for key in keys),
        *(Column(key, words(f"run.column.{key}"), 2) for key in times),
        *(Column(f"{name}_version", words(f"run.version.{name}")) for name in VERSIONS),
        Column("machine", words("run.environment.machine")),
    )
    rows = tuple((*one.keys, *_cells(one)) for one in runs)
    return Table("environment", words("run.environment.runs"), columns, rows, filters=("scenario", "variant"))


def _cells(one: Shown) -> tuple[Cell, ...]:
    meta = one.run.record.meta
    versions = (str(meta.versions[name]) if meta.versions.get(name) else None for name in VERSIONS)
    load = readable(None, lambda: float(meta.machine["load_at_start"]))
    times = (meta.ready_seconds, meta.duration_seconds, load)
    machine = str(meta.machine["id"]) if meta.machine.get("id") else None
    started = _moment(meta.started_at) if meta.started_at else None
    return meta.id, meta.cluster, meta.seed, started, *times, *versions, machine
