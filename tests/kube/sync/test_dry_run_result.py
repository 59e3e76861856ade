"""What a dry run gives to the apply: the objects that exist already (D11, D13)."""

from __future__ import annotations

import pytest

from convoy.api.errors import DeployFailed, Unappliable
from convoy.sync.dryrun import DryRun, dry_run
from convoy.sync.interruptions import Interrupted
from tests.kube.sync.rig import Rig, key, render_of


async def test_sees_existing_objects_with_uid_and_version(rig: Rig) -> None:
    live = await rig.create(rig.config_map("old"))
    result = await dry_run(rig.target, render_of(rig.config_map("old"), rig.config_map("new")))
    [(seen_key, seen)] = result.seen.items()
    assert seen_key == key("ConfigMap", "old", namespace=rig.namespace)
    assert seen.uid == live["metadata"]["uid"]
    assert seen.resource_version == live["metadata"]["resourceVersion"]


async def test_what_was_seen_survives_the_store(rig: Rig) -> None:
    await rig.create(rig.config_map("old"))
    result = await dry_run(rig.target, render_of(rig.config_map("old")))
    assert DryRun.decode_seen(result.encode_seen()) == result.seen


def test_other_bytes_are_no_result() -> None:
    with pytest.raises(ValueError, match="no result"):
        DryRun.decode_seen(b"{}")


async def test_stops_when_the_worker_stops(rig: Rig) -> None:
    with pytest.raises(Interrupted):
        await dry_run(rig.target, render_of(rig.config_map()), should_stop=lambda: True)


async def test_a_webhook_that_is_down_is_no_rejection_but_a_failure(rig: Rig) -> None:
    with pytest.raises(DeployFailed, match=r"box.*down\.example\.org") as caught:
        async with rig.webhook_that_is_down():
            await _until_it_fails(rig)
    assert "could not be completed" in caught.value.message


async def test_a_rejection_tells_how_many_objects_nobody_could_check(rig: Rig) -> None:
    bad = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "door", "namespace": rig.namespace},
        "spec": {"ports": "none"},
    }
    render = render_of(bad, *(rig.config_map(f"box-{number}") for number in range(20)))
    async with rig.webhook_that_is_down():
        with pytest.raises(DeployFailed):
            await _until_it_fails(rig)
        result = await dry_run(rig.target, render)
    assert [each.key.name for each in result.rejected] == ["door"]
    with pytest.raises(
        Unappliable, match=r"rejected an object of the render \(20 more not checked.*\):\n.*door"
    ):
        result.raise_for_rejections()


async def _until_it_fails(rig: Rig) -> None:
    for _ in range(100):  # the server takes notice of a webhook after a moment
        await dry_run(rig.target, render_of(rig.config_map()))
