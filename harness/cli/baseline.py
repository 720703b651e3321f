"""`harness baseline`: keep what an extender costs, and check it later or elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

import click

from harness.cli.bring import entry_option
from harness.cli.closing import close, report_option
from harness.cli.gates import told, undecided_option
from harness.cli.options import json_option
from harness.cli.regress import (
    Share,
    budget_option,
    facts,
    found,
    nodes_option,
    remote_option,
    seed_option,
    verb_option,
    wire_option,
)
from harness.extender.subject.parse import parse
from harness.paths import runs_folder
from harness.progress import bar
from harness.run import machine
from harness.run.brought import entry_keys

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def baseline() -> None:
    """Keep what an extender costs, and check it later or on another machine.

    Never seconds: both are ratios to a reference extender that is measured in the same run.

    \b
    Examples:
      harness baseline save baseline.json go:./my-extender
      harness baseline check baseline.json go:./my-extender
    """


@baseline.command()
@click.argument("file", type=_FILE)
@click.argument("subjects", nargs=-1, required=True, metavar="SUBJECT...")
@entry_option
@verb_option
@nodes_option
@wire_option
@budget_option
@seed_option
@click.option("--cassette", metavar="FILE", help="Bodies of a cassette, or of a record with one.")
@remote_option
def save(
    file: Path,
    subjects: tuple[str, ...],
    entries: tuple[str, ...],
    verbs: tuple[str, ...],
    nodes: tuple[int, ...],
    wire: str | None,
    budget_seconds: float,
    seed: int,
    cassette: str | None,
    allow_remote: bool,
) -> int:
    """Measure SUBJECTs and write what they cost to FILE.

    \b
    Examples:
      harness baseline save baseline.json go:./my-extender
      harness baseline save baseline.json 'cmd:./my-extender {port}' --nodes 100 --nodes 1000
    """
    # Slow to load, and not needed for --help.
    from harness.load.baseline import YARDSTICK, take  # noqa: PLC0415
    from harness.load.regress.compare import Options  # noqa: PLC0415
    from harness.record.baseline import write  # noqa: PLC0415

    keys = entry_keys(entries).given()
    options = Options(
        verbs=verbs,
        nodes=nodes,
        wire=wire,
        budget_seconds=budget_seconds,
        seed=seed,
        cassette=found(cassette) if cassette else None,
        allow_remote=allow_remote,
    )
    known = {
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.fingerprint(),
        "versions": machine.versions(),
    }
    with bar("Measuring") as shown:
        taken = take([parse(one, keys) for one in subjects], options, known, shown.advance)
    write(taken, file)
    for one in taken.subjects:
        for cell in one.cells:
            told = ", ".join(f"{name} {metric.ratio:.3f} times" for name, metric in cell.metrics.items())
            print(f"{one.subject}: {cell.title}: {told} that of {YARDSTICK}")
    print(f"saved: {file}")
    return 0


@baseline.command()
@click.argument("file", type=_FILE)
@click.argument("subject")
@entry_option
@click.option("--as", "name", metavar="NAME", help="Subject of the file to compare with, when it has several.")
@click.option("--tolerance", type=Share(), default="5%", show_default=True, help="Slowdown that is accepted.")
@budget_option
@click.option("--cassette", metavar="FILE", help="The cassette that the baseline was measured with.")
@remote_option
@undecided_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder of records; reports/runs unless told.")
@report_option
@json_option
def check(
    file: Path,
    subject: str,
    entries: tuple[str, ...],
    name: str | None,
    tolerance: float,
    budget_seconds: float,
    cassette: str | None,
    allow_remote: bool,
    undecided: str | None,
    out: Path | None,
    report_to: Path | None,
    as_json: bool,
) -> int:
    """Compare what SUBJECT costs with what FILE says.

    Asked is what was asked then. Exits with 0 for PASS and INCONCLUSIVE, 1 for a REGRESSION or a subject that fails
    (with --undecided fail also for INCONCLUSIVE), 2 if the two cannot be compared, 3 if the subject cannot be measured.

    \b
    Examples:
      harness baseline check baseline.json go:./my-extender
      harness baseline check baseline.json go:./my-extender --report build/report
    """
    # Slow to load, and not needed for --help.
    from harness.load.baseline import check as check_against  # noqa: PLC0415
    from harness.load.regress.compare import Options  # noqa: PLC0415
    from harness.load.regress.keep import keep_check  # noqa: PLC0415
    from harness.record.baseline import read  # noqa: PLC0415
    from harness.report.regress import checked_text  # noqa: PLC0415

    options = Options(
        tolerance=tolerance,
        budget_seconds=budget_seconds,
        cassette=found(cassette) if cassette else None,
        allow_remote=allow_remote,
    )
    known = read(file)
    brought = parse(subject, entry_keys(entries).given())
    load_before = machine.load_now()
    with bar("Measuring") as shown:
        checked = check_against(known, str(file), brought, options, name=name, advance=shown.advance)
    result = keep_check(checked, out or runs_folder(), facts(load_before))
    code = 0 if told(result.to_json(), checked_text(result), undecided, as_json=as_json) else 1
    close([result.path] if result.path else [], report_to, as_json=as_json)
    return code
