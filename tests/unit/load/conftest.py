"""Ports for what tests start by themselves."""

from collections.abc import Iterator

import pytest

from harness import ports


@pytest.fixture
def two_ports(own_folders: None) -> Iterator[list[int]]:
    """Two ports that nobody else has."""
    with ports.reserved(2) as found:
        yield found
