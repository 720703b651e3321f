import json
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from harness.errors import InputError
from harness.extender import requests
from harness.extender.author import Binding, Filtered, Node, Pod, Refused, Victims
from harness.extender.serving.app import NOT_KEPT, App

POD = requests.pod("web", labels={"app": "web"})
NODES = [requests.node(name, labels={"disk": disk}) for name, disk in (("a", "ssd"), ("b", "hdd"), ("c", "ssd"))]


def ask(extender: object, kind: str, arguments: Mapping[str, Any], log: list[str] | None = None) -> tuple[int, Any]:
    lines = log if log is not None else []
    reply = App(extender, log=lines.append).answer("POST", f"/{kind}", requests.encoded(arguments))
    return reply.status, orjson.loads(reply.body) if reply.content_type == "application/json" else reply.body.decode()


def both(names_only: bool = False) -> dict[str, Any]:
    return requests.extender_args(POD, NODES, names_only)


class Keeps:
    def __init__(self, verdict: Any) -> None:
        self._verdict = verdict

    def filter(self, pod: Pod, nodes: list[Node]) -> Any:
        return self._verdict

    def prioritize(self, pod: Pod, nodes: list[Node]) -> Any:
        return self._verdict


@pytest.mark.parametrize(
    "kept", [["a", "c"], [Node.named("a"), "c"], ("c" if n else "a" for n in range(2)), {"a": 0, "c": 0}.keys()]
)
def test_kept_nodes_may_be_given_in_any_form(kept: Any) -> None:
    assert ask(Keeps(kept), "filter", both(names_only=True)) == (
        200,
        {
            "Nodes": None,
            "NodeNames": ["a", "c"],
            "FailedNodes": {},
            "FailedAndUnresolvableNodes": {"b": NOT_KEPT},
            "Error": "",
        },
    )


def test_every_node_is_kept_or_has_a_reason() -> None:
    _, reply = ask(Keeps(Filtered(["a"], rejected={"b": "slow"})), "filter", both())

    assert [node["metadata"]["name"] for node in reply["Nodes"]["items"]] == ["a"]
    assert reply["FailedNodes"] == {"b": "slow"}
    assert reply["FailedAndUnresolvableNodes"] == {"c": NOT_KEPT}


def test_reasons_reach_the_scheduler_as_texts_by_name() -> None:
    reasons: Any = {Node.named("b"): ValueError("slow"), "c": 7}
    _, reply = ask(Keeps(Filtered(["a"], rejected=reasons)), "filter", both())

    assert reply["FailedNodes"] == {"b": "slow", "c": "7"}


def test_a_node_that_was_not_asked_about_is_an_error() -> None:
    for names_only in (True, False):
        status, reply = ask(Keeps(["a", "ghost"]), "filter", both(names_only))
        assert (status, list(reply)) == (200, ["Error"])
        assert "'ghost'" in reply["Error"]


@pytest.mark.parametrize("verdict", [None, "a", 3, {"a": 5}])
def test_a_verdict_that_is_none_is_an_error(verdict: Any) -> None:
    status, reply = ask(Keeps(verdict), "filter", both())

    assert status == 200
    assert "a list of nodes or names" in reply["Error"]


def test_scores_are_sent_as_they_are() -> None:
    assert ask(Keeps({"a": -3, "b": 2**40}), "prioritize", both()) == (
        200,
        [{"Host": "a", "Score": -3}, {"Host": "b", "Score": 2**40}],
    )


@pytest.mark.parametrize("returned", [[("a", 1)], None, 5])
def test_what_is_no_scores_is_told_with_the_authors_function(returned: Any) -> None:
    status, text = ask(Keeps(returned), "prioritize", both())
    assert status == 500
    line = Keeps.prioritize.__code__.co_firstlineno
    told = f"prioritize returned {type(returned).__name__} (test_author.py:{line} in prioritize)"
    assert text == f"{told}; a dict of node to score is expected"


@pytest.mark.parametrize("score", [0.5, "5", True, None])
def test_scores_that_the_scheduler_cannot_read_are_an_error(score: Any) -> None:
    status, text = ask(Keeps({"a": score}), "prioritize", both())

    assert status == 500
    assert "whole numbers" in text


class Raises:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def bind(self, *_: object) -> Any:
        raise self._error

    filter = prioritize = preempt = bind


