"""Writes records of any size, as lines of JSON and without the harness's own writers: 10,000 pods take a second."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.record.call import CASSETTE
from harness.record.metrics import AFTER, BEFORE
from tests.unit.expect.records import scenario

REFUSAL = "0/{total} nodes are available: {count} Insufficient cpu, {rest} node(s) were unschedulable."
ENTRY = {
    "urlPrefix": "http://127.0.0.1:9/x",
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "weight": 1,
    "nodeCacheCapable": True,
}
PAGE = """\
# scheduler: default-scheduler
scheduler_schedule_attempts_total{{result="scheduled"}} {count}
scheduler_scheduling_attempt_duration_seconds_sum {seconds}
scheduler_scheduling_attempt_duration_seconds_count {count}
scheduler_scheduling_attempt_duration_seconds_bucket{{le="0.001"}} {half}
scheduler_scheduling_attempt_duration_seconds_bucket{{le="+Inf"}} {count}
"""


@dataclass(frozen=True)
class Large:
    """What is written: pods on nodes in turn, so many of them pending, each with calls, events and plugins' calls."""

    pods: int
    nodes: int
    pending: int = 0
    calls: bool = False
    trace: bool = False
    cassette_calls: int = 0
    variant: str = "default"
    run_id: str = "20261116-120000-large-default-0001"

    def write(self, root: Path) -> Path:
        """Return the folder of the record."""
        folder = root / self.run_id
        (folder / "inputs").mkdir(parents=True)
        _lines(folder / "nodes.jsonl", self._nodes())
        _lines(folder / "pods.jsonl", self._pods())
        _lines(folder / "events.jsonl", self._events())
        settle = {"t": 2 + self.pods / 100, "index": 0, "op": "settle", "detail": {}}
        _lines(folder / "steps.jsonl", (settle | {"phase": phase} for phase in ("start", "end")))
        _json(folder / "inputs" / "scenario.json", scenario().to_json())
        (folder / BEFORE).write_text(PAGE.format(count=0, half=0, seconds=0))
        bound = self.pods - self.pending
        (folder / AFTER).write_text(PAGE.format(count=bound, half=bound // 2, seconds=bound * 0.002))
        if self.calls:
            _lines(folder / "calls.jsonl", self._calls())
            extender = {"name": "ext", "subject": "ref:ext", "entry": ENTRY, "url": ENTRY["urlPrefix"]}
            _json(folder / "extenders.json", [extender])
            if self.cassette_calls:
                self._cassette(folder / CASSETTE)
        if self.trace:
            _lines(folder / "trace.jsonl", self._trace())
        _json(folder / "run.json", self._meta())
        return folder

    def _meta(self) -> dict[str, Any]:
        return {
            "format": 1,
            "id": self.run_id,
            "scenario": "synthetic",
            "size": "default",
            "variant": self.variant,
            "cluster": "embedded",
            "status": "finished",
            "settled": True,
            "started_at": "2026-11-16T12:00:00+00:00",
            "duration_seconds": 2 + self.pods / 100,
            "observed_seconds": 2 + self.pods / 100,
            "seed": 0,
        }

    def created_t(self, number: int) -> float:
        """Return when a pod is created: two hundred per second."""
        return 1 + number / 200

    def bound_t(self, number: int) -> float:
        """Return when a pod is bound: at half the speed of creation, so that later ones wait longer."""
        return 1 + number / 100 + 0.01

    def node_of(self, number: int) -> str:
        """Return the node of a pod: earlier nodes get more."""
        return f"node-{min(number % self.nodes, number * 7 % self.nodes)}"

    def _nodes(self) -> Iterator[dict[str, Any]]:
        for number in range(self.nodes):
            yield {
                "t": 0.1,
                "event": "ADDED",
                "uid": f"n{number}",
                "name": f"node-{number}",
                "labels": {"zone": f"z{number % 3}"},
                "taints": [],
                "unschedulable": False,
                "ready": True,
                "allocatable": {"cpu": 400_000, "memory": 2**40, "pods": 100_000},
            }

    def _pods(self) -> Iterator[dict[str, Any]]:
        """Yield lines per pod, not in the order of time: readers take each pod by itself."""
        for number in range(self.pods):
            line = {
                "uid": f"p{number}",
                "namespace": "default",
                "name": f"pod-{number}",
                "labels": {"app": "large"},
                "owner": None,
                "scheduler": "default-scheduler",
                "priority": 0,
                "requests": {"cpu": 100, "memory": 0, "pods": 1},
                "node": None,
                "phase": "Pending",
                "scheduled": None,
            }
            created_t, bound_t = self.created_t(number), self.bound_t(number)
            yield {**line, "t": created_t, "event": "ADDED"}
            if number >= self.pods - self.pending:
                refused = {"status": "False", "reason": "Unschedulable", "message": self._refusal(number)}
                yield {**line, "t": created_t + 0.05, "event": "MODIFIED", "scheduled": refused}
                continue
            line = {**line, "node": self.node_of(number), "scheduled": {"status": "True"}, "event": "MODIFIED"}
            yield {**line, "t": bound_t}
            yield {**line, "t": bound_t + 0.02, "phase": "Running", "ready": True}

    def _refusal(self, number: int) -> str:
        short = number % self.nodes
        return REFUSAL.format(total=self.nodes, count=short, rest=self.nodes - short)

    def _events(self) -> Iterator[dict[str, Any]]:
        for number in range(self.pods):
            pending = number >= self.pods - self.pending
            about = {"kind": "Pod", "namespace": "default", "name": f"pod-{number}", "uid": f"p{number}"}
            yield {
                "t": self.created_t(number) + 0.05 if pending else self.bound_t(number),
                "uid": f"e{number}",
                "reason": "FailedScheduling" if pending else "Scheduled",
                "type": "Warning" if pending else "Normal",
                "message": self._refusal(number) if pending else f"bound to {self.node_of(number)}",
                "object": about,
                "count": 1 + number % 3 if pending else 1,
                "source": "default-scheduler",
            }

    def _calls(self) -> Iterator[dict[str, Any]]:
        for number in range(2 * self.pods):
            pod, prioritize = divmod(number, 2)
            t = self.created_t(pod) + 0.001 * prioritize
            yield {
                "extender": "ext",
                "seq": number + 1,
                "t": t,
                "end_t": t + 0.0005 + (number % 100) / 100_000,
                "kind": "prioritize" if prioritize else "filter",
                "path": "/prioritize" if prioritize else "/filter",
                "ending": "answered",
                "status": 200,
                "request_bytes": 12 * self.nodes,
                "response_bytes": 12 * self.nodes,
                "pod": f"default/pod-{pod}",
                "uid": f"p{pod}",
                "attempt": 1,
                "nodes_in": self.nodes,
                "nodes_out": self.nodes,
            }

    def _cassette(self, file: Path) -> None:
        names = [f"node-{number}" for number in range(self.nodes)]
        with CassetteWriter(file, {"extenders": [{"name": "ext", "subject": "ref:ext", "entry": ENTRY}]}) as writer:
            for line in self._calls():
                if line["seq"] > self.cassette_calls:
                    break
                is_filter = line["kind"] == "filter"
                scores = [{"Host": name, "Score": place % 11} for place, name in enumerate(names)]
                writer.append(
                    CassetteCall(
                        **{key: line[key] for key in ("extender", "seq", "t", "kind", "path", "status", "pod", "uid")},
                        attempt=1,
                        seconds=line["end_t"] - line["t"],
                        request={"NodeNames": names},
                        response={"NodeNames": names} if is_filter else scores,
                    )
                )

    def _trace(self) -> Iterator[dict[str, Any]]:
        for number in range(self.pods):
            for place, point in enumerate(("PreFilter", "Filter", "Score", "Reserve", "Bind")):
                yield {
                    "t": self.created_t(number) + 0.0001 * place,
                    "point": point,
                    "plugin": f"Plugin{place % 3}",
                    "code": "Success",
                    "seconds": 0.000_002,
                    "pod": f"default/pod-{number}",
                    "uid": f"p{number}",
                    "attempt": 1,
                    "node": None,
                    "text": None,
                    "count": self.nodes if point == "Filter" else 1,
                    "codes": {"Success": self.nodes} if point == "Filter" else {"Success": 1},
                }


def _lines(file: Path, lines: Iterator[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(line)}\n" for line in lines)


def _json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")
