import base64
import gzip
import ssl
from pathlib import Path
from typing import Any

import pytest

from harness.certificates import Authority
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse
from harness.extender.subject.probe import Probe, guess_entry, probe
from harness.extender.subject.start import started
from tests.unit.extender.servers import Raw, Status, keeps_names, keeps_nodes, scores, serving, silent

STRANGER = Path(__file__).parents[2] / "subjects" / "stranger"
SHORT_SECONDS = 0.3
LONG_SECONDS = 30.0


def entry(url: str, **given: Any) -> Entry:
    known = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "nodeCacheCapable": True}
    return Entry.from_json({"urlPrefix": url, **known, **given})


def codes(found: Probe) -> list[str]:
    return [notice.code for notice in found.findings]


def test_one_request_per_verb_as_kube_scheduler_sends_it() -> None:
    with serving({"/s/filter": keeps_names, "/s/prioritize": scores}) as served:
        found = probe(entry(f"{served.url}/s/", bindVerb="bind", preemptVerb="preempt"), LONG_SECONDS)
    assert (found.findings, found.reachable) == ((), True)
    assert found.effects["filter"].feasible == ("node-1", "node-2", "node-3")
    assert [path for path, _, _ in served.seen] == ["/s/filter", "/s/prioritize"]
    _, headers, request = served.seen[0]
    assert headers == {
        "Host": served.url.removeprefix("http://"),
        "User-Agent": "Go-http-client/1.1",
        "Content-Length": headers["Content-Length"],
        "Content-Type": "application/json",
        "Accept-Encoding": "gzip",
    }
    assert request["NodeNames"] == ["node-1", "node-2", "node-3"]
    assert request["Nodes"] is None


def test_a_pod_asks_for_what_the_extender_manages() -> None:
    with serving({"/filter": keeps_nodes}) as served:
        managed = [{"name": "example.com/gpu"}]
        alone = Entry(url_prefix=served.url, filter_verb="filter", managed_resources=tuple(managed))
        assert probe(alone, LONG_SECONDS).findings == ()
    assert alone.is_interested(served.seen[0][2]["Pod"])


@pytest.mark.parametrize(
    ("configured", "served_at", "advice"),
    [
        ("/s|prioritize", "/s/priority", 'set prioritizeVerb to "priority"'),
        ("/s|prioritize", "/s/priorities", 'set prioritizeVerb to "priorities"'),
        ("|priority", "/prioritize", 'set prioritizeVerb to "prioritize"'),
        ("|prioritize", "/score", 'set prioritizeVerb to "score"'),
        ("/s|prioritize", "/prioritize", 'set urlPrefix to "{origin}" and prioritizeVerb to "prioritize"'),
        ("|prioritize", "/scheduler/priority", 'set urlPrefix to "{origin}/scheduler"'),
        ("/s|prioritize", "/s//prioritize", 'set prioritizeVerb to "/prioritize"'),
        ("/s|/prioritize", "/s/prioritize", 'set prioritizeVerb to "prioritize"'),
        ("|v1/rank", "/prioritize", 'set prioritizeVerb to "prioritize"'),
    ],
)
def test_a_missing_route_names_the_one_that_was_meant(configured: str, served_at: str, advice: str) -> None:
    path, verb = configured.split("|")
    with serving({served_at: scores}) as served:
        found = probe(entry(f"{served.url}{path}", filterVerb="", prioritizeVerb=verb), LONG_SECONDS)
        assert codes(found) == ["not-found"]
        assert found.reachable
        text = found.findings[0].text
        assert f"POST {served.url}{served_at} does answer: " in text
        assert advice.format(origin=served.url) in text


def test_a_route_that_nobody_has_is_said_to_be_missing() -> None:
    with serving({}) as served:
        found = probe(entry(served.url), LONG_SECONDS)
        assert codes(found) == ["not-found", "not-found"]
        assert "/predicates" in found.findings[0].text
        assert "answers either" in found.findings[0].text
    asked = {path for path, _, _ in served.seen}
    assert not any("bind" in path or "preempt" in path for path in asked)


