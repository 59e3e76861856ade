"""A worker that is killed in the middle of a wave: the same workflow finishes with another worker."""

from __future__ import annotations

from tests.chaos.big_sync import BigSync, expected, left_to_send, told_by
from tests.chaos.site import Site
from tests.e2e.gated import GATE
from tests.e2e.tenant import Tenant, applied_of, failed_tasks


async def test_sigkill_in_the_second_wave_loses_nothing_and_sends_nothing_twice(
    site: Site, tenant: Tenant
) -> None:
    big = BigSync(tenant)
    first = await site.worker()
    await site.watcher()
    await big.create()
    await big.in_the_middle()
    run = (await big.workflow.describe()).run_id
    await first.kill()
    step = await big.step()
    assert step is not None
    sent, left = await big.sent(), left_to_send(await big.recorded(), told_by(step))

    await site.worker()
    tree = await tenant.applied("big")
    assert await big.sent() - sent == left, "what is told and recorded is not sent again"
    assert (await big.workflow.describe()).run_id == run
    assert tree["status"]["sync"]["runId"] == run
    assert await big.values() == expected("1")
    assert sorted(await big.recorded()) == sorted(expected("1"))
    assert [wave["phase"] for wave in tree["status"]["waves"]] == ["Applied", "Applied"]
    assert len(tree["status"]["history"]) == 1
    (history,) = await tenant.histories("big")
    assert failed_tasks(history) == []


async def test_sigterm_hands_the_wave_over_without_waiting_for_a_timeout(site: Site, tenant: Tenant) -> None:
    big = BigSync(tenant)
    first = await site.worker()
    await site.watcher()
    await big.create()
    await big.in_the_middle()
    run = (await big.workflow.describe()).run_id
    await first.stop()
    assert first.exit_code == 0
    step = await big.step()
    assert step is not None
    assert step.last_failure.application_failure_info.type == "HandedOver"
    sent, recorded = await big.sent(), await big.recorded()
    assert told_by(step) == len(recorded) - 1, "all that was sent is recorded and told"

    await site.worker()
    await tenant.applied("big")
    assert await big.sent() - sent == left_to_send(recorded, told_by(step))
    assert (await big.workflow.describe()).run_id == run
    assert await big.values() == expected("1")
    assert sorted(await big.recorded()) == sorted(expected("1"))


async def test_a_pass_that_changes_nothing_goes_through_a_new_gate_though_its_worker_dies(
    site: Site, tenant: Tenant
) -> None:
    big = BigSync(tenant)
    first = await site.worker()
    await site.watcher()
    await big.create(sick=True)
    await tenant.applied("big")
    await tenant.in_sync("big")  # the status of the Deployment has come to rest
    await tenant.patch("big", {"spec": {"syncWaves": GATE}})
    await big.in_the_middle()
    await first.kill()

    await site.worker()
    assert (await big.workflow.result())["reason"] == "Applied"
    tree = await tenant.get("big")
    assert applied_of(tree)["status"] == "True"
    assert tree["status"]["waves"][1]["strategy"] == "Health"
