import stat
from pathlib import Path

import yaml

from harness.cluster import kubeconfig


def test_a_kubeconfig_is_private_verifies_its_server_and_holds_no_secret(tmp_path: Path) -> None:
    path = kubeconfig.write(
        tmp_path / "admin.kubeconfig",
        server="https://127.0.0.1:20000",
        authority=tmp_path / "ca.crt",
        certificate=tmp_path / "admin.crt",
        key=tmp_path / "admin.key",
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    document = yaml.safe_load(path.read_text())
    assert document["current-context"] == document["contexts"][0]["name"]
    assert document["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:20000",
        "certificate-authority": f"{tmp_path}/ca.crt",
    }
    assert document["users"][0]["user"] == {
        "client-certificate": f"{tmp_path}/admin.crt",
        "client-key": f"{tmp_path}/admin.key",
    }
