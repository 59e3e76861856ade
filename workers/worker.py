"""The Temporal worker: which workflows and activities it runs, and how it is tuned."""

from __future__ import annotations

from datetime import timedelta
from importlib.metadata import version

from temporalio.client import Client
from temporalio.worker import Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.applying import Applying
from activities.asking import Asking
from activities.drifting import Drifting
from activities.failures import TranslateFailures
from activities.gating import Gating
from activities.hooking import Hooking
from activities.observing import Observing
from activities.recording import Recording
from activities.resolving import Resolving
from activities.services import Services
from activities.tearing_down import TearingDown
from convoy.settings import Settings
from workers.surplus import DropSurplusInput
from workflows.contract import OBSERVING
from workflows.drift import Drift
from workflows.health import Health
from workflows.sync import Sync

WORKFLOWS = [Sync, Drift, Health]

CACHED_WORKFLOWS = 4000
"""Above the open workflows of one worker: a miss costs 150 ms a task instead of 12 ms (measured, design 04)."""

BUILD_ID = f"convoy-{version('convoy-release')}"
"""Given, since the SDK's own one hashes the source of every module: three seconds of each start (measured)."""

OBSERVER_THROTTLE = timedelta(seconds=15)
"""A watch has nothing to resume from: its heartbeats only say that it lives."""

THROTTLE = timedelta(seconds=5)
"""Heartbeats reach the server this often at most; what a crashed wave has to send again is bounded by it."""


OBSERVED_AT_ONCE = 2000
"""Releases that one process watches at a time: each costs a sleeping task and a heartbeat now and then."""


def workflow_runner() -> WorkflowRunner:
    """Return the sandbox: only the workflow modules themselves are loaded anew for each instance."""
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules(
            "convoy",
            "pydantic",
            "msgspec",
            "workflows.answers",
            "workflows.attributes",
            "workflows.contract",
            "workflows.gates",
            "workflows.history",
            "workflows.hooking",
            "workflows.inbox",
            "workflows.reconcile",
            "workflows.state",
            "workflows.steps",
            "workflows.story",
            "workflows.syncing",
            "workflows.telling",
            "workflows.views",
            "workflows.waits",
        )
    )


def build_worker(client: Client, services: Services) -> Worker:
    """Build the worker of one process."""
    settings: Settings = services.settings
    applying = Applying(services)
    recording = Recording(services)
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=[
            Resolving(services).resolve,
            applying.claim,
            applying.dry_run,
            applying.store_render,
            applying.apply_wave,
            Gating(services).check_health,
            applying.prune,
            applying.write_inventory,
            applying.reapply,
            Hooking(services).run_hooks,
            Hooking(services).approve_hook,
            recording.record,
            recording.record_retry,
            TearingDown(services).teardown,
            Asking(services).ask_sync,
            Drifting(services).drift_pass,
        ],
        workflow_runner=workflow_runner(),
        interceptors=[TranslateFailures(), DropSurplusInput()],
        max_cached_workflows=CACHED_WORKFLOWS,
        max_concurrent_activities=settings.max_concurrent_syncs,
        max_heartbeat_throttle_interval=THROTTLE,
        default_heartbeat_throttle_interval=THROTTLE,
        graceful_shutdown_timeout=settings.grace_period,
        build_id=BUILD_ID,
    )


def build_observer(client: Client, services: Services) -> Worker:
    """Build the worker for what only waits, in the same process: its slots are not those of syncs (D25)."""
    return Worker(
        client,
        task_queue=services.settings.task_queue + OBSERVING,
        activities=[Observing(services).observe_health],
        interceptors=[TranslateFailures(), DropSurplusInput()],
        max_concurrent_activities=OBSERVED_AT_ONCE,
        max_concurrent_activity_task_polls=2,
        max_heartbeat_throttle_interval=OBSERVER_THROTTLE,
        default_heartbeat_throttle_interval=OBSERVER_THROTTLE,
        graceful_shutdown_timeout=services.settings.grace_period,
        build_id=BUILD_ID,
    )
