"""Loads that pods make, as far as that can be seen without any: what is refused, and what a pod is told."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.cluster.kind.cluster import ClusterOnKind
from harness.cluster.kind.tasks import OUT
from harness.errors import HarnessError, InputError
from harness.extender.subject.parse import parse
from harness.load import pods
from harness.load.campaign import Options
from harness.load.generate import Scale
from harness.load.keep import LoadWriter
from harness.load.pod import VARIABLE, Part
from harness.load.pods import carry_out_in_pods, check_pods

SUBJECT = parse("image:mine/extender:1", {"filterVerb": "filter", "urlPrefix": "http://x:9000/scheduler"})
OPTIONS = Options(nodes=(10,), rates=(50.0,), seconds=2.0, warmup_seconds=0.5)

End = Callable[[Path], int]


class FakeTasks:
    """Pods that end at once; `ends` is what the master does when it is waited for, and when it is stopped."""

    def __init__(self, folder: Path, ends: Sequence[End]) -> None:
        self.folder = folder
        self.parts: dict[str, Part] = {}
        self.stopped: list[str] = []
        self._ends = list(ends)

    def start(self, name: str, env: Mapping[str, str]) -> None:
        self.parts[name] = Part.from_json(env[VARIABLE])

    def address(self, name: str) -> str:
        return f"10.244.0.{len(self.parts)}"

    def wait(self, name: str) -> int:
        return self._ends.pop(0)(self.folder)

    def stop(self, name: str) -> None:
        self.stopped.append(name)
        self._ends.pop(0)(self.folder)

    def log(self, name: str) -> str:
        return f"said by {name}"


def leave_record(folder: Path) -> int:
    LoadWriter(folder, "x", {}).finish("complete", [], {})
    return 0


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[ClusterOnKind, FakeTasks]]:
    monkeypatch.setattr(pods, "python_image", lambda program, also: SimpleNamespace(reference=program))

    def made(*ends: End) -> tuple[ClusterOnKind, FakeTasks]:
        folder = tmp_path / "shared"
        folder.mkdir()
        tasks = FakeTasks(folder, ends or (leave_record,))
        cluster: Any = SimpleNamespace(
            tasks=lambda image, seconds: contextlib.nullcontext(tasks),
            serving=lambda image, name, port, env: contextlib.nullcontext(f"http://172.18.0.2:3{port}"),
        )
        return cast("ClusterOnKind", cluster), tasks

    return made


def test_a_pod_is_told_everything_and_the_master_listens_at_its_own_address(make: Any, tmp_path: Path) -> None:
    cluster, tasks = make()
    record = carry_out_in_pods(cluster, SUBJECT, OPTIONS, 2, tmp_path / "out", facts=lambda: {"machine": {"cores": 2}})
    master, *workers = tasks.parts.values()
    assert list(tasks.parts) == ["master", "worker-1", "worker-2"]
    assert master.scale == Scale(2, "master", "$(POD_IP)")
    assert [worker.scale for worker in workers] == [Scale(2, "worker", "10.244.0.1")] * 2
    assert (master.url, master.entry) == ("http://172.18.0.2:39000/scheduler", {"filterVerb": "filter"})
    assert (master.text, master.out, master.facts) == (SUBJECT.text, Path(OUT), {"machine": {"cores": 2}})
    assert (master.options.rates, master.options.nodes, master.options.allow_remote) == ((50.0,), (10,), True)
    assert {worker.options for worker in workers} == {master.options}
    assert record.path.parent == tmp_path / "out"
    assert (record.path / "pods" / "worker-2.log").read_text() == "said by worker-2"
    assert list(tasks.folder.iterdir()) == []


def test_a_master_that_fails_is_told_in_its_own_words(make: Any, tmp_path: Path) -> None:
    cluster, _ = make(lambda folder: 3)
    with pytest.raises(HarnessError, match=r"ended with code 3; what it printed:\nsaid by master"):
        carry_out_in_pods(cluster, SUBJECT, OPTIONS, 1, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def interrupted(folder: Path) -> int:
    raise KeyboardInterrupt


def test_ctrl_c_asks_the_master_for_what_it_has(make: Any, tmp_path: Path) -> None:
    cluster, tasks = make(interrupted, leave_record)
    record = carry_out_in_pods(cluster, SUBJECT, OPTIONS, 1, tmp_path / "out")
    assert tasks.stopped == ["master"]
    assert record.path.is_dir()


def test_ctrl_c_before_anything_was_measured_is_one(make: Any, tmp_path: Path) -> None:
    cluster, _ = make(interrupted, lambda folder: 0)
    with pytest.raises(KeyboardInterrupt):
        carry_out_in_pods(cluster, SUBJECT, OPTIONS, 1, tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "options", "workers", "why"),
    [
        ("ref:pass-through", OPTIONS, 2, "pods load an image"),
        ("http://127.0.0.1:80", OPTIONS, 2, "a loopback of its own"),
        ("http://192.0.2.1:80", OPTIONS, 2, "say --allow-remote"),
        ("image:x", OPTIONS, 0, "1 to 64 expected"),
        ("image:x", Options(seconds=601.0), 2, "at most 600 s"),
        ("image:x", Options(sweep=True), 2, "measure once"),
        ("image:x", Options(cassette=Path("c.jsonl.gz")), 2, "leave --cassette"),
    ],
)
def test_what_pods_cannot_do_is_refused(text: str, options: Options, workers: int, why: str) -> None:
    with pytest.raises(InputError, match=why):
        check_pods(parse(text), options, workers)
