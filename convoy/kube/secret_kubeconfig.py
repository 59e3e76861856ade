"""Reads a kubeconfig out of a Secret, which a tenant has written.

A plugin would run code as convoy, a path would read convoy's files, and an unknown field may be the next of either
kind: they are refused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import yaml

from convoy.api.errors import ClusterNotReady

_CLUSTER_FIELDS = {
    "server",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "proxy-url",
    "disable-compression",
    "extensions",
}
_USER_FIELDS = {"token", "client-certificate-data", "client-key-data", "username", "password", "extensions"}
_RUNS_CODE = {"exec", "auth-provider"}
_READS_FILES = {"certificate-authority", "client-certificate", "client-key", "tokenFile"}


def read_kubeconfig(kubeconfig: bytes) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return cluster and user of the current context; raises `ClusterNotReady`, which never holds a credential."""
    try:
        tree = yaml.load(kubeconfig, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        # The error's own text quotes the line, which may be a token.
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise ClusterNotReady(f"the kubeconfig is no YAML{where}") from None
    except (ValueError, RecursionError):
        raise ClusterNotReady("the kubeconfig is no YAML") from None
    if not isinstance(tree, dict):
        raise ClusterNotReady("the kubeconfig is no mapping")
    name = tree.get("current-context")
    if not name:
        raise ClusterNotReady("the kubeconfig has no current-context")
    context = _named(tree, "contexts", "context", name)
    cluster = _named(tree, "clusters", "cluster", context.get("cluster"))
    user = _named(tree, "users", "user", context["user"]) if context.get("user") else {}
    for section, fields, allowed in (("cluster", cluster, _CLUSTER_FIELDS), ("user", user, _USER_FIELDS)):
        for field in fields:
            if field in _RUNS_CODE:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has {field}: it would run code as convoy"
                )
            if field in _READS_FILES:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has {field}: it would read a file of convoy's; "
                    "put the content itself into the kubeconfig"
                )
            if field not in allowed:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has a field that is not supported: {field}"
                )
    return cluster, user


def _named(tree: Mapping[str, Any], section: str, field: str, name: object) -> Mapping[str, Any]:
    entries = tree.get(section)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(field) or {}, dict):
            found: Mapping[str, Any] = entry.get(field) or {}
            return found
    raise ClusterNotReady(f"the kubeconfig has no {field} named {name!r} in {section}")


def address_of(section: Mapping[str, Any], field: str, schemes: set[str]) -> str:
    """Return a URL of one of these schemes; raises `ClusterNotReady`."""
    text = text_of(section, field)
    try:
        url = urlsplit(text)
        valid = bool(url.hostname) and (url.port or 1) > 0 and not url.query and not url.fragment
    except ValueError:
        valid = False
    if not valid or url.scheme not in schemes or (field == "server" and url.username is not None):
        raise ClusterNotReady(f"{field} of the kubeconfig must be a URL of {' or '.join(sorted(schemes))}")
    return text.rstrip("/")


def text_of(section: Mapping[str, Any], field: str) -> str:
    """Return a text, empty where there is none; raises `ClusterNotReady`."""
    value = section.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or any(not "!" <= letter <= "~" for letter in value.strip()):
        raise ClusterNotReady(
            f"{field} of the kubeconfig must be a text without spaces and control characters"
        )
    return value.strip()


def data_of(section: Mapping[str, Any], field: str) -> bytes:
    """Return what stands there in base64; raises `ClusterNotReady`."""
    try:
        return base64.b64decode("".join(str(section.get(field) or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise ClusterNotReady(f"{field} of the kubeconfig is no base64") from None


def credentials_of(user: Mapping[str, Any]) -> str | None:
    """Return the Authorization header of a user; None where certificates do."""
    token = text_of(user, "token")
    if token:
        return f"Bearer {token}"
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password') or ''}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    return None
