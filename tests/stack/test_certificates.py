"""Keys and certificates of the local cluster."""

from __future__ import annotations

from pathlib import Path

from cryptography import x509

from deploy.stack.certificates import FRONT_PROXY_NAME, Pair, make_certificates


def certificate(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.read_bytes())


def test_only_the_owner_may_read_a_private_key(tmp_path: Path) -> None:
    make_certificates(tmp_path)

    keys = sorted(tmp_path.glob("*.key"))
    assert len(keys) == 6
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


def test_server_and_administrator_are_signed_by_the_cluster_authority(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)

    for pair in (made.server, made.admin):
        certificate(pair).verify_directly_issued_by(certificate(made.ca))


def test_the_front_proxy_has_an_authority_of_its_own(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)

    proxy = certificate(made.front_proxy)
    proxy.verify_directly_issued_by(certificate(made.front_proxy_ca))
    assert proxy.issuer != certificate(made.ca).subject
    assert proxy.subject.rfc4514_string() == f"CN={FRONT_PROXY_NAME}"
