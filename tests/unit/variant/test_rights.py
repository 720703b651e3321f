import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.rights import NEEDED
from harness.errors import VariantError
from harness.testing import FakeCluster, FakeKube
from harness.testing.kube import ACCESS_REVIEWS
from harness.variant.base import SchedulerConfig, Setup
from harness.variant.rights import missing_rights
from harness.variant.second_scheduler import SHIPPED, SecondSchedulerVariant

Right = tuple[str, str, str]
EVERY = {role: [f"{verb} {resource}" for _, resource, verb in rights] for role, rights in NEEDED.items()}


class Strict(FakeKube):
    """A server that denies some rights, and notes what it was asked."""

    def __init__(self, denies: Callable[[Right], bool]) -> None:
        super().__init__()
        self._denies = denies
        self._noting = threading.Lock()
        self.asked: list[dict[str, Any]] = []

    def request(self, method: str, path: str, **more: Any) -> Any:
        if path != ACCESS_REVIEWS:
            return super().request(method, path, **more)
        spec = more["body"]["spec"]
        with self._noting:
            self.asked.append(spec)
        of = spec["resourceAttributes"]
        resource = "/".join(filter(None, (of["resource"], of["subresource"])))
        return {**more["body"], "status": {"allowed": not self._denies((of["group"], resource, of["verb"]))}}


def denying(*denied: Right) -> Strict:
    refused: Collection[Right] = set(denied)
    return Strict(lambda right: right in refused)


def test_who_may_do_everything_lacks_nothing() -> None:
    assert missing_rights(denying(), "kube-system", "mine") == {}


def test_what_is_missing_is_told_by_the_role_that_would_allow_it() -> None:
    kube = denying(("", "pods/binding", "create"), ("storage.k8s.io", "storageclasses", "list"))
    assert missing_rights(kube, "kube-system", "mine") == {
        "system:kube-scheduler": ["create pods/binding"],
        "system:volume-scheduler": ["list storageclasses"],
    }


def test_who_may_do_nothing_lacks_every_right_in_their_order() -> None:
    assert missing_rights(Strict(lambda right: True), "kube-system", "mine") == EVERY


@pytest.mark.parametrize("role", NEEDED)
def test_a_role_that_is_whole_is_not_named(role: str) -> None:
    assert missing_rights(denying(*NEEDED[role]), "kube-system", "mine") == {role: EVERY[role]}


def test_it_is_the_service_account_that_is_asked_about_with_its_groups() -> None:
    kube = denying()
    missing_rights(kube, "team", "mine")
    assert len(kube.asked) == sum(map(len, NEEDED.values()))
    for spec in kube.asked:
        assert spec["user"] == "system:serviceaccount:team:mine"
        assert spec["groups"] == [
            "system:serviceaccounts",
            "system:serviceaccounts:team",
            "system:authenticated",
        ]


def test_a_subresource_is_asked_about_as_one() -> None:
    """As `pods/binding` in one word it would be a resource that nobody has rights to."""
    kube = denying()
    missing_rights(kube, "team", "mine")
    asked = [spec["resourceAttributes"] for spec in kube.asked]
    assert {"group": "", "resource": "pods", "subresource": "binding", "verb": "create"} in asked
    assert not [one for one in asked if "/" in one["resource"]]


def test_a_manifest_without_rights_is_refused_and_nothing_of_it_stays(tmp_path: Path) -> None:
    kube = denying(("", "pods/binding", "create"), ("", "persistentvolumes", "update"))
    cluster = FakeCluster(tmp_path, kube=kube)
    before = kube.inventory()
    setup = Setup(manifest=SchedulerConfig(SHIPPED.read_text(encoding="utf-8"), "mine.yaml"))
    with pytest.raises(VariantError) as caught:
        SecondSchedulerVariant().install(cluster, setup).__enter__()
    assert str(caught.value) == (
        "mine.yaml: ServiceAccount kube-system/my-scheduler lacks rights that a scheduler needs: "
        "ClusterRole system:kube-scheduler is not bound to it (create pods/binding); "
        "ClusterRole system:volume-scheduler is not bound to it (update persistentvolumes)"
    )
    assert kube.inventory() == before
