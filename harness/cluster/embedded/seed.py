"""Makes the etcd data that every cluster starts from: one in which the API server's own bootstrap is done.

Roles, system namespaces and service accounts are the same in every new cluster, and making them takes an API server
more than a second. Made once per build, copied at every start. What belongs to one cluster alone is taken out again.
"""

import hashlib
import shutil
from pathlib import Path

from harness import cache, ports
from harness.certificates import Authority
from harness.cluster.embedded import etcd, parts
from harness.cluster.embedded.build import FACTS, Binaries
from harness.cluster.embedded.loopback import LoopbackPages
from harness.cluster.embedded.supervisor import Supervisor
from harness.cluster.folder import ClusterFolder
from harness.paths import cache_folder

DATA = "etcd"
ACCOUNTS = [
    f"/api/v1/namespaces/{name}/serviceaccounts/default"
    for name in ("default", "kube-node-lease", "kube-public", "kube-system")
]
# The authority that signed the seed's certificates, and the identity of an API server that is gone.
FOREIGN = (
    "/registry/configmaps/kube-system/extension-apiserver-authentication",
    "/registry/leases/kube-system/apiserver-",
)


def seed_for(binaries: Binaries) -> Path:
    """Return the etcd data that a new cluster starts from; not to be written to."""
    digest = hashlib.sha256((binaries.folder / FACTS).read_bytes())
    for path in (Path(parts.__file__), Path(__file__)):
        digest.update(path.read_bytes())
    folder = cache_folder() / "seed" / f"{binaries.kubernetes}-{digest.hexdigest()[:12]}"
    return cache.kept(folder, lambda draft: _make(binaries, draft), what="The first state of a cluster") / DATA


def _make(binaries: Binaries, draft: Path) -> None:
    """Run a control plane until it has bootstrapped itself, and keep its etcd data."""
    with ClusterFolder.create() as folder, ports.reserved(1) as (port,):
        layout = parts.lay_out(folder.path, port, Authority(folder.path / "pki"), binaries.stages)
        with Supervisor(binaries.program, folder.path / "logs") as supervisor:
            storage = supervisor.start("etcd", parts.etcd(layout))
            supervisor.await_socket(layout.etcd_socket)
            api_server = supervisor.start("kube-apiserver", parts.api_server(layout))
            api = LoopbackPages(port, layout.authority, layout.admin)
            supervisor.wait(lambda: api.is_ok("/readyz"), "the API server ready")
            controllers = supervisor.start("kube-controller-manager", parts.controller_manager(layout))
            supervisor.wait(lambda: all(map(api.is_ok, ACCOUNTS)), "the default service accounts")
            supervisor.stop(controllers)
            # Before etcd: without it an API server takes very long to leave.
            supervisor.stop(api_server)
            for prefix in FOREIGN:
                etcd.forget(layout.etcd_socket, prefix)
            supervisor.stop(storage)
        shutil.copytree(layout.etcd_data, draft / DATA)
