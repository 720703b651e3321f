"""The only module that speaks to an API server.

It uses the official client for what is hard (kubeconfig, credentials, TLS) and plain JSON for the rest: the client's
typed models cost more time per pod than the scheduler does.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from harness.errors import ApiError, ClusterError
from harness.streaming import Stream

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Object = dict[str, Any]

PAGE_SIZE = 500
TIMEOUT_SECONDS = 30.0
NOT_FOUND, CONFLICT, GONE = 404, 409, 410
# As kubectl does: otherwise the server drops what it does not know, and a mistyped field changes nothing.
STRICT = {"fieldValidation": "Strict"}
MERGE_PATCH = "application/merge-patch+json"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True)
class Resource:
    """One kind of object the API server knows."""

    group_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def root(self) -> str:
        """Return the path that every request for this resource starts with."""
        return f"/api/{self.group_version}" if "/" not in self.group_version else f"/apis/{self.group_version}"

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """Return the path of a collection, or of one object when `name` is given."""
        middle = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{self.root}{middle}/{self.plural}" + (f"/{name}" if name else "")


class Kube:
    """A connection to one API server, safe to share between threads."""

    def __init__(self, api: "ApiClient") -> None:
        self._api = api
        self._pool = api.rest_client.pool_manager
        self._resources: dict[tuple[str, str], Resource] | None = None
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, kubeconfig: Path, context: str | None = None) -> "Kube":
        """Read a kubeconfig; the connection itself is made by the first request."""
        # Here and not above: the import takes most of a second.
        from kubernetes import client, config

        settings = client.Configuration()
        load: Any = config.load_kube_config
        load(str(kubeconfig), context=context, client_configuration=settings, persist_config=False)
        settings.connection_pool_maxsize = 32
        # A retried POST may create twice; every retry here is somebody's decision.
        settings.retries = False
        return cls(client.ApiClient(settings))

    @property
    def configuration(self) -> Any:
        """Return how the official client reaches the server, for what it does better."""
        return self._api.configuration

    def close(self) -> None:
        """Drop all idle connections."""
        self._pool.clear()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """Send one request and return the decoded answer.

        Raises:
            ApiError: the server refused it.
            ClusterError: the server could not be reached.
        """
        headers = {"Accept": accept, "Content-Type": content_type}
        data = self._send(method, path, query=query, body=body, headers=headers).data
        return orjson.loads(data) if data else None

    def text(self, path: str) -> str:
        """Return a page that is no JSON: health, metrics."""
        return str(self._send("GET", path, headers={"Accept": "*/*"}).data.decode())

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> Any:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415 - comes with kubernetes

        __tracebackhide__ = True  # pytest can show what a function holds, and here that is somebody's token
        _, url, all_headers, *_ = self._api.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json", "Content-Type": "application/json", **(headers or {})},
            auth_settings=["BearerToken"],
        )
        data = orjson.dumps(body) if body is not None else None
        try:
            response = self._pool.request(
                method,
                url,
                body=data,
                headers=all_headers,
                preload_content=not stream,
                timeout=None if stream else TIMEOUT_SECONDS,
            )
        except HTTPError as error:
            # Its own lines hold the headers, and with them the token.
            raise ClusterError(f"{method} {path}: the API server does not answer: {error}") from None
        if response.status >= 400:  # noqa: PLR2004 - the usual border of HTTP errors
            raise ApiError(method, path, response.status, _reason(response.data))
        return response

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, accept: str = "application/json"
    ) -> Iterator[Object]:
        """Yield a collection page by page, so that no list is ever whole in memory unless the caller keeps it."""
        token = ""
        while True:
            page = self.request(
                "GET",
                path,
                query={**(query or {}), "limit": PAGE_SIZE, **({"continue": token} if token else {})},
                accept=accept,
            )
            yield page
            token = page["metadata"].get("continue", "")
            if not token:
                return

    def items(
        self, path: str, *, selector: str = "", fields: str = "", accept: str = "application/json"
    ) -> list[Object]:
        """Return every object of a collection, or those that selectors choose."""
        wanted = {"labelSelector": selector, "fieldSelector": fields}
        query = {key: value for key, value in wanted.items() if value}
        return [item for page in self.pages(path, query=query, accept=accept) for item in page["items"] or []]

    def watch(self, path: str, resource_version: str) -> Stream:
        """Open a watch that starts after `resource_version`."""
        query = {"watch": "true", "resourceVersion": resource_version, "allowWatchBookmarks": "true"}
        return Stream(self._send("GET", path, query=query, stream=True))

    def log(self, path: str, query: Mapping[str, Any]) -> Stream:
        """Follow what a container logs, until it ends."""
        return Stream(self._send("GET", f"{path}/log", query={**query, "follow": "true"}, stream=True))

    def resources(self) -> Mapping[tuple[str, str], Resource]:
        """Return what the server knows, by (apiVersion, kind); asked once."""
        with self._lock:
            if self._resources is None:
                self._resources = {
                    (found.group_version, found.kind): found
                    for root in ("/api", "/apis")
                    for found in _discovered(self.request("GET", root, accept=DISCOVERY))
                }
            return self._resources

    def resource_of(self, kind: str, api_version: str | None = None) -> Resource:
        """Return the resource of a kind; the first group that has it when no apiVersion is given.

        Raises:
            ApiError: the server does not know it.
        """
        for _ in range(2):
            for (version, name), resource in self.resources().items():
                if name == kind and api_version in {None, version}:
                    return resource
            # It may have been defined since we asked.
            with self._lock:
                self._resources = None
        wanted = f"{api_version} {kind}" if api_version else kind
        raise ApiError("GET", "/apis", NOT_FOUND, f"the server knows no {wanted}")

    def knows(self, kind: str, api_version: str) -> bool:
        """Return whether the server knows a kind by now."""
        try:
            self.resource_of(kind, api_version)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
            return False
        return True

    def create(self, item: Object, namespace: str = "default") -> Object:
        """Create an object in its own namespace, else in `namespace`.

        Raises:
            ApiError: the server refuses it, also for a field that it does not know.
        """
        resource = self.resource_of(item["kind"], item["apiVersion"])
        path = resource.path(item["metadata"].get("namespace", namespace))
        created: Object = self.request("POST", path, query=STRICT, body=item)
        return created

    def patch(self, path: str, change: Object) -> Object:
        """Merge `change` into an object."""
        patched: Object = self.request("PATCH", path, query=STRICT, body=change, content_type=MERGE_PATCH)
        return patched

    def delete(self, path: str, *, grace_seconds: int | None = None, policy: str = "Background") -> None:
        """Delete an object or, given a collection's path, all of it; one that is gone already is fine."""
        body: Object = {"propagationPolicy": policy}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        try:
            self.request("DELETE", path, body=body)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise


def _discovered(document: Object) -> Iterator[Resource]:
    for group in document["items"]:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for found in version.get("resources", ()):
                yield Resource(
                    group_version=f"{name}/{version['version']}" if name else version["version"],
                    kind=found["responseKind"]["kind"],
                    plural=found["resource"],
                    namespaced=found["scope"] == "Namespaced",
                    verbs=frozenset(found["verbs"]),
                )


def _reason(data: bytes) -> str:
    try:
        return str(orjson.loads(data).get("message", data.decode(errors="replace")))
    except (orjson.JSONDecodeError, AttributeError):
        return data.decode(errors="replace").strip()


def names(items: Sequence[Object]) -> list[str]:
    """Return the objects' names, in order."""
    return [item["metadata"]["name"] for item in items]
