"""Raw samples of a load: when each request was to be sent, was sent and was over, and what came of it.

Every percentile is made of these. A sample is four integers while it is being taken, so that taking it costs next to
nothing; a file of them has one array per column.
"""

import os
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import numpy

VERBS = ("filter", "prioritize", "preempt", "bind")
# What can become of a request, by code; the first is success. Files name them, so that codes may change.
OUTCOMES = (
    "ok",
    "status",  # answered, but not with 200
    "reply-error",  # answered with 200 and a text in Error
    "refused",  # nobody listens
    "unreachable",  # no connection for another reason
    "reset",  # the extender broke the connection off
    "cut",  # the extender hung up before its answer was whole
    "not-http",  # what came is no HTTP/1.1
    "timeout",  # no answer within httpTimeout; kube-scheduler gives up then
    "unanswered",  # still open when the load ended
    "overflow",  # never sent: as many requests as connections may be open were unanswered
    "no-descriptors",  # never sent: the generator has no file descriptors left
    "no-tls",  # the two could not agree on TLS
)
OK, STATUS, REPLY_ERROR, REFUSED, UNREACHABLE, RESET, CUT, NOT_HTTP, *_REST = range(len(OUTCOMES))
TIMEOUT, UNANSWERED, OVERFLOW, NO_DESCRIPTORS, NO_TLS = _REST
WAITED = (TIMEOUT, UNANSWERED, OVERFLOW)
"""Failures that kept a scheduler waiting: they count into percentiles with at least the time-out. Quick ones do not."""
OWN = (NO_DESCRIPTORS,)
"""Failures of the generator."""

COLUMNS = ("intended", "send", "done", "status", "outcome", "verb")
_SECOND_NS = 1e9
_FIELDS = 4
_STATUS_FACTOR = 10_000


@dataclass
class Taken:
    """Samples while they are being taken; times are nanoseconds of one clock."""

    values: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, intended: int, send: int, done: int, verb: int, outcome: int, status: int) -> None:
        """Keep one sample."""
        self.values.extend((intended, send, done, status + _STATUS_FACTOR * (outcome + 100 * verb)))

    def __len__(self) -> int:
        return len(self.values) // _FIELDS

    def columns(self, start_ns: int, first: int = 0, last: int | None = None) -> "dict[str, numpy.ndarray[Any, Any]]":
        """Return the columns of all samples or a part, times in seconds since the start."""
        import numpy as np  # noqa: PLC0415 - only those who measure need it

        chosen = self.values[_FIELDS * first : None if last is None else _FIELDS * last]
        table = np.array(chosen, dtype=np.int64).reshape(-1, _FIELDS)
        codes = table[:, 3]
        times = {name: (table[:, index] - start_ns) / _SECOND_NS for index, name in enumerate(COLUMNS[:3])}
        return {
            **times,
            "status": (codes % _STATUS_FACTOR).astype(np.int16),
            "outcome": (codes // _STATUS_FACTOR % 100).astype(np.int8),
            "verb": (codes // (_STATUS_FACTOR * 100)).astype(np.int8),
        }


@dataclass(frozen=True)
class Samples:
    """Samples of one measurement, merged over all workers; a column per field, in the order of intended starts."""

    columns: "Mapping[str, numpy.ndarray[Any, Any]]"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def where(self, chosen: Any) -> "Samples":
        """Return those that a mask chooses."""
        return Samples({name: column[chosen] for name, column in self.columns.items()})


def save(path: Path, columns: "Mapping[str, numpy.ndarray[Any, Any]]", meta: Mapping[str, Any] | None = None) -> None:
    """Write samples to a file that appears only when it is whole; `meta` is what goes with them, as JSON."""
    import numpy as np  # noqa: PLC0415 - see above

    extra = {} if meta is None else {"meta": np.frombuffer(orjson.dumps(meta), dtype=np.uint8)}
    # Packing costs seconds where somebody waits for the workers; what is kept is packed.
    write: Callable[..., None] = np.savez if meta is not None else np.savez_compressed
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            write(stream, **columns, **extra)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path) -> tuple[Samples, dict[str, Any]]:
    """Return the samples of a file and what goes with them.

    Raises:
        ValueError, OSError, KeyError: the file is damaged or not there.
    """
    import numpy as np  # noqa: PLC0415 - see above

    with np.load(path, allow_pickle=False) as stored:
        columns = {name: stored[name] for name in COLUMNS}
        meta = orjson.loads(stored["meta"].tobytes()) if "meta" in stored else {}
    return Samples(columns), meta


def merged(parts: Iterable[Samples]) -> Samples:
    """Return the samples of several workers as one, none left out."""
    import numpy as np  # noqa: PLC0415 - see above

    every = list(parts)
    if not every:
        return Samples({name: np.zeros(0) for name in COLUMNS})
    joined = {name: np.concatenate([part.columns[name] for part in every]) for name in COLUMNS}
    order = np.argsort(joined["intended"], kind="stable")
    return Samples(joined).where(order)
