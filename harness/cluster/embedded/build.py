"""Builds the control plane's binary on first use and keeps it in the user's cache."""

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from harness import progress
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded import toolchain
from harness.cluster.embedded.releases import Release, release
from harness.errors import BuildError, CommandError, InputError
from harness.paths import cache_folder, shipped
from harness.process import run

PROGRAM = "controlplane"
FACTS = "build.json"
# Part of the cache key: raise it when the flags below change what is built.
FLAGS = ("-trimpath", "-gcflags=all=-dwarf=false", "-ldflags")


@dataclass(frozen=True)
class Binaries:
    """A built control plane."""

    folder: Path
    kubernetes: str
    etcd: str
    kwok: str

    @property
    def program(self) -> Path:
        """Return the multi-call binary."""
        return self.folder / PROGRAM

    @property
    def stages(self) -> Path:
        """Return the stages that tell kwok how nodes and pods live."""
        return self.folder / "stages.yaml"


def binaries_for(spec: ClusterSpec) -> Binaries:
    """Return a built control plane: the folder the user named, else from the cache, else built now.

    Raises:
        InputError: the named folder holds none, or the release is not supported.
        BuildError, MissingToolError: it cannot be built.
    """
    named = spec.binaries or os.environ.get("HARNESS_CONTROLPLANE")
    if named:
        return _load(Path(named))
    wanted = release(spec.kubernetes)
    folder = cache_folder() / "controlplane" / f"{wanted.version}-{_fingerprint(wanted)}"
    if not (folder / FACTS).exists():
        _build_once(wanted, folder)
    return _load(folder)


def is_built(wanted: Release) -> bool:
    """Return whether a release is in the cache."""
    return (cache_folder() / "controlplane" / f"{wanted.version}-{_fingerprint(wanted)}" / FACTS).exists()


def _load(folder: Path) -> Binaries:
    try:
        facts = json.loads((folder / FACTS).read_text())
    except OSError:
        raise InputError(
            f"{folder}: no built control plane there ({PROGRAM}, stages.yaml and {FACTS} expected); "
            'name a folder that "harness build" printed, or leave --controlplane-bin and HARNESS_CONTROLPLANE out to build one'
        ) from None
    return Binaries(folder.resolve(), facts["kubernetes"], facts["etcd"], facts["kwok"])


def _fingerprint(wanted: Release) -> str:
    digest = hashlib.sha256(repr(FLAGS).encode())
    files = [*sorted(shipped("controlplane").glob("*.go")), wanted.module_file, wanted.module_file.with_suffix(".sum")]
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _build_once(wanted: Release, folder: Path) -> None:
    """Build unless another process just did; two builders wait for each other."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress.note(f"Kubernetes {wanted.version} is being built by another process; waiting for it.")
        lock.acquire()
    try:
        if not (folder / FACTS).exists():
            _build(wanted, folder)
    finally:
        lock.release()


def _build(wanted: Release, folder: Path) -> None:
    go = toolchain.find(wanted.go)
    progress.note(
        f"Building the Kubernetes {wanted.version} control plane with Go {go.version} ({go.origin}). "
        "Once per version, about 6 minutes on two cores."
    )
    # A draft beside the target: an interrupted build leaves no half binary where a whole one is expected.
    for leftover in folder.parent.glob(f"{folder.name}.draft-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.draft-", dir=folder.parent))
    try:
        _compile(wanted, go, draft / PROGRAM)
        (draft / "stages.yaml").write_text(run([str(draft / PROGRAM), "kwok-stages"]))
        facts = {"kubernetes": wanted.version, "etcd": wanted.etcd, "kwok": wanted.kwok, "go": go.version}
        (draft / FACTS).write_text(json.dumps(facts, indent=2))
        draft.chmod(0o755)
        draft.replace(folder)
    except CommandError as error:
        raise BuildError(
            f"building Kubernetes {wanted.version} failed: {error}\n"
            "Go needs its module proxy (GOPROXY) to be reachable; a build that stopped goes on where it was when run again."
        ) from error
    except OSError as error:
        raise BuildError(
            f"{draft}: {error.strerror}; a build needs about 4 GB of disk. Free some, or set HARNESS_CACHE (and GOCACHE, "
            "GOMODCACHE) to folders with room."
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _compile(wanted: Release, go: toolchain.Toolchain, output: Path) -> None:
    source = shipped("controlplane")
    version = f"v{wanted.version}"
    _, major, minor, *_ = ["", *wanted.version.split(".")]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    linker = " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())])
    # The module file is copied: go may want to touch it, and an installed package is not ours to write to.
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "go.mod"
        shutil.copy(wanted.module_file, module)
        shutil.copy(wanted.module_file.with_suffix(".sum"), module.with_suffix(".sum"))
        environment = go.environment()
        flags = [f"-modfile={module}", *FLAGS[:-1]]
        with progress.bar("Fetching Go modules") as advance:
            packages = run(
                [str(go.program), "list", f"-modfile={module}", "-deps", "."],
                cwd=source,
                env=environment,
                on_line=advance,
            )
        with progress.bar("Compiling packages", packages.count("\n")) as advance:
            run(
                [str(go.program), "build", "-v", *flags, FLAGS[-1], linker, "-o", str(output), "."],
                cwd=source,
                env=environment,
                on_line=advance,
            )
