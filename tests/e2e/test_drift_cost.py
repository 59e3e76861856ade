"""What a pass that finds nothing costs: Temporal actions, and requests to the target's API server.

A fleet pays it for every Release at every tick, so it is counted and not estimated.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise

from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory

from convoy.kube.client import KubeClient
from tests.e2e.drift_passes import observed, until_passes
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import PATIENCE, Tenant, config_map
from tests.waiting import eventually
from workflows.contract import Activity, Cause, ReleaseId, Verdict

OBJECTS = 40
ACTIONS = {
    EventType.EVENT_TYPE_TIMER_STARTED: "timer",
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: "activity",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: "signal",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: "update",
}
"""What a Temporal service bills, of all that a Drift workflow does."""
_SAMPLE = re.compile(
    r'^apiserver_request_total\{.*resource="podtemplates".*verb="(GET|APPLY|PATCH|PUT|POST)".*\} (\S+)$'
)


async def test_a_pass_sends_exactly_two_requests_an_object(convoy: Convoy, tenant: Tenant) -> None:
    # PodTemplates, since nobody else in the cluster asks for one.
    objects = [pod_template(f"p{number}", tenant.namespace) for number in range(OBJECTS)]
    await tenant.release("app", {"a.yaml": "\n---\n".join(objects)})
    await tenant.applied("app")
    await observed(tenant, "app")
    before = await requests(tenant.home)
    report = await convoy.check(ReleaseId(tenant.namespace, "app"))
    assert (report.verdict, report.in_sync) == (Verdict.IN_SYNC, OBJECTS)
    assert await requests(tenant.home) - before == Counter(GET=OBJECTS, APPLY=OBJECTS)


async def test_a_pass_in_manual_mode_is_a_timer_and_an_activity(tenant: Tenant) -> None:
    await tenant.release(
        "app",
        {"a.yaml": config_map("a", tenant.namespace)},
        policy={"automatic": False, "interval": "1s"},
    )
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.in_sync("app")
    await until_each_tick_is(tenant, Counter(timer=1, activity=1))


async def test_a_pass_in_automatic_mode_asks_for_the_reconcile_and_hears_of_its_end(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"interval": "3s"})
    await tenant.applied("app")
    await tenant.in_sync("app")
    # The pass, the request for the reconcile after it, the reconcile's end, and the timer: at most 4.
    await until_each_tick_is(tenant, Counter(timer=1, activity=2, signal=1))


async def until_each_tick_is(tenant: Tenant, actions: Counter[str]) -> None:
    """Wait until three ticks in a row are so: where the machine stands still, a reconcile ends after the next tick."""

    async def so() -> bool:
        return await actions_between_ticks(tenant) == [actions] * 3

    await eventually(so, f"three ticks of {actions}", within=PATIENCE)


async def actions_between_ticks(tenant: Tenant) -> list[Counter[str]]:
    """Return the actions from one tick's pass to the next, of the latest three."""
    await until_passes(tenant, "app", lambda found: [one.cause for one in found[-4:]] == [Cause.TICK] * 4)
    (history,) = await tenant.histories("app", "drift")
    ticks = _ticks(history)[-4:]
    return [
        Counter(
            ACTIONS[event.event_type] for event in history.events[first:last] if event.event_type in ACTIONS
        )
        for first, last in pairwise(ticks)
    ]


def _ticks(history: WorkflowHistory) -> list[int]:
    return [
        index
        for index, event in enumerate(history.events)
        if event.activity_task_scheduled_event_attributes.activity_type.name == Activity.DRIFT_PASS
        and json.loads(event.activity_task_scheduled_event_attributes.input.payloads[0].data)["cause"]
        == Cause.TICK
    ]


async def requests(client: KubeClient) -> Counter[str]:
    """Return how many requests about single PodTemplates the API server has answered, by verb."""
    text = (await client.request("GET", "/metrics")).body.decode()
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        if found := _SAMPLE.match(line):
            counts[found[1]] += int(float(found[2]))
    return counts


def pod_template(name: str, namespace: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": name, "namespace": namespace},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "fake.local/ready:1"}]},
            },
        }
    )
