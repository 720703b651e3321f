"""Starts an embedded cluster as parallel as its parts allow, and ends every process it started."""

import contextlib
import importlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from harness import ports
from harness.certificates import Authority
from harness.clock import SYSTEM
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded import parts
from harness.cluster.embedded.build import binaries_for
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.cluster.embedded.loopback import LoopbackPages
from harness.cluster.embedded.seed import seed_for
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.folder import ClusterFolder
from harness.errors import ClusterError
from harness.process import Child

SEED_MIB = 70
# Two checks wait for bootstraps that the seed has done already, and tick only once a second.
SERVING = "/readyz?" + "&".join(
    f"exclude=poststarthook/{hook}" for hook in ("rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes")
)


class EmbeddedProvider:
    """Real control-plane processes on loopback."""

    name = "embedded"

    def prepare(self, spec: ClusterSpec) -> None:
        """Build the control plane and its first state."""
        seed_for(binaries_for(spec))

    @contextlib.contextmanager
    def cluster(self, spec: ClusterSpec) -> Iterator[EmbeddedCluster]:
        """Bring up a control plane without a scheduler; nodes and schedulers are added by who needs them."""
        binaries = binaries_for(spec)
        seed = seed_for(binaries)
        started = SYSTEM.now()
        # Most of a second of imports that the first request needs; the control plane loads meanwhile.
        threading.Thread(target=importlib.import_module, args=("kubernetes",), daemon=True).start()
        with (
            ClusterFolder.create(spec.name) as folder,
            ports.reserved(1) as (port,),
            Supervisor(binaries.program, folder.path / "logs") as supervisor,
        ):
            authority = Authority(folder.path / "pki")
            layout = parts.lay_out(folder.path, port, authority, binaries.stages)
            _plant(seed, layout.etcd_data)
            api = LoopbackPages(port, authority.certificate, layout.admin)
            cluster = EmbeddedCluster(layout, binaries, supervisor, authority)
            _start(layout, supervisor, api)
            cluster.remember_baseline()
            folder.announce(
                provider=self.name,
                versions=dict(cluster.versions),
                kubeconfig=str(cluster.kubeconfig),
                start_seconds=round(SYSTEM.now() - started, 3),
            )
            try:
                yield cluster
            finally:
                cluster.close()


def _plant(seed: Path, data: Path) -> None:
    try:
        # Copied, not linked: etcd writes to it.
        shutil.copytree(seed, data)
    except OSError as error:
        free_mib = shutil.disk_usage(data.parent).free // 2**20
        why = f"about {SEED_MIB} MiB are needed, {free_mib} are free" if free_mib < SEED_MIB else str(error)
        raise ClusterError(f"{data}: cannot be written: {why}; free some room or set HARNESS_STATE") from error


def _start(layout: parts.Layout, supervisor: Supervisor, api: LoopbackPages) -> None:
    """Start every part at once; those that need another one load themselves and then wait for it."""
    supervisor.start("etcd", parts.etcd(layout))
    api_server = supervisor.start("kube-apiserver", parts.api_server(layout), held=True)
    kwok = supervisor.start("kwok", parts.kwok(layout), held=True)
    controllers = supervisor.start("kube-controller-manager", parts.controller_manager(layout), held=True)
    supervisor.await_socket(layout.etcd_socket)
    api_server.release()
    supervisor.wait(lambda: api.is_ok(SERVING), "the API server serving")
    kwok.release()
    threading.Thread(target=_release_when_ready, args=(controllers, supervisor, api), daemon=True).start()


def _release_when_ready(controllers: Child, supervisor: Supervisor, api: LoopbackPages) -> None:
    # It asks for the API server's health only once a second, and would lose most of one if it asked too early.
    with contextlib.suppress(ClusterError):
        supervisor.wait(lambda: api.is_ok("/readyz"), "the API server ready")
        controllers.release()
