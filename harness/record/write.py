"""Writes a record while the run goes on, so that a crash loses nothing seen so far.

Every appended line reaches the operating system before `append` returns, and files that are written whole appear
under their name only when complete. Nothing written is ever changed except `run.json`, whose provisional form makes
a run that crashed recognisable.
"""

import contextlib
import errno
import os
import re
import secrets
import tempfile
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from harness.errors import HarnessError
from harness.record.model import FORMAT

_STREAM = re.compile(r"[a-z][a-z0-9-]*")
_PART_CHARACTERS_MAX = 60
_NEXT_MOVES = {
    errno.ENOSPC: "free some space or put the records elsewhere, then run again",
    errno.EDQUOT: "the quota is used up: free some space or put the records elsewhere, then run again",
    errno.EROFS: "the file system is read-only: put the records elsewhere",
    errno.EACCES: "put the records into a folder you may write to",
    errno.EEXIST: "take another run id, or remove the old record",
}


def new_id(scenario: str, size: str, variant: str, now: datetime) -> str:
    """Return a run id that sorts by time and says what ran, such as `20261116-053610-twenty-pause-lab-default-3f2a`."""
    parts = [
        re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:_PART_CHARACTERS_MAX] for part in (scenario, size, variant)
    ]
    return "-".join([now.strftime("%Y%m%d-%H%M%S"), *(part for part in parts if part), secrets.token_hex(2)])


class RecordWriter:
    """Writes one record; every method may be called from any thread.

    The owner calls `finish` once all observers have stopped. A writer left without `finish` leaves a readable record
    whose status is `running`.
    """

    def __init__(self, path: Path, meta: Mapping[str, Any]) -> None:
        self.path = path
        self._meta = dict(meta)
        self._lock = threading.Lock()
        self._streams: dict[str, BinaryIO] = {}
        self._closed = False

    @classmethod
    def create(cls, root: Path, run_id: str, meta: Mapping[str, Any]) -> Self:
        """Make the record's folder, readable by its owner only, with a provisional `run.json`.

        Raises:
            HarnessError: the folder exists already or cannot be made.
        """
        path = root / run_id
        try:
            root.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700)
        except OSError as error:
            raise _trouble(path, error) from error
        writer = cls(path, {"status": "running", "error": None, **meta, "format": FORMAT, "id": run_id})
        writer.write_json("run.json", writer._meta)
        return writer

    def append(self, stream: str, line: Mapping[str, Any]) -> None:
        """Append one line to `<stream>.jsonl`; it is out of this process when the call returns.

        Raises:
            HarnessError: the line could not be written, or the record is finished.
        """
        data = orjson.dumps(line, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)
        file = self.path / f"{stream}.jsonl"
        with self._lock:
            if self._closed:
                raise HarnessError(f"{file}: a line came after the record was finished; stop the observers first")
            try:
                handle = self._streams.get(stream) or self._open(stream, file)
                _write_all(handle, data)
            except OSError as error:
                raise _trouble(file, error) from error

    def write_text(self, name: str, text: str) -> Path:
        """Write a whole file atomically; `name` may have folders, which are made.

        Raises:
            HarnessError: it could not be written, or `name` leads out of the record.
        """
        return self._replace(name, text.encode())

    def write_json(self, name: str, value: Any) -> Path:
        """Write a whole JSON file atomically, in the order given and indented for people.

        Raises:
            HarnessError: it could not be written, or `name` leads out of the record.
        """
        options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
        return self._replace(name, orjson.dumps(value, option=options))

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the final `run.json`, what `meta` says over what `create` was given, and close the streams.

        Raises:
            HarnessError: it could not be written.
        """
        self.close()
        self._meta = {**self._meta, **meta, "format": FORMAT, "id": self.path.name}
        self.write_json("run.json", self._meta)

    def close(self) -> None:
        """Close the streams without judging how the run ended. Harmless when called twice."""
        with self._lock:
            self._closed = True
            while self._streams:
                _, handle = self._streams.popitem()
                handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, stream: str, file: Path) -> BinaryIO:
        if not _STREAM.fullmatch(stream):
            raise HarnessError(f"{file}: {stream!r} is no name for a stream; use lower-case letters, digits and dashes")
        # Unbuffered: what was seen must survive the death of this process.
        handle: BinaryIO = file.open("ab", buffering=0)
        self._streams[stream] = handle
        return handle

    def _replace(self, name: str, data: bytes) -> Path:
        target = self.path / name
        if not target.resolve().is_relative_to(self.path.resolve()):
            raise HarnessError(f"{self.path}: {name!r} leads out of the record; give a name inside it")
        temporary: str | None = None
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(data)
            Path(temporary).replace(target)
        except OSError as error:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)
            raise _trouble(target, error) from error
        return target


def save_verdicts(path: Path, verdicts: Sequence[Mapping[str, Any]]) -> None:
    """Put verdicts beside the record they judge; judging again replaces them."""
    RecordWriter(path, {}).write_json("verdicts.json", list(verdicts))


def _write_all(handle: BinaryIO, data: bytes) -> None:
    """Write every byte or none: a nearly full disk takes a part, and half a line would spoil the lines after it."""
    start = handle.tell()
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[handle.write(rest) :]
    except OSError:
        with contextlib.suppress(OSError):
            handle.truncate(start)
        raise


def _trouble(path: Path, error: OSError) -> HarnessError:
    move = _NEXT_MOVES.get(error.errno or 0, "look at the folder and the disk, then run again")
    return HarnessError(f"{path}: cannot be written: {error.strerror or error}; {move}")
