"""Keys and certificates of the local cluster: who may speak to the API server, and as whom.

Three separate authorities, as a real cluster has them: the cluster's own (server and client certificates),
the front proxy's (the aggregator proves itself to extension API servers), and the key that signs service
account tokens. Files with a private key are readable by their owner alone.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

FRONT_PROXY_NAME = "front-proxy-client"
_VALID = datetime.timedelta(days=365)
_PRIVATE = 0o600
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_ADDRESSES = ("127.0.0.1", "10.0.0.1")


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, on disk."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Certificates:
    """All files the servers of one cluster need."""

    ca: Pair
    server: Pair
    admin: Pair
    front_proxy_ca: Pair
    front_proxy: Pair
    service_account_key: Path


@dataclass(frozen=True, slots=True)
class _Authority:
    name: x509.Name
    key: ec.EllipticCurvePrivateKey
    pair: Pair


def write_private(path: Path, data: bytes) -> Path:
    """Write a file that only its owner may read, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path


def make_certificates(folder: Path) -> Certificates:
    """Create every key and certificate of one cluster in `folder`, valid for a year."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = _authority(folder, "ca", "convoy-stack-ca")
    proxy = _authority(folder, "front-proxy-ca", "convoy-stack-front-proxy-ca")
    service_account = ec.generate_private_key(ec.SECP256R1())
    return Certificates(
        ca=cluster.pair,
        server=_issue(folder, "apiserver", cluster, "kube-apiserver", names=_NAMES, addresses=_ADDRESSES),
        admin=_issue(folder, "admin", cluster, "convoy-stack-admin", organisation="system:masters"),
        front_proxy_ca=proxy.pair,
        front_proxy=_issue(folder, "front-proxy", proxy, FRONT_PROXY_NAME),
        service_account_key=write_private(folder / "service-account.key", _pem(service_account)),
    )


def issue_serving(
    folder: Path, file: str, names: Sequence[str], *, addresses: Sequence[str] = ()
) -> tuple[Path, Pair]:
    """Create a serving certificate by an authority of its own; return the authority's certificate and the pair."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = _authority(folder, f"{file}-ca", f"convoy-stack-{file}-ca")
    return authority.pair.certificate, _issue(
        folder, file, authority, names[0], names=names, addresses=addresses
    )


def _authority(folder: Path, file: str, common_name: str) -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _Authority(name, key, _write(folder, file, key, certificate))


def _issue(
    folder: Path,
    file: str,
    by: _Authority,
    common_name: str,
    *,
    organisation: str = "",
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
) -> Pair:
    """Create a certificate: a server's where `names` say which hosts it is, else a client's."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    usage = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(x509.Name(attributes), by.name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(by.key.public_key()), critical=False
        )
    )
    if names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName(name) for name in names]
                + [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
            ),
            critical=False,
        )
    return _write(folder, file, key, builder.sign(by.key, hashes.SHA256()))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + _VALID)
    )


def _write(folder: Path, file: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Pair:
    path = folder / f"{file}.crt"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return Pair(path, write_private(folder / f"{file}.key", _pem(key)))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
