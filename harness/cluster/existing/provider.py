"""Borrows a cluster of the user's own: looks before it touches, and leaves it as it was."""

import contextlib
import logging
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import progress
from harness.cluster import abandoned
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded.build import Binaries, binaries_for
from harness.cluster.embedded.releases import nearest
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.existing import production, rights
from harness.cluster.existing.cluster import ExistingCluster, recover
from harness.cluster.existing.context import Context, context_of
from harness.cluster.existing.names import Names
from harness.cluster.existing.undo import NODES, Journal
from harness.cluster.folder import ClusterFolder, folder_of
from harness.errors import ClusterError, HarnessError, InputError
from harness.kube import Kube

KUBECONFIG = "existing.kubeconfig"
# Before, a server does not tell all its kinds at once.
OLDEST = (1, 30)
RUN_BYTES = 4


class ExistingProvider:
    """A context of a kubeconfig."""

    name = "existing"

    def prepare(self, spec: ClusterSpec) -> None:
        """Look at the cluster: whoever chose the wrong one hears it before anything else is done."""
        _check_options(spec)
        context = context_of(spec)
        production.refuse(context, (), confirmed=spec.existing.confirmed)

    @contextlib.contextmanager
    def cluster(self, spec: ClusterSpec) -> Iterator[ExistingCluster]:
        """Borrow the cluster: nothing is created on it before a scenario needs it."""
        _check_options(spec)
        context = context_of(spec)
        abandoned.remove(progress.note)
        self._recover_namesake(spec.name)
        with ClusterFolder.create(spec.name) as folder, Supervisor(None, folder.path / "logs") as supervisor:
            kubeconfig = context.write(folder.path / KUBECONFIG)
            names = Names(secrets.token_hex(RUN_BYTES), context.host, context.port)
            whole = _connected(kubeconfig, f'{context.where}: context "{context.name}"')
            try:
                versions = _looked_at(whole, context, names, spec)
                cluster = ExistingCluster(
                    folder=folder.path,
                    context=context.name,
                    kubeconfig=kubeconfig,
                    whole=whole,
                    names=names,
                    versions=versions,
                    allowed=spec.existing,
                    binaries=lambda: _binaries(spec, versions["kubernetes"]),
                    supervisor=supervisor,
                )
                facts = {"run": names.run, "context": context.name, "kwok_nodes": spec.existing.kwok_nodes}
                # Told before anything is created there: from now on somebody else can clean up after us.
                folder.announce(provider=self.name, versions=dict(versions), kubeconfig=str(kubeconfig), **facts)
                try:
                    yield cluster
                finally:
                    _end(cluster, folder)
            finally:
                whole.close()

    def recover(self, folder: Path, facts: Mapping[str, Any]) -> Sequence[str]:
        """Remove what a run that was killed has left on its cluster."""
        run = str(facts.get("run") or "")
        kubeconfig = folder / KUBECONFIG
        if not run or not kubeconfig.is_file():
            # It had not come to touching anything.
            return []
        kube = _connected(kubeconfig, f'{kubeconfig}: context "{facts.get("context")}"')
        try:
            done = recover(kube, Names(run), Journal(folder), nodes=bool(facts.get("kwok_nodes")))
        finally:
            kube.close()
        return [f'{what} of context "{facts.get("context")}"' for what in done]

    def _recover_namesake(self, name: str | None) -> None:
        """Try again what a run of the same name left and still holds: its folder, which tells how, is about to go."""
        folder = folder_of(name) if name else None
        if folder and folder.path.is_dir() and not folder.is_owned() and folder.facts().get("provider") == self.name:
            for what in self.recover(folder.path, folder.facts()):
                progress.note(f"removed {what}, left by a run that was killed")


class _Complaints(logging.Handler):
    """What the official client says of credentials that it then goes on without."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def _connected(kubeconfig: Path, where: str) -> Kube:
    from kubernetes.config import ConfigException

    complaints, root = _Complaints(), logging.getLogger()
    root.addHandler(complaints)
    try:
        kube = Kube.connect(kubeconfig)
    except (ConfigException, TypeError, ValueError) as error:
        # Data that is no base64 is a ValueError or, if it is no text, a TypeError.
        raise InputError(f"{where}: cannot be used: {error}") from None
    finally:
        root.removeHandler(complaints)
    if complaints.said:
        kube.close()
        raise InputError(f"{where}: cannot be used: {'; '.join(complaints.said)}")
    return kube


def _check_options(spec: ClusterSpec) -> None:
    if spec.existing.kwok_nodes and not spec.existing.allow_cluster_wide:
        raise InputError("--kwok-nodes: nodes are in no namespace, so adding them needs --allow-cluster-wide too")


def _looked_at(kube: Kube, context: Context, names: Names, spec: ClusterSpec) -> dict[str, str]:
    """Return the versions of a cluster that may be used and whose user may do what is needed.

    Raises:
        InputError: it looks like production, is too old, or the user has too few rights.
        ClusterError: it does not answer.
    """
    production.refuse(context, (), confirmed=spec.existing.confirmed)
    try:
        told = str(kube.request("GET", "/version")["gitVersion"])
    except ClusterError as error:
        raise ClusterError(f'context "{context.name}": {names.told(str(error))}; is the cluster up?') from None
    found = re.match(r"v?((\d+)\.(\d+)\.\d+)", told)
    if not found or (int(found[2]), int(found[3])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f'context "{context.name}": Kubernetes {told}; {oldest} or newer is needed')
    rights.require(kube, rights.needed(spec.existing, names.real("default")), f'context "{context.name}"')
    if not spec.existing.confirmed:
        production.refuse(context, kube.items(NODES), confirmed=False)
    return {"kubernetes": found[1], "server": told}


def _binaries(spec: ClusterSpec, version: str) -> Binaries:
    """Return the build whose kube-scheduler and kwok fit the cluster; of another version if the user says so."""
    if spec.kubernetes is None:
        try:
            return binaries_for(replace(spec, kubernetes=nearest(version).minor))
        except InputError as error:
            raise InputError(
                f"the cluster runs Kubernetes {version}, and no scheduler of that minor can be built here: {error} "
                "Say with --kubernetes which one is to stand beside it"
            ) from error
    return binaries_for(spec)


def _end(cluster: ExistingCluster, folder: ClusterFolder) -> None:
    """Leave the cluster as it was. What cannot be removed now is left to `harness clean`, which needs the folder."""
    try:
        cluster.end()
    except HarnessError as error:
        folder.leave()
        progress.note(
            f'context "{cluster.context}": not everything could be removed: {cluster.told(str(error))}. '
            '"harness clean" tries again'
        )
    except BaseException:
        folder.leave()
        raise
