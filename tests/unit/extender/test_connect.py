from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, VariantError
from harness.extender.connect import Place, connected
from harness.extender.subject.parse import parse
from harness.extender.traffic import Connected
from tests.processes import is_gone
from tests.unit.extender.asking import answer, ask
from tests.unit.extender.servers import keeps_names, keeps_nodes, scores, serving

pytestmark = pytest.mark.usefixtures("built_tap")


@pytest.fixture
def connect(tmp_path: Path) -> Any:
    def connect(
        text: str, entry: Mapping[str, Any] | None = None, name: str = "mine", *, tap: bool = True
    ) -> AbstractContextManager[Connected]:
        return connected(name, parse(text, entry), Place(tmp_path / "extenders", None, 0, tap))

    return connect


def test_a_reference_stands_behind_its_tap(connect: Any, tmp_path: Path) -> None:
    with connect("ref:pass-through") as one:
        assert one.entry.url_prefix == one.running.url
        assert one.seen_by_scheduler.url_prefix == one.tap.url != one.entry.url_prefix
        assert one.seen_by_scheduler.verbs() == one.entry.verbs() == {"filter": "filter", "prioritize": "prioritize"}
        assert len(answer(one)["NodeNames"]) == 8
        assert (one.notices, one.notes, one.stopped) == ((), (), False)
        told = one.describe()
        assert (told.name, told.subject, told.url, told.tapped) == (
            "mine",
            "ref:pass-through",
            one.running.url,
            True,
        )
        assert told.entry["urlPrefix"] == one.running.url
    folder = tmp_path / "extenders" / "mine"
    assert folder.stat().st_mode & 0o077 == 0
    assert {"subject.log", "tap.log"} <= {path.name for path in folder.iterdir()}


def test_everything_ends_with_the_context(connect: Any) -> None:
    with connect("ref:pass-through") as one:
        processes = [one.tap.child.pid, one.running.child.pid, *(child.pid for child in one.running.processes())]
        assert len(processes) > 2
    assert all(map(is_gone, processes))


def test_without_a_tap_the_scheduler_calls_the_extender_itself(connect: Any) -> None:
    with connect("ref:pass-through", tap=False) as one:
        assert one.tap is None
        assert one.seen_by_scheduler == one.entry
        assert not one.describe().tapped
        assert answer(one)


def test_what_is_said_about_a_subject_wins_over_what_it_says_itself(connect: Any) -> None:
    with connect("ref:pass-through", {"weight": 7, "nodeCacheCapable": False, "prioritizeVerb": ""}) as one:
        assert (one.entry.weight, one.entry.node_cache_capable) == (7, False)
        assert one.seen_by_scheduler.verbs() == {"filter": "filter"}
        assert answer(one)["Nodes"]["items"]


def test_of_a_url_prefix_only_the_path_counts(connect: Any) -> None:
    with serving({"/deep/filter": keeps_names}) as served:
        about = {"filterVerb": "filter", "nodeCacheCapable": True}
        with connect(served.url, {"urlPrefix": "http://elsewhere.example:1/deep", **about}) as one:
            assert one.entry.url_prefix == f"{served.url}/deep"
            assert one.seen_by_scheduler.url_prefix == f"{one.tap.url}/deep"
            assert answer(one)["NodeNames"]
            assert not one.running.restartable


def test_what_nobody_said_is_found_out_and_told(connect: Any) -> None:
    with serving({"/s/predicates": keeps_nodes, "/s/prioritize": scores}) as served, connect(f"{served.url}/s") as one:
        assert one.entry.verbs() == {"filter": "predicates", "prioritize": "prioritize"}
        assert (one.entry.node_cache_capable, one.entry.weight) == (False, 1)
        (note,) = one.notes
        assert note.startswith("found out by asking it: ")
        assert 'filterVerb "predicates"' in note
        assert one.describe().notes == (note,)
        assert answer(one)["Nodes"]["items"]


def test_what_is_known_is_not_guessed(connect: Any) -> None:
    with serving({"/filter": keeps_names}) as served:
        with connect(served.url, {"weight": 9, "ignorable": True}) as one:
            assert (one.entry.weight, one.entry.ignorable, one.entry.filter_verb) == (9, True, "filter")
        with connect(served.url, {"nodeCacheCapable": False}) as one:
            assert not one.entry.node_cache_capable, "that it works with names is another matter"
        with connect(served.url, {"filterVerb": "other"}) as one:
            assert one.notes == ()
            assert one.entry.verbs() == {"filter": "other"}


def test_a_wrong_route_is_told_and_does_not_stop_anything(connect: Any) -> None:
    with connect("ref:index-bind-misrouted") as one:
        (notice,) = one.notices
        assert notice.code == "not-found"
        assert "/priority does answer" in notice.text
        assert notice.text in one.describe().notes
        assert ask(one, "prioritize").status == 404


def test_nobody_at_an_address_is_an_error_with_the_likely_cause(connect: Any) -> None:
    with serving({}) as served:
        gone = served.url
    with pytest.raises(VariantError, match=r"not reachable: .*refuse"):
        connect(gone, {"filterVerb": "filter"}).__enter__()


def test_an_extender_that_speaks_something_else_is_an_error_with_the_likely_cause(connect: Any) -> None:
    with serving({"/filter": keeps_names}) as served:
        secure = served.url.replace("http:", "https:")
        with pytest.raises(VariantError, match=r"extender mine \(https://.*\) cannot be reached: .*TLS"):
            connect(secure, {"filterVerb": "filter", "enableHTTPS": True}).__enter__()


def test_an_extender_that_does_not_start_says_why(connect: Any) -> None:
    with pytest.raises(VariantError, match=r"cmd:sh -c 'echo oh': ended before it answered .*\n?oh"):
        connect("cmd:sh -c 'echo oh'").__enter__()
    with pytest.raises(InputError, match="no module 'nowhere_at_all'"):
        connect("py:nowhere_at_all:Extender").__enter__()
