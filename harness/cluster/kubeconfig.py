"""Writes kubeconfig files: one user, one cluster, verified by its authority."""

import json
import os
from pathlib import Path
from typing import Any

import yaml


def write(path: Path, *, server: str, authority: Path, certificate: Path, key: Path) -> Path:
    """Write a kubeconfig that only its owner can read; certificates are named by path, so no secret is copied."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "harness",
        "contexts": [{"name": "harness", "context": {"cluster": "harness", "user": "harness"}}],
        "clusters": [{"name": "harness", "cluster": {"server": server, "certificate-authority": str(authority)}}],
        "users": [{"name": "harness", "user": {"client-certificate": str(certificate), "client-key": str(key)}}],
    }
    return save(path, document)


def with_token(source: Path, path: Path, token: str) -> Path:
    """Write a kubeconfig for the same cluster as another one, for whoever the token belongs to."""
    __tracebackhide__ = True  # pytest shows what a function was given, and here that is somebody's key
    document = yaml.safe_load(source.read_text(encoding="utf-8"))
    document["users"] = [{"name": user["name"], "user": {"token": token}} for user in document["users"]]
    return save(path, document)


def save(path: Path, document: dict[str, Any]) -> Path:
    """Write a whole kubeconfig that only its owner can read."""
    __tracebackhide__ = True  # see above
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # A file that was there already keeps its mode unless told.
    os.fchmod(descriptor, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        json.dump(document, stream, indent=2)
    return path
