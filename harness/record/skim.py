"""Reads just enough of a record to place it among thousands: what ran, and how long its pods waited. It keeps no lines.

It reads `run.json`, the scenario and the pods, each once. Anything damaged is an error, a cut last line too: a run that
finished wrote all of them.
"""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from harness.errors import RecordError
from harness.record.model import RunMeta
from harness.record.read import read_meta

SCENARIO = Path("inputs", "scenario.json")
PODS = "pods.jsonl"
EXTENDERS = "extenders.json"
# What else a record holds about pods: events of theirs, controllers that counted some, steps that created one.
_SIGNS = {"events": b'"kind":"Pod"', "workloads": b'"current":[1-9]', "steps": b'"Pod/'}


@dataclass(frozen=True, slots=True)
class Skimmed:
    """How long the pods of a run waited for their nodes.

    Args:
        waits_seconds: of each bound pod, from its creation to its binding, in no order.
        first_t: when the first pod that was bound later was created; None if none was.
        last_t: when the last pod was bound.
    """

    waits_seconds: tuple[float, ...]
    first_t: float | None
    last_t: float | None

    @property
    def pods_per_second(self) -> float | None:
        """Return how many pods were bound per second, from the first creation to the last binding."""
        if self.first_t is None or self.last_t is None or self.last_t <= self.first_t:
            return None
        return len(self.waits_seconds) / (self.last_t - self.first_t)


def skim_meta(path: Path) -> RunMeta:
    """Return what `run.json` says.

    Raises:
        RecordError: it is missing, damaged or of an unknown format.
    """
    return read_meta(path)


def skim_inputs(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """Return the scenario as it was written down, and the subjects of the extenders.

    Raises:
        RecordError: the scenario is missing or damaged.
    """
    scenario = _json(path / SCENARIO)
    extenders = _json(path / EXTENDERS) if (path / EXTENDERS).exists() else []
    if not isinstance(scenario, dict) or not isinstance(extenders, list):
        raise RecordError(f"{path}: its inputs are damaged; run the scenario again")
    return scenario, [str(one.get("subject", "")) for one in extenders if isinstance(one, dict)]


def skim_pods(path: Path) -> Skimmed:
    """Return how long pods waited.

    Raises:
        RecordError: a line is damaged, or all of them are lost.
    """
    file = path / PODS
    created: dict[str, float] = {}
    bound: dict[str, float] = {}
    number = 0
    try:
        with file.open("rb") as lines:
            for line in lines:
                number += 1
                if not line.endswith(b"\n"):
                    raise RecordError(f"{file}:{number}: cut; run the scenario again")
                seen = orjson.loads(line)
                uid = seen["uid"]
                t = float(seen["t"])
                created.setdefault(uid, t)
                if seen.get("node") and uid not in bound:
                    bound[uid] = t
    except FileNotFoundError:
        # A run without pods writes no such file.
        number = 0
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{file}:{number}: damaged ({error}); run the scenario again") from error
    if not number and (told := lost_pods(path)):
        raise RecordError(f"{path}/{told}; run the scenario again")
    waits = tuple(t - created[uid] for uid, t in bound.items())
    return Skimmed(waits, min((created[uid] for uid in bound), default=None), max(bound.values(), default=None))


def lost_pods(path: Path) -> str | None:
    """Say that the pods of a record are lost: it has none, although another file tells of some; None if not."""
    if (path / PODS).exists() and (path / PODS).stat().st_size:
        return None
    for stream, sign in _SIGNS.items():
        file = path / f"{stream}.jsonl"
        with contextlib.suppress(OSError), file.open("rb") as lines:
            if any(re.search(sign, line) for line in lines):
                return f"{PODS}: no line is there, although {file.name} tells of pods"
    return None


def _json(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"{file}: cannot be read ({error}); run the scenario again") from error
