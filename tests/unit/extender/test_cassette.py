import contextlib
import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest
import zstandard

from harness.errors import HarnessError, InputError
from harness.extender.cassette.file import FORMAT, CassetteCall, CassetteWriter, read, transcript
from harness.extender.requests import extender_args, node, nodes, pod
from tests.unit.extender.tapped import HEADER

TLS = {"caData": "Y2E=", "keyData": "c2VjcmV0"}
EXTENDERS = [{"name": "x", "subject": "ref:x", "entry": {"urlPrefix": "https://x", "tlsConfig": TLS}}]


def call(seq: int, **values: Any) -> CassetteCall:
    return CassetteCall(**{"extender": "x", "seq": seq, "t": float(seq), "kind": "filter", "path": "/filter", **values})


def write(path: Path, *calls: CassetteCall, **header: Any) -> Path:
    with CassetteWriter(path, {**HEADER, "extenders": EXTENDERS, **header}) as writer:
        for one in calls:
            writer.append(one)
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    calls = [
        call(1, status=200, request={"Pod": {}}, response={"NodeNames": ["a"]}, pod="default/p", uid="u", attempt=1),
        call(2, status=200, raw=b"<html>\xff", fault="garbage", seconds=0.5),
        call(3, ending="unreachable", omitted="too large"),
    ]
    cassette = read(write(tmp_path / "c.zst", *calls))
    assert list(cassette.calls) == calls
    assert cassette.warnings == []
    assert cassette.header["format"] == FORMAT
    assert cassette.header["scenario"] == "s"
    assert [one["name"] for one in cassette.extenders] == ["x"]
    assert [one.body for one in calls] == [b'{"NodeNames":["a"]}', b"<html>\xff", b""]


def test_a_record_s_folder_will_do(tmp_path: Path) -> None:
    write(tmp_path / "cassette.jsonl.zst", call(1))
    assert len(list(read(tmp_path).calls)) == 1


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    assert stat.S_IMODE(write(tmp_path / "c.zst").stat().st_mode) == 0o600


def test_secrets_are_not_in_it(tmp_path: Path) -> None:
    secret = {"containers": [{"name": "c", "env": [{"name": "A", "value": "hunter2"}]}]}
    answer = {"Nodes": {"items": [node("n", annotations={"my-token": "hunter2"})]}}
    path = write(
        tmp_path / "c.zst",
        call(1, status=200, request={"Pod": {"spec": secret}}, response=answer),
        call(2, status=200, raw=b'{"metadata":{"annotations":{"my-token":"hunter2"}}'),
    )
    text = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    assert b"redacted-" in text
    assert not [word for word in (b"hunter2", b"aHVudGVyMg", b"c2VjcmV0") if word in text]
    assert "env values" in read(path).header["redacted"]
    assert b"hunter2" not in list(read(path).calls)[1].body


def test_the_same_nodes_cost_little_the_second_time(tmp_path: Path) -> None:
    many = nodes(100, kib_each=10)

    def size(count: int) -> int:
        asked = [call(seq, request=extender_args(pod(f"p-{seq}"), many, names_only=False)) for seq in range(count)]
        return write(tmp_path / "c.zst", *asked).stat().st_size

    assert size(10) < 1.5 * size(1)


def test_a_cut_file_gives_what_is_there(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.zst", *(call(seq, request=hashlib.shake_256(bytes(seq)).hexdigest(200)) for seq in range(2000))
    )
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    cassette = read(path)
    seqs = [one.seq for one in cassette.calls]
    assert seqs == list(range(len(seqs)))
    assert 0 < len(seqs) < 2000
    assert "cut short" in " ".join(cassette.warnings)


