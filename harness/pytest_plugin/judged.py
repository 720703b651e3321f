"""A run as a test sees it: the record's facts, its verdicts, and one assertion over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ExpectationFailed
from harness.expect.judge import judge
from harness.paths import shipped
from harness.record.read import read
from harness.record.write import save_verdicts
from harness.report.summary import RunSummary
from harness.run.session import Session
from harness.scenario.expectations_extender import SameAs
from harness.scenario.find import find
from harness.scenario.load import load
from harness.scenario.model import Scenario


@dataclass(frozen=True)
class JudgedRun(RunSummary):
    """A run with its verdicts."""

    def rejected(self) -> list[str]:
        """Return the kinds of the expectations and invariants that the record contradicts."""
        return [verdict.kind for verdict in self.verdicts if not verdict.ok]

    def assert_held(self) -> None:
        """Fail the test, with the evidence, unless everything held."""
        __tracebackhide__ = True  # the evidence tells more than our own lines
        sentences = [verdict.sentence() for verdict in self.verdicts if not verdict.ok]
        if sentences:
            raise ExpectationFailed("\n".join([f"{self.title}:", *sentences, f"record: {self.record.path}"]))


def run_and_judge(
    session: Session,
    scenario: str | Path | Scenario,
    variant: str,
    *,
    size: str | None,
    seed: int,
    roots: Sequence[Path],
) -> JudgedRun:
    """Run a scenario on the session's cluster and judge its record."""
    if not isinstance(scenario, Scenario):
        (path,) = find([str(scenario)], [*(root for root in roots if root.is_dir()), shipped("scenarios")])
        scenario = load(path).at(size)
    others = {e.relative_to for e in scenario.expect if isinstance(e, SameAs)} - {variant}
    peers = [read(session.run(scenario, other, seed=seed)) for other in sorted(others)]
    path = session.run(scenario, variant, seed=seed)
    record = read(path)
    verdicts = tuple(judge(record, peers))
    save_verdicts(path, [verdict.to_json() for verdict in verdicts])
    return JudgedRun(record, verdicts)
