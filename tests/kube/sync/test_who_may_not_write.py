"""What a Release may not write, or did not, it holds against nobody (D13, D14).

All Releases of a cluster share one index of who has what, also those of different tenants. The poor one here may
write ConfigMaps of its own namespace alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from convoy.api.errors import DeployFailed, Unappliable, WaitingForOwner
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.connection import impersonating
from convoy.kube.resources import NAMESPACES
from convoy.sync.apply import apply_wave
from convoy.sync.claim import let_go
from convoy.sync.doubt import settle_doubts
from convoy.sync.inventory import sending
from tests.kube.sync.rig import Rig, render_of, retarget
from tests.rights import allow_config_maps


@pytest.fixture
async def poor(rig: Rig) -> AsyncIterator[Rig]:
    """The same server as an identity with rights in `rig.namespace` alone."""
    user = f"{rig.id}-deployer"
    await allow_config_maps(rig.home, rig.namespace, user)
    async with impersonating(rig.home, user) as client:
        yield replace(rig, target=retarget(rig.target, client))


@pytest.fixture
async def elsewhere(rig: Rig) -> AsyncIterator[str]:
    """A namespace of another tenant."""
    name = f"{rig.namespace}-rich"
    await rig.home.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, NAMESPACES)
    yield name
    await rig.home.delete(NAMESPACES, None, name)


def crown(rig: Rig, namespace: str, name: str = "crown") -> Manifest:
    manifest = rig.config_map(name)
    manifest["metadata"]["namespace"] = namespace
    return manifest


async def test_a_forced_sync_that_is_refused_holds_nothing(rig: Rig, poor: Rig, elsewhere: str) -> None:
    await allow_config_maps(rig.home, elsewhere, f"{rig.id}-deployer", verbs=["get"])
    thief = await rig.release("thief")
    wanted = (rig.config_map("mine"), crown(rig, elsewhere, "crown"), crown(rig, elsewhere, "orb"))
    with pytest.raises(DeployFailed, match=f"ConfigMap {elsewhere}/crown: .*forbidden"):
        await poor.sync(thief, render_of(*wanted), force=True)
    record = await rig.record(thief)
    assert [each.key.name for each in record.objects] == ["mine"]
    assert record.planned == ()
    await rig.sync(await rig.release("king"), render_of(*wanted[1:]))


async def test_a_forced_sync_that_may_not_even_look_holds_nothing(
    rig: Rig, poor: Rig, elsewhere: str
) -> None:
    thief = await rig.release("thief")
    with pytest.raises(DeployFailed):
        await poor.sync(thief, render_of(crown(rig, elsewhere)), force=True)
    await rig.sync(await rig.release("king"), render_of(crown(rig, elsewhere)))


async def test_nobody_claims_what_it_may_not_write(rig: Rig, poor: Rig, elsewhere: str) -> None:
    king, thief = await rig.release("king"), await rig.release("thief")
    await rig.sync(king, render_of(crown(rig, elsewhere), rig.config_map("castle")))
    with pytest.raises(Unappliable, match=f"ConfigMap {elsewhere}/crown: .*forbidden"):
        await poor.sync(thief, render_of(crown(rig, elsewhere)))
    assert (await rig.record(thief)).claims == ()
    outcome = await rig.sync(king, render_of(rig.config_map("castle")))
    assert [each.name for each in outcome.pruned.deleted] == ["crown"]
    assert await rig.get(crown(rig, elsewhere)) is None


async def test_a_forced_one_waits_without_a_claim(rig: Rig, poor: Rig, elsewhere: str) -> None:
    king, thief = await rig.release("king"), await rig.release("thief")
    await rig.sync(king, render_of(crown(rig, elsewhere)))
    with pytest.raises(WaitingForOwner):
        await poor.sync(thief, render_of(crown(rig, elsewhere), rig.config_map("mine")), force=True)
    assert [each.key.name for each in (await rig.record(thief)).claims] == ["mine"]


async def test_nobody_gives_up_to_one_that_may_not_write(rig: Rig, poor: Rig, elsewhere: str) -> None:
    king, queen, thief = [await rig.release(name) for name in ("king", "queen", "thief")]
    await rig.sync(king, render_of(crown(rig, elsewhere)))
    await rig.sync(queen, render_of(crown(rig, elsewhere, "orb")))
    with pytest.raises(WaitingForOwner):
        await poor.sync(thief, render_of(crown(rig, elsewhere)), force=True)
    with pytest.raises(WaitingForOwner):
        await rig.sync(king, render_of(crown(rig, elsewhere, "orb")))
    assert await rig.names(king) == ["crown"]


async def test_a_claim_ends_with_the_wait(rig: Rig) -> None:
    owner, other = await rig.release("owner"), await rig.release("other")
    await rig.sync(owner, render_of(rig.config_map("ladder"), rig.config_map("rope")))
    with pytest.raises(WaitingForOwner):
        await rig.sync(other, render_of(rig.config_map("ladder")))
    await let_go(await rig.ledger(other))  # suspended, or its render is at fault now
    assert (await rig.record(other)).claims == ()
    outcome = await rig.sync(owner, render_of(rig.config_map("rope")))
    assert [each.name for each in outcome.pruned.deleted] == ["ladder"]


async def test_keys_that_a_wait_gave_back_are_claimed_again_before_their_wave(rig: Rig) -> None:
    first, second = await rig.release("first"), await rig.release("second")
    render = render_of(rig.config_map("early"), rig.config_map("late", wave=1))
    ledger = await rig.ledger(first)
    await rig.claim(ledger, render)
    (_, early), (_, late) = render.waves()
    await apply_wave(rig.target, ledger, early, seen={})
    await let_go(ledger)
    assert [key.name for key in ledger.record.held()] == ["early"]
    await rig.hold(ledger, render)
    assert [each.key.name for each in ledger.record.planned] == ["late"]
    with pytest.raises(WaitingForOwner):
        await rig.sync(second, render_of(rig.config_map("late")))
    await apply_wave(rig.target, ledger, late, seen={})
    assert await rig.names(first) == ["early", "late"]


async def test_a_request_without_a_verdict_is_held_until_somebody_looks(rig: Rig) -> None:
    release, other = await rig.release(), await rig.release("other")
    async with rig.webhook_that_is_down():
        box = await _first_that_fails(rig, release)
    ledger = await rig.ledger(release)
    assert [(each.key.name, each.sent) for each in ledger.record.planned] == [(box, True)]
    with pytest.raises(WaitingForOwner):
        await rig.sync(other, render_of(rig.config_map(box)))
    await settle_doubts(rig.target, ledger)
    await let_go(ledger)
    assert ledger.record.planned == ()


async def test_what_a_crashed_attempt_applied_is_recorded_by_the_next_look(rig: Rig) -> None:
    ledger = await rig.ledger(await rig.release())
    ours, foreign, absent = (rig.config_map(name) for name in ("ours", "foreign", "absent"))
    await rig.claim(ledger, render_of(ours, foreign, absent))
    keys = {each.key for each in ledger.record.planned}
    await ledger.write(lambda record: sending(record, keys, {}))
    live = await rig.create(ours, manager="somebody")
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ours"},"data":{"a":"b"}}'
    await rig.home.apply(body, await rig.resource(ours), rig.namespace, "ours")
    await rig.create(foreign)
    await settle_doubts(rig.target, ledger)
    assert [(each.key.name, each.uid) for each in ledger.record.objects] == [
        ("ours", live["metadata"]["uid"])
    ]
    assert [(each.key.name, each.sent) for each in ledger.record.planned] == [
        ("foreign", False),
        ("absent", False),
    ]


async def test_what_may_not_be_read_is_not_held(rig: Rig, poor: Rig, elsewhere: str) -> None:
    ledger = await rig.ledger(await rig.release())
    await rig.claim(ledger, render_of(crown(rig, elsewhere)))
    keys = {each.key for each in ledger.record.planned}
    await ledger.write(lambda record: sending(record, keys, {}))
    await settle_doubts(poor.target, ledger)
    await let_go(ledger)
    assert ledger.record.planned == ()


async def _first_that_fails(rig: Rig, release: Release) -> str:
    for number in range(200):  # the server takes notice of a webhook after a moment
        name = f"box-{number}"
        try:
            await rig.sync(release, render_of(rig.config_map(name)), force=True)
        except DeployFailed:
            return name
    raise AssertionError("the webhook was never asked")