def test_damage_in_the_middle_is_told(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.zst", *(call(seq, request=hashlib.shake_256(bytes(seq)).hexdigest(200)) for seq in range(2000))
    )
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    path.write_bytes(data)
    cassette = read(path)
    with contextlib.suppress(InputError):
        # Damage may also give something that is no JSON; that is told as an error with its line.
        assert len(list(cassette.calls)) < 2000
        assert "damaged" in " ".join(cassette.warnings)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "no cassette"),
        (b"", "no cassette"),
        (zstandard.compress(b'{"kind":"song"}\n'), "no cassette"),
        (zstandard.compress(b'{"kind":"cassette","format":99,"made_by":"v9"}\n'), "format 99 seen, at most 1 known"),
        (zstandard.compress(b"[]\n"), "c.zst:1: list seen"),
        (zstandard.compress(b"{\n"), "c.zst:1: this is no line of JSON"),
        (zstandard.compress(b'{"kind":"cassette","format":1}\n{"seq":1}\n'), "c.zst:2: this is no call"),
        (zstandard.compress(b'{"kind":"cassette","format":true}\n'), "c.zst:1: format: True seen, a number from 1"),
        (zstandard.compress(b'{"kind":"cassette","format":-1}\n'), "c.zst:1: format: -1 seen, a number from 1"),
    ],
)
def test_what_is_no_cassette(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "c.zst"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(read(path).calls)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "c.zst")


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), CassetteWriter(tmp_path / "c.zst", HEADER) as writer:
        writer.append(call(1 // 0))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(HarnessError, match="cannot be written"), CassetteWriter(tmp_path / "no" / "c.zst", HEADER):
        pass


def test_keys_of_later_versions_are_left_out(tmp_path: Path) -> None:
    assert CassetteCall.from_json({**call(1).to_json(), "mood": "good"}) == call(1)


def test_a_pod_s_transcript_is_in_the_order_of_time(tmp_path: Path) -> None:
    own = {"pod": "default/p", "uid": "u"}
    path = write(tmp_path / "c.zst", call(2, **own), call(1, extender="y", **own), call(3, pod="default/q", uid="v"))
    for name in ("p", "default/p", "u"):
        assert [one.seq for one in transcript(path, name)] == [1, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "zzz"}, "kind: 'zzz' seen, one of filter, prioritize, preempt, bind or null expected"),
        ({"kind": ["filter"]}, "kind: list seen, a string or null expected"),
        ({"seconds": "q"}, "seconds: 'q' seen, a number or null expected"),
        ({"t": "x"}, "t: 'x' seen, a number expected"),
        ({"attempt": "x"}, "attempt: 'x' seen, a whole number or null expected"),
        ({"attempt": True}, "attempt: True seen, a whole number or null expected"),
        ({"path": 5}, "path: 5 seen, a string expected"),
        ({"status": "200"}, "status: '200' seen, a whole number or null expected"),
        ({"ending": "happily"}, "ending: 'happily' seen, one of answered, aborted, cut, unreachable, open expected"),
        ({"raw": "!!!"}, "base64"),
        ({"raw": 5}, "raw: 5 seen, a string or null expected"),
    ],
)
def test_a_line_that_is_no_call_is_told_with_its_place(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    path = tmp_path / "c.zst"
    lines = [{"kind": "cassette", "format": 1}, {**call(1).to_json(), **values}]
    path.write_bytes(zstandard.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    with pytest.raises(InputError) as caught:
        list(read(path).calls)
    assert str(caught.value).startswith(f"{path}:2: this is no call of a cassette (")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("extenders", "message"),
    [
        ("x", "extenders: 'x' seen, a list expected"),
        ([1], "extenders[0]: 1 seen, an object expected"),
        ([{}], "extenders[0].name: None seen, a string expected"),
        ([{"name": "x", "entry": [1]}], "extenders[0].entry: list seen, an object expected"),
        ([{"name": "x", "entry": {"urlPrefix": "http://["}}], "extenders[0].entry.urlPrefix: no address"),
    ],
)
def test_a_header_that_is_none_is_told(tmp_path: Path, extenders: Any, message: str) -> None:
    path = tmp_path / "c.zst"
    header = {"kind": "cassette", "format": 1, "extenders": extenders}
    path.write_bytes(zstandard.compress(json.dumps(header).encode() + b"\n"))
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:1: {message}")
