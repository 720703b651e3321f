"""Notices that a container of the cluster ended, as soon as the engine says so."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.cluster.kind.config import CONTROL_PLANE
from harness.cluster.kind.containers import LABEL
from harness.errors import ClusterError, NodeDied
from harness.process import Child, spawn, undisturbed

_FORMAT = "{{.Actor.Attributes.name}} {{.Actor.Attributes.exitCode}}"


class Deaths:
    """The containers that ended since the cluster was up."""

    def __init__(self, child: Child, nodes: Callable[[], Mapping[str, str]]) -> None:
        self._child = child
        self._nodes = nodes

    def check(self) -> None:
        """Raise when a container ended: of a node, that the node died; of the control plane, that all is lost."""
        if self._child.died:
            raise ClusterError(f"nobody watches the containers any more: {self._child.describe_end()}")
        if self._child.log.stat().st_size == 0:
            return
        for line in self._child.log.read_text(errors="replace").splitlines():
            container, _, code = line.partition(" ")
            if container.endswith(f"-{CONTROL_PLANE}"):
                raise ClusterError(f"the control plane is gone: container {container} ended with code {code}")
            if container in self._nodes():
                node = self._nodes()[container]
                raise NodeDied(f"node {node} is gone: its container {container} ended with code {code}")


@contextlib.contextmanager
def watched(cluster: str, log: Path, nodes: Callable[[], Mapping[str, str]]) -> Iterator[Deaths]:
    """Watch the containers of a cluster; `nodes` says which node each of them is."""
    filters = [f"label={LABEL}={cluster}", "type=container", "event=die"]
    command = ["docker", "events", *(f"--filter={one}" for one in filters), "--format", _FORMAT]
    with undisturbed():
        child = spawn("docker events", command, log=log, guarded=True)
    try:
        yield Deaths(child, nodes)
    finally:
        child.stop()
