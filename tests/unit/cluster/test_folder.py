import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from harness import process
from harness.cluster.folder import ClusterFolder, folder_of, folders, remove_abandoned
from harness.errors import ClusterError, HarnessError, InputError
from harness.paths import state_folder
from tests.processes import await_gone, await_text, python

OWNS = (
    "import sys\n"
    "from harness.cluster.folder import ClusterFolder\n"
    "with ClusterFolder.create('theirs') as folder:\n"
    "    folder.announce(versions={'kubernetes': '1.0.0'})\n"
    "    print('ready', flush=True)\n"
    "    sys.stdin.read()"
)


@pytest.fixture
def owner(tmp_path: Path) -> process.Child:
    """A process that owns the folder of a cluster called "theirs"."""
    child = process.spawn("owner", python(OWNS), log=tmp_path / "owner.log")
    assert await_text(child.log) == "ready\n"
    return child


def test_a_folder_is_private_and_gone_afterwards() -> None:
    with ClusterFolder.create() as folder:
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        assert folder.name == folder.path.name
        assert folders() == [folder]
    assert not folder.path.exists()
    assert folders() == []
    assert list((state_folder() / "locks").iterdir()) == []


def test_a_folder_is_gone_after_an_error_too() -> None:
    def fail() -> None:
        with ClusterFolder.create("mine") as folder:
            (folder.path / "deep").mkdir()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not folder_of("mine").path.exists()


def test_clusters_without_a_name_get_different_ones() -> None:
    with ClusterFolder.create() as one, ClusterFolder.create() as other:
        assert one.name != other.name


def test_a_name_in_use_is_refused_with_the_way_out() -> None:
    with ClusterFolder.create("mine") as folder:
        with pytest.raises(InputError, match='cluster "mine" runs already; "harness down mine" ends it'):
            ClusterFolder.create("mine").__enter__()
        assert folder.path.is_dir()


def test_a_name_can_be_used_again() -> None:
    for _ in range(2):
        with ClusterFolder.create("mine"):
            pass


@pytest.mark.parametrize("name", ["..", "../outside", "/somewhere/else", "a b", ""])
def test_a_name_never_leads_out_of_the_state_folder(tmp_path: Path, name: str) -> None:
    """What lies there would be deleted."""
    state = state_folder()
    (state / "precious").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").touch()
    try:
        with ClusterFolder.create(name) as folder:
            assert folder.path.parent == state / "clusters"
    except HarnessError:
        pass
    assert (state / "precious").exists()
    assert (tmp_path / "outside" / "precious").exists()


def test_what_is_announced_can_be_read_by_others() -> None:
    with ClusterFolder.create("mine") as folder:
        assert folder.facts() == {}
        folder.announce(kubeconfig="/x")
        assert folder_of("mine").facts() == {"name": "mine", "owner": os.getpid(), "kubeconfig": "/x"}
        folder.announce(**folder.facts(), kept=True)
        assert folder.facts()["kept"] is True


def test_a_living_owner_is_seen_and_its_folder_left_alone(owner: process.Child) -> None:
    theirs = folder_of("theirs")
    assert theirs.is_owned()
    assert theirs.facts()["owner"] == owner.pid
    assert remove_abandoned() == []
    assert theirs.path.is_dir()
    owner.stop()


def test_a_dead_owners_folder_is_seen_and_removed(owner: process.Child) -> None:
    os.kill(owner.pid, signal.SIGKILL)
    await_gone([owner.pid])
    theirs = folder_of("theirs")
    assert theirs.path.is_dir()
    assert not theirs.is_owned()
    with ClusterFolder.create("mine") as mine:
        assert remove_abandoned() == ["theirs"]
        assert mine.path.is_dir()
    assert not theirs.path.exists()
    assert remove_abandoned() == []
    owner.stop()


def test_a_new_cluster_takes_the_name_of_a_dead_one(owner: process.Child) -> None:
    os.kill(owner.pid, signal.SIGKILL)
    await_gone([owner.pid])
    with ClusterFolder.create("theirs") as folder:
        assert folder.facts() == {}
        assert list(folder.path.iterdir()) == []
    owner.stop()


def test_a_full_disk_is_said_with_the_place_and_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Path.mkdir

    def full(path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if path.name == "mine":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        make(path, mode, parents, exist_ok)

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(ClusterError, match="mine: No space left on device; free some room or set HARNESS_STATE"):
        ClusterFolder.create("mine").__enter__()
    monkeypatch.undo()
