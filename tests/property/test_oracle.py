"""The oracle never breaks, whatever an extender answers, and sees the same with and without secrets."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.extender.cassette.differences import changes
from harness.extender.cassette.redact import redact
from harness.extender.entry import VERBS, Entry
from harness.extender.reply.effect import effect, sent_nodes
from harness.extender.requests import binding_args, extender_args, node, pod, preemption_args

NAMES = ("a", "b", "c")
KEYS: tuple[str, ...] = (
    "Nodes",
    "NodeNames",
    "nodenames",
    "FailedNodes",
    "FailedAndUnresolvableNodes",
    "Error",
    "items",
    "metadata",
)
KEYS += ("name", "Host", "Score", "NodeNameToMetaVictims", "Pods", "UID", "NumPDBViolations", "node_names", *NAMES)

scalars = st.none() | st.booleans() | st.integers(-3, 12) | st.floats() | st.sampled_from((*NAMES, "", "50%", "\ud800"))
trees = st.recursive(
    scalars, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(KEYS), below, max_size=5)
)
texts = st.dictionaries(st.sampled_from((*NAMES, "ghost")), st.sampled_from(("full", "", "50%")), max_size=4)
names = st.lists(st.sampled_from((*NAMES, "ghost")), max_size=5)
SECRETS = {"my-token": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}"}


def entry(*, names_only: bool) -> Entry:
    verbs: dict[str, Any] = {f"{kind}_verb": kind for kind in VERBS}
    return Entry(url_prefix="http://x", weight=1, node_cache_capable=names_only, **verbs)


def secretive(name: str, value: str) -> dict[str, Any]:
    return node(name, annotations={**SECRETS, "api-key": value}, labels={"token": "t"})


def request(kind: str, *, names_only: bool) -> Any:
    containers = [{"name": "c", "env": [{"name": "A", "value": "s"}], "args": ["--password=s"]}]
    asking = pod(annotations=SECRETS, containers=containers)
    if kind == "bind":
        return binding_args(asking, "a")
    if kind == "preempt":
        return preemption_args(asking, {name: [pod(f"v-{name}", uid=name)] for name in NAMES}, meta=names_only)
    return extender_args(asking, [secretive(name, "s") for name in NAMES], names_only)


@st.composite
def filter_replies(draw: st.DrawFn) -> dict[str, Any]:
    kept = [secretive(name, draw(st.sampled_from(("s", "other")))) for name in draw(names)]
    return {
        "Nodes": draw(st.none() | st.just({"items": kept})),
        "NodeNames": draw(st.none() | names),
        "FailedNodes": draw(texts),
        "FailedAndUnresolvableNodes": draw(texts),
    }


@given(st.sampled_from(VERBS), st.booleans(), trees | filter_replies(), st.integers(0, 40))
def test_any_reply_has_an_effect(kind: str, names_only: bool, reply: Any, spoilt: int) -> None:
    body = json.dumps(reply).encode()
    for data in (body, body[:spoilt], body[:spoilt] + b"\xff,:" + body[spoilt:]):
        seen = effect(kind, entry(names_only=names_only), request(kind, names_only=names_only), 200, data)
        assert seen.kind == kind
        assert seen.error != ""
        assert seen.silent == (kind == "prioritize" and seen.error is not None)
        assert all(notice.code and notice.text for notice in seen.notices)
        assert list(changes(seen, seen)) == []


@given(st.binary(max_size=60), st.sampled_from(VERBS))
def test_any_bytes_have_an_effect(data: bytes, kind: str) -> None:
    assert effect(kind, entry(names_only=True), request(kind, names_only=True), 200, data).kind == kind


@given(filter_replies(), st.booleans())
def test_every_node_has_one_fate(reply: dict[str, Any], names_only: bool) -> None:
    asked = request("filter", names_only=names_only)
    seen = effect("filter", entry(names_only=names_only), asked, 200, json.dumps(reply).encode())
    if seen.error is not None:
        return
    fates = [set(seen.feasible), set(seen.rejected), set(seen.unresolvable), set(seen.dropped)]
    for name in sent_nodes(asked) or ():
        assert sum(name in fate for fate in fates) == 1, name


@given(st.sampled_from(VERBS), st.booleans(), trees | filter_replies())
def test_secrets_make_no_difference(kind: str, names_only: bool, reply: Any) -> None:
    asked = request(kind, names_only=names_only)
    taken = entry(names_only=names_only)
    before = effect(kind, taken, asked, 200, json.dumps(reply).encode())
    after = effect(kind, taken, redact(asked)[0], 200, json.dumps(redact(reply)[0]).encode())
    assert after == before


@given(filter_replies())
def test_the_order_of_a_reply_is_no_difference(reply: dict[str, Any]) -> None:
    taken, asked = entry(names_only=False), request("filter", names_only=False)
    turned = {**reply, "Nodes": reply["Nodes"] and {"items": reply["Nodes"]["items"][::-1]}}
    both = [effect("filter", taken, asked, 200, json.dumps(one).encode()) for one in (reply, turned)]
    assert list(changes(*both)) == []
