import pytest
import yaml

from harness.cluster.base import ExistingSpec
from harness.cluster.existing import rights
from harness.cluster.existing.rights import Right
from harness.errors import InputError
from tests.unit.cluster.existing.world import DEFAULT, World


def test_everything_is_asked_for_before_anything_is_done() -> None:
    kube = World()
    wanted = rights.needed(ExistingSpec(), DEFAULT)
    rights.require(kube, wanted, "lab")
    assert len(kube.asked) == len(wanted)
    assert {one["namespace"] for one in kube.asked} == {"", DEFAULT}
    assert not [path for method, path in kube.requests if method != "POST" or "namespaces" not in path]


def test_every_missing_right_is_named_with_a_role_that_grants_it() -> None:
    kube = World(frozenset({("namespaces", "create"), ("pods/eviction", "create"), ("daemonsets", "watch")}))
    with pytest.raises(InputError) as caught:
        rights.require(kube, rights.needed(ExistingSpec(), DEFAULT), 'context "lab"')
    told = str(caught.value)
    assert told.startswith('context "lab": you may not ')
    assert "create namespaces" in told
    assert f"create pods/eviction in namespace {DEFAULT}" in told
    assert "watch daemonsets.apps" in told
    role = yaml.safe_load(told.partition("\n")[2])
    assert role["kind"] == "ClusterRole"
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces", "pods/eviction"], "verbs": ["create"]},
        {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["watch"]},
    ]


def test_more_is_needed_only_for_what_is_allowed() -> None:
    patch = Right("", "nodes", "patch")
    create = Right("", "nodes", "create")
    assert patch not in rights.needed(ExistingSpec(), DEFAULT)
    assert patch in rights.needed(ExistingSpec(allow_cluster_wide=True), DEFAULT)
    assert create not in rights.needed(ExistingSpec(allow_cluster_wide=True), DEFAULT)
    assert create in rights.needed(ExistingSpec(allow_cluster_wide=True, kwok_nodes=True), DEFAULT)


def test_a_scheduler_needs_to_bind_and_one_that_is_no_kube_scheduler_needs_less() -> None:
    whole, bare = rights.needed_by_scheduler(), rights.needed_by_scheduler(stock=False)
    assert Right("", "pods/binding", "create") in bare
    assert Right("storage.k8s.io", "csinodes", "list") in whole
    assert {right.resource for right in bare} == {"nodes", "pods", "pods/binding"}
