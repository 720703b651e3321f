"""Tests on real kind clusters: `pytest -m kind tests/kind`."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked_for = config.getoption("--sched-cluster") == "kind"
    left_out = pytest.mark.skip(reason="asks for a kind cluster: pytest -m kind tests/kind")
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.kind)
            if not asked_for:
                item.add_marker(left_out)
