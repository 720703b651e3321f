"""Every cluster provider, and the fake that stands in for one, keep the same promises."""

import contextlib
from pathlib import Path

import pytest

from harness.cluster.base import Cluster, ClusterSpec
from harness.testing import ClusterContract, FakeProvider

PROMISES = ClusterContract.promises()


@pytest.mark.parametrize("promise", PROMISES)
def test_fake(promise: str, tmp_path: Path) -> None:
    ClusterContract(lambda: FakeProvider(tmp_path).cluster(ClusterSpec())).check(promise)


@pytest.mark.embedded
@pytest.mark.parametrize("promise", PROMISES)
def test_embedded(promise: str, cluster: Cluster) -> None:
    ClusterContract(lambda: contextlib.nullcontext(cluster)).check(promise)
