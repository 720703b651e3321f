"""Compares what the probes of a scheduler's container ask with what its arguments make it serve. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.variant.manifest_shape import PROBES

SECURE_PORT = 10259
PATHS = ("/healthz", "/livez", "/readyz")
_FLAG = "--secure-port"


def misdirected(container: Mapping[str, Any], words: Sequence[str]) -> Iterator[str]:
    """Yield, in words, each probe that would never be answered; a kubelet ends a container over it, or never uses it.

    Args:
        container: the scheduler's container, as its manifest has it.
        words: its command and arguments.
    """
    port = _served(words)
    serves = f"HTTPS on port {port} at {', '.join(PATHS)}" if port != "0" else f"nothing ({_FLAG}=0)"
    for name in PROBES:
        probe = container.get(name) or {}
        asked = _asked(probe, container)
        if asked is not None and not _is_served(probe, asked, port):
            yield f"{name} asks {_told(probe, asked)}, but kube-scheduler with these arguments serves {serves}"


def _served(words: Sequence[str]) -> str:
    """Return the port that the arguments name; the last one counts."""
    found = str(SECURE_PORT)
    for place, word in enumerate(words):
        if word.startswith(f"{_FLAG}="):
            found = word.partition("=")[2]
        elif word == _FLAG and place + 1 < len(words):
            found = words[place + 1]
    return found


def _asked(probe: Mapping[str, Any], container: Mapping[str, Any]) -> str | None:
    """Return the port that a probe asks, as a number if its name is known; None if it asks none."""
    handler = probe.get("httpGet") or probe.get("tcpSocket")
    if not handler:
        return None
    ports = {str(one.get("name")): str(one.get("containerPort")) for one in container.get("ports") or ()}
    port = str(handler.get("port"))
    return ports.get(port, port)


def _is_served(probe: Mapping[str, Any], asked: str, port: str) -> bool:
    page = probe.get("httpGet")
    if asked != port or port == "0":
        return False
    return not page or (_scheme(page) == "HTTPS" and _path(page).startswith(PATHS))


def _told(probe: Mapping[str, Any], asked: str) -> str:
    page = probe.get("httpGet")
    named = str((page or probe["tcpSocket"]).get("port"))
    port = asked if named == asked else f"{asked} ({named})"
    return f"{_scheme(page)} on port {port} at {_path(page)}" if page else f"TCP on port {port}"


def _scheme(page: Mapping[str, Any]) -> str:
    return str(page.get("scheme") or "HTTP")


def _path(page: Mapping[str, Any]) -> str:
    return f"/{str(page.get('path') or '').removeprefix('/')}"
