"""The prune deletes what left the render, and nothing else (D17–D21b)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from convoy.api.errors import PruneFailed, WaitingForOwner, WaitingForPrune
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError
from convoy.kube.resources import NAMESPACES
from convoy.sync.apply import apply_wave
from convoy.sync.interruptions import Interrupted
from convoy.sync.inventory import sending
from convoy.sync.prune import Pruned, prune
from convoy.sync.prune_plan import Action
from tests.kube.sync.rig import Rig, render_of, retarget
from tests.waiting import eventually


async def test_deletes_what_left_the_render_and_nothing_that_looks_alike(rig: Rig) -> None:
    release = await rig.release()
    green = rig.config_map("green", paint="1")
    await rig.create(green)
    await rig.sync(release, render_of(rig.config_map("red", paint="1"), rig.config_map("blue", paint="1")))
    outcome = await rig.sync(release, render_of(rig.config_map("red", paint="1")))
    assert [each.name for each in outcome.pruned.deleted] == ["blue"]
    assert await rig.get(rig.config_map("blue")) is None
    assert await rig.get(green) is not None
    assert await rig.names(release) == ["red"]


async def test_without_prune_the_records_go_and_the_objects_stay(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.config_map("red"), rig.config_map("blue")))
    await rig.sync(release, render_of(rig.config_map("red")), pruning=False)
    assert await rig.names(release) == ["red"]
    assert await rig.get(rig.config_map("blue")) is not None


async def test_namespaces_and_crds_stay_and_leave_the_inventory(rig: Rig) -> None:
    release = await rig.release()
    name = f"{rig.namespace}-barn"
    barn = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    crd = rig.crd("Hen")
    gate = rig.config_map("gate")
    gate["metadata"]["namespace"] = name
    await rig.sync(release, render_of(barn, crd, gate, rig.config_map("fence")))
    outcome = await rig.sync(release, render_of(rig.config_map("fence")))
    assert [each.key.kind for each in outcome.pruned.kept] == ["CustomResourceDefinition", "Namespace"]
    for kept in (barn, crd):
        live = await rig.get(kept)
        assert live is not None
        assert "deletionTimestamp" not in live["metadata"]
    assert await rig.get(gate) is None
    assert await rig.names(release) == ["fence"]
    await rig.home.delete(NAMESPACES, None, name)


async def test_an_object_that_somebody_made_again_stays(rig: Rig) -> None:
    release = await rig.release()
    hay = rig.config_map("hay")
    await rig.sync(release, render_of(hay, rig.config_map("stays")))
    await rig.delete(hay)
    await rig.create(rig.config_map("hay", owner="neighbour"))
    outcome = await rig.sync(release, render_of(rig.config_map("stays")))
    assert [each.reason for each in outcome.pruned.kept] == ["somebody else made it anew"]
    assert await rig.get(hay) is not None
    assert await rig.names(release) == ["stays"]


@pytest.mark.parametrize(
    "annotation", [{"convoy.kumodo.io/prune": "disabled"}, {"helm.sh/resource-policy": "keep"}]
)
async def test_an_annotated_object_stays(rig: Rig, annotation: dict[str, str]) -> None:
    release = await rig.release()
    box = rig.config_map()
    await rig.sync(release, render_of(box, rig.config_map("other")))
    await rig.annotate(box, annotation)
    await rig.sync(release, render_of(rig.config_map("other")))
    assert await rig.get(box) is not None
    assert await rig.names(release) == ["other"]


def two_names_of_an_event(rig: Rig) -> tuple[Manifest, Manifest]:
    """Return an Event as the core group writes it, and the same one as events.k8s.io does."""
    common = {
        "reason": "Ripe",
        "type": "Normal",
        "action": "Pick",
        "eventTime": "2031-09-01T06:00:00.000000Z",
        "reportingInstance": "orchard-1",
    }
    metadata = {"name": "harvest.1", "namespace": rig.namespace}
    field = {"kind": "Pod", "namespace": rig.namespace, "name": "field"}
    core: Manifest = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": metadata,
        "involvedObject": field,
        "message": "ripe",
        "reportingComponent": "example.org/orchard",
        **common,
    }
    grouped: Manifest = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": metadata,
        "regarding": field,
        "note": "ripe",
        "reportingController": "example.org/orchard",
        **common,
    }
    return core, grouped


async def test_the_same_object_under_another_group_stays(rig: Rig) -> None:
    release = await rig.release()
    core, grouped = two_names_of_an_event(rig)
    await rig.sync(release, render_of(core))
    uid = await rig.uid(core)
    await rig.sync(release, render_of(grouped))
    assert await rig.uid(core) == uid
    assert [each.key.group for each in (await rig.record(release)).objects] == ["events.k8s.io"]


async def test_an_object_that_another_release_has_under_another_group_stays(rig: Rig) -> None:
    ours, theirs = await rig.release("ours"), await rig.release("theirs")
    core, grouped = two_names_of_an_event(rig)
    await rig.sync(ours, render_of(core, rig.config_map("stays")))
    await rig.sync(theirs, render_of(grouped))
    uid = await rig.uid(grouped)
    outcome = await rig.sync(ours, render_of(rig.config_map("stays")))
    assert [each.reason for each in outcome.pruned.kept] == [f"the Release {rig.namespace}/theirs has it"]
    assert await rig.uid(grouped) == uid
    assert await rig.names(ours) == ["stays"]


async def test_a_namesake_under_another_group_keeps_nothing(rig: Rig) -> None:
    ours, theirs = await rig.release("ours"), await rig.release("theirs")
    crd, door = rig.crd("ConfigMap"), rig.custom("ConfigMap", "door")
    await rig.sync(theirs, render_of(crd, door))
    await rig.sync(ours, render_of(rig.config_map("door"), rig.config_map("stays")))
    outcome = await rig.sync(ours, render_of(rig.config_map("stays")))
    assert [each.name for each in outcome.pruned.deleted] == ["door"]
    assert await rig.get(door) is not None


async def test_an_object_that_another_release_claims_at_the_last_moment_stays(rig: Rig) -> None:
    ours, theirs = await rig.release("ours"), await rig.release("theirs")
    box = rig.config_map()
    await rig.sync(ours, render_of(box, rig.config_map("stays")))

    async def claim_it() -> None:
        with pytest.raises(WaitingForOwner):
            await rig.sync(theirs, render_of(box))

    # The claim comes in between the plan and the delete of the box.
    await rig.sync(ours, render_of(box, rig.config_map("late"), rig.config_map("stays")))
    result = await pruned_while(rig, ours, claim_it)
    assert [each.key.name for each in result.decisions] == ["late", "box"]
    assert [each.reason for each in result.kept] == [f"the Release {rig.namespace}/theirs claims it"]
    assert await rig.get(box) is not None


async def test_an_object_that_is_gone_already_is_no_failure(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(rig.config_map("a"), rig.config_map("b")))
    await rig.delete(rig.config_map("b"))
    outcome = await rig.sync(release, render_of(rig.config_map("a")))
    assert [each.action for each in outcome.pruned.decisions] == [Action.ABSENT]


async def test_a_kind_that_is_gone_counts_as_absent(rig: Rig) -> None:
    release = await rig.release()
    crd, newt = rig.crd("Newt"), rig.custom("Newt", "small")
    await rig.sync(release, render_of(crd, newt, rig.config_map("stays")))
    await rig.delete(crd)
    await rig.unserved(newt)
    await rig.sync(release, render_of(rig.config_map("stays")))
    assert await rig.names(release) == ["stays"]


async def test_deletes_in_reverse_order_waves_descending(rig: Rig) -> None:
    release = await rig.release()
    render = render_of(
        rig.config_map("b", wave=1),
        rig.config_map("a", wave=-1),
        rig.config_map("c", wave=1),
        rig.config_map("stay"),
    )
    await rig.sync(release, render)
    outcome = await rig.sync(release, render_of(rig.config_map("stay")))
    assert [each.name for each in outcome.pruned.deleted] == ["c", "b", "a"]


async def test_a_denied_delete_is_named_does_not_stop_the_others_and_is_tried_again(rig: Rig) -> None:
    release = await rig.release()
    admission = "admissionregistration.k8s.io/v1"
    rules = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}
    policy: dict[str, Any] = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": rig.id},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": rig.namespace}},
                "resourceRules": [rules],
            },
            "validations": [
                {
                    "expression": "oldObject.metadata.name != 'vase'",
                    "message": "fragile things are not thrown away",
                }
            ],
        },
    }
    binding = {
        "apiVersion": admission,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": rig.id},
        "spec": {"policyName": rig.id, "validationActions": ["Deny"]},
    }
    names = ("keep", "cup", "vase", "plate")
    await rig.sync(release, render_of(*(rig.config_map(name) for name in names)))
    await rig.create(policy)
    await rig.create(binding)

    async def denies() -> bool:
        try:
            await rig.home.delete(await rig.resource(rig.config_map()), rig.namespace, "vase", dry_run=True)
        except ApiError as error:
            return "fragile" in str(error)
        return False

    try:
        await eventually(denies)
        with pytest.raises(
            PruneFailed,
            match=r"1 object could not be deleted \(2 were\):\n.*vase: .*fragile things are not thrown away",
        ) as caught:
            await rig.sync(release, render_of(rig.config_map("keep")))
        assert "cup" not in caught.value.message
        for gone in ("cup", "plate"):
            assert await rig.get(rig.config_map(gone)) is None
        assert set(await rig.names(release)) == set(names)
    finally:
        await rig.delete(binding)
        await rig.delete(policy)

    async def allowed() -> bool:
        return not await denies()

    await eventually(allowed)
    await rig.sync(release, render_of(rig.config_map("keep")))
    assert await rig.get(rig.config_map("vase")) is None
    assert await rig.names(release) == ["keep"]


async def test_too_large_a_share_waits_and_deletes_nothing(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(*(rig.config_map(name) for name in "abcd")))
    small = render_of(rig.config_map("a"))
    with pytest.raises(WaitingForPrune, match=r"3 of 4 objects, more than the 50 %.*--force"):
        await rig.sync(release, small, max_percent=50)
    assert await rig.get(rig.config_map("d")) is not None
    assert await rig.names(release) == ["a", "b", "c", "d"]
    await rig.sync(release, small, max_percent=50, force=True)
    assert await rig.names(release) == ["a"]


async def test_a_key_that_was_only_planned_is_left_unless_convoy_applied_it(rig: Rig) -> None:
    release = await rig.release()
    foreign, ours = rig.config_map("foreign"), rig.config_map("ours")
    ledger = await rig.ledger(release)
    await rig.claim(ledger, render_of(foreign, ours))
    keys = {entry.key for entry in ledger.record.planned}
    await ledger.write(lambda record: sending(record, keys, {}))
    # The attempt died in the middle: one key was applied without a record, the other was made by somebody
    # else.
    await rig.home.apply(
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ours"},"data":{"a":"b"}}',
        await rig.resource(ours),
        rig.namespace,
        "ours",
    )
    await rig.create(foreign)
    await rig.sync(release, render_of(rig.config_map("stays")))
    assert await rig.get(ours) is None
    assert await rig.get(foreign) is not None
    assert await rig.names(release) == ["stays"]


async def test_an_interrupted_prune_is_taken_up_by_the_next_one(rig: Rig) -> None:
    release = await rig.release()
    await rig.sync(release, render_of(*(rig.config_map(name) for name in "abc")))
    ledger = await rig.ledger(release)
    kept = render_of(rig.config_map("a"))
    await apply_wave(rig.target, ledger, kept.objects, seen=None)
    stops = iter([False, True])
    wanted = {item.key for item in kept.objects}
    with pytest.raises(Interrupted):
        await prune(rig.target, ledger, wanted, rig.ownership, should_stop=lambda: next(stops))
    assert await rig.get(rig.config_map("c")) is None
    assert await rig.get(rig.config_map("b")) is not None
    await rig.sync(release, kept)
    assert await rig.get(rig.config_map("b")) is None


class Meddler(KubeClient):
    """A client before whose first delete somebody does something."""

    meddle: Any = None

    async def delete(self, *args: Any, **options: Any) -> None:
        if self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            await meddle()
        await super().delete(*args, **options)


async def pruned_while(rig: Rig, release: Release, meddle: Callable[[], Awaitable[None]]) -> Pruned:
    """Prune all but `stays`; `meddle` comes in just before the first delete."""
    async with Meddler(rig.home.endpoint) as client:
        client.meddle = meddle
        wanted = {item.key for item in render_of(rig.config_map("stays")).objects}
        return await prune(retarget(rig.target, client), await rig.ledger(release), wanted, rig.ownership)


async def test_an_object_annotated_at_the_last_moment_stays(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    await rig.sync(release, render_of(box, rig.config_map("stays")))
    result = await pruned_while(
        rig, release, lambda: rig.annotate(box, {"convoy.kumodo.io/prune": "disabled"})
    )
    assert [each.action for each in result.decisions] == [Action.KEEP]
    assert await rig.get(box) is not None


async def test_an_object_made_anew_at_the_last_moment_stays(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    await rig.sync(release, render_of(box, rig.config_map("stays")))

    async def replace_it() -> None:
        await rig.delete(box)
        await rig.create(box)

    result = await pruned_while(rig, release, replace_it)
    assert [each.action for each in result.decisions] == [Action.KEEP]
    assert await rig.get(box) is not None


async def test_a_busy_object_is_deleted_all_the_same(rig: Rig) -> None:
    release = await rig.release()
    box = rig.config_map()
    await rig.sync(release, render_of(box, rig.config_map("stays")))
    result = await pruned_while(rig, release, lambda: rig.annotate(box, {"heartbeat": "1"}))
    assert [each.action for each in result.decisions] == [Action.DELETE]
    assert await rig.get(box) is None
