"""Loads a scenario file and validates every size of it; never hands on a scenario that has a known problem."""

from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError, ScenarioError
from harness.files import read_text
from harness.scenario import positions
from harness.scenario.model import Scenario
from harness.scenario.problems import Problem
from harness.scenario.resolve import Resolver
from harness.scenario.words import did_you_mean, listed, shown


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file with all its sizes, every one of them valid."""

    path: Path
    name: str
    scenarios: dict[str, Scenario]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes; the first is the one that runs unless told."""
        return tuple(self.scenarios)

    def at(self, size: str | None = None) -> Scenario:
        """Return the scenario at one size, the first unless told.

        Raises:
            ScenarioError: there is no such size.
        """
        if size is None:
            return next(iter(self.scenarios.values()))
        if size not in self.scenarios:
            known = f"{did_you_mean(size, self.sizes)} sizes: {listed(self.sizes)}"
            raise ScenarioError([f"{self.path}: scenario {shown(self.name)} has no size {shown(size)}{known}"])
        return self.scenarios[size]


def load(path: Path) -> ScenarioFile:
    """Read a scenario file and validate every size of it.

    Raises:
        ScenarioError: the file cannot be read or is wrong; it carries every problem.
    """
    text = _text(path)
    file = str(path)
    documents, problems = positions.read(text, file)
    if not documents:
        problems = problems or [Problem(file, 1, (), "the file is empty, a scenario expected")]
    elif len(documents) > 1:
        message = "a second document seen, one scenario per file expected"
        problems.append(Problem(file, documents[1].line(()), (), message))
    elif not isinstance(documents[0].data, dict):
        message = f"{shown(documents[0].data)} seen, a scenario with name, summary, steps and expect expected"
        problems.append(Problem(file, documents[0].line(()), (), message))
    else:
        resolver = Resolver(path, text, documents[0])
        scenarios, found = resolver.resolve()
        problems += found
        if not problems:
            return ScenarioFile(path, next(iter(scenarios.values())).name, scenarios)
    # The scenario's own problems first, then those of its manifests.
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: (problem.file != file, problem.file, problem.line))
    raise ScenarioError([str(problem) for problem in ordered])


def line_of_step(path: Path, index: int) -> int | None:
    """Return the line of a scenario's step; None if the file is not what it was any more."""
    try:
        documents, _ = positions.read(_text(path), str(path))
    except ScenarioError:
        return None
    return documents[0].line(("steps", index)) if documents else None


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except InputError as error:
        raise ScenarioError([str(error)]) from None
