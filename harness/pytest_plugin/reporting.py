"""`--report`: at the end of a session, the report of everything that its tests recorded, on whichever worker."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.report.publish import Published

MEASURED: pytest.StashKey[list[Path]] = pytest.StashKey()
"""Records of loads and comparisons that a test made."""

# Reports of tests travel from the workers of pytest-xdist with all their attributes.
ATTRIBUTE = "harness_records"
NAME = "harness-report"


def attach(report: pytest.TestReport, records: Iterable[Path], trouble: HarnessError | None) -> None:
    """Write the records that a test made until now into its report, also that of a run that was cut short."""
    broken_off = trouble.record if trouble else None
    setattr(report, ATTRIBUTE, [str(path.resolve()) for path in (*records, broken_off) if path])


def gather_records(config: pytest.Config) -> None:
    """Begin to gather records for the report that was asked for; workers leave that to who started them."""
    folder = config.getoption("--report")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Gatherer(Path(folder)), NAME)


class Gatherer:
    """Gathers the records of a session and writes its report."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Each once, in the order of the tests' ends.
        self._records: dict[str, None] = {}
        self._written: Published | None = None
        self._trouble = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the records of a test."""
        self._records.update(dict.fromkeys(getattr(report, ATTRIBUTE, ())))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report; a session whose report was asked for and cannot be written is no success."""
        from harness.report.publish import publish  # noqa: PLC0415 - loaded only where it is asked for

        if not self._records:
            return
        try:
            self._written = publish([Path(path) for path in self._records], self._folder)
        except HarnessError as error:
            self._trouble = str(error)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell where the report is."""
        terminalreporter.section("scheduler harness report")
        if self._written is None:
            terminalreporter.write_line(self._trouble or "no test made a record: there is no report")
            return
        for line in (self._written.document.sentence, *self._written.listing()):
            terminalreporter.write_line(line)
