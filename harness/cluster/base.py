"""What the later stages may ask of a cluster; abilities that only some providers have are protocols of their own."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from harness.kube import Kube, Object
from harness.scenario.nodes import NodeSpec

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
"""What pods run that only have to be there; real nodes take the release of it that they have."""


@dataclass(frozen=True)
class KindSpec:
    """What a user can choose about a kind cluster; `workers` is how many nodes can be had at most."""

    image: str | None = None
    program: Path | None = None
    config: Path | None = None
    workers: int | None = None
    keep: bool = False


@dataclass(frozen=True)
class ExistingSpec:
    """What a user can choose about a cluster of their own, and what they allow to be done to it."""

    context: str | None = None
    allow_cluster_wide: bool = False
    kwok_nodes: bool = False
    confirmed: bool = False


@dataclass(frozen=True)
class ClusterSpec:
    """What a user can choose about a cluster.

    `nodes` is how many the scenarios declare that are to be run. A `fresh` one is made anew for every run.
    """

    kubernetes: str | None = None
    binaries: Path | None = None
    name: str | None = None
    nodes: int = 0
    kubeconfig: Path | None = None
    fresh: bool = False
    kind: KindSpec = KindSpec()
    existing: ExistingSpec = ExistingSpec()


class Cluster(Protocol):
    """**Protocol**: a running API server with the controllers that scheduling needs; schedulers are added to it."""

    @property
    def name(self) -> str:
        """Return the name that `harness list` shows."""
        ...

    @property
    def folder(self) -> Path:
        """Return a private folder that goes when the cluster goes, for whatever stands beside it."""
        ...

    @property
    def kubeconfig(self) -> Path:
        """Return an administrator's kubeconfig."""
        ...

    @property
    def kube(self) -> Kube:
        """Return the connection that the whole harness shares."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Return the version of every part, for the record."""
        ...

    @property
    def address(self) -> str:
        """Return the address of this machine at which the cluster's schedulers can call it."""
        ...

    def is_own(self, item: Object) -> bool:
        """Tell whether an object is what the cluster itself is made of, which no scenario speaks about."""
        ...

    def furnish(self, objects: Sequence[Object]) -> AbstractContextManager[None]:
        """Create objects that stay for as long as the context lasts, also when the cluster is reset meanwhile."""
        ...

    def check(self) -> None:
        """Raise ClusterError when a part has died; cheap enough to be asked in every wait."""
        ...

    def reset(self) -> None:
        """Empty the cluster and prove that it is empty; raise ClusterError when something will not go."""
        ...


@runtime_checkable
class PlaysNodes(Protocol):
    """**Protocol**: a cluster whose nodes are declared: played by a simulator, or real ones that take their names."""

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> Sequence[str]:
        """Create nodes and return when each is ready to take pods; say, in words, what is not as declared."""
        ...


