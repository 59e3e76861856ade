"""The aggregated API as a part of a process, and what it asks of Temporal."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

import structlog
from temporalio.client import Client, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.services import Services
from convoy.server.call import Checked
from convoy.server.call import Services as ServerServices
from convoy.server.refusals import Conflict, Unavailable
from convoy.server.server import Listen, serving
from convoy.server.trust import ServingFiles, Trust
from convoy.settings import Settings
from workflows.contract import Approved, DriftReport, ReleaseId, UpdateName

TEMPORAL_SECONDS: Final = 10.0
"""How long Temporal may take to take a request in; what it does then may take longer."""

log = structlog.get_logger(__name__)


class Workflows:
    """What the API asks of the workflows of a Release: `convoy.server.call.Workflows` on Temporal."""

    def __init__(self, client: Client, services: Services) -> None:
        self._client = client
        self._signals = services.signals

    async def check(self, namespace: str, name: str, uid: str) -> Checked:
        """Make a pass with the update `check` of the Drift workflow (D37), which is started where it is not open.

        Raises:
            Unavailable: Temporal or a worker does not answer.
        """
        release = ReleaseId(namespace, name)
        try:
            async with asyncio.timeout(TEMPORAL_SECONDS):
                await self._signals.ensure_drift(release, uid)
        except (TimeoutError, RPCError) as error:
            raise Unavailable(f"Temporal does not answer: {error}", name=name) from error
        try:
            report: DriftReport = await self._client.get_workflow_handle(release.drift).execute_update(
                UpdateName.CHECK, result_type=DriftReport, id=secrets.token_hex(8)
            )
        except (RPCError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
            raise Unavailable(f"the drift pass was not made: {error}", name=name) from error
        return Checked(
            verdict=str(report.verdict),
            uid=report.uid,
            message=report.message,
            began_at=report.began_at,
            compared=report.compared,
            in_sync=report.in_sync,
            modified=report.modified,
            missing=report.missing,
            changes=report.changes,
        )

    async def approve(self, namespace: str, name: str, *, hook: str, user: str) -> None:
        """Approve with the update `approve` of the Sync workflow, which refuses what it does not wait for.

        Raises:
            Conflict: no sync waits for it.
            Unavailable: Temporal or a worker does not answer.
        """
        handle = self._client.get_workflow_handle(ReleaseId(namespace, name).sync)
        try:
            async with asyncio.timeout(TEMPORAL_SECONDS):
                await handle.execute_update(UpdateName.APPROVE, args=[hook, user], result_type=Approved)
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            told = cause.message if isinstance(cause, ApplicationError) else str(error)
            raise Conflict(told, name=name) from error
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise Conflict(f"no sync of Release {namespace}/{name} waits now", name=name) from error
            raise Unavailable(f"Temporal does not answer: {error}", name=name) from error
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
            raise Unavailable(
                f"it is not known whether the hook {hook} was approved: no worker answered in time", name=name
            ) from error


def listen_of(settings: Settings) -> tuple[Listen, ServingFiles] | None:
    """Return where and with which certificate the API is served; None where no certificate is given.

    Raises:
        RuntimeError: the settings make no sense.
    """
    if settings.tls_cert_file is None and settings.tls_key_file is None:
        return None
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        raise RuntimeError("--tls-cert-file and --tls-key-file go together")
    host, _, port = settings.api_address.rpartition(":")
    if not port.isdecimal():
        raise RuntimeError(f"--api-address {settings.api_address}: expected host:port")
    files = ServingFiles(settings.tls_cert_file, settings.tls_key_file)
    return Listen(host=host.strip("[]") or "0.0.0.0", port=int(port)), files


async def serve_api(listen: Listen, files: ServingFiles, services: Services, client: Client) -> None:
    """Serve the API until cancelled; then running calls get some seconds."""
    trust = Trust(services.home, files)
    api = ServerServices(
        home=services.home,
        desired=services.desired,
        renders=services.renders,
        key=services.key,
        ownership=services.ownership,
        workflows=Workflows(client, services),
    )
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(trust.run())
        try:
            async with serving(api, trust, listen) as port:
                log.info("apiserver-started", address=f"{listen.host}:{port}")
                await asyncio.get_running_loop().create_future()
        finally:
            watching.cancel()
