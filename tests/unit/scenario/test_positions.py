from typing import Any

import pytest

from harness.scenario import positions


def data(text: str) -> Any:
    documents, problems = positions.read(text, "f.yaml")
    assert problems == []
    return documents[0].data


def problems(text: str) -> list[str]:
    documents, found = positions.read(text, "f.yaml")
    assert documents == []
    return [str(problem) for problem in found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("2026-11-16", "2026-11-16"),
        ("2026-11-16T06:00:00Z", "2026-11-16T06:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("null", None),
        ("~", None),
        ("", None),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0x1f", 31),
        ("0o17", 15),
        ("0644", 420),
        ("08", "08"),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("100m", "100m"),
        ("3.10.1", "3.10.1"),
        ('"7"', "7"),
        ("'true'", "true"),
        ("!!str 7", "7"),
        ("! 7", "7"),
        ("|\n  7\n", "7\n"),
        ("=", "="),
    ],
)
def test_scalars(text: str, value: Any) -> None:
    seen = data(f"key: {text}")["key"]
    assert seen == value
    assert type(seen) is type(value)


def test_keys_are_text() -> None:
    assert data("on: 1\n1: 2\ntrue: 3\nnull: 4\n2026-11-16: 5") == {
        "on": 1,
        "1": 2,
        "true": 3,
        "null": 4,
        "2026-11-16": 5,
    }


def test_lines_of_nested_keys_and_items() -> None:
    text = """\
# comment
a:
  b:
  - x
  -
    c: 1
    d: [1,
      2]
  e: |
    text
    text
  f: {g: 1,
    h: 2}
"""
    [document], _ = positions.read(text, "f.yaml")
    lines = {
        (): 2,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "b", 0): 4,
        ("a", "b", 1): 6,
        ("a", "b", 1, "c"): 6,
        ("a", "b", 1, "d"): 7,
        ("a", "b", 1, "d", 0): 7,
        ("a", "b", 1, "d", 1): 8,
        ("a", "e"): 9,
        ("a", "f"): 12,
        ("a", "f", "g"): 12,
        ("a", "f", "h"): 13,
    }
    assert document.lines == lines


def test_line_of_what_is_missing_is_that_of_its_parent() -> None:
    [document], _ = positions.read("a:\n  b: 1\n", "f.yaml")
    assert document.line(("a", "b", "x", 3)) == 2
    assert document.line(("z",)) == 1


def test_documents_have_lines_of_their_own() -> None:
    documents, _ = positions.read("---\na: 1\n---\nb: 2\n", "f.yaml")
    assert [document.data for document in documents] == [{"a": 1}, {"b": 2}]
    assert [document.line(()) for document in documents] == [2, 4]


def test_anchors_and_merges() -> None:
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\nd: {<<: [*a, {z: 4}]}\n"
    assert data(text) == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": {"x": 1, "y": 2},
        "d": {"x": 1, "y": 2, "z": 4},
    }


def test_duplicate_key_beside_the_data() -> None:
    documents, found = positions.read("a:\n  b: 1\n  c: 2\n  b: 3\n", "f.yaml")
    assert [str(problem) for problem in found] == [
        "f.yaml:4: a.b: duplicate key; the first one stands in line 2; remove one of them"
    ]
    assert documents[0].data == {"a": {"b": 3, "c": 2}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: b: c\n", "f.yaml:1:5: broken YAML: mapping values are not allowed in this context"),
        ("a:\n  - b\n c: 1\n", "f.yaml:3:2: broken YAML: while parsing a block mapping, did not find expected key"),
        ("a: \x07\n", "f.yaml:1:4: broken YAML: character '\\x07' is not allowed: control characters are not allowed"),
        ("a: *x\n", 'f.yaml:1: a: alias "*x" has no anchor before it'),
        ("a: &x [*x]\n", 'f.yaml:1: a[0]: alias "*x" has no anchor before it'),
        (
            "a: !!python/object/apply:os.system [x]\n",
            'f.yaml:1: a: tag "tag:yaml.org,2002:python/object/apply:os.system" is not accepted; write plain values',
        ),
        ("a:\n  ? [b]\n  : c\n", "f.yaml:2: a: a key has to be a word, a list or mapping seen"),
        ("a: 1e999\n", 'f.yaml:1: a: "1e999" is too large; put it in quotes if it is text'),
        ("a: {<<: 3}\n", 'f.yaml:1: a: "<<" merges mappings, 3 seen'),
    ],
)
def test_unreadable(text: str, problem: str) -> None:
    assert problems(text) == [problem]


def test_long_number() -> None:
    [problem] = problems(f"a: {'9' * 5000}\n")
    assert problem == f'f.yaml:1: a: "{"9" * 58}… has too many digits; put it in quotes if it is text'


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000])
def test_deep_nesting_is_refused_and_not_fatal(text: str) -> None:
    [problem] = problems(text)
    assert problem.endswith("nested deeper than 64 levels")


def test_aliases_cannot_blow_up() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    [problem] = problems("\n".join(lines))
    assert problem == "f.yaml:6: a5: grows beyond 200000 values or 64 levels"
