"""The Kubernetes releases that can be built. The Go module files of controlplane/ are the list: one per minor."""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.paths import shipped


@dataclass(frozen=True)
class Release:
    """One Kubernetes release and the module file that pins everything it is built from."""

    version: str
    module_file: Path
    go: str
    kwok: str
    etcd: str
    default: bool

    @property
    def minor(self) -> str:
        """Return "1.36" of "1.36.4"."""
        return self.version.rpartition(".")[0]


def releases() -> list[Release]:
    """Return every supported release, oldest first."""
    source = shipped("controlplane")
    files = [source / "go.mod", *(source / "minors").glob("*.mod")]
    return sorted(
        (_read(path) for path in files), key=lambda release: [int(part) for part in release.version.split(".")]
    )


def release(wanted: str | None) -> Release:
    """Return the release of a minor ("1.36") or exact version; the default one when nothing is asked for.

    Raises:
        InputError: it is not supported; the message lists what is.
    """
    known = releases()
    for candidate in known:
        if candidate.default if wanted is None else wanted.removeprefix("v") in {candidate.minor, candidate.version}:
            return candidate
    supported = ", ".join(f"{candidate.minor} ({candidate.version})" for candidate in known)
    raise InputError(
        f'--kubernetes {wanted}: not supported; choose one of {supported}. "harness doctor" lists them too.'
    )


def nearest(version: str) -> Release:
    """Return the release of the same minor as a cluster's version: patches of a minor fit each other.

    Raises:
        InputError: that minor is not supported; the message lists what is.
    """
    exact = [one for one in releases() if one.version == version.removeprefix("v")]
    return exact[0] if exact else release(".".join(version.removeprefix("v").split(".")[:2]))


def _read(path: Path) -> Release:
    text = path.read_text()

    def version_of(module: str) -> str:
        found = re.search(rf"^\s*(?:require )?{re.escape(module)} v?(\S+)", text, re.MULTILINE)
        return found[1] if found else "unknown"

    return Release(
        version=version_of("k8s.io/kubernetes"),
        module_file=path,
        go=version_of("go"),
        kwok=version_of("sigs.k8s.io/kwok"),
        etcd=version_of("go.etcd.io/etcd/server/v3"),
        default=path.name == "go.mod",
    )
