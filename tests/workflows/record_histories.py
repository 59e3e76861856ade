"""Record the histories that `test_replay` replays: `.venv/bin/python -m tests.workflows.record_histories [name …]`.

Run it after a change of the workflows that open runs need not survive, and add to it when a workflow learns something
new. What a change must survive stays as it is: then the workflow needs `workflow.patched`.

The real ones come from a whole convoy on a stack of its own, the scripted ones from situations that a real cluster
does not get into on demand.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client

from convoy.api.names import SYNC_WAVE
from convoy.api.release import RetryBackoff, SyncPolicy
from convoy.policy.trigger import Trigger
from deploy.stack.local import Stack, running
from tests.e2e.harness.convoy import Convoy, running_convoy
from tests.e2e.tenant import Tenant, new_tenant
from tests.workflows.doubles import SAFETY, Doubles, Script, failure, render_missing
from tests.workflows.driver import Driver, failed, result, until
from tests.workflows.server import scripted_worker, temporal_server
from workflows.contract import (
    Activity,
    Cause,
    Decision,
    DriftReport,
    HealthAnswer,
    HookRun,
    HooksAnswer,
    Observed,
    ReleaseId,
    Resolved,
    SyncEnded,
    SyncRequest,
    UpdateName,
    Verdict,
    Watch,
    WavePlan,
)

HISTORIES = Path(__file__).parent / "histories"
LONG_HISTORY = 40
"""Events from which the server suggests to continue as new, so that such a history stays small."""


async def store(client: Client, name: str, workflow_id: str, run_id: str | None = None) -> None:
    """Store the history of a run, the newest one unless told."""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    history = json.loads((await handle.fetch_history()).to_json())
    (HISTORIES / f"{name}.json").write_text(json.dumps(_scrub(history), indent=1) + "\n")
    print(f"{name}: {len(history['events'])} events")


def _scrub(tree: Any) -> Any:
    """Take out what tells of the machine: who polled, and where the code lies."""
    match tree:
        case dict():
            if tree.get("kind") == "TASK_QUEUE_KIND_STICKY":
                tree = tree | {"name": "sticky"}
            told = {"identity": "worker", "stackTrace": ""}
            return {name: told.get(name, _scrub(value)) for name, value in tree.items()}
        case list():
            return [_scrub(one) for one in tree]
    return tree


# --- a real convoy -------------------------------------------------------------------------------


def _config_map(name: str, namespace: str, wave: int = 0) -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\n"
        f"  annotations: {{{SYNC_WAVE}: '{wave}'}}\ndata: {{greeting: hello}}\n"
    )


async def record_real(stack: Stack, folder: Path) -> None:
    """Let convoy sync, heal, fail and tear down Releases."""
    async with running_convoy(stack, folder) as convoy, new_tenant(convoy.home, convoy.temporal) as tenant:
        await _life_of_a_release(convoy, tenant)
        client, failing = convoy.temporal, ReleaseId(tenant.namespace, "failing")
        await tenant.release(
            "failing",
            policy={"retryBackoff": {"initial": "1s", "factor": 1.0}},
            source={"configMap": {"name": "missing"}},
        )
        await tenant.applied("failing", "SourceNotReady")
        async with asyncio.timeout(SAFETY):
            while await tenant.passes("failing") < 3:  # noqa: ASYNC110 (another process is waited for)
                await asyncio.sleep(0.2)
        await store(client, "sync-source-not-ready", failing.sync)
        await store(client, "drift-open-with-retries", failing.drift)


async def _life_of_a_release(convoy: Convoy, tenant: Tenant) -> None:
    client, shop = convoy.temporal, ReleaseId(tenant.namespace, "shop")
    files = {f"{wave}.yaml": _config_map(f"settings-{wave}", tenant.namespace, wave) for wave in range(2)}
    await tenant.release("shop", files, policy={"prune": {"orphaned": True}, "onDelete": "Prune"})
    await tenant.applied("shop")
    await store(client, "sync-first", shop.sync)
    await convoy.check(shop)
    handle = client.get_workflow_handle(shop.sync)
    await convoy.sync(shop)
    await handle.result()
    await store(client, "sync-again", shop.sync)
    await tenant.delete("shop")
    await tenant.gone("shop")
    await client.get_workflow_handle(shop.drift).result()
    await store(client, "sync-teardown", shop.sync)
    await store(client, "drift-life", shop.drift)


# --- scripted ------------------------------------------------------------------------------------


async def record_scripted(names: Sequence[str] = ()) -> None:
    """Play the situations that need a script, or those of them that are named."""
    plays = (
        _owner,
        _lost_render,
        _many_waves,
        _busy,
        _rollout,
        _gate,
        _gate_times_out,
        _approval,
        _out_of_reach,
        _health,
    )
    async with temporal_server(say=print, long_history=LONG_HISTORY) as client:
        doubles = Doubles()
        async with scripted_worker(client, "convoy", doubles, cached=1000):
            for play in plays:
                name = play.__name__.strip("_")
                if names and name not in names:
                    continue
                release = ReleaseId("team", name)
                await play(Driver(client, "convoy", release), doubles.script(release, uid="uid-1", waves=8))


async def _health(driver: Driver, script: Script) -> None:
    """A watch that a newer one replaces, beside the Jobs of a hook, for so long that it continues as new."""
    held = script.hold(Activity.OBSERVE_HEALTH)
    run = await driver.watch(Watch("uid-1", "r1", index=0, gate=True))
    first = (await run.describe()).run_id
    await held.reached()
    script.answer(Activity.OBSERVE_HEALTH, Observed(jobs_settled=True), *[Observed(phase="Progressing")] * 8)
    await driver.watch(Watch("uid-1", "r1"))
    await driver.watch(Watch("uid-1", jobs=("team/migrate",)))
    await result(run)
    held.open()
    await store(driver.client, "health-superseded", driver.release.health, first)
    await store(driver.client, "health-continued-last", driver.release.health)


async def _owner(driver: Driver, script: Script) -> None:
    script.answer(Activity.CLAIM, failure("WaitingForOwner", "ConfigMap a/b belongs to team/other"))
    await driver.sync_now()
    run = driver.open_sync()
    await driver.wake("uid-1")
    await result(run)
    await store(driver.client, "sync-waits-for-owner", driver.release.sync)


async def _lost_render(driver: Driver, script: Script) -> None:
    script.answer(Activity.APPLY_WAVE, *[render_missing()] * 3)
    run = await driver.sync()
    first = (await run.describe()).run_id
    await script.called(Activity.RECORD)
    await failed(driver.open_sync())
    await store(driver.client, "sync-render-lost", driver.release.sync, first)


async def _many_waves(driver: Driver, script: Script) -> None:
    gate = script.hold(Activity.APPLY_WAVE)
    run = await driver.sync()
    first = (await run.describe()).run_id
    await gate.reached()
    await driver.sync(SyncRequest(trigger=Trigger.RETRY, uid="uid-1", delay_ms=5))
    gate.open()
    await result(run)
    await store(driver.client, "sync-continued-first", driver.release.sync, first)
    await store(driver.client, "sync-continued-last", driver.release.sync)


async def _busy(driver: Driver, script: Script) -> None:
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.BUSY, uid="uid-1"))
    drift = await driver.drift()
    first = (await drift.describe()).run_id
    await driver.changed(Cause.SPEC_CHANGED)
    await until(drift, lambda view: view["pending"] == 1)
    policy = SyncPolicy(retry_backoff=RetryBackoff(initial=timedelta(seconds=1)))
    await driver.ended(SyncEnded("uid-1", "DeployFailed", policy))
    await script.called(Activity.ASK_SYNC)
    for _ in range(LONG_HISTORY):
        await driver.changed(Cause.SPEC_CHANGED)
    script.answer(Activity.DRIFT_PASS, DriftReport(Verdict.GONE))
    await driver.open_drift().execute_update(UpdateName.CHECK)
    await result(driver.open_drift())
    await store(driver.client, "drift-busy-and-continued", driver.release.drift, first)


async def _rollout(driver: Driver, script: Script) -> None:
    drift = await driver.drift()
    due = (datetime.now(UTC) + timedelta(seconds=2)).timestamp()
    await driver.ended(SyncEnded("uid-1", "Applied", SyncPolicy(), rollout_due=due))
    await script.called(Activity.ASK_SYNC)
    await store(driver.client, "drift-open-with-a-rollout", driver.release.drift)
    await drift.terminate()


SICK = HealthAnswer(healthy=False, message="Deployment.apps a/b: 0 of 1 replicas are ready")


def _gated(script: Script, *, timeout: float) -> None:
    script.plan = replace(
        script.plan,
        waves=(WavePlan(0, 1), WavePlan(1, 1, gate=True, timeout=timeout)),
        changed_render=True,
        prune=True,
        prune_after_healthy=True,
    )


async def _gate(driver: Driver, script: Script) -> None:
    """A gate and a prune that wait, with a tick between, long enough to continue as new in the wait."""
    _gated(script, timeout=600)
    script.answer(Activity.CHECK_HEALTH, SICK, SICK, SICK, HealthAnswer(healthy=True), SICK, SICK)
    script.reads(Trigger.SPEC_CHANGED)
    run = await driver.sync()
    first = (await run.describe()).run_id
    await until(run, lambda view: view["reason"] == "WaitingForWave")
    for trigger in (Trigger.PERIODIC, Trigger.HEALTH_REACHED, Trigger.HEALTH_REACHED):
        recorded = script.steps().count(Activity.RECORD)
        script.reads(trigger)
        await driver.sync(SyncRequest(trigger=trigger, uid="uid-1"))
        await script.called(Activity.RECORD, recorded + 1)
    await result(driver.open_sync())
    await store(driver.client, "sync-gate-first", driver.release.sync, first)
    await store(driver.client, "sync-gate-last", driver.release.sync)


async def _gate_times_out(driver: Driver, script: Script) -> None:
    _gated(script, timeout=8)
    script.answer(Activity.CHECK_HEALTH, SICK, SICK, SICK)
    script.reads(Trigger.SPEC_CHANGED)
    script.reads(Trigger.TIMED_OUT)
    await failed(await driver.sync())
    await store(driver.client, "sync-gate-times-out", driver.release.sync)


async def _approval(driver: Driver, script: Script) -> None:
    """An approval that is written down as it is given; `sync-hooks-*` are from before that."""
    script.plan = replace(
        script.plan, waves=(WavePlan(0, 1),), pre_sync=(HookRun("go", 1),), changed_render=True
    )
    asks = HooksAnswer(done=False, reason="WaitingForApproval", message="hook go waits", awaits=("go",))
    script.answer(Activity.RUN_HOOKS, asks)
    script.reads(Trigger.SPEC_CHANGED)
    script.reads(Trigger.APPROVED)
    run = await driver.sync()
    first = (await run.describe()).run_id
    await until(run, lambda view: view["reason"] == "WaitingForApproval")
    await driver.approve("go", "ada")
    await result(driver.open_sync())
    await store(driver.client, "sync-approval-written", driver.release.sync, first)


async def _out_of_reach(driver: Driver, script: Script) -> None:
    """A cluster that is out of reach while a hook behind the sync runs: for the hooks, and for the whole pass."""
    script.plan = replace(
        script.plan, waves=(WavePlan(0, 1),), post_sync=(HookRun("smoke", 1),), changed_render=True
    )
    overdue = (datetime.now(UTC) + timedelta(seconds=1)).timestamp()
    runs = HooksAnswer(done=False, reason="WaitingForHook", message="hook smoke runs", deadline=overdue)
    script.answer(Activity.RUN_HOOKS, runs, failure("ClusterNotReady", "no route"))
    script.reads(Trigger.SPEC_CHANGED)
    stop = replace(script.plan, trigger=Trigger.TIMED_OUT)
    script.answer(Activity.RESOLVE, Resolved(Decision.STOP, stop, "ClusterNotReady", "no route"))
    await driver.sync()
    await script.called(Activity.RECORD, 2)
    waits = (await driver.open_sync().describe()).run_id  # the first run has continued as new
    for recorded in (2, 3):
        await script.called(Activity.RECORD, recorded)
        script.reads(Trigger.TIMED_OUT)
        await driver.sync(SyncRequest(trigger=Trigger.TIMED_OUT, uid="uid-1"))
    await result(driver.open_sync())
    await store(driver.client, "sync-hooks-out-of-reach", driver.release.sync, waits)


async def _record(stack: Stack, folder: Path) -> None:
    await record_real(stack, folder)
    await record_scripted()


def main() -> None:
    """Record all of them anew; with names of scripted situations, only those."""
    if sys.argv[1:]:
        asyncio.run(record_scripted(sys.argv[1:]))
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        with running(Path(folder) / "stack", durable=False) as stack:
            asyncio.run(_record(stack, work))


if __name__ == "__main__":
    main()
