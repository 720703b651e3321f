"""One kind cluster, created and deleted through pytest-kind."""

import contextlib
import shlex
import subprocess  # noqa: TID251 - pytest-kind raises its errors
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import progress
from harness.cluster.kind.tools import docker
from harness.errors import ClusterError, CommandError
from harness.kube import Kube
from harness.process import ends_with_us, run, tail, undisturbed

LABEL = "io.x-k8s.kind.cluster"
PREFIX = "harness-"
SHOWN_LINES = 30


class Creation:
    """A cluster that pytest-kind creates.

    pytest-kind starts kind itself and shows what it says to nobody. It gets a script in place of kind that keeps all
    of it, and that ends when we end.
    """

    def __init__(self, folder: Path, program: Path, image: str | None, config: Path, kubeconfig: Path | None) -> None:
        self.name = cluster_name(folder)
        self.program = program
        self.kubeconfig = kubeconfig.resolve() if kubeconfig else folder / "admin.kubeconfig"
        self._folder = folder
        self._image = image
        self._config = config
        self._log = folder / "kind.log"

    @contextlib.contextmanager
    def created(self, *, keep: bool = False) -> Iterator[None]:
        """Create the cluster, and delete it when the context ends, unless it is to be kept.

        Raises:
            CommandError: kind failed; carries what it said.
        """
        cluster = self._cluster()
        (self._folder / "kind.name").write_text(self.name)
        try:
            with progress.bar(f"Creating kind cluster {self.name}"):
                self._carry_out(lambda: cluster.create(self._config), "create cluster")
            # It may hold a key, and pytest-kind leaves its mode to chance when it is there already.
            self.kubeconfig.chmod(0o600)
            yield
        finally:
            if keep:
                progress.note(f"kind cluster {self.name} is kept; KUBECONFIG={self.kubeconfig}")
            else:
                with undisturbed():
                    delete(self.program, self.name)

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
            raise CommandError(["kind", what, f"--name={self.name}"], error.returncode, said) from error
        except OSError as error:
            raise ClusterError(f"kind {what}: {error}") from error


def cluster_name(folder: Path) -> str:
    """Return the name that kind and docker know a cluster by."""
    return f"{PREFIX}{folder.name}"


def delete(program: Path, name: str) -> None:
    """Delete a cluster, or what is left of one; none is fine too.

    Raises:
        CommandError: some of its containers will not go.
    """
    with contextlib.suppress(CommandError):
        run([str(program), "delete", "cluster", f"--name={name}", "--kubeconfig=/dev/null"])
    left = docker("ps", "--all", "--quiet", f"--filter=label={LABEL}={name}").split()
    if left:
        docker("rm", "--force", "--volumes", *left)
