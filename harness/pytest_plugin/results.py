"""Shows a failing test's evidence in its report, and tells trouble with the infrastructure from a wrong placement."""

from collections.abc import Generator
from typing import Any

import pytest

from harness.pytest_plugin.fixtures import RUNS, trouble_of
from harness.pytest_plugin.reporting import MEASURED, attach

SECTION = "scheduler harness"
INFRASTRUCTURE = "harness_infrastructure"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach what the harness knows about every run of a failed test."""
    report = yield
    records = [*(run.record.path for run in item.stash.get(RUNS, [])), *item.stash.get(MEASURED, [])]
    trouble = trouble_of(call.excinfo.value if call.excinfo else None)
    attach(report, records, trouble)
    if report.failed:
        for run in item.stash.get(RUNS, []):
            from harness.report.text import run_text  # noqa: PLC0415 - only a failure needs it

            report.sections.append((f"{SECTION}: {run.title}", run_text(run, verbose=True)))
        if trouble is not None:
            setattr(report, INFRASTRUCTURE, True)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """Call a test that the infrastructure kept from judging an ERROR, wherever in the test that happened."""
    if getattr(report, INFRASTRUCTURE, False):
        return "error", "E", "ERROR"
    return None
