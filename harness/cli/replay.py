"""`harness replay`: ask a subject again what was asked in a recorded run, and compare its decisions."""

import json
from pathlib import Path

import click

from harness import temporary
from harness.cli.bring import entry_option
from harness.cli.options import json_option
from harness.errors import InputError
from harness.extender.cassette.replay import REQUESTS_MAX, Options, Replayed, replay
from harness.extender.spool import recover
from harness.extender.subject.parse import parse
from harness.paths import runs_folder
from harness.progress import note
from harness.record.call import CASSETTE, SPOOL
from harness.record.find import resolve
from harness.record.read import read_meta
from harness.run.brought import entry_keys

DIFFERENCES_SHOWN_MAX = 20
MILLISECONDS = 1000


@click.command(name="replay")
@click.argument("cassette")
@click.argument("subject")
@entry_option
@click.option("--extender", metavar="NAME", help="Extender of the cassette, when several were recorded.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Rounds.")
@click.option("--max-requests", type=click.IntRange(1), default=REQUESTS_MAX, show_default=True, help="Per round.")
@click.option("--bind", is_flag=True, help="Send bind requests too; the subject may carry them out.")
@click.option("--seed", type=int, help="Seed of the subject; that of the record unless given, else 0.")
@json_option
def replay_command(
    cassette: str,
    subject: str,
    entries: tuple[str, ...],
    extender: str | None,
    repeat: int,
    max_requests: int,
    bind: bool,
    seed: int | None,
    as_json: bool,
) -> int:
    """Send the requests of a CASSETTE to a SUBJECT and compare its decisions with the recorded ones.

    CASSETTE is a file, a record (a path, an id) or latest. No cluster is needed. Exits with 0 if every decision is the
    same, 1 if one differs, 2 on bad input, 3 if the subject cannot be reached.

    \b
    Examples:
      harness replay latest ref:lucky
      harness replay latest 'cmd:./my-extender {port}' --repeat 3
      harness replay reports/runs/20261116-053610-first-lab-extender-3f2a go:./my-extender --json
    """
    path, known_seed = _found(cassette)
    brought = parse(subject, entry_keys(entries).given())
    options = Options(extender, repeat, max_requests, bind, known_seed if seed is None else seed)
    with temporary.folder("replay") as folder:
        result = replay(path, brought, folder, options)
    print(json.dumps(result.to_json(), indent=2) if as_json else _text(result))
    return 0 if result.same else 1


def _found(name: str) -> tuple[Path, int]:
    """Return the cassette that a name means, and the seed of the run that it comes from."""
    given = Path(name)
    folder = given.parent if given.is_file() else resolve(name, runs_folder())
    path = given if given.is_file() else folder / CASSETTE
    if not path.is_file() and recover(folder):
        note(f"{folder}: its run was killed; what its taps had recorded is replayed")
    if not path.is_file():
        raise InputError(f"{folder}: this record has no {CASSETTE}; {_why_none(folder)}")
    seed = read_meta(folder).seed if (folder / "run.json").is_file() else None
    return path, seed or 0


def _why_none(folder: Path) -> str:
    if (folder / SPOOL).is_dir():
        return "its run goes on, or was killed as it began; wait for its end, or record another run"
    if read_meta(folder).status == "running":
        return "its run was killed before it was made; record another run"
    return "it was made without an extender"


def _text(result: Replayed) -> str:
    from harness.report.text import table  # noqa: PLC0415 - only text needs it

    total = sum(result.sent.values())
    count = len(result.differences)
    verdict = (
        "every decision is the same"
        if result.same
        else "1 decision differs"
        if count == 1
        else f"{count} decisions differ"
    )
    lines = [f"{result.extender} recorded, {result.subject} now: {total} requests sent, {verdict}", ""]
    rows = [
        [
            kind,
            result.sent[kind],
            sum(one.kind == kind for one in result.differences),
            *(f"{seconds * MILLISECONDS:.1f}" for seconds in latencies.values()),
        ]
        for kind, latencies in result.latencies().items()
    ]
    headers = ["", "sent", "differences", "recorded p50 ms", "p95", "now p50 ms", "p95"]
    lines += [table(rows, headers), "Recorded times are of another moment, and maybe of another machine.", ""]
    lines += [f"left out: {number} {why}" for why, number in result.left_out.items()]
    lines += [f"warning: {warning}" for warning in result.warnings]
    if new := {code: number for code, number in result.notices_now.items() if code not in result.notices_then}:
        lines.append("new notices: " + ", ".join(f"{code} ({number})" for code, number in new.items()))
    for one in result.differences[:DIFFERENCES_SHOWN_MAX]:
        often = f" (in {one.rounds} of {result.rounds} rounds)" if result.rounds > 1 else ""
        lines.append(f"  {one.text()}{often}")
    if count > DIFFERENCES_SHOWN_MAX:
        lines.append(f"  … and {count - DIFFERENCES_SHOWN_MAX} more; all of them with --json")
    return "\n".join(lines).rstrip()
