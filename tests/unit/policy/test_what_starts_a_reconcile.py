"""reference/sync-policy, What starts a reconcile: each event of the page, and none other.

Each row changes what a pass has just seen, and tells how many reconciles that starts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from convoy.api.names import ABANDON, SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.release import Release
from convoy.api.spec_hash import spec_hash
from convoy.policy.trigger import REQUESTED_BY, Trigger, health_digest, reasons_to_sync, seen
from tests.unit.policy.releases import A_SECOND_LATER, AT, conditions, release, tree


@dataclass
class World:
    """All that the watcher looks at for one Release."""

    release: dict[str, Any]
    health: dict[str, Any] | None = None
    siblings: list[dict[str, Any]] = field(default_factory=list)

    def seen(self) -> Any:
        return seen(
            Release.read(self.release),
            spec_hash=spec_hash(self.release),
            health=health_digest({"status": {"health": self.health}}),
            siblings=[Release.read(sibling) for sibling in self.siblings],
        )

    def handle(self) -> None:
        """A pass begins and writes what it has seen."""
        self.release["status"]["handled"] = self.seen().tree()

    def reasons(self) -> list[Trigger]:
        return reasons_to_sync(Release.read(self.release), self.seen())


def settled() -> World:
    """A Release of cluster wave 2 whose latest pass has seen everything."""
    world = World(
        tree(requested=AT, clusterWave=2, mutations=[], lifecycle={}),
        health={"phase": "Progressing"},
        siblings=[
            tree("lower", clusterWave=1, status=conditions("False", "Unknown")),
            tree("same", clusterWave=2, status=conditions("False")),
            tree("higher", clusterWave=3, status=conditions("False")),
            tree("elsewhere", clusterWave=1, clusterRef={"name": "other"}, status=conditions("False")),
            tree("other-team", clusterWave=1, metadata={"namespace": "x"}, status=conditions("False")),
        ],
    )
    world.handle()
    return world


def put(path: str, value: Any) -> Callable[[World], None]:
    """Set a field of the Release; `|` separates the parts of the path."""

    def change(world: World) -> None:
        *parents, last = path.split("|")
        node = world.release
        for part in parents:
            node = node.setdefault(part, {})
        node[last] = value
        if parents and parents[0] in ("spec", "mutations", "lifecycle", "pin"):
            world.release["metadata"]["generation"] += 1

    return change


def sibling(name: str, **changes: Any) -> Callable[[World], None]:
    """Merge changes into the Release of that name beside this one."""

    def change(world: World) -> None:
        (found,) = (entry for entry in world.siblings if entry["metadata"]["name"] == name)
        for key, value in changes.items():
            found[key] = {**found.get(key, {}), **value}

    return change


def remove_sibling(world: World) -> None:
    world.siblings = [entry for entry in world.siblings if entry["metadata"]["name"] != "lower"]


def add_sibling(status: dict[str, Any] | None) -> Callable[[World], None]:
    return lambda world: world.siblings.append(tree("new", clusterWave=0, status=status))


def set_health(health: dict[str, Any] | None) -> Callable[[World], None]:
    def change(world: World) -> None:
        world.health = health

    return change


def drop_annotation(world: World) -> None:
    world.release["metadata"]["annotations"].pop(SYNC_REQUESTED_AT)


EVENTS: dict[str, tuple[Callable[[World], None], Trigger | None]] = {
    "nothing happened": (lambda _: None, None),
    "the Release is created (nothing was handled yet)": (put("status|handled", {}), Trigger.CREATED),
    "the Release was deleted and made again under the same name": (
        put("metadata|uid", "another"),
        Trigger.CREATED,
    ),
    "spec changes": (put("spec|historyLimit", 3), Trigger.SPEC_CHANGED),
    "spec.suspend is unset: resume reconciles at once": (put("spec|suspend", False), Trigger.SPEC_CHANGED),
    "the mode changes": (put("spec|syncPolicy", {"automatic": True}), Trigger.SPEC_CHANGED),
    "the annotation sync-requested-at changes": (
        put(f"metadata|annotations|{SYNC_REQUESTED_AT}", A_SECOND_LATER),
        Trigger.SYNC_REQUESTED,
    ),
    "the annotation sync-requested-at changes to an earlier time": (
        put(f"metadata|annotations|{SYNC_REQUESTED_AT}", "2020-01-01T00:00:00Z"),
        Trigger.SYNC_REQUESTED,
    ),
    "the annotation sync-requested-at changes to a text that is no time": (
        put(f"metadata|annotations|{SYNC_REQUESTED_AT}", "now"),
        Trigger.SYNC_REQUESTED,
    ),
    "the annotation sync-requested-at is removed": (drop_annotation, Trigger.SYNC_REQUESTED),
    "the force annotation alone changes": (
        put(f"metadata|annotations|{SYNC_FORCE_REQUESTED_AT}", A_SECOND_LATER),
        None,
    ),
    "another annotation changes": (put("metadata|annotations|example.org/x", "y"), None),
    "a label changes": (put("metadata|labels|x", "y"), None),
    "a finalizer is added": (put("metadata|finalizers", ["example.org/x"]), None),
    "the resource version changes (the informer's own relist)": (put("metadata|resourceVersion", "9"), None),
    "the controller writes its status": (
        put("status|lastAttempted", {"reason": "DeployFailed", "startedAt": AT}),
        None,
    ),
    "the observer writes InSync": (
        put("status|conditions", [{"type": "InSync", "status": "False", "reason": "Drifted"}]),
        None,
    ),
    "the retry is written": (put("status|retry", {"failures": 3, "at": AT}), None),
    "mutations change through the main resource (the generation grows)": (
        put("mutations", [{"merge": {"a": 1}}]),
        None,
    ),
    "lifecycle changes through the main resource (the generation grows)": (
        put("lifecycle|preSync", [{"name": "a", "job": {}}]),
        None,
    ),
    "the pin changes through the main resource (the generation grows)": (
        put("pin|renderRef", "sha256:" + "c" * 64),
        None,
    ),
    "the observer writes new health data to the inventory": (
        set_health({"phase": "Healthy"}),
        Trigger.HEALTH_CHANGED,
    ),
    "the observer writes the same health data again": (set_health({"phase": "Progressing"}), None),
    "the inventory has no health data any more": (set_health(None), None),
    "Applied changes on a lower cluster wave of the same Cluster": (
        sibling("lower", status=conditions("True", "Unknown")),
        Trigger.LOWER_WAVE_CHANGED,
    ),
    "Healthy changes on a lower cluster wave of the same Cluster": (
        sibling("lower", status=conditions("False", "True")),
        Trigger.LOWER_WAVE_CHANGED,
    ),
    "only the rest of a lower Release's status changes": (
        sibling("lower", status=conditions("False", "Unknown") | {"retry": {"failures": 9}}),
        None,
    ),
    "the spec of a lower Release changes (its Applied does not)": (
        sibling("lower", metadata={"generation": 2}),
        None,
    ),
    "Applied changes on the same cluster wave": (sibling("same", status=conditions("True")), None),
    "Applied changes on a higher cluster wave": (sibling("higher", status=conditions("True")), None),
    "Applied changes on a lower wave of another Cluster": (
        sibling("elsewhere", status=conditions("True")),
        None,
    ),
    "Applied changes on a lower wave of another namespace": (
        sibling("other-team", status=conditions("True")),
        None,
    ),
    "a lower Release is created": (add_sibling(None), None),
    "a lower Release gets its first Applied": (add_sibling(conditions("True")), Trigger.LOWER_WAVE_CHANGED),
    "a lower Release is deleted": (remove_sibling, Trigger.LOWER_WAVE_CHANGED),
    "the deletion of a lower Release begins": (
        sibling("lower", metadata={"deletionTimestamp": AT}),
        Trigger.LOWER_WAVE_CHANGED,
    ),
    "the Release is deleted": (put("metadata|deletionTimestamp", AT), Trigger.DELETED),
}


@pytest.mark.parametrize("event", EVENTS)
def test_event(event: str) -> None:
    change, trigger = EVENTS[event]
    world = settled()
    if "resume" in event:
        put("spec|suspend", True)(world)
        world.handle()
    change(world)
    assert world.reasons() == ([trigger] if trigger else [])


@pytest.mark.parametrize("event", EVENTS)
def test_what_a_pass_has_seen_starts_no_second_one(event: str) -> None:
    world = settled()
    EVENTS[event][0](world)
    world.handle()
    assert world.reasons() == []


def test_a_burst_of_changes_is_one_reconcile_with_all_its_reasons() -> None:
    world = settled()
    for event in ("spec changes", "the annotation sync-requested-at changes"):
        EVENTS[event][0](world)
    assert world.reasons() == [Trigger.SPEC_CHANGED, Trigger.SYNC_REQUESTED]


def test_a_lower_release_that_has_reconciled_its_new_spec_ends_the_hold() -> None:
    world = settled()
    sibling("lower", metadata={"generation": 2})(world)
    world.handle()
    sibling("lower", status=conditions("False", "Unknown", generation=2))(world)
    assert world.reasons() == [Trigger.LOWER_WAVE_CHANGED]


def test_a_lower_release_that_never_had_a_condition_ends_the_hold_when_it_goes() -> None:
    world = settled()
    add_sibling(None)(world)
    world.handle()
    world.siblings.pop()
    assert world.reasons() == [Trigger.LOWER_WAVE_CHANGED]


class TestAReleaseThatIsBeingDeleted:
    def deleted(self) -> World:
        world = settled()
        put("metadata|deletionTimestamp", AT)(world)
        world.handle()
        return world

    def test_starts_nothing_by_its_own_status_writes(self) -> None:
        world = self.deleted()
        put("status|lastAttempted", {"reason": "ClusterNotReady"})(world)
        assert world.reasons() == []

    def test_has_no_reason_but_its_deletion(self) -> None:
        world = self.deleted()
        put("spec|historyLimit", 3)(world)
        assert world.reasons() == []

    def test_goes_on_when_its_target_is_abandoned(self) -> None:
        world = self.deleted()
        put(f"metadata|annotations|{ABANDON}", "true")(world)
        assert world.reasons() == [Trigger.DELETED]

    def test_is_torn_down_also_when_it_was_never_handled(self) -> None:
        world = settled()
        put("status", {})(world)
        put("metadata|deletionTimestamp", AT)(world)
        assert world.reasons() == [Trigger.DELETED]


def test_what_is_seen_of_a_plain_release_is_small() -> None:
    plain = tree()
    told = seen(release(), spec_hash=spec_hash(plain)).tree()
    assert told == {"uid": "uid-of-web", "specHash": spec_hash(plain)}


def test_reading_does_not_change_the_release() -> None:
    world = settled()
    before = copy.deepcopy(world.release)
    world.reasons()
    assert world.release == before


def request_by(world: World, loop: Trigger, at: str) -> None:
    world.release["metadata"]["annotations"] |= {SYNC_REQUESTED_AT: at, REQUESTED_BY[loop]: at}


@pytest.mark.parametrize("loop", REQUESTED_BY)
def test_a_request_of_a_loop_of_convoys_is_known_as_one(loop: Trigger) -> None:
    world = settled()
    request_by(world, loop, A_SECOND_LATER)
    assert world.reasons() == [loop]


@pytest.mark.parametrize("loop", REQUESTED_BY)
def test_a_person_who_asks_after_a_loop_is_not_taken_for_it(loop: Trigger) -> None:
    world = settled()
    request_by(world, loop, AT)
    world.release["metadata"]["annotations"][SYNC_REQUESTED_AT] = A_SECOND_LATER
    assert world.reasons() == [Trigger.SYNC_REQUESTED]


def test_health_data_written_while_a_pass_runs_counts_when_it_has_ended() -> None:
    world = settled()
    sync = world.release["status"]["sync"] = {"runId": "1"}
    set_health({"phase": "Healthy"})(world)
    assert world.reasons() == []
    sync["settledAt"] = AT
    assert world.reasons() == [Trigger.HEALTH_CHANGED]
