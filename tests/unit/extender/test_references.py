import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.clock import wait_until
from harness.errors import ApiError, ClusterError
from harness.extender import requests
from harness.extender.author import Binding, Filtered, Node, Pod, Refused
from harness.extender.entry import Entry
from harness.extender.references import GPU, REFERENCES, binding
from harness.extender.references.binpack import Binpack
from harness.extender.references.gpu_device import ALL_TAKEN, DEVICES, NO_GPU, TOO_FEW, UNKNOWN_NODE, GpuDevice
from harness.extender.references.index_bind import IndexBind
from harness.extender.references.lucky import UNLUCKY, Lucky
from harness.extender.references.name_length import TOO_LONG, NameLength
from harness.extender.references.spread import Spread
from harness.extender.references.want_you import OTHER_NODE, OTHER_POD, WantYou
from harness.extender.serving import cluster
from harness.extender.serving.app import App
from tests.processes import PATIENCE_SECONDS
from tests.unit.extender.api import Api
from tests.unit.extender.serving import serving

NODES = [Node.named(f"node-{number}") for number in range(40)]


@pytest.fixture
def api() -> Api:
    made = Api()
    for name, gpus in (("a", "4"), ("b", "2"), ("c", "0")):
        made.add_node(name, allocatable={GPU: gpus})
    return made


def named(*names: str) -> list[Node]:
    return [Node.named(name) for name in names]


def bound(pod: Pod, node: str) -> Binding:
    return Binding(pod.name, pod.namespace, pod.uid, node)


@pytest.mark.parametrize("name", REFERENCES)
def test_each_serves_what_its_entry_says(name: str) -> None:
    reference = REFERENCES[name]
    routes = App(reference.make(), reference.routes).routes
    wanted = {kind: f"/{verb}" for kind, verb in Entry.from_json(reference.entry).verbs().items()}

    served = {kind: path for path, kind in routes.items()}
    if name == "index-bind-misrouted":
        assert served.pop("prioritize") == "/priority"
        assert wanted.pop("prioritize") == "/prioritize"
    assert served == wanted


@pytest.mark.parametrize("name", REFERENCES)
def test_each_can_be_started_and_speaks_both_wire_modes(name: str, tmp_path: Path) -> None:
    with serving(tmp_path, f"ref:{name}") as served:
        for names_only in (True, False):
            arguments = requests.extender_args(requests.pod("web"), requests.nodes(3), names_only)
            for verb in Entry.from_json(REFERENCES[name].entry).verbs().keys() & {"filter", "prioritize"}:
                status, _ = served.ask("POST", f"/{verb}", requests.encoded(arguments))
                # Without a cluster, those that only score by what they watch say so.
                expected = {"binpack": 500, "spread": 500}.get(name, 200)
                assert status == (404 if name == "index-bind-misrouted" and verb == "prioritize" else expected)


def test_luck_depends_on_seed_pod_attempt_and_node_only() -> None:
    def kept(lucky: Lucky, name: str = "web", uid: str = "u", nodes: list[Node] = NODES) -> list[str]:
        return list(map(str, lucky.filter(Pod(requests.pod(name, uid=uid)), nodes).kept))

    one, other = Lucky(seed=1), Lucky(seed=1)
    first, second = kept(one), kept(one)
    kept(other, "another", "v")
    assert kept(other, uid="w", nodes=NODES[::-1]) == first[::-1]
    assert kept(other, uid="w") == second
    assert first != second
    assert kept(Lucky(seed=2)) != first
    assert kept(Lucky(seed=1), "other") != first
    assert 8 < len(first) < 32


def test_luck_scores_from_nought_to_ten_and_repeats_within_an_attempt() -> None:
    lucky, pod = Lucky(), Pod(requests.pod())

    scores = lucky.prioritize(pod, NODES)
    assert set(scores.values()) == set(range(11))
    assert lucky.prioritize(pod, NODES) == scores
    lucky.filter(pod, NODES)
    assert lucky.prioritize(pod, NODES) != scores


def test_the_unlucky_are_told_so_and_the_lucky_logged(tmp_path: Path) -> None:
    with serving(tmp_path, "ref:lucky", "--seed", "3") as served:
        arguments = requests.extender_args(requests.pod("pod-7"), requests.nodes(40), names_only=True)
        reply = served.post("/filter", arguments)
        assert set(reply["FailedNodes"].values()) == {UNLUCKY}
        assert f"lucky {' '.join(reply['NodeNames'][:3])} … for pod-7\n" in served.log
        assert reply["NodeNames"] == list(Lucky(3).filter(Pod(arguments["Pod"]), named(*arguments["NodeNames"])).kept)


