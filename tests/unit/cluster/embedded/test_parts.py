import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.certificates import Authority
from harness.cluster.embedded import parts


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "pki")


@pytest.fixture
def layout(tmp_path: Path, authority: Authority) -> parts.Layout:
    return parts.lay_out(tmp_path, 20_001, authority, tmp_path / "stages.yaml")


@pytest.fixture
def command_lines(tmp_path: Path, layout: parts.Layout, authority: Authority) -> dict[str, list[str]]:
    scheduler = parts.scheduler(layout, tmp_path / "config.yaml", 20_002, authority.server("kube-scheduler"))
    makers: dict[str, Callable[[parts.Layout], list[str]]] = {
        "etcd": parts.etcd,
        "kube-apiserver": parts.api_server,
        "kube-controller-manager": parts.controller_manager,
        "kwok": parts.kwok,
    }
    return {"kube-scheduler": scheduler, **{name: make(layout) for name, make in makers.items()}}


def test_every_address_is_loopback_or_a_socket(command_lines: dict[str, list[str]]) -> None:
    for part, arguments in command_lines.items():
        for argument in arguments:
            name, _, value = argument.partition("=")
            for url in re.findall(r"[a-z]+://[^,/]*", value):
                local = url.startswith(("unix://", "http://127.0.0.1:", "https://kubernetes.default.svc"))
                assert local, f"{part}: {argument}"
            if "address" in name:
                assert value in {"127.0.0.1", ""}, f"{part}: {argument}"


def test_whoever_serves_says_that_it_serves_on_loopback(command_lines: dict[str, list[str]]) -> None:
    for part in ("kube-apiserver", "kube-scheduler"):
        assert "--bind-address=127.0.0.1" in command_lines[part]
    assert "--secure-port=0" in command_lines["kube-controller-manager"]
    assert "--server-address=" in command_lines["kwok"]
    assert any(word.startswith("--listen-client-urls=unix://") for word in command_lines["etcd"])
    assert any(word.startswith("--listen-peer-urls=unix://") for word in command_lines["etcd"])


def test_nothing_switches_protection_off(command_lines: dict[str, list[str]]) -> None:
    words = ("insecure", "skip", "AlwaysAllow", "token-auth-file", "always-allow-paths")
    for part, arguments in command_lines.items():
        for argument in arguments:
            assert not any(word in argument for word in words), f"{part}: {argument}"


def test_the_api_server_has_tls_rbac_and_service_account_tokens(command_lines: dict[str, list[str]]) -> None:
    arguments = dict(argument.split("=", 1) for argument in command_lines["kube-apiserver"])
    assert arguments["--authorization-mode"] == "Node,RBAC"
    assert {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file"} <= arguments.keys()
    assert {"--service-account-issuer", "--service-account-signing-key-file"} <= arguments.keys()


def test_no_client_is_held_back_by_its_own_limiter(command_lines: dict[str, list[str]]) -> None:
    assert "--kube-api-qps=-1" in command_lines["kube-controller-manager"]


def test_etcd_does_not_sync_what_nobody_will_keep(command_lines: dict[str, list[str]]) -> None:
    assert "--unsafe-no-fsync" in command_lines["etcd"]


def test_every_kubeconfig_verifies_and_is_of_its_own_user(tmp_path: Path, layout: parts.Layout) -> None:
    users = set()
    for who in ("admin", "kube-controller-manager", "kube-scheduler", "kwok"):
        document = yaml.safe_load(layout.kubeconfig(who).read_text())
        cluster = document["clusters"][0]["cluster"]
        assert cluster == {"server": "https://127.0.0.1:20001", "certificate-authority": str(layout.authority)}
        user = document["users"][0]["user"]
        assert Path(user["client-key"]).is_file()
        users.add(user["client-certificate"])
    assert len(users) == 4


def test_sockets_lie_in_the_private_folder(tmp_path: Path, layout: parts.Layout) -> None:
    assert layout.etcd_socket.parent == tmp_path
    assert layout.etcd_data.parent == tmp_path
