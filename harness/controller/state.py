"""What the controller knows of the cluster and has decided about it; safe to share between threads.

A pod that was given a node holds room there from that moment, long before the API server confirms it: the next decision
must not give the same room away. What a watch tells later always stands above what was assumed.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.clock import SYSTEM, Clock
from harness.controller.fit import Object, Pod, Room, refusal
from harness.controller.policies import Policy
from harness.controller.queue import Queue
from harness.controller.tally import BOUND_ELSEWHERE, NODE_GONE, POD_DELETED
from harness.scenario.amounts import Amounts

DELETED = "DELETED"
IDLE_SECONDS_MAX = 1.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision about a pod: the node it gets, or none and why."""

    pod: Pod
    attempt: int
    node: str = ""
    message: str = ""
    fitting: int = 0


@dataclass(slots=True)
class _Held:
    node: str
    requests: Amounts
    confirmed: bool


class State:
    """The nodes, what pods hold of them, and the pods that wait.

    Args:
        name: the schedulerName of the pods that are ours.
        policy: how to choose.
        overtaken: told of pods of ours that somebody else has bound before we tried.
        clock: for the back-off.
    """

    def __init__(self, name: str, policy: Policy, overtaken: Callable[[Pod], None], clock: Clock = SYSTEM) -> None:
        self._name = name
        self._policy = policy
        self._overtaken = overtaken
        self._queue = Queue(clock)
        self._rooms: dict[str, Room] = {}
        self._taken: defaultdict[str, Amounts] = defaultdict(dict)
        self._held: dict[str, _Held] = {}
        self._changed = threading.Condition()

    def take_node(self, event: str, item: Object) -> None:
        """Take in a change of a node; one that could help a refused pod gives all of them another try."""
        name = item["metadata"]["name"]
        with self._changed:
            before = self._rooms.pop(name, None)
            if event == DELETED:
                return
            room = self._rooms[name] = Room.of(item, self._taken[name])
            if room != before:
                self._wake()

    def take_pod(self, event: str, item: Object) -> None:
        """Take in a change of a pod, anybody's: all of them hold room."""
        pod = Pod.of(item)
        with self._changed:
            if event == DELETED:
                self._queue.drop(pod.uid)
                self._hold(pod.uid, None)
                return
            held = self._held.get(pod.uid)
            # A pod is never unbound: news without a node are older than what we know.
            node = pod.node or (held.node if held else "")
            confirmed = bool(pod.node) or (held is not None and held.confirmed)
            self._hold(pod.uid, _Held(node, pod.requests, confirmed) if node and not pod.ended else None)
            if pod.scheduler != self._name:
                return
            if confirmed or pod.ended or pod.leaving:
                self._leave(pod)
            elif not node or self._queue.holds(pod.uid):
                # One with a node that is not queued was bound by us, and this is news from before.
                self._queue.offer(pod)
                self._changed.notify_all()

    def next_choice(self) -> Choice | None:
        """Decide about the pod whose turn it is; None if there is none. Say afterwards how it went."""
        with self._changed:
            popped = self._queue.pop()
            if popped is None:
                return None
            pod, attempt = popped
            fitting: list[Room] = []
            reasons: Counter[str] = Counter()
            for room in self._rooms.values():
                if why := room.refuses(pod):
                    reasons.update(why)
                else:
                    fitting.append(room)
            if not fitting:
                return Choice(pod, attempt, message=refusal(len(self._rooms), reasons))
            node = self._policy.pick(pod, fitting).name
            self._hold(pod.uid, _Held(node, pod.requests, confirmed=False))
            return Choice(pod, attempt, node, fitting=len(fitting))

    def wait(self) -> None:
        """Return when there may be something to do, after a second at the latest."""
        with self._changed:
            idle = self._queue.idle_seconds()
            if idle != 0:
                self._changed.wait(IDLE_SECONDS_MAX if idle is None else min(idle, IDLE_SECONDS_MAX))

    def interrupt(self) -> None:
        """Let whoever waits return now."""
        with self._changed:
            self._changed.notify_all()

    def race(self, choice: Choice) -> str | None:
        """Return what has happened since the decision that makes it void, if anything has."""
        with self._changed:
            if not self._queue.holds(choice.pod.uid):
                held = self._held.get(choice.pod.uid)
                return BOUND_ELSEWHERE if held and held.confirmed else POD_DELETED
            return NODE_GONE if choice.node and choice.node not in self._rooms else None

    def has_node(self, name: str) -> bool:
        """Return whether a node is there."""
        with self._changed:
            return name in self._rooms

    def done(self, choice: Choice) -> None:
        """The pod has its node; the watch will confirm it."""
        with self._changed:
            self._queue.drop(choice.pod.uid)

    def gone(self, choice: Choice) -> None:
        """The pod is not there any more, or not ours to bind."""
        with self._changed:
            self._queue.drop(choice.pod.uid)
            self._release(choice)

    def refused(self, choice: Choice) -> None:
        """The pod was told that it fits nowhere."""
        self._finish(choice, self._queue.refused)

    def failed(self, choice: Choice) -> None:
        """The attempt went wrong; it is repeated after a while."""
        self._finish(choice, self._queue.failed)

    def again(self, choice: Choice) -> None:
        """The attempt was overtaken; it is repeated at once."""
        self._finish(choice, self._queue.again)

    def depths(self) -> Mapping[str, int]:
        """Return how many pods are in each queue."""
        with self._changed:
            return self._queue.depths()

    def _finish(self, choice: Choice, finish: Callable[[str], None]) -> None:
        with self._changed:
            self._release(choice)
            finish(choice.pod.uid)
            self._changed.notify_all()

    def _leave(self, pod: Pod) -> None:
        waited = self._queue.drop(pod.uid)
        # One that is busy is being bound by us; if somebody else was faster, the API server tells whoever binds.
        if pod.node and waited not in {None, "busy"}:
            self._overtaken(pod)

    def _release(self, choice: Choice) -> None:
        held = self._held.get(choice.pod.uid)
        if held and not held.confirmed:
            self._hold(choice.pod.uid, None)

    def _hold(self, uid: str, held: _Held | None) -> None:
        before = self._held.pop(uid, None)
        if held:
            self._held[uid] = held
        if held and before and (held.node, held.requests) == (before.node, before.requests):
            return
        for one, sign in ((held, 1), (before, -1)):
            taken = self._taken[one.node] if one else {}
            for name, value in one.requests.items() if one else ():
                taken[name] = taken.get(name, 0) + sign * value
        if before:
            self._wake()

    def _wake(self) -> None:
        self._queue.wake()
        self._changed.notify_all()
