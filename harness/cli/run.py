"""`harness run`: carry out scenarios, judge their records, say what held."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.cli.bring import Own, bring_options
from harness.cli.options import ClusterChoice, cluster_options, json_option
from harness.cluster.registry import provider as make_provider
from harness.errors import HarnessError, InputError, ScenarioError
from harness.expect.judge import judge
from harness.paths import runs_folder, shipped
from harness.progress import bar, note
from harness.record.model import Record
from harness.record.read import read
from harness.record.write import save_verdicts
from harness.report.summary import RunSummary
from harness.run.session import Session
from harness.scenario.expectations import COMPARING
from harness.scenario.expectations_extender import SameAs
from harness.scenario.faults import Fault
from harness.scenario.find import find, select
from harness.scenario.load import ScenarioFile, load
from harness.scenario.model import Scenario
from harness.variant.registry import VARIANTS


@dataclass(frozen=True)
class Planned:
    """One run to be made."""

    scenario: Scenario
    variant: str
    seed: int

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.scenario.name}[{self.scenario.size}] {self.variant}"


@dataclass(frozen=True)
class Failure:
    """A run that could not be made."""

    planned: Planned
    error: HarnessError

    def to_json(self) -> dict[str, Any]:
        """Return the run as a program reads it."""
        planned = self.planned
        return {
            "scenario": planned.scenario.name,
            "size": planned.scenario.size,
            "variant": planned.variant,
            "seed": planned.seed,
            "ok": False,
            "error": str(self.error),
            "settled": False,
            "pods": {},
            "placements": {},
            "verdicts": [],
            "warnings": [],
            "record": str(self.error.record) if self.error.record else None,
        }


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
    own: Own,
    choice: ClusterChoice,
    as_json: bool,
) -> int:
    """Run scenarios on an ephemeral cluster and judge what happened.

    SCENARIO is a path, a folder or a name; without one, everything in scenarios/ runs.

    \b
    Examples:
      harness run twenty-pause
      harness run twenty-pause --size class --repeat 3
      harness run scenarios/drain scenarios/priority -v
      harness run --label lab --json
      harness run twenty-pause --cluster kind
      harness run twenty-pause --variant default --variant extender --extender ref:pass-through
      harness run twenty-pause --extender 'cmd:./my-extender {port}' --entry nodeCacheCapable=true
      harness run twenty-pause --extender go:./my-extender --fault status,status=500,verb=filter,share=0.3
    """
    chosen = [_broken(scenario, own.faults) for scenario in choose(scenarios, sizes, labels, all_sizes=all_sizes)]
    plan = _plan(chosen, variants or own.variants(), range(seed, seed + repeat))
    own.check({planned.variant for planned in plan})
    choice = choice.for_nodes(max(planned.scenario.node_count for planned in plan))
    make_provider(choice.provider).prepare(choice.spec)
    done: list[RunSummary] = []
    failures: list[Failure] = []
    with Session(choice.provider, choice.spec, out or runs_folder(), sys.argv, own.brought) as session:
        for result in _carry_out(plan, session):
            if isinstance(result, Failure):
                failures.append(result)
            else:
                done.append(result)
            if not as_json:
                _show(result, verbose=verbose)
    _close(done, failures, len(plan), as_json=as_json)
    return _exit_code(done, failures)


def _plan(chosen: Sequence[Scenario], variants: Sequence[str], seeds: Iterable[int]) -> list[Planned]:
    """Return every run that is to be made, in order."""
    plan = [
        Planned(scenario, variant, seed)
        for seed in seeds
        for scenario in chosen
        for variant in variants or _own_variants(scenario)
        if scenario.is_for(variant)
    ]
    _check(chosen, variants, plan)
    return plan


def _own_variants(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario runs on when nobody says: the stock scheduler, unless it is for others or compares."""
    compared = any(isinstance(expectation, SameAs) for expectation in scenario.expect)
    if scenario.is_for("default") and not (compared and scenario.variants):
        return ("default",)
    return scenario.variants or ("extender",)


