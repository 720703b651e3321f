"""Compiled modules for an image: files there all have the same time, so that Python could not tell old from new."""

import importlib.util
import marshal
from pathlib import Path

_HEADER_BYTES = 16
_BY_TIME, _UNCHECKED = b"\0\0\0\0", b"\1\0\0\0"


def compiled(source: Path) -> tuple[str, bytes]:
    """Return the name, beside the source, and the content of a compiled module that is taken without a check.

    What Python keeps beside the source is used when it is of that source, for compiling takes most of the time.
    """
    text = source.read_bytes()
    kept = Path(importlib.util.cache_from_source(str(source)))
    code = _kept_code(source, kept)
    if code is None:
        code = marshal.dumps(compile(text, str(source), "exec", dont_inherit=True))
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(text)
    return f"__pycache__/{kept.name}", head + code


def _kept_code(source: Path, kept: Path) -> bytes | None:
    try:
        data, status = kept.read_bytes(), source.stat()
    except OSError:
        return None
    made_of = b"".join(number.to_bytes(8, "little")[:4] for number in (int(status.st_mtime), status.st_size))
    fits = data[:_HEADER_BYTES] == importlib.util.MAGIC_NUMBER + _BY_TIME + made_of
    return data[_HEADER_BYTES:] if fits else None
