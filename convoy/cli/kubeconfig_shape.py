"""Whether a kubeconfig holds what it should where it should: kubectl refuses any other, and so must one line here.

What is wrong is named by its path, never by its value, which may be a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.cli.errors import Failure

_ANY = "*"
"""Stands for every key of a mapping."""

CREDENTIAL: Mapping[str, Any] = {"token": str, "clientCertificateData": str, "clientKeyData": str}
"""The status that a credential plugin answers."""

_EXEC = {
    "apiVersion": str,
    "command": str,
    "args": [str],
    "env": [{"name": str, "value": str}],
    "installHint": str,
    "interactiveMode": str,
    "provideClusterInfo": bool,
}
_SECTIONS: Mapping[str, Any] = {
    "context": {"cluster": str, "user": str, "namespace": str},
    "cluster": {
        "server": str,
        "certificate-authority": str,
        "certificate-authority-data": str,
        "insecure-skip-tls-verify": bool,
        "proxy-url": str,
        "tls-server-name": str,
    },
    "user": {
        "as": str,
        "as-groups": [str],
        "as-uid": str,
        "as-user-extra": {_ANY: [str]},
        "client-certificate": str,
        "client-certificate-data": str,
        "client-key": str,
        "client-key-data": str,
        "exec": _EXEC,
        "password": str,
        "token": str,
        "tokenFile": str,
        "username": str,
    },
}
KUBECONFIG: Mapping[str, Any] = {
    "current-context": str,
    **{f"{name}s": [{"name": str, name: section}] for name, section in _SECTIONS.items()},
}
"""What is read of a kubeconfig. A type stands for a value, a list of one for a list, a mapping for a mapping."""

_WORDS: Mapping[object, str] = {str: "a text", bool: "true or false", list: "a list", dict: "a mapping"}


def check_shape(tree: object, shape: Any, *, what: str) -> None:
    """Raise Failure, naming the first place in `what` that holds something of another type; null is no value."""
    _check(tree, shape, what, "")


def _check(tree: object, shape: Any, what: str, path: str) -> None:
    wanted = shape if isinstance(shape, type) else list if isinstance(shape, list) else dict
    if tree is None:
        return
    if not isinstance(tree, wanted):
        raise Failure(f"{what}: {path.lstrip('.') or 'it'} must be {_WORDS[wanted]}")
    if isinstance(tree, list):
        for number, each in enumerate(tree):
            _check(each, shape[0], what, f"{path}[{number}]")
    elif isinstance(tree, dict):
        for name, each in tree.items():
            below = shape.get(name, shape.get(_ANY))
            if below is not None:
                _check(each, below, what, f"{path}.{name}")
