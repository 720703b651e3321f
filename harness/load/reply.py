"""Tells whether a reply says that the extender failed; quick, because it is asked of every reply under load."""

import contextlib
import gzip
import zlib

import orjson

_GZIP = b"\x1f\x8b"
_QUIET = (b'""', b"null")


def has_error(parts: list[bytes]) -> bool:
    """Tell whether a reply has a text in `Error`; looked for quickly, and decoded only when it seems so."""
    body = parts[0] if len(parts) == 1 else b"".join(parts)
    if body.startswith(_GZIP):
        with contextlib.suppress(OSError, EOFError, zlib.error):
            body = gzip.decompress(body)
    return any(_seems_to_say(body, name) for name in (b'"Error"', b'"error"')) and _says(body)


def _seems_to_say(body: bytes, name: bytes) -> bool:
    place = body.find(name)
    while place >= 0:
        after = place + len(name)
        value = body[after : after + 16].lstrip(b" \t\r\n:")
        if not value.startswith(_QUIET):
            return True
        place = body.find(name, after)
    return False


def _says(body: bytes) -> bool:
    try:
        reply = orjson.loads(body)
    except ValueError:
        return False
    return isinstance(reply, dict) and any(value for key, value in reply.items() if key.lower() == "error")
