"""The drift passes that convoy made of a Release, read from the histories of its Drift workflow."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory

from convoy.api.objects import Manifest
from convoy.kube.resources import EVENTS
from tests.e2e.tenant import PATIENCE, Tenant
from tests.waiting import eventually
from workflows.contract import STATE_QUERY, Activity, AskSync, Cause, ReleaseId, SignalName, Verdict


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass that ended."""

    cause: Cause
    verdict: Verdict
    drifted: tuple[str, ...]


async def drift_passes(tenant: Tenant, name: str) -> list[Pass]:
    """Return the passes that compared, or found that there is nothing to compare; oldest first."""
    return [one for one in await _all_passes(tenant, name) if one.verdict is not Verdict.BUSY]


async def busy_passes(tenant: Tenant, name: str) -> int:
    """Return how many passes met a running sync and are made again at its end (D35)."""
    return sum(one.verdict is Verdict.BUSY for one in await _all_passes(tenant, name))


async def heals(tenant: Tenant, name: str) -> int:
    """Return how many syncs the observer asked for because of drift."""
    asked = [AskSync(**arg) for arg, _ in await _calls(tenant, name, Activity.ASK_SYNC)]
    return sum(one.annotate for one in asked)


async def observed(tenant: Tenant, name: str) -> None:
    """Wait until the observer has heard of the render that was applied, and owes no pass any more."""
    handle = tenant.client.get_workflow_handle(ReleaseId(tenant.namespace, name).drift)

    async def at_rest() -> bool:
        heard = any(
            _tells_of_a_render(event) for one in await tenant.histories(name, "drift") for event in one.events
        )
        if not heard or (await handle.query(STATE_QUERY))["pending"]:
            return False
        begun = (await tenant.steps(name, "drift")).count(Activity.DRIFT_PASS)
        return begun == len(await _all_passes(tenant, name))

    await eventually(at_rest, within=PATIENCE)


async def until_passes(tenant: Tenant, name: str, done: Callable[[Sequence[Pass]], bool]) -> list[Pass]:
    """Wait until the passes of a Release are as wanted."""
    found: list[Pass] = []

    async def enough() -> bool:
        nonlocal found
        found = await drift_passes(tenant, name)
        return done(found)

    await eventually(enough, "the passes as wanted", within=PATIENCE)
    return found


async def events_of(tenant: Tenant, name: str, reason: str) -> list[Manifest]:
    """Return the events of a Release with this reason."""
    return [
        event
        for event in await tenant.home.list(EVENTS, tenant.namespace)
        if event["reason"] == reason and event["regarding"]["name"] == name
    ]


def _tells_of_a_render(event: HistoryEvent) -> bool:
    signal = event.workflow_execution_signaled_event_attributes
    return signal.signal_name == SignalName.OUTCOME and bool(
        json.loads(signal.input.payloads[0].data)["render_ref"]
    )


async def _all_passes(tenant: Tenant, name: str) -> list[Pass]:
    return [
        Pass(Cause(arg["cause"]), Verdict(result["verdict"]), tuple(result["drifted"]))
        for arg, result in await _calls(tenant, name, Activity.DRIFT_PASS)
    ]


async def _calls(tenant: Tenant, name: str, activity: Activity) -> list[tuple[Any, Any]]:
    histories = await tenant.histories(name, "drift")
    return [call for history in histories for call in _calls_of(history, activity)]


def _calls_of(history: WorkflowHistory, activity: Activity) -> list[tuple[Any, Any]]:
    """Return argument and answer of each call of an activity that was answered."""
    arguments: dict[int, Any] = {}
    calls = []
    for event in history.events:
        scheduled = event.activity_task_scheduled_event_attributes
        if scheduled.activity_type.name == activity:
            arguments[event.event_id] = json.loads(scheduled.input.payloads[0].data)
        completed = event.activity_task_completed_event_attributes
        if completed.scheduled_event_id in arguments:
            answer = json.loads(completed.result.payloads[0].data)
            calls.append((arguments[completed.scheduled_event_id], answer))
    return calls
