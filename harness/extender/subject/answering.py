"""Waits until a started subject answers, and tells what it did instead if it does not."""

import contextlib
import http.client
import ssl
from urllib.parse import urlsplit

import psutil

from harness.clock import SYSTEM, WaitTimeoutError, wait_until
from harness.errors import InputError, VariantError
from harness.extender.subject.parse import PORT_MARK, Subject
from harness.extender.subject.reach import cannot_reach
from harness.process import Child

HOST = "127.0.0.1"
START_SECONDS = 20.0
# A program may open its page of metrics first; after so long on other ports alone it has not understood which to take.
ELSEWHERE_SECONDS = 5.0
LOOK_AFTER_SECONDS = 1.0
HEALTH_SECONDS = 2.0
STATUS_OK = 200
SERVED = ("py", "ref")

Listener = tuple[str, int]


def await_answer(subject: Subject, child: Child, url: str) -> None:
    """Return when the subject accepts connections, or answers its health page with 200 if it has one.

    Raises:
        InputError: what it names is not in the author's Python code, or cannot be used.
        VariantError: it ended, took another port, or was not ready in time; carries the end of its log.
    """
    began = SYSTEM.now()
    elsewhere_since: float | None = None

    def answers() -> bool:
        nonlocal elsewhere_since
        if child.died and subject.kind in SERVED and child.exit_code == InputError.exit_code:
            # Our own server said, in its last line, that it knows no such thing.
            raise InputError(child.tail().splitlines()[-1])
        if child.died:
            raise VariantError(f"{subject.text}: ended before it answered at {url}: {child.describe_end()}")
        if _answers(subject, url):
            return True
        now = SYSTEM.now()
        # Somebody who said how long a start may take is believed.
        if subject.start_seconds is None and now - began > LOOK_AFTER_SECONDS:
            is_elsewhere = _is_elsewhere(_listeners(child), _port(url))
            elsewhere_since = (elsewhere_since or now) if is_elsewhere else None
            if elsewhere_since and now - elsewhere_since > ELSEWHERE_SECONDS:
                raise VariantError(_silence(subject, child, url, now - began))
        return False

    try:
        wait_until(answers, what=f"an answer at {url}", timeout_seconds=subject.start_seconds or START_SECONDS)
    except WaitTimeoutError as error:
        raise VariantError(_silence(subject, child, url, error.waited_seconds)) from None


def _answers(subject: Subject, url: str) -> bool:
    if subject.health is None:
        return cannot_reach(f"http://{HOST}:{_port(url)}", timeout_seconds=HEALTH_SECONDS) is None
    connection = _connection(url)
    try:
        connection.request("GET", subject.health)
        return connection.getresponse().status == STATUS_OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _connection(url: str) -> http.client.HTTPConnection:
    if urlsplit(url).scheme == "http":
        return http.client.HTTPConnection(HOST, _port(url), timeout=HEALTH_SECONDS)
    # Only whether it is up is asked here, of a process of ours; whether its certificate is right shows in a call.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(HOST, _port(url), timeout=HEALTH_SECONDS, context=context)


def _port(url: str) -> int:
    return urlsplit(url).port or 0


def _is_elsewhere(listeners: list[Listener], port: int) -> bool:
    return bool(listeners) and all(seen != port for _, seen in listeners)


def _silence(subject: Subject, child: Child, url: str, waited_seconds: float) -> str:
    """Say what was found instead of an answer: on which ports the subject listens, and what it logged."""
    listeners = _listeners(child)
    port = _port(url)
    places = ", ".join(f"[{host}]:{number}" if ":" in host else f"{host}:{number}" for host, number in listeners)
    if not listeners:
        found = f"it listens on no port yet, {HOST}:{port} expected"
        advice = "give it longer with startSeconds in a subject.yaml if it is only slow, else see its log"
    elif _is_elsewhere(listeners, port):
        found = f"it listens on {places}, {HOST}:{port} expected"
        advice = f"use {PORT_MARK} in its command, or $PORT in its code"
    elif subject.health:
        found = f"it listens on {places}, but GET {subject.health} does not answer {STATUS_OK}"
        advice = "correct health in its subject.yaml, or give it longer with startSeconds"
    else:
        found = f"it listens on {places}, {HOST}:{port} expected"
        advice = f"let it listen on {HOST}"
    return (
        f"{subject.text}: no answer at {url} within {waited_seconds:.1f} s: {found}; {advice}. "
        f"Last lines of its log:\n{child.tail()}"
    )


def _listeners(child: Child) -> list[Listener]:
    """Return where the subject's processes listen, as far as the system tells."""
    found: set[Listener] = set()
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(child.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                sockets = process.net_connections(kind="tcp")
                found |= {(one.laddr.ip, one.laddr.port) for one in sockets if one.status == psutil.CONN_LISTEN}
    return sorted(found)
