"""Opening all that activities work with, and closing it again in the right order."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import structlog
from temporalio.client import Client

from activities.services import Services
from activities.siblings import Siblings
from activities.signals import Signals
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_home
from convoy.kube.doorbell import Doorbells
from convoy.kube.errors import NotFound
from convoy.kube.events import Events
from convoy.kube.resources import NAMESPACES
from convoy.kube.targets import Targets
from convoy.render.resolve import Renderer, RenderOptions
from convoy.settings import Settings
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.collector import Collector
from convoy.store.crypto import InstallationKey
from convoy.store.key import installation_key
from convoy.store.renders import Renders
from convoy.store.store import RenderStore
from convoy.sync.desired import DesiredRenders
from convoy.sync.ownership import Ownership

SYNCED_WITHIN = 120.0
"""Seconds for the first list of inventories and Releases."""

log = structlog.get_logger(__name__)


def instance() -> str:
    """Name this process, unlike any other: for events, leases and logs."""
    return f"{socket.gethostname()}_{os.getpid()}"


def signals_of(settings: Settings, client: Client) -> Signals:
    """Return the sender of signals of one process."""
    return Signals(client, task_queue=settings.task_queue, resync=settings.resync)


@asynccontextmanager
async def open_home(settings: Settings) -> AsyncIterator[KubeClient]:
    """Connect to the cluster that holds the Releases; raises `ClusterNotReady`."""
    async with await connect_home(settings.kubeconfig) as home:
        yield home


@asynccontextmanager
async def open_services(settings: Settings, home: KubeClient, client: Client) -> AsyncIterator[Services]:
    """Open stores and connections for the activities of one worker.

    Raises:
        RuntimeError: convoy's own namespace or CRDs are missing; the message says how to make them.
    """
    async with AsyncExitStack() as stack:
        key = await _key(settings, home)
        folder = settings.work_folder
        store = RenderStore.open(settings.render_store_url) if settings.render_store_url else None
        if store is None:
            log.warning(
                "no-render-store",
                meaning="no pin and no rollback, and all workers must run on this machine: set --render-store-url",
            )
        renders = Renders(store, Cache(folder / "renders"), key=key)
        source = SourceOptions(
            git=settings.program("git"),
            allow_private_addresses=settings.allow_private_addresses,
            allowed_networks=settings.allow_addresses,
        )
        options = RenderOptions(
            cache=folder / "sources",
            kustomize=settings.program("kustomize"),
            helm=settings.program("helm"),
            source=source,
        )
        targets = Targets(
            home,
            allow_own_identity=settings.allow_own_identity,
            allow_private=settings.allow_private_addresses,
        )
        stack.push_async_callback(targets.close)
        doorbells = Doorbells()
        stack.push_async_callback(doorbells.close)
        ownership, siblings = Ownership(home), Siblings(home)
        for reflector in (ownership.run(), siblings.run()):
            await stack.enter_async_context(beside(reflector))
        try:
            async with asyncio.timeout(SYNCED_WITHIN):
                await ownership.synced()
                await siblings.synced()
        except TimeoutError as error:
            raise RuntimeError(
                "the Releases cannot be listed; install the CRDs: convoy crds | kubectl apply --server-side -f -"
            ) from error
        yield Services(
            settings=settings,
            home=home,
            desired=DesiredRenders(
                home,
                targets=targets,
                renderer=Renderer(renders=renders, key=key, options=options),
                renders=renders,
                home_uid=(await home.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"],
                own_namespace=None if settings.allow_own_namespace else settings.namespace,
            ),
            renders=renders,
            collector=Collector(store, key=key) if store is not None else None,
            key=key,
            ownership=ownership,
            siblings=siblings,
            events=Events(home, instance=instance()),
            signals=signals_of(settings, client),
            doorbells=doorbells,
        )


async def _key(settings: Settings, home: KubeClient) -> InstallationKey:
    try:
        return await installation_key(home, namespace=settings.namespace, name=settings.key_secret)
    except NotFound as error:
        raise RuntimeError(
            f"namespace {settings.namespace} does not exist; create it, or name another one with --namespace"
        ) from error


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run what only cancellation ends as long as the block lasts; where it fails, the block ends with its error.

    Otherwise nobody would notice: a copy of the Releases that nothing keeps true any more looks like any other.
    """
    task, owner = asyncio.create_task(work), asyncio.current_task()

    def ended(task: asyncio.Task[None]) -> None:
        if owner is not None and not task.cancelled() and task.exception() is not None:
            owner.cancel()

    task.add_done_callback(ended)
    try:
        yield
    except asyncio.CancelledError:
        if not task.done() or task.cancelled() or owner is None:
            raise
        owner.uncancel()
        await task
    finally:
        task.remove_done_callback(ended)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
