"""Waiting for what others do: bounded, so that no test hangs, and for longer than a busy machine takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from convoy.kube.client import KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import ApiError
from convoy.kube.resources import CRDS, Resource

T = TypeVar("T")

WITHIN = 90.0


async def eventually(
    look: Callable[[], Awaitable[T]], what: str = "", *, within: float = WITHIN, every: float = 0.1
) -> T:
    """Look until there is something to see, and return it."""
    try:
        async with asyncio.timeout(within):
            while not (found := await look()):  # noqa: ASYNC110 (others are waited for)
                await asyncio.sleep(every)
            return found
    except TimeoutError as error:
        name = what or getattr(look, "__name__", "it")
        raise AssertionError(f"{name} did not come about within {within:g} s") from error


async def until_served(client: KubeClient, crd: str, discovery: Discovery | None = None) -> None:
    """Wait until the kind of a CRD is answered for, which it is not at once when it is established, and known."""

    async def served() -> bool:
        tree = await client.get(CRDS, None, crd)
        conditions = (tree.get("status") or {}).get("conditions") or []
        if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return False
        spec, names = tree["spec"], tree["spec"]["names"]
        version = next(each["name"] for each in spec["versions"] if each["served"])
        kind = Resource(spec["group"], version, names["kind"], names["plural"], spec["scope"] == "Namespaced")
        try:
            await client.list(kind)
        except ApiError:
            return False
        if discovery is None:
            return True
        await discovery.refresh()
        return await discovery.namespaced(kind.group, kind.kind) is not None

    await eventually(served, f"CRD {crd}")
