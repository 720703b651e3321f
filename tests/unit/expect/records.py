"""Builds synthetic records, line by line as the recorder would write them, so that tests say only what matters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.record import build
from harness.record.call import EXTENDERS, Extender, calls
from harness.record.model import Record, RunMeta
from harness.record.write import RecordWriter
from harness.scenario.model import Scenario

NO_CPU = (
    "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found."
)


def scenario(
    expect: Sequence[Mapping[str, Any]] = ({"kind": "count", "total": {"min": 0}},),
    steps: Sequence[Mapping[str, Any]] = ({"op": "settle"},),
) -> Scenario:
    return Scenario.from_json(
        {
            "name": "synthetic",
            "summary": "Made by a test.",
            "size": "default",
            "parameters": {},
            "source": "",
            "manifests": {},
            "path": "synthetic.yaml",
            "steps": list(steps),
            "expect": list(expect),
        }
    )


class RecordBuilder:
    """Collects lines; `build` makes a record of them, `write` puts them on disk first."""

    def __init__(self, *expect: Mapping[str, Any], variant: str = "default", end_t: float = 10.0) -> None:
        self.expect = expect or ({"kind": "count", "total": {"min": 0}},)
        self.variant = variant
        self.end_t = end_t
        self.settled = True
        self.status = "finished"
        self.seed = 0
        self.versions = {"kubernetes": "1.36.3"}
        self.steps: list[Mapping[str, Any]] = []
        self.extenders: list[Extender] = []
        self.lines: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("pods", "nodes", "workloads", "events", "steps", "calls")
        }

    def node(
        self,
        name: str,
        *,
        t: float = 0.0,
        labels: Mapping[str, str] | None = None,
        removed_t: float | None = None,
        uid: str | None = None,
        **allocatable: int,
    ) -> "RecordBuilder":
        line = {
            "event": "ADDED",
            "uid": uid or f"uid-{name}",
            "name": name,
            "labels": labels or {},
            "taints": [],
            "unschedulable": False,
            "ready": True,
            "allocatable": {"cpu": 4000, "memory": 16 * 2**30, "pods": 110} | allocatable,
        }
        self.lines["nodes"].append({"t": t} | line)
        if removed_t is not None:
            self.lines["nodes"].append({"t": removed_t} | line | {"event": "DELETED"})
        return self

    def node_changes(self, name: str, t: float, **changes: Any) -> "RecordBuilder":
        last = next(line for line in reversed(self.lines["nodes"]) if line["name"] == name)
        self.lines["nodes"].append(last | changes | {"t": t, "event": "MODIFIED"})
        return self

    def pod(  # noqa: PLR0913 - each test names the one or two that matter to it
        self,
        name: str,
        node: str | None = None,
        *,
        created_t: float = 1.0,
        bound_t: float | None = None,
        deleted_t: float | None = None,
        message: str | None = None,
        reason: str = "Unschedulable",
        phase: str = "Running",
        **more: Any,
    ) -> "RecordBuilder":
        """Add a pod that is created, perhaps refused with `message`, perhaps bound and in `phase` at once."""
        line = {
            "uid": f"uid-{name}",
            "namespace": "default",
            "name": name,
            "labels": {"app": "web"},
            "owner": None,
            "scheduler": "default-scheduler",
            "priority": 0,
            "requests": {"cpu": 100, "memory": 0, "pods": 1},
            "node": None,
            "nominated": None,
            "phase": "Pending",
            "scheduled": None,
            "ready": False,
            "terminating": False,
        } | more
        pods = self.lines["pods"]
        pods.append({"t": created_t, "event": "ADDED"} | line)
        if message is not None:
            line = line | {"scheduled": {"status": "False", "reason": reason, "message": message}}
            pods.append({"t": created_t + 0.1, "event": "MODIFIED"} | line)
        if node is not None:
            bound_t = created_t + 0.5 if bound_t is None else bound_t
            line = line | {"node": node, "scheduled": {"status": "True", "reason": "", "message": ""}}
            pods.append({"t": bound_t, "event": "MODIFIED"} | line)
            if phase != "Pending":
                line = line | {"phase": phase, "ready": phase == "Running"}
                pods.append({"t": bound_t + 0.25, "event": "MODIFIED"} | line)
        if deleted_t is not None:
            pods.append({"t": deleted_t, "event": "DELETED"} | line | {"terminating": True})
        return self

    def pod_changes(self, name: str, t: float, **changes: Any) -> "RecordBuilder":
        last = next(line for line in reversed(self.lines["pods"]) if line["name"] == name)
        self.lines["pods"].append(last | {"event": "MODIFIED"} | changes | {"t": t})
        return self

    def workload(self, kind: str, name: str, desired: int | None, *, t: float = 1.0, **more: Any) -> "RecordBuilder":
        line = {"event": "ADDED", "uid": f"uid-{name}", "kind": kind, "namespace": "default", "name": name}
        self.lines["workloads"].append(
            {"t": t, "desired": desired, "observed": True, "current": 0, "owner": None} | line | more
        )
        return self

    def event(self, about: str, reason: str, message: str, *, t: float = 2.0, **more: Any) -> "RecordBuilder":
        named = {"kind": "Pod", "namespace": "default", "name": about, "uid": f"uid-{about}"}
        line = {"uid": f"event-{len(self.lines['events'])}", "reason": reason, "type": "Normal", "message": message}
        self.lines["events"].append({"t": t, "object": named, "count": 1, "source": "test"} | line | more)
        return self

    def step(self, t: float, **step: Any) -> "RecordBuilder":
        mark = {"index": len(self.steps), "op": step["op"], "detail": {}}
        self.steps.append(step)
        self.lines["steps"].append({"t": t, "phase": "start"} | mark)
        self.lines["steps"].append({"t": t + 0.01, "phase": "end"} | mark)
        return self

    def extender(self, name: str = "ext", *, tapped: bool = True, **entry: Any) -> "RecordBuilder":
        """Add an extender; it filters and prioritizes by name unless its entry says otherwise."""
        entry = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "nodeCacheCapable": True} | entry
        url = f"http://127.0.0.1:8888/{name}"
        self.extenders.append(Extender(name, f"ref:{name}", {"urlPrefix": url} | entry, url, tapped=tapped))
        return self

    def call(self, kind: str, pod: str, t: float = 1.1, *, seconds: float = 0.1, **more: Any) -> "RecordBuilder":
        """Add a call about a pod, answered with 200 unless told."""
        line = {
            "extender": self.extenders[0].name if self.extenders else "ext",
            "seq": len(self.lines["calls"]),
            "kind": kind,
            "path": f"/{kind}",
            "ending": "answered",
            "status": 200,
            "end_t": t + seconds,
            "pod": f"default/{pod}",
            "uid": f"uid-{pod}",
        }
        self.lines["calls"].append({"t": t} | line | more)
        return self

    def scenario(self) -> Scenario:
        return scenario(self.expect, self.steps or ({"op": "settle"},))

    def meta(self) -> dict[str, Any]:
        return {
            "scenario": "synthetic",
            "size": "default",
            "variant": self.variant,
            "cluster": "embedded",
            "started_at": "2026-11-16T05:36:10+00:00",
            "status": self.status,
            "settled": self.settled,
            "duration_seconds": self.end_t,
            "seed": self.seed,
            "versions": self.versions,
        }

    def ordered(self, stream: str) -> list[dict[str, Any]]:
        return sorted(self.lines[stream], key=lambda line: float(line["t"]))

    def build(self) -> Record:
        return Record(
            path=Path("synthetic"),
            meta=RunMeta(id="synthetic", **self.meta()),
            scenario=self.scenario(),
            pods=build.pods(self.ordered("pods")),
            nodes=build.nodes(self.ordered("nodes")),
            workloads=build.workloads(self.ordered("workloads")),
            events=build.events(self.ordered("events")),
            steps=build.steps(self.ordered("steps")),
            end_t=self.end_t,
            extenders=tuple(self.extenders),
            calls=calls(self.ordered("calls")),
        )

    def write(self, root: Path, run_id: str = "20261116-053610-synthetic-default-default-0000") -> Path:
        with RecordWriter.create(root, run_id, self.meta() | {"status": "running"}) as writer:
            writer.write_json("inputs/scenario.json", self.scenario().to_json())
            if self.extenders:
                writer.write_json(EXTENDERS, [one.to_json() for one in self.extenders])
            if not self.steps:
                # As a run of the scenario does, which then has this step alone.
                self.lines["steps"] = [
                    {"t": self.end_t, "index": 0, "op": "settle", "phase": phase, "detail": {}}
                    for phase in ("start", "end")
                ]
            for stream in self.lines:
                for line in self.ordered(stream):
                    writer.append(stream, line)
            writer.finish(self.meta())
        return writer.path
