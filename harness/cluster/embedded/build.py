"""Builds the control plane's binary on first use and keeps it in the user's cache."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness import cache, progress, temporary, toolchain
from harness.cluster.base import ClusterSpec
from harness.cluster.embedded.releases import Release, release
from harness.errors import SHOWN_LINES, BuildError, CommandError, InputError
from harness.paths import cache_folder, shipped
from harness.process import run

PROGRAM = "controlplane"
STAGES = "stages.yaml"
FACTS = "build.json"
# Without debug information the build takes half the time, and nobody debugs Kubernetes from here.
FLAGS = ("-trimpath", "-gcflags=all=-dwarf=false")
LINKER_FLAGS = "-s -w"


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
        return self.folder / STAGES


def binaries_for(spec: ClusterSpec) -> Binaries:
    """Return a built control plane: the folder the user named, else from the cache, else built now.

    Raises:
        InputError: the named folder holds none, or the release is not supported.
        BuildError, MissingToolError: it cannot be built.
    """
    named = spec.binaries or os.environ.get("HARNESS_CONTROLPLANE")
    wanted = release(spec.kubernetes)
    if named:
        binaries = _load(Path(named))
        if spec.kubernetes and not binaries.kubernetes.startswith(f"{wanted.minor}."):
            holds = f"{named} holds Kubernetes {binaries.kubernetes}"
            raise InputError(f"--kubernetes {spec.kubernetes}: {holds}; name only one of the two")
        return binaries
    what = f"The Kubernetes {wanted.version} control plane"
    return _load(cache.kept(_folder(wanted), lambda draft: _build(wanted, draft), what=what))


def is_built(wanted: Release) -> bool:
    """Return whether a release is in the cache."""
    return _folder(wanted).exists()


def _load(folder: Path) -> Binaries:
    try:
        facts = json.loads((folder / FACTS).read_text())
        binaries = Binaries(folder.resolve(), facts["kubernetes"], facts["etcd"], facts["kwok"])
        whole = binaries.program.is_file() and binaries.stages.is_file()
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise InputError(
            f"{folder}: no built control plane there ({PROGRAM}, {STAGES} and {FACTS} expected); name a folder that "
            '"harness build" printed, or leave --controlplane-bin and HARNESS_CONTROLPLANE out to build one'
        )
    return binaries


def _folder(wanted: Release) -> Path:
    digest = hashlib.sha256(repr((FLAGS, LINKER_FLAGS)).encode())
    source = sorted(shipped("controlplane").glob("*.go"))
    for path in [*source, wanted.module_file, wanted.module_file.with_suffix(".sum")]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return cache_folder() / "controlplane" / f"{wanted.version}-{digest.hexdigest()[:12]}"


def _build(wanted: Release, draft: Path) -> None:
    go = toolchain.find(wanted.go)
    progress.note(
        f"Building the Kubernetes {wanted.version} control plane with Go {go.version} ({go.origin}). "
        "Once per version, about 6 minutes on two cores."
    )
    try:
        _compile(wanted, go, draft / PROGRAM)
        (draft / STAGES).write_text(run([str(draft / PROGRAM), "kwok-stages"]))
        facts = {"kubernetes": wanted.version, "etcd": wanted.etcd, "kwok": wanted.kwok, "go": go.version}
        (draft / FACTS).write_text(json.dumps(facts, indent=2))
    except CommandError as error:
        raise BuildError(
            f"building Kubernetes {wanted.version} failed: {_complaints(error.output)}\n"
            "Go needs its module proxy (GOPROXY) and about 4 GB of disk (GOCACHE, GOMODCACHE); "
            "run again, and the build goes on where it stopped."
        ) from error
    except OSError as error:
        raise BuildError(
            f"{draft}: {error.strerror}; a build needs about 4 GB of disk. "
            "Free some, or set HARNESS_CACHE, GOCACHE and GOMODCACHE to folders with room."
        ) from error


def _complaints(output: str) -> str:
    """Return what go said without the packages it listed on the way, which are single words."""
    return "\n".join([line for line in output.splitlines() if " " in line][-SHOWN_LINES:])


def _compile(wanted: Release, go: toolchain.Toolchain, output: Path) -> None:
    major, minor, _ = wanted.version.split(".")
    stamps = {"gitVersion": f"v{wanted.version}", "gitMajor": major, "gitMinor": minor}
    linker = [LINKER_FLAGS, *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())]
    source = shipped("controlplane")
    # Copied: go may want to touch the module file, and an installed package is not ours to write to.
    with temporary.folder("build") as folder:
        module = folder / "go.mod"
        shutil.copy(wanted.module_file, module)
        shutil.copy(wanted.module_file.with_suffix(".sum"), module.with_suffix(".sum"))

        def run_go(*arguments: str, title: str, total: int | None = None) -> str:
            with progress.bar(title, total) as shown:
                return run([str(go.program), *arguments, "."], cwd=source, env=go.environment(), on_line=shown.advance)

        packages = run_go("list", f"-modfile={module}", "-deps", title="Fetching Go modules")
        run_go(
            *("build", "-v", f"-modfile={module}", *FLAGS, "-ldflags", " ".join(linker), "-o", str(output)),
            title="Compiling packages",
            total=packages.count("\n"),
        )
