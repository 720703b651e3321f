"""Names for the runs of a report: which belong together, and what tells each from the others. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.errors import HarnessError
from harness.report.document import Cell, Column
from harness.report.summary import RunSummary
from harness.report.words import Words

GROUPS_DRAWN_MAX = 8
RUNS_DRAWN_MAX = 6
_NAME = re.compile(r"[^A-Za-z0-9._]+")
_DIGITS = re.compile(r"(\d+)")
_SIDE = re.compile(r" #\d+$")
# What a damaged record makes of values that are there, but not of the kind expected.
_DAMAGE = (HarnessError, OSError, KeyError, TypeError, ValueError, AttributeError, IndexError)

Value = TypeVar("Value")
Other = TypeVar("Other")


# Compared by identity: comparing two records would take long, and none equals another.
@dataclass(frozen=True, eq=False)
class Shown:
    """One run with the names under which a report shows it.

    Args:
        scenario: scenario and size.
        variant: the variant, with what else tells its runs apart, such as the extender that was brought; `default #2`
            is the second side of a comparison, or the second configuration of the scheduler.
        repeat: which of the runs with the same scenario and variant, from 1.
        label: its name among the runs of the same scenario.
        title: its name among all runs.
    """

    run: RunSummary
    scenario: str
    variant: str
    repeat: int
    label: str
    title: str

    @property
    def keys(self) -> tuple[Cell, ...]:
        """Return the cells that stand first in every table that has a row per run."""
        return self.scenario, self.variant, self.repeat


@dataclass(frozen=True)
class Group:
    """The runs of one scenario at one size; `suffix` makes names of files distinct, empty if there is one group."""

    scenario: str
    suffix: str
    runs: tuple[Shown, ...]

    @property
    def variants(self) -> list[str]:
        """Return the variants, each once."""
        return list(dict.fromkeys(one.variant for one in self.runs))


def key_columns(words: Words) -> tuple[Column, ...]:
    """Return the columns of `Shown.keys`."""
    return tuple(Column(key, words(f"run.column.{key}")) for key in ("scenario", "variant", "repeat"))


def shown(runs: Sequence[RunSummary]) -> tuple[Shown, ...]:
    """Return every run with its names."""
    variants = _variants(runs)
    pairs = [(_scenario(run), variant) for run, variant in zip(runs, variants, strict=True)]
    often, seen = Counter(pairs), Counter[tuple[str, str]]()
    named = []
    for run, pair in zip(runs, pairs, strict=True):
        seen[pair] += 1
        scenario, variant = pair
        label = _label(variant, seen[pair]) if often[pair] > 1 else variant
        named.append(Shown(run, scenario, variant, seen[pair], label, f"{scenario} {label}"))
    return tuple(named)


def groups(runs: Sequence[RunSummary]) -> tuple[Group, ...]:
    """Return the runs by scenario and size, in their order."""
    members: dict[str, list[Shown]] = {}
    for one in shown(runs):
        members.setdefault(one.scenario, []).append(one)
    if len(members) == 1:
        return tuple(Group(scenario, "", tuple(some)) for scenario, some in members.items())
    taken: Counter[str] = Counter()
    made = []
    for scenario, some in members.items():
        name = slug(scenario)
        taken[name] += 1
        made.append(Group(scenario, f"-{name}" if taken[name] == 1 else f"-{name}-{taken[name]}", tuple(some)))
    return tuple(made)


def slug(text: str) -> str:
    """Return a text as part of a file's name."""
    return _NAME.sub("-", text).strip("-.")[:80] or "run"


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return what puts node-2 before node-10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name) if part)


def readable(otherwise: Other, make: Callable[..., Value], *of: object) -> Value | Other:
    """Return what a record says, or something else if that part of it is damaged."""
    try:
        return make(*of)
    except _DAMAGE:
        return otherwise


def trouble(make: Callable[..., object], *of: object) -> str | None:
    """Return what is wrong with a part of a record, None if it can be read."""
    try:
        make(*of)
    except HarnessError as error:
        return str(error)
    except _DAMAGE as error:
        return f"{type(error).__name__}: {error}"
    return None


def _scenario(run: RunSummary) -> str:
    return f"{run.record.meta.scenario}[{run.record.meta.size}]"


def _variants(runs: Sequence[RunSummary]) -> list[str]:
    """Return the variant of each run; runs that are unlike although both names are the same get more of a name."""
    traits = [_traits(run) for run in runs]
    alike: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for run, own in zip(runs, traits, strict=True):
        alike.setdefault((_scenario(run), run.record.meta.variant), []).append(own)
    names = []
    for run, own in zip(runs, traits, strict=True):
        others = alike[_scenario(run), run.record.meta.variant]
        telling = [trait for place, trait in enumerate(own) if _differs(other[place] for other in others)]
        more = f" ({', '.join(trait or '-' for trait in telling)})" if telling else ""
        names.append(f"{run.record.meta.variant}{more}")
    return [run.side or name for run, name in zip(runs, _numbered(runs, names), strict=True)]


def _numbered(runs: Sequence[RunSummary], names: Sequence[str]) -> list[str]:
    """Number what has one name and is no repeat, such as another configuration, as the sides of comparisons are."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for run, name in zip(runs, names, strict=True):
        known = kinds.setdefault((_scenario(run), name), [])
        if run.identity not in known:
            known.append(run.identity)
    numbered = []
    for run, name in zip(runs, names, strict=True):
        known = kinds[_scenario(run), name]
        numbered.append(f"{name} #{known.index(run.identity) + 1}" if len(known) > 1 else name)
    return numbered


def _label(variant: str, repeat: int) -> str:
    """Return `default #2`, and of a side that has a number itself `default #1.2`."""
    return f"{variant}.{repeat}" if _SIDE.search(variant) else f"{variant} #{repeat}"


def _traits(run: RunSummary) -> tuple[str, ...]:
    meta = run.record.meta
    subjects = " + ".join(one.subject for one in run.record.extenders)
    return subjects, meta.cluster, str(meta.versions.get("kubernetes") or "")


def _differs(values: Iterable[str]) -> bool:
    return len(set(values)) > 1
