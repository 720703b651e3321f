"""The closing section of commands that make records: their report, or how to get it."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.paths import runs_folder
from harness.progress import note

report_option = click.option(
    "--report",
    "report_to",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Also write a report into this folder.",
)


def close(records: Sequence[Path], report_to: Path | None, *, as_json: bool) -> None:
    """Write the report of what was just recorded, or tell the command that does.

    Raises:
        InputError: it cannot be written.
    """
    if not records:
        return
    if report_to is not None:
        from harness.report.publish import publish  # noqa: PLC0415 - slow to load, and seldom asked for

        listing = publish(records, report_to).listing()
        if as_json:
            note(f"report: {listing[0]}")
        else:
            print("\n".join(f"report: {line}" for line in listing))
    elif not as_json:
        print(f"report: {command(records)}")


def command(records: Sequence[Path]) -> str:
    """Return the command that makes a report of records that were just made."""
    folder = records[0].parent
    usual = folder.resolve() == runs_folder().resolve()
    if len(records) == 1:
        return f"harness report {shlex.quote(records[0].name if usual else str(records[0]))}"
    where = "" if usual else f"HARNESS_RUNS={shlex.quote(str(folder))} "
    return f"{where}harness report latest:{len(records)}"
