import pytest

from harness.scenario import selector

LABELS = {"app": "web", "tier": "front", "empty": "", "topology.kubernetes.io/zone": "a"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("  ", True),
        ("app=web", True),
        ("app==web", True),
        ("app=db", False),
        (" app = web , tier = front ", True),
        ("app=web,tier=back", False),
        ("app!=db", True),
        ("app!=web", False),
        ("absent!=web", True),
        ("absent=web", False),
        ("app in (web,db)", True),
        ("app in (db)", False),
        ("absent in (db)", False),
        ("app notin (db, cache)", True),
        ("app notin (web)", False),
        ("absent notin (web)", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
        ("empty=", True),
        ("app=", False),
        ("empty in (x,)", True),
        ("topology.kubernetes.io/zone=a", True),
        ("in in (x)", False),
        ("app in (web),tier!=back,!absent", True),
    ],
)
def test_matches(text: str, matches: bool) -> None:
    assert selector.parse(text).matches(LABELS) is matches


SYNTAX = "write a=b, a!=b, a in (x,y), a notin (x,y), a or !a, joined by commas"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("app=web tier=x", f'"app=web tier=x" is not a label selector: "tier" seen, "," expected; {SYNTAX}'),
        ("app,", f'"app," is not a label selector: the end seen, another requirement expected; {SYNTAX}'),
        ("=web", f'"=web" is not a label selector: "=" seen, a label key expected; {SYNTAX}'),
        ("!", f'"!" is not a label selector: the end seen, a label key expected; {SYNTAX}'),
        ("app in web", f'"app in web" is not a label selector: "web" seen, "(" expected; {SYNTAX}'),
        ("app in (web", f'"app in (web" is not a label selector: the end seen, ")" expected; {SYNTAX}'),
        (
            "app is web",
            f'"app is web" is not a label selector: "is" seen, "=", "!=", "in", "notin" or "," expected; {SYNTAX}',
        ),
        (
            "a/b/c=d",
            (
                '"a/b/c=d" is not a label selector: "a/b/c" is not a label key; use at most 63 letters, digits, '
                '"-", "_" and ".", after an optional domain and /'
            ),
        ),
        (
            "app=-x",
            (
                '"app=-x" is not a label selector: "-x" is not a label value; use at most 63 letters, digits, '
                '"-", "_" and "."'
            ),
        ),
    ],
)
def test_errors_say_where_it_stops_making_sense(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="not a label selector") as caught:
        selector.parse(text)
    assert str(caught.value) == message


def test_prints_as_it_was_written() -> None:
    assert str(selector.parse("app = web")) == "app = web"
