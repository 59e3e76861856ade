"""Who asks: the user that the front proxy vouches for, and nobody else.

The headers `X-Remote-…` say who the user is, so whoever may set them is anybody he likes. Only the front
proxy may: it shows a client certificate of the CA in `kube-system/extension-apiserver-authentication`, with
one of the names there. The TLS layer checks the CA, and this module everything else, in one place and before
routing. Without a certificate the headers are not even read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from multidict import CIMultiDictProxy

from convoy.api.objects import Manifest
from convoy.server.refusals import Unauthorized


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request, as kube-apiserver authenticated him."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def attributes(self) -> dict[str, Any]:
        """Return the user as a SubjectAccessReview names him."""
        tree: dict[str, Any] = {"user": self.name, "groups": list(self.groups)}
        if self.uid:
            tree["uid"] = self.uid
        if self.extra:
            tree["extra"] = {name: list(values) for name, values in self.extra}
        return tree


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """Which proxy may speak for users, and in which headers it does."""

    ca: str = field(repr=False)
    """PEM; one or more certificates."""
    allowed_names: tuple[str, ...] = ()
    """Common names; empty: any certificate of the CA."""
    user_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)

    @staticmethod
    def read(config_map: Manifest) -> FrontProxy:
        """Read the ConfigMap that kube-apiserver writes.

        Raises:
            ValueError: it names no CA, which it does where the aggregation layer is off, or a list is none.
        """
        data = config_map.get("data") or {}
        ca = data.get("requestheader-client-ca-file") or ""
        if not ca.strip():
            raise ValueError(
                "there is no requestheader-client-ca-file: the API server runs without its aggregation layer"
            )
        return FrontProxy(
            ca=ca,
            allowed_names=_list(data, "requestheader-allowed-names"),
            user_headers=_list(data, "requestheader-username-headers"),
            uid_headers=_list(data, "requestheader-uid-headers"),
            group_headers=_list(data, "requestheader-group-headers"),
            extra_prefixes=_list(data, "requestheader-extra-headers-prefix"),
        )

    def authenticate(self, headers: CIMultiDictProxy[str], certificate: Mapping[str, Any] | None) -> User:
        """Return the user of a request.

        `certificate` is the peer's as `ssl` gives it once its chain is verified, None where it showed none.

        Raises:
            Unauthorized: there is no certificate, its name is not allowed, or the headers name no user.
        """
        if not certificate:
            raise Unauthorized(
                "only the front proxy of kube-apiserver may ask: there is no client certificate"
            )
        name = common_name(certificate)
        if self.allowed_names and name not in self.allowed_names:
            raise Unauthorized(
                "the client certificate is not that of the front proxy: its name is not allowed"
            )
        user = next((headers[header] for header in self.user_headers if headers.get(header)), "")
        if not user:
            raise Unauthorized("the front proxy names no user")
        return User(
            name=user,
            groups=tuple(value for header in self.group_headers for value in headers.getall(header, ())),
            uid=next((headers[header] for header in self.uid_headers if headers.get(header)), ""),
            extra=self._extra(headers),
        )

    def _extra(self, headers: CIMultiDictProxy[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found: dict[str, list[str]] = {}
        for header, value in headers.items():
            for prefix in self.extra_prefixes:
                if header.lower().startswith(prefix.lower()):
                    found.setdefault(unquote(header[len(prefix) :]).lower(), []).append(value)
        return tuple((name, tuple(values)) for name, values in sorted(found.items()))


def common_name(certificate: Mapping[str, Any]) -> str:
    """Return the common name of a certificate's subject; empty where it has none."""
    subject: Sequence[Sequence[tuple[str, str]]] = certificate.get("subject") or ()
    return next((value for part in subject for key, value in part if key == "commonName"), "")


def _list(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    try:
        values = json.loads(data.get(key) or "[]")
    except ValueError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is no list of texts")
    return tuple(values)
