"""A Secret with git credentials, as files that git and ssh read.

They go into a private folder and not into arguments (which every user of the machine can read) or URLs
(which end up in messages). The folder also is the whole configuration of git: nothing of the machine's own
is read.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convoy.api.errors import SourceNotReady
from convoy.api.objects import Manifest
from convoy.sources.git_url import GitUrl

_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f]")
_CONFIG: Final = {
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.symlinks": "true",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "init.defaultBranch": "main",
    "protocol.version": "2",
    "safe.directory": "*",
    "submodule.recurse": "false",
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a Secret of `spec.source.git.secretRef` may hold."""

    header: str | None = field(default=None, repr=False)
    """Value of the Authorization header."""
    ca: bytes | None = field(default=None, repr=False)
    identity: bytes | None = field(default=None, repr=False)
    known_hosts: bytes | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that no message may hold."""

    def scrub(self, text: str) -> str:
        """Return a message without the credentials."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_credentials(secret: Manifest, url: GitUrl, *, subject: str) -> Credentials:
    """Read the Secret's keys.

    https and http: `username` and `password`, or `token` (sent as the password of `username`, default
    `git`), or `bearerToken`; `caFile` or `ca.crt` for a server certificate of one's own. ssh: `identity` (a
    private key without a passphrase) and `known_hosts`.

    Raises:
        SourceNotReady: a key is missing or cannot be read; the message names the key, never a value.
    """
    data = _decoded(secret, subject)
    if url.scheme == "ssh":
        for key in ("identity", "known_hosts"):
            if not data.get(key):
                raise SourceNotReady(f"{subject} has no key {key}, which an ssh URL needs")
        return Credentials(identity=data["identity"], known_hosts=data["known_hosts"])
    texts = {key: _line(data, key, subject) for key in ("username", "password", "token", "bearerToken")}
    ca = data.get("caFile") or data.get("ca.crt")
    if bearer := texts["bearerToken"]:
        return Credentials(header=f"Bearer {bearer}", ca=ca, secrets=(bearer,))
    password = texts["password"] or texts["token"]
    if not password:
        if ca is None:
            raise SourceNotReady(f"{subject} has none of the keys password, token, bearerToken and caFile")
        return Credentials(ca=ca)
    if not texts["username"] and not texts["token"]:
        raise SourceNotReady(f"{subject} has a password and no username")
    basic = base64.b64encode(f"{texts['username'] or 'git'}:{password}".encode()).decode()
    return Credentials(header=f"Basic {basic}", ca=ca, secrets=(basic, password))


def environment(
    home: Path, url: GitUrl, credentials: Credentials, *, addresses: tuple[str, ...], seconds: float
) -> Mapping[str, str]:
    """Write git's configuration into `home`, an empty private folder, and return git's whole environment.

    Args:
        home: the folder; it must outlive the git processes.
        url: the repository.
        credentials: how to be let in.
        addresses: the only addresses that the URL's host may have; empty leaves it to the resolver.
        seconds: after that time without an answer ssh gives up.
    """
    config = dict(_CONFIG)
    if url.is_http and addresses:
        config["http.curloptResolve"] = f"{url.host}:{url.port}:{','.join(addresses)}"
    if credentials.header is not None:
        config["http.extraHeader"] = f"Authorization: {credentials.header}"
    if credentials.ca is not None:
        config["http.sslCAInfo"] = str(_private(home / "ca.crt", credentials.ca))
    _private(home / "gitconfig", _config_text(config).encode())
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_ALLOW_PROTOCOL": url.scheme,
    }
    if url.scheme == "ssh":
        env |= {"GIT_SSH_VARIANT": "ssh", "GIT_SSH_COMMAND": _ssh(home, url, credentials, addresses, seconds)}
    return env | {name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}


def _ssh(
    home: Path, url: GitUrl, credentials: Credentials, addresses: tuple[str, ...], seconds: float
) -> str:
    identity = _private(home / "identity", (credentials.identity or b"").rstrip(b"\n") + b"\n")
    known_hosts = _private(home / "known_hosts", credentials.known_hosts or b"")
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": str(max(1, int(seconds))),
        "GlobalKnownHostsFile": "/dev/null",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "LogLevel": "ERROR",
        "PasswordAuthentication": "no",
        "StrictHostKeyChecking": "yes",
        "UpdateHostKeys": "no",
        "UserKnownHostsFile": str(known_hosts),
    }
    if addresses:
        # The address that was checked, under the name that known_hosts has.
        options["HostName"] = addresses[0]
        options["HostKeyAlias"] = url.host if url.port == 22 else f"[{url.host}]:{url.port}"
    argv = ["ssh", "-F", "/dev/null", "-i", str(identity)]
    for name, value in options.items():
        argv += ["-o", f"{name}={value}"]
    return shlex.join(argv)


def _config_text(config: Mapping[str, str]) -> str:
    lines = []
    for name, value in config.items():
        section, _, key = name.rpartition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{section}]\n\t{key} = "{quoted}"\n')
    return "".join(lines)


def _private(path: Path, data: bytes) -> Path:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    return path


def _decoded(secret: Manifest, subject: str) -> dict[str, bytes]:
    try:
        return {key: base64.b64decode(text) for key, text in (secret.get("data") or {}).items()}
    except (binascii.Error, TypeError, ValueError):
        raise SourceNotReady(f"{subject} holds data that is no base64") from None


def _line(data: Mapping[str, bytes], key: str, subject: str) -> str:
    try:
        text = data.get(key, b"").decode().strip()
    except UnicodeDecodeError:
        raise SourceNotReady(f"{subject}: {key} is no text") from None
    if _UNSAFE.search(text):
        raise SourceNotReady(f"{subject}: {key} holds a line break or a control character")
    return text
