"""The harness as a pytest plugin: scenarios become tests, clusters fixtures, and evidence sections of a report."""

from harness.pytest_plugin.collect import pytest_generate_tests
from harness.pytest_plugin.fixtures import cluster, run_scenario, scenario_run, sched_session, variant
from harness.pytest_plugin.measuring import load_test, regress
from harness.pytest_plugin.needs import pytest_runtest_setup
from harness.pytest_plugin.options import pytest_addoption, pytest_configure
from harness.pytest_plugin.results import pytest_report_teststatus, pytest_runtest_makereport

__all__ = [
    "cluster",
    "load_test",
    "pytest_addoption",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "regress",
    "run_scenario",
    "scenario_run",
    "sched_session",
    "variant",
]
