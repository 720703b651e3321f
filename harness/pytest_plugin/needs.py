"""Skips tests of kind where it cannot run; where it must run, they fail instead of being passed over."""

import functools
import os

import pytest

REQUIRE = "HARNESS_REQUIRE_KIND"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test that needs kind before anything is brought up for it."""
    if not _needs_kind(item):
        return
    why = _unavailable()
    if why is None:
        return
    if os.environ.get(REQUIRE, "") not in ("", "0"):
        pytest.fail(f"kind is required here ({REQUIRE}): {why}", pytrace=False)
    pytest.skip(f"kind: {why}")


def _needs_kind(item: pytest.Item) -> bool:
    """Tell whether a test is marked so, or is about to bring up the session's cluster on kind."""
    if item.get_closest_marker("kind") is not None:
        return True
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return item.config.getoption("--sched-cluster") == "kind" and "sched_session" in fixtures


@functools.cache
def _unavailable() -> str | None:
    """Say why kind cannot be used here; asked once, and only when a test needs it."""
    from harness.cluster.kind.tools import unavailable  # noqa: PLC0415 - see above

    return unavailable()
