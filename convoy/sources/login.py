"""A Secret with credentials for a server that speaks HTTP: Helm repositories and OCI registries."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from convoy.api.common import LocalRef
from convoy.api.errors import SourceNotReady
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import SECRETS
from convoy.sources.web import Login

_DOCKER_CONFIG: Final = ".dockerconfigjson"
_DOCKER_HUB: Final = ("https://index.docker.io/v1/", "index.docker.io", "docker.io")


@dataclass(frozen=True, slots=True)
class Keys:
    """What such a Secret holds."""

    subject: str
    """How messages name it."""
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)
    ca: bytes | None = field(default=None, repr=False)

    @property
    def basic(self) -> str | None:
        """Value of an Authorization header with user and password; None without them."""
        if not self.password:
            return None
        return f"Basic {base64.b64encode(f'{self.username}:{self.password}'.encode()).decode()}"

    def login(self) -> Login:
        """Return what is sent with every request."""
        return Login(f"Bearer {self.bearer}" if self.bearer else self.basic, self.ca)


async def read_keys(
    ref: LocalRef | None, namespace: str, *, home: KubeClient, field_path: str, host: str = ""
) -> Keys:
    """Read `username` and `password`, `token` or `bearerToken`, `caFile` or `ca.crt`, or a `.dockerconfigjson`.

    Args:
        ref: the Secret, or None.
        namespace: the Release's.
        home: the cluster that holds it.
        field_path: of the reference, for messages.
        host: of the registry, which a `.dockerconfigjson` is looked through for.

    Raises:
        SourceNotReady: it is missing or holds none of them; the message names keys, never a value.
    """
    if ref is None:
        return Keys("")
    subject = f"Secret {namespace}/{ref.name} of {field_path}"
    try:
        secret = await home.get(SECRETS, namespace, ref.name)
    except NotFound:
        raise SourceNotReady(f"{subject} is missing") from None
    except ApiError as error:
        raise SourceNotReady(f"{subject} cannot be read: {error.message}") from None
    try:
        data = {key: base64.b64decode(text) for key, text in (secret.get("data") or {}).items()}
    except (binascii.Error, TypeError, ValueError):
        raise SourceNotReady(f"{subject} holds data that is no base64") from None
    ca = data.get("caFile") or data.get("ca.crt")
    if _DOCKER_CONFIG in data:
        username, password = _docker_login(data[_DOCKER_CONFIG], host, subject)
        return Keys(subject, username, password, ca=ca)
    texts = {key: _line(data, key, subject) for key in ("username", "password", "token", "bearerToken")}
    password = texts["password"] or texts["token"]
    if not password and not texts["bearerToken"] and ca is None:
        raise SourceNotReady(
            f"{subject} has none of the keys password, token, bearerToken, caFile and {_DOCKER_CONFIG}"
        )
    if texts["password"] and not texts["username"]:
        raise SourceNotReady(f"{subject} has a password and no username")
    return Keys(subject, texts["username"] or "convoy", password, texts["bearerToken"], ca)


def _line(data: Mapping[str, bytes], key: str, subject: str) -> str:
    try:
        text = data.get(key, b"").decode().strip()
    except UnicodeDecodeError:
        raise SourceNotReady(f"{subject}: {key} is no text") from None
    if not text.isprintable():
        raise SourceNotReady(f"{subject}: {key} holds a line break or a control character")
    return text


def _docker_login(data: bytes, host: str, subject: str) -> tuple[str, str]:
    """Return user and password of a registry out of what `docker login` wrote."""
    try:
        auths: Any = json.loads(data)["auths"]
        names = _DOCKER_HUB if host in _DOCKER_HUB or host == "registry-1.docker.io" else (host,)
        for name, entry in auths.items():
            if (
                name in names
                or name.removeprefix("https://").removeprefix("http://").partition("/")[0] == host
            ):
                username, password = entry.get("username", ""), entry.get("password", "")
                if not password and entry.get("auth"):
                    username, _, password = base64.b64decode(entry["auth"]).decode().partition(":")
                return str(username), str(password)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise SourceNotReady(f"{subject}: {_DOCKER_CONFIG} is not what docker login writes") from None
    raise SourceNotReady(f"{subject}: {_DOCKER_CONFIG} has no entry for {host}")
