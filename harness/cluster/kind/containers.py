"""What the container engine shows of the nodes of kind clusters; no folder of ours is needed for it."""

from dataclasses import dataclass
from pathlib import Path

import tenacity

from harness.cluster.kind.config import MOUNT
from harness.cluster.kind.owner import Owner
from harness.cluster.kind.tools import docker
from harness.errors import CommandError

LABEL = "io.x-k8s.kind.cluster"
LISTED_SECONDS, LISTED_POLL_SECONDS = 30.0, 0.2
_IDENTITY = f'{{{{.Id}}}}\t{{{{index .Config.Labels "{LABEL}"}}}}'
_MOUNTS = "{{range .Mounts}}\t{{.Destination}}\t{{.Source}}{{end}}"


@dataclass(frozen=True)
class NodeContainer:
    """The container of one node: the cluster it is of, what it sees of this machine, and whose it is."""

    id: str
    cluster: str
    shared: Path | None
    owner: Owner | None


def listed(cluster: str | None = None) -> list[str]:
    """Return the containers of a cluster, of all clusters if none is named."""
    return docker("ps", "--all", "--quiet", f"--filter=label={LABEL}{f'={cluster}' if cluster else ''}").split()


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(CommandError),
    stop=tenacity.stop_after_delay(LISTED_SECONDS),
    wait=tenacity.wait_fixed(LISTED_POLL_SECONDS),
    reraise=True,
)
def nodes(cluster: str | None = None) -> list[NodeContainer]:
    """Return what is known of them; asked again, for Docker lists a container before it knows it."""
    found = listed(cluster)
    shown = docker("inspect", "--format", _IDENTITY + _MOUNTS, *found).splitlines() if found else ()
    # What Docker warns of stands between the lines.
    return [_node(line) for line in shown if "\t" in line]


def shared_folder(cluster: str) -> Path | None:
    """Return the folder that a cluster's nodes share with this machine; None if there is none, or not one of ours."""
    return next((node.shared for node in nodes(cluster) if node.shared), None)


def _node(line: str) -> NodeContainer:
    identity, cluster, *mounts = line.split("\t")
    places = dict(zip(mounts[::2], mounts[1::2], strict=True))
    owners = [owner for place in places if (owner := Owner.parse(place))]
    shared = places.get(MOUNT)
    return NodeContainer(identity, cluster, Path(shared) if shared else None, owners[0] if owners else None)
