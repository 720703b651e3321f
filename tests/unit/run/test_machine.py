import platform
import socket

from harness.run import machine


def test_alike_machines_have_the_same_id_and_no_name() -> None:
    facts = machine.fingerprint()
    assert facts == machine.fingerprint()
    assert len(facts["id"]) == 12
    assert facts["cores"] >= 1
    assert facts["memory_bytes"] > 0
    names = {socket.gethostname(), platform.node()} - {"", "localhost"}
    assert not any(name == str(value) for name in names for value in facts.values())


def test_versions_and_load_are_told() -> None:
    assert machine.versions()["python"] == platform.python_version()
    assert machine.load_now() >= 0