@dataclass(frozen=True)
class Program:
    """A scheduler program that is not the stock kube-scheduler: a command of this machine, or an image and its words.

    `{config}`, `{port}` and `{kubeconfig}` in `command` and `env` are replaced. With `takes_flags` it gets the command
    line of kube-scheduler behind its own. A `guarded` one is a stranger's: it knows no lifeline and is ended all the
    same. `serves` says how its pages are read: by https, where a stranger may have any certificate or do without, by
    http, or "nothing" at all. `kubeconfig` is who it is to the API server; the cluster's own scheduler unless told.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    takes_flags: bool = True
    guarded: bool = False
    serves: Literal["https", "http", "nothing"] = "https"
    kubeconfig: Path | None = None


@dataclass(frozen=True)
class Workload:
    """How a manifest starts a scheduler: where containers run, it is started just so.

    `container` is the name of the scheduler's own one. `config_map` and `key` say where its configuration stands.
    """

    item: Object
    container: str
    config_map: str
    key: str


class Scheduler(Protocol):
    """**Protocol**: one running scheduler."""

    @property
    def config(self) -> str:
        """Return the configuration that it was started with."""
        ...

    def cpu_seconds(self) -> float | None:
        """Return the CPU time that it has used since it was started, None where nobody tells."""
        ...

    @property
    def log(self) -> Path:
        """Return its log file."""
        ...

    def page(self, path: str) -> str:
        """Return a page of its own server: /healthz, /metrics, /configz.

        Raises:
            NoSuchPage: it has no such page and never will; where that cannot be told, ClusterError.
            ClusterError: it does not answer now.
        """
        ...


@runtime_checkable
class TellsCommand(Protocol):
    """**Protocol**: a scheduler of which it is known here how it was started."""

    @property
    def command(self) -> Sequence[str]:
        """Return its command line, for the record: without the places where this machine keeps things."""
        ...


@runtime_checkable
class RunsSchedulers(Protocol):
    """**Protocol**: a cluster that can run schedulers: as processes beside its control plane, or in containers."""

    def scheduler(
        self, config: str, name: str, program: Program | None = None, workload: Workload | None = None
    ) -> AbstractContextManager[Scheduler]:
        """Run a scheduler with a configuration (YAML text) for as long as the context lasts; healthy on return.

        It is the stock kube-scheduler unless another program is given. A workload says how containers run it; where
        there are none, only the configuration counts. The path of its kubeconfig is put right where it runs elsewhere.
        """
        ...

    @property
    def scheduler_kubeconfig(self) -> Path:
        """Return a kubeconfig with the rights of a scheduler, for processes on this machine."""
        ...


@runtime_checkable
class KeepsLogs(Protocol):
    """**Protocol**: a cluster whose parts write log files."""

    @property
    def logs(self) -> Mapping[str, Path]:
        """Return the log file of each part."""
        ...


@runtime_checkable
class RunsImages(Protocol):
    """**Protocol**: a cluster with real nodes: it runs images, and its schedulers call this machine from elsewhere."""

    def serving(self, image: str, name: str, port: int, env: Mapping[str, str]) -> AbstractContextManager[str]:
        """Run an image that serves HTTP for as long as the context lasts; yields its URL for this machine."""
        ...

    def cannot_call(self, address: str, port: int) -> str | None:
        """Say why a scheduler of the cluster cannot connect to a port of this machine, None if it can."""
        ...


@runtime_checkable
class HasScheduler(Protocol):
    """**Protocol**: a cluster that runs a scheduler of its own, which is the stock one for its pods."""

    @property
    def own_scheduler(self) -> Scheduler:
        """Return it, as far as it can be seen from here."""
        ...


@runtime_checkable
class NeedsPatience(Protocol):
    """**Protocol**: a cluster whose pods really start: what takes a moment where they are played may take minutes."""

    @property
    def patience(self) -> float:
        """Return what the deadlines of a scenario are multiplied by."""
        ...


def patience(cluster: Cluster) -> float:
    """Return what the deadlines of a scenario are multiplied by on a cluster."""
    return cluster.patience if isinstance(cluster, NeedsPatience) else 1.0


@runtime_checkable
class Borrowed(Protocol):
    """**Protocol**: a cluster that others use too: things have other names on it than in a scenario."""

    @property
    def context(self) -> str:
        """Return what the user calls it."""
        ...

    def expect(self, nodes: Sequence[str]) -> None:
        """Hear which nodes a scenario declares: others that take no pods are none of its business."""
        ...

    def told(self, text: str) -> str:
        """Return a text of the cluster as a record may tell it: in the scenario's words, without its address."""
        ...


def told(cluster: Cluster, text: str) -> str:
    """Return a text of a cluster as a record may tell it."""
    return cluster.told(text) if isinstance(cluster, Borrowed) else text


class ClusterProvider(Protocol):
    """**Protocol**: a source of clusters."""

    @property
    def name(self) -> str:
        """Return the word that chooses it."""
        ...

    def prepare(self, spec: ClusterSpec) -> None:
        """Do ahead of time what takes minutes the first time, showing progress; nothing when it is done already."""
        ...

    def cluster(self, spec: ClusterSpec) -> AbstractContextManager[Cluster]:
        """Bring up a cluster for as long as the context lasts."""
        ...
