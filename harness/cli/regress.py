"""`harness regress`: is one extender slower than another."""

import sys
from pathlib import Path

import click

from harness.cli.bring import entry_option
from harness.cli.closing import close, report_option
from harness.cli.gates import told, undecided_option
from harness.cli.options import Finite, json_option
from harness.errors import InputError
from harness.extender.cassette.command import without_secrets_in
from harness.extender.subject.parse import parse
from harness.paths import runs_folder
from harness.progress import bar
from harness.record.call import CASSETTE
from harness.record.find import resolve
from harness.run import machine
from harness.run.brought import entry_keys

PERCENT = 100.0


class Share(click.ParamType[float]):
    """A share such as 3% or 0.03."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return it as a number below one."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (PERCENT if text.endswith("%") else 1.0)
        except ValueError:
            self.fail(f"{text!r} seen, a share such as 3% expected", param, ctx)
        if not 0 <= share <= 1:
            self.fail(f"{text!r} seen, 0% to 100% expected", param, ctx)
        return share


verb_option = click.option("--verb", "verbs", multiple=True, help="filter, prioritize, bind, preempt. Repeatable.")
nodes_option = click.option(
    "--nodes", multiple=True, type=click.IntRange(1), default=(100,), show_default=True, help="Nodes. Repeatable."
)
wire_option = click.option(
    "--wire", type=click.Choice(["names", "objects"]), help="Form of the nodes; what the subjects ask for."
)
budget_option = click.option(
    "--budget",
    "budget_seconds",
    type=Finite(0),
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    help="Most that one comparison measures, per stage.",
)
remote_option = click.option(
    "--allow-remote", is_flag=True, help="Also call a subject on another machine; it must be yours."
)
seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For every lot drawn.")


@click.command()
@click.argument("base")
@click.argument("candidate")
@entry_option
@verb_option
@nodes_option
@wire_option
@click.option("--tolerance", type=Share(), default="3%", show_default=True, help="Slowdown that is accepted.")
@budget_option
@seed_option
@click.option("--cassette", metavar="FILE", help="Bodies of a cassette, or of a record with one, instead of made-up.")
@remote_option
@undecided_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder of records; reports/runs unless told.")
@report_option
@json_option
def regress(
    base: str,
    candidate: str,
    entries: tuple[str, ...],
    verbs: tuple[str, ...],
    nodes: tuple[int, ...],
    wire: str | None,
    tolerance: float,
    budget_seconds: float,
    seed: int,
    cassette: str | None,
    allow_remote: bool,
    undecided: str | None,
    out: Path | None,
    report_to: Path | None,
    as_json: bool,
) -> int:
    """Decide whether CANDIDATE is slower than BASE; both are subjects.

    Both run side by side and are asked the same, one after the other. Compared are the processor time of a request and
    its latency in the middle. Exits with 0 for PASS and INCONCLUSIVE, 1 for a REGRESSION or a candidate that fails
    (with --undecided fail for INCONCLUSIVE too), 2 on bad input, 3 if one cannot be measured.

    \b
    Examples:
      harness regress go:./my-extender@main go:./my-extender
      harness regress ref:pass-through 'cmd:./my-extender {port}' --verb filter --nodes 100 --nodes 1000
      harness regress go:.@v1.2.0 go:. --cassette latest --undecided fail --json
    """
    from harness.load.regress.compare import Options, compare  # noqa: PLC0415 - slow, and not needed for --help
    from harness.load.regress.keep import keep  # noqa: PLC0415
    from harness.report.regress import regression_text  # noqa: PLC0415

    keys = entry_keys(entries).given()
    recorded = found(cassette) if cassette else None
    options = Options(verbs, nodes, wire, tolerance, budget_seconds, seed, recorded, allow_remote)
    load_before = machine.load_now()
    with bar("Comparing") as shown:
        compared = compare(parse(base, keys), parse(candidate, keys), options, advance=shown.advance)
    result = keep(compared, out or runs_folder(), facts(load_before))
    code = 0 if told(result.to_json(), regression_text(result), undecided, as_json=as_json) else 1
    close([result.path] if result.path else [], report_to, as_json=as_json)
    return code


def facts(load_before: float) -> dict[str, object]:
    """Return what shapes a measurement besides its inputs."""
    loads = {"load_before": load_before, "load_after": machine.load_now()}
    return {
        "machine": {**machine.fingerprint(), **loads},
        "versions": machine.versions(),
        "command": without_secrets_in(sys.argv),
    }


def found(name: str) -> Path:
    """Return the cassette that a name means: a file, or a record that has one.

    Raises:
        InputError: there is none.
    """
    given = Path(name)
    if given.is_file():
        return given
    path = resolve(name, runs_folder()) / CASSETTE
    if not path.is_file():
        raise InputError(f"{path.parent}: this record has no {CASSETTE}; it was made without an extender or a tap")
    return path
