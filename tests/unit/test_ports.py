import contextlib
import random
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import ports, process
from harness.errors import ClusterError
from harness.paths import machine_folder
from tests.processes import PATIENCE_SECONDS, await_text, python


@contextlib.contextmanager
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [held.enter_context(listening()) for _ in range(count)]


def only(monkeypatch: pytest.MonkeyPatch, candidates: list[int]) -> None:
    """Leave no other ports to choose from."""
    monkeypatch.setattr(random, "sample", lambda population, count: list(candidates))


def test_reserved_ports_are_distinct_free_and_out_of_the_range_of_outgoing_connections() -> None:
    with ports.reserved(5) as found:
        assert len(set(found)) == 5
        for port in found:
            assert ports.FIRST_PORT <= port <= ports.LAST_PORT
            socket.create_server(("127.0.0.1", port)).close()


def test_a_port_in_use_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    (free,) = free_ports(1)
    with listening() as taken:
        only(monkeypatch, [taken, free])
        with ports.reserved(1) as found:
            assert found == [free]


def test_threads_never_get_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = 6
    only(monkeypatch, free_ports(3 * workers))
    all_hold = threading.Barrier(workers)

    def reserve(_: int) -> list[int]:
        with ports.reserved(3) as found:
            all_hold.wait(PATIENCE_SECONDS)
            return found

    with ThreadPoolExecutor(workers) as pool:
        given = [port for found in pool.map(reserve, range(workers)) for port in found]
    assert len(set(given)) == len(given) == 3 * workers


def test_another_process_never_gets_the_same_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = free_ports(4)
    script = (
        "import sys\n"
        "from harness import ports\n"
        f"ports.random.sample = lambda population, count: {candidates}\n"
        "with ports.reserved(2) as found:\n"
        "    print(*found, flush=True)\n"
        "    sys.stdin.read()"
    )
    other = process.spawn("other", python(script), log=tmp_path / "other.log")
    theirs = [int(port) for port in await_text(other.log).split()]
    only(monkeypatch, candidates)
    with ports.reserved(2) as ours:
        assert not set(ours) & set(theirs)
        assert {*ours, *theirs} == set(candidates)
    other.stop()


def test_a_port_can_be_had_again_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, free_ports(1))
    with ports.reserved(1) as first:
        pass
    with ports.reserved(1) as again:
        assert again == first


def test_nothing_is_left_of_a_port_that_was_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = machine_folder() / "ports"
    with listening() as taken:
        only(monkeypatch, [taken, *free_ports(1)])
        with ports.reserved(1) as found:
            assert (folder / f"{found[0]}.lock").exists()
            assert not (folder / f"{taken}.lock").exists()
    assert not (folder / f"{found[0]}.lock").exists()


def test_ports_are_ones_own_whatever_the_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Between a reservation and the listening only the lock tells others, and they may have another state folder."""
    candidates = free_ports(2)
    only(monkeypatch, candidates)
    with ports.reserved(1) as ours:
        monkeypatch.setenv("HARNESS_STATE", str(tmp_path / "another"))
        with ports.reserved(1) as theirs:
            assert {*ours, *theirs} == set(candidates)


def test_a_failed_reservation_gives_back_what_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, free_ports(1))
    with pytest.raises(ClusterError), ports.reserved(2):
        pass
    with ports.reserved(1) as found:
        assert len(found) == 1


def test_too_few_free_ports_are_said_with_numbers_and_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as taken:
        only(monkeypatch, [taken])
        with pytest.raises(ClusterError, match=r"\b0 free .*1 tries, 2 needed; .*harness down --all"):
            ports.reserved(2).__enter__()
