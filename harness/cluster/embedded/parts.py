"""The command line of each part of the control plane: what an embedded cluster switches on, and what it leaves out."""

from dataclasses import dataclass
from pathlib import Path

from harness.certificates import Authority, Identity
from harness.cluster import kubeconfig

# What scheduling needs and no more: workloads become pods, deleted owners take their pods along, nodes get and lose
# the taints of their condition, disruption budgets count, service accounts exist. What is left out is idle CPU saved.
CONTROLLERS = (
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "taint-eviction-controller",
)

# Negative switches a client's limiter off. Equal for all: kube-scheduler's own default would measure the limiter.
UNLIMITED_QPS = "-1"


@dataclass(frozen=True)
class Layout:
    """The files and ports that the parts of one cluster share."""

    folder: Path
    api_port: int
    authority: Path
    api_server: Identity
    admin: Identity
    service_account_key: Path
    stages: Path

    @property
    def etcd_socket(self) -> Path:
        """Return etcd's socket: reachable only by who can enter the folder, so etcd needs no port and no password."""
        return self.folder / "etcd.sock"

    @property
    def etcd_data(self) -> Path:
        """Return the folder of etcd's data."""
        return self.folder / "etcd"

    def kubeconfig(self, who: str) -> Path:
        """Return the kubeconfig of one of the identities."""
        return self.folder / f"{who}.kubeconfig"


def etcd(layout: Layout) -> list[str]:
    """Return etcd's command line: one member, no peers, nothing synced to disk because nothing outlives the cluster."""
    socket = f"unix://{layout.etcd_socket}"
    # Nobody reads what a single member advertises, but etcd insists on addresses of this form.
    peer = "http://127.0.0.1:2380"
    return [
        "--name=harness",
        f"--data-dir={layout.etcd_data}",
        f"--listen-client-urls={socket}",
        "--advertise-client-urls=http://127.0.0.1:2379",
        f"--listen-peer-urls=unix://{layout.folder / 'peer.sock'}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=harness={peer}",
        "--unsafe-no-fsync",
        "--snapshot-count=100000",
        "--quota-backend-bytes=4294967296",
        "--log-level=warn",
    ]


def api_server(layout: Layout) -> list[str]:
    """Return kube-apiserver's command line: TLS and RBAC as on a real cluster, on loopback only."""
    key = layout.service_account_key
    return [
        f"--etcd-servers=unix://{layout.etcd_socket}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={layout.api_port}",
        f"--tls-cert-file={layout.api_server.certificate}",
        f"--tls-private-key-file={layout.api_server.key}",
        f"--client-ca-file={layout.authority}",
        # Schedulers look this up when they check who reads their metrics. No certificate of that name is ever issued.
        f"--requestheader-client-ca-file={layout.authority}",
        "--requestheader-allowed-names=harness-front-proxy",
        "--authorization-mode=Node,RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--endpoint-reconciler-type=none",
        # Played nodes are ready from the start; the taint of an unready one would only wait for its controller.
        "--disable-admission-plugins=TaintNodesByCondition",
        # Fair queueing shares a server among strangers; here it would only add waits that no scheduler causes.
        "--enable-priority-and-fairness=false",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--event-ttl=24h",
        "--delete-collection-workers=8",
        "--profiling=false",
    ]


def controller_manager(layout: Layout) -> list[str]:
    """Return kube-controller-manager's command line."""
    return [
        f"--kubeconfig={layout.kubeconfig('kube-controller-manager')}",
        f"--controllers={','.join(CONTROLLERS)}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--kube-api-qps={UNLIMITED_QPS}",
        # Many nodes may come at once; the default of one eviction in ten seconds is for data centres.
        "--node-eviction-rate=1000",
        "--secondary-node-eviction-rate=1000",
        "--profiling=false",
    ]


def scheduler(layout: Layout, config: Path, port: int, server: Identity) -> list[str]:
    """Return kube-scheduler's command line; how it schedules stands in `config`."""
    return [
        f"--config={config}",
        f"--authentication-kubeconfig={layout.kubeconfig('kube-scheduler')}",
        f"--authorization-kubeconfig={layout.kubeconfig('kube-scheduler')}",
        # Told, not looked up: the API server may publish it only after the scheduler has asked.
        f"--client-ca-file={layout.authority}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={server.certificate}",
        f"--tls-private-key-file={server.key}",
        "--v=2",
    ]


def kwok(layout: Layout) -> list[str]:
    """Return kwok's command line: it plays every node and the pods on them, and serves nothing."""
    return [
        f"--kubeconfig={layout.kubeconfig('kwok')}",
        f"--config={layout.stages}",
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=40",
        # It would write a line for every change of every pod; the watches see those already.
        "--v=WARN",
        "--server-address=",
        "--node-port=0",
    ]


def lay_out(folder: Path, port: int, authority: Authority, stages: Path) -> Layout:
    """Give everyone who talks to the API server an identity with the rights of its role, and write the files."""
    identities = {
        "admin": authority.client("harness-admin", "system:masters"),
        # With a token per controller, as on a production cluster, every start would wait for a dozen tokens.
        "kube-controller-manager": authority.client("system:kube-controller-manager", "system:masters"),
        "kube-scheduler": authority.client("system:kube-scheduler"),
        "kwok": authority.client("harness-kwok", "system:masters"),
    }
    layout = Layout(
        folder=folder,
        api_port=port,
        authority=authority.certificate,
        api_server=authority.server("kube-apiserver"),
        admin=identities["admin"],
        service_account_key=authority.signing_key("service-account"),
        stages=stages,
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
