"""Says whether runs can be held against each other, and names every input in which they differ. Pure."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from harness.errors import InputError
from harness.record.model import Record
from harness.record.skim import lost_pods

# What says nothing about what was run: where it was written, in which words, what was expected of it.
UNTOLD = frozenset({"path", "source", "summary", "labels", "expect", "variants", "clusters", "on"})
# Load beyond this many running programs per core changes how long things take.
LOAD_PER_CORE_MAX = 1.0
VALUE_CHARACTERS_MAX = 60
NODES_NAMED_MAX = 3
RECORD = "record"
"""The key of what is damaged of a record itself; `seen` is then a sentence."""
# A warning about a file of lines.
_CUT = re.compile(r"[a-z]+\.jsonl:")
# What differs between repeats: the folder of the cluster, ports.
_CHANCE = re.compile(r"/[^\s\"']+/clusters/[^\s\"']+|(?<=://)[^/\s\"']+")


@dataclass(frozen=True)
class Unlike:
    """One input in which a run differs from the first.

    Args:
        run: the run's id.
        key: the input, such as `scenario.steps` or `versions.kubernetes`.
        seen: its value there.
        expected: its value in the first run.
        refuses: whether the two should not be compared at all.
        slows: whether times and speeds say nothing about the scheduler then.
    """

    run: str
    key: str
    seen: str
    expected: str
    refuses: bool = False
    slows: bool = False

    def sentence(self) -> str:
        """Say it as an error does."""
        if self.key == RECORD:
            return f"{self.run}: {self.seen}; {self.expected} expected"
        return f"{self.run}: {self.key}: {self.seen} seen, {self.expected} expected"

    def to_json(self) -> dict[str, Any]:
        """Return it as a program reads it."""
        return asdict(self)


def unlike(records: Sequence[Record]) -> tuple[Unlike, ...]:
    """Return every input in which a run differs from the first, run by run.

    What is wrong with a run by itself is told of the first too: that it did not finish, that its record is damaged.
    """
    first = records[0]
    return (*_status(first), *_damage(first), *(one for record in records[1:] for one in _differences(record, first)))


def refuse(found: Sequence[Unlike], hint: str) -> None:
    """Raise an error if runs should not be compared.

    Raises:
        InputError: they are of another scenario or of other nodes; it says which and how.
    """
    refused = [one.sentence() for one in found if one.refuses]
    if refused:
        raise InputError("\n".join([*refused, hint]))


def scenario_digest(scenario: Mapping[str, Any]) -> str:
    """Return a short text that is the same for scenarios that do the same, `scenario` being its JSON."""
    told = {key: value for key, value in scenario.items() if key not in UNTOLD}
    return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def identity(record: Record) -> str:
    """Return what repeats have in common, as a short text."""
    entries = [
        [extender.name, extender.subject, {key: value for key, value in extender.entry.items() if key != "urlPrefix"}]
        for extender in record.extenders
    ]
    try:
        config = (record.path / "scheduler-config.yaml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        config = ""
    told = orjson.dumps([record.meta.variant, entries, _CHANCE.sub("", config)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(told).hexdigest()[:16]


def _differences(record: Record, first: Record) -> Iterator[Unlike]:
    run, mine, theirs = record.meta.id, record.meta, first.meta
    yield from _scenario(record, first)
    yield from _nodes(record, first)
    for key in ("cluster", "seed"):
        here, there = getattr(mine, key), getattr(theirs, key)
        if here != there:
            yield Unlike(run, key, _shown(here), _shown(there), slows=key == "cluster")
    for key in sorted({*mine.versions, *theirs.versions}):
        here, there = mine.versions.get(key), theirs.versions.get(key)
        # What only one provider has, such as a version of Docker, is told by the provider.
        if here != there and (mine.cluster == theirs.cluster or None not in (here, there)):
            yield Unlike(run, f"versions.{key}", _shown(here), _shown(there))
    yield from _machine(run, mine.machine, theirs.machine)
    yield from _status(record)
    yield from _damage(record)


def _status(record: Record) -> Iterator[Unlike]:
    if record.meta.status != "finished":
        yield Unlike(record.meta.id, "status", record.meta.status, "finished", slows=True)


def _damage(record: Record) -> Iterator[Unlike]:
    """Say what is missing of a record; only of a run that did not finish that is no surprise."""
    problems = [warning for warning in record.warnings if _CUT.match(warning)]
    lost = lost_pods(record.path) if not record.pods else None
    finished = record.meta.status == "finished"
    for problem in [*problems, *([lost] if lost else [])][:1]:
        yield Unlike(record.meta.id, RECORD, problem, "a whole record", refuses=finished, slows=True)


def _scenario(record: Record, first: Record) -> Iterator[Unlike]:
    here, there = record.scenario.to_json(), first.scenario.to_json()
    keys = [key for key in {**there, **here} if key not in UNTOLD and here.get(key) != there.get(key)]
    for key in keys:
        name = key if key == "size" else f"scenario.{key}"
        yield Unlike(record.meta.id, name, *_pair(here.get(key), there.get(key)), refuses=True)
    if here.get("expect") != there.get("expect"):
        yield Unlike(record.meta.id, "scenario.expect", *_pair(here.get("expect"), there.get("expect")))


def _nodes(record: Record, first: Record) -> Iterator[Unlike]:
    here, there = _offers(record), _offers(first)
    run = record.meta.id
    if missing := sorted(there.keys() - here.keys()):
        yield Unlike(run, "nodes", f"{len(here)} without {_some(missing)}", f"{len(there)} with them", refuses=True)
    if added := sorted(here.keys() - there.keys()):
        yield Unlike(run, "nodes", f"{len(here)} with {_some(added)}", f"{len(there)} without", refuses=True)
    changed = [name for name in there if name in here and here[name] != there[name]]
    if changed:
        name = changed[0]
        key = next(key for key in {**there[name], **here[name]} if here[name].get(key) != there[name].get(key))
        seen, expected = here[name].get(key, 0), there[name].get(key, 0)
        more = f" (and {len(changed) - 1} more nodes)" if changed[1:] else ""
        yield Unlike(run, f"nodes.{name}.{key}", f"{seen}{more}", str(expected), refuses=True)


def _offers(record: Record) -> dict[str, Mapping[str, int]]:
    """Return what each node had to give in the end: a real node says it only when it is ready."""
    found: dict[str, Mapping[str, int]] = {}
    for node in record.nodes:
        offered = node.observations[-1].allocatable
        found[node.name] = {key: amount for key, amount in offered.items() if amount}
    return found


def _machine(run: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Unlike]:
    if mine.get("id") != theirs.get("id"):
        yield Unlike(run, "machine.id", _shown(mine.get("id")), _shown(theirs.get("id")), slows=True)
        return
    here, there = mine.get("load_at_start"), theirs.get("load_at_start")
    if isinstance(here, int | float) and isinstance(there, int | float):
        cores = mine.get("cores") or 1
        if abs(here - there) / cores > LOAD_PER_CORE_MAX:
            yield Unlike(run, "machine.load_at_start", f"{here:.1f}", f"{there:.1f}")


def _pair(seen: object, expected: object) -> tuple[str, str]:
    """Return two values so short that they can be read, from where they begin to differ."""
    here, there = _shown(seen), _shown(expected)
    if max(len(here), len(there)) <= VALUE_CHARACTERS_MAX:
        return here, there
    place = next((at for at, (one, two) in enumerate(zip(here, there, strict=False)) if one != two), 0)
    start = max(0, place - 20)
    return _cut(here, start), _cut(there, start)


def _cut(text: str, start: int) -> str:
    end = start + VALUE_CHARACTERS_MAX
    return f"{'…' if start else ''}{text[start:end]}{'…' if len(text) > end else ''}"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def _some(names: Sequence[str]) -> str:
    rest = len(names) - NODES_NAMED_MAX
    return ", ".join(names[:NODES_NAMED_MAX]) + (f" and {rest} more" if rest > 0 else "")