def test_long_names_are_refused_for_good() -> None:
    extender, nodes = NameLength(), named("node-1", "a-node-with-a-very-long-name")

    assert extender.filter(Pod(requests.pod("four")), nodes).kept == nodes
    refused = extender.filter(Pod(requests.pod("fives")), nodes)
    assert refused == Filtered(unresolvable=dict.fromkeys(map(str, nodes), TOO_LONG))
    assert list(extender.prioritize(Pod(requests.pod()), nodes).values()) == [14, -8]


def test_only_who_wants_it_gets_the_one_node(tmp_path: Path) -> None:
    nodes = named("node-1", "node-2")

    def ask(extender: WantYou, **labels: str) -> Filtered:
        return extender.filter(Pod(requests.pod(labels=labels)), nodes)

    assert ask(WantYou(), want="you") == Filtered([nodes[0]], unresolvable={"node-2": OTHER_NODE})
    assert ask(WantYou(), want="me") == Filtered(unresolvable={"node-1": OTHER_POD, "node-2": OTHER_POD})
    with serving(tmp_path, "ref:want-you?node=node-2") as served:
        arguments = requests.extender_args(requests.pod(labels={"want": "you"}), requests.nodes(3), names_only=True)
        assert served.post("/filter", arguments)["NodeNames"] == ["node-2"]
        arguments["Pod"]["metadata"]["labels"]["want"] = "panic"
        assert served.post("/filter", arguments) == {"Error": "RuntimeError: panic, as the pod wanted"}


def test_binding_is_done_once_and_may_be_asked_for_twice(api: Api) -> None:
    pod, extender = api.add_pod("web"), IndexBind(api)

    for _ in range(2):
        extender.bind(bound(pod, "a"))
    assert api.pod("web").node == "a"


@pytest.mark.parametrize(
    ("there", "change", "said"),
    [
        ("a", {"node": "b"}, binding.ANOTHER_NODE),
        (None, {"node": "ghost"}, binding.NO_NODE),
        (None, {"uid": "stale"}, binding.ANOTHER_POD),
        (None, {"pod": "gone"}, binding.NO_POD),
    ],
)
@pytest.mark.parametrize("extender", [IndexBind, GpuDevice])
def test_a_wrong_binding_is_refused_and_changes_nothing(
    api: Api, extender: type[IndexBind | GpuDevice], there: str | None, change: Mapping[str, str], said: str
) -> None:
    pod = api.add_pod("web", node=there)
    wrong = Binding(**{"pod": "web", "namespace": "default", "uid": pod.uid, "node": "a", **change})

    with pytest.raises(Refused, match=said):
        extender(api).bind(wrong)
    assert api.pod("web").raw == pod.raw


def test_without_a_cluster_nothing_is_bound_or_guessed() -> None:
    pod = Pod(requests.pod(requests={GPU: "1"}))
    for extender in (IndexBind(), GpuDevice()):
        with pytest.raises(Refused, match="--kubeconfig"):
            extender.bind(bound(pod, "a"))
    with pytest.raises(Refused, match="--kubeconfig"):
        GpuDevice().filter(pod, named("a"))
    for scorer in (Binpack(), Spread()):
        with pytest.raises(Refused, match="--kubeconfig"):
            scorer.prioritize(pod, named("a"))


def test_what_cannot_be_seen_is_not_guessed(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> Any:
        raise ClusterError("gone")

    monkeypatch.setattr(api, "watch", lost)
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 0.05)

    with pytest.raises(Refused, match=cluster.NOT_SEEN):
        Spread(api).prioritize(Pod(requests.pod(labels={"app": "web"})), named("a"))


def test_a_lost_watch_is_taken_up_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "RETRY_SECONDS", 0.01)
    changes: list[tuple[str, bool]] = []
    api.add_pod("early")
    pods = cluster.pods(api, lambda pod, there: changes.append((pod.name, there)))
    assert [pod.name for pod in pods.now()] == ["early"]

    _, stream = api._watches[-1]
    api._watches.clear()
    api.delete("/api/v1/namespaces/default/pods/early")
    api.add_pod("late")
    stream.feed({"type": "ERROR", "object": {"code": 500, "message": "lost"}})

    wait_until(lambda: ("early", False) in changes, what="the news", timeout_seconds=PATIENCE_SECONDS)
    assert [pod.name for pod in pods.now()] == ["late"]


