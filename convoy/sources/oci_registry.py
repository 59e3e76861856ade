"""The pull half of the OCI distribution API, with Basic and token authentication.

A registry answers 401 with where to get a token; it serves for every request of one repository and is used again
until it ends, so that an unchanged artifact costs one HEAD. Whatever a digest names is compared with it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urljoin

import msgspec

from convoy.api.errors import SourceNotReady
from convoy.sources.login import Keys
from convoy.sources.oci_reference import OciName
from convoy.sources.web import Reply, Web, shown

MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_ACCEPT: Final = ", ".join(
    (
        *MANIFESTS,
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    )
)
_MAX_JSON: Final = 4 * 1024 * 1024
_MAX_PAGES: Final = 100
_MAX_TOKENS: Final = 1000
_PARAMETER: Final = re.compile(r'([A-Za-z_]+)="([^"]*)"')
_NEXT: Final = re.compile(r'<([^>]+)>\s*;\s*rel="?next"?')
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")

_tokens: OrderedDict[tuple[str, ...], tuple[str, float]] = OrderedDict()
"""Authorization by who asks for what, with the monotonic time at which it ends."""


class Registry:
    """One repository, as somebody with these keys sees it."""

    def __init__(self, web: Web, name: OciName, keys: Keys) -> None:
        self._web = web
        self._name = name
        self._keys = keys
        owner = hashlib.sha256(f"{keys.username}\0{keys.password}\0{keys.bearer}".encode()).hexdigest()
        self._owner = (str(name), name.scheme, owner)

    async def digest_of(self, tag: str) -> str:
        """Return the digest that a tag has now; raises SourceNotReady."""
        reply = await self._send("HEAD", f"manifests/{tag}", missing=f"tag {tag}")
        digest = reply.headers.get("Docker-Content-Digest", "")
        if _DIGEST.fullmatch(digest):
            return digest
        body = (await self._send("GET", f"manifests/{tag}", missing=f"tag {tag}")).body
        return f"sha256:{hashlib.sha256(body).hexdigest()}"

    async def tags(self) -> list[str]:
        """Return every tag; raises SourceNotReady."""
        tags: list[str] = []
        rest = "tags/list?n=1000"
        for _ in range(_MAX_PAGES):
            reply = await self._send("GET", rest, missing="tags")
            tags += [tag for tag in self._json(reply).get("tags") or () if isinstance(tag, str)]
            following = _NEXT.search(reply.headers.get("Link", ""))
            if following is None:
                return tags
            url = urljoin(reply.url, following[1])
            prefix = self._name.url("")
            if not url.startswith(prefix):
                break
            rest = url.removeprefix(prefix)
        raise SourceNotReady(f"{self._name}: the list of tags has no end")

    async def manifest(self, digest: str) -> dict[str, Any]:
        """Return the manifest with this digest; raises SourceNotReady."""
        reply = await self._send("GET", f"manifests/{digest}", missing=f"manifest {digest}")
        found = f"sha256:{hashlib.sha256(reply.body).hexdigest()}"
        if found != digest:
            raise SourceNotReady(f"{self._name}: the manifest has the digest {found} and not {digest}")
        return self._json(reply)

    async def blob(self, digest: str, size: int, path: Path) -> None:
        """Write a blob to a new file; raises SourceNotReady."""
        if not _DIGEST.fullmatch(digest):
            raise SourceNotReady(f"{self._name}: {digest[:80]!r} is no digest that convoy knows (sha256)")
        url = self._name.url(f"blobs/{digest}")
        reply, found = await self._web.download(url, path, most=size, authorization=self._known())
        if reply.status == 401:
            authorization = await self._authorise(reply)
            reply, found = await self._web.download(url, path, most=size, authorization=authorization)
        self._check(reply, f"blob {digest}")
        if f"sha256:{found}" != digest:
            raise SourceNotReady(f"{self._name}: the blob has the digest sha256:{found} and not {digest}")

    async def _send(self, method: str, rest: str, *, missing: str) -> Reply:
        async def send(authorization: str | None) -> Reply:
            return await self._web.get(
                self._name.url(rest),
                method=method,
                most=_MAX_JSON,
                headers={"Accept": _ACCEPT},
                authorization=authorization,
            )

        reply = await send(self._known())
        if reply.status == 401:
            reply = await send(await self._authorise(reply))
        self._check(reply, missing)
        return reply

    def _check(self, reply: Reply, missing: str) -> None:
        match reply.status:
            case 200:
                return
            case 404:
                raise SourceNotReady(f"{self._name} has no {missing}")
            case 401 | 403:
                what = (
                    f"does not take the credentials of {self._keys.subject}"
                    if self._keys.subject
                    else ("wants credentials: set secretRef")
                )
                raise SourceNotReady(f"{self._name} {what} (answer {reply.status})")
            case status:
                raise SourceNotReady(f"{self._name} answers {status} to a request for {missing}")

    def _json(self, reply: Reply) -> dict[str, Any]:
        try:
            return msgspec.json.decode(reply.body, type=dict[str, Any])
        except msgspec.DecodeError:
            raise SourceNotReady(f"{self._name}: {shown(reply.url)} is no JSON object") from None

    def _known(self) -> str | None:
        found = _tokens.get(self._owner)
        return found[0] if found is not None and found[1] > time.monotonic() else None

    async def _authorise(self, refused: Reply) -> str:
        """Return the Authorization that the answer 401 asks for."""
        challenge = refused.headers.get("WWW-Authenticate", "")
        scheme = challenge.partition(" ")[0].lower()
        if scheme == "basic" and self._keys.basic is not None:
            return self._note(self._keys.basic, seconds=3600.0)
        if scheme == "bearer" and self._keys.bearer:
            return self._note(f"Bearer {self._keys.bearer}", seconds=3600.0)
        if scheme == "bearer":
            return await self._token(dict(_PARAMETER.findall(challenge)))
        self._check(refused, "answer")
        raise SourceNotReady(f"{self._name} wants an authentication that convoy does not know")

    async def _token(self, parameters: Mapping[str, str]) -> str:
        realm = parameters.get("realm", "")
        if not realm.startswith("https://") and self._name.scheme != "http":
            raise SourceNotReady(f"{self._name}: tokens come from {shown(realm)}, which is not https")
        query = {"service": parameters["service"]} if "service" in parameters else {}
        query["scope"] = f"repository:{self._name.repository}:pull"
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}"
        reply = await self._web.get(url, most=_MAX_JSON, authorization=self._keys.basic or "")
        if reply.status in (401, 403):
            self._check(reply, "token")
        if reply.status != 200:
            raise SourceNotReady(
                f"{self._name}: {shown(realm)} answers {reply.status} to a request for a token"
            )
        answer = self._json(reply)
        token = answer.get("token") or answer.get("access_token")
        if not isinstance(token, str) or not token.isprintable():
            raise SourceNotReady(f"{self._name}: {shown(realm)} gives no token")
        lifetime = answer.get("expires_in")
        seconds = float(lifetime) if isinstance(lifetime, int) else 60.0
        return self._note(f"Bearer {token}", seconds=max(0.0, min(seconds, 3600.0) - 10.0))

    def _note(self, authorization: str, *, seconds: float) -> str:
        _tokens[self._owner] = (authorization, time.monotonic() + seconds)
        _tokens.move_to_end(self._owner)
        while len(_tokens) > _MAX_TOKENS:
            _tokens.popitem(last=False)
        return authorization
