"""Extenders that are asked over TLS: what is sealed comes out whole, and what cannot be agreed on is told."""

import base64
import ssl
from pathlib import Path
from typing import Any

import pytest

from harness.certificates import Authority, Identity
from harness.errors import InputError
from harness.extender.entry import Entry
from harness.extender.subject.parse import parse
from harness.extender.subject.tls import Tls, demanded_tls, tls_of
from harness.load.campaign import Options
from harness.load.generate import Scale
from harness.load.handout import hand_out
from harness.load.lean import ANSWERED, REFUSED, TOO_LATE, LeanClient, prepare
from harness.load.regress.compare import Options as Comparing
from harness.load.regress.compare import compare
from harness.load.seal import Seal
from tests.unit.extender.servers import served_by, serving, silent
from tests.unit.load.given import loaded

FILTERED = {"NodeNames": [], "FailedNodes": {}, "Error": ""}
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "ca")


@pytest.fixture(scope="module")
def context(authority: Authority) -> ssl.SSLContext:
    return served_by(authority)


def entry_of(**tls: Any) -> dict[str, Any]:
    return {"filterVerb": "filter", "nodeCacheCapable": True, "tlsConfig": tls}


def client(url: str, authority: Authority) -> Tls:
    found = tls_of(url, Entry(tls={"caFile": str(authority.certificate)}))
    assert found is not None
    return found


