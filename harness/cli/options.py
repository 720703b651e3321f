"""Options that several commands share."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from harness.cluster.base import ClusterSpec, ExistingSpec, KindSpec
from harness.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])


class Finite(click.FloatRange):
    """A number within bounds; NaN is within all bounds for click, and an infinite one within some."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} seen, a finite number expected", param, ctx)
        return number


@dataclass(frozen=True)
class ClusterChoice:
    """The cluster that the options choose: a provider, and what is asked of it."""

    provider: str
    spec: ClusterSpec

    def for_nodes(self, count: int) -> "ClusterChoice":
        """Return the same choice for scenarios that declare so many nodes."""
        return replace(self, spec=replace(self.spec, nodes=count))

    def arguments(self) -> list[str]:
        """Return the options that make the same choice again."""
        return list(self._spelt())

    def _spelt(self) -> Iterator[str]:
        spec, kind, existing = self.spec, self.spec.kind, self.spec.existing
        values = {
            "--cluster": self.provider,
            "--kubernetes": spec.kubernetes,
            "--controlplane-bin": spec.binaries,
            "--cluster-name": spec.name,
            "--kubeconfig": spec.kubeconfig,
            "--workers": kind.workers,
            "--kind-image": kind.image,
            "--kind-bin": kind.program,
            "--kind-config": kind.config,
            "--context": existing.context,
        }
        flags = {
            "--fresh": spec.fresh,
            "--keep-cluster": kind.keep,
            "--allow-cluster-wide": existing.allow_cluster_wide,
            "--kwok-nodes": existing.kwok_nodes,
            "--yes": existing.confirmed,
        }
        for option, value in values.items():
            if value is not None:
                yield from (option, str(value))
        yield from (option for option, given in flags.items() if given)


_PATH = click.Path(path_type=Path)
_CHOICES = (
    click.option("--kubernetes", metavar="VERSION", help='Kubernetes minor, such as 1.36; see "harness doctor".'),
    click.option(
        "--controlplane-bin",
        type=_PATH,
        help="Folder of a built control plane; skips the build. Also HARNESS_CONTROLPLANE.",
    ),
    click.option("--cluster-name", metavar="NAME", help="Name of the cluster; a random one unless told."),
    click.option("--fresh", is_flag=True, help="A new cluster for every run, instead of an emptied one."),
    click.option("--workers", type=click.IntRange(1, 50), help="kind: how many nodes; as many as are declared."),
    click.option("--kind-image", metavar="IMAGE", help="kind: image of its nodes. Also KIND_NODE_IMAGE."),
    click.option("--kind-bin", type=_PATH, help="kind: its program; that on PATH, else built, unless told."),
    click.option("--kind-config", type=_PATH, help="kind: more configuration. Also KIND_CONFIG_EXTRA."),
    click.option("--keep-cluster", is_flag=True, help="kind: leave the cluster there at the end."),
    click.option("--kubeconfig", type=_PATH, help="existing: the file; kubectl's unless told. kind: where it goes."),
    click.option("--context", metavar="NAME", help="existing: the context; the current one unless told."),
    click.option("--allow-cluster-wide", is_flag=True, help="existing: also change what is in no namespace."),
    click.option("--kwok-nodes", is_flag=True, help="existing: add the declared nodes, played by kwok."),
    click.option("--yes", "confirmed", is_flag=True, help="existing: also if it looks like production."),
)

# Those that are not here are for every provider.
USED_BY = {
    "--controlplane-bin": ("embedded", "existing"),
    "--workers": ("kind",),
    "--kind-image": ("kind",),
    "--kind-bin": ("kind",),
    "--kind-config": ("kind",),
    "--keep-cluster": ("kind",),
    "--kubeconfig": ("existing", "kind"),
    "--context": ("existing",),
    "--allow-cluster-wide": ("existing",),
    "--kwok-nodes": ("existing",),
    "--yes": ("existing",),
}
_OURS = {"embedded", "kind", "existing"}


def cluster_options(command: Command) -> Command:
    """Add the options that choose a cluster; the command gets them as one `choice`."""

    @functools.wraps(command)
    def chosen(*arguments: Any, provider: str, spec: ClusterSpec, **others: Any) -> Any:
        _refuse_unused([provider], "--cluster", lambda users: f'add "--cluster {users[0]}"')
        return command(*arguments, choice=ClusterChoice(provider, spec), **others)

    option = click.option(
        "--cluster", "provider", default="embedded", show_default=True, help="embedded, kind or existing."
    )
    wrapped: Any = option(_with_spec(chosen))
    typed: Command = wrapped
    return typed


def clusters_options(command: Command) -> Command:
    """Add the options that choose several clusters; the command gets them as `choices`."""

    @functools.wraps(command)
    def chosen(*arguments: Any, providers: str, spec: ClusterSpec, **others: Any) -> Any:
        names = [name.strip() for name in providers.split(",")]
        if len(set(names)) < len(names) or len(names) < 2:  # noqa: PLR2004 - that is what comparing takes
            raise InputError(f"--clusters {providers}: two different ones at least expected: embedded,kind")
        _refuse_unused(names, "--clusters", lambda users: f"add {' or '.join(users)} to --clusters")
        return command(*arguments, choices=tuple(ClusterChoice(name, spec) for name in names), **others)

    option = click.option(
        "--clusters",
        "providers",
        default="embedded,kind",
        show_default=True,
        metavar="NAMES",
        help="Cluster providers to compare.",
    )
    wrapped: Any = option(_with_spec(chosen))
    typed: Command = wrapped
    return typed


def _refuse_unused(chosen: Sequence[str], option: str, next_move: Callable[[Sequence[str]], str]) -> None:
    """Refuse what was typed and none of the providers would use: who typed it believes that it ran elsewhere.

    What a provider of somebody else's makes of an option, only that one knows.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        users = USED_BY.get(parameter.opts[0], ())
        typed = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if users and typed and _OURS.issuperset(chosen) and not set(users).intersection(chosen):
            were = "was" if len(chosen) == 1 else "were"
            raise InputError(
                f"{parameter.opts[0]}: is for {option} {' or '.join(users)}, and {' and '.join(chosen)} {were} chosen; "
                f"{next_move(users)} or leave it out"
            )


def _with_spec(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is asked of a cluster; the command gets them as one `spec`."""

    @functools.wraps(command)
    def specified(
        *arguments: Any,
        kubernetes: str | None,
        controlplane_bin: Path | None,
        cluster_name: str | None,
        fresh: bool,
        workers: int | None,
        kind_image: str | None,
        kind_bin: Path | None,
        kind_config: Path | None,
        keep_cluster: bool,
        kubeconfig: Path | None,
        context: str | None,
        allow_cluster_wide: bool,
        kwok_nodes: bool,
        confirmed: bool,
        **others: Any,
    ) -> Any:
        kind = KindSpec(kind_image, kind_bin, kind_config, workers, keep_cluster)
        existing = ExistingSpec(context, allow_cluster_wide, kwok_nodes, confirmed)
        spec = ClusterSpec(
            kubernetes, controlplane_bin, cluster_name, kubeconfig=kubeconfig, fresh=fresh, kind=kind, existing=existing
        )
        return command(*arguments, spec=spec, **others)

    wrapped: Callable[..., Any] = specified
    for option in reversed(_CHOICES):
        wrapped = option(wrapped)
    return wrapped


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
