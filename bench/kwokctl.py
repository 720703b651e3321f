"""kwokctl as a yardstick: the same binaries, brought up by the tool that people would otherwise use."""

import tempfile
from pathlib import Path

from harness import cache, toolchain
from harness.clock import SYSTEM
from harness.cluster.embedded.build import Binaries
from harness.cluster.embedded.releases import release
from harness.paths import cache_folder
from harness.process import run

PARTS = {
    "etcd": "etcd",
    "kube-apiserver": "kube-apiserver",
    "kube-controller-manager": "kube-controller-manager",
    "kube-scheduler": "kube-scheduler",
    "kwok": "kwok-controller",
}


def program() -> Path:
    """Return kwokctl, built from the version of kwok that the control plane has."""
    chosen = release(None)
    go = toolchain.find(chosen.go)

    def build(draft: Path) -> None:
        package = f"sigs.k8s.io/kwok/cmd/kwokctl@v{chosen.kwok}"
        run([str(go.program), "install", package], env={**go.environment(), "GOBIN": str(draft)})

    folder = cache_folder() / "bench" / f"kwokctl-{chosen.kwok}"
    return cache.kept(folder, build, what="kwokctl") / "kwokctl"


def seconds_until_ready(kwokctl: Path, binaries: Binaries) -> float:
    """Return how long `kwokctl create cluster --wait` takes; the cluster is deleted again."""
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "KWOK_WORKDIR": str(Path(folder) / "work")}
        options = [f"--{option}-binary={_wrapper(Path(folder), binaries, part)}" for part, option in PARTS.items()]
        start = SYSTEM.now()
        try:
            run(
                [str(kwokctl), "create", "cluster", "--name=bench", "--runtime=binary", "--wait=60s", *options],
                env=home,
            )
            return SYSTEM.now() - start
        finally:
            run([str(kwokctl), "delete", "cluster", "--name=bench"], env=home)


def _wrapper(folder: Path, binaries: Binaries, part: str) -> Path:
    # A script, because kwokctl copies what it is given: five copies of the binary would be its loss, not ours.
    path = folder / part
    path.write_text(f'#!/bin/sh\nexec "{binaries.program}" {part} "$@"\n')
    path.chmod(0o755)
    return path
