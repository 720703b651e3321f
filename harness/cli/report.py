"""`harness report`: one page out of one record or many."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from harness.paths import runs_folder
from harness.record.find import ANY, LATEST, newest, resolve
from harness.report.words import LANGUAGES

PAGES = Path("reports/pages")
_NEWEST = re.compile(r"latest:([1-9]\d{0,3})")


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--format", "formats", metavar="NAMES", help="html,md,csv,parquet,junit,json,badge; html,md unless told.")
@click.option("--lang", "language", type=click.Choice(LANGUAGES), help="Language; that of the locale unless told.")
@click.option("--template", metavar="NAME", help="lab for a lab write-up, or a Jinja template of your own.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report; reports/pages/ID unless told.")
def report(
    runs: tuple[str, ...], formats: str | None, language: str | None, template: str | None, out: Path | None
) -> int:
    """Write a report on saved records: of runs, loads, comparisons of extenders, checks against baselines.

    RUN is a record's path, its id, the beginning of its id, latest, or latest:N for the newest N; latest unless told.
    Records that are damaged are shown as far as they can be read. Exits with 0 whatever the report says, 2 on bad
    input.

    \b
    Examples:
      harness report --template lab
      harness report latest
      harness report latest:5
      harness report 20261116-0536 20261116-0541 --lang zh
      harness report latest --format html,md,csv,parquet,junit,json --out build/report
      harness report latest --template course.md.j2
    """
    # Slow to load, and not needed for --help.
    from harness.report.publish import Order, publish  # noqa: PLC0415
    from harness.report.render.formats import chosen  # noqa: PLC0415

    records = [record for name in runs or (LATEST,) for record in found(name)]
    order = Order(None if formats is None else chosen(formats), language, template)
    written = publish(records, out or PAGES / records[0].resolve().name, order)
    print(written.document.sentence)
    print("\n".join(written.listing()))
    return 0


def found(name: str) -> Iterator[Path]:
    """Give the records that a name means.

    Raises:
        RecordError: there is none.
    """
    several = _NEWEST.fullmatch(name)
    records = newest(int(several[1]), runs_folder(), ANY) if several else []
    yield from records or [resolve(name, runs_folder(), ANY)]