class Peer:
    """The extender's side of a connection, in memory."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.came = b""

    def take(self, data: bytes) -> bytes:
        """Read what came over the line and return what goes back."""
        self.incoming.write(data)
        try:
            self.tls.do_handshake()
            while part := self.tls.read(1 << 16):
                self.came += part
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    def say(self, data: bytes) -> bytes:
        rest = memoryview(data)
        while rest:
            rest = rest[self.tls.write(rest) :]
        return self.outgoing.read()


def agreed(seal: Seal, peer: Peer, data: bytes) -> None:
    """Let both sides talk until they have nothing more to say."""
    line = seal.sealed(data)
    while line:
        _, line = seal.opened(peer.take(line))


@pytest.mark.parametrize("size", [1, 5_000_000])
def test_what_is_sealed_comes_out_whole(size: int, authority: Authority, context: ssl.SSLContext) -> None:
    seal, peer = Seal(client(f"https://{HOST}:1", authority)), Peer(context)
    sent = bytes(range(256)) * (size // 256 + 1)
    agreed(seal, peer, sent)
    assert peer.came == sent
    line = peer.say(sent)
    middle = len(line) // 2
    opened = [seal.opened(part)[0] for part in (line[:middle], line[middle:])]
    assert b"".join(opened) == sent
    assert not seal.ended


def test_an_end_that_is_told_is_an_end(authority: Authority, context: ssl.SSLContext) -> None:
    seal, peer = Seal(client(f"https://{HOST}:1", authority)), Peer(context)
    agreed(seal, peer, b"x")
    last = peer.say(b"y")
    with pytest.raises(ssl.SSLWantReadError):
        peer.tls.unwrap()
    assert seal.opened(last + peer.outgoing.read())[0] == b"y"
    assert seal.ended


@pytest.mark.parametrize("options", [{"rates": (100.0,)}, {"schedulers": 2}], ids=["open", "closed"])
def test_a_load_over_tls_is_measured(
    options: dict[str, Any], authority: Authority, context: ssl.SSLContext, tmp_path: Path
) -> None:
    with serving({"/filter": lambda _: FILTERED}, context) as served:
        subject = parse(served.url, entry_of(caFile=str(authority.certificate)))
        record = loaded(subject, tmp_path, floor=True, **options)
    (one,) = record.results
    assert one.requests > 10
    assert (one.errors, one.error_kinds) == (0, {})
    # One more looks at the reply, and one sees what is there.
    assert len(served.seen) >= one.requests + one.warmup_cut
    # Each of two schedulers keeps its own; how many an open load needs, the machine decides.
    assert one.model == "open" or one.connections == 2
    assert one.floor_p50_ms is not None
    assert any("asked over TLS" in note for note in record.meta["warnings"])


def test_a_client_that_has_to_show_a_certificate_does_and_its_key_is_kept_nowhere(
    authority: Authority, tmp_path: Path
) -> None:
    strict = served_by(authority)
    strict.verify_mode = ssl.CERT_REQUIRED
    strict.load_verify_locations(authority.certificate)
    identity = authority.client("scheduler")
    shown = {f"{kind}Data": base64.b64encode(path.read_bytes()).decode() for kind, path in _parts(identity).items()}
    with serving({"/filter": lambda _: FILTERED}, strict) as served:
        known = loaded(parse(served.url, entry_of(caFile=str(authority.certificate), **shown)), tmp_path)
        unknown = loaded(parse(served.url, entry_of(caFile=str(authority.certificate))), tmp_path)
    assert (known.results[0].errors, unknown.results[0].errors) == (0, unknown.results[0].requests)
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert shown["certData"] in kept
    assert shown["keyData"] not in kept


def _parts(identity: Identity) -> dict[str, Path]:
    return {"cert": identity.certificate, "key": identity.key}


@pytest.mark.parametrize("is_plain", [False, True], ids=["unknown-authority", "plain"])
def test_what_cannot_be_agreed_on_is_told(is_plain: bool, context: ssl.SSLContext, tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger")
    with serving({"/filter": lambda _: FILTERED}, None if is_plain else context) as served:
        subject = parse(served.url.replace("http:", "https:"), entry_of(caFile=str(stranger.certificate)))
        record = loaded(subject, tmp_path / "runs")
    (one,) = record.results
    assert one.requests == one.errors > 0
    # Who speaks no TLS may hang up before its answer is read.
    assert "no-tls" in one.error_kinds
    assert set(one.error_kinds) <= ({"no-tls", "reset", "cut"} if is_plain else {"no-tls"})
    assert any("a first filter was not answered: TLS" in note for note in record.meta["warnings"])


def test_the_client_of_comparisons_speaks_it(authority: Authority, context: ssl.SSLContext) -> None:
    with serving({"/filter": lambda _: FILTERED}, context) as served:
        url = f"{served.url}/filter"
        with LeanClient(url, 20.0, client(url, authority)) as lean:
            outcomes = [lean.send(prepare(url, b"{}")) for _ in range(3)]
        assert [one.ending for one in outcomes] == [ANSWERED] * 3
        assert lean.connections == 1
        with LeanClient(url, 20.0, tls_of(url, Entry())) as lean:
            assert lean.send(prepare(url, b"{}")).ending == REFUSED


def test_a_comparison_over_tls_is_made(authority: Authority, context: ssl.SSLContext) -> None:
    with serving({"/filter": lambda _: FILTERED}, context) as served:
        subject = parse(served.url, entry_of(caFile=str(authority.certificate)))
        compared = compare(subject, subject, Comparing(verbs=("filter",), nodes=(3,), budget_seconds=0.6))
    (one,) = compared.result.comparisons
    assert one.pairs > 0
    assert (one.base_errors, one.candidate_errors, one.failure) == (0, 0, None)


def test_the_client_of_comparisons_waits_no_longer_over_tls(authority: Authority) -> None:
    with silent() as plain:
        url = plain.replace("http:", "https:")
        with LeanClient(url, 0.2, client(url, authority)) as lean:
            assert lean.send(prepare(url, b"{}")).ending == TOO_LATE


@pytest.mark.parametrize("tls", [{"caFile": "nowhere.crt"}, {"caData": "AAAA"}, {"certData": "?", "keyData": "?"}])
def test_certificates_that_cannot_be_read_are_refused(tls: dict[str, str]) -> None:
    with pytest.raises(InputError, match="me: tlsConfig of its entry cannot be used"):
        demanded_tls("me", f"https://{HOST}:1", Entry(tls=tls))
    assert demanded_tls("me", f"http://{HOST}:1", Entry(tls=tls)) is None


def test_an_order_with_a_key_is_for_its_owner_alone(
    authority: Authority, context: ssl.SSLContext, tmp_path: Path
) -> None:
    with serving({"/filter": lambda _: FILTERED}, context) as served:
        subject = parse(served.url, entry_of(caFile=str(authority.certificate)))
        # Also where there was one that everybody could read.
        (tmp_path / "order.json").touch(mode=0o644)
        path = hand_out([subject], Options(nodes=(10,)), Scale(), tmp_path)
    assert path.stat().st_mode & 0o077 == 0
