"""What the process that makes the load is told: one file of JSON, and one with the requests, ready to be sent."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.extender.entry import Entry
from harness.load.schedule import Plan

ORDER, REQUESTS = "order.json", "requests.bin"
VARIABLE = "HARNESS_LOAD_ORDER"
"""The environment variable with the path of the order."""


@dataclass(frozen=True)
class Request:
    """One request, whole: head and body."""

    verb: str
    pod: int
    data: bytes


@dataclass(frozen=True)
class Order:
    """One measurement.

    Args:
        target: the extender, as its entry says where and how it is spoken to.
        requests: what is sent, again from the first when the last was sent.
        seconds: how long requests are started, the warm-up included.
        warmup_seconds: how long it takes until samples count.
        plan: the arrivals of an open load; None for a closed one.
        schedulers: how many schedulers a closed load has.
        null: a server that does nothing, for the generator's own share; asked before the extender is.
        floor_seconds: how long it is asked.
        workers: how many processes share the work.
        pids: the extender's processes, whose CPU time is read.
        by_message: workers send their samples to the master, because they see another disk.
    """

    target: Entry
    requests: tuple[Request, ...]
    seconds: float
    warmup_seconds: float
    plan: Plan | None = None
    schedulers: int = 0
    null: Entry | None = None
    floor_seconds: float = 0.0
    workers: int = 1
    pids: tuple[int, ...] = ()
    by_message: bool = False
    digest: str = field(default="", compare=False)

    @property
    def drain_seconds(self) -> float:
        """Return how long answers are awaited after the last request: as long as kube-scheduler would wait."""
        return self.target.timeout_seconds

    def write(self, folder: Path) -> Path:
        """Write the order into a folder, which also receives the samples; return its file."""
        values = {
            **{name: value for name, value in asdict(self).items() if name not in ("requests", "digest")},
            "target": self.target.to_json(),
            "null": self.null.to_json() if self.null else None,
            "plan": self.plan.to_json() if self.plan else None,
            "requests": _table(self.requests),
        }
        with (folder / REQUESTS).open("wb") as stream:
            for request in self.requests:
                stream.write(request.data)
        path = folder / ORDER
        # The key of a certificate may be in it.
        path.touch(mode=0o600)
        path.chmod(0o600)
        path.write_bytes(orjson.dumps(values))
        return path

    @classmethod
    def read(cls, path: Path) -> "Order":
        """Return the order of a file."""
        values = orjson.loads(path.read_bytes())
        content = (path.parent / REQUESTS).read_bytes()
        requests = tuple(
            Request(one["verb"], one["pod"], content[one["offset"] : one["offset"] + one["length"]])
            for one in values["requests"]
        )
        # What all workers must agree on; pids and the null server are of one machine.
        same = {name: values[name] for name in ("seconds", "warmup_seconds", "plan", "schedulers", "workers")}
        digest = hashlib.sha256(orjson.dumps(same) + content).hexdigest()[:16]
        return cls(
            target=Entry.from_json(values["target"]),
            requests=requests,
            seconds=values["seconds"],
            warmup_seconds=values["warmup_seconds"],
            plan=Plan.from_json(values["plan"]) if values["plan"] else None,
            schedulers=values["schedulers"],
            null=Entry.from_json(values["null"]) if values["null"] else None,
            floor_seconds=values["floor_seconds"],
            workers=values["workers"],
            pids=tuple(values["pids"]),
            by_message=values["by_message"],
            digest=digest,
        )


def _table(requests: Sequence[Request]) -> list[dict[str, Any]]:
    table, offset = [], 0
    for request in requests:
        table.append({"verb": request.verb, "pod": request.pod, "offset": offset, "length": len(request.data)})
        offset += len(request.data)
    return table
