"""`harness keep`: the process behind `harness up`. It owns a cluster until it is told to end."""

import json
import os
import signal
import sys
from dataclasses import replace
from typing import Any

import click

from harness.cli.options import ClusterChoice, cluster_options
from harness.cluster.base import PlaysNodes
from harness.cluster.folder import folder_of
from harness.errors import HarnessError
from harness.paths import runs_folder
from harness.run.session import Session
from harness.scenario.nodes import NodeGroup


@click.command(hidden=True)
@click.option("--name")
@click.option("--nodes", type=int, default=0)
@click.option("--variant", default="default")
@cluster_options
def keep(
    name: str | None,
    nodes: int,
    variant: str,
    choice: ClusterChoice,
) -> int:
    """Own a cluster; print one line of JSON when it is ready, and end with SIGTERM."""
    spec = replace(choice.for_nodes(nodes).spec, name=name or choice.spec.name)
    try:
        with Session(choice.provider, spec, runs_folder()) as session:
            session.install(variant)
            if nodes and isinstance(session.cluster, PlaysNodes):
                session.cluster.add_nodes(NodeGroup(count=nodes).expand())
            folder = folder_of(session.cluster.name)
            folder.announce(**{**folder.facts(), "kept": True})
            _tell(folder.facts())
            signal.pause()
    except HarnessError as error:
        _tell({"error": str(error), "exit_code": error.exit_code})
        raise
    return 0


def _tell(facts: dict[str, Any]) -> None:
    """Print one line and close the stream, so that the reader goes on and we depend on nobody."""
    print(json.dumps(facts), flush=True)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - a device, not a file
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
