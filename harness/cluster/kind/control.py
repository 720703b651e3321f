"""Puts schedulers into a kind cluster: the stock one by its static manifest, others as Deployments."""

import contextlib
import hashlib
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import yaml

from harness.cluster.base import Program, Workload
from harness.cluster.kind import deploy, staticpod
from harness.cluster.kind.config import CONTROL_PLANE, MOUNT
from harness.cluster.kind.image import Image, program_image
from harness.cluster.kind.pods import NAMESPACE, OwnPods
from harness.cluster.kind.python_image import python_image
from harness.cluster.kind.running import PodScheduler, Watched, Where, taken_on
from harness.cluster.kind.tools import docker
from harness.errors import ClusterError, CommandError, VariantError
from harness.kube import Kube, Object
from harness.paths import cache_folder

GONE_SECONDS = 180.0
STOCK = "kube-scheduler"
STOCK_POD = f"{STOCK}-{CONTROL_PLANE}"

Furnish = Callable[[Sequence[Object]], AbstractContextManager[None]]
Load = Callable[[Image], None]


class SchedulerRoom:
    """Where schedulers are started: the control plane's node, and the folder that it shares with this machine."""

    def __init__(self, kube: Kube, container: str, shared: Path, pods: OwnPods, token: str, furnish: Furnish) -> None:
        self._kube = kube
        self._container = container
        self._shared = shared
        self._pods = pods
        self._token = token
        self._furnish = furnish
        self._stock = docker("exec", container, "cat", staticpod.MANIFEST)
        self._missing = False
        self.watched = Watched(pods)

    @property
    def stock_image(self) -> str:
        """Return the image of the cluster's own kube-scheduler."""
        return staticpod.scheduler_image(self._stock)

    @contextlib.contextmanager
    def stock(self, config: str, log: Path) -> Iterator[PodScheduler]:
        """Let the stock scheduler run with a configuration; nothing is left of it afterwards, see `put_back`."""
        text = _with_kubeconfig(config, staticpod.KUBECONFIG)
        name = f"{STOCK}-{hashlib.sha256(text.encode()).hexdigest()[:12]}-{secrets.token_hex(2)}.yaml"
        (self._shared / name).write_text(text, encoding="utf-8")
        flags = ("--leader-elect=false", "--v=2")
        try:
            self._replace(staticpod.edited(self._stock, f"{MOUNT}/{name}", MOUNT, flags))
            where = Where(("component", STOCK), STOCK, deploy.PORT, "https", f"{MOUNT}/{name}")
            with self._taken_on(STOCK, where, log, text) as scheduler:
                yield scheduler
        finally:
            # A cluster that is gone has nothing to remove.
            with contextlib.suppress(CommandError, ClusterError):
                self.remove_stock()
            (self._shared / name).unlink(missing_ok=True)

    def remove_stock(self) -> None:
        """Let the stock scheduler rest, for another one takes its pods; see `put_back`."""
        docker("exec", self._container, "rm", "-f", staticpod.MANIFEST)
        self._missing = True
        self._pods.wait(lambda pods: STOCK_POD not in pods, "the end of kube-scheduler", GONE_SECONDS)

    def put_back(self) -> None:
        """Let the stock scheduler run as kind made it, for whoever goes on with the cluster.

        Not after every scheduler that took its place: the next one would have to wait for its start and its end.
        """
        if self._missing:
            self._write(self._stock)

    @contextlib.contextmanager
    def deployed(self, name: str, config: str, container: deploy.Container, log: Path) -> Iterator[PodScheduler]:
        """Let a scheduler run in a Deployment."""
        start = secrets.token_hex(4)
        text = deploy.in_cluster(config)
        with self._furnish(deploy.objects(name, text, container, start)):
            port = 0 if container.serves == "nothing" else deploy.PORT
            where = Where((deploy.LABEL, name), name, port, container.serves, start)
            with self._taken_on(name, where, log, text) as scheduler:
                yield scheduler

    @contextlib.contextmanager
    def as_manifest(self, name: str, config: str, workload: Workload, image: str, log: Path) -> Iterator[PodScheduler]:
        """Let a scheduler run as a manifest deploys it."""
        # It stands beside the stock one.
        self.put_back()
        start = secrets.token_hex(4)
        text = deploy.in_cluster(config)
        namespace = workload.item["metadata"].get("namespace", "default")
        if namespace != NAMESPACE:
            raise VariantError(f"{name} is deployed into namespace {namespace!r}; on kind {NAMESPACE!r} is expected")
        with self._furnish(deploy.of_workload(workload, text, image, start)):
            port = deploy.port_of(workload)
            where = Where((deploy.STARTED, start), workload.container, port, "https", start)
            with self._taken_on(name, where, log, text) as scheduler:
                yield scheduler

    @contextlib.contextmanager
    def _taken_on(self, name: str, where: Where, log: Path, config: str) -> Iterator[PodScheduler]:
        with taken_on(self._kube, self._pods, where, log, config=config, token=self._token) as scheduler:
            self.watched.add(name, where, log)
            try:
                yield scheduler
            finally:
                self.watched.remove(name)

    def _replace(self, manifest: str) -> None:
        # Taken away first: a kubelet that finds it changed waits ten seconds and more before it looks again whether
        # the old pod has ended.
        self.remove_stock()
        self._write(manifest)

    def _write(self, manifest: str) -> None:
        # Written elsewhere and moved: the kubelet must never read half of it.
        draft = self._shared / "manifest.yaml"
        draft.write_text(manifest, encoding="utf-8")
        move = f"cp {MOUNT}/manifest.yaml /etc/kubernetes/draft && mv /etc/kubernetes/draft {staticpod.MANIFEST}"
        docker("exec", self._container, "sh", "-euc", move)
        self._missing = False


def container_of(program: Program, load: Load, out: Callable[[str], str]) -> deploy.Container:
    """Return the container of a program that is built here.

    Args:
        program: the program; {config}, {port} and {kubeconfig} stand for what it finds in its pod.
        load: brings an image to the nodes.
        out: says where a file of this machine is in the pod, if it is one that the program writes.

    Raises:
        VariantError: it is a command that no image can be made of.
    """
    marks = {
        "{config}": f"{deploy.FILES}/{deploy.CONFIG}",
        "{port}": str(deploy.PORT),
        "{kubeconfig}": f"{deploy.FILES}/{deploy.KUBECONFIG}",
    }

    def filled(word: str) -> str:
        for mark, value in marks.items():
            word = word.replace(mark, value)
        return word

    env = {key: out(filled(value)) for key, value in program.env.items()}
    flags = (f"--config={marks['{config}']}", *deploy.FLAGS) if program.takes_flags else ()
    if program.image:
        return deploy.Container(program.image, (), tuple(map(filled, program.command)) + flags, env, program.serves)
    first, *rest = program.command
    if first == sys.executable and rest[:1] == ["-m"]:
        image, rest = python_image(rest[1]), rest[2:]
    elif Path(first).is_file():
        image = program_image(Path(first), cache_folder() / "images")
    else:
        raise VariantError(
            f"{first}: a command of this machine cannot be put into a container; bring its sources (go:FOLDER), an "
            "image (image:NAME), or run it on the embedded cluster"
        )
    load(image)
    return deploy.Container(image.reference, (), tuple(map(filled, rest)) + flags, env, program.serves)


def _with_kubeconfig(config: str, path: str) -> str:
    document = yaml.safe_load(config)
    document["clientConnection"] = {**document.get("clientConnection", {}), "kubeconfig": path}
    text: str = yaml.safe_dump(document, sort_keys=False)
    return text
