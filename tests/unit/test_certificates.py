import ipaddress
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from harness.certificates import Authority, Identity


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "pki")


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def subject(certificate: x509.Certificate, oid: x509.ObjectIdentifier) -> list[str | bytes]:
    return [attribute.value for attribute in certificate.subject.get_attributes_for_oid(oid)]


def matches(identity: Identity) -> bool:
    key = serialization.load_pem_private_key(identity.key.read_bytes(), password=None)
    return key.public_key() == read(identity.certificate).public_key()


def test_nobody_else_can_read_a_key(authority: Authority, tmp_path: Path) -> None:
    authority.server("kube-apiserver")
    authority.client("system:kube-scheduler")
    authority.signing_key("service-account")
    keys = list((tmp_path / "pki").glob("*.key"))
    assert len(keys) == 3
    for key in keys:
        assert stat.S_IMODE(key.stat().st_mode) == 0o600, key
    assert stat.S_IMODE((tmp_path / "pki").stat().st_mode) == 0o700


def test_the_authoritys_own_key_is_never_written(authority: Authority, tmp_path: Path) -> None:
    assert [path.name for path in (tmp_path / "pki").iterdir()] == ["ca.crt"]


def test_everything_is_vouched_for_by_this_authority_and_no_other(authority: Authority, tmp_path: Path) -> None:
    stranger = read(Authority(tmp_path / "other").certificate)
    for identity in (authority.server("kube-apiserver"), authority.client("harness-admin", "system:masters")):
        read(identity.certificate).verify_directly_issued_by(read(authority.certificate))
        assert matches(identity)
        with pytest.raises(InvalidSignature):
            read(identity.certificate).verify_directly_issued_by(stranger)


def test_only_the_authority_can_vouch(authority: Authority) -> None:
    root = read(authority.certificate).extensions
    assert root.get_extension_for_class(x509.BasicConstraints).value.ca
    assert root.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    issued = read(authority.client("anyone").certificate).extensions
    assert not issued.get_extension_for_class(x509.KeyUsage).value.key_cert_sign


def test_a_server_is_known_by_loopback_names_only(authority: Authority) -> None:
    extensions = read(authority.server("kube-apiserver").certificate).extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == {"localhost", "kubernetes.default.svc"}
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    usage = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_a_client_is_a_user_in_a_group_and_no_server(authority: Authority) -> None:
    certificate = read(authority.client("harness-admin", "system:masters").certificate)
    assert subject(certificate, NameOID.COMMON_NAME) == ["harness-admin"]
    assert subject(certificate, NameOID.ORGANIZATION_NAME) == ["system:masters"]
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    alone = read(authority.client("system:kube-scheduler").certificate)
    assert subject(alone, NameOID.COMMON_NAME) == ["system:kube-scheduler"]
    assert subject(alone, NameOID.ORGANIZATION_NAME) == []


def test_a_server_that_is_started_again_keeps_its_identity(authority: Authority) -> None:
    assert authority.server("kube-scheduler") == authority.server("kube-scheduler")
    assert authority.server("kube-scheduler") != authority.server("other")
