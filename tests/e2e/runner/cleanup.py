"""Leaving the cluster as it was: whatever a case made, also when it failed half way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from convoy.api.errors import Unsupported
from convoy.api.objects import DEFAULT_NAMESPACE, Manifest, ObjectKey, key_of
from convoy.kube.errors import NotFound
from convoy.kube.resources import CLUSTERS, INVENTORIES, NAMESPACES, RELEASES
from convoy.render.drafts import read_objects
from convoy.render.objects import File
from tests.e2e.harness.convoy import MANAGER, Convoy
from tests.e2e.runner.case import Case
from tests.e2e.runner.files import expand
from tests.e2e.runner.reference import parse_reference
from tests.e2e.runner.steps import Edit, Live, Remove, Wait

TEARDOWN_WITHIN = 30.0
_READ = (".yaml", ".yml", ".json")
_NOT_OURS = {"default", "kube-system", "kube-public", "kube-node-lease"}


async def clean_up(convoy: Convoy, case: Case, *, namespace: str, prefix: str, began: str) -> None:
    """Remove the Releases, then what the case names outside namespaces of its own, then those namespaces.

    `namespace` is that of the Releases, `prefix` what the names of the case's namespaces begin with, `began` the
    case's start as RFC 3339: what is older is not the case's.
    """
    await _remove_releases(convoy, namespace)
    for key in named_objects(case):
        await _remove(convoy, key, began)
    for each in await convoy.home.list(NAMESPACES):
        name = each["metadata"]["name"]
        if name.startswith(prefix) or name == namespace:
            with suppress(NotFound):
                await convoy.home.delete(NAMESPACES, None, name)


async def _remove_releases(convoy: Convoy, namespace: str) -> None:
    for tree in await convoy.home.list(RELEASES, namespace):
        await convoy.home.delete(RELEASES, namespace, tree["metadata"]["name"])
    with suppress(TimeoutError):
        async with asyncio.timeout(TEARDOWN_WITHIN):
            while await convoy.home.list(RELEASES, namespace):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    for resource in (RELEASES, INVENTORIES, CLUSTERS):
        for tree in await convoy.home.list(resource, namespace):
            with suppress(NotFound):
                await convoy.home.patch(
                    resource, namespace, tree["metadata"]["name"], {"metadata": {"finalizers": None}}
                )


async def _remove(convoy: Convoy, key: ObjectKey, began: str) -> None:
    live = await convoy.objects.get(key)
    if live is None or live["metadata"].get("creationTimestamp", "") < began or key.name in _NOT_OURS:
        return
    if live["metadata"].get("finalizers") and key.kind != "Namespace":
        with suppress(NotFound):
            await convoy.objects.patch(key, {"metadata": {"finalizers": None}}, manager=MANAGER)
    if not live["metadata"].get("namespace") or live["metadata"]["namespace"] == DEFAULT_NAMESPACE:
        await convoy.objects.delete(key)


def named_objects(case: Case) -> list[ObjectKey]:
    """Return every object that a step, an expectation or a render names; custom resources before their CRDs."""
    keys = [parse_reference(text) for text in _references(case)]
    keys += [key_of(each) for step in case.steps if isinstance(step, Live) for each in step.objects]
    # Of a render's objects only those that no namespace takes along: there may be thousands.
    keys += [key for each in _rendered(case) if (key := key_of(each)).namespace in ("", DEFAULT_NAMESPACE)]
    return sorted(dict.fromkeys(keys), key=lambda key: key.kind == "CustomResourceDefinition")


def _references(case: Case) -> Iterator[str]:
    for step in case.steps:
        if isinstance(step, Edit | Remove | Wait) and step.object is not None:
            yield step.object
    for expectation in case.expectations():
        yield from (entry.object for entry in expectation.objects)


def _rendered(case: Case) -> Iterator[Manifest]:
    for render in case.renders.values():
        for name, content in expand(render).items():
            if name.endswith(_READ):
                with suppress(Unsupported):  # broken on purpose, so nothing of it was applied
                    yield from (draft.manifest for draft in read_objects([File(name, content.encode())]))
