"""What the author of an extender in Python works with.

An extender is any object with some of these methods; each one becomes a route of its server:

    class Careful:
        def filter(self, pod, nodes):        # the nodes that the pod may go to
            return [node for node in nodes if node.labels.get("disk") == "ssd"]

        def prioritize(self, pod, nodes):    # a score from 0 to 10 for each node's name
            return {node.name: 10 for node in nodes}

        def preempt(self, pod, candidates):  # which of the proposed victims may go, by node
            return candidates

        def bind(self, binding):             # bind the pod; raise to refuse
            ...
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

Object = Mapping[str, Any]
NOTHING: Object = {}


class Refused(Exception):  # noqa: N818 - reads as what happened
    """Says no in an extender's own words: kube-scheduler shows exactly this text."""


@dataclass(frozen=True, eq=False)
class View:
    """A look at an object of the API; `raw` is the whole of it."""

    raw: Object

    @property
    def _metadata(self) -> Object:
        return self.raw.get("metadata") or NOTHING

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self._metadata.get("name", ""))

    @property
    def uid(self) -> str:
        """Return its UID, which no other object ever has."""
        return str(self._metadata.get("uid", ""))

    @property
    def labels(self) -> Mapping[str, str]:
        """Return its labels."""
        return self._metadata.get("labels") or NOTHING

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return its annotations."""
        return self._metadata.get("annotations") or NOTHING


class Pod(View):
    """The pod that needs a node."""

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        return str(self._metadata.get("namespace", "default"))

    @property
    def node(self) -> str:
        """Return the node it is bound to; empty while it is pending."""
        return str((self.raw.get("spec") or NOTHING).get("nodeName") or "")

    @functools.cached_property
    def requests(self) -> Mapping[str, int]:
        """Return what a node has to reserve for it: millicores of `cpu`, bytes of `memory`, pieces of the rest."""
        # Here and not above: it costs a third of a second, and most extenders do not count.
        from harness.scenario.amounts import pod_requests  # noqa: PLC0415

        return pod_requests(self.raw.get("spec") or NOTHING)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Node(View):
    """A node that the pod could go to. Where the scheduler sends only names, everything but the name is empty."""

    @classmethod
    def named(cls, name: str) -> "Node":
        """Return a node of which only the name is known."""
        return cls({"metadata": {"name": name}})

    @property
    def known(self) -> bool:
        """Return whether more than the name is known."""
        return "status" in self.raw or "spec" in self.raw

    @functools.cached_property
    def allocatable(self) -> Mapping[str, int]:
        """Return what it has for pods, in the units of `Pod.requests`."""
        from harness.scenario.amounts import amounts  # noqa: PLC0415 - as above

        return amounts((self.raw.get("status") or NOTHING).get("allocatable") or NOTHING)

    def __str__(self) -> str:
        return self.name


Names: TypeAlias = Iterable["str | Node"]


@dataclass(frozen=True)
class Filtered:
    """A verdict with reasons.

    Args:
        kept: the nodes that the pod may go to.
        rejected: why it may not go to others, although evicting pods there could change that.
        unresolvable: why it may not go to others, whoever leaves them.
        note: what the log says about it, instead of how many were kept.
    """

    kept: Names = ()
    rejected: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


Verdicts: TypeAlias = "Filtered | Names"
Scores: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Victims:
    """The pods of one node that would have to go, most important first.

    Where the scheduler sends only UIDs, everything else about the pods is empty. `violations` says how many of them a
    disruption budget protects.
    """

    pods: tuple[Pod, ...]
    violations: int = 0

    def __iter__(self) -> Iterator[Pod]:
        return iter(self.pods)

    def __len__(self) -> int:
        return len(self.pods)


Chosen: TypeAlias = Mapping[str, "Victims | Iterable[Pod | str]"]


@dataclass(frozen=True)
class Binding:
    """A pod, and the node that it is to be bound to."""

    pod: str
    namespace: str
    uid: str
    node: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod}"


@runtime_checkable
class Filters(Protocol):
    """**Protocol**: an extender that says which nodes a pod may go to."""

    def filter(self, pod: Pod, nodes: list[Node]) -> Verdicts:
        """Return the nodes (or their names) that are kept, or `Filtered` with reasons for the others."""
        ...


@runtime_checkable
class Prioritizes(Protocol):
    """**Protocol**: an extender that says how good nodes are."""

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Scores:
        """Return a score from 0 to 10 by name of node."""
        ...


@runtime_checkable
class Preempts(Protocol):
    """**Protocol**: an extender that has a say in which pods have to go."""

    def preempt(self, pod: Pod, candidates: dict[str, Victims]) -> Chosen:
        """Return the nodes that may be emptied, each with its victims or their UIDs."""
        ...


@runtime_checkable
class Binds(Protocol):
    """**Protocol**: an extender that binds pods itself."""

    def bind(self, binding: Binding) -> None:
        """Bind the pod, or raise."""
        ...
