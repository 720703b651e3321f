"""The controller itself: decides one pod after the other, and writes down each decision beside the next ones.

Between a decision and its effect anything can happen. Each such race is told in the log and counted.
"""

import datetime
import os
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from harness.clock import SYSTEM, Clock
from harness.controller.fit import Pod
from harness.controller.policies import Policy
from harness.controller.state import Choice, State
from harness.controller.tally import (
    BOUND_ELSEWHERE,
    ERROR,
    NODE_GONE,
    NODE_GONE_AFTER,
    POD_CHANGED,
    POD_DELETED,
    POD_REPLACED,
    SCHEDULED,
    UNSCHEDULABLE,
    WATCH_LOST,
    Tally,
)
from harness.controller.watch import Watch
from harness.errors import ApiError, HarnessError
from harness.kube import CONFLICT, NOT_FOUND, Kube, Object

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"
# Most of a write is waiting for the API server.
WORKERS = 8
NOTE_BYTES_MAX = 1024
# So that an event's name, which is the pod's and a mark, stays within 253.
NAME_CHARACTERS_MAX = 236
_RACES = {
    POD_DELETED: "was deleted in between",
    POD_REPLACED: "was replaced in between by another pod of the same name",
    BOUND_ELSEWHERE: "was bound by somebody else, or by a request of ours whose answer was lost",
    NODE_GONE: "is tried again: its node went away before the binding",
    NODE_GONE_AFTER: "is lost: its node went away during the binding, and the API server does not look",
    POD_CHANGED: "is tried again: it was changed while it was refused",
}


