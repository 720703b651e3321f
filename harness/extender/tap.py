"""The tap: a recording reverse proxy between kube-scheduler and an extender, and how to give it orders.

The program is `tap/` (Go). It relays bytes unchanged, so that neither side can tell that it is there; calls go into
`calls.jsonl` and `bodies.zst` of the folder that it was last told.
"""

import base64
import binascii
import contextlib
import hashlib
import http.client
import json
import os
import socket
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import cache, progress, temporary, toolchain
from harness.certificates import Authority
from harness.clock import WaitTimeoutError, wait_until
from harness.errors import BuildError, CommandError, HarnessError, InputError
from harness.paths import cache_folder, shipped
from harness.ports import reserved
from harness.process import Child, run, spawn, undisturbed

PROGRAM = "tap"
CALLS = "calls.jsonl"
BODIES = "bodies.zst"
FLAGS = ("-trimpath", "-ldflags=-s -w")
START_SECONDS = 60.0
ORDER_SECONDS = 60.0
# The system allows about a hundred characters in the path of a socket.
SOCKET_PATH_CHARACTERS = 100

# tlsConfig's key: (the same as data, the tap's option).
_FILES = {
    "caFile": ("caData", "--upstream-ca"),
    "certFile": ("certData", "--upstream-cert"),
    "keyFile": ("keyData", "--upstream-key"),
}


def program() -> Path:
    """Return the tap's program, built on first use.

    Raises:
        BuildError, MissingToolError: it cannot be built.
    """
    source = shipped("tap")
    digest = hashlib.sha256(repr(FLAGS).encode())
    for path in sorted([*source.glob("*.go"), source / "go.mod", source / "go.sum"]):
        if not path.name.endswith("_test.go"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = cache_folder() / "tap" / digest.hexdigest()[:16]
    return cache.kept(folder, lambda draft: _build(source, draft), what="The tap") / PROGRAM


def _build(source: Path, draft: Path) -> None:
    go = toolchain.find(toolchain.needed_by(source))
    command = [str(go.program), "build", "-v", "-mod=readonly", *FLAGS, "-o", str(draft / PROGRAM), "."]
    try:
        with progress.bar("Building the tap") as shown:
            run(command, cwd=source, env=go.environment(), on_line=shown.advance)
    except CommandError as error:
        raise BuildError(
            f"building the tap with Go {go.version} failed: {error.output.strip()}\n"
            "Go needs its module proxy (GOPROXY) the first time; run again when it is reachable."
        ) from error


@dataclass(frozen=True)
class Upstream:
    """Where the extender is: its URL (a path in it is not the tap's business), and the entry's `tlsConfig`."""

    url: str
    tls: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_https(self) -> bool:
        """Return whether the extender speaks TLS."""
        return urllib.parse.urlsplit(self.url).scheme == "https"

    @property
    def origin(self) -> str:
        """Return scheme, host and port alone.

        Raises:
            InputError: the URL has no host, or a scheme that extenders do not speak.
        """
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"{self.url!r}: an extender's URL begins with http://HOST or https://HOST")
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