def test_a_neighbour_that_answers_something_else_is_not_taken() -> None:
    with serving({"/priority": lambda _: {"ok": True}, "/score": scores}) as served:
        assert "/score does answer" in probe(entry(served.url, filterVerb=""), LONG_SECONDS).findings[0].text


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Status(500, b"no   database\n"), "bad-status", 'it said "no database"'),
        (Status(201, b"{}"), "bad-status", "201"),
        (Status(302, b"", {"Location": "/login"}), "redirect", "/login"),
        (Status(200, b"<html>"), "bad-reply", "invalid character '<'"),
        (Status(200, b""), "bad-reply", "EOF"),
        (Status(200, b'{"node_names": ["node-1"]}'), "unknown-key", "NodeNames"),
        (Status(200, b"{}"), "nothing-kept-without-reason", "neither Nodes nor NodeNames"),
        (Raw(b""), "bad-reply", "panics"),
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"), "bad-reply", "unexpected EOF"),
        (Raw(b"not http\r\n\r\n"), "bad-reply", "BadStatusLine"),
    ],
)
def test_what_kube_scheduler_could_not_use_is_a_finding(answer: Any, code: str, said: str) -> None:
    with serving({"/filter": lambda _: answer, "/prioritize": scores}) as served:
        found = probe(entry(served.url), LONG_SECONDS)
    assert found.reachable
    assert code in codes(found)
    assert said in next(notice.text for notice in found.findings if notice.code == code)


def test_the_wrong_form_of_nodes_is_a_finding() -> None:
    with serving({"/filter": lambda _: {"NodeNames": ["node-1"]}, "/prioritize": scores}) as served:
        assert codes(probe(entry(served.url, nodeCacheCapable=False), LONG_SECONDS)) == ["reply-ignored"]


def test_what_only_concerns_the_pod_of_the_probe_is_no_finding() -> None:
    def refuses(request: Any) -> Any:
        return {"NodeNames": [], "FailedNodes": dict.fromkeys(request["NodeNames"], "")}

    with serving({"/filter": refuses, "/prioritize": lambda _: [{"Host": "node-1", "Score": 99}]}) as served:
        assert probe(entry(served.url), LONG_SECONDS).findings == ()


@pytest.mark.parametrize(
    "data", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", b"HTTP/1.1 200 OK\r\n\r\n{"]
)
def test_an_extender_that_never_finishes_is_reachable_but_late(data: bytes) -> None:
    with serving({"/filter": lambda _: Raw(data, hold=True), "/prioritize": scores}) as served:
        found = probe(entry(served.url, prioritizeVerb=""), SHORT_SECONDS)
    assert found.reachable
    assert codes(found) == ["timed-out"]
    assert found.replies["filter"].ending == "aborted"
    assert (found.replies["filter"].status is None) == (b"\r\n\r\n" not in data)


def test_a_compressed_reply_is_read() -> None:
    packed = Status(200, gzip.compress(b'{"NodeNames": ["node-2"]}'), {"Content-Encoding": "gzip"})
    with serving({"/filter": lambda _: packed}) as served:
        found = probe(entry(served.url, prioritizeVerb=""), LONG_SECONDS)
    assert found.effects["filter"].feasible == ("node-2",)


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("http://127.0.0.1:1", "connection refused: nothing listens on 127.0.0.1:1"),
        ("http://no-such-host.invalid:80", "DNS: the name 'no-such-host.invalid' cannot be resolved"),
        ("", 'unsupported protocol scheme ""'),
        ("localhost:8888", 'unsupported protocol scheme "localhost"'),
        ("http://:8888", "no host"),
        ("http://127.0.0.1:99999", "Port out of range"),
    ],
)
@pytest.mark.parametrize("verb", ["filter", ""])
def test_what_cannot_be_reached_says_the_likely_cause(url: str, cause: str, verb: str) -> None:
    found = probe(entry(url, filterVerb=verb, prioritizeVerb="", bindVerb="bind"), LONG_SECONDS)
    assert not found.reachable
    assert codes(found) == ["extender-unreachable"]
    assert cause in found.findings[0].text
    assert guess_entry(url)[1][0].startswith("nothing could be guessed: ")


def test_an_entry_without_verbs_is_never_called() -> None:
    with silent() as url:
        assert codes(probe(Entry(url_prefix=url), LONG_SECONDS)) == ["no-verb"]
        assert codes(probe(Entry(url_prefix=url, bind_verb="bind"), LONG_SECONDS)) == []


