"""Gives a kubelet the identity of a node: a certificate that the cluster itself signs, for a key that is made here."""

import base64
import secrets

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harness.clock import WaitTimeoutError, wait_until
from harness.errors import ClusterError
from harness.kube import Kube

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SIGN_SECONDS = 180.0


def node_identity(kube: Kube, node: str) -> bytes:
    """Return certificate and key of a node, as one PEM file.

    Raises:
        ClusterError: the cluster does not sign it.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"system:node:{node}"),
        ]
    )
    wish = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    request_name = f"harness-{secrets.token_hex(4)}"
    body = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": request_name},
        "spec": {
            "request": base64.b64encode(wish.public_bytes(serialization.Encoding.PEM)).decode(),
            "signerName": SIGNER,
            "usages": ["digital signature", "client auth"],
        },
    }
    path = f"{REQUESTS}/{request_name}"
    kube.request("POST", REQUESTS, body=body)
    approval = {"type": "Approved", "status": "True", "reason": "Harness", "message": "a node of a scenario"}
    kube.patch(f"{path}/approval", {"status": {"conditions": [approval]}})
    try:
        signed = wait_until(
            lambda: kube.request("GET", path).get("status", {}).get("certificate"),
            what=f"a certificate for node {node}",
            timeout_seconds=SIGN_SECONDS,
            poll_seconds=0.02,
        )
    except WaitTimeoutError as error:
        raise ClusterError(f"{error}; kube-controller-manager signs it: look at its log") from error
    finally:
        kube.delete(path)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return base64.b64decode(signed) + private
