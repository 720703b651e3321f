"""Whatever stands in a scenario file, the loader either loads it or says what is wrong; it never fails otherwise."""

import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import ScenarioError
from harness.scenario import positions
from harness.scenario.find import find
from harness.scenario.load import load
from harness.scenario.model import Scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"
TEXTS = [path.read_text(encoding="utf-8") for path in find([], [SCENARIOS])]
WORDS = sorted({word.strip("[]{},") for text in TEXTS for word in text.split()})
ODD = ["$n", "${n}", "$$", "-1", "1e999", "~", "*", "&a", "*a", "<<", "!!int"]
ODD += ["{index}", "\x00", "..", "é", "\ud800", "|", ">", "?", "[", "}"]
TOP = ("nodes", "parameters", "sizes", "steps", "expect", "labels", "variants")

quietly = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS + ODD)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS + ODD), inner, max_size=4),
    max_leaves=12,
)


def survives(text: str) -> None:
    """Load a text: there are either problems that can be printed, or scenarios that can be saved."""
    problems: tuple[str, ...] = ()
    scenarios: list[Scenario] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            file = load(path)
            scenarios = [file.at(size) for size in file.sizes]
        except ScenarioError as error:
            problems = error.problems
    assert bool(problems) != bool(scenarios)
    assert all(problem.startswith(str(path)) and problem.isprintable() for problem in problems)
    # A record keeps the scenario of its own run: what it would have been on other clusters is not part of that.
    kept = [scenario.model_copy(update={"elsewhere": {}}) for scenario in scenarios]
    assert [Scenario.from_json(scenario.to_json()) for scenario in scenarios] == kept


@quietly
@given(st.text())
def test_any_text(text: str) -> None:
    survives(text)


@quietly
@given(text=st.sampled_from(TEXTS), at=st.floats(0, 1), cut=st.integers(0, 30), put=st.sampled_from(WORDS + ODD))
def test_shipped_scenarios_with_a_scratch(text: str, at: float, cut: int, put: str) -> None:
    place = int(at * len(text))
    survives(text[:place] + put + text[place + cut :])


def replaced(value: Any, path: list[int], new: Any) -> Any:
    """Return a copy of a tree in which the value that a path of numbers leads to is another one."""
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(copy[key], path[1:], new)
    return copy


@quietly
@given(text=st.sampled_from(TEXTS), path=st.lists(st.integers(0, 9), min_size=1, max_size=5), new=trees)
def test_shipped_scenarios_with_one_value_replaced(text: str, path: list[int], new: Any) -> None:
    tree = positions.read(text, "shipped.yaml")[0][0].data
    survives(yaml.safe_dump(replaced(tree, path, new), allow_unicode=True))


@quietly
@given(
    st.fixed_dictionaries(
        {"name": st.just("random"), "summary": st.just("Random.")},
        optional=dict.fromkeys(TOP, trees),
    )
)
def test_any_tree(tree: dict[str, Any]) -> None:
    survives(yaml.safe_dump(tree, allow_unicode=True))
