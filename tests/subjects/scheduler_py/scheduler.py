"""A scheduler as strangers write one: no kube-scheduler, says who it is, and serves plain health pages, or none."""

import http.server
import sys
import threading
from pathlib import Path
from typing import Any

from harness.kube import Kube

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


class Healthy(http.server.BaseHTTPRequestHandler):
    """Is always well."""

    def do_GET(self) -> None:
        """Say so."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")


def take(kube: Kube, name: str, pod: dict[str, Any]) -> None:
    """Bind a pod that asks for this scheduler to the first node."""
    if pod["spec"].get("schedulerName") != name or pod["spec"].get("nodeName"):
        return
    node = kube.items(NODES)[0]["metadata"]["name"]
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod["metadata"]["name"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/binding"
    kube.request("POST", path, body=binding)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    # Said with every pod: a record has of the log what was written in its time.
    me = kube.request("POST", REVIEWS, body=review)["status"]["userInfo"]["username"]
    sys.stderr.write(f"I am {me}\n")


def main(kubeconfig: str, name: str, port: str | None = None) -> None:
    """Bind whatever comes."""
    kube = Kube.connect(Path(kubeconfig))
    if port:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Healthy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    known = kube.request("GET", PODS)
    for pod in known["items"]:
        take(kube, name, pod)
    for event in kube.watch(PODS, known["metadata"]["resourceVersion"]):
        if event["type"] == "ADDED":
            take(kube, name, event["object"])


if __name__ == "__main__":
    main(*sys.argv[1:])