def server_context(folder: Path) -> tuple[ssl.SSLContext, Path]:
    authority = Authority(folder / "authority")
    identity = authority.server("extender")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(identity.certificate, identity.key)
    return context, authority.certificate


def test_tls_is_verified_as_the_entry_says(tmp_path: Path) -> None:
    context, authority = server_context(tmp_path)
    with serving({"/filter": keeps_names, "/prioritize": scores}, context) as served:
        found = probe(entry(served.url), LONG_SECONDS)
        assert not found.reachable
        assert "TLS: the certificate of 127.0.0.1" in found.findings[0].text
        data = base64.b64encode(authority.read_bytes()).decode()
        for accepted in (
            {"tlsConfig": {"caData": data}},
            {"tlsConfig": {"caFile": str(authority)}},
            {"tlsConfig": {"insecure": True}},
            {"enableHTTPS": True},
        ):
            found = probe(entry(served.url, **accepted), LONG_SECONDS)
            assert (found.findings, found.reachable) == ((), True), accepted
        assert "TLS: " in probe(entry(served.url, tlsConfig={"caData": data, "serverName": "x"})).findings[0].text


def test_plain_http_behind_https_is_named() -> None:
    with serving({}) as served:
        text = probe(entry(served.url.replace("http:", "https:")), LONG_SECONDS).findings[0].text
    assert "the server speaks plain HTTP" in text


@pytest.mark.parametrize(("answer", "capable"), [(keeps_names, True), (keeps_nodes, False)])
def test_the_form_of_nodes_is_guessed_by_what_works(answer: Any, capable: bool) -> None:
    with serving({"/s/predicates": answer, "/s/priorities": scores}) as served:
        guessed, notes = guess_entry(f"{served.url}/s")
    assert guessed == Entry(
        url_prefix=f"{served.url}/s",
        filter_verb="predicates",
        prioritize_verb="priorities",
        weight=1,
        node_cache_capable=capable,
    )
    assert any(
        note.startswith(f"nodeCacheCapable: {str(capable).lower()}, because filter works with") for note in notes
    )
    assert any('filterVerb: "predicates"' in note for note in notes)
    assert any("never guessed" in note for note in notes)
    assert not any("bind" in path or "preempt" in path for path, _, _ in served.seen)


def test_an_extender_that_refuses_every_node_by_name_knows_names() -> None:
    def refuses(request: Any) -> Any:
        return {"FailedNodes": dict.fromkeys(request["NodeNames"] or [], "no")}

    with serving({"/filter": refuses}) as served:
        guessed, notes = guess_entry(served.url)
    assert guessed.node_cache_capable
    assert (guessed.filter_verb, guessed.prioritize_verb, guessed.weight) == ("filter", "", 0)
    assert any("prioritizeVerb is left out" in note for note in notes)


def test_what_works_neither_way_keeps_the_default() -> None:
    with serving({"/filter": lambda _: Status(500), "/prioritize": scores}) as served:
        guessed, notes = guess_entry(served.url)
    assert (guessed.filter_verb, guessed.node_cache_capable) == ("filter", False)
    assert any("works neither with names nor whole nodes" in note for note in notes)
    assert any("different forms" in note for note in notes)


def test_a_stranger_is_understood(tmp_path: Path) -> None:
    with started(parse(f"go:{STRANGER}", {}), folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        guessed, _ = guess_entry(running.url)
        assert guessed.to_json() == {
            "urlPrefix": running.url,
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 1,
            "nodeCacheCapable": True,
        }
        for capable in (True, False):
            found = probe(entry(running.url, nodeCacheCapable=capable), LONG_SECONDS)
            assert found.findings == ()
            assert found.effects["filter"].feasible == ("node-1", "node-2", "node-3")
            assert found.effects["prioritize"].scores == {"node-1": 6, "node-2": 6, "node-3": 6}
        assert running.log is not None
        assert "/filter probe" in running.log.read_text()


def test_the_misrouted_reference_is_found_out(tmp_path: Path) -> None:
    subject = parse("ref:index-bind-misrouted", {})
    with started(subject, folder=tmp_path / "run", seed=0, kubeconfig=None) as running:
        found = probe(Entry.from_json({**(subject.entry or {}), "urlPrefix": running.url}), LONG_SECONDS)
    assert codes(found) == ["not-found"]
    assert "/priority does answer" in found.findings[0].text
