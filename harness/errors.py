"""Every error the harness raises on purpose, so that callers can tell bad input from broken infrastructure.

    HarnessError                 exit code 3: infrastructure
    ├── InputError               exit code 2: what the user gave cannot be used
    │   ├── ScenarioError        a scenario file; carries every problem with file and line
    │   ├── StepError            a step asks for what the cluster refuses or does not have
    │   └── RecordError          a saved record cannot be read
    ├── MissingToolError         something that must be installed is not there
    ├── BuildError               the control plane could not be built
    ├── CommandError             a command failed; carries its arguments and output
    ├── ClusterError             a cluster did not start, or lost a part
    │   ├── SchedulerDied        what it lost is a scheduler under test: a run makes a verdict of it
    │   ├── NodeDied             what it lost is a node: a run makes a verdict of it
    │   └── NoSuchPage           a scheduler's server has no such page, or it has no server: asking again is no use
    ├── ApiError                 the API server refused a request
    ├── VariantError             a scheduler variant could not be proven active
    └── RunError                 a run was cut short
    ExpectationFailed            exit code 1: an AssertionError, so that pytest shows FAILED and not ERROR

A message reads: where: what was seen, against what was expected; next move.
"""

from collections.abc import Sequence
from pathlib import Path

SHOWN_LINES = 40


class HarnessError(Exception):
    """Base of everything that is not a failed expectation."""

    exit_code = 3
    record: Path | None = None
    """What had been seen when it happened, if a run was going on."""


class InputError(HarnessError):
    """What the user gave (an option, a file, a name) cannot be used."""

    exit_code = 2


class ScenarioError(InputError):
    """A scenario file is wrong; `problems` has one line per fault, each with file and line."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class StepError(InputError):
    """A step of a scenario asks for something that the cluster refuses, or that is not there."""


class MissingToolError(HarnessError):
    """A tool the chosen way needs is not installed; the message names it and the ways out."""


class BuildError(HarnessError):
    """The control plane could not be built from source."""


class CommandError(HarnessError):
    """A command ended with a failure; the message carries the command and the end of its output."""

    def __init__(self, command: Sequence[str], exit_code: int, output: str) -> None:
        self.command = tuple(command)
        self.command_exit_code = exit_code
        self.output = output
        end = "\n".join(output.strip().splitlines()[-SHOWN_LINES:])
        super().__init__(f"{' '.join(command)}: exit code {exit_code}\n{end}")


class ClusterError(HarnessError):
    """A cluster did not come up, or one of its parts died."""


class SchedulerDied(ClusterError):  # noqa: N818 - what happened, not what went wrong with us
    """A scheduler ended by itself; everything else of the cluster runs."""


class NodeDied(ClusterError):  # noqa: N818 - see above
    """A node ended by itself, not because a step removed it; the control plane runs."""


class NoSuchPage(ClusterError):  # noqa: N818 - see above
    """A scheduler does not have the page, today or tomorrow; one that only did not answer may do so the next time."""


class ApiError(HarnessError):
    """The API server refused a request."""

    def __init__(self, method: str, path: str, status: int, message: str) -> None:
        self.method = method
        self.path = path
        self.status = status
        self.reason = message
        super().__init__(f"{method} {path}: {status} {message}")


class VariantError(HarnessError):
    """A scheduler variant was installed but could not be proven active."""


class RunError(HarnessError):
    """A run was cut short."""


class RecordError(InputError):
    """A saved record is missing, incomplete or of an unknown format."""


class ExpectationFailed(AssertionError):  # noqa: N818 - reads as the sentence pytest prints
    """A record does not meet its scenario's expectations."""
