"""The fake has to behave as a real API server where tests rely on it."""

import pytest

from harness.errors import ApiError
from harness.kube import Object, names
from harness.testing import FakeKube

PODS = "/api/v1/namespaces/default/pods"


def pod(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": {}}


@pytest.fixture
def kube() -> FakeKube:
    return FakeKube()


def refused(status: int) -> pytest.RaisesExc[ApiError]:
    return pytest.raises(ApiError, match=f": {status} ")


def test_objects_come_and_go(kube: FakeKube) -> None:
    created = kube.create(pod("a"))
    assert created["metadata"]["uid"]
    assert kube.request("GET", f"{PODS}/a") == created
    with refused(409):
        kube.create(pod("a"))
    kube.delete(f"{PODS}/a")
    with refused(404):
        kube.request("GET", f"{PODS}/a")
    with refused(404):
        kube.request("DELETE", f"{PODS}/a")
    kube.delete(f"{PODS}/a")


def test_a_name_may_be_generated(kube: FakeKube) -> None:
    item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}, "spec": {}}
    first, second = kube.create(item), kube.create(item)
    assert first["metadata"]["name"].startswith("web-")
    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_collections_have_namespaces_and_selectors(kube: FakeKube) -> None:
    kube.create(pod("a", app="web"))
    kube.create(pod("b", app="db"))
    kube.create(pod("c", app="web"), "other")
    assert names(kube.items(PODS)) == ["a", "b"]
    assert names(kube.items("/api/v1/pods", selector="app=web")) == ["a", "c"]
    kube.delete(PODS)
    assert names(kube.items("/api/v1/pods")) == ["c"]


def test_patches_merge_and_null_removes(kube: FakeKube) -> None:
    kube.create(pod("a", app="web", zone="z"))
    kube.patch(f"{PODS}/a", {"metadata": {"labels": {"app": None, "new": "1"}}, "spec": {"nodeName": "n"}})
    found = kube.request("GET", f"{PODS}/a")
    assert found["metadata"]["labels"] == {"zone": "z", "new": "1"}
    assert found["spec"] == {"nodeName": "n"}


def test_a_patch_against_an_older_version_is_refused(kube: FakeKube) -> None:
    version = kube.create(pod("a"))["metadata"]["resourceVersion"]
    kube.patch(f"{PODS}/a", {"metadata": {"resourceVersion": version}})
    with refused(409):
        kube.patch(f"{PODS}/a", {"metadata": {"resourceVersion": version}})


def test_nobody_can_change_what_it_holds_from_outside(kube: FakeKube) -> None:
    item = pod("a")
    created = kube.create(item)
    created["spec"]["nodeName"] = item["spec"]["nodeName"] = "n"
    assert kube.items(PODS)[0]["spec"] == {}


def test_a_watch_tells_everything_since_a_version(kube: FakeKube) -> None:
    kube.create(pod("before"))
    version = next(iter(kube.pages(PODS)))["metadata"]["resourceVersion"]
    kube.create(pod("between"))
    stream = kube.watch(PODS, version)
    kube.create(pod("elsewhere"), "other")
    kube.patch(f"{PODS}/before", {"spec": {"nodeName": "n"}})
    kube.delete(f"{PODS}/before")
    stream.close()
    seen = [(change["type"], change["object"]["metadata"]["name"]) for change in stream]
    assert seen == [("ADDED", "between"), ("MODIFIED", "before"), ("DELETED", "before")]


def test_a_watch_from_before_a_compaction_is_refused(kube: FakeKube) -> None:
    version = kube.create(pod("a"))["metadata"]["resourceVersion"]
    kube.compact()
    with refused(410):
        kube.watch(PODS, version)


def test_what_it_does_not_know_is_refused(kube: FakeKube) -> None:
    with refused(404):
        kube.items("/apis/example.com/v1/widgets")
