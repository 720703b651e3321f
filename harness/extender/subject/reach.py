"""Tells why a server cannot be reached, in words that name the likely cause."""

import socket
import ssl
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


def cannot_reach(url: str, *, timeout_seconds: float) -> str | None:
    """Return why no connection to a server can be made, None if it accepts one."""
    try:
        with socket.create_connection((host_of(url), port_of(url)), timeout=timeout_seconds) as connection:
            # Where nobody listens, the kernel may connect a socket with itself.
            if connection.getsockname() == connection.getpeername():
                raise ConnectionRefusedError
            return None
    except (OSError, ValueError) as error:
        return cause_of(error, url, timeout_seconds)


def host_of(url: str) -> str:
    """Return the host of a URL.

    Raises:
        ValueError: kube-scheduler could not call it either; in its words.
    """
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError(f'unsupported protocol scheme "{parts.scheme}"; write http:// or https:// before the host')
    if not parts.hostname:
        raise ValueError("no host in the URL; write http://HOST:PORT")
    return parts.hostname


def port_of(url: str) -> int:
    """Return the port that a URL leads to.

    Raises:
        ValueError: what stands there is no port.
    """
    parts = urlsplit(url)
    return parts.port or DEFAULT_PORTS[parts.scheme]


def cause_of(error: BaseException, url: str, timeout_seconds: float) -> str:
    """Return what an error of the network most likely means, and what to do."""
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return str(error)
    host = urlsplit(url).hostname
    place = f"{host}:{port_of(url)}"
    match error:
        case ConnectionRefusedError():
            return f"connection refused: nothing listens on {place}; start the extender, or correct the port"
        case socket.gaierror():
            return f"DNS: the name {host!r} cannot be resolved ({error.strerror}); correct it, or use an address"
        case ssl.SSLCertVerificationError():
            return f"TLS: the certificate of {place} is not accepted: {error.verify_message}; set tlsConfig.caData"
        case ssl.SSLError():
            plain = "WRONG_VERSION_NUMBER" in str(error)
            hint = (
                "the server speaks plain HTTP; write http://" if plain else "compare tlsConfig with the server's set-up"
            )
            return f"TLS: the handshake with {place} failed ({error.reason}); {hint}"
        case TimeoutError():
            return f"timeout: {place} did not answer within {timeout_seconds:g} s; is it behind a firewall, or busy?"
        case ConnectionResetError() | BrokenPipeError():
            return f"connection reset: {place} accepted and hung up; does it expect https?"
        case OSError():
            return f"{place}: {error.strerror or error}"
        case _:
            return f"{place}: {error or type(error).__name__}"
