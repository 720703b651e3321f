import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import cache, progress
from tests.processes import PATIENCE_SECONDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "thing"


def fill(draft: Path) -> None:
    (draft / "made").write_text("yes")


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.parent.iterdir() if not path.name.endswith(".lock")]


def test_what_is_not_there_is_made_and_what_is_there_is_kept(folder: Path) -> None:
    assert cache.kept(folder, fill, what="The thing") == folder
    assert (folder / "made").read_text() == "yes"

    def never(_: Path) -> None:
        raise AssertionError("made twice")

    assert cache.kept(folder, never, what="The thing") == folder


def test_nobody_sees_it_half_made(folder: Path) -> None:
    def look(draft: Path) -> None:
        assert not folder.exists()
        assert list(draft.iterdir()) == []
        fill(draft)

    cache.kept(folder, look, what="The thing")
    assert left(folder) == ["thing"]


@pytest.mark.parametrize("trouble", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_maker_leaves_nothing_and_the_next_can_begin(folder: Path, trouble: type[BaseException]) -> None:
    def fail(draft: Path) -> None:
        fill(draft)
        raise trouble

    with pytest.raises(trouble):
        cache.kept(folder, fail, what="The thing")
    assert left(folder) == []
    cache.kept(folder, fill, what="The thing")
    assert left(folder) == ["thing"]


def test_what_a_killed_maker_left_is_removed_by_the_next(folder: Path) -> None:
    draft = folder.parent / f"{folder.name}.draft-abc"
    draft.mkdir(parents=True)
    fill(draft)
    cache.kept(folder, fill, what="The thing")
    assert left(folder) == ["thing"]


def test_two_makers_wait_for_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    begun, waiting = threading.Event(), threading.Event()
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        waiting.set()

    def make(number: int) -> None:
        def fill_slowly(draft: Path) -> None:
            begun.set()
            assert waiting.wait(PATIENCE_SECONDS)
            made.append(number)
            fill(draft)

        cache.kept(folder, fill_slowly, what="The thing")

    monkeypatch.setattr(progress, "note", note)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(make, 1)
        assert begun.wait(PATIENCE_SECONDS)
        second = pool.submit(make, 2)
        first.result(PATIENCE_SECONDS)
        second.result(PATIENCE_SECONDS)
    assert made == [1]
    assert notes == ["The thing is being made by another process; waiting for it."]


def test_who_waited_for_a_maker_that_failed_makes_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, waiting = threading.Event(), threading.Event()
    monkeypatch.setattr(progress, "note", lambda text: waiting.set())

    def fail(draft: Path) -> None:
        begun.set()
        assert waiting.wait(PATIENCE_SECONDS)
        raise RuntimeError("no disk")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.kept, folder, fail, what="The thing")
        assert begun.wait(PATIENCE_SECONDS)
        second = pool.submit(cache.kept, folder, fill, what="The thing")
        with pytest.raises(RuntimeError, match="no disk"):
            first.result(PATIENCE_SECONDS)
        assert second.result(PATIENCE_SECONDS) == folder
    assert (folder / "made").exists()
