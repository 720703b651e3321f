"""Whether pods follow the scores of extenders, read from a real cassette."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.expect.base import Verdict
from harness.expect.judge import judge
from harness.extender import requests
from harness.extender.cassette.file import CassetteCall, CassetteWriter
from harness.record.call import CASSETTE
from harness.record.read import read
from harness.report.words.phrases import phrases_of
from tests.unit.expect.records import NO_CPU, RecordBuilder

NODES = ("n1", "n2", "n3")
EXPECT = {"kind": "highestScore"}


def said(kind: str, seq: int, scores: Mapping[str, int], extender: str = "ext", **more: Any) -> CassetteCall:
    sent = requests.extender_args(
        requests.pod("a", uid="uid-a"), [requests.node(name) for name in NODES], names_only=True
    )
    reply = [{"Host": node, "Score": score} for node, score in scores.items()]
    values: dict[str, Any] = {
        "extender": extender,
        "seq": seq,
        "t": 1.0 + seq,
        "kind": kind,
        "path": f"/{kind}",
        "pod": "default/a",
        "uid": "uid-a",
        "status": 200,
        "request": json.loads(requests.encoded(sent)),
        "response": reply if kind == "prioritize" else {"NodeNames": list(NODES)},
    }
    return CassetteCall(**(values | more))


def judged(folder: Path, node: str | None, *calls: CassetteCall, taped: bool = True, **second: Any) -> Verdict:
    builder = RecordBuilder(EXPECT, variant="extender").extender()
    if second:
        builder.extender("other", **second)
    for name in NODES:
        builder.node(name)
    builder.pod("a", node, message=None if node else NO_CPU)
    for call in calls:
        builder.call(call.kind or "", "a", call.t, extender=call.extender)
    path = builder.write(folder)
    if taped:
        extenders = [one.to_json() for one in builder.extenders]
        with CassetteWriter(path / CASSETTE, {"made_by": "test", "extenders": extenders}) as cassette:
            for call in reversed(calls):
                cassette.append(call)
    verdict = judge(read(path))[0]
    for text in (verdict.expected, verdict.seen, *verdict.evidence[:1]):
        if taped:
            assert not phrases_of("zh").said(text).unknown
    return verdict


FIRST = said("prioritize", 1, {"n1": 0, "n2": 1, "n3": 2})


def test_a_pod_on_the_node_that_was_scored_best(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "n3", said("filter", 0, {}), FIRST)
    assert (verdict.status, verdict.seen) == ("held", "1 of 1 pod so")


@pytest.mark.parametrize(
    ("node", "scores", "told"),
    [
        ("n1", {"n1": 0, "n2": 1, "n3": 2}, "a → n1 with 0 points, n3 got 20"),
        ("n1", {"n1": 0, "n2": 0, "n3": 0}, "a → n1: extenders prefer no node, n1, n2, n3 got 0 points each"),
        (None, {"n1": 0, "n2": 1, "n3": 2}, "a → no node"),
    ],
)
def test_a_pod_elsewhere_or_one_that_nothing_was_preferred_for(
    tmp_path: Path, node: str | None, scores: dict[str, int], told: str
) -> None:
    verdict = judged(tmp_path, node, said("filter", 0, {}), said("prioritize", 1, scores))
    assert (verdict.status, verdict.seen, verdict.evidence[0]) == ("rejected", "0 of 1 pod so", told)


def test_only_the_last_attempt_counts(tmp_path: Path) -> None:
    again = (said("filter", 2, {}), said("prioritize", 3, {"n1": 7, "n2": 1, "n3": 2}))
    assert judged(tmp_path / "a", "n1", said("filter", 0, {}), FIRST, *again).status == "held"
    verdict = judged(tmp_path / "b", "n3", said("filter", 0, {}), FIRST, again[0])
    assert verdict.evidence == ("a → n3: no extender scored it",)


def test_extenders_add_up_by_weight(tmp_path: Path) -> None:
    other = said("prioritize", 2, {"n1": 1}, "other")
    assert judged(tmp_path / "a", "n1", FIRST, other, weight=3).status == "held"
    assert judged(tmp_path / "b", "n1", FIRST, other, weight=1).status == "rejected"


def test_a_reply_that_kube_scheduler_ignores_scores_nothing(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "n3", said("prioritize", 1, {"n3": 2}, status=500))
    assert (verdict.status, verdict.evidence) == ("rejected", ("a → n3: no extender scored it",))


def test_without_a_tap_or_a_cassette_nothing_is_known(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "a", "n3", FIRST, taped=False)
    assert (verdict.status, verdict.seen) == ("rejected", "nothing to look at")
    path = RecordBuilder(EXPECT).node("n1").pod("a", "n1").write(tmp_path / "b")
    assert judge(read(path))[0].evidence == ("no extender was tapped in this run",)
