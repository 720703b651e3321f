"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def cluster_options(command: Command) -> Command:
    """Add the options that choose a cluster."""
    for option in reversed(
        (
            click.option("--cluster", "provider", default="embedded", show_default=True, help="Cluster provider."),
            click.option(
                "--kubernetes", metavar="VERSION", help='Kubernetes minor, such as 1.36; see "harness doctor".'
            ),
            click.option(
                "--controlplane-bin",
                type=click.Path(path_type=Path),
                help="Folder of a built control plane; skips the build. Also HARNESS_CONTROLPLANE.",
            ),
        )
    ):
        command = option(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
