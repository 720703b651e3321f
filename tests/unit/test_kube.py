from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import urllib3

from harness.errors import ApiError, ClusterError
from harness.kube import PAGE_SIZE, Kube, Resource, _reason, names
from harness.streaming import Stream

PODS = Resource("v1", "Pod", "pods", namespaced=True, verbs=frozenset())
NODES = Resource("v1", "Node", "nodes", namespaced=False, verbs=frozenset())
JOBS = Resource("batch/v1", "Job", "jobs", namespaced=True, verbs=frozenset())


class Pool:
    """Stands where urllib3's pool manager would: answers from a script, and remembers what was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.cleared = False

    def request(self, method: str, url: str, **more: Any) -> Any:
        self.asked.append({"method": method, "url": url, **more})
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return SimpleNamespace(status=status, data=orjson.dumps(body) if not isinstance(body, bytes) else body)

    def clear(self) -> None:
        self.cleared = True


class Api:
    """Stands where the official client would: it only puts a request together."""

    def __init__(self, pool: Pool) -> None:
        self.rest_client = SimpleNamespace(pool_manager=pool)

    def param_serialize(
        self, method: str, path: str, query_params: list[tuple[str, Any]], header_params: Mapping[str, str], **_: Any
    ) -> tuple[Any, ...]:
        query = "&".join(f"{name}={value}" for name, value in query_params)
        return method, f"https://server{path}" + (f"?{query}" if query else ""), dict(header_params), None, []


def connected(*answers: Any) -> tuple[Kube, Pool]:
    pool = Pool(*answers)
    return Kube(Api(pool)), pool  # type: ignore[arg-type]


def page(*items: str, more: str = "") -> tuple[int, Any]:
    metadata = {"resourceVersion": "1", **({"continue": more} if more else {})}
    return 200, {"metadata": metadata, "items": [{"metadata": {"name": name}} for name in items]}


@pytest.mark.parametrize(
    ("resource", "namespace", "name", "path"),
    [
        (PODS, None, None, "/api/v1/pods"),
        (PODS, "default", None, "/api/v1/namespaces/default/pods"),
        (PODS, "default", "a", "/api/v1/namespaces/default/pods/a"),
        (NODES, None, "n", "/api/v1/nodes/n"),
        (NODES, "default", "n", "/api/v1/nodes/n"),
        (JOBS, "x", "j", "/apis/batch/v1/namespaces/x/jobs/j"),
    ],
)
def test_a_resource_knows_its_paths(resource: Resource, namespace: str | None, name: str | None, path: str) -> None:
    assert resource.path(namespace, name) == path


class Response:
    """A watch's answer, as it comes in over the wire."""

    def __init__(self, *chunks: bytes | Exception) -> None:
        self.chunks = list(chunks)

    def read1(self) -> bytes:
        chunk = self.chunks.pop(0) if self.chunks else b""
        if isinstance(chunk, Exception):
            raise chunk
        return chunk


def test_a_stream_puts_lines_together_however_they_were_cut() -> None:
    stream = Stream(Response(b'{"a"', b': 1}\n{"b": 2}\n\n{"c"', b": 3", b"}\n", b'{"half": '))
    assert list(stream) == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_a_streams_events_are_handed_over_as_they_come() -> None:
    response = Response(b'{"a": 1}\n', AssertionError("read on before the first event was handed over"))
    assert next(iter(Stream(response))) == {"a": 1}


def test_a_streams_trouble_shows() -> None:
    with pytest.raises(Exception, match="connection reset"):
        list(Stream(Response(b'{"a": 1}\n', urllib3.exceptions.ProtocolError("connection reset"))))


def test_trouble_after_closing_is_the_closing_itself() -> None:
    stream = Stream(Response(b'{"a": 1}\n', ValueError("read of closed file")))
    seen = []
    for event in stream:
        seen.append(event)
        stream.close()
    assert seen == [{"a": 1}]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"kind": "Status", "message": "pods \\"a\\" not found"}', 'pods "a" not found'),
        (b'{"kind": "Other"}', '{"kind": "Other"}'),
        (b"[1]", "[1]"),
        (b"404 page not found\n", "404 page not found"),
        (b"\xff", "\ufffd"),
    ],
)
def test_a_refusals_reason_is_found_in_any_answer(data: bytes, reason: str) -> None:
    assert _reason(data) == reason


def test_a_collection_is_read_page_by_page() -> None:
    kube, pool = connected(page("a", "b", more="next"), page("c"))
    assert names(kube.items("/api/v1/pods", selector="app=web")) == ["a", "b", "c"]
    first, second = (asked["url"] for asked in pool.asked)
    assert first == f"https://server/api/v1/pods?labelSelector=app=web&limit={PAGE_SIZE}"
    assert second == f"{first}&continue=next"


