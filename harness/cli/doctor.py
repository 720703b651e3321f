"""`harness doctor` and `harness build`: what this machine has, what is missing, and making it ready ahead of time."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import click

from harness import __version__, toolchain
from harness.cli.options import json_option
from harness.cluster.base import ClusterSpec, KindSpec
from harness.cluster.embedded.build import binaries_for, is_built
from harness.cluster.embedded.releases import releases
from harness.cluster.embedded.seed import seed_for
from harness.cluster.kind import tools as kind
from harness.cluster.registry import CLUSTERS
from harness.errors import MissingToolError
from harness.extender import tap
from harness.paths import cache_folder, runs_folder, state_folder
from harness.report.text import table
from harness.variant.registry import VARIANTS

GIB = 2**30
BUILD_NEEDS_GIB = 4


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Say what is here, what is missing, and which Kubernetes versions can be run.

    Exit code 3 when nothing could be run at all.

    \b
    Example:
      harness doctor
    """
    facts = _examine()
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        print(_text(facts))
    return 0 if facts["ok"] else 3


@click.command()
@click.option("--kubernetes", metavar="VERSION", help="Kubernetes minor, such as 1.36.")
def build(kubernetes: str | None) -> int:
    """Build a control plane and the tap into the cache now, and print the control plane's folder.

    \b
    Examples:
      harness build
      harness build --kubernetes 1.34
    """
    binaries = binaries_for(ClusterSpec(kubernetes=kubernetes))
    seed_for(binaries)
    tap.program()
    print(binaries.folder)
    return 0


def _examine() -> dict[str, Any]:
    known = releases()
    try:
        found = toolchain.find(max((release.go for release in known), key=toolchain.version_key))
        go = {"version": found.version, "origin": found.origin, "program": str(found.program)}
        problem = None
    except MissingToolError as error:
        go, problem = None, str(error)
    versions = [
        {
            "minor": release.minor,
            "kubernetes": release.version,
            "etcd": release.etcd,
            "kwok": release.kwok,
            "needs_go": release.go,
            "built": is_built(release),
            "default": release.default,
        }
        for release in known
    ]
    named = os.environ.get("HARNESS_CONTROLPLANE")
    return {
        "ok": bool(go or named) or any(version["built"] for version in versions),
        "controlplane": f"Kubernetes {binaries_for(ClusterSpec()).kubernetes} in {named}" if named else None,
        "harness": __version__,
        "go": go,
        "problem": problem,
        "kubernetes": versions,
        "clusters": CLUSTERS.names(),
        "kind": _kind(),
        "variants": VARIANTS.names(),
        "cache": {"path": str(cache_folder()), "free_gib": _free_gib(cache_folder())},
        "state": {"path": str(state_folder()), "free_gib": _free_gib(state_folder())},
        "runs": str(runs_folder()),
    }


def _kind() -> dict[str, Any]:
    """Return whether kind can be used here, and with what."""
    if why := kind.unavailable():
        return {"ok": False, "problem": why, "docker": None, "program": None, "image": None}
    found = shutil.which("kind")
    return {
        "ok": True,
        "problem": None,
        "docker": kind.engine_version(),
        "program": found or f"kind {kind.VERSION}, built on first use",
        "image": kind.node_image(KindSpec()),
    }


def _free_gib(path: Path) -> float:
    there = next(folder for folder in (path, *path.resolve().parents) if folder.exists())
    return round(shutil.disk_usage(there).free / GIB, 1)


def _kind_text(found: dict[str, Any]) -> str:
    if not found["ok"]:
        return f"kind        not here: {found['problem']}"
    image = found["image"] or "kind's own image, which it pulls"
    return f"kind        {found['program']}, Docker {found['docker']}, nodes of {image}"


def _text(facts: dict[str, Any]) -> str:
    go = facts["go"]
    lines = [
        f"harness     {facts['harness']}",
        f"Go          {go['version']} ({go['origin']}: {go['program']})"
        if go
        else f"Go          MISSING: {facts['problem']}",
        *([f"prebuilt    {facts['controlplane']} (HARNESS_CONTROLPLANE)"] if facts["controlplane"] else []),
        f"clusters    {', '.join(facts['clusters'])}",
        _kind_text(facts["kind"]),
        f"variants    {', '.join(facts['variants'])}",
    ]
    for name in ("cache", "state"):
        place = facts[name]
        low = f"  LOW: a build needs {BUILD_NEEDS_GIB} GiB" if place["free_gib"] < BUILD_NEEDS_GIB else ""
        lines.append(f"{name:<11} {place['path']} ({place['free_gib']} GiB free){low}")
    rows = [
        [
            f"{version['minor']}{' (default)' if version['default'] else ''}",
            version["kubernetes"],
            version["etcd"],
            version["kwok"],
            version["needs_go"],
            "yes" if version["built"] else "on first use",
        ]
        for version in facts["kubernetes"]
    ]
    lines += ["", table(rows, ["--kubernetes", "Kubernetes", "etcd", "kwok", "needs Go", "built"])]
    return "\n".join(lines)
