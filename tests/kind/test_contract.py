"""The promises of clusters and variants, held to by a real kind cluster as by the fake and the embedded one."""

import contextlib
from collections.abc import Iterator

import pytest

from harness.cluster.base import Cluster
from harness.cluster.kind.control import STOCK_POD
from harness.cluster.kind.pods import NAMESPACE
from harness.kube import names
from harness.run.session import Session
from harness.testing import ClusterContract, VariantContract
from harness.variant.default import DefaultVariant

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


@contextlib.contextmanager
def emptied(session: Session) -> Iterator[Cluster]:
    session.touch()
    session.empty()
    session.touch()
    yield session.cluster


@pytest.mark.parametrize("promise", ClusterContract.promises())
def test_cluster(sched_session: Session, promise: str) -> None:
    ClusterContract(lambda: emptied(sched_session)).check(promise)


@pytest.mark.parametrize("promise", VariantContract.promises())
def test_default_variant(sched_session: Session, promise: str) -> None:
    sched_session.uninstall()
    VariantContract(DefaultVariant, lambda: emptied(sched_session)).check(promise)
    # Its pages are closed with the context, whatever became of the scheduler: what tells is its pod.
    assert STOCK_POD not in names(sched_session.cluster.kube.items(PODS))
