import copy

from harness.cluster.existing import body
from harness.cluster.existing.body import PodRules
from tests.unit.cluster.existing.world import NAMES, node, pod

RULES = PodRules()


def test_namespaces_are_translated_wherever_kubernetes_names_one() -> None:
    binding = {
        "metadata": {"name": "b", "namespace": "team"},
        "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "kube-system"}],
    }
    made = body.sent(binding, NAMES, RULES)
    assert made["metadata"]["namespace"] == "h-0123abcd-team"
    assert made["subjects"][0]["namespace"] == "h-0123abcd-kube-system"
    term = {"namespaces": ["team", "other"], "topologyKey": "zone"}
    assert body.sent({"podAffinity": [term]}, NAMES, RULES)["podAffinity"][0]["namespaces"] == [
        "h-0123abcd-team",
        "h-0123abcd-other",
    ]


def test_what_the_user_wrote_in_their_own_words_stays() -> None:
    item = {
        "metadata": {"labels": {"namespace": "x"}, "annotations": {"namespace": "x"}},
        "data": {"namespace": "x", "namespaces": "y"},
        "spec": {"selector": {"matchLabels": {"namespace": "x"}}, "namespace": {"type": "string"}},
    }
    before = copy.deepcopy(item)
    assert body.sent(item, NAMES, RULES) == before
    assert item == before


def test_a_selector_of_namespaces_never_reaches_beyond_the_run() -> None:
    every = body.sent({"namespaceSelector": {}}, NAMES, RULES)
    assert every == {"namespaceSelector": {"matchLabels": {"scheduler-harness.io/run": "0123abcd"}}}
    chosen = {
        "matchLabels": {"kubernetes.io/metadata.name": "team", "tier": "x"},
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team"]},
            {"key": "tier", "operator": "Exists"},
        ],
    }
    made = body.sent({"namespaceSelector": chosen}, NAMES, RULES)["namespaceSelector"]
    assert made["matchLabels"]["kubernetes.io/metadata.name"] == "h-0123abcd-team"
    assert made["matchLabels"]["tier"] == "x"
    assert [one.get("values") for one in made["matchExpressions"]] == [["h-0123abcd-team"], None]


def test_pods_ask_for_the_runs_own_scheduler_also_when_they_name_none() -> None:
    rules = PodRules({"default-scheduler": "h-0123abcd", "mine": "h-0123abcd-mine"})
    template = {"spec": {"template": {"spec": pod("x")["spec"]}}}
    assert body.sent(template, NAMES, rules)["spec"]["template"]["spec"]["schedulerName"] == "h-0123abcd"
    assert body.sent(pod("x", schedulerName="mine"), NAMES, rules)["spec"]["schedulerName"] == "h-0123abcd-mine"
    assert body.sent(pod("x", schedulerName="theirs"), NAMES, rules)["spec"]["schedulerName"] == "theirs"
    assert "schedulerName" not in body.sent(pod("x"), NAMES, RULES)["spec"]


def test_pods_go_to_the_runs_own_nodes_where_there_are_some() -> None:
    rules = PodRules(own_nodes=True)
    spec = body.sent(pod("x", nodeSelector={"a": "b"}, tolerations=[{"key": "k"}]), NAMES, rules)["spec"]
    assert spec["nodeSelector"] == {"a": "b", "scheduler-harness.io/run": "0123abcd"}
    assert spec["tolerations"] == [{"key": "k"}, body.toleration(NAMES)]
    assert "nodeSelector" not in body.sent(pod("x", nodeName="n"), NAMES, rules)["spec"]


def test_an_own_node_is_marked_and_the_mark_is_not_shown() -> None:
    taint = {"key": "dedicated", "effect": "NoSchedule"}
    made = body.own_node(node("n", {"zone": "a"}, taints=[taint]), NAMES)
    assert made["metadata"]["labels"] == {"zone": "a", "scheduler-harness.io/run": "0123abcd"}
    assert made["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert made["spec"]["taints"][1] == {
        "key": "scheduler-harness.io/run",
        "value": "0123abcd",
        "effect": "NoSchedule",
    }
    shown = body.shown(made, "nodes", NAMES)
    assert shown["metadata"]["labels"] == {"zone": "a"}
    assert shown["spec"]["taints"] == [taint]


def test_an_event_speaks_of_the_scenarios_pod() -> None:
    event = {
        "metadata": {"name": "e", "namespace": "h-0123abcd-team"},
        "involvedObject": {"kind": "Pod", "namespace": "h-0123abcd-team", "name": "p"},
        "message": "Successfully assigned h-0123abcd-team/p to n",
        "reportingComponent": "h-0123abcd",
        "source": {"component": "h-0123abcd"},
    }
    shown = body.shown(event, "events", NAMES)
    assert shown["metadata"]["namespace"] == shown["involvedObject"]["namespace"] == "team"
    assert shown["message"] == "Successfully assigned team/p to n"
    assert shown["reportingComponent"] == shown["source"]["component"] == "default-scheduler"
