"""No secret that somebody typed is in the record of a run, whatever it was typed for."""

import json
from pathlib import Path

import pytest
import zstandard

from harness.extender.cassette.command import LEFT_OUT
from harness.record.call import CASSETTE
from harness.record.read import read
from harness.run.execute import RunRequest, execute
from harness.run.keep import command, schedulers
from harness.scenario.extenders import ExtenderSpec
from harness.testing import FakeCluster, FakeScheduler
from harness.variant.base import Setup
from harness.variant.controller import ControllerVariant
from harness.variant.default import DefaultVariant
from harness.variant.extender import ExtenderVariant
from tests.unit.extender.servers import keeps_names, serving
from tests.unit.run.given import scenario

SECRET = "hunter2"
PODS = {"op": "createPods", "count": 1}
NODES = [{"count": 1}]


def secretive(path: Path) -> list[str]:
    """Return the files of a record that tell the secret, and the names that do."""
    found = [file.name for file in path.rglob("*") if SECRET in file.name]
    for file in (one for one in path.rglob("*") if one.is_file()):
        data = file.read_bytes()
        if file.name == CASSETTE:
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        found += [file.name] if SECRET.encode() in data else []
    return found


@pytest.mark.usefixtures("built_tap")
@pytest.mark.parametrize("tap", [True, False])
def test_secrets_of_an_extender(tmp_path: Path, tap: bool) -> None:
    (tmp_path / "c").mkdir()
    cluster = FakeCluster(tmp_path / "c")
    typed = f"cmd:x --password={SECRET}"
    with serving({"/filter": keeps_names}) as served:
        address = served.url.replace("http://", f"http://user:{SECRET}@")
        entry = {"filterVerb": "filter", "nodeCacheCapable": True}
        extenders = (ExtenderSpec.model_validate({"subject": address, "entry": entry}),)
        made = scenario(PODS, nodes=NODES, extenders=[{"subject": typed}], scheduler=f"cmd:y --token '{SECRET}'")
        made = made.model_copy(update={"source": f"extenders: [{{subject: {typed}}}]\n"})
        with ExtenderVariant().install(cluster, Setup(extenders, tap=tap)) as installed:
            words = ["harness", "run", "--extender", address, f"--controller=cmd:z --token {SECRET}"]
            path = execute(RunRequest(made, 0, tmp_path / "runs", "fake", words), cluster, installed)
    assert secretive(path) == []
    record = read(path)
    assert record.meta.command[2:] == (
        "--extender",
        address.replace(SECRET, LEFT_OUT),
        f"--controller=cmd:z --token {LEFT_OUT}",
    )
    assert record.scenario.extenders[0].subject == f"cmd:x --password={LEFT_OUT}"
    assert record.extenders[0].subject == address.replace(SECRET, LEFT_OUT)


def test_secrets_of_a_controller(tmp_path: Path) -> None:
    cluster = FakeCluster(tmp_path)
    text = f"cmd:python3 my_controller.py --kubeconfig {{kubeconfig}} --some-long-option value --token {SECRET}"
    with ControllerVariant().install(cluster, Setup(controller=text)) as installed:
        assert SECRET not in installed.config + json.dumps(installed.notes)


def test_a_command_line() -> None:
    assert command(["harness", "run", "--entry", "tlsConfig={keyData: aGk=}", "--extender", "cmd:x --token a"]) == [
        "harness",
        "run",
        "--entry",
        "tlsConfig={keyData: (left out)}",
        "--extender",
        f"cmd:x --token {LEFT_OUT}",
    ]


UNLIMITED = {"qps": -1, "burst": 0, "leaderElect": False, "traced": False}
UNKNOWN = {"command": None, "verbosity": None}


def test_the_settings_of_every_scheduler_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster(tmp_path)
    with DefaultVariant().install(cluster) as installed:
        assert schedulers(cluster, installed) == [{"name": "default-scheduler", **UNKNOWN, **UNLIMITED}]
        started = ["kube-scheduler", "--v=2", f"--token={SECRET}", "-v=4"]
        monkeypatch.setattr(FakeScheduler, "command", started, raising=False)
        (told,) = schedulers(cluster, installed)
    assert told["command"] == ["kube-scheduler", "--v=2", f"--token={LEFT_OUT}", "-v=4"]
    assert told["verbosity"] == 4


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--v=2", "-v=4"], 4),
        (["--v", "3", "--leader-elect=false"], 3),
        (["-v", "5"], 5),
        (["-v6"], 6),
        (["--v=2", "-v"], 2),
        (["--v=2", "--v", "--leader-elect=false"], 2),
        (["--vmodule=a=9", "--version", "--values", "7"], None),
    ],
)
def test_how_much_it_logs_is_the_last_word_of_its_command_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], seen: int | None
) -> None:
    cluster = FakeCluster(tmp_path)
    monkeypatch.setattr(FakeScheduler, "command", ["kube-scheduler", *words], raising=False)
    with DefaultVariant().install(cluster) as installed:
        (told,) = schedulers(cluster, installed)
    assert told["verbosity"] == seen


@pytest.mark.parametrize(
    ("text", "known"), [("ref:random", UNLIMITED), ("cmd:sh x", {**dict.fromkeys(UNLIMITED), "traced": False})]
)
def test_of_a_controller_only_what_is_known_is_kept(tmp_path: Path, text: str, known: dict[str, object]) -> None:
    cluster = FakeCluster(tmp_path)
    with ControllerVariant().install(cluster, Setup(controller=text)) as installed:
        assert schedulers(cluster, installed) == [{"name": "controller-scheduler", **UNKNOWN, **known}]
