from typing import Any

import pytest

from harness.expect.judge import judge
from tests.unit.expect.records import RecordBuilder


def made(counts: dict[str, int], *expect: dict[str, Any]) -> RecordBuilder:
    """Return a record with one node per zone and so many pods on each, bound one zone after the other."""
    builder = RecordBuilder(*expect)
    number = 0
    for zone, count in counts.items():
        builder.node(f"node-{zone}", labels={"zone": zone})
        for _ in range(count):
            number += 1
            builder.pod(f"web-{number}", f"node-{zone}", bound_t=1 + number / 10)
    return builder


def test_an_even_spread_holds() -> None:
    verdict = judge(made({"a": 4, "b": 3, "c": 3}, {"kind": "spread", "over": "zone"}).build())[0]
    assert (verdict.status, verdict.expected, verdict.seen) == ("held", "maxSkew 1", "1")
    assert verdict.evidence == ("10 of 10 pods bound",)


def test_an_uneven_spread_is_rejected_in_one_sentence() -> None:
    verdict = judge(made({"a": 6, "b": 2, "c": 2}, {"kind": "spread", "over": "zone"}).build())[0]
    assert verdict.sentence() == (
        "spread over zone: maxSkew 1 expected, 4 seen (a 6, b 2, c 2). "
        "10 of 10 pods bound; first breach web-2 → node-a at 1.20 s"
    )


def test_an_empty_domain_counts() -> None:
    assert not judge(made({"a": 2, "b": 0}, {"kind": "spread", "over": "zone"}).build())[0].ok


def test_domains_can_be_narrowed() -> None:
    expect = {"kind": "spread", "over": "zone", "nodeSelector": "zone!=b"}
    verdict = judge(made({"a": 2, "b": 0, "c": 2}, expect).build())[0]
    assert (verdict.ok, verdict.detail) == (True, "a 2, c 2")


@pytest.mark.parametrize("over", ["zone", "rack"])
def test_without_pods_or_domains_nothing_is_proven(over: str) -> None:
    verdict = judge(made({"a": 0 if over == "zone" else 2}, {"kind": "spread", "over": over}).build())[0]
    assert (verdict.status, verdict.seen) == ("rejected", "no bound pod in any domain")


@pytest.mark.parametrize(
    ("counts", "expect"),
    [
        ({"a": 7, "b": 6, "c": 7}, {"counts": [7, 7, 6]}),
        ({"a": 7, "b": 6, "c": 0}, {"counts": [6, 7]}),
        ({"a": 1, "b": 2}, {"perNode": {"min": 1, "max": 2}}),
        ({"a": 2, "b": 2, "c": 0}, {"perNode": 2, "nodeSelector": "zone in (a,b)"}),
    ],
)
def test_a_distribution_that_fits_holds(counts: dict[str, int], expect: dict[str, Any]) -> None:
    assert judge(made(counts, {"kind": "distribution", **expect}).build())[0].status == "held"


@pytest.mark.parametrize(
    ("counts", "expect"),
    [
        ({"a": 8, "b": 6, "c": 6}, {"counts": [7, 7, 6]}),
        ({"a": 1, "b": 1}, {"counts": [1, 1, 0]}),
        ({"a": 1, "b": 0}, {"perNode": {"min": 1}}),
        ({"a": 1}, {"perNode": 0, "nodeSelector": "zone=x"}),
    ],
)
def test_a_distribution_that_does_not_fit_is_rejected(counts: dict[str, int], expect: dict[str, Any]) -> None:
    assert judge(made(counts, {"kind": "distribution", **expect}).build())[0].status == "rejected"


def test_a_rejected_distribution_names_the_nodes() -> None:
    verdict = judge(made({"a": 3, "b": 1}, {"kind": "distribution", "perNode": {"max": 2}}).build())[0]
    assert (verdict.seen, verdict.detail) == ("[3, 1]", "node-a 3, node-b 1")
    assert verdict.evidence == ("4 of 4 pods bound", "out of range: node-a 3")
