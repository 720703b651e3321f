"""`harness trend`: how saved runs of the same went over time."""

import json
from pathlib import Path

import click

from harness.cli.options import json_option
from harness.errors import InputError
from harness.paths import runs_folder
from harness.record.find import NEXT_MOVE, kind_seen
from harness.report.words import LANGUAGES

# As in report/trend.py, which is slow to load and not needed for --help.
METRICS = ("p50", "p99", "throughput", "cost")


@click.command()
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--scenario", help="Only runs of this scenario.")
@click.option("--variant", help="Only runs with this variant.")
@click.option(
    "--metric", "metrics", multiple=True, type=click.Choice(METRICS), help="Repeatable; all of them unless told."
)
@click.option("--lang", "language", type=click.Choice(LANGUAGES), help="Language; that of the locale unless told.")
@json_option
def trend(
    folder: Path | None,
    scenario: str | None,
    variant: str | None,
    metrics: tuple[str, ...],
    language: str | None,
    as_json: bool,
) -> int:
    """Show how figures went over all saved runs in DIR, and where they changed.

    Only runs of the same scenario, size, variant, extenders, cluster provider and kind of machine stand together.
    Exits with 0 whatever it finds, 2 on bad input.

    \b
    Examples:
      harness trend
      harness trend reports/runs --scenario twenty-pause --variant default
      harness trend --metric p99 --json
    """
    from harness.report.trend import METRICS as FIGURES  # noqa: PLC0415
    from harness.report.trend import gather  # noqa: PLC0415
    from harness.report.trend_text import trend_text  # noqa: PLC0415
    from harness.report.words import Words, language_of_here  # noqa: PLC0415

    place = folder or runs_folder()
    if not place.is_dir():
        raise InputError(f"{place}: no such folder; records are made with `harness run`")
    if kind := kind_seen(place):
        raise InputError(f"{place}: a record of {kind} seen, a folder of records expected; {NEXT_MOVE}")
    found = gather(place, scenario, variant)
    for option, value, known in (("scenario", scenario, found.scenarios), ("variant", variant, found.variants)):
        if value is not None and value not in known:
            raise InputError(f"--{option} {value}: no run in {place}; seen: {', '.join(sorted(known)) or 'none'}")
    figures = [FIGURES[metric] for metric in metrics or METRICS]
    if as_json:
        skipped = {"damaged": found.damaged, "unfinished": found.unfinished, "others": found.others}
        courses = [course.to_json(figures) for course in found.courses]
        print(json.dumps({"courses": courses, "skipped": skipped}, indent=2))
    else:
        print(trend_text(found, figures, Words(language or language_of_here())))
    return 0
