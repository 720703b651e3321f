from pathlib import Path

import orjson
import pytest

from harness.errors import InputError
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.extender.entry import Entry
from harness.load.bodies import about, made_up, recorded

VERBS = ("filter", "prioritize", "bind")


def test_pods_differ_and_come_in_the_order_of_a_scheduler() -> None:
    corpus = made_up(3, "names", VERBS)
    assert [body.verb for body in corpus.bodies[:4]] == [*VERBS, "filter"]
    assert len({orjson.loads(body.data)["Pod"]["metadata"]["uid"] for body in corpus.bodies[::3]}) == 64
    first = orjson.loads(corpus.bodies[0].data)
    assert first["NodeNames"] == ["node-1", "node-2", "node-3"]
    assert first["Nodes"] is None
    assert set(orjson.loads(corpus.bodies[2].data)) == {"PodName", "PodNamespace", "PodUID", "Node"}


def test_objects_are_as_large_as_asked_for() -> None:
    corpus = made_up(20, "objects", ("filter",), node_kib=8)
    asked = orjson.loads(corpus.bodies[0].data)
    assert asked["NodeNames"] is None
    assert len(asked["Nodes"]["items"]) == 20
    assert 20 * 8192 <= len(corpus.bodies[0].data) < 20 * 9000


def test_large_bodies_get_fewer_pods() -> None:
    corpus = made_up(1000, "objects", ("filter",), node_kib=8)
    assert 8e6 < len(corpus.bodies[0].data) < 9e6
    assert len(corpus.bodies) < 16


def test_a_body_beyond_reason_is_refused() -> None:
    with pytest.raises(InputError, match="at most 8192 nodes"):
        made_up(20_000, "objects", ("filter",), node_kib=8)


def test_preemption_has_victims_in_both_wires() -> None:
    names, objects = (orjson.loads(made_up(2, wire, ("preempt",)).bodies[0].data) for wire in ("names", "objects"))
    assert set(names["NodeNameToMetaVictims"]) == {"node-1", "node-2"}
    assert names["NodeNameToVictims"] is None
    assert len(objects["NodeNameToVictims"]["node-1"]["Pods"]) == 2


def test_a_request_is_whole_and_goes_where_the_entry_says() -> None:
    entry = Entry(url_prefix="http://127.0.0.1:8888/a%20b", filter_verb="pred")
    request = made_up(1, "names", ("filter",)).prepared(entry)[0]
    head, _, body = request.data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /a%20b/pred HTTP/1.1"
    assert lines[1] == "Host: 127.0.0.1:8888"
    assert f"Content-Length: {len(body)}" in lines
    assert "Content-Type: application/json" in lines


def test_the_digest_tells_corpora_apart() -> None:
    assert made_up(3, "names", ("filter",)).digest == made_up(3, "names", ("filter",)).digest
    assert made_up(3, "names", ("filter",)).digest != made_up(4, "names", ("filter",)).digest


def _cassette(path: Path, *calls: CassetteCall) -> Path:
    with CassetteWriter(path, {"extenders": []}) as writer:
        for call in calls:
            writer.append(call)
    return path


def test_recorded_requests_keep_a_pods_calls_together(tmp_path: Path) -> None:
    def call(seq: int, kind: str, uid: str, **more: object) -> CassetteCall:
        request = {"Pod": {"metadata": {"uid": uid}}, "Nodes": None, "NodeNames": ["a", "b"]}
        return CassetteCall("e", seq, 0.0, kind, f"/{kind}", **{"uid": uid, "request": request, **more})  # type: ignore[arg-type]

    path = _cassette(
        tmp_path / "c.jsonl.zst",
        call(1, "filter", "p"),
        call(2, "filter", "q"),
        call(3, "prioritize", "p"),
        call(4, "filter", "p", fault="status 500"),
        call(5, "bind", "p"),
    )
    corpus = recorded(path, ("filter", "prioritize"))
    assert [(body.verb, body.pod) for body in corpus.bodies] == [("filter", 0), ("prioritize", 0), ("filter", 1)]
    assert (corpus.nodes, corpus.wire) == (2, "names")
    assert sorted(corpus.notes) == [
        "1 recorded calls left out: made under a fault",
        "1 recorded calls left out: of other verbs",
    ]


def test_a_cassette_without_anything_to_send_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in it can be sent for filter"):
        recorded(_cassette(tmp_path / "c.jsonl.zst"), ("filter",))


def test_nodes_of_a_cluster_are_sent_as_they_are() -> None:
    nodes = [{"metadata": {"name": f"real-{number}", "labels": {"zone": "a"}}} for number in range(3)]
    corpus = about(nodes, "objects", ("filter",), "cluster mine")
    assert orjson.loads(corpus.bodies[0].data)["Nodes"]["items"] == nodes
    assert (corpus.nodes, corpus.source) == (3, "64 made-up pods, 3 nodes of cluster mine")
    names = orjson.loads(about(nodes, "names", ("filter",), "cluster mine").bodies[0].data)
    assert (names["NodeNames"], names["Nodes"]) == (["real-0", "real-1", "real-2"], None)
    with pytest.raises(InputError, match="cluster mine: it has no nodes"):
        about([], "names", ("filter",), "cluster mine")
