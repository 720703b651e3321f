"""An API server for extenders that bind: a fake, in memory."""

from typing import Any

from harness.errors import ApiError
from harness.extender import requests
from harness.extender.author import Pod
from harness.kube import CONFLICT
from harness.testing import FakeKube


class Api(FakeKube):
    """A fake API server that binds pods as the real one does: once, to anything, the right UID only."""

    broken: Exception | None = None

    def request(self, method: str, path: str, **more: Any) -> Any:
        if not path.endswith("/binding"):
            return super().request(method, path, **more)
        if self.broken:
            raise self.broken
        pod, body = Pod(super().request("GET", path.removesuffix("/binding"))), more["body"]
        if pod.node or pod.uid != body["metadata"]["uid"]:
            raise ApiError(method, path, CONFLICT, "the object has been modified")
        change = {
            "metadata": {"annotations": body["metadata"]["annotations"]},
            "spec": {"nodeName": body["target"]["name"]},
        }
        return super().request("PATCH", path.removesuffix("/binding"), body=change)

    def add_node(self, name: str, **more: Any) -> None:
        self.create({"apiVersion": "v1", "kind": "Node", **requests.node(name, **more)})

    def add_pod(self, name: str, **more: Any) -> Pod:
        return Pod(self.create({"apiVersion": "v1", "kind": "Pod", **requests.pod(name, **more)}))

    def pod(self, name: str) -> Pod:
        return Pod(self.request("GET", f"/api/v1/namespaces/default/pods/{name}"))
