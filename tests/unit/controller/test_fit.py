from typing import Any

import pytest

from harness.controller import fit
from harness.expect.explain import explain
from tests.unit.controller.given import pod, room

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("tolerations", "tolerated"),
    [
        ([], False),
        ([{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}], True),
        ([{"key": "dedicated", "value": "gpu"}], True),
        ([{"key": "dedicated", "operator": "Exists"}], True),
        ([{"operator": "Exists"}], True),
        ([{"key": "dedicated", "value": "other"}], False),
        ([{"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}], False),
        ([{"key": "other", "operator": "Exists"}], False),
        ([{"key": "dedicated", "operator": "Gt", "value": "gpu"}], False),
        ([{"key": "other", "operator": "Exists"}, {"key": "dedicated", "operator": "Exists"}], True),
    ],
)
@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_taints(tolerations: list[dict[str, str]], tolerated: bool, effect: str) -> None:
    if tolerations and "effect" in tolerations[0] and effect == "NoExecute":
        tolerated = not tolerated
    refused = room(taints=[{**TAINT, "effect": effect}]).refuses(pod(tolerations=tolerations))
    assert refused == (() if tolerated else (fit.UNTOLERATED,))


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    assert room(taints=[{**TAINT, "effect": "PreferNoSchedule"}]).refuses(pod()) == ()


def test_a_cordoned_node_takes_only_who_tolerates_that() -> None:
    cordoned = room(unschedulable=True)
    assert cordoned.refuses(pod()) == (fit.CORDONED,)
    assert cordoned.refuses(pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])) == ()


def test_every_label_of_the_selector_is_needed() -> None:
    wants = pod(nodeSelector={"disk": "ssd", "zone": "z1"})
    assert room(labels={"disk": "ssd", "zone": "z1", "more": "x"}).refuses(wants) == ()
    assert room(labels={"disk": "ssd"}).refuses(wants) == (fit.OTHER_LABELS,)
    assert room(labels={"disk": "ssd", "zone": "z2"}).refuses(wants) == (fit.OTHER_LABELS,)


@pytest.mark.parametrize(
    ("node", "taken", "asks", "reasons"),
    [
        ({"cpu": "4"}, {"cpu": "3"}, {"cpu": "1"}, ()),
        ({"cpu": "4"}, {"cpu": "3001m"}, {"cpu": "1"}, ("Insufficient cpu",)),
        ({"cpu": "0"}, {}, {}, ()),
        ({"pods": 2}, {"pods": "2"}, {}, (fit.TOO_MANY_PODS,)),
        ({"cpu": "1", "pods": 0}, {}, {"cpu": "2"}, ("Insufficient cpu", fit.TOO_MANY_PODS)),
    ],
)
def test_resources(node: dict[str, Any], taken: dict[str, str], asks: dict[str, str], reasons: tuple[str, ...]) -> None:
    assert room(taken=taken, **node).refuses(pod(**asks)) == reasons


def test_a_resource_that_the_node_does_not_have_is_missing() -> None:
    container = {"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}
    assert room().refuses(pod(containers=[container])) == ("Insufficient example.com/gpu",)


def test_the_refusal_reads_as_that_of_kube_scheduler() -> None:
    message = fit.refusal(5, {"Insufficient cpu": 2, fit.UNTOLERATED: 3})
    assert message == "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s)."
    assert explain(message).summary().startswith("of 5 nodes: ")
    assert fit.refusal(0, {}) == fit.NO_NODES


def test_what_is_not_looked_at_is_named() -> None:
    assert pod().ignored == ()
    asks = pod(
        affinity={"podAntiAffinity": {}},
        topologySpreadConstraints=[{}],
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        containers=[{"name": "c", "ports": [{"hostPort": 80}]}],
    )
    assert asks.ignored == ("affinity", "topologySpreadConstraints", "volumes", "hostPort")
    assert pod(volumes=[{"name": "token", "projected": {}}]).ignored == ()


def test_load_is_the_share_of_what_is_there() -> None:
    assert room(cpu="4", taken={"cpu": "1"}).load == pytest.approx(0.25)
    assert room(cpu="4", pods=10, taken={"cpu": "1", "pods": "1"}).load == pytest.approx(0.35)
    assert room(cpu="0", pods=0).load == 0
