"""Names of results for people: what tells lines of one picture apart, and no more. Pure."""

from collections.abc import Sequence
from typing import TypeVar

from harness.record.load import Knee, LoadRecord, LoadResult
from harness.record.regress import Comparison
from harness.report.load import shortened
from harness.report.words import Words

Thing = TypeVar("Thing")
LABEL_CHARACTERS_MAX = 44
RECORD_CHARACTERS_MAX = 22
JOINT = " · "
DIGITS = ((100.0, 0), (10.0, 1), (0.1, 2), (0.01, 3))


def result_title(result: LoadResult, words: Words) -> str:
    """Return the name of a result among those of one subject."""
    return JOINT.join([result.verb, size_text(result, words), load_text(result, words)])


def size_text(one: LoadResult | Knee | Comparison, words: Words) -> str:
    """Say how many nodes a request names, and how."""
    text = words(f"load.size.{one.wire}" if one.wire in ("names", "objects") else "load.size.other", nodes=one.nodes)
    kib = None if isinstance(one, Comparison) else one.node_kib
    return text if kib is None else words("load.size.of", size=text, kib=words("load.kib", kib=number(kib)))


def load_text(result: LoadResult, words: Words) -> str:
    """Say who asked, and how often."""
    if result.rate is None:
        return closed_text(result.schedulers or 1, words)
    return words("load.open", rate=number(result.rate))


def closed_text(schedulers: int, words: Words) -> str:
    """Say how many schedulers asked."""
    return words("load.closed.one") if schedulers == 1 else words("load.closed.many", schedulers=schedulers)


def labels(results: Sequence[tuple[LoadRecord, LoadResult]], words: Words) -> list[str]:
    """Return a name for each result, made of what differs among them; every name is another."""
    parts = [
        (
            shortened(result.subject, LABEL_CHARACTERS_MAX),
            result.verb,
            size_text(result, words),
            load_text(result, words),
            shortened(record.path.name, RECORD_CHARACTERS_MAX),
        )
        for record, result in results
    ]
    return distinct(parts, otherwise=1)


def knee_labels(knees: Sequence[tuple[LoadRecord, Knee]], words: Words) -> list[str]:
    """Return a name for each knee, in the same way."""
    parts = [
        (
            shortened(knee.subject, LABEL_CHARACTERS_MAX),
            knee.verb,
            size_text(knee, words),
            shortened(record.path.name, RECORD_CHARACTERS_MAX),
        )
        for record, knee in knees
    ]
    return distinct(parts, otherwise=1)


def distinct(parts: Sequence[tuple[str, ...]], otherwise: int) -> list[str]:
    """Return a name for each, of the parts in which they differ.

    The last part, the record, is used only where nothing else tells them apart. Where even that does not, they are
    numbered.
    """
    differing = [place for place in range(len(parts[0]) - 1 if parts else 0) if len({one[place] for one in parts}) > 1]
    names = [JOINT.join(one[place] for place in differing) or one[otherwise] for one in parts]
    shared = {name for name in names if names.count(name) > 1}
    told = [JOINT.join([name, *([one[-1]] if name in shared else [])]) for name, one in zip(names, parts, strict=True)]
    return _numbered(told if len({one[-1] for one in parts}) > 1 else names)


def grouped(things: Sequence[Thing], keys: Sequence[Sequence[object]], most: int) -> list[list[Thing]]:
    """Return things in groups of at most so many, cut where as few keys differ as make the groups small enough.

    Args:
        things: what is to be grouped.
        keys: for each thing its keys, the most telling first.
        most: how many a group may have.
    """
    for depth in range(len(keys[0]) + 1 if keys else 0):
        groups: dict[tuple[object, ...], list[Thing]] = {}
        for thing, key in zip(things, keys, strict=True):
            groups.setdefault(tuple(key[:depth]), []).append(thing)
        if all(len(group) <= most for group in groups.values()):
            return list(groups.values())
    return [list(things[place : place + most]) for place in range(0, len(things), most)]


def number(value: float) -> str:
    """Return a number with as many digits as tell something: 1293, 12.3, 0.41."""
    digits = next((digits for least, digits in DIGITS if abs(value) >= least), 4)
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _numbered(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told
