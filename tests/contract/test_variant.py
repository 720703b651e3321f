"""Every variant keeps the same promises, on the fake cluster and on a real one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.base import Cluster, ClusterSpec
from harness.cluster.registry import provider
from harness.testing import FakeProvider, VariantContract
from harness.variant.registry import VARIANTS, variant

PROMISES = VariantContract.promises()


@pytest.fixture(scope="module")
def bare_cluster() -> Iterator[Cluster]:
    """A cluster without any scheduler: the one that tests share may have one already."""
    with provider("embedded").cluster(ClusterSpec()) as cluster:
        yield cluster


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("name", VARIANTS.built_in)
def test_fake(name: str, promise: str, tmp_path: Path) -> None:
    clusters = FakeProvider(tmp_path)
    VariantContract(lambda: variant(name), lambda: clusters.cluster(ClusterSpec())).check(promise)


@pytest.mark.embedded
@pytest.mark.xdist_group("bare cluster")
@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("name", VARIANTS.built_in)
def test_embedded(name: str, promise: str, bare_cluster: Cluster) -> None:
    VariantContract(lambda: variant(name), lambda: contextlib.nullcontext(bare_cluster)).check(promise)
