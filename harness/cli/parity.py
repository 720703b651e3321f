"""`harness parity`: the same scenarios on the clusters of several providers, verdict by verdict."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from harness.cli.options import ClusterChoice, clusters_options, json_option
from harness.cli.plan import Failure, Planned, carry_out, check_variants, choose
from harness.cluster.registry import provider as make_provider
from harness.errors import HarnessError, InputError
from harness.expect.judge import judge
from harness.paths import runs_folder
from harness.record.read import read
from harness.report.parity import Key, Parity
from harness.report.parity import parity as side_by_side
from harness.report.summary import RunSummary
from harness.run.session import Session
from harness.scenario.model import Scenario
from harness.variant.registry import VARIANTS

DEFAULT = ("seeds", "twenty-pause")
NOT_FOR_IT = "not for it"
NOT_TRIED = "not tried after the error"


@click.command()
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option("--variant", "variants", multiple=True, help="Repeatable; every one that a scenario is for unless told.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For every random choice.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of records; reports/runs unless told.")
@click.option(
    "--records",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Run nothing: compare these records, or all in a folder. Repeatable.",
)
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
@clusters_options
@json_option
def parity(
    scenarios: tuple[str, ...],
    variants: tuple[str, ...],
    seed: int,
    out: Path | None,
    records: tuple[Path, ...],
    markdown: bool,
    choices: tuple[ClusterChoice, ...],
    as_json: bool,
) -> int:
    """Run scenarios on the clusters of several providers and compare the verdicts, one by one.

    SCENARIO is a path, a folder or a name; without one, the published examples and twenty-pause run.

    \b
    Examples:
      harness parity
      harness parity twenty-pause --variant default --variant extender
      harness parity seeds --clusters embedded,existing --context my-cluster
      harness parity --records reports/runs --markdown
    """
    if records:
        if scenarios or variants:
            raise InputError("--records: nothing is run, so neither scenarios nor --variant can be chosen")
        made = _saved(records)
        code = HarnessError.exit_code if any(row.failed for row in made.rows) else 0
    else:
        made, code = _made(choose(scenarios or DEFAULT, (), ""), variants, seed, choices, out or runs_folder())
    if as_json:
        print(json.dumps(made.to_json(), indent=2))
    else:
        from harness.report.parity_text import parity_markdown, parity_text  # noqa: PLC0415 - only for people

        print(parity_markdown(made) if markdown else parity_text(made))
    return code or (0 if made.same else 1)


@dataclass
class _Gathered:
    """What came of the runs so far."""

    done: list[RunSummary] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    absent: dict[tuple[Key, str], str] = field(default_factory=dict)
    failed: dict[tuple[Key, str], str] = field(default_factory=dict)


def _made(
    chosen: Sequence[Scenario], variants: Sequence[str], seed: int, choices: Sequence[ClusterChoice], out: Path
) -> tuple[Parity, int]:
    """Make every run on every provider; return them side by side, and the exit code of what could not be made."""
    check_variants(variants)
    named = variants or VARIANTS.names()
    # One variant after the other: to install another one is what takes longest.
    wanted = [(scenario, variant) for variant in named for scenario in chosen if scenario.is_for(variant)]
    if not wanted:
        names = ", ".join(scenario.name for scenario in chosen)
        raise InputError(f"--variant {', '.join(variants)}: none of the chosen scenarios is declared for it ({names})")
    # All are looked up before the first is prepared, which may build for minutes.
    for provider, choice in [(make_provider(choice.provider), choice) for choice in choices]:
        provider.prepare(choice.spec)
    gathered = _Gathered()
    for choice in choices:
        _make(wanted, seed, choice, out, gathered)
    clusters = [choice.provider for choice in choices]
    table = side_by_side(gathered.done, clusters, absent=gathered.absent, failed=gathered.failed)
    return table, max((failure.error.exit_code for failure in gathered.failures), default=0)


def _make(
    wanted: Sequence[tuple[Scenario, str]], seed: int, choice: ClusterChoice, out: Path, gathered: _Gathered
) -> None:
    provider = choice.provider
    runs = [Planned(one.on_cluster(provider), variant, seed) for one, variant in wanted if one.runs_on(provider)]
    gathered.absent |= {
        ((one.name, one.size, variant), provider): NOT_FOR_IT for one, variant in wanted if not one.runs_on(provider)
    }
    if not runs:
        return
    choice = choice.for_nodes(max(planned.scenario.node_count for planned in runs))
    # Those that are never reached keep this; the others get what came of them.
    untried = {_key(planned): NOT_TRIED for planned in runs}
    with Session(provider, choice.spec, out, sys.argv) as session:
        for result in carry_out(runs, session):
            if isinstance(result, Failure):
                gathered.failures.append(result)
                untried[_key(result.planned)] = _told(result.error)
            else:
                meta = result.record.meta
                gathered.done.append(result)
                del untried[meta.scenario, meta.size, meta.variant]
    gathered.failed |= {(key, provider): why for key, why in untried.items()}


def _key(planned: Planned) -> Key:
    return planned.scenario.name, planned.scenario.size, planned.variant


def _told(error: HarnessError) -> str:
    from harness.cli.main import describe  # noqa: PLC0415 - main imports the commands

    return describe(error).removeprefix("error: ")


def _saved(places: Sequence[Path]) -> Parity:
    """Judge saved records again and put them side by side."""
    paths = [path for place in places for path in _records(place)]
    if not paths:
        raise InputError(f"--records {' '.join(map(str, places))}: no record of a run in there")
    records = [read(path) for path in paths]
    clusters = {record.meta.cluster for record in records}
    if len(clusters) == 1:
        raise InputError(
            f"--records: all {len(records)} records are of cluster {clusters.pop()}; two at least expected"
        )
    runs = []
    for record in records:
        peers = [peer for peer in records if peer is not record and peer.meta.cluster == record.meta.cluster]
        runs.append(RunSummary(record, tuple(judge(record, peers))))
    return side_by_side(runs)


def _records(place: Path) -> list[Path]:
    if (place / "run.json").is_file():
        return [place]
    return sorted(path.parent for path in place.glob("*/run.json"))
