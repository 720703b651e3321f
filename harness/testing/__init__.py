"""Fakes and contract suites for authors of cluster providers and scheduler variants: no test of theirs needs a cluster.

def test_my_variant(tmp_path: Path) -> None:
    contract = VariantContract(MyVariant, lambda: FakeProvider(tmp_path).cluster(ClusterSpec()))
    for promise in contract.promises():
        contract.check(promise)
"""

from harness.testing.clock import FakeClock
from harness.testing.cluster import FakeCluster, FakeProvider, FakeScheduler
from harness.testing.contracts import ClusterContract, VariantContract
from harness.testing.kube import FakeKube, FakeStream

__all__ = [
    "ClusterContract",
    "FakeClock",
    "FakeCluster",
    "FakeKube",
    "FakeProvider",
    "FakeScheduler",
    "FakeStream",
    "VariantContract",
]