BODIES: dict[str, dict[str, Any]] = {
    "filter": both(),
    "prioritize": both(),
    "preempt": requests.preemption_args(POD, {}, meta=True),
    "bind": requests.binding_args(POD, "a"),
}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Refused("locked"), "locked"),
        (Refused(), "Refused"),
        (InputError("no"), "no"),
    ],
)
def test_whatever_is_raised_reaches_the_scheduler(error: Exception, text: str) -> None:
    for kind in ("filter", "bind"):
        assert ask(Raises(error), kind, BODIES[kind]) == (200, {"Error": text})
    for kind in ("prioritize", "preempt"):
        assert ask(Raises(error), kind, BODIES[kind]) == (500, text)


def test_an_accident_is_logged_with_its_place() -> None:
    log: list[str] = []
    ask(Raises(KeyError("gpu")), "filter", BODIES["filter"], log)

    assert __file__ in log[0]
    assert log[-1].startswith("filter: KeyError: 'gpu' (test_author.py:")


class Careless:
    """Fails in its own code, and in a library that it calls."""

    def filter(self, *_: object) -> Any:
        return self._wanted({})

    def prioritize(self, *_: object) -> Any:
        return json.loads("{")

    def _wanted(self, resources: dict[str, str]) -> list[str]:
        return [resources[name] for name in ("gpu",)]


def test_an_accident_is_told_with_the_line_of_the_authors_file() -> None:
    first = {name: getattr(Careless, name).__code__.co_firstlineno for name in ("_wanted", "prioritize")}
    status, reply = ask(Careless(), "filter", BODIES["filter"])
    assert (status, reply) == (200, {"Error": f"KeyError: 'gpu' (test_author.py:{first['_wanted'] + 1} in _wanted)"})
    status, reply = ask(Careless(), "prioritize", BODIES["prioritize"])
    assert status == 500
    assert reply.startswith("JSONDecodeError: ")
    assert reply.endswith(f" (test_author.py:{first['prioritize'] + 1} in prioritize)")


def test_victims_can_be_taken_over_narrowed_or_left_out() -> None:
    old = [requests.pod(f"old-{number}", uid=f"u-{number}") for number in range(3)]

    class Picks:
        def preempt(self, pod: Pod, candidates: dict[str, Victims]) -> Any:
            assert [victim.uid for victim in candidates["a"]] == ["u-0", "u-1"]
            return {"a": candidates["a"], "b": ["u-2"]}

    for meta in (True, False):
        arguments = requests.preemption_args(
            POD, {"a": old[:2], "b": old[1:], "c": old[:1]}, meta=meta, violations={"a": 1, "b": 2}
        )
        assert ask(Picks(), "preempt", arguments) == (
            200,
            {
                "NodeNameToMetaVictims": {
                    "a": {"Pods": [{"UID": "u-0"}, {"UID": "u-1"}], "NumPDBViolations": 1},
                    "b": {"Pods": [{"UID": "u-2"}], "NumPDBViolations": 2},
                }
            },
        )


@pytest.mark.parametrize("victims", [{"a": None}, {"a": {"Pods": [None]}}, [1]])
def test_victims_that_are_none_are_a_bad_request(victims: Any) -> None:
    class Agrees:
        def preempt(self, pod: Pod, candidates: dict[str, Victims]) -> Any:
            return candidates

    assert ask(Agrees(), "preempt", {"Pod": POD, "NodeNameToMetaVictims": victims})[0] == 400


def test_a_binding_has_all_four_parts() -> None:
    seen: list[Binding] = []

    class Takes:
        def bind(self, binding: Binding) -> None:
            seen.append(binding)

    assert ask(Takes(), "bind", requests.binding_args(POD, "a")) == (200, {})
    assert seen == [Binding("web", "default", POD["metadata"]["uid"], "a")]
    assert ask(Takes(), "bind", {"PodName": "web", "Node": "a"})[0] == 400


def test_a_name_alone_is_a_node_that_is_not_known() -> None:
    node = Node.named("a")

    assert (node.name, node.known, node.labels, node.allocatable) == ("a", False, {}, {})


def test_requests_are_what_a_scheduler_reserves() -> None:
    def container(**amounts: str) -> dict[str, Any]:
        return {"resources": {"requests": amounts}}

    pod = Pod(
        requests.pod(
            containers=[
                container(cpu="100m", memory="1Ki"),
                container(cpu="0.2"),
                {"resources": {"limits": {"x/y": 2}}},
            ],
            initContainers=[
                {**container(cpu="50m", memory="1Ki"), "restartPolicy": "Always"},
                container(memory="1Mi"),
            ],
            overhead={"cpu": "1"},
        )
    )

    assert pod.requests == {"cpu": 1350, "memory": 2**20 + 2**10, "x/y": 2}
    assert Pod({"spec": {"containers": None}}).requests == {}
