"""A connection to a shared cluster that sees and touches nothing but what is the run's own.

Every stage speaks of the scenario's namespaces; on the way to the server they become the run's, on the way back what
is not the run's is left out.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.clock import WaitTimeoutError, wait_until
from harness.cluster.existing import body as bodies
from harness.cluster.existing.names import RUN_LABEL, Names
from harness.cluster.existing.wide import ClusterWide
from harness.errors import ApiError, ClusterError
from harness.kube import CONFLICT, NOT_FOUND, Kube, Object, Resource
from harness.streaming import Stream

# Those that every cluster has: nobody creates them, so they come when they are first used.
BORN_WITH = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
NAMESPACES = "namespaces"
ACCOUNT_SECONDS = 60.0
Value = TypeVar("Value")
Show = Callable[[Object], Object | None]


@dataclass(frozen=True)
class Target:
    """What a path is about. `resource` is None for a kind that the server has not told of."""

    root: str
    plural: str
    resource: Resource | None
    namespace: str | None
    name: str | None
    part: str | None

    @property
    def is_namespace(self) -> bool:
        """Tell whether it is about namespaces themselves."""
        return self.plural == NAMESPACES and self.root == "/api/v1"

    def path(self, names: Names) -> str:
        """Return the path on the cluster."""
        name = names.real(self.name) if self.is_namespace and self.name else self.name
        middle = f"/namespaces/{names.real(self.namespace)}" if self.namespace else ""
        return "/".join(part for part in (f"{self.root}{middle}", self.plural, name, self.part) if part)


class ScopedStream(Stream):
    """A watch that hands over only what is the run's own."""

    def __init__(self, inner: Stream, show: Show) -> None:
        super().__init__(None)
        self._inner = inner
        self._show = show

    def __iter__(self) -> Iterator[Object]:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415 - comes with kubernetes

        try:
            for change in self._inner:
                if change["type"] in {"BOOKMARK", "ERROR"}:
                    yield change
                elif (item := self._show(change["object"])) is not None:
                    yield {**change, "object": item}
        except HTTPError:
            # Whatever stands before a server far away ends connections that are silent for a while. A watch that ends
            # is opened again where it stood; a server that is gone is noticed then.
            return

    def close(self) -> None:
        """End the watch."""
        self._closed.set()
        self._inner.close()


