"""Starts an embedded cluster as parallel as its parts allow, and ends every process it started."""

import contextlib
import importlib
import threading
from collections.abc import Iterator

from harness import ports
from harness.clock import SYSTEM
from harness.cluster import kubeconfig
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded import parts
from harness.cluster.embedded.build import Binaries, binaries_for
from harness.cluster.embedded.certificates import Authority
from harness.cluster.embedded.cluster import EmbeddedCluster
from harness.cluster.embedded.loopback import LoopbackPages
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.folder import ClusterFolder


class EmbeddedProvider:
    """Real control-plane processes on loopback."""

    name = "embedded"

    @contextlib.contextmanager
    def cluster(self, spec: ClusterSpec) -> Iterator[EmbeddedCluster]:
        """Bring up a control plane without a scheduler; nodes and schedulers are added by who needs them."""
        binaries = binaries_for(spec)
        started = SYSTEM.now()
        # Most of a second of imports that the first request needs; the control plane loads meanwhile.
        threading.Thread(target=importlib.import_module, args=("kubernetes",), daemon=True).start()
        with (
            ClusterFolder.create(spec.name) as folder,
            ports.reserved(1) as (port,),
            Supervisor(binaries.program, folder.path / "logs") as supervisor,
        ):
            authority = Authority(folder.path / "pki")
            layout = _lay_out(folder, port, authority, binaries)
            api = LoopbackPages(port, authority.certificate, layout.admin)
            cluster = EmbeddedCluster(layout, binaries, supervisor, authority, api)
            _start(layout, supervisor, api)
            cluster.await_accounts()
            if spec.reusable:
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


def _lay_out(folder: ClusterFolder, port: int, authority: Authority, binaries: Binaries) -> parts.Layout:
    identities = parts.identities(authority)
    layout = parts.Layout(
        folder=folder.path,
        api_port=port,
        authority=authority.certificate,
        api_server=authority.server("kube-apiserver"),
        admin=identities["admin"],
        service_account_key=authority.signing_key("service-account"),
        stages=binaries.stages,
    )
    for who, identity in identities.items():
        kubeconfig.write(
            layout.kubeconfig(who),
            server=f"https://127.0.0.1:{port}",
            authority=authority.certificate,
            certificate=identity.certificate,
            key=identity.key,
        )
    return layout


def _start(layout: parts.Layout, supervisor: Supervisor, api: LoopbackPages) -> None:
    """Start every part at once; those that need another one load themselves and then wait for it."""
    supervisor.start("etcd", parts.etcd(layout))
    api_server = supervisor.start("kube-apiserver", parts.api_server(layout), held=True)
    controllers = supervisor.start("kube-controller-manager", parts.controller_manager(layout), held=True)
    kwok = supervisor.start("kwok", parts.kwok(layout), held=True)
    supervisor.await_socket(layout.etcd_socket)
    api_server.release()
    supervisor.wait(lambda: api.is_ok("/readyz"), "the API server ready")
    controllers.release()
    kwok.release()
