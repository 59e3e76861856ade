"""Running a case: its Releases, its steps in order, its last expectation, and the cleanup."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from convoy.api.times import format_time
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import RELEASES, Resource
from tests.e2e.harness.convoy import MANAGER, POLL, Convoy, TookTooLong, ensure_namespace
from tests.e2e.runner import steps as do
from tests.e2e.runner.case import Case, Tokens
from tests.e2e.runner.cleanup import clean_up
from tests.e2e.runner.ending import until_at_rest, until_post_sync_has_ended
from tests.e2e.runner.expect import faults_of
from tests.e2e.runner.expectation import Expectation
from tests.e2e.runner.files import expand
from tests.e2e.runner.merge import CLUSTER, release_manifest
from tests.e2e.runner.pointer import ABSENT, resolve, same
from tests.e2e.runner.reference import parse_reference
from tests.e2e.runner.serve import source_of
from tests.e2e.runner.world import CaseFailed, LastPass, World

SERVICE_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts", True)


async def run_case(convoy: Convoy, case: Case, tokens: Tokens) -> None:
    """Run one case. Raises CaseFailed."""
    async with _world(convoy, case, tokens) as world:
        for name, over in case.releases.items():
            await convoy.create(release_manifest(world.namespace, name, over))
        for number, step in enumerate(case.steps, 1):
            await _named(_take(world, step), f"step {number} ({type(step).__name__})")
        await _named(_check(world, case.expect), "at the end")


@asynccontextmanager
async def _world(convoy: Convoy, case: Case, tokens: Tokens) -> AsyncIterator[World]:
    namespace = f"releases-{secrets.token_hex(5)}"
    began = format_time(datetime.now(UTC))
    world = World(convoy, case, namespace, convoy.process.mark())
    try:
        await convoy.open_namespace(namespace, cluster=CLUSTER)
        await ensure_namespace(convoy.home, tokens.namespace)
        await _until_pods_are_admitted(convoy, tokens.namespace)
        yield world
    finally:
        await clean_up(convoy, case, namespace=namespace, prefix=tokens.namespace, began=began)


async def _until_pods_are_admitted(convoy: Convoy, namespace: str) -> None:
    """Wait for the default service account: a pod that comes before it is refused."""
    async with asyncio.timeout(30):
        while True:
            try:
                await convoy.home.get(SERVICE_ACCOUNTS, namespace, "default")
            except NotFound:
                await asyncio.sleep(POLL)
            else:
                return


async def _named(work: Awaitable[None], where: str) -> None:
    try:
        await work
    except (CaseFailed, TookTooLong) as error:
        raise CaseFailed(f"{where}: {error}") from None
    except ApiError as error:
        raise CaseFailed(f"{where}: the API server refused: {error.message}") from error


async def _take(world: World, step: do.Step) -> None:
    convoy, objects = world.convoy, world.convoy.objects
    match step:
        case do.Live():
            for manifest in step.objects:
                put = objects.create if step.op == "create" else objects.apply
                await put(manifest, manager=step.manager)
        case do.Edit():
            await objects.patch(
                parse_reference(step.object), step.patch,
                kind=step.type, manager=step.manager, subresource=step.subresource,
            )  # fmt: skip
        case do.Remove():
            await _remove(world, step)
        case do.UseRender():
            await _use_render(world, step)
        case do.PatchRelease():
            await convoy.home.patch(RELEASES, world.namespace, step.release, step.patch, manager=MANAGER)
        case do.Sync(wait=True):
            release = world.release(step.release)
            settled = await convoy.sync(release, force=step.force, timeout=step.timeout)
            await until_post_sync_has_ended(convoy, release, settled, timeout=step.timeout)
        case do.Sync():
            await convoy.ask(world.release(step.release), force=step.force)
        case do.Drift():
            report = await convoy.check(world.release(step.release), timeout=step.timeout)
            world.passes[step.release] = LastPass(report, await convoy.changes(report))
        case do.Wait():
            await _wait(world, step)
        case do.Remember():
            await _remember(world, step)
        case do.Check():
            await _check(world, step.expectation)


async def _check(world: World, expected: Expectation) -> None:
    """Check what is true now; where it is not, once more when the attempt that runs has come to rest."""
    faults = await faults_of(world, expected)
    if faults:
        for name in world.case.releases:
            await until_at_rest(world.convoy, world.release(name), hooks=bool(expected.hooks))
        faults = await faults_of(world, expected)
    if faults:
        raise CaseFailed("; ".join(faults) if len(faults) == 1 else "\n  ".join(["", *faults]))


async def _use_render(world: World, step: do.UseRender) -> None:
    convoy, release = world.convoy, world.release(step.release)
    source = await source_of(expand(world.case.renders[step.use]), folder=convoy.folder)
    patch = [{"op": "replace", "path": "/spec/source", "value": source}]
    await convoy.home.patch(RELEASES, release.namespace, release.name, patch, kind="json", manager=MANAGER)
    await convoy.until_seen(release)


async def _remove(world: World, step: do.Remove) -> None:
    key, objects = parse_reference(step.object), world.convoy.objects
    live = await objects.get(key)
    if live is None:
        raise CaseFailed(f"{key} is not there")
    await objects.delete(key)
    deadline = time.monotonic() + 30
    while step.wait and (now := await objects.get(key)) and now["metadata"]["uid"] == live["metadata"]["uid"]:
        if time.monotonic() > deadline:
            raise CaseFailed(f"{key} is not gone after 30 s")
        await asyncio.sleep(POLL)


async def _wait(world: World, step: do.Wait) -> None:
    if step.object is None:
        await asyncio.sleep(step.seconds or 0)
        return
    key = parse_reference(step.object)
    deadline = time.monotonic() + step.timeout
    while True:
        live = await world.convoy.objects.get(key)
        found = resolve(live, step.path or "") if live is not None else ABSENT
        if (found is not ABSENT) == step.exists and (not step.has_value or same(found, step.equals)):
            return
        if time.monotonic() > deadline:
            shown = "is not there" if found is ABSENT else f"is {found!r}" if step.path else "exists"
            raise CaseFailed(
                f"{key} {step.path or ''} is not as waited for after {step.timeout:g} s: it {shown}"
            )
        await asyncio.sleep(POLL)


async def _remember(world: World, step: do.Remember) -> None:
    for text in step.objects:
        key = parse_reference(text)
        live = await world.convoy.objects.get(key, within=30)
        if live is None:
            raise CaseFailed(f"{key} is not there")
        world.remembered[key] = live["metadata"]["uid"]
