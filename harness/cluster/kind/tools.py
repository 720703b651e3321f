"""Finds what kind needs: a container engine that answers, its own program, the image of its nodes."""

import contextlib
import os
import shutil
import socket
from pathlib import Path

from harness import cache, progress, toolchain
from harness.cluster.base import KindSpec
from harness.errors import BuildError, ClusterError, CommandError, InputError, MissingToolError
from harness.paths import cache_folder
from harness.process import run
from harness.record.pulling import PullTrouble

VERSION = "v0.33.0"
MODULE = f"sigs.k8s.io/kind@{VERSION}"
NEEDS_GO = "1.25"
IMAGE_VARIABLE = "KIND_NODE_IMAGE"
# Who refuses says so at once; who is busy is given time.
CONNECT_SECONDS = 30
NEXT_MOVE = 'start Docker, or run on the embedded cluster ("--cluster embedded"), which needs none'


def docker(*arguments: str) -> str:
    """Run a docker command and return what it printed.

    Raises:
        CommandError: it failed.
    """
    return run(["docker", *arguments])


def unavailable() -> str | None:
    """Say why kind cannot be used here, None if it can."""
    if shutil.which("docker") is None:
        return f"docker is not installed; {NEXT_MOVE}"
    try:
        docker("version", "--format", "{{.Server.Version}}")
    except CommandError as error:
        said = error.output.strip().splitlines()
        return f"docker does not answer: {said[-1] if said else error}; {NEXT_MOVE}"
    return None


def engine_version() -> str:
    """Return the version of the container engine.

    Raises:
        MissingToolError: there is none.
    """
    if why := unavailable():
        raise MissingToolError(f"cluster kind: {why}")
    return docker("version", "--format", "{{.Server.Version}}").strip()


def is_local() -> bool:
    """Tell whether it is certain that the container engine is one of this machine."""
    try:
        where = os.environ.get("DOCKER_HOST") or docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    except CommandError:
        return False
    return where.strip().startswith("unix://")


def kind_program(spec: KindSpec) -> Path:
    """Return kind's program: the one that was named, that on PATH, else one built from its module.

    pytest-kind would download an old release that cannot start today's node images.

    Raises:
        InputError: the one that was named is not there.
        BuildError, MissingToolError: it cannot be built.
    """
    if spec.program is not None:
        if not (spec.program.is_file() and os.access(spec.program, os.X_OK)):
            raise InputError(f"--kind-bin {spec.program}: no program that may be executed")
        return spec.program.resolve()
    if found := shutil.which("kind"):
        return Path(found).resolve()
    folder = cache_folder() / "kind" / VERSION
    return cache.kept(folder, _build, what="kind") / "kind"


def _build(draft: Path) -> None:
    go = toolchain.find(NEEDS_GO)
    try:
        with progress.bar(f"Building kind {VERSION}") as shown:
            environment = {**go.environment(), "GOBIN": str(draft), "GOFLAGS": ""}
            run([str(go.program), "install", "-v", MODULE], env=environment, on_line=shown.advance)
    except CommandError as error:
        raise BuildError(
            f"building kind {VERSION} with Go {go.version} failed: {error.output.strip()}\n"
            "Install kind yourself and name it with --kind-bin, or run again when Go's module proxy is reachable."
        ) from error


def node_image(spec: KindSpec) -> str | None:
    """Return the image of the nodes; None leaves the choice to kind, which then has to pull its own."""
    return spec.image or os.environ.get(IMAGE_VARIABLE) or None


def missing(image: PullTrouble, last: str) -> str:
    """Say which image this machine's container engine does not have, from where, why, and the ways out."""
    host, path = image.registry, image.image.rpartition(f"{image.registry}/")[2]
    ways = (
        f"preload it: docker pull {image.image} or docker load --input FILE, of what docker save wrote elsewhere",
        f"a mirror of {host}: docker pull MIRROR/{path}, then docker tag it {image.image}",
        last,
    )
    return f"{image.what()}. Ways out: {'; '.join(ways)}"


def own_address() -> str:
    """Return the address of this machine in the network that kind puts its nodes into.

    Raises:
        ClusterError: this machine has none there.
    """
    template = "{{range .IPAM.Config}}{{.Gateway}} {{end}}"
    found = docker("network", "inspect", "kind", "--format", template).split()
    # The short ones first: whoever writes such an address into a URL may forget the brackets.
    addresses = sorted(found, key=lambda address: ":" in address)
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as probe, contextlib.suppress(OSError):
            probe.bind((address, 0))
            return address
    raise ClusterError(
        f"docker's network kind has the gateway {', '.join(addresses) or 'none'}, which is no address of this machine, "
        "so its nodes cannot call an extender here (an engine in a virtual machine?); bring the extender as an image "
        "(image:NAME) with --no-tap, or run on the embedded cluster"
    )


def address_of(container: str) -> str:
    """Return the address of a container in kind's network."""
    return docker("inspect", "--format", "{{.NetworkSettings.Networks.kind.IPAddress}}", container).strip()


def cannot_connect(container: str, address: str, port: int) -> str | None:
    """Say why a container cannot connect to an address, None if it can."""
    try:
        docker("exec", container, "timeout", str(CONNECT_SECONDS), "bash", "-c", f"exec 3<>/dev/tcp/{address}/{port}")
    except CommandError as error:
        said = error.output.strip().splitlines()
        return said[-1] if said else f"no answer within {CONNECT_SECONDS} s (exit code {error.command_exit_code})"
    return None
