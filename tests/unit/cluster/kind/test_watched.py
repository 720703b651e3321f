"""Schedulers that are to live: what counts as the end of one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.kind.pods import OwnPods
from harness.cluster.kind.running import Watched
from harness.errors import SchedulerDied
from harness.kube import Object
from harness.testing import FakeKube
from tests.processes import PATIENCE_SECONDS
from tests.unit.cluster.kind.given import RUNNING, WHERE, change, scheduler, started

ENDED: Object = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}


@pytest.fixture
def kube() -> FakeKube:
    return FakeKube()


@pytest.fixture
def pods(kube: FakeKube) -> Iterator[OwnPods]:
    with OwnPods(kube, lambda: None) as found:
        yield found


@pytest.fixture
def watched(kube: FakeKube, pods: OwnPods, tmp_path: Path) -> Watched:
    """A scheduler that was started twice already when it was taken on."""
    log = tmp_path / "scheduler.log"
    log.write_text("first\nlast words\n")
    started(kube, pods, scheduler(RUNNING, restarts=2))
    found = Watched(pods)
    found.add("my-scheduler", WHERE, log)
    return found


def now(kube: FakeKube, pods: OwnPods, item: Object) -> None:
    change(kube, item)
    name, status = item["metadata"]["name"], item["status"]
    pods.wait(lambda seen: seen[name]["status"] == status, "the change", PATIENCE_SECONDS)


def test_one_that_lives_is_no_news(watched: Watched) -> None:
    watched.check()


@pytest.mark.parametrize(
    "after",
    [
        scheduler(RUNNING, restarts=3, last=ENDED),
        scheduler(ENDED, restarts=2),
        scheduler({"waiting": {"reason": "CrashLoopBackOff"}}, restarts=3, last=ENDED),
    ],
    ids=["started again", "ended", "waits for another start"],
)
def test_one_that_ended_has_died_however_fast_it_came_back(
    kube: FakeKube, pods: OwnPods, watched: Watched, after: Object
) -> None:
    now(kube, pods, after)
    with pytest.raises(SchedulerDied, match=r"^my-scheduler died: exit code 137, OOMKilled\. Last lines") as caught:
        watched.check()
    assert str(caught.value).endswith("first\nlast words")


def test_how_it_ended_may_be_unknown(kube: FakeKube, pods: OwnPods, watched: Watched) -> None:
    now(kube, pods, scheduler(RUNNING, restarts=3))
    with pytest.raises(SchedulerDied, match="exit code None, no reason given"):
        watched.check()


def test_what_is_not_expected_any_more_may_end(kube: FakeKube, pods: OwnPods, watched: Watched) -> None:
    watched.remove("my-scheduler")
    watched.remove("my-scheduler")
    now(kube, pods, scheduler(ENDED, restarts=2))
    watched.check()


def test_the_end_of_somebody_else_is_not_its_own(kube: FakeKube, pods: OwnPods, watched: Watched) -> None:
    started(kube, pods, scheduler(ENDED, name="of-another-start", mark="other", restarts=9))
    watched.check()
