"""Brings images to the nodes of a kind cluster: made here, or known to this machine's container engine."""

from collections.abc import Sequence
from pathlib import Path

from harness import progress
from harness.cluster.base import Workload
from harness.cluster.kind.image import Image
from harness.cluster.kind.tools import docker, missing
from harness.errors import CommandError, VariantError
from harness.process import run
from harness.record.pulling import PullTrouble

PLACEHOLDER = "registry.k8s.io/kube-scheduler"


class Images:
    """The images that were brought to a cluster so far."""

    def __init__(self, program: Path, cluster: str, containers: Sequence[str]) -> None:
        self._program = program
        self._cluster = cluster
        self._containers = containers
        self._there: set[str] = set()

    def load(self, image: Image, *, onto: str | None = None) -> None:
        """Bring an image that was assembled here to every node, or onto one of them.

        Raises:
            CommandError: a node does not take it.
        """
        key = f"{image.reference} {onto}" if onto else image.reference
        if self._there.isdisjoint((key, image.reference)):
            only = ["--nodes", onto] if onto else []
            with progress.bar(f"Loading {image.reference}"):
                run([str(self._program), "load", "image-archive", str(image.archive), "--name", self._cluster, *only])
            self._there.add(key)

    def require(self, name: str) -> None:
        """Bring an image to every node, unless they have it.

        Raises:
            VariantError: neither the nodes nor this machine's container engine have it.
        """
        if name in self._there or all(self._has(container, name) for container in self._containers):
            return
        try:
            docker("image", "inspect", name)
        except CommandError as error:
            why = "neither this machine's docker nor the cluster's nodes have it, and nothing is pulled for a run"
            last = "a node image that carries it: --kind-image IMAGE"
            raise VariantError(missing(PullTrouble(name, why), last)) from error
        with progress.bar(f"Loading {name}"):
            run([str(self._program), "load", "docker-image", name, "--name", self._cluster])
        self._there.add(name)

    def of_workload(self, workload: Workload, stock: str) -> str:
        """Return the image that a manifest's scheduler runs; a bare name of the stock one means the cluster's own."""
        spec = workload.item["spec"] if workload.item["kind"] == "Pod" else workload.item["spec"]["template"]["spec"]
        (named,) = [str(one.get("image", "")) for one in spec["containers"] if one["name"] == workload.container]
        if named in {"", PLACEHOLDER}:
            return stock
        self.require(named)
        return named

    def serve_as(self, wanted: str) -> None:
        """Let the pause image that every node has stand for another release of it, so that none is pulled."""
        for container in self._containers:
            names = docker("exec", container, "ctr", "-n", "k8s.io", "images", "ls", "-q").split()
            own = [name for name in names if name.startswith(f"{wanted.rpartition(':')[0]}:")]
            if own and wanted not in names:
                docker("exec", container, "ctr", "-n", "k8s.io", "images", "tag", own[0], wanted)

    @staticmethod
    def _has(container: str, name: str) -> bool:
        names = docker("exec", container, "ctr", "-n", "k8s.io", "images", "ls", "-q").split()
        name = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
        return name in names or f"docker.io/library/{name}" in names or f"docker.io/{name}" in names
