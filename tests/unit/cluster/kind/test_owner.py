"""Whom a kind cluster belongs to, and what proves that this owner is gone."""

import os
import re
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness.clock import wait_until
from harness.cluster.kind import owner
from harness.cluster.kind.owner import Owner
from harness.process import spawn
from tests.processes import PATIENCE_SECONDS

NOBODY = "999999999"
US = Owner.here(keep=False)
GONE = replace(US, process=NOBODY)


def test_what_is_written_into_a_path_is_read_from_it_again() -> None:
    odd = replace(US, host="ä b/c:d=e%\t", keep="yes")
    assert Owner.parse(odd.place) == odd
    # Docker splits at colons, and so does what reads the mounts of a container.
    assert not set(odd.place) & set(":, \t\n")


@pytest.mark.parametrize("place", ["/harness", "/harness-owner", "/var/harness-owner/keep=no", "/lib/modules", ""])
def test_another_path_tells_of_nobody(place: str) -> None:
    assert Owner.parse(place) is None


def test_we_live_and_that_is_said() -> None:
    assert US.lives
    assert US.doubt() == f"process {os.getpid()} uses it"


def test_a_process_that_is_gone_leaves_no_doubt() -> None:
    assert not GONE.lives
    assert GONE.doubt() is None


def test_another_process_with_the_same_number_is_not_it() -> None:
    ours = replace(US, started="1")
    assert not ours.lives
    assert ours.doubt() is None


def test_a_process_that_nobody_collected_has_ended(tmp_path: Path) -> None:
    child = spawn("sleep", [sys.executable, "-c", "import time; time.sleep(600)"], log=tmp_path / "log")
    started = owner._started(str(child.pid))
    theirs = replace(US, process=str(child.pid), started=started or "")
    assert theirs.lives
    child.kill()
    wait_until(lambda: not theirs.lives, what="its end", timeout_seconds=PATIENCE_SECONDS)
    assert theirs.doubt() is None


@pytest.mark.parametrize(("state", "threads", "is_there"), [("Z", 1, False), ("Z", 3, True), ("S", 1, True)])
def test_one_whose_first_thread_alone_has_ended_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, threads: int, is_there: bool
) -> None:
    (tmp_path / "7").mkdir()
    stat = f"7 (a) b) {state} {'0 ' * 16}{threads} 0 4711 0"
    (tmp_path / "7" / "stat").write_text(stat)
    monkeypatch.setattr(owner, "PROCESSES", tmp_path)
    assert owner._started("7") == ("4711" if is_there else None)


def test_one_that_cannot_be_looked_at_is_in_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A folder in place of the file: any error but that it is not there.
    (tmp_path / NOBODY / "stat").mkdir(parents=True)
    monkeypatch.setattr(Owner, "here", classmethod(lambda cls, *, keep: replace(US, keep="yes" if keep else "no")))
    monkeypatch.setattr(owner, "PROCESSES", tmp_path)
    assert GONE.doubt() == f"process {NOBODY} uses it"
    assert not GONE.lives


def test_after_a_boot_no_process_of_before_is_left_whatever_its_number() -> None:
    before = replace(US, boot="another", namespace="1")
    assert not before.lives
    assert before.doubt() is None


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"keep": "yes"}, "made to be kept"),
        ({"machine": "another"}, "made on another machine"),
        ({"host": "another"}, r"made on another machine \(another\)"),
        ({"machine": "another", "boot": "another"}, "made on another machine"),
        ({"host": "another", "boot": "another"}, "made on another machine"),
        ({"user": "4711"}, r"made by another user \(uid 4711\)"),
        ({"user": "4711", "boot": "another"}, "made by another user"),
        ({"namespace": "1"}, "in another container of this machine"),
    ],
)
def test_what_cannot_be_proven_is_a_doubt(changed: dict[str, str], why: str) -> None:
    told = replace(GONE, **changed).doubt()
    assert re.search(why, told or "")


@pytest.mark.parametrize("missing", asdict(US))
def test_a_mark_that_lacks_something_proves_nothing(missing: str) -> None:
    place = "/".join(part for part in GONE.place.split("/") if not part.startswith(f"{missing}="))
    read = Owner.parse(place)
    assert read
    assert read.doubt() == "this system does not tell for certain which process made it"


def test_a_system_that_does_not_tell_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, "PROCESSES", tmp_path)
    monkeypatch.setattr(owner, "MACHINE_FILES", (tmp_path / "machine-id",))
    assert {name for name, value in asdict(Owner.here(keep=True)).items() if not value} == {
        "machine",
        "boot",
        "namespace",
        "started",
    }
    assert not US.lives
    assert GONE.doubt() == "this system does not tell for certain which process made it"