class Tap:
    """A running tap."""

    def __init__(self, child: Child, url: str, control: Path, authority: Path | None) -> None:
        self.child = child
        self.url = url
        """What stands in for the extender's scheme, host and port."""
        self.authority = authority
        """The authority that vouches for the tap's certificate, None if it speaks plain HTTP."""
        self._control = control

    @property
    def alive(self) -> bool:
        """Return whether the program still runs."""
        return not self.child.ended.is_set()

    def state(self) -> dict[str, Any]:
        """Return what the tap says of itself.

        `now` (its own seconds), `listening`, `open` (calls in flight), `faults`, `spoilt` (calls, fault by fault),
        `unparsed` (connections that do not speak HTTP/1.x), `upstream_problem` (why the extender is not
        reachable) and `problem` (what spoils recording).
        """
        return self._order("GET", "/state")

    def record_into(self, folder: Path | None) -> float:
        """Write calls that begin from now on into a folder, or nowhere; return the tap's own time of the change."""
        place = None if folder is None else str(folder.resolve())
        return float(self._order("PUT", "/recording", {"folder": place})["now"])

    def set_faults(self, faults: Sequence[Mapping[str, Any]]) -> float:
        """Replace all faults; windows and counters of new ones start now, at the tap's own time that is returned.

        Raises:
            InputError: one of them is not a fault that the tap knows.
        """
        return float(self._order("PUT", "/faults", [dict(fault) for fault in faults])["now"])

    def _order(self, method: str, path: str, order: Any = None) -> dict[str, Any]:
        connection = _UnixConnection(self._control)
        try:
            connection.request(method, path, None if order is None else json.dumps(order))
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except OSError as error:
            how = f"does not answer: {error}" if self.alive else self.child.describe_end()
            raise HarnessError(f"{self.child.name}: {method} {path}: {how}") from error
        finally:
            connection.close()
        if response.status == http.HTTPStatus.BAD_REQUEST:
            raise InputError(f"{self.child.name}: {path[1:]}: {text.strip()}")
        if response.status != http.HTTPStatus.OK:
            raise HarnessError(f"{self.child.name}: {method} {path}: status {response.status}: {text.strip()}")
        answer: dict[str, Any] = json.loads(text)
        return answer


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("tap", timeout=ORDER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


@contextlib.contextmanager
def tapping(name: str, upstream: Upstream, folder: Path, address: str = "127.0.0.1") -> Iterator[Tap]:
    """Run a tap before an extender until the context ends; it listens as soon as the extender does.

    Args:
        name: what messages call it.
        upstream: the extender.
        folder: private place of its log, socket and keys; made if it is not there.
        address: the one address of this machine that it listens at.

    Raises:
        InputError: the URL or the tlsConfig cannot be used.
        HarnessError: it did not start.
    """
    built = program()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = ["--upstream", upstream.origin, *(_tls_options(upstream.tls, folder) if upstream.is_https else ())]
    authority: Path | None = None
    if upstream.is_https:
        own = Authority(_fresh(folder / "tap-tls"))
        identity = own.server("tap", [address])
        options += ["--tls-cert", str(identity.certificate), "--tls-key", str(identity.key)]
        authority = own.certificate
    with contextlib.ExitStack() as stack:
        [port] = stack.enter_context(reserved(1, address))
        control = _socket_path(folder, stack)
        control.unlink(missing_ok=True)
        command = [str(built), "--listen", f"{address}:{port}", "--control", str(control), *options]
        with undisturbed():
            child = spawn(name, command, log=folder / "tap.log")
            stack.callback(child.stop)
        scheme = "https" if upstream.is_https else "http"
        tap = Tap(child, f"{scheme}://{address}:{port}", control, authority)
        _wait_for(tap, control)
        yield tap


def _wait_for(tap: Tap, control: Path) -> None:
    def answers() -> bool:
        if not tap.alive:
            raise HarnessError(tap.child.describe_end())
        try:
            return control.exists() and "now" in tap.state()
        except HarnessError:
            # The socket has its name a moment before it takes connections.
            return False

    try:
        wait_until(answers, what="the tap's control socket", timeout_seconds=START_SECONDS, poll_seconds=0.005)
    except WaitTimeoutError as error:
        raise HarnessError(f"{tap.child.name}: {error}. Last lines of {tap.child.log}:\n{tap.child.tail()}") from error


def _socket_path(folder: Path, stack: contextlib.ExitStack) -> Path:
    path = folder.resolve() / "control.sock"
    if len(str(path)) <= SOCKET_PATH_CHARACTERS:
        return path
    # "t" and not "tap": here every character counts.
    return stack.enter_context(temporary.folder("t")) / "control.sock"


def _fresh(folder: Path) -> Path:
    """Return a name in use by nobody: an authority makes its folder itself."""
    number, candidate = 1, folder
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate


def _tls_options(tls: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Say to the tap what the entry's tlsConfig says to kube-scheduler."""
    for key, (data_key, option) in _FILES.items():
        if tls.get(data_key):
            yield from (option, str(_written(folder / f"upstream-{data_key}.pem", data_key, tls[data_key])))
        elif tls.get(key):
            yield from (option, str(Path(tls[key]).resolve()))
    if tls.get("serverName"):
        yield from ("--upstream-name", str(tls["serverName"]))
    if tls.get("insecure"):
        yield "--upstream-insecure"


def _written(path: Path, key: str, data: str) -> Path:
    try:
        text = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError) as error:
        raise InputError(f"tlsConfig.{key}: base64 expected ({error})") from error
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(text)
    return path


def ended_calls(folder: Path) -> Iterator[str]:
    """Yield the path of every call that a tap has written down as ended."""
    paths: dict[int, str] = {}
    try:
        lines = (folder / CALLS).read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return
    for line in lines:
        if not line.endswith(b"\n"):
            return
        call = json.loads(line)
        if call["event"] == "begin":
            paths[call["seq"]] = call["path"]
        elif call["seq"] in paths:
            yield paths[call["seq"]]
