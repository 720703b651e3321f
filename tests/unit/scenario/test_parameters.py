from typing import Any

import pytest

from harness.scenario.parameters import Substitution, is_reference, unbraced

PARAMETERS = {"n": 3, "word": "pause", "list": [1, 2], "nothing": None, "flag": True, "map": {"min": 1}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$n", 3),
        ("$word", "pause"),
        ("$list", [1, 2]),
        ("$nothing", None),
        ("$flag", True),
        ("$map", {"min": 1}),
        ("${n}", "3"),
        ("${word}-${n}", "pause-3"),
        ("${flag}", "true"),
        ("$$n", "$n"),
        ("$$", "$"),
        ("$${n}", "${n}"),
        ("$$$$", "$$"),
        ("^Insufficient cpu$", "^Insufficient cpu$"),
        ("$(HOME)", "$(HOME)"),
        ("a $5 note", "a $5 note"),
        ("echo $HOME now", "echo $HOME now"),
        ({"a": ["$n", {"b": "$word"}]}, {"a": [3, {"b": "pause"}]}),
        (7, 7),
        (None, None),
    ],
)
def test_apply(value: Any, expected: Any) -> None:
    substitution = Substitution(PARAMETERS)
    assert substitution.apply(value) == expected
    assert substitution.faults == []


def test_remembers_what_was_used() -> None:
    substitution = Substitution(PARAMETERS)
    substitution.apply({"a": "$n", "b": "x-${word}", "c": "$$flag"})
    assert substitution.used == {"n", "word"}


def test_leaves_what_it_is_told_to_keep() -> None:
    substitution = Substitution(PARAMETERS)
    assert substitution.apply({"a": "$n", "b": {"a": "$n"}}, keep=["a"]) == {"a": "$n", "b": {"a": 3}}


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        (
            {"a": ["$wrd"]},
            ("a", 0),
            (
                'undefined parameter "$wrd"; did you mean "word"? defined: n, word, list, nothing, flag, map; '
                "write $$wrd for a dollar sign"
            ),
        ),
        (
            "x-${zzzzzz}",
            (),
            (
                'undefined parameter "${zzzzzz}"; defined: n, word, list, nothing, flag, map; '
                "write $${zzzzzz} for a dollar sign"
            ),
        ),
        (
            "pod-$n",
            (),
            '"$n" inside text stays as it is; write ${n} for the parameter or $$n for a dollar sign',
        ),
        ({"${n}": 1}, ("${n}",), "a parameter cannot stand in a key; write the key out"),
    ],
)
def test_faults(value: Any, path: tuple[str | int, ...], message: str) -> None:
    substitution = Substitution(PARAMETERS)
    substitution.apply(value)
    assert substitution.faults == [(path, message)]


def test_is_reference() -> None:
    assert is_reference("$a")
    assert is_reference("x ${a}")
    assert not is_reference("$$a")
    assert not is_reference("cost: $")
    assert not is_reference(3)


def test_unbraced() -> None:
    assert unbraced("${a}") == "$a"
    assert unbraced("${a}x") is None
    assert unbraced("$a") is None
    assert unbraced(3) is None
