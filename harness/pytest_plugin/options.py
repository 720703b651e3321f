"""The plugin's command line options and markers.

Every option starts with --sched-, to get in nobody's way; --extender is typed too often for that, --report is called as
everywhere in the harness, and what is asked of a kind or existing cluster as pytest-kind and "harness run" call it.
"""

import pytest
from _pytest.mark.expression import Expression

from harness.pytest_plugin.reporting import gather_records

EMBEDDED, KIND = "embedded", "kind"
MARKERS = {
    "scenarios(path): the folder or file whose scenarios a test runs; the test's own folder unless told",
    "slow: takes long, left out unless asked for",
    "embedded: needs the embedded control plane",
    "kind: needs Docker and kind; skipped where they are missing",
    "existing: needs a cluster of the user's own",
    "default: the stock scheduler",
    "extender: a scheduler extender",
    "faults: an extender that is broken on purpose",
    "second_scheduler: a second scheduler beside the default one",
    "framework_plugin: a scheduler with plugins compiled in",
    "controller: a scheduler written as a controller",
    "rebuilt_scheduler: a scheduler built from changed sources",
    "load: measures an extender under load",
    "regression: compares the speed of two extenders",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("scheduler harness")
    group.addoption(
        "--sched-cluster", default=None, help=f"Cluster provider (default: {EMBEDDED}; {KIND} where -m asks for it)."
    )
    group.addoption("--sched-kubernetes", default=None, metavar="VERSION", help="Kubernetes minor, such as 1.36.")
    group.addoption("--sched-fresh", action="store_true", help="A new cluster for every test.")
    group.addoption("--sched-workers", type=int, default=None, metavar="COUNT", help="kind: how many nodes.")
    group.addoption("--kind-config", default=None, metavar="FILE", help="kind: more configuration.")
    group.addoption("--context", default=None, metavar="NAME", help="existing: context of the kubeconfig.")
    group.addoption("--allow-cluster-wide", action="store_true", help="existing: also what is in no namespace.")
    group.addoption("--kwok-nodes", action="store_true", help="existing: add the declared nodes, played by kwok.")
    group.addoption("--yes", action="store_true", help="existing: also if it looks like production.")
    group.addoption("--sched-controlplane-bin", default=None, metavar="DIR", help="Folder of a built control plane.")
    group.addoption(
        "--sched-variant",
        action="append",
        default=None,
        metavar="NAME",
        help="Only this scheduler variant; repeatable (default: every available one).",
    )
    group.addoption(
        "--extender",
        action="append",
        default=None,
        metavar="SUBJECT",
        help="Extender to test instead of ref:pass-through: URL, cmd:…, go:DIR, py:…, ref:NAME, a file; repeatable.",
    )
    group.addoption(
        "--sched-entry", action="append", default=[], metavar="KEY=VALUE", help="Key of its entry; repeatable."
    )
    group.addoption("--sched-base", default=None, metavar="SUBJECT", help="What its speed is compared with.")
    group.addoption("--sched-scheduler-config", default=None, metavar="FILE", help="Configuration of the scheduler.")
    group.addoption("--sched-manifest", default=None, metavar="FILE", help="How a second scheduler is deployed.")
    group.addoption("--sched-scheduler", default=None, metavar="PROGRAM", help="Program of the second scheduler.")
    group.addoption("--sched-plugin", action="append", default=[], metavar="SOURCE", help="Plugin; repeatable.")
    group.addoption("--sched-controller", default=None, metavar="SUBJECT", help="Scheduler written as a controller.")
    group.addoption("--sched-size", action="append", default=None, metavar="NAME", help="Only this size; repeatable.")
    group.addoption("--sched-slow", action="store_true", help='Also scenarios and sizes labelled "slow".')
    group.addoption("--sched-seed", type=int, default=0, help="Seed of every random choice (default: %(default)s).")
    group.addoption("--sched-runs", default=None, metavar="DIR", help="Folder of records (default: reports/runs).")
    group.addoption("--report", default=None, metavar="DIR", help="Write a report of all runs of the session.")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the provider, and register the markers and what writes a report."""
    if config.option.sched_cluster is None:
        config.option.sched_cluster = KIND if _asks_for_kind(str(config.getoption("-m", default=""))) else EMBEDDED
    gather_records(config)
    for marker in sorted(MARKERS):
        config.addinivalue_line("markers", marker)


def _asks_for_kind(expression: str) -> bool:
    """Tell whether -m wants tests for being marked kind: those of another provider would all be skipped."""
    if KIND not in expression:
        return False
    try:
        compiled = Expression.compile(expression)
        return compiled.evaluate(_is_kind) and not compiled.evaluate(_is_nothing)
    except SyntaxError:
        # pytest itself tells what is wrong with it.
        return False


def _is_kind(name: str, /, **_: object) -> bool:
    return name == KIND


def _is_nothing(name: str, /, **_: object) -> bool:
    return False


def wants_slow(config: pytest.Config) -> bool:
    """Return whether slow scenarios were asked for, by the option or by naming their marker."""
    return bool(config.getoption("--sched-slow")) or "slow" in str(config.getoption("-m", default=""))
