"""Reads Kubernetes quantities ("100m", "8Gi", "1e3") into exact integers, as the API server does.

Everything is computed with Decimal: a float would turn 0.1 CPU into a hundred and one millicores.
"""

import re
from decimal import ROUND_CEILING, Context, Decimal

from harness.scenario.words import shown

QUANTITY_MAX = 2**63 - 1
"""The largest amount Kubernetes can hold; it counts in 64-bit integers."""

_SHAPE = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
    r"(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]{1,3}))?"
)
_MULTIPLIERS = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
# Wide enough for any accepted number: 19 digits before the point, 9 after it, times a suffix of 19.
_CONTEXT = Context(prec=80, rounding=ROUND_CEILING)
_TEXT_CHARACTERS_MAX = 64


def parse(value: str | float) -> Decimal:
    """Return the exact amount of a quantity, in its base unit (cores, bytes, pieces).

    Raises:
        ValueError: the text is no quantity, or larger than Kubernetes can count.
    """
    text = str(value)
    match = _SHAPE.fullmatch(text) if len(text) <= _TEXT_CHARACTERS_MAX and not isinstance(value, bool) else None
    if match is None:
        raise ValueError(
            f"{shown(text)} is not a quantity; write a number with an optional suffix, such as 2, 500m, 1.5, 8Gi or 64M"
        )
    number = Decimal(match["number"])
    if match["suffix"]:
        number = _CONTEXT.multiply(number, _MULTIPLIERS[match["suffix"]])
    elif match["exponent"]:
        number = _CONTEXT.scaleb(number, int(match["exponent"]))
    if abs(number) > QUANTITY_MAX:
        raise ValueError(f"{shown(text)} is larger than Kubernetes can count; the most is {QUANTITY_MAX}")
    return number


def millis(value: str | float) -> int:
    """Return a quantity in thousandths of its unit (millicores for CPU), rounded up as Kubernetes does.

    Raises:
        ValueError: the text is no quantity.
    """
    return _rounded_up(_CONTEXT.multiply(parse(value), Decimal(1000)))


def units(value: str | float) -> int:
    """Return a quantity in whole units (bytes for memory, pieces for the rest), rounded up as Kubernetes does.

    Raises:
        ValueError: the text is no quantity.
    """
    return _rounded_up(parse(value))


def amount(resource: str, value: str | float) -> int:
    """Return millicores when the resource is `cpu`, else whole units.

    Raises:
        ValueError: the text is no quantity.
    """
    return millis(value) if resource == "cpu" else units(value)


def _rounded_up(number: Decimal) -> int:
    return int(number.to_integral_value(rounding=ROUND_CEILING, context=_CONTEXT))
