"""TLS with an extender as kube-scheduler sets it up."""

import base64
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.extender.entry import Entry
from harness.extender.subject.reach import host_of


@dataclass(frozen=True)
class Tls:
    """How the other side is spoken to, and by which name its certificate has to know it."""

    context: ssl.SSLContext
    name: str


def tls_of(url: str, entry: Entry) -> Tls | None:
    """Return what kube-scheduler would demand of an extender; None where it speaks plain HTTP.

    Raises:
        OSError, ValueError: a certificate or key of the entry cannot be read.
    """
    if urlsplit(url).scheme != "https":
        return None
    return Tls(_context(entry), str(entry.tls.get("serverName") or host_of(url)))


def demanded_tls(who: str, url: str, entry: Entry) -> Tls | None:
    """Return the same for whoever a user named.

    Raises:
        InputError: a certificate or key of the entry cannot be read.
    """
    try:
        return tls_of(url, entry)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{who}: tlsConfig of its entry cannot be used ({error}); "
            "caFile, certFile and keyFile have to be files of PEM, caData, certData and keyData base64 of PEM"
        ) from None


def _context(entry: Entry) -> ssl.SSLContext:
    """Return TLS as kube-scheduler sets it up: with `enableHTTPS` and no CA it verifies nothing."""
    tls = entry.tls
    authority = _data(tls, "caData")
    context = ssl.create_default_context(
        cafile=None if authority else tls.get("caFile") or None, cadata=authority.decode() if authority else None
    )
    context.set_alpn_protocols(["http/1.1"])
    has_authority = bool(authority or tls.get("caFile"))
    if tls.get("insecure") or (entry.enable_https and not has_authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = (_file(tls, kind, Path(folder)) for kind in ("cert", "key"))
        if certificate and key:
            context.load_cert_chain(certificate, key)
    return context


def _data(tls: Mapping[str, Any], key: str) -> bytes | None:
    return base64.b64decode(tls[key]) if tls.get(key) else None


def _file(tls: Mapping[str, Any], kind: str, folder: Path) -> str | None:
    """Return the file of a certificate or key; Python reads them from nowhere else."""
    data = _data(tls, f"{kind}Data")
    if data is None:
        return tls.get(f"{kind}File") or None
    path = folder / kind
    path.touch(mode=0o600)
    path.write_bytes(data)
    return str(path)
