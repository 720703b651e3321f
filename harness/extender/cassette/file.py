"""The cassette: recorded extender traffic in one file, to be looked through and replayed without a cluster.

Lines of JSON under one zstd frame with a long window: the same nodes come again in every request, and cost nearly
nothing the second time. Secrets are taken out before anything is written.
"""

import base64
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
import zstandard

from harness.errors import HarnessError, InputError
from harness.extender.cassette.redact import RULES, mark, redact, redact_bytes
from harness.extender.cassette.shape import check_call, check_header
from harness.record.call import CASSETTE

FORMAT = 1
KIND = "cassette"
CLIENT_KEYS = "private keys of clients"
# 64 MiB reach back over the largest request of kube-scheduler, so that the next one is found to be the same.
_WINDOW_LOG = 26
_LEVEL = 3
# Small, because it may unpack to a thousand times as much.
_CHUNK_BYTES = 1 << 14


@dataclass(frozen=True, slots=True)
class CassetteCall:
    """One call: what kube-scheduler sent and what it got, decoded.

    `raw` has a response that is no plain JSON, byte by byte; `omitted` says why a body is missing. Times are seconds,
    `t` since the start of the run.
    """

    extender: str
    seq: int
    t: float
    kind: str | None
    path: str
    status: int | None = None
    seconds: float | None = None
    pod: str | None = None
    uid: str | None = None
    attempt: int | None = None
    request: Any = None
    response: Any = None
    raw: bytes | None = None
    fault: str | None = None
    ending: str = "answered"
    omitted: str | None = None

    @property
    def body(self) -> bytes:
        """Return the body of the response as kube-scheduler understands it."""
        if self.raw is not None:
            return self.raw
        return b"" if self.status is None else orjson.dumps(self.response)

    def to_json(self) -> dict[str, Any]:
        """Return the call as a line of the file, without secrets."""
        # Not `asdict`, which would copy every body to the last leaf.
        line = {one.name: getattr(self, one.name) for one in fields(self)}
        line["request"] = redact(self.request)[0]
        line["response"] = redact(self.response)[0]
        line["raw"] = None if self.raw is None else base64.b64encode(redact_bytes(self.raw)).decode()
        return line

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> "CassetteCall":
        """Return the call that a line holds; keys of later versions are left out.

        Raises:
            TypeError, ValueError: it holds none.
        """
        check_call(line)
        known = {one.name for one in fields(cls)}
        raw = line.get("raw")
        values = {key: value for key, value in line.items() if key in known}
        return cls(**{**values, "raw": None if raw is None else base64.b64decode(raw, validate=True)})


@dataclass(frozen=True)
class Cassette:
    """A cassette that was opened: its header, and its calls as they are read.

    `warnings` is filled while `calls` is being read: a file that was cut short is only found at its end.
    """

    path: Path
    header: Mapping[str, Any]
    calls: Iterator[CassetteCall]
    warnings: list[str] = field(default_factory=list)

    @property
    def extenders(self) -> tuple[Mapping[str, Any], ...]:
        """Return the extenders that were recorded, each with `name`, `subject` and `entry`."""
        return tuple(self.header.get("extenders") or ())


