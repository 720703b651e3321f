"""`harness run`: carry out scenarios, judge their records, say what held."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from harness.cli.bring import Own, bring_options
from harness.cli.closing import close, report_option
from harness.cli.options import ClusterChoice, cluster_options, json_option
from harness.cli.plan import Failure, Planned, carry_out, choose, for_own_extender, plan
from harness.cluster.registry import provider as make_provider
from harness.paths import runs_folder
from harness.report.summary import RunSummary
from harness.run.session import Session
from harness.scenario.faults import Fault
from harness.scenario.model import Scenario


@click.command()
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option("--variant", "variants", multiple=True, help="Repeatable; default, or what the scenario is for.")
@click.option("--size", "sizes", multiple=True, help="Named size; the scenario's first unless told. Repeatable.")
@click.option("--all-sizes", is_flag=True, help="Every size of each scenario.")
@click.option("--label", "labels", default="", metavar="WORDS", help="Only scenarios with these labels: lab,-slow")
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, help="Runs of each, interleaved.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For every random choice.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of records; reports/runs unless told.")
@click.option("-v", "--verbose", is_flag=True, help="Show every verdict, not only rejected ones.")
@report_option
@bring_options
@cluster_options
@json_option
def run(
    scenarios: tuple[str, ...],
    variants: tuple[str, ...],
    sizes: tuple[str, ...],
    all_sizes: bool,
    labels: str,
    repeat: int,
    seed: int,
    out: Path | None,
    verbose: bool,
    report_to: Path | None,
    own: Own,
    choice: ClusterChoice,
    as_json: bool,
) -> int:
    """Run scenarios on an ephemeral cluster and judge what happened.

    SCENARIO is a path, a folder or a name; without one, everything in scenarios/ runs, or what ships with the
    harness. With --extender, scenarios about extenders of their own run only if they are named.

    \b
    Examples:
      harness run twenty-pause
      harness run twenty-pause --size class --repeat 3
      harness run scenarios/drain scenarios/priority -v
      harness run --label lab --json
      harness run twenty-pause --variant default --variant extender --report build/report
      harness run twenty-pause --cluster kind
      harness run twenty-pause --variant default --variant extender --extender ref:pass-through
      harness run twenty-pause --extender 'cmd:./my-extender {port}' --entry nodeCacheCapable=true
      harness run twenty-pause --extender go:./my-extender --fault status,status=500,verb=filter,share=0.3
    """
    chosen = choose(scenarios, sizes, labels, all_sizes=all_sizes)
    if own.brought.extenders and not scenarios:
        chosen = for_own_extender(chosen)
    runs = plan(chosen, variants or own.variants(), range(seed, seed + repeat), choice.provider)
    runs = _checked(own, runs, choice.provider)
    choice = choice.for_nodes(max(planned.scenario.node_count for planned in runs))
    make_provider(choice.provider).prepare(choice.spec)
    results: list[RunSummary | Failure] = []
    with Session(choice.provider, choice.spec, out or runs_folder(), sys.argv, own.brought) as session:
        for result in carry_out(runs, session):
            results.append(result)
            if not as_json:
                _show(result, verbose=verbose)
    failures = [result for result in results if isinstance(result, Failure)]
    done = [result for result in results if not isinstance(result, Failure)]
    _close(done, failures, len(runs), as_json=as_json)
    close(_records(done, failures), report_to, as_json=as_json)
    return _exit_code(done, failures)


def _checked(own: Own, runs: Sequence[Planned], provider: str) -> list[Planned]:
    """Return the runs with their faults; refuse what was brought in vain, or cannot be used, before anything starts."""
    runs = [replace(planned, scenario=_broken(planned.scenario, own.faults)) for planned in runs]
    own.check({planned.variant for planned in runs})
    own.check_ahead(((planned.variant, planned.scenario) for planned in runs), provider)
    return runs


def _broken(scenario: Scenario, faults: Sequence[Fault]) -> Scenario:
    """Return a scenario that begins with the faults that were asked for."""
    if not faults:
        return scenario
    return scenario.model_copy(update={"steps": (*faults, *scenario.steps)})


def _show(result: RunSummary | Failure, *, verbose: bool) -> None:
    from harness.cli.main import describe  # noqa: PLC0415 - main imports the commands
    from harness.report.text import run_text  # noqa: PLC0415 - only for people

    if isinstance(result, Failure):
        print(f"ERROR {result.planned.title}: {describe(result.error).removeprefix('error: ')}")
    else:
        print(run_text(result, verbose=verbose))


def _close(done: Sequence[RunSummary], failures: Sequence[Failure], planned: int, *, as_json: bool) -> None:
    if as_json:
        ok = bool(done) and not failures and all(run.ok for run in done)
        runs = [run.to_json() for run in done] + [failure.to_json() for failure in failures]
        print(json.dumps({"ok": ok, "runs": runs}, indent=2))
        return
    if done and len(done) + len(failures) > 1:
        from harness.report.compare import comparison_text  # noqa: PLC0415 - loads pandas

        print()
        print(comparison_text(done, [failure.planned.of for failure in failures]))
    held = sum(run.ok for run in done)
    lost = f", {len(failures)} could not be made" if failures else ""
    untried = planned - len(done) - len(failures)
    left = f", {untried} were not tried after that" if untried else ""
    print(f"\n{held} of {planned} runs held{lost}{left}")


def _records(done: Sequence[RunSummary], failures: Sequence[Failure]) -> list[Path]:
    """Return everything that was recorded, also by runs that were cut short."""
    cut_short = [failure.error.record for failure in failures if failure.error.record]
    return [*(run.record.path for run in done), *cut_short]


def _exit_code(done: Sequence[RunSummary], failures: Sequence[Failure]) -> int:
    if failures:
        return max(failure.error.exit_code for failure in failures)
    return 0 if all(run.ok for run in done) else 1
