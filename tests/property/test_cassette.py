"""Whatever a cassette holds, a replay of it ends in a result or in a word about the file."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.extender.cassette import replay as replaying
from harness.extender.cassette.file import read, transcript
from harness.extender.entry import VERBS
from harness.extender.requests import binding_args, extender_args, nodes, pod, preemption_args
from harness.extender.subject.parse import parse
from harness.extender.subject.post import Reply

NAMES = ["node-1", "node-2"]
ASKED = extender_args(pod("p"), nodes(2), names_only=True)
HEADER = {
    "kind": "cassette",
    "format": 1,
    "extenders": [
        {
            "name": "x",
            "subject": "ref:x",
            "entry": {
                "urlPrefix": "http://h:1/s",
                **{f"{kind}Verb": kind for kind in VERBS},
                "nodeCacheCapable": True,
                "weight": 1,
                "httpTimeout": "5s",
                "managedResources": [{"name": "example.com/gpu"}],
                "tlsConfig": {"insecure": True},
            },
        }
    ],
}
WHAT: dict[str, tuple[Any, Any]] = {
    "filter": (ASKED, {"NodeNames": NAMES, "FailedNodes": {}}),
    "prioritize": (ASKED, [{"Host": "node-1", "Score": 5}]),
    "preempt": (
        preemption_args(pod("p"), {"node-1": [pod("v", uid="v")]}, meta=True),
        {"NodeNameToMetaVictims": {"node-1": {"Pods": [{"UID": "v"}]}}},
    ),
    "bind": (binding_args(pod("p"), "node-1"), {}),
}
TAKEN = {"status": 200, "seconds": 0.1, "pod": "default/p", "uid": "u", "attempt": 1, "raw": None, "fault": None}
LINES: list[Any] = [
    HEADER,
    *(
        {
            **TAKEN,
            "extender": "x",
            "seq": number,
            "t": 1.0,
            "kind": kind,
            "path": f"/s/{kind}",
            "ending": "answered",
            "request": WHAT[kind][0],
            "response": WHAT[kind][1],
            "omitted": None,
        }
        for number, kind in enumerate(VERBS, 1)
    ),
    {"extender": "x", "seq": 9, "t": 2, "kind": "filter", "path": "/", "request": ASKED, "status": 200, "raw": "PGh0"},
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-2, 600)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "x", "zzz", "!!!", "PGh0", "200", "http://[", "5 parsecs", "answered", "open", *VERBS, *NAMES]
    )
)
values = st.recursive(
    scalars,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "entry", "Pod", "NodeNames", "metadata", "items", "x"]), below)
    ),
    max_leaves=5,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a value."""
    yield here
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*here, key))


def put(value: Any, place: tuple[Any, ...], new: Any, *, gone: bool) -> Any:
    """Return a value with another part, or without it."""
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(place) == 1 and gone:
        del copy[place[0]]
    else:
        copy[place[0]] = put(value[place[0]], place[1:], new, gone=gone)
    return copy


class Answers:
    """An extender that answers everything alike, without a network."""

    restartable = False
    url = "http://h:1/s"
    subject = parse(url)

    def __init__(self, *_: Any) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def send(self, kind: str, body: bytes) -> Reply:
        assert isinstance(body, bytes)
        return Reply(f"{self.url}/{kind}", "answered", 0.1, 200, b"{}")


@contextlib.contextmanager
def cassette(lines: list[Any]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cassette.jsonl.zst"
        path.write_bytes(zstandard.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
        yield path


def use(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replaying, "started", lambda *_, **__: Answers())
        patch.setattr(replaying, "Wire", Answers)
        options = replaying.Options(bind=True)
        result = replaying.replay(path, parse("http://h:1/s"), path.parent, options)
    json.dumps(result.to_json())
    assert list(transcript(path, "default/p")) is not None


def test_the_cassette_as_it_is() -> None:
    with cassette(LINES) as path:
        use(path)
        assert len(list(read(path).calls)) == 5


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_no_change_of_a_cassette_breaks_a_replay(data: st.DataObject) -> None:
    lines = LINES
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from([one for one in places(lines) if one]))
        lines = put(lines, place, data.draw(values), gone=data.draw(st.booleans()))
    with cassette(lines) as path, contextlib.suppress(InputError):
        use(path)
