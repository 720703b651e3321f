"""One kind cluster, created and deleted through pytest-kind."""

import contextlib
import re
import shlex
import subprocess  # noqa: TID251 - pytest-kind raises its errors
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from harness import progress
from harness.clock import SYSTEM
from harness.cluster.kind.containers import LABEL, listed, nodes
from harness.cluster.kind.tools import IMAGE_VARIABLE, docker, missing
from harness.errors import ClusterError, CommandError, InputError
from harness.kube import Kube
from harness.process import ends_with_us, run, tail, undisturbed
from harness.record import pulling

_PULLED = re.compile(r'failed to pull image \\?"(?P<image>[^"\\]+)')
SHOWN_LINES = 30
SETTLE_SECONDS = 0.5
MAKERS_SECONDS = 30.0
REMOVAL_SECONDS, REMOVAL_POLL_SECONDS = 120.0, 1.0


class Creation:
    """A cluster that pytest-kind creates.

    pytest-kind starts kind itself and shows what it says to nobody. It gets a script in place of kind that keeps all
    of it, and that ends when we end.
    """

    def __init__(self, name: str, folder: Path, program: Path, image: str | None, kubeconfig: Path) -> None:
        self.name = name
        self.program = program
        self.kubeconfig = kubeconfig
        self.is_spoilt = False
        """Whether it is to be deleted even if it was to be kept."""
        self._folder = folder
        self._image = image
        self._log = folder / "kind.log"

    @contextlib.contextmanager
    def created(self, config: Path, *, keep: bool = False) -> Iterator[None]:
        """Create the cluster, or take the one that was kept, and delete it when the context ends unless it is kept.

        Raises:
            CommandError: kind failed; carries what it said.
            InputError: there is a cluster of that name which the harness did not make, or not to be kept.
        """
        self._refuse_strangers()
        cluster = self._cluster()
        if self.containers():
            # pytest-kind takes a cluster that is there by the kubeconfig that it expects beside it.
            run([str(self.program), "export", "kubeconfig", f"--name={self.name}", f"--kubeconfig={self.kubeconfig}"])
        made = False
        try:
            with progress.bar(f"Creating kind cluster {self.name}"):
                self._carry_out(lambda: cluster.create(config), "create cluster")
            # It may hold a key, and pytest-kind leaves its mode to chance when it is there already.
            self.kubeconfig.chmod(0o600)
            made = True
            yield
        finally:
            if keep and made and not self.is_spoilt:
                progress.note(f"kind cluster {self.name} is kept; KUBECONFIG={self.kubeconfig}")
            else:
                with undisturbed():
                    self._delete(cluster)

    def _delete(self, cluster: Any) -> None:
        with contextlib.suppress(ClusterError, CommandError):
            self._carry_out(cluster.delete, "delete cluster")
        # What kind did not know of, or could not delete.
        delete(self.name)

    def containers(self) -> list[str]:
        """Return the containers of its nodes, in the order of their numbers."""
        names = docker("ps", "--all", f"--filter=label={LABEL}={self.name}", "--format", "{{.Names}}").split()
        return sorted(names, key=lambda name: (len(name), name))

    def kubernetes(self, kube: Kube) -> str:
        """Return the version of its API server."""
        return str(kube.request("GET", "/version")["gitVersion"]).removeprefix("v")

    def version(self) -> str:
        """Return the version of kind."""
        return run([str(self.program), "version", "-q"]).strip()

    def _refuse_strangers(self) -> None:
        there = nodes(self.name)
        if there and not any(node.shared for node in there):
            raise InputError(
                f'kind cluster "{self.name}" is there already and is not the harness\'s: it would be changed and '
                "deleted. Choose another --cluster-name, or run on it as it is with --cluster existing"
            )
        for owner in (node.owner for node in there if node.owner):
            # Nobody who looks for what killed runs left takes it for ours: it says whose it is for as long as it lasts.
            if owner.keep == "no":
                raise InputError(
                    f'kind cluster "{self.name}" is there already and was not made to be kept: process '
                    f"{owner.process} on {owner.host} made it. Choose another --cluster-name, or delete it with "
                    f'"kind delete cluster --name {self.name}"'
                )

    def _cluster(self) -> Any:
        # Here and not above: it loads two more clients of Kubernetes.
        from pytest_kind import KindCluster  # noqa: PLC0415

        script = self._folder / "kind"
        words = " ".join(shlex.quote(word) for word in (*ends_with_us(), str(self.program)))
        script.write_text(f'#!/bin/sh\nexec {words} "$@" 2>>{shlex.quote(str(self._log))}\n')
        script.chmod(0o700)
        self._log.touch()
        # It makes a folder where it is called; ours will do.
        with contextlib.chdir(self._folder):
            return KindCluster(self.name, self.kubeconfig, image=self._image, kind_path=script, kubectl_path=script)

    def _carry_out(self, action: Any, what: str) -> None:
        try:
            action()
        except subprocess.CalledProcessError as error:
            said = tail(self._log, SHOWN_LINES)
            command = ["kind", what, f"--name={self.name}"]
            raise CommandError(command, error.returncode, f"{said}\n{_missing_image(said)}") from error
        except OSError as error:
            raise ClusterError(f"kind {what}: {error}") from error


def _missing_image(said: str) -> str:
    """Say which image did not come, from where, and the ways out, if that is what kind complains about."""
    found = _PULLED.search(said)
    trouble = pulling.trouble(f"ErrImagePull: {said[found.end() :]}", found["image"]) if found else None
    if trouble is None:
        return ""
    return missing(trouble, f"another node image, which this machine has: --kind-image or {IMAGE_VARIABLE}")


def delete(name: str) -> bool:
    """Delete a cluster, or what is left of one; return whether there was anything.

    By its label and not by kind's own command: that one wants a whole cluster, and a program that may not be there.

    Raises:
        CommandError: some of its containers will not go.
    """
    return remove_all(name, lambda: listed(name))


def remove_all(name: str, left: Callable[[], list[str]]) -> bool:
    """Remove containers of a cluster, and those that still come; return whether there was any.

    Raises:
        CommandError: some of them will not go.
    """
    await_makers(name)
    removed = False
    # Twice: a container whose maker was ended in the middle comes a moment after.
    for _ in range(2):
        if left():
            _remove(left)
            removed = True
            SYSTEM.pause(SETTLE_SECONDS)
    return removed


def _remove(left: Callable[[], list[str]]) -> None:
    """Remove containers, and return when none is left.

    Docker gives up on one whose processes take long to end, as they do on a busy machine, and then refuses at once to
    remove it again, because it is at it. So what it says counts only when time is up.
    """
    end = SYSTEM.now() + REMOVAL_SECONDS
    while containers := left():
        try:
            docker("rm", "--force", "--volumes", *containers)
        except CommandError:
            if SYSTEM.now() >= end:
                raise
            SYSTEM.pause(REMOVAL_POLL_SECONDS)
        else:
            return


def await_makers(name: str) -> None:
    """Return when no command makes containers of a cluster any more: they outlive the kind that started them.

    They are not ended at once: Docker goes on with what it was told, and there would be nothing to wait for.
    """
    makers = [
        process for process in psutil.process_iter(["cmdline"]) if f"{LABEL}={name}" in (process.info["cmdline"] or ())
    ]
    _, lasting = psutil.wait_procs(makers, timeout=MAKERS_SECONDS)
    for process in lasting:
        with contextlib.suppress(psutil.Error):
            process.kill()
