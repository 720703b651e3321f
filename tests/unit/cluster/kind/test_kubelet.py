from dataclasses import replace
from typing import Any

import pytest
import yaml

from harness.cluster.kind.kubelet import Registration, Worker, as_declared, as_made, shortfalls
from harness.scenario.nodes import Taint
from tests.unit.cluster.kind.given import CAPACITY, KUBELET_CONFIG, KUBELET_FLAGS, spec

WORKER = Worker("h-worker", ("10.244.1.0/24",), "kind://docker/h/h-worker", CAPACITY, KUBELET_CONFIG, KUBELET_FLAGS)
GIB = 2**30


def configuration(registration: Registration) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(registration.config)
    return read


def test_a_declared_node_has_the_labels_and_taints_of_the_scenario() -> None:
    taint = Taint(key="dedicated", value="gpu", effect="NoSchedule")
    node = as_declared(spec("node-7", labels={"zone": "a"}, taints=(taint,)), WORKER).node
    assert node["metadata"] == {"name": "node-7", "labels": {"zone": "a"}}
    assert node["spec"]["taints"] == [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]


@pytest.mark.parametrize("registration", [as_declared(spec(), WORKER), as_made(WORKER)], ids=["declared", "made"])
def test_it_says_from_the_first_that_it_is_not_ready(registration: Registration) -> None:
    (condition,) = registration.node["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Ready", "False")


def test_it_keeps_the_workers_network_and_machine() -> None:
    assert as_declared(spec(), WORKER).node["spec"] == {
        "podCIDR": "10.244.1.0/24",
        "podCIDRs": ["10.244.1.0/24"],
        "providerID": "kind://docker/h/h-worker",
        "taints": [],
    }


def test_a_worker_with_two_networks_has_the_first_as_its_own() -> None:
    both = replace(WORKER, pod_cidrs=("10.244.1.0/24", "fd00::/64"))
    node = as_declared(spec(), both).node["spec"]
    assert (node["podCIDR"], node["podCIDRs"]) == ("10.244.1.0/24", ["10.244.1.0/24", "fd00::/64"])


def test_a_worker_without_a_network_names_none() -> None:
    assert "podCIDR" not in as_declared(spec(), replace(WORKER, pod_cidrs=())).node["spec"]


@pytest.mark.parametrize(
    ("cpu", "memory", "expected"),
    [
        ("4", "8Gi", {"cpu": "4000m", "memory": str(8 * GIB)}),
        ("500m", "1Gi", {"cpu": "7500m", "memory": str(15 * GIB)}),
        ("8", "16Gi", {"cpu": "0m", "memory": "0"}),
        ("64", "256Gi", {"cpu": "0m", "memory": "0"}),
    ],
)
def test_what_the_machine_has_beyond_what_is_declared_is_reserved(
    cpu: str, memory: str, expected: dict[str, str]
) -> None:
    assert configuration(as_declared(spec(cpu=cpu, memory=memory), WORKER))["systemReserved"] == expected


def test_the_rest_of_the_kubelets_configuration_stays() -> None:
    assert configuration(as_declared(spec(pods=7), WORKER)) | {"systemReserved": None} == {
        "kind": "KubeletConfiguration",
        "cgroupDriver": "systemd",
        "maxPods": 7,
        "enforceNodeAllocatable": ["none"],
        "systemReserved": None,
    }


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ('ARGS="--a=1 --b"\n', 'ARGS="--a=1 --b --hostname-override=node-1"\n'),
        ("ARGS=--a=1", 'ARGS="--a=1 --hostname-override=node-1"\n'),
        ('ARGS=""\n', 'ARGS=" --hostname-override=node-1"\n'),
    ],
)
def test_the_name_is_one_more_flag(flags: str, expected: str) -> None:
    assert as_declared(spec("node-1"), replace(WORKER, flags=flags)).flags == expected


def test_given_back_it_is_as_kind_made_it() -> None:
    made = as_made(WORKER)
    assert (made.config, made.flags) == (KUBELET_CONFIG, KUBELET_FLAGS)
    assert made.node["metadata"]["name"] == "h-worker"
    assert made.node["spec"]["taints"] == []
    assert made.node["spec"]["podCIDR"] == "10.244.1.0/24"


def test_what_is_to_be_had_is_no_shortfall() -> None:
    assert shortfalls([]) == []
    assert shortfalls([(spec(cpu="8", memory="16Gi"), WORKER), (spec(cpu="8000m", memory="16384Mi"), WORKER)]) == []


def test_what_is_not_to_be_had_is_told_with_both_amounts() -> None:
    assert shortfalls([(spec("big", cpu="64", memory="1Ti"), WORKER)]) == [
        "big: 64 cpu declared, 8 is what this machine has",
        "big: 1Ti memory declared, 16Gi is what this machine has",
    ]


def test_nodes_that_are_alike_share_a_sentence() -> None:
    small = replace(WORKER, capacity={**CAPACITY, "cpu": "2"})
    nodes = [
        (spec("node-1", cpu="16"), WORKER),
        (spec("node-2", cpu="4"), WORKER),
        (spec("node-3", cpu="16"), WORKER),
        (spec("node-4", cpu="16"), small),
    ]
    assert shortfalls(nodes) == [
        "node-1, node-3: 16 cpu declared, 8 is what this machine has",
        "node-4: 16 cpu declared, 2 is what this machine has",
    ]
