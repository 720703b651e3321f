"""Reserves loopback ports so that parallel workers, and processes not yet listening, never collide."""

import contextlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ClusterError
from harness.paths import machine_folder
from harness.temporary import give_back, unowned

# Below the range that Linux and macOS hand to outgoing connections: none of those can take a port we promised.
FIRST_PORT, LAST_PORT = 20_000, 31_999


@contextlib.contextmanager
def reserved(count: int, address: str = "127.0.0.1") -> Iterator[list[int]]:
    """Reserve free ports of one address, loopback unless told, for as long as the context lasts.

    The lock files make a port ours between being found free and being listened on.

    Raises:
        ClusterError: so many ports are taken that `count` free ones could not be found.
    """
    folder = _locks()
    candidates = random.sample(range(FIRST_PORT, LAST_PORT + 1), 400)
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for port in candidates:
            if len(ports) == count:
                break
            lock = unowned(folder / f"{port}.lock")
            if lock is None:
                continue
            if _is_free(address, port):
                held.callback(give_back, lock)
                ports.append(port)
            else:
                give_back(lock)
        if len(ports) < count:
            message = (
                f"ports {FIRST_PORT}-{LAST_PORT}: {len(ports)} free in {len(candidates)} tries, {count} needed; "
                'stop what holds them ("harness list", "harness down --all")'
            )
            raise ClusterError(message)
        yield ports


def remove_abandoned() -> int:
    """Remove the lock files of ports that nobody holds: those of killed owners. Return how many."""
    locks = [lock for path in sorted(_locks().glob("*.lock")) if (lock := unowned(path))]
    for lock in locks:
        give_back(lock)
    return len(locks)


def _locks() -> Path:
    folder = machine_folder() / "ports"
    folder.mkdir(exist_ok=True)
    return folder


def _is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True