class Controller:
    """A scheduler for the pods that ask for it by name.

    Args:
        kube: the cluster.
        name: the schedulerName of its pods.
        policy: how it chooses.
        say: takes the lines of its log.
        clock: for the back-off.
    """

    def __init__(
        self, kube: Kube, name: str, policy: Policy, say: Callable[[str], None], clock: Clock = SYSTEM
    ) -> None:
        self._kube = kube
        self._name = name
        self._say = say
        self.tally = Tally(name)
        self.state = State(name, policy, lambda pod: self._race(pod, BOUND_ELSEWHERE), clock)
        self._watches = [
            Watch(kube, NODES, self.state.take_node, self._lost),
            Watch(kube, PODS, self.state.take_pod, self._lost),
        ]
        self.began = threading.Event()
        """Set when everything has been seen once, and decisions begin."""
        self._stopping = threading.Event()
        self._writers = ThreadPoolExecutor(WORKERS, "write")
        self._reporter = ThreadPoolExecutor(1, "report")
        self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)

    def start(self) -> None:
        """Begin to watch, and to decide as soon as everything is seen."""
        for watch in self._watches:
            watch.start()
        self._thread.start()

    def stop(self, grace_seconds: float = 2.0) -> None:
        """Decide no more; wait a while for what is being written."""
        self._stopping.set()
        for watch in self._watches:
            watch.stop()
        self.state.interrupt()
        closing = threading.Thread(target=self._close, name="close", daemon=True)
        closing.start()
        closing.join(grace_seconds)

    def _close(self) -> None:
        self._thread.join()
        self._writers.shutdown(cancel_futures=True)
        self._reporter.shutdown()

    def missing(self) -> str:
        """Return what the controller does not see, and why; empty if it sees everything."""
        return "; ".join(f"{watch.path}: {watch.problem}" for watch in self._watches if not watch.whole.is_set())

    def page(self) -> str:
        """Return the metrics page."""
        return self.tally.page(self.state.depths())

    def step(self) -> bool:
        """Decide about one pod and have it written down; return whether there was one."""
        choice = self.state.next_choice()
        if choice is None:
            return False
        if choice.attempt == 1 and choice.pod.ignored:
            self._say(f"{choice.pod}: asks for {', '.join(choice.pod.ignored)}, which this scheduler does not look at")
        self._writers.submit(self._write, choice)
        return True

    def _run(self) -> None:
        for watch in self._watches:
            while not watch.whole.wait(0.1):
                if self._stopping.is_set():
                    return
        self.began.set()
        self._say(f"{self._name} sees the cluster")
        while not self._stopping.is_set():
            if not self.step():
                self.state.wait()

    def _write(self, choice: Choice) -> None:
        try:
            if choice.node:
                self._bind(choice)
            else:
                self._refuse(choice)
        except Exception as error:  # noqa: BLE001 - a decision that nobody finishes would keep its pod for ever
            self._fail(choice, error)

    def _bind(self, choice: Choice) -> None:
        pod, node = choice.pod, choice.node
        race = self.state.race(choice) or self._post(choice)
        if race:
            self.tally.attempt(ERROR)
            self._race(pod, race)
            (self.state.again if race == NODE_GONE else self.state.gone)(choice)
            return
        self.state.done(choice)
        self.tally.attempt(SCHEDULED)
        self._say(f"{pod}: bound to {node}, one of {choice.fitting}")
        self._report(pod, "Normal", "Scheduled", "Binding", f"Successfully assigned {pod} to {node}")
        if not self.state.has_node(node):
            self._race(pod, NODE_GONE_AFTER)

    def _post(self, choice: Choice) -> str | None:
        """Create the Binding; return the race that was lost, if one was."""
        pod = choice.pod
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            # With the UID, a pod that has been replaced by one of the same name is left alone.
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": choice.node},
        }
        try:
            self._kube.request("POST", f"{pod.path}/binding", body=body)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return POD_DELETED
            race = self._conflict(pod) if error.status == CONFLICT else None
            if race is None:
                raise
            return race
        return None

    def _conflict(self, pod: Pod) -> str | None:
        """Return who was faster; None if it does not show."""
        try:
            item = self._kube.request("GET", pod.path)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
            return POD_DELETED
        if item["metadata"]["uid"] != pod.uid:
            return POD_REPLACED
        self.state.take_pod("MODIFIED", item)
        if item["spec"].get("nodeName"):
            return BOUND_ELSEWHERE
        return POD_DELETED if "deletionTimestamp" in item["metadata"] else None

    def _refuse(self, choice: Choice) -> None:
        race = self._tell(choice.pod, "Unschedulable", choice.message)
        self.tally.attempt(UNSCHEDULABLE)
        self._say(f"{choice.pod}: {choice.message}")
        if race:
            self._race(choice.pod, race)
            (self.state.failed if race == POD_CHANGED else self.state.gone)(choice)
        else:
            self.state.refused(choice)

    def _fail(self, choice: Choice, error: Exception) -> None:
        message = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        self.tally.attempt(ERROR)
        self._say(f"{choice.pod}: went wrong, is tried again: {message}")
        try:
            self._tell(choice.pod, "SchedulerError", message)
        except HarnessError as trouble:
            self._say(f"{choice.pod}: cannot be told: {trouble}")
        finally:
            self.state.failed(choice)

    def _tell(self, pod: Pod, reason: str, message: str) -> str | None:
        """Write the condition and the event, if the pod does not say so already; return the race that was lost."""
        if pod.refusal == (reason, message):
            return None
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": message,
            "lastProbeTime": None,
            "lastTransitionTime": _now("seconds"),
        }
        # With the version, a pod that was bound meanwhile is not told that it fits nowhere.
        body = {"metadata": {"uid": pod.uid, "resourceVersion": pod.version}, "status": {"conditions": [condition]}}
        try:
            item = self._kube.request("PATCH", f"{pod.path}/status", body=body, content_type=STRATEGIC_MERGE)
        except ApiError as error:
            if error.status not in {CONFLICT, NOT_FOUND}:
                raise
            return POD_DELETED if error.status == NOT_FOUND else POD_CHANGED
        self.state.take_pod("MODIFIED", item)
        self._report(pod, "Warning", "FailedScheduling", "Scheduling", message)
        return None

    def _report(self, pod: Pod, kind: str, reason: str, action: str, note: str) -> None:
        name = pod.name[:NAME_CHARACTERS_MAX].rstrip("-.")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}", "namespace": pod.namespace},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": pod.namespace,
                "name": pod.name,
                "uid": pod.uid,
                "resourceVersion": pod.version,
            },
            "type": kind,
            "reason": reason,
            "action": action,
            "message": note.encode()[:NOTE_BYTES_MAX].decode(errors="ignore"),
            "eventTime": _now("microseconds"),
            "reportingComponent": self._name,
            "reportingInstance": f"{self._name}-{os.uname().nodename}",
        }
        self._reporter.submit(self._send, event)

    def _send(self, event: Object) -> None:
        namespace = event["metadata"]["namespace"]
        try:
            self._kube.request("POST", f"/api/v1/namespaces/{namespace}/events", body=event)
        except HarnessError as error:
            self._say(f"{namespace}/{event['involvedObject']['name']}: no event: {error}")

    def _race(self, pod: Pod, kind: str) -> None:
        self.tally.race(kind)
        self._say(f"{pod}: {_RACES[kind]} ({kind})")

    def _lost(self, why: str, was_whole: bool) -> None:
        if was_whole:
            self.tally.race(WATCH_LOST)
            self._say(f"watch lost, lists anew ({WATCH_LOST}): {why}")
        else:
            self._say(f"cannot watch, tries again: {why}")


def _now(precision: str) -> str:
    moment = datetime.datetime.now(datetime.UTC)
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
