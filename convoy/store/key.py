"""The installation's key: a Secret in convoy's own namespace, made at first start (D40).

Several processes may start at once: the first create wins and the others read it. Whoever deletes the Secret
makes every stored render unreadable and every renderRef new, so it is immutable and an operator's to back up.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Final

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.errors import AlreadyExists, NotFound
from convoy.kube.resources import SECRETS
from convoy.store.crypto import InstallationKey

__all__ = ["InstallationKey", "installation_key"]

_FIELD: Final = "key"
_BYTES: Final = 32


async def installation_key(home: KubeClient, *, namespace: str, name: str) -> InstallationKey:
    """Read the key, or make it where there is none.

    Raises:
        ApiError: the home cluster did not answer, or refuses.
        ValueError: the Secret is there and holds no key.
    """
    try:
        secret = await home.get(SECRETS, namespace, name)
    except NotFound:
        secret = await _create(home, namespace, name)
    return _read(secret, f"Secret {namespace}/{name}")


async def _create(home: KubeClient, namespace: str, name: str) -> Manifest:
    try:
        return await home.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": namespace},
                "immutable": True,
                "data": {_FIELD: base64.b64encode(os.urandom(_BYTES)).decode()},
            },
            SECRETS,
        )
    except AlreadyExists:
        return await home.get(SECRETS, namespace, name)


def _read(secret: Manifest, subject: str) -> InstallationKey:
    try:
        value = base64.b64decode(secret["data"][_FIELD], validate=True)
    except (KeyError, TypeError, binascii.Error):
        raise ValueError(f"{subject} has no field data.{_FIELD} in base64") from None
    if len(value) < _BYTES:
        raise ValueError(f"{subject}: data.{_FIELD} must have at least {_BYTES} bytes")
    return InstallationKey(value)
