"""The long-running processes: worker, watcher, API server, and all in one."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from temporalio.client import Client

from activities.services import Services
from convoy.kube.client import KubeClient
from convoy.kube.lease import Lease
from convoy.settings import Settings
from watcher.watcher import Watcher
from workers.apiserver import listen_of, serve_api
from workers.opening import instance, open_home, open_services, signals_of
from workers.telemetry import set_up_telemetry
from workers.temporal import connect, register_search_attributes
from workers.worker import build_observer, build_worker

SWEEP_TICKS = 5
"""Resync periods between two sweeps of the watcher over all Releases."""

LEASE = "convoy-watcher"

log = structlog.get_logger(__name__)

Process = Callable[[Settings, KubeClient, Client], Awaitable[None]]


async def run_worker(settings: Settings, home: KubeClient, client: Client) -> None:
    """Run workflows and activities until cancelled; then let running activities finish or hand over."""
    async with open_services(settings, home, client) as services:
        await _work(services, client)


async def run_apiserver(settings: Settings, home: KubeClient, client: Client) -> None:
    """Serve the aggregated API until cancelled.

    Raises:
        RuntimeError: there is no certificate to serve with.
    """
    api = listen_of(settings)
    if api is None:
        raise RuntimeError("no certificate to serve with: set --tls-cert-file and --tls-key-file")
    async with open_services(settings, home, client) as services:
        await serve_api(*api, services, client)


async def run_watcher(settings: Settings, home: KubeClient, client: Client) -> None:
    """Watch and signal until cancelled, as long as this process holds the Lease."""
    watcher_signals = signals_of(settings, client)
    sweep = max(settings.resync.total_seconds(), 60.0) * SWEEP_TICKS

    async def lead() -> None:
        log.info("watcher-started", temporal=settings.temporal_address)
        await Watcher(home, watcher_signals, sweep_seconds=sweep).run()

    await Lease(home, namespace=settings.namespace, name=LEASE, identity=instance()).run(lead)


async def run_all(settings: Settings, home: KubeClient, client: Client) -> None:
    """Worker and watcher in one process, for small installations; also the API, where it has a certificate."""
    api = listen_of(settings)
    async with open_services(settings, home, client) as services, asyncio.TaskGroup() as group:
        group.create_task(_work(services, client))
        group.create_task(_as_task(run_watcher(settings, home, client)))
        if api is not None:
            group.create_task(serve_api(*api, services, client))


async def run_process(name: str, process: Process, settings: Settings) -> None:
    """Connect and run a process until SIGTERM or SIGINT.

    Raises:
        RuntimeError, ClusterNotReady: Temporal or Kubernetes cannot be used; the message says what to do.
    """
    telemetry = set_up_telemetry(settings, process=name)
    client = await connect(settings, runtime=telemetry.runtime, interceptors=telemetry.interceptors)
    try:
        async with open_home(settings) as home:
            await until_signalled(process(settings, home, client))
    finally:
        telemetry.shut_down()


async def until_signalled(work: Awaitable[None]) -> None:
    """Run until the work ends, or cancel it at SIGTERM or SIGINT and wait for its graceful end."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await task
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _work(services: Services, client: Client) -> None:
    await register_search_attributes(client)
    worker, observer = build_worker(client, services), build_observer(client, services)
    settings = services.settings
    log.info("worker-started", task_queue=settings.task_queue, temporal=settings.temporal_address)
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        group.create_task(observer.run())


async def _as_task(work: Awaitable[None]) -> None:
    await work