class CassetteWriter:
    """Writes a cassette, readable by its owner only; it appears under its name when the context ends well.

    The header says `made_by`, `created_at`, `scenario`, `kubernetes` and `extenders`, each of which is a mapping with
    `name`, `subject` and `entry`; what concerns the format is added here.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        self.calls_count = 0
        extenders = [_without_key(one) for one in header.get("extenders") or ()]
        self._header = {
            "format": FORMAT,
            "kind": KIND,
            **header,
            "extenders": extenders,
            "redacted": [*RULES, CLIENT_KEYS],
        }
        self._stack = contextlib.ExitStack()
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        try:
            # Made by mkstemp: nobody else may read it, not even while it is being written.
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._temporary = Path(name)
        parameters = zstandard.ZstdCompressionParameters.from_level(_LEVEL, window_log=_WINDOW_LOG, enable_ldm=True)
        file = self._stack.enter_context(os.fdopen(descriptor, "wb"))
        compressor = zstandard.ZstdCompressor(compression_params=parameters)
        self._stream = self._stack.enter_context(compressor.stream_writer(file, closefd=False))
        self._write(self._header)
        return self

    def append(self, call: CassetteCall) -> None:
        """Write one call, without its secrets.

        Raises:
            HarnessError: it could not be written.
        """
        self._write(call.to_json())
        self.calls_count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is None:
            return
        try:
            self._stack.close()
            if error is None:
                temporary.replace(self.path)
        except OSError as trouble:
            raise _unwritable(self.path, trouble) from trouble
        finally:
            temporary.unlink(missing_ok=True)

    def _write(self, line: Mapping[str, Any]) -> None:
        data = orjson.dumps(line, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)
        try:
            self._stream.write(data)
        except OSError as error:
            raise _unwritable(self.path, error) from error


def read(path: Path) -> Cassette:
    """Open a cassette: a file, or the folder of a record that has one.

    Raises:
        InputError: there is none, it is no cassette, or it is of a newer format.
    """
    file = path / CASSETTE if path.is_dir() else path
    warnings: list[str] = []
    lines = _lines(file, warnings)
    first = next(lines, None)
    if first is None or first.get("kind") != KIND:
        raise InputError(f"{file}: this is no cassette; give a {CASSETTE} or the folder of a record that has one")
    version = first.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"{file}:1: format: {version!r} seen, a number from 1 expected; record it again")
    if version > FORMAT:
        raise InputError(
            f"{file}: format {version} seen, at most {FORMAT} known; it was made by {first.get('made_by')}: use that"
        )
    check_header(first, f"{file}:1")
    return Cassette(file, first, _calls(file, lines), warnings)


def transcript(path: Path, pod: str) -> Iterator[CassetteCall]:
    """Yield what was said about one pod, given as `namespace/name`, a name or a UID, in the order of the calls.

    Raises:
        InputError: the cassette cannot be read.
    """
    known = [call for call in read(path).calls if pod in {call.pod, call.uid, (call.pod or "").rpartition("/")[2]}]
    yield from sorted(known, key=lambda call: (call.t, call.seq))


def _calls(file: Path, lines: Iterator[dict[str, Any]]) -> Iterator[CassetteCall]:
    for number, line in enumerate(lines, 2):
        try:
            yield CassetteCall.from_json(line)
        except (TypeError, ValueError) as error:
            raise InputError(f"{file}:{number}: this is no call of a cassette ({error}); record it again") from error


def _lines(file: Path, warnings: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a cassette; what is missing at its end becomes a warning."""
    rest: list[bytes] = []
    count = 0
    for chunk in _chunks(file, warnings):
        *whole, last = chunk.split(b"\n")
        for part in whole:
            count += 1
            yield _line(b"".join([*rest, part]), f"{file}:{count}")
            rest = []
        rest.append(last)
    if any(rest):
        warnings.append(f"{file}: the last line is cut; the {count} lines before it are used")


def _line(data: bytes, where: str) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except ValueError as error:
        raise InputError(f"{where}: this is no line of JSON ({error}); record it again") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: {type(value).__name__} seen, an object expected; record it again")
    return value


def _chunks(file: Path, warnings: list[str]) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << (_WINDOW_LOG + 1)).decompressobj()
    seen = False
    try:
        with file.open("rb") as stream:
            while data := stream.read(_CHUNK_BYTES):
                if chunk := decompressor.decompress(data):
                    seen = True
                    yield chunk
                if decompressor.eof:
                    return
    except FileNotFoundError as error:
        raise InputError(f"{file}: no such file; make one by a run with an extender, then give its record") from error
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    except zstandard.ZstdError as error:
        if not seen:
            raise InputError(f"{file}: this is no cassette ({error}); give a {CASSETTE} or a record") from error
        warnings.append(f"{file}: damaged after what was read ({error}); the rest is missing")
        return
    warnings.append(f"{file}: the file is cut short; calls at its end are missing")


def _without_key(extender: Mapping[str, Any]) -> dict[str, Any]:
    """Return an extender of the header without the private key that its entry may hold."""
    entry = dict(extender.get("entry") or {})
    if (entry.get("tlsConfig") or {}).get("keyData"):
        entry["tlsConfig"] = {**entry["tlsConfig"], "keyData": mark(entry["tlsConfig"]["keyData"])}
    return {**extender, "entry": entry}


def _unwritable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path}: cannot be written: {error.strerror or error}; look at the folder and the disk")
