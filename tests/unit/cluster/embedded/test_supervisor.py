import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.embedded.supervisor import Supervisor
from harness.errors import ClusterError
from tests.processes import PATIENCE_SECONDS, await_text, is_gone

WAITS = "import os, sys; print(os.environ['CONTROLPLANE_LIFELINE'], flush=True); sys.stdin.read()"
DIES = "import sys; print('address already in use'); sys.exit(3)"


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    """Starts Python in place of the control plane: the part is -c, its argument a script."""
    with Supervisor(Path(sys.executable), tmp_path / "logs") as supervisor:
        yield supervisor


def test_parts_have_names_logs_and_pids_and_none_outlives_the_supervisor(tmp_path: Path) -> None:
    with Supervisor(Path(sys.executable), tmp_path / "logs") as supervisor:
        one = supervisor.start("-c", [WAITS], name="one")
        held = supervisor.start("-c", [WAITS], name="held", held=True)
        assert supervisor.pids() == {"one": one.pid, "held": held.pid}
        assert await_text(one.log) == "stdin\n"
        assert await_text(held.log) == "stdin-held\n"
        assert supervisor.logs() == {"held": held.log, "one": one.log}
        supervisor.check()
    assert is_gone(one.pid)
    assert is_gone(held.pid)


def test_who_still_waits_for_a_cluster_that_was_ended_is_told_at_once(tmp_path: Path) -> None:
    with Supervisor(Path(sys.executable), tmp_path / "logs") as supervisor:
        held = supervisor.start("-c", [WAITS], held=True)
    with pytest.raises(ClusterError, match="has been ended"):
        supervisor.wait(lambda: None, "something that never comes", timeout_seconds=PATIENCE_SECONDS)
    held.release()


def test_a_part_that_dies_is_told_with_its_name_code_and_last_words(supervisor: Supervisor) -> None:
    supervisor.start("-c", [WAITS], name="lives")
    child = supervisor.start("-c", [DIES], name="kube-apiserver")
    assert child.ended.wait(PATIENCE_SECONDS)
    with pytest.raises(ClusterError) as caught:
        supervisor.check()
    message = str(caught.value)
    assert f"lost a part: kube-apiserver (pid {child.pid}) exited with code 3" in message
    assert "address already in use" in message
    assert "lives" not in message


def test_a_wait_ends_when_a_part_dies_and_not_at_its_deadline(supervisor: Supervisor) -> None:
    child = supervisor.start("-c", [WAITS], name="etcd")
    await_text(child.log)
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ClusterError, match=r"etcd \(pid \d+\) was ended by signal 9"):
        supervisor.wait(lambda: None, "something that never comes", timeout_seconds=PATIENCE_SECONDS)


def test_a_wait_that_fails_shows_what_every_part_said_last(supervisor: Supervisor) -> None:
    child = supervisor.start("-c", [WAITS], name="kwok")
    await_text(child.log)
    with pytest.raises(ClusterError, match=r"the moon did not happen(?s:.*)--- kwok: .*kwok\.log\nstdin"):
        supervisor.wait(lambda: None, "the moon", timeout_seconds=0.05)


def test_a_part_that_was_stopped_is_not_missed(supervisor: Supervisor) -> None:
    child = supervisor.start("-c", [WAITS], name="kube-scheduler")
    await_text(child.log)
    supervisor.stop(child)
    supervisor.check()
    assert supervisor.pids() == {}
    assert "kube-scheduler" in supervisor.logs()


def test_a_socket_is_awaited_until_it_accepts(supervisor: Supervisor, tmp_path: Path) -> None:
    path = tmp_path / "s"
    script = (
        "import signal, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); signal.pause()"
    )
    supervisor.start("-c", [script, str(path)], name="server")
    supervisor.await_socket(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_logs_are_private(supervisor: Supervisor, tmp_path: Path) -> None:
    assert (tmp_path / "logs").stat().st_mode & 0o077 == 0