def test_an_empty_collection_may_have_null_for_items() -> None:
    kube, _ = connected((200, {"metadata": {"resourceVersion": "1"}, "items": None}))
    assert kube.items("/api/v1/pods") == []


def test_a_refusal_carries_the_request_the_status_and_the_reason() -> None:
    kube, _ = connected((403, {"message": "no right to"}))
    with pytest.raises(ApiError, match=r"^POST /api/v1/x: 403 no right to$") as caught:
        kube.request("POST", "/api/v1/x", body={})
    assert (caught.value.method, caught.value.path, caught.value.status) == ("POST", "/api/v1/x", 403)


def test_a_server_that_does_not_answer_is_a_cluster_error_with_the_request() -> None:
    kube, _ = connected(urllib3.exceptions.ProtocolError("refused"))
    with pytest.raises(ClusterError, match="GET /readyz: the API server does not answer: refused"):
        kube.text("/readyz")


def test_a_page_that_is_no_json_is_returned_as_it_is() -> None:
    kube, _ = connected((200, b"ok"))
    assert kube.text("/readyz") == "ok"


def test_an_answer_without_a_body_is_none() -> None:
    kube, _ = connected((200, b""))
    assert kube.request("DELETE", "/x") is None


def test_deleting_what_is_gone_is_fine_and_every_other_refusal_is_not() -> None:
    kube, pool = connected((404, {"message": "gone"}), (409, {"message": "held"}))
    kube.delete("/api/v1/namespaces/default/pods/a", grace_seconds=0)
    assert orjson.loads(pool.asked[0]["body"]) == {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
    with pytest.raises(ApiError, match="409 held"):
        kube.delete("/api/v1/namespaces/default/pods/a")


def test_a_patch_is_merged_by_the_server() -> None:
    kube, pool = connected((200, {"metadata": {}}))
    kube.patch("/api/v1/nodes/n", {"spec": {"unschedulable": True}})
    assert pool.asked[0]["method"] == "PATCH"
    assert pool.asked[0]["headers"]["Content-Type"] == "application/merge-patch+json"


def discovery(group: str, version: str, *found: tuple[str, str, str]) -> Any:
    entries = [
        {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": ["get"]}
        for kind, plural, scope in found
    ]
    metadata = {"name": group} if group else {}
    return 200, {"items": [{"metadata": metadata, "versions": [{"version": version, "resources": entries}]}]}


def test_what_the_server_knows_is_asked_once() -> None:
    kube, pool = connected(
        discovery("", "v1", ("Pod", "pods", "Namespaced"), ("Node", "nodes", "Cluster")),
        discovery("example.com", "v2", ("Widget", "widgets", "Namespaced"), ("Pod", "pods", "Namespaced")),
    )
    assert kube.resource_of("Widget").path("a", "b") == "/apis/example.com/v2/namespaces/a/widgets/b"
    assert kube.resource_of("Pod").group_version == "v1"
    assert kube.resource_of("Pod", "example.com/v2").group_version == "example.com/v2"
    assert not kube.resource_of("Node").namespaced
    assert len(pool.asked) == 2


def test_a_kind_that_was_defined_since_is_found() -> None:
    kube, _ = connected(
        discovery("", "v1", ("Pod", "pods", "Namespaced")),
        discovery("apps", "v1"),
        discovery("", "v1", ("Pod", "pods", "Namespaced")),
        discovery("example.com", "v1", ("Widget", "widgets", "Namespaced")),
    )
    assert kube.resource_of("Pod").plural == "pods"
    assert kube.resource_of("Widget").plural == "widgets"


def test_an_unknown_kind_is_refused_by_name() -> None:
    kube, _ = connected(*(discovery("", "v1"), discovery("apps", "v1")) * 2)
    with pytest.raises(ApiError, match="the server knows no apps/v1 Gadget"):
        kube.resource_of("Gadget", "apps/v1")


def test_an_object_is_created_in_its_own_namespace_else_in_the_given_one() -> None:
    kube, pool = connected(
        discovery("", "v1", ("Pod", "pods", "Namespaced")), (200, {"items": []}), (201, {}), (201, {})
    )
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "own"}}, "given")
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, "given")
    assert [asked["url"].split("/")[-2] for asked in pool.asked[2:]] == ["own", "given"]


def test_a_watch_starts_after_a_version_and_has_no_deadline() -> None:
    kube, pool = connected((200, b""))
    kube.watch("/api/v1/pods", "42")
    assert "watch=true&resourceVersion=42" in pool.asked[0]["url"]
    assert pool.asked[0]["timeout"] is None
    assert pool.asked[0]["preload_content"] is False


def test_closing_drops_the_connections() -> None:
    kube, pool = connected()
    kube.close()
    assert pool.cleared
