"""`harness compare`: saved runs side by side, everything held against the first."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.gates import FAIL, undecided_option
from harness.cli.options import json_option
from harness.errors import InputError
from harness.paths import runs_folder
from harness.record.find import newest, resolve
from harness.report.words import LANGUAGES

if TYPE_CHECKING:
    from harness.report.difference import Comparison
    from harness.report.document import Document
    from harness.report.gated import Gate
    from harness.report.repeats import Side
    from harness.report.words import Words

HINT = "compare runs of one scenario on the same nodes, or add --anyway to compare them all the same"
TWO = 2
NEWEST = re.compile(r"latest:([1-9]\d{0,3})")
# What a reader wants to know first.
BEFORE = ("verdict", "comparison")


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--anyway", is_flag=True, help="Also compare runs of other scenarios or on other nodes.")
@click.option(
    "--fail-on",
    metavar="WHAT",
    help="Exit with 1 if it is worse: placement,pending,latency,throughput,cost,verdict; with a limit latency:20",
)
@undecided_option
@click.option("--lang", "language", type=click.Choice(LANGUAGES), help="Language; that of the locale unless told.")
@click.option("--out", type=click.Path(path_type=Path), help="Also write a report into this folder.")
@click.option("--format", "formats", metavar="NAMES", help="Formats of --out; html,md unless told.")
@json_option
def compare(
    runs: tuple[str, ...],
    anyway: bool,
    fail_on: str | None,
    undecided: str | None,
    language: str | None,
    out: Path | None,
    formats: str | None,
    as_json: bool,
) -> int:
    """Compare saved runs with the first of them: where pods are, how long they waited, what it cost.

    RUN is a record's path, its id, the beginning of its id, latest, or latest:N for the newest N. Several joined by
    commas are repeats of the same; without commas, runs of the same variant with the same configuration are. Exits
    with 1 if a condition of --fail-on is hit or a run held against the first did not finish, with --undecided fail also
    if a condition cannot be decided; 2 if the runs cannot be compared.

    \b
    Examples:
      harness compare 20261116-0536 20261116-0541
      harness compare latest:10
      harness compare base-1,base-2,base-3,base-4,base-5 new-1,new-2,new-3,new-4,new-5 --fail-on placement,latency
      harness compare 20261116-0536 latest --fail-on pending,verdict,latency:50 --json
      harness compare 20261116-0536 latest --lang zh --out build/report --format html
    """
    # Slow to load, and not needed for --help.
    from harness.report.difference import compare as held_against  # noqa: PLC0415
    from harness.report.gate import conditions, gate  # noqa: PLC0415
    from harness.report.gated import Gate  # noqa: PLC0415
    from harness.report.likeness import refuse, unlike  # noqa: PLC0415
    from harness.report.words import Words, language_of_here  # noqa: PLC0415

    wanted = conditions(fail_on) if fail_on is not None else ()
    _refuse_alone(formats, out, undecided, fail_on)
    forms = _forms(formats) if out is not None else ()
    words = Words(language or language_of_here())
    groups = [group for one in runs for group in _groups(one)]
    sides = _sides(groups)
    if not anyway:
        refuse(unlike([run.record for side in sides for run in side.runs]), HINT)
    comparison = held_against(sides)
    came = Gate(wanted, gate(comparison, wanted, words), strict=undecided == FAIL)
    _show(comparison, came, None if as_json else words)
    if out is not None:
        document = _document(comparison, [path for group in groups for path in group], words)
        written = _publish(came.put_into(document, words), out, forms, words)
        print("\n".join(map(str, written)), file=sys.stderr if as_json else sys.stdout)
    return 1 if came.failed else 0


def _refuse_alone(formats: str | None, out: Path | None, undecided: str | None, fail_on: str | None) -> None:
    """Refuse options that mean nothing without another."""
    if formats is not None and out is None:
        raise InputError("--format: says how --out is written; give --out FOLDER too")
    if undecided is not None and fail_on is None:
        raise InputError("--undecided: says what becomes of a condition of --fail-on; give --fail-on WHAT too")


def _show(comparison: "Comparison", came: "Gate", words: "Words | None") -> None:
    """Print what differs, and what came of the conditions: in words, or without them as JSON."""
    if words is None:
        findings = [one.to_json() for one in came.found]
        print(json.dumps({"ok": not came.failed, **comparison.to_json(), "findings": findings}, indent=2, default=str))
        return
    from harness.report.section_text import section_text, wrapped  # noqa: PLC0415 - see above
    from harness.report.sections.differences import section_of  # noqa: PLC0415 - see above

    print(section_text(section_of([comparison], words), words))
    for one in came.callouts(words):
        print("\n".join(wrapped(one.text, "  ")))


def _forms(formats: str | None) -> Sequence[str]:
    """Return the formats to write; asked before anything is read, because a typing error should not cost time."""
    from harness.report.render.formats import DEFAULT, chosen  # noqa: PLC0415 - see above

    return DEFAULT if formats is None else chosen(formats)


def _groups(name: str) -> list[list[Path]]:
    """Return the records that a name means, repeats together; the newest N stand alone."""
    several = [_named(part) for part in name.split(",") if part]
    if len(several) == 1:
        return [[path] for path in several[0]]
    return [[path for some in several for path in some]]


def _named(name: str) -> list[Path]:
    newest_ones = NEWEST.fullmatch(name)
    found = newest(int(newest_ones[1]), runs_folder()) if newest_ones else []
    return found or [resolve(name, runs_folder())]


def _sides(groups: list[list[Path]]) -> "tuple[Side, ...]":
    """Read the runs and put repeats together.

    Raises:
        InputError: there are fewer than two runs, or one is given twice.
        RecordError: a record cannot be read.
    """
    from harness.expect.judge import judge  # noqa: PLC0415 - see above
    from harness.record.read import read  # noqa: PLC0415 - see above
    from harness.report.repeats import named, sides  # noqa: PLC0415 - see above
    from harness.report.summary import RunSummary  # noqa: PLC0415 - see above

    paths = [path.resolve() for group in groups for path in group]
    if len(paths) < TWO:
        raise InputError(f"RUN: {len(paths)} seen, two at least expected")
    twice = [path.name for path in paths if paths.count(path) > 1]
    if twice:
        raise InputError(f"RUN: {twice[0]} is given twice; a run does not differ from itself")
    records = [read(path) for group in groups for path in group]
    runs = [RunSummary(one, tuple(judge(one, [peer for peer in records if peer is not one]))) for one in records]
    if all(len(group) == 1 for group in groups):
        return sides(runs)
    rest = iter(runs)
    return named([[next(rest) for _ in group] for group in groups])


def _document(comparison: "Comparison", paths: list[Path], words: "Words") -> "Document":
    """Return the report of all runs, with this comparison as its chapter on differences and its sides told apart."""
    from harness.report.assemble import assemble  # noqa: PLC0415 - see above
    from harness.report.sections.differences import section_of  # noqa: PLC0415 - see above
    from harness.report.sources import gather  # noqa: PLC0415 - see above

    names = {run.record.path.resolve(): side.name for side in comparison.sides for run in side.runs}
    sources = gather(paths)
    runs = (replace(run, side=names.get(run.record.path.resolve(), "")) for run in sources.runs)
    document = assemble(replace(sources, runs=tuple(runs)), words)
    mine = section_of([comparison], words)
    others = [section for section in document.sections if section.name != mine.name]
    place = next((at for at, section in enumerate(others) if section.name not in BEFORE), len(others))
    return replace(document, sections=(*others[:place], mine, *others[place:]))


def _publish(document: "Document", out: Path, formats: Sequence[str], words: "Words") -> list[Path]:
    """Write a report, and return the files that a person opens."""
    from harness.report.publish import write  # noqa: PLC0415 - see above
    from harness.report.render.formats import render  # noqa: PLC0415 - see above

    files = render(document, words, formats)
    write(files, out)
    return [out / name for name in files if "/" not in name]