def test_fuller_nodes_are_better(api: Api) -> None:
    for number, (node, amounts) in enumerate(
        [("a", {"cpu": "4"}), ("a", {"cpu": "1"}), ("b", {"memory": "15Gi"}), ("b", {"cpu": "1"})]
    ):
        api.add_pod(f"old-{number}", node=node, requests=amounts)
    done = api.add_pod("done", node="c", requests={"cpu": "8"})
    api.patch(f"/api/v1/namespaces/default/pods/{done.name}", {"status": {"phase": "Succeeded"}})

    pod = Pod(requests.pod("new", requests={"cpu": "1"}))
    assert Binpack(api).prioritize(pod, named("a", "b", "c", "new")) == {"a": 7, "b": 9, "c": 1, "new": 0}


def test_nodes_with_fewer_pods_of_the_app_are_better(api: Api) -> None:
    for number, (node, app, namespace) in enumerate(
        [*[("a", "web", "default")] * 4, ("b", "web", "default"), ("c", "db", "default"), ("c", "web", "other")]
    ):
        api.add_pod(f"old-{number}", node=node, labels={"app": app}, namespace=namespace)
    extender, nodes = Spread(api), named("a", "b", "c")

    assert extender.prioritize(Pod(requests.pod(labels={"app": "web"})), nodes) == {"a": 0, "b": 8, "c": 10}
    assert extender.prioritize(Pod(requests.pod()), nodes) == {"a": 0, "b": 0, "c": 0}


def test_devices_decide_where_a_pod_fits_and_asking_changes_nothing(api: Api) -> None:
    api.add_pod("old", node="b", requests={GPU: "1"})
    extender, nodes = GpuDevice(api), named("a", "b", "c", "new")

    def ask(gpus: int) -> Filtered:
        return extender.filter(Pod(requests.pod(requests={GPU: str(gpus)})), nodes)

    for _ in range(50):
        assert ask(2) == Filtered(["a"], {"b": ALL_TAKEN, "new": UNKNOWN_NODE}, {"c": NO_GPU})
    assert ask(1) == Filtered(["a", "b"], {"new": UNKNOWN_NODE}, {"c": NO_GPU})
    assert ask(3) == Filtered(["a"], {"new": UNKNOWN_NODE}, {"b": TOO_FEW, "c": NO_GPU})
    assert ask(0) == Filtered(nodes)


def test_no_device_is_given_away_twice(api: Api) -> None:
    pods = [api.add_pod(f"pod-{number}", requests={GPU: "1"}) for number in range(12)]
    extender, refused = GpuDevice(api), []

    def bind(pod: Pod) -> None:
        try:
            extender.bind(bound(pod, "a"))
        except Refused as error:
            refused.append(str(error))

    threads = [threading.Thread(target=bind, args=(pod,)) for pod in pods]
    for one in threads:
        one.start()
    for one in threads:
        one.join(PATIENCE_SECONDS)

    given = [api.pod(pod.name).annotations.get(DEVICES) for pod in pods if api.pod(pod.name).node]
    assert sorted(map(str, given)) == ["0", "1", "2", "3"]
    assert refused == [ALL_TAKEN] * 8


def test_devices_come_back_when_their_pod_goes_and_when_binding_fails(api: Api) -> None:
    extender = GpuDevice(api)
    first, second = (api.add_pod(name, requests={GPU: "4"}) for name in ("first", "second"))

    api.broken = ApiError("POST", "/binding", 403, "forbidden")
    with pytest.raises(ApiError):
        extender.bind(bound(first, "a"))
    api.broken = ClusterError("no answer")
    with pytest.raises(ClusterError):
        extender.bind(bound(first, "a"))
    api.broken = None
    # The first one may be bound, for all we know, so its devices stay reserved for it, and only for it.
    assert extender.filter(second, named("a")).rejected == {"a": ALL_TAKEN}
    assert extender.filter(first, named("a")).kept == ["a"]
    api.delete("/api/v1/namespaces/default/pods/first")

    free = lambda: extender.filter(second, named("a")).kept  # noqa: E731 - reads as a word below
    wait_until(free, what="free devices", timeout_seconds=PATIENCE_SECONDS)
    extender.bind(bound(second, "a"))
    assert api.pod("second").annotations[DEVICES] == "0,1,2,3"
