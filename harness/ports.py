"""Reserves loopback ports so that parallel workers, and processes not yet listening, never collide."""

import contextlib
import random
import socket
from collections.abc import Iterator

from filelock import FileLock, Timeout

from harness.errors import ClusterError
from harness.paths import state_folder

# Below the range that Linux and macOS hand to outgoing connections: none of those can take a port we promised.
FIRST_PORT, LAST_PORT = 20_000, 31_999


@contextlib.contextmanager
def reserved(count: int, address: str = "127.0.0.1") -> Iterator[list[int]]:
    """Reserve free ports of one address, loopback unless told, for as long as the context lasts.

    The lock files make a port ours between being found free and being listened on.

    Raises:
        ClusterError: so many ports are taken that `count` free ones could not be found.
    """
    folder = state_folder() / "ports"
    folder.mkdir(exist_ok=True)
    candidates = random.sample(range(FIRST_PORT, LAST_PORT + 1), 400)
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for port in candidates:
            if len(ports) == count:
                break
            lock = FileLock(folder / f"{port}.lock", timeout=0)
            try:
                lock.acquire()
            except Timeout:
                continue
            if _is_free(address, port):
                held.callback(lock.release)
                ports.append(port)
            else:
                lock.release()
        if len(ports) < count:
            message = (
                f"ports {FIRST_PORT}-{LAST_PORT}: {len(ports)} free in {len(candidates)} tries, {count} needed; "
                'stop what holds them ("harness list", "harness down --all")'
            )
            raise ClusterError(message)
        yield ports


def _is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True