def _broken(scenario: Scenario, faults: Sequence[Fault]) -> Scenario:
    """Return a scenario that begins with the faults that were asked for."""
    if not faults:
        return scenario
    return scenario.model_copy(update={"steps": (*faults, *scenario.steps)})


def scenario_roots() -> list[Path]:
    """Return where scenarios are looked for by name: here, then what ships with the harness."""
    here = Path("scenarios")
    return [here] if here.resolve() == shipped("scenarios").resolve() else [here, shipped("scenarios")]


def choose(names: Sequence[str], sizes: Sequence[str], labels: str, *, all_sizes: bool = False) -> list[Scenario]:
    """Return the scenarios that are meant, each at the sizes that are meant."""
    roots = scenario_roots()
    if not names and roots[0].is_dir():
        roots = roots[:1]
    files = _load_all(find(names, roots))
    chosen = [
        file.at(size)
        for file in files
        for size in (file.sizes if all_sizes else sizes or (None,))  # None: the first
    ]
    return select(labels, chosen) if labels else chosen


def _load_all(paths: Sequence[Path]) -> list[ScenarioFile]:
    """Load every file before any of them runs, and tell the problems of all of them at once."""
    files: list[ScenarioFile] = []
    problems: list[str] = []
    for path in paths:
        try:
            files.append(load(path))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return files


def _check(chosen: Sequence[Scenario], variants: Sequence[str], plan: Sequence[Planned]) -> None:
    known = VARIANTS.names()
    for variant in variants:
        if variant not in known:
            raise InputError(f"--variant {variant}: not available; choose from: {', '.join(known)}")
    if not plan:
        names = ", ".join(scenario.name for scenario in chosen)
        raise InputError(f"--variant {', '.join(variants)}: none of the chosen scenarios is declared for it ({names})")
    for scenario in chosen:
        left_out = [name for name in variants if not scenario.is_for(name)]
        if left_out:
            note(f"{scenario.name} is not declared for {', '.join(left_out)}: left out")


def _carry_out(plan: Sequence[Planned], session: Session) -> Iterator[RunSummary | Failure]:
    records: list[Record] = []
    compared: list[Record] = []
    with bar("Running scenarios", len(plan)) as shown:
        for planned in plan:
            try:
                shown.show(f"{planned.title}: waiting for the cluster")
                record = read(session.run(planned.scenario, planned.variant, seed=planned.seed, report=shown.show))
            except InputError as error:
                yield Failure(planned, error)
            except HarnessError as error:
                yield Failure(planned, error)
                # The cluster cannot be trusted any more.
                break
            else:
                records.append(record)
                if any(isinstance(expectation, COMPARING) for expectation in planned.scenario.expect):
                    compared.append(record)
                else:
                    yield _judged(record, ())
            shown.advance(planned.title)
    # What is compared with other runs is judged when all of them are there.
    yield from (_judged(record, records) for record in compared)


def _judged(record: Record, peers: Sequence[Record]) -> RunSummary:
    verdicts = tuple(judge(record, [peer for peer in peers if peer is not record]))
    save_verdicts(record.path, [verdict.to_json() for verdict in verdicts])
    return RunSummary(record, verdicts)


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
    if len(done) > 1:
        from harness.report.compare import comparison_text  # noqa: PLC0415 - loads pandas

        print()
        print(comparison_text(done))
    held = sum(run.ok for run in done)
    lost = f", {len(failures)} could not be made" if failures else ""
    untried = planned - len(done) - len(failures)
    left = f", {untried} were not tried after that" if untried else ""
    print(f"\n{held} of {planned} runs held{lost}{left}")


def _exit_code(done: Sequence[RunSummary], failures: Sequence[Failure]) -> int:
    if failures:
        return max(failure.error.exit_code for failure in failures)
    return 0 if all(run.ok for run in done) else 1
