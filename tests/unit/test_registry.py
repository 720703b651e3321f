import importlib.metadata
import sys

import pytest

from harness import registry
from harness.cluster.registry import CLUSTERS, provider
from harness.errors import InputError
from harness.registry import Registry
from harness.variant.registry import VARIANTS, variant


def test_a_built_in_is_imported_only_when_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wsgiref.handlers", raising=False)
    found = Registry("thing", "harness.nothing", {"handler": "wsgiref.handlers:CGIHandler"})
    assert found.names() == ["handler"]
    assert "wsgiref.handlers" not in sys.modules
    assert type(found.make("handler")).__name__ == "CGIHandler"


def test_strangers_join_through_their_entry_point_but_replace_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    points = importlib.metadata.EntryPoints(
        importlib.metadata.EntryPoint(name, value, "harness.things")
        for name, value in (("own", "builtins:list"), ("dict", "builtins:dict"))
    )
    monkeypatch.setattr(registry, "entry_points", points.select)
    things = Registry("thing", "harness.things", {"own": "builtins:set"})
    assert things.names() == ["own", "dict"]
    assert things.make("dict") == {}
    assert things.make("own") == set()


@pytest.mark.parametrize(("make", "noun"), [(provider, "cluster"), (variant, "variant")])
def test_an_unknown_name_is_answered_with_the_choices(make: object, noun: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=f'{noun} "nowhere": not available; choose from: .*(embedded|default)'):
        make("nowhere")


def test_every_built_in_knows_its_own_name() -> None:
    assert [CLUSTERS.make(name).name for name in CLUSTERS.built_in] == list(CLUSTERS.built_in)
    assert [VARIANTS.make(name).name for name in VARIANTS.built_in] == list(VARIANTS.built_in)
