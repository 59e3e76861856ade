"""A bare aiohttp session to the API server: the floor under convoy's numbers, and the harness' own hands.

It knows nothing of errors, retries, discovery or identity: what it takes is what the server and the client library
take for these bytes.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml

from convoy.api.objects import Manifest, split_api_version
from convoy.kube.encode import apply_body

APPLY = {"Content-Type": "application/apply-patch+yaml"}
MERGE = {"Content-Type": "application/merge-patch+json"}
PLURALS = {
    "Namespace": "namespaces",
    "ConfigMap": "configmaps",
    "Secret": "secrets",
    "Service": "services",
    "Deployment": "deployments",
    "CustomResourceDefinition": "customresourcedefinitions",
    "Cluster": "clusters",
    "Release": "releases",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One apply, encoded beforehand."""

    path: str
    body: bytes


def call_of(manifest: Manifest) -> Call:
    """Return the apply of an object of a kind that the benchmarks use."""
    return Call(path_of(manifest), apply_body(manifest))


def path_of(manifest: Manifest) -> str:
    """Return the URL path of an object of a kind that the benchmarks use."""
    group, _ = split_api_version(manifest["apiVersion"])
    root = ("/apis/" if group else "/api/") + manifest["apiVersion"]
    if namespace := manifest["metadata"].get("namespace"):
        root += f"/namespaces/{namespace}"
    return f"{root}/{PLURALS[manifest['kind']]}/{manifest['metadata']['name']}"


class Bare:
    """Requests that are expected to succeed; anything else ends the benchmark."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def send(self, method: str, path: str, *, body: bytes | None = None, **options: Any) -> bytes:
        """Send one request and return the answer's body."""
        async with self._session.request(method, path, data=body, **options) as answer:
            content = await answer.read()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {content[:2000]!r}")
            return content

    async def get(self, path: str) -> Any:
        """Read a JSON tree."""
        return msgspec.json.decode(await self.send("GET", path))

    async def exists(self, path: str) -> bool:
        """Tell whether an object is there."""
        async with self._session.get(path) as answer:
            await answer.read()
            return answer.status == 200

    async def apply(self, call: Call, *, dry_run: bool = False, manager: str = "convoy") -> None:
        """Send one server-side apply."""
        params = {"fieldManager": manager, "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        await self.send("PATCH", call.path, body=call.body, params=params, headers=APPLY)

    async def merge(self, path: str, patch: Any) -> None:
        """Send one merge patch."""
        params = {"fieldManager": "bench"}
        await self.send("PATCH", path, body=msgspec.json.encode(patch), params=params, headers=MERGE)

    async def dry_run_all(self, calls: Sequence[Call], *, in_flight: int) -> None:
        """Send all dry runs, `in_flight` at a time."""
        await _side_by_side(calls, lambda call: self.apply(call, dry_run=True), in_flight=in_flight)

    async def get_all(self, calls: Sequence[Call], *, in_flight: int) -> None:
        """Read all objects, `in_flight` at a time."""
        await _side_by_side(calls, lambda call: self.get(call.path), in_flight=in_flight)

    async def compare_all(self, calls: Sequence[Call], *, in_flight: int) -> None:
        """Read each object and send its apply as a dry run, `in_flight` objects at a time."""

        async def compare(call: Call) -> None:
            await self.get(call.path)
            await self.apply(call, dry_run=True)

        await _side_by_side(calls, compare, in_flight=in_flight)

    async def watch(self, path: str) -> AsyncIterator[Manifest]:
        """Yield the object at `path` as it is, and then at each change."""
        collection, _, name = path.rpartition("/")
        params = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
        async with self._session.get(collection, params=params) as answer:
            async for line in answer.content:
                yield msgspec.json.decode(line)["object"]

    async def until(self, path: str, *, exists: bool, within: float = 300.0) -> None:
        """Wait until something is there, or is gone."""
        async with asyncio.timeout(within):
            while True:
                if await self.exists(path) is exists:
                    return
                await asyncio.sleep(0.2)

    async def delete(self, path: str) -> None:
        """Delete an object and wait until it is gone, so that its end is not measured with what comes next."""
        await self.send("DELETE", path)
        await self.until(path, exists=False)


async def _side_by_side(
    calls: Sequence[Call], send: Callable[[Call], Awaitable[object]], *, in_flight: int
) -> None:
    pending = iter(calls)

    async def work() -> None:
        for call in pending:
            await send(call)

    await asyncio.gather(*(work() for _ in range(in_flight)))


@asynccontextmanager
async def connect(kubeconfig: Path) -> AsyncIterator[Bare]:
    """Connect with the current context of a kubeconfig that holds its certificates or a token inline."""
    cluster, user = _current(kubeconfig)
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    async with aiohttp.ClientSession(
        cluster["server"],
        connector=aiohttp.TCPConnector(ssl=_tls(cluster, user), limit=0),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=300),
        read_bufsize=2**24,
    ) as session:
        yield Bare(session)


def _current(kubeconfig: Path) -> tuple[dict[str, str], dict[str, str]]:
    tree = yaml.safe_load(kubeconfig.read_text())
    context = next(c["context"] for c in tree["contexts"] if c["name"] == tree["current-context"])
    cluster = next(c["cluster"] for c in tree["clusters"] if c["name"] == context["cluster"])
    user = next(u["user"] for u in tree["users"] if u["name"] == context["user"])
    return cluster, user


def _tls(cluster: dict[str, str], user: dict[str, str]) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    if "client-certificate-data" in user:
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(base64.b64decode(user["client-certificate-data"]))
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            context.load_cert_chain(pair.name)
    return context
