from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from harness.record.shape import checked


@dataclass(frozen=True)
class Shape:
    text: str = ""
    number: float = 0.0
    count: int | None = None
    status: Literal["held", "rejected"] = "held"
    texts: tuple[str, ...] = ()
    reasons: Mapping[str, int] = field(default_factory=dict)
    more: Any = None


def test_what_is_as_declared_passes() -> None:
    shape = Shape("a", 1, None, "held", ("a", "b"), {"a": 1}, object())
    assert checked(shape) is shape


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", 7),
        ("text", None),
        ("number", "1"),
        ("count", "1"),
        ("status", 1),
        ("texts", ["a"]),
        ("texts", ("a", 1)),
        ("reasons", []),
    ],
)
def test_what_is_not_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"^{name}: "):
        checked(Shape(**{name: value}))  # type: ignore[arg-type]
