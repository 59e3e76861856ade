"""Where a text must not be found: everything that convoy says of a Release, to anyone.

Not looked at: manifests that the case itself put into the Release, and the Secret itself.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator

import aiohttp

from convoy.kube.resources import CLUSTERS, EVENTS, INVENTORIES, RELEASES
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import Convoy
from workflows.contract import ReleaseId


async def leaks(
    convoy: Convoy, texts: Iterable[str], *, namespace: str, releases: Iterable[ReleaseId], log_mark: int
) -> AsyncIterator[str]:
    """Yield a sentence for each of these texts and each place that has it."""
    forms = {text: {text.encode(), json.dumps(text)[1:-1].encode()} for text in texts}
    async for place, data in _places(convoy, namespace, releases, log_mark):
        for text, spellings in forms.items():
            if any(spelling in data for spelling in spellings):
                yield f"nowhere: {text!r} is in {place}"


async def _places(
    convoy: Convoy, namespace: str, releases: Iterable[ReleaseId], log_mark: int
) -> AsyncIterator[tuple[str, bytes]]:
    for resource in (RELEASES, INVENTORIES, CLUSTERS):
        for tree in await convoy.home.list(resource, namespace):
            shown = tree.get("status") if resource is RELEASES else tree
            yield (
                f"{resource.kind} {tree['metadata']['name']}",
                json.dumps(shown, ensure_ascii=False).encode(),
            )
    for event in await convoy.home.list(EVENTS, namespace):
        yield f"event {event.get('reason')}", json.dumps(event, ensure_ascii=False).encode()
    yield "convoy's log", convoy.process.log_since(log_mark).encode()
    yield "a metric", await _metrics(convoy)
    for release in releases:
        for subresource in ("diff", "preview"):
            answer = await Api(convoy.home, release.namespace, release.name).raw("GET", subresource)
            yield f"the answer of /{subresource}", answer.body
        async for place in _workflows(convoy, release):
            yield place


async def _metrics(convoy: Convoy) -> bytes:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{convoy.settings.metrics_address}/metrics") as response,
    ):
        response.raise_for_status()
        return await response.read()


async def _workflows(convoy: Convoy, release: ReleaseId) -> AsyncIterator[tuple[str, bytes]]:
    """Payloads stand in histories as they are: a converter that hid them would make this check blind."""
    for identity in (release.sync, release.drift):
        async for run in convoy.temporal.list_workflows(f'WorkflowId="{identity}"'):
            handle = convoy.temporal.get_workflow_handle(run.id, run_id=run.run_id)
            description = await handle.describe()
            yield f"the description of {identity}", description.raw_description.SerializeToString()
            for place in _events((await handle.fetch_history()).events):
                yield f"{place[0]} of {identity}", place[1]


def _events(events: Iterable[object]) -> Iterator[tuple[str, bytes]]:
    for event in events:
        yield f"event {event.event_id}", event.SerializeToString()  # type: ignore[attr-defined]
