import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.errors import InputError
from harness.extender import requests
from harness.extender.author import Binds, Filters, Preempts, Prioritizes
from harness.extender.serving.app import App
from harness.extender.serving.target import Given, resolve
from harness.kube import Kube

NODES = [requests.node(name, labels={"disk": disk}) for name, disk in (("a", "ssd"), ("b", "hdd"), ("c", "ssd"))]
ARGUMENTS = requests.encoded(requests.extender_args(requests.pod(), NODES, names_only=False))

MODULE = """
from harness.extender.author import Filtered

class Careful:
    def __init__(self, seed=7, kube=None, disk="ssd"):
        self.seed, self.kube, self.disk = seed, kube, disk
    def filter(self, pod, nodes):
        return [node for node in nodes if node.labels.get("disk") == self.disk]

class NeedsCluster:
    def __init__(self, kube):
        self.kube = kube
    def bind(self, binding): ...

class NeedsOption:
    def __init__(self, colour):
        self.colour = colour
    def bind(self, binding): ...

class Nothing: ...

made = Careful(seed=3)

def factory(seed):
    return Careful(seed)

def prioritize(pod, nodes):
    return {node.name: 4 for node in nodes}

def likes_ssd(pod, nodes):
    return {node.name: 10 for node in nodes if node.labels["disk"] == "ssd"}

def only_ssd(pod, nodes):
    return [node for node in nodes if node.labels["disk"] == "ssd"]

def explains(pod, nodes):
    return Filtered(kept=["a"], rejected={"b": "slow", "c": "full"})
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_extender.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_extender", None)


def ask(extender: object, kind: str) -> Any:
    return orjson.loads(App(extender).answer("POST", f"/{kind}", ARGUMENTS).body)


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("py:my_extender:Careful", ["a", "c"]),
        ("py:my_extender:made", ["a", "c"]),
        ("py:my_extender:made.filter", ["a", "c"]),
        ("py:my_extender:factory", ["a", "c"]),
        ("py:my_extender:only_ssd", ["a", "c"]),
        ("py:my_extender:likes_ssd", ["a", "b", "c"]),
        ("py:my_extender:explains", ["a"]),
    ],
)
def test_python_targets_that_filter(target: str, kept: list[str]) -> None:
    extender, _ = resolve(target, Given(seed=5))

    assert [node["metadata"]["name"] for node in ask(extender, "filter")["Nodes"]["items"]] == kept


def test_a_function_may_score() -> None:
    extender, _ = resolve("py:my_extender:prioritize", Given())
    assert list(App(extender).routes) == ["/prioritize"]

    extender, _ = resolve("py:my_extender:likes_ssd", Given())
    assert ask(extender, "prioritize") == [{"Host": "a", "Score": 10}, {"Host": "c", "Score": 10}]
    extender, _ = resolve("py:my_extender:only_ssd", Given())
    assert {one["Score"] for one in ask(extender, "prioritize")} == {0}


def test_makers_get_what_they_ask_for(tmp_path: Path) -> None:
    made: Any
    (tmp_path / "config").write_text("{}")
    made, _ = resolve("py:my_extender:Careful", Given(seed=5, kubeconfig=tmp_path / "config", options={"disk": "hdd"}))
    assert (made.seed, made.disk) == (5, "hdd")
    assert isinstance(made.kube, Kube)

    made, _ = resolve("py:my_extender:made", Given(seed=5))
    assert made.seed == 3


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("lucky", '"ref:NAME" or "py:module:callable" expected'),
        ("ref:luky", 'did you mean "lucky"? known: pass-through, lucky'),
        ("ref:lucky?colour=red", "unknown option 'colour'; known: none"),
        ("ref:lucky?seed=1", "unknown option 'seed'"),
        ("ref:want-you?nod=a", "known: node"),
        ("py:my_extender", "py:module:callable"),
        ("py:no_such_module:X", "No module named 'no_such_module'"),
        ("py:my_extender:Carefull", "it has Filtered, Careful"),
        ("py:my_extender:Nothing", "none of the methods filter"),
        ("py:my_extender:NeedsCluster", "--kubeconfig"),
        ("py:my_extender:NeedsOption", "--option colour=VALUE"),
    ],
)
def test_targets_that_cannot_be_used_say_why(target: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        resolve(target, Given())
    assert said in str(raised.value)


def test_a_kubeconfig_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="nowhere: no such file"):
        resolve("ref:index-bind", Given(kubeconfig=Path("nowhere")))


def test_protocols_recognise_extenders() -> None:
    extender, _ = resolve("ref:index-bind", Given())

    assert isinstance(extender, Filters)
    assert isinstance(extender, Prioritizes)
    assert isinstance(extender, Binds)
    assert not isinstance(extender, Preempts)
