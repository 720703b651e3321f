"""The connection that a replay keeps."""

from pathlib import Path

import pytest

from harness.certificates import Authority
from harness.extender.entry import Entry
from harness.extender.subject.wire import Wire
from tests.unit.extender.servers import served_by, serving


@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "tls"])
def test_a_connection_is_kept(tmp_path: Path, is_tls: bool) -> None:
    ports = set()
    authority = Authority(tmp_path / "ca")
    context = served_by(authority) if is_tls else None

    with (
        serving({"/filter": lambda _: {"NodeNames": []}}, context) as served,
        Wire(Entry(url_prefix=served.url, filter_verb="filter", tls={"caFile": str(authority.certificate)})) as wire,
    ):
        for _ in range(3):
            assert wire.send("filter", b"{}").status == 200
            ports.add(wire._connection.sock.getsockname()[1])
    assert len(ports) == 1
    assert wire.send("filter", b"{}").ending == "unreachable"
