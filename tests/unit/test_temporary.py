import errno
import os
import secrets
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import ports, process, temporary
from harness.errors import HarnessError
from harness.paths import machine_folder, state_folder
from tests.processes import await_gone, await_text, python

OWNS = (
    "import sys\n"
    "from harness import ports, temporary\n"
    "with temporary.folder('load') as folder, ports.reserved(2):\n"
    "    (folder / 'locust.log').write_text('x')\n"
    "    print(folder, flush=True)\n"
    "    sys.stdin.read()"
)


@pytest.fixture
def ports_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests reserve ports at the same time."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def owner(tmp_path: Path, ports_of_ones_own: None) -> Iterator[process.Child]:
    """A process that has a temporary folder and two ports."""
    child = process.spawn("owner", python(OWNS), log=tmp_path / "owner.log")
    yield child
    child.stop()


def left() -> list[str]:
    return sorted(path.name for path in (state_folder() / temporary.FOLDER).iterdir())


def locks() -> list[Path]:
    return list((machine_folder() / "ports").iterdir())


def test_a_folder_is_private_and_gone_afterwards() -> None:
    with temporary.folder("load") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.name.startswith("load-")
        assert folder.is_absolute()
        assert left() == [folder.name, f"{folder.name}.lock"]
        assert temporary.remove_abandoned() == []
    assert left() == []


def test_a_folder_that_cannot_be_written_to_is_removed_too() -> None:
    with temporary.folder("build") as folder:
        (folder / "module" / "below").mkdir(parents=True)
        (folder / "module" / "below" / "file.go").write_text("package below")
        (folder / "module" / "below").chmod(0o500)
        (folder / "module").chmod(0o500)
    assert left() == []


def test_a_living_owner_is_left_alone(owner: process.Child) -> None:
    folder = Path(await_text(owner.log).strip())
    assert temporary.remove_abandoned() == []
    assert ports.remove_abandoned() == 0
    assert (folder / "locust.log").exists()
    assert len(locks()) == 2


def test_what_a_killed_owner_left_goes_with_the_next_folder(owner: process.Child) -> None:
    theirs = Path(await_text(owner.log).strip())
    os.kill(owner.pid, signal.SIGKILL)
    await_gone([owner.pid])
    assert theirs.exists()
    with temporary.folder("replay") as ours:
        assert left() == [ours.name, f"{ours.name}.lock"]
    assert len(locks()) == 2
    assert ports.remove_abandoned() == 2
    assert locks() == []


def test_a_lock_without_a_folder_is_removed_and_not_told() -> None:
    with temporary.folder("load"):
        pass
    (state_folder() / temporary.FOLDER / "load-abcdef.lock").touch()
    assert temporary.remove_abandoned() == []
    assert left() == []


def test_what_cannot_be_locked_is_left_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with temporary.folder("load") as folder:
        pass
    folder.mkdir()

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(temporary, "unowned", full)
        assert temporary.remove_abandoned() == []
    assert temporary.remove_abandoned() == [folder.name]


def test_a_full_disk_is_said_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda _: "000000")
    with temporary.folder("load"):
        pass

    def full(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if self.name == "load-000000":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(HarnessError, match=r"load-000000: No space left on device; .* set HARNESS_STATE"):
        temporary.folder("load").__enter__()
