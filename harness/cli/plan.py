"""Which runs a command is to make, and making them; what is not for a variant or provider is left out, and told."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import BuildError, HarnessError, InputError, MissingToolError, ScenarioError, VariantError
from harness.expect.judge import judge
from harness.paths import shipped
from harness.progress import bar, note
from harness.record.model import Record
from harness.record.read import read
from harness.record.write import save_verdicts
from harness.report.summary import RunSummary
from harness.run.session import Session
from harness.scenario.expectations import COMPARING
from harness.scenario.expectations_extender import SameAs
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
        return " ".join(self.of)

    @property
    def of(self) -> tuple[str, str]:
        """Return the scenario and the variant as tables call them."""
        return f"{self.scenario.name}[{self.scenario.size}]", self.variant


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


def plan(chosen: Sequence[Scenario], variants: Sequence[str], seeds: Iterable[int], provider: str) -> list[Planned]:
    """Return every run that is to be made on the clusters of a provider, in order; tell what is left out.

    Raises:
        InputError: a variant is not available, or nothing is left.
    """
    here = _on(provider, chosen)
    made = [
        Planned(scenario, variant, seed)
        for seed in seeds
        for scenario in here
        for variant in variants or _own_variants(scenario)
        if scenario.is_for(variant)
    ]
    _check(here, variants, made)
    return made


def _on(provider: str, chosen: Sequence[Scenario]) -> list[Scenario]:
    """Return the scenarios as they are on the clusters of a provider, without those that are not for it."""
    here = [scenario.on_cluster(provider) for scenario in chosen if scenario.runs_on(provider)]
    left_out = ", ".join(dict.fromkeys(scenario.name for scenario in chosen if not scenario.runs_on(provider)))
    if not here:
        raise InputError(f"cluster {provider}: none of the chosen scenarios is declared for it ({left_out})")
    if left_out:
        note(f"not declared for cluster {provider}, left out: {left_out}")
    return here


def _own_variants(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario runs on when nobody says: the stock scheduler, unless it is for others or compares."""
    compared = any(isinstance(expectation, SameAs) for expectation in scenario.expect)
    if scenario.is_for("default") and not (compared and scenario.variants):
        return ("default",)
    return scenario.declared


def check_variants(variants: Sequence[str]) -> None:
    """Refuse variants that are not available.

    Raises:
        InputError: one of them is not; lists what there is.
    """
    known = VARIANTS.names()
    for variant in variants:
        if variant not in known:
            raise InputError(f"--variant {variant}: not available; choose from: {', '.join(known)}")


def _check(chosen: Sequence[Scenario], variants: Sequence[str], made: Sequence[Planned]) -> None:
    check_variants(variants)
    if not made:
        names = ", ".join(f"{scenario.name} is for {' and '.join(scenario.declared)}" for scenario in chosen)
        raise InputError(f"--variant {', '.join(variants)}: none of the chosen scenarios is declared for it ({names})")
    for scenario in chosen:
        left_out = [name for name in variants if not scenario.is_for(name)]
        if left_out:
            note(f"{scenario.name} is for {' and '.join(scenario.declared)}, left out with {', '.join(left_out)}")


def scenario_roots() -> list[Path]:
    """Return where scenarios are looked for by name: here, then what ships with the harness."""
    here = Path("scenarios")
    return [here] if here.resolve() == shipped("scenarios").resolve() else [here, shipped("scenarios")]


def for_own_extender(chosen: Sequence[Scenario]) -> list[Scenario]:
    """Return what can judge a user's extender, and tell what is left out; for choices in which nothing was named.

    Raises:
        InputError: nothing is left.
    """
    kept = [scenario for scenario in chosen if scenario.for_any_extender]
    left_out = len(chosen) - len(kept)
    if not kept:
        raise InputError(
            "--extender: every chosen scenario is about extenders of its own; name one to run it with yours"
        )
    if left_out:
        note(f"about extenders of their own, left out: {left_out} of {len(chosen)}; name one to run it with yours")
    return kept


def choose(names: Sequence[str], sizes: Sequence[str], labels: str, *, all_sizes: bool = False) -> list[Scenario]:
    """Return the scenarios that are meant, each at the sizes that are meant."""
    roots = scenario_roots()
    if not names:
        roots = [root for root in roots if root.is_dir()][:1]
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


def carry_out(runs: Sequence[Planned], session: Session) -> Iterator[RunSummary | Failure]:
    """Make runs one after the other and judge their records; trouble with the cluster ends it."""
    records: list[Record] = []
    compared: list[Record] = []
    with bar("Running scenarios", len(runs)) as shown:
        for planned in runs:
            try:
                shown.show(f"{planned.title}: waiting for the cluster")
                record = read(session.run(planned.scenario, planned.variant, seed=planned.seed, report=shown.show))
            except (InputError, VariantError, BuildError, MissingToolError) as error:
                # What could not be installed takes nothing from the cluster: the others have theirs.
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
