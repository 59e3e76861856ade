"""git over http and https: open, with basic auth, tokens, a CA of one's own; redirects are not followed."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from convoy.api.errors import SourceNotReady
from tests.kube.sources.conftest import Fetch, Keep
from tests.kube.sources.http_server import GitServer, basic
from tests.unit.sources.repository import Repository

SECRET = {"name": "git"}


def served(repository: Repository, authorization: str | None = None) -> GitServer:
    return GitServer(repository.folder.parent, authorization)


def certificate(folder: Path) -> tuple[Path, bytes]:
    """Make a self-signed certificate for 127.0.0.1; return the file with its key, and the certificate alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(private + made)
    return folder / "server.pem", made


async def test_an_open_repository(repository: Repository, fetch_source: Fetch) -> None:
    with served(repository).running() as server:
        fetched = await fetch_source(git={"url": f"{server.url}/repository"})
        async with fetched.folder() as folder:
            assert (folder / "a.yaml").read_text() == "two"

    assert fetched.revision == f"main@sha1:{repository.second}"


async def test_an_unchanged_repository_costs_two_small_requests(
    repository: Repository, fetch_source: Fetch
) -> None:
    with served(repository).running() as server:
        async with (await fetch_source(git={"url": f"{server.url}/repository"})).folder():
            pass
        server.requests.clear()
        async with (await fetch_source(git={"url": f"{server.url}/repository"})).folder():
            pass

    # Both belong to one ls-remote: the capabilities, and the refs that were asked for.
    assert server.requests == [
        "GET /repository/info/refs?service=git-upload-pack",
        "POST /repository/git-upload-pack",
    ]


@pytest.mark.parametrize(
    ("keys", "authorization"),
    [
        ({"username": "ann", "password": "hunter2"}, basic("ann", "hunter2")),
        ({"token": "hunter2"}, basic("git", "hunter2")),
        ({"username": "oauth2", "token": "hunter2\n"}, basic("oauth2", "hunter2")),
        ({"bearerToken": "hunter2"}, "Bearer hunter2"),
    ],
)
async def test_credentials(
    repository: Repository, fetch_source: Fetch, keep_secret: Keep, keys: dict[str, str], authorization: str
) -> None:
    await keep_secret("git", **keys)
    with served(repository, authorization).running() as server:
        fetched = await fetch_source(git={"url": f"{server.url}/repository", "secretRef": SECRET})
        async with fetched.folder() as folder:
            assert (folder / "a.yaml").read_text() == "two"


async def test_wrong_credentials_are_in_no_message(
    repository: Repository, fetch_source: Fetch, keep_secret: Keep
) -> None:
    await keep_secret("git", username="ann", password="hunter2")
    with (
        served(repository, basic("ann", "other")).running() as server,
        pytest.raises(SourceNotReady) as caught,
    ):
        await fetch_source(git={"url": f"{server.url}/repository", "secretRef": SECRET})

    assert f"{server.url}/repository: fatal: " in caught.value.message
    assert "hunter2" not in caught.value.message
    assert basic("ann", "hunter2").split()[1] not in caught.value.message


async def test_no_credentials_where_some_are_needed(repository: Repository, fetch_source: Fetch) -> None:
    with (
        served(repository, "Basic x").running() as server,
        pytest.raises(SourceNotReady, match="wants credentials"),
    ):
        await fetch_source(git={"url": f"{server.url}/repository"})


async def test_a_certificate_of_ones_own(
    repository: Repository, fetch_source: Fetch, keep_secret: Keep, tmp_path: Path
) -> None:
    file, ca = certificate(tmp_path)
    await keep_secret("git", caFile=ca, token="hunter2")
    with served(repository, basic("git", "hunter2")).running(file) as server:
        fetched = await fetch_source(git={"url": f"{server.url}/repository", "secretRef": SECRET})
        async with fetched.folder() as folder:
            assert (folder / "a.yaml").read_text() == "two"
        with pytest.raises(SourceNotReady, match="certificate"):
            await fetch_source(git={"url": f"{server.url}/repository"})


async def test_a_redirect_is_not_followed(repository: Repository, fetch_source: Fetch) -> None:
    with served(repository).running() as inner:
        outer = GitServer(repository.folder.parent, redirect_to=inner.url)
        with outer.running(), pytest.raises(SourceNotReady, match="redirect"):
            await fetch_source(git={"url": f"{outer.url}/repository"})

    assert inner.requests == []


async def test_a_missing_repository(repository: Repository, fetch_source: Fetch) -> None:
    with served(repository).running() as server, pytest.raises(SourceNotReady, match=r"/nope.*not found"):
        await fetch_source(git={"url": f"{server.url}/nope"})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"other": "x"}, "has none of the keys password, token, bearerToken and caFile"),
        ({"password": "hunter2"}, "has a password and no username"),
        ({"bearerToken": "hunter2\nHost: x"}, "bearerToken holds a line break"),
        ({"token": b"\xff"}, "token is no text"),
    ],
)
async def test_a_secret_that_lacks_something_is_named(
    fetch_source: Fetch, keep_secret: Keep, namespace: str, keys: dict[str, str], message: str
) -> None:
    await keep_secret("git", **keys)

    with pytest.raises(SourceNotReady) as caught:
        await fetch_source(git={"url": "http://127.0.0.1:9/a", "secretRef": SECRET})

    assert f"Secret {namespace}/git of spec.source.git.secretRef" in caught.value.message
    assert message in caught.value.message
    assert "hunter2" not in caught.value.message


async def test_a_missing_secret_is_named(fetch_source: Fetch, namespace: str) -> None:
    with pytest.raises(
        SourceNotReady, match=rf"Secret {namespace}/git of spec\.source\.git\.secretRef is missing"
    ):
        await fetch_source(git={"url": "http://127.0.0.1:9/a", "secretRef": SECRET})
