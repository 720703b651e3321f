"""Reads the bodies that a tap wrote down, never more of one than is allowed, however small it was made."""

import contextlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

BODIES = "bodies.zst"
_GZIP = 31


@dataclass(frozen=True)
class Body:
    """A body as it was framed on the wire, or why it is not there.

    `error` is what Go's client says when it cannot unpack it, `cut` what it says when it comes to the end of what could
    be unpacked; it never comes there if the value that it wants is complete before.
    """

    data: bytes = b""
    missing: str | None = None
    error: str | None = None
    cut: str | None = None


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO | None]:
    """Open the file of bodies; there is none when no call had one."""
    if not path.is_file():
        yield None
        return
    with path.open("rb") as stream:
        yield stream


def body(bodies: BinaryIO | None, end: Mapping[str, Any], side: str, limit_bytes: int) -> Body:
    """Return the request's or the response's body of a call that ended; of larger ones only that they are."""
    place = end.get(side)
    if place is None:
        # The tap gives no place for an empty body, nor for one that it could not write down.
        return Body(missing="the tap could not keep them" if end.get(f"{side}_bytes") else None)
    if bodies is None:
        return Body(missing=f"{BODIES} is not there")
    bodies.seek(place["offset"])
    frame = bodies.read(place["length"])
    if len(frame) < place["length"]:
        return Body(missing=f"{BODIES} is cut")
    try:
        with zstandard.ZstdDecompressor().stream_reader(frame) as reader:
            data = reader.read(limit_bytes + 1)
    except zstandard.ZstdError as error:
        return Body(missing=f"{BODIES} is damaged ({error})")
    return _too_large(limit_bytes) if len(data) > limit_bytes else Body(data)


def unpacked(packed: Body, encoding: str | None, limit_bytes: int) -> Body:
    """Unpack a body as Go's client does for a server that compresses; one that cannot be is returned as it is."""
    if (encoding or "").lower() != "gzip" or not packed.data:
        return packed
    data, rest, problem = b"", packed.data, None
    while rest and problem is None:
        # Go reads on when another archive follows.
        archive = zlib.decompressobj(_GZIP)
        try:
            data += archive.decompress(rest, limit_bytes + 1 - len(data))
            problem = None if archive.eof else "unexpected EOF"
        except zlib.error as error:
            problem = _in_go(str(error))
        if len(data) > limit_bytes:
            return _too_large(limit_bytes)
        rest = archive.unused_data
    return Body(data, cut=problem) if data else Body(packed.data, error=problem)


def _in_go(error: str) -> str:
    """Return what Go says where zlib says something."""
    if "header" in error:
        return "gzip: invalid header"
    if "check" in error:
        return "gzip: invalid checksum"
    return f"flate: corrupt input ({error.rpartition(': ')[2]})"


def _too_large(limit_bytes: int) -> Body:
    return Body(missing=f"larger than {limit_bytes} bytes")
