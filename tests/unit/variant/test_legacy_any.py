"""Whatever stands in a configuration: it is translated, or refused with a place; nothing breaks."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from harness.errors import InputError
from harness.scenario import positions
from harness.variant.legacy import Translation, translate
from tests.unit.variant.test_legacy import FIXTURES, NAMES

WORDS = [
    "*",
    "NodeLabel",
    "NodeResourcesFit",
    "RequestedToCapacityRatio",
    "SelectorSpread",
    "1e3",
    "0x1",
    "on",
    "~",
    "#",
]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(WORDS),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([None]),
    st.just({"name": None}),
    st.just([{"name": "NodeResourcesMostAllocated", "weight": "x"}]),
)
ALL = [
    document.data
    for name in NAMES
    for document in positions.read((FIXTURES / name).read_text().replace("\t", " "), name)[0]
]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value, but for what tells a configuration from other documents."""
    for key in data if isinstance(data, dict) else range(len(data) if isinstance(data, list) else 0):
        if path or key not in ("apiVersion", "kind"):
            yield (*path, key)
            yield from places(data[key], (*path, key))


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """Return a configuration with some of its values replaced, and keys that nobody knows."""
    data = copy.deepcopy(draw(st.sampled_from(ALL)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(data))
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        inner = data
        for key in way:
            inner = inner[key]
        if isinstance(inner, dict) and draw(st.booleans()):
            inner[draw(st.sampled_from([last.upper(), "surprise"]))] = inner.pop(last)
        else:
            inner[last] = copy.deepcopy(draw(JUNK))
    return data


def told(data: Any) -> Translation | str:
    policy = 'kind: Policy\nextenders: [{urlPrefix: "http://x"}]'
    try:
        return translate(json.dumps(data, ensure_ascii=False), "s.json", lambda name: policy)
    except InputError as error:
        return str(error)


@given(spoilt())
@settings(deadline=None)
def test_it_is_translated_or_refused_with_its_place(data: Any) -> None:
    translation = told(data)
    if isinstance(translation, str):
        assert all(re.match(r"(s\.json|/etc/\S+|configmap:\S+):", line) for line in translation.splitlines())
        return
    (document,), problems = positions.read(translation.text, "t.yaml")
    assert not problems
    assert document.data == translation.config
    again = translate(translation.text, "t.yaml", lambda name: None)
    assert (again.changes, again.text) == ((), translation.text)
