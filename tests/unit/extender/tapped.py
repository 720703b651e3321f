"""Writes folders as a tap leaves them, and cassettes made of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zstandard

from harness.extender.cassette.file import CassetteWriter
from harness.extender.cassette.finalize import finalize
from harness.extender.entry import Entry
from harness.extender.requests import encoded

URL = "http://127.0.0.1:8888/s"
HEADER = {"made_by": "test", "created_at": "2026-01-01T00:00:00Z", "scenario": "s", "kubernetes": "1.36"}


class Tapped:
    """A folder of a tap, call by call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.seq = 0
        self.now = 100.0

    def begin(self, path: str, fault: str | None = None) -> None:
        self.seq += 1
        self.now += 1.0
        line = {"event": "begin", "connection": 1, "method": "POST", "path": path, "fault": fault}
        self.line({"seq": self.seq, "now": self.now, **line})

    def call(
        self, path: str, request: Mapping[str, Any] | bytes, reply: Any, *, fault: str | None = None, **end: Any
    ) -> None:
        self.begin(path, fault)
        sent = request if isinstance(request, bytes) else encoded(request)
        body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        times = {"now": self.now + 0.25, "sent": self.now + 0.01, "first_byte": self.now + 0.2}
        sizes = {"request_bytes": len(sent), "response_bytes": len(body)}
        places = {"request": self.body(sent), "response": self.body(body)}
        headers: dict[str, list[list[str]]] = {"request_headers": [], "response_headers": []}
        line = {"seq": self.seq, "event": "end", "ending": "answered", "status": 200, **times, **sizes, **places}
        self.line({**line, **headers, **end})

    def body(self, data: bytes) -> dict[str, int] | None:
        if not data:
            return None
        frame = zstandard.ZstdCompressor(level=1, write_content_size=False).compress(data)
        with (self.folder / "bodies.zst").open("ab") as stream:
            offset = stream.tell()
            stream.write(frame)
        return {"offset": offset, "length": len(frame)}

    def line(self, value: Mapping[str, Any]) -> None:
        with (self.folder / "calls.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(value) + "\n")


def entry(**values: Any) -> Entry:
    known = {"urlPrefix": URL, "filterVerb": "filter", "prioritizeVerb": "prioritize", "bindVerb": "bind"}
    return Entry.from_json({**known, "preemptVerb": "preempt", "weight": 1, "nodeCacheCapable": True, **values})


def finalized(
    tapped: Tapped, path: Path, taken: Entry | None = None, **options: Any
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Make a cassette at `path`; return the lines of the record and the warnings."""
    lines: list[Mapping[str, Any]] = []
    used = taken or entry()
    header = {**HEADER, "extenders": [{"name": "x", "subject": "ref:x", "entry": used.to_json()}]}
    with CassetteWriter(path, header) as cassette:
        warnings = finalize(tapped.folder, "x", used, -100.0, lambda _, line: lines.append(line), cassette, **options)
    return lines, warnings
