"""git over ssh: a key of the Secret, and only hosts that its known_hosts names."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from convoy.api.errors import SourceNotReady
from convoy.sources.git_credentials import Credentials, environment
from convoy.sources.git_url import parse_git_url
from tests.kube.sources.conftest import Fetch, Keep
from tests.unit.sources.repository import Repository

SECRET = {"name": "git"}


@dataclass(frozen=True)
class SshServer:
    port: int
    identity: str
    known_hosts: str


def make_key(path: Path) -> str:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(argv, check=True, capture_output=True)
    return path.with_suffix(".pub").read_text().strip()


@pytest.fixture(scope="module")
def ssh_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if sshd is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no sshd here (Debian: openssh-server)")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd started as root insists on it
    folder = tmp_path_factory.mktemp("sshd")
    host_key, user_key = make_key(folder / "host"), make_key(folder / "user")
    (folder / "authorized_keys").write_text(user_key + "\n")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )
    with subprocess.Popen([sshd, "-D", "-e", "-f", folder / "config"], stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            known = " ".join(host_key.split()[:2])
            yield SshServer(port, (folder / "user").read_text(), f"[127.0.0.1]:{port} {known}\n")
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail("sshd does not listen")


def url_of(server: SshServer, repository: Repository) -> str:
    return f"ssh://{getpass.getuser()}@127.0.0.1:{server.port}{repository.folder}"


async def test_a_key_and_a_known_host(
    ssh_server: SshServer, repository: Repository, fetch_source: Fetch, keep_secret: Keep
) -> None:
    await keep_secret("git", identity=ssh_server.identity.strip(), known_hosts=ssh_server.known_hosts)

    fetched = await fetch_source(git={"url": url_of(ssh_server, repository), "secretRef": SECRET})

    assert fetched.revision == f"main@sha1:{repository.second}"
    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_text() == "two"


async def test_a_host_that_is_not_known_is_refused(
    ssh_server: SshServer, repository: Repository, fetch_source: Fetch, keep_secret: Keep, tmp_path: Path
) -> None:
    other = " ".join(make_key(tmp_path / "other").split()[:2])
    await keep_secret(
        "git", identity=ssh_server.identity, known_hosts=f"[127.0.0.1]:{ssh_server.port} {other}\n"
    )

    with pytest.raises(
        SourceNotReady, match=r"ssh://.*(Host key verification failed|IDENTIFICATION HAS CHANGED)"
    ):
        await fetch_source(git={"url": url_of(ssh_server, repository), "secretRef": SECRET})


async def test_a_key_that_is_not_accepted_is_refused(
    ssh_server: SshServer, repository: Repository, fetch_source: Fetch, keep_secret: Keep, tmp_path: Path
) -> None:
    make_key(tmp_path / "other")
    identity = (tmp_path / "other").read_text()
    await keep_secret("git", identity=identity, known_hosts=ssh_server.known_hosts)

    with pytest.raises(SourceNotReady) as caught:
        await fetch_source(git={"url": url_of(ssh_server, repository), "secretRef": SECRET})

    assert "Permission denied" in caught.value.message
    assert identity.splitlines()[1] not in caught.value.message


@pytest.mark.parametrize("missing", ["identity", "known_hosts"])
async def test_both_keys_of_the_secret_are_needed(
    fetch_source: Fetch, keep_secret: Keep, missing: str
) -> None:
    await keep_secret("git", **{key: "x" for key in ("identity", "known_hosts") if key != missing})

    with pytest.raises(SourceNotReady, match=rf"has no key {missing}, which an ssh URL needs"):
        await fetch_source(git={"url": "git@127.0.0.1:a/b", "secretRef": SECRET})


async def test_without_a_secret_it_is_not_tried(fetch_source: Fetch) -> None:
    with pytest.raises(SourceNotReady, match=r"needs secretRef with the keys identity and known_hosts"):
        await fetch_source(git={"url": "git@127.0.0.1:a/b"})


def test_a_checked_address_is_used_under_the_name_that_known_hosts_has(
    ssh_server: SshServer, repository: Repository, tmp_path: Path
) -> None:
    url = parse_git_url(
        f"ssh://{getpass.getuser()}@git.invalid:{ssh_server.port}{repository.folder}", allow_file=False
    )
    known_hosts = ssh_server.known_hosts.replace("127.0.0.1", "git.invalid")
    credentials = Credentials(identity=ssh_server.identity.encode(), known_hosts=known_hosts.encode())
    env = environment(tmp_path, url, credentials, addresses=("127.0.0.1",), seconds=5)

    done = subprocess.run(
        ["git", "ls-remote", url.text, "HEAD"], env=dict(env), check=True, capture_output=True
    )

    assert done.stdout.decode().split() == [repository.second, "HEAD"]
