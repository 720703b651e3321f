from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scenario import quantity


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("2", "2"),
        ("+2", "2"),
        ("-2", "-2"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("100m", "0.1"),
        ("250u", "0.00025"),
        ("7n", "0.000000007"),
        ("3k", "3000"),
        ("64M", "64000000"),
        ("1G", "1000000000"),
        ("1T", "1000000000000"),
        ("1P", "1000000000000000"),
        ("1E", "1000000000000000000"),
        ("1Ki", "1024"),
        ("8Mi", "8388608"),
        ("1.5Gi", "1610612736"),
        ("1Ti", "1099511627776"),
        ("1Pi", "1125899906842624"),
        ("1Ei", "1152921504606846976"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("12e-1", "1.2"),
    ],
)
def test_parse_is_exact(text: str, exact: str) -> None:
    assert quantity.parse(text) == Decimal(exact)


def test_numbers_as_yaml_gives_them() -> None:
    assert quantity.parse(4) == 4
    assert quantity.parse(0.1) == Decimal("0.1")


@pytest.mark.parametrize(
    "text", ["", "x", "8GB", "1 Gi", "1,5", "m", "1mm", "0x10", "1e", "--1", "1Kii", "٣", "1" * 65]
)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity; write a number with an optional suffix"):
        quantity.parse(text)


def test_message() -> None:
    with pytest.raises(ValueError, match="quantity") as caught:
        quantity.parse("8GB")
    assert str(caught.value) == (
        '"8GB" is not a quantity; write a number with an optional suffix, such as 2, 500m, 1.5, 8Gi or 64M'
    )


@pytest.mark.parametrize("text", ["8Ei", "9223372036854775808", "1e999", "-1e19"])
def test_too_large_for_kubernetes(text: str) -> None:
    with pytest.raises(ValueError, match="larger than Kubernetes can count; the most is 9223372036854775807"):
        quantity.parse(text)


def test_true_is_no_quantity() -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity.parse(True)


@pytest.mark.parametrize(("text", "millis"), [("100m", 100), ("1", 1000), ("0.1", 100), ("1u", 1), ("1500u", 2)])
def test_millis_are_rounded_up(text: str, millis: int) -> None:
    assert quantity.millis(text) == millis


@pytest.mark.parametrize(("text", "units"), [("1Ki", 1024), ("0.5", 1), ("100m", 1), ("1.5Gi", 1610612736), ("0", 0)])
def test_units_are_rounded_up(text: str, units: int) -> None:
    assert quantity.units(text) == units


def test_amount_depends_on_the_resource() -> None:
    assert quantity.amount("cpu", "2") == 2000
    assert quantity.amount("memory", "2Ki") == 2048
    assert quantity.amount("nvidia.com/gpu", 2) == 2


@settings(deadline=None)
@given(
    number=st.decimals(min_value=0, max_value=8000, places=3),
    suffix=st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"]),
)
def test_agrees_with_the_client_of_kubernetes(number: Decimal, suffix: str) -> None:
    from kubernetes.utils.quantity import parse_quantity

    oracle: Callable[[str], Decimal] = parse_quantity
    assert quantity.parse(f"{number}{suffix}") == oracle(f"{number}{suffix}")