class ScopedKube(Kube):
    """`Kube` as a run on a shared cluster may use it. `rules` is what goes into the run's pods, asked for each one."""

    def __init__(
        self, inner: Kube, names: Names, wide: ClusterWide, rules: Callable[[], bodies.PodRules] = bodies.PodRules
    ) -> None:
        # Without super().__init__: the connection is the inner one's.
        self._inner = inner
        self._names = names
        self._wide = wide
        self._rules = rules
        self._making = threading.Lock()
        self._made: set[str] = set()

    def close(self) -> None:
        """Drop all idle connections."""
        self._inner.close()

    def text(self, path: str) -> str:
        """Return a page that is no JSON."""
        return self._names.told(self._inner.text(path))

    def resources(self) -> Mapping[tuple[str, str], Resource]:
        """Return what the server knows."""
        return self._told(self._inner.resources)

    def resource_of(self, kind: str, api_version: str | None = None) -> Resource:
        """Return the resource of a kind; see `Kube.resource_of`."""
        return self._told(lambda: self._inner.resource_of(kind, api_version))

    def forget_namespaces(self) -> None:
        """Take it that no namespace of the run is there any more."""
        with self._making:
            self._made.clear()

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
        """Send one request about the run's own world; see `Kube.request`.

        Raises:
            InputError: it would change what is not the run's own.
        """
        target = self._target(path)
        if target is None:
            return self._send_on(method, path, query=query, body=body, content_type=content_type, accept=accept)
        if target.namespace and method == "POST" and target.name is None:
            self._ensure(target.namespace)
        elif target.is_namespace and method == "GET":
            # Whoever looks finds what every cluster has.
            self._ensure("default")
        body = self._body(method, target, body)
        answer = self._send_on(
            method, target.path(self._names), query=query, body=body, content_type=content_type, accept=accept
        )
        return self._answer(answer, target)

    def watch(self, path: str, resource_version: str) -> Stream:
        """Open a watch of the run's own world."""
        target = self._target(path)
        if target is None:
            raise ApiError("GET", path, NOT_FOUND, "nothing to watch")
        path = target.path(self._names)
        return ScopedStream(self._told(lambda: self._inner.watch(path, resource_version)), self._show(target))

    def _send_on(self, method: str, path: str, **others: Any) -> Any:
        return self._told(lambda: self._inner.request(method, path, **others))

    def _told(self, ask: Callable[[], Value]) -> Value:
        try:
            return ask()
        except ClusterError as error:
            # The cause would tell the server's address.
            raise ClusterError(self._names.told(str(error))) from None

    def _target(self, path: str) -> Target | None:
        words = path.strip("/").split("/")
        start = {"api": 2, "apis": 3}.get(words[0], len(words))
        root, rest = "/" + "/".join(words[:start]), words[start:]
        if not rest:
            return None
        namespace: str | None = None
        own_part = root == "/api/v1" and rest[2:3] in (["finalize"], ["status"])
        if rest[0] == NAMESPACES and len(rest) > 2 and not own_part:  # noqa: PLR2004 - its name, then what is in it
            namespace, rest = rest[1], rest[2:]
        version = "/".join(words[1:start])
        resource = None if namespace else self._known(version, rest[0])
        return Target(root, rest[0], resource, namespace, *(*rest[1:], None, None)[:2])

    def _known(self, version: str, plural: str) -> Resource | None:
        for found in self.resources().values():
            if (found.group_version, found.plural) == (version, plural):
                return found
        return None

    def _body(self, method: str, target: Target, body: Any) -> Any:
        """Return the body as the cluster is to get it, if that is allowed."""
        if method == "GET":
            return body
        resource = target.resource
        if resource is None and target.namespace is None:
            # It may have been defined since we asked, and must not slip through: no kind has that name, so all are
            # asked for again.
            version = target.root.removeprefix("/api/").removeprefix("/apis/")
            self._told(lambda: self._inner.knows(target.plural, version))
            resource = self._known(version, target.plural)
        if resource is None:
            return bodies.sent(body, self._names, self._rules())
        if target.is_namespace:
            made = bodies.namespace(body, self._names) if method in {"POST", "PUT"} else body
            if target.name is None and method == "DELETE":
                raise ApiError(method, target.path(self._names), CONFLICT, "name the namespace")
            return made
        if resource.namespaced:
            raise ApiError(method, target.path(self._names), NOT_FOUND, "name a namespace")
        return self._cluster_wide(method, target, resource, body)

    def _cluster_wide(self, method: str, target: Target, resource: Resource, body: Any) -> Any:
        # What can only be created is a question, such as a SubjectAccessReview, and leaves nothing behind.
        if resource.verbs == {"create"}:
            return bodies.sent(body, self._names, self._rules())
        translated = bodies.sent(body, self._names, self._rules())
        if method == "DELETE":
            self._wide.delete(resource, target.name)
            return body
        if method == "POST" and target.name is None:
            return self._wide.create(resource, translated)
        return self._wide.change(resource, target.name or "", target.part, translated)

    def _answer(self, answer: Any, target: Target) -> Any:
        if not isinstance(answer, dict):
            return answer
        show = self._show(target)
        if isinstance(answer.get("items"), list):
            answer["items"] = [item for found in answer["items"] if (item := show(found)) is not None]
            return answer
        shown = show(answer) if (answer.get("metadata") or {}).get("name") else answer
        # Something that is not the run's own was asked for by its name; only nodes can be.
        if shown is None:
            raise ApiError("GET", target.path(self._names), NOT_FOUND, f'{target.plural} "{target.name}" not found')
        return shown

    def _show(self, target: Target) -> Show:
        """Return what turns an object of the cluster into the scenario's, or None for one that is not the run's."""
        names, plural = self._names, target.plural
        only_own_nodes = plural == "nodes" and target.root == "/api/v1" and self._rules().own_nodes

        def show(item: Object) -> Object | None:
            metadata = item["metadata"]
            where = metadata.get("namespace")
            if target.is_namespace:
                where = metadata["name"]
            if where is not None and not names.is_own(where):
                return None
            if only_own_nodes and (metadata.get("labels") or {}).get(RUN_LABEL) != names.run:
                return None
            return bodies.shown(item, plural, names)

        return show

    def _ensure(self, namespace: str) -> None:
        """Make a namespace that every cluster has, when something is first created in it."""
        if namespace not in BORN_WITH:
            return
        with self._making:
            if namespace in self._made:
                return
            item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            try:
                self._send_on("POST", "/api/v1/namespaces", body=bodies.namespace(item, self._names))
            except ApiError as error:
                if error.status != CONFLICT:
                    raise
            self._await_account(self._names.real(namespace))
            self._made.add(namespace)

    def _await_account(self, real: str) -> None:
        """Wait for the account that pods run as unless told: before it is there, the server refuses them."""
        path = f"/api/v1/namespaces/{real}/serviceaccounts"
        try:
            wait_until(
                lambda: any(item["metadata"]["name"] == "default" for item in self._inner.items(path)),
                what=f"the default ServiceAccount of namespace {real}",
                timeout_seconds=ACCOUNT_SECONDS,
            )
        except WaitTimeoutError as error:
            raise ClusterError(f"{error}; the cluster's controllers do not make it") from error
