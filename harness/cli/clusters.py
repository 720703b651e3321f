"""`harness up`, `down`, `list` and `clean`: clusters to explore by hand, and what is left of those that crashed."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click
import psutil

from harness import ports, process, temporary
from harness.cli.options import ClusterChoice, cluster_options, json_option
from harness.clock import WaitTimeoutError, wait_until
from harness.cluster import abandoned
from harness.cluster.folder import ClusterFolder, folders
from harness.cluster.registry import provider as make_provider
from harness.errors import ClusterError, InputError
from harness.extender.spool import recover_all
from harness.paths import runs_folder, state_folder
from harness.report.text import table

STOP_TIMEOUT_SECONDS = 15.0


@click.command()
@click.option("--name", help="Name of the cluster; a random one unless told.")
@click.option("--nodes", type=click.IntRange(0, 10_000), default=3, show_default=True, help="How many nodes to play.")
@click.option("--variant", default="default", show_default=True, help="Scheduler variant to install.")
@cluster_options
@json_option
def up(
    name: str | None,
    nodes: int,
    variant: str,
    choice: ClusterChoice,
    as_json: bool,
) -> int:
    """Bring up a cluster that stays until "harness down", and print its kubeconfig.

    \b
    Examples:
      harness up --nodes 5
      export KUBECONFIG=$(harness up --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["kubeconfig"])')
    """
    # Here and not in the background: a first build takes minutes, and its progress is for whoever waits.
    make_provider(choice.provider).prepare(choice.spec)
    named = ["--name", name] if name else []
    arguments = ["--nodes", str(nodes), "--variant", variant, *named, *choice.arguments()]
    log = state_folder() / "keep.log"
    facts = _start_keeper([sys.executable, "-m", "harness.cli.main", "keep", *arguments], log)
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        print(f"cluster {facts['name']} is up: Kubernetes {facts['versions']['kubernetes']}, {nodes} nodes")
        print(f"export KUBECONFIG={facts['kubeconfig']}")
        print(f'"harness down {facts["name"]}" ends it')
    return 0


def _start_keeper(command: list[str], log: Path) -> dict[str, Any]:
    """Start the process that owns the cluster, and read the one line it prints when it is ready."""
    pid, output = process.detach(command, log=log)
    try:
        with output:
            line = output.readline()
    except BaseException:
        os.kill(pid, signal.SIGTERM)
        raise
    facts: dict[str, Any] = json.loads(line) if line else {"error": process.tail(log), "exit_code": 3}
    if "error" in facts:
        error = InputError if facts["exit_code"] == InputError.exit_code else ClusterError
        raise error(str(facts["error"]).removeprefix("error: "))
    return facts


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="End every cluster of yours.")
def down(names: tuple[str, ...], every: bool) -> int:
    """End clusters that "harness up" brought up; the only one there is unless named.

    \b
    Examples:
      harness down
      harness down c1f2e3
      harness down --all
    """
    kept = {folder.name: folder for folder in folders() if folder.facts().get("kept")}
    if not names and not every and len(kept) > 1:
        raise InputError(f"{len(kept)} clusters are up: {', '.join(kept)}; name one, or give --all")
    for name in names or tuple(kept):
        if name not in kept:
            known = ", ".join(kept) or "none"
            raise InputError(f'no cluster "{name}" is up; up are: {known}')
        _end(kept[name])
        print(f"cluster {name} is down")
    if not names and not kept:
        print("no cluster is up")
    return 0


@click.command("list")
@json_option
def list_clusters(as_json: bool) -> int:
    """List clusters, what they use, and where their kubeconfig is.

    \b
    Example:
      harness list --json
    """
    found = [_describe(folder) for folder in folders()]
    if as_json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("no cluster is up")
    else:
        headers = ["name", "state", "kubernetes", "processes", "memory MiB", "kubeconfig"]
        print(table([[cluster[header.replace(" ", "_").lower()] for header in headers] for cluster in found], headers))
    return 0


@click.command()
def clean() -> int:
    """Remove what crashed runs left behind, and put what their taps saw into their records.

    Clusters whose owner lives are not touched, nor are records of runs that go on. Kind clusters are found by their
    containers too; those that may still be needed are listed, with the command that deletes them.

    \b
    Example:
      harness clean
    """
    said: list[str] = []
    recover_all(runs_folder(), said.append)
    removed = abandoned.remove(said.append)
    if removed:
        said.append(f"removed what was left of {', '.join(removed)}")
    doubts: list[str] = []
    abandoned.sweep(said.append, doubts.append)
    if names := temporary.remove_abandoned():
        said.append(f"removed temporary folders of killed commands: {', '.join(names)}")
    ports.remove_abandoned()
    print("\n".join([*said, *doubts]) or "nothing was left behind")
    return 0


def _end(folder: ClusterFolder) -> None:
    owner = folder.facts()["owner"]
    if folder.is_owned():
        os.kill(owner, signal.SIGTERM)
    try:
        wait_until(lambda: not folder.is_owned(), what="it ended", timeout_seconds=STOP_TIMEOUT_SECONDS)
    except WaitTimeoutError:
        # Its children notice that it is gone and follow.
        os.kill(owner, signal.SIGKILL)
        wait_until(lambda: not folder.is_owned(), what="it was killed", timeout_seconds=STOP_TIMEOUT_SECONDS)
    abandoned.remove(print)


def _describe(folder: ClusterFolder) -> dict[str, Any]:
    facts = folder.facts()
    owned = folder.is_owned()
    children = _children(facts.get("owner")) if owned else []
    memory = sum(child.memory_info().rss for child in children)
    return {
        "name": folder.name,
        "state": "left behind" if not owned else ("up" if facts.get("kept") else "in use") if facts else "starting",
        "kubernetes": facts.get("versions", {}).get("kubernetes", "-"),
        "processes": len(children),
        "memory_mib": round(memory / 2**20),
        "kubeconfig": facts.get("kubeconfig", "-"),
        "start_seconds": facts.get("start_seconds"),
        "owner": facts.get("owner"),
    }


def _children(owner: int | None) -> list[psutil.Process]:
    if owner is None:
        return []
    try:
        return psutil.Process(owner).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
