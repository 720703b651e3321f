"""Reads text files that a user names, with the same words for all that can be wrong with them."""

from pathlib import Path

from harness.errors import InputError

TEXT_BYTES_MAX = 4_000_000


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        InputError: it cannot be read, is too large, or is no text; says which.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(TEXT_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > TEXT_BYTES_MAX:
        raise InputError(f"{path}: cannot be read: larger than {TEXT_BYTES_MAX} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: cannot be read: byte {raw[error.start]:#04x} is not UTF-8") from None
