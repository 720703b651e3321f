"""Runs an image that serves HTTP, an extender, as a Deployment behind a Service that this machine can reach."""

import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from harness.clock import WaitTimeoutError, wait_until
from harness.cluster.kind.config import CONTROL_PLANE
from harness.cluster.kind.deploy import Container
from harness.cluster.kind.pods import NAMESPACE, trouble
from harness.errors import VariantError
from harness.kube import Kube, Object

READY_SECONDS = 180.0
CONNECT_SECONDS = 2.0
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"

Furnish = Callable[[Sequence[Object]], AbstractContextManager[None]]


@contextlib.contextmanager
def serving(kube: Kube, furnish: Furnish, address: str, container: Container, name: str, port: int) -> Iterator[str]:
    """Yield the URL of a served image; it goes with the context.

    Raises:
        VariantError: its pod does not come up.
    """
    called = f"extender-{name}"
    with furnish([_deployment(called, container, port), _service(called, port)]):
        _await_ready(kube, called, container.image)
        node_port = kube.request("GET", f"{SERVICES}/{called}")["spec"]["ports"][0]["nodePort"]
        _await_connection(container.image, address, node_port)
        yield f"http://{address}:{node_port}"


def _await_ready(kube: Kube, name: str, image: str) -> None:
    def ready() -> bool:
        for pod in kube.items(PODS, selector=f"app={name}"):
            if why := trouble(pod):
                raise VariantError(f"image {image} does not run: {why}")
            conditions = pod.get("status", {}).get("conditions") or ()
            if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
                return True
        return False

    try:
        wait_until(ready, what=f"a pod of {image} that accepts connections", timeout_seconds=READY_SECONDS)
    except WaitTimeoutError as error:
        raise VariantError(f"{error}; it has to listen on port $PORT of every address") from error


def _await_connection(image: str, address: str, port: int) -> None:
    """Wait until the Service leads to the pod: the node's rules follow a moment after the pod is ready."""

    def connects() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((address, port), CONNECT_SECONDS):
            return True
        return False

    what = f"a connection to {image} at {address}:{port}"
    try:
        wait_until(connects, what=what, timeout_seconds=READY_SECONDS)
    except WaitTimeoutError as error:
        raise VariantError(f"{error}; does it listen on every address, not only on loopback?") from error


def _deployment(name: str, container: Container, port: int) -> Object:
    given = {"PORT": str(port), **container.env}
    spec = {
        "nodeName": CONTROL_PLANE,
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "extender",
                "image": container.image,
                "imagePullPolicy": "IfNotPresent",
                "env": [{"name": key, "value": value} for key, value in given.items()],
                "ports": [{"containerPort": port}],
                "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1},
            }
        ],
    }
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def _service(name: str, port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"type": "NodePort", "selector": {"app": name}, "ports": [{"port": port, "targetPort": port}]},
    }
