"""What holds for all tests."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, on another cluster, what is about the embedded one: its processes, its files, what it plays."""
    chosen = config.getoption("--sched-cluster")
    if chosen != "embedded":
        left_out = pytest.mark.skip(reason=f"is about the embedded cluster, and {chosen} was chosen")
        for item in items:
            if item.get_closest_marker("embedded"):
                item.add_marker(left_out)
