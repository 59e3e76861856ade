"""Random histories of two Releases against a model and a real API server.

What must hold whatever happens: nothing is pruned after a partial sync; the inventory covers what was
applied and not deleted or let go; a second sync of the same render changes nothing; two Releases never
strip each other's fields; what is neither in the render nor in the inventory is never written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from convoy.api.errors import DeployFailed, WaitingForOwner
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.errors import NotFound
from convoy.kube.resources import CONFIG_MAPS, NAMESPACES
from convoy.kube.targets import Target
from convoy.sync.apply import Applied, apply_wave
from convoy.sync.interruptions import Interrupted
from convoy.sync.inventory import Record
from convoy.sync.ledger import Ledger
from convoy.sync.ownership import Ownership
from deploy.stack.local import Stack
from tests.kube.sync.rig import Rig, epoch, render_of

EXAMPLES = int(os.environ.get("CONVOY_MODEL_EXAMPLES", "12"))
POOLS = {"a": ("n0", "n1", "n2", "n3"), "b": ("n3", "n4", "n5", "n2")}
"""The names that each Release may render: two are its own, two are fought over."""
NAMES = sorted({*POOLS["a"], *POOLS["b"]})
syncs = st.sampled_from("ab").flatmap(
    lambda release: st.tuples(st.just(release), st.lists(st.sampled_from(POOLS[release]), unique=True))
)


class Crash(Exception):
    """The process died: nothing that would come after it happens."""


class MortalLedger(Ledger):
    """A ledger whose process can die."""

    dead = False

    async def write(self, change: Callable[[Record], Record]) -> None:
        if self.dead:
            raise Crash
        await super().write(change)


class TwoReleases(RuleBasedStateMachine):
    """Two Releases that render objects of the same names, and somebody else."""

    kubeconfig: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.covered: dict[str, set[str]] = {"a": set(), "b": set()}
        """What each Release has applied and neither deleted nor let go."""
        self.releases: dict[str, Release] = {}

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(coroutine)

    @initialize()
    def open(self) -> None:
        async def opened() -> None:
            self.client: KubeClient = await connect_kubeconfig(self.kubeconfig)
            uid = (await self.client.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"]
            ownership = Ownership(self.client)
            self.watching = asyncio.ensure_future(ownership.run())
            await ownership.synced()
            target = Target(
                client=self.client, discovery=Discovery(self.client), uid=uid, name="target", version="v1"
            )
            self.rig = Rig(self.client, target, ownership)
            await self.rig.open()
            self.releases = {name: await self.rig.release(name) for name in "ab"}
            await self.rig.create(self.rig.config_map("bystander", by="nobody"))

        self.run(opened())

    def teardown(self) -> None:
        async def closed() -> None:
            await self.rig.close()
            self.watching.cancel()
            with suppress(asyncio.CancelledError):
                await self.watching
            await self.client.close()
            await asyncio.sleep(0.1)  # TLS connections need a few turns of the loop to end

        if self.releases:
            self.run(closed())
        self.runner.close()

    def render(self, release: str, names: list[str], *, bad: bool = False) -> Render:
        maps = [
            self.rig.config_map(name, wave=index % 2, **{f"by-{release}": "1"})
            for index, name in enumerate(names)
        ]
        if bad:
            broken: Manifest = self.rig.config_map("broken", wave=1)
            broken["data"] = {"not a key": "1"}
            maps.append(broken)
        return render_of(*maps)

    async def live(self) -> dict[str, Manifest]:
        trees = await self.client.list(CONFIG_MAPS, self.rig.namespace)
        return {
            tree["metadata"]["name"]: tree for tree in trees if tree["metadata"]["name"] != "kube-root-ca.crt"
        }

    async def held(self, release: str) -> set[str]:
        """Return what a Release holds whether a pass runs or not: what is applied, or may be."""
        try:
            record = await self.rig.record(self.releases[release])
        except NotFound:
            return set()
        return {entry.key.name for entry in record.held().values() if entry in record.objects or entry.sent}

    async def wished_by_other(self, release: str) -> set[str]:
        other = self.releases["b" if release == "a" else "a"]
        try:
            record = await self.rig.record(other)
        except NotFound:
            return set()
        return {entry.key.name for entry in (*record.objects, *record.planned, *record.claims)}

    async def watched(self, release: str, names: list[str], sync: Coroutine[Any, Any, bool]) -> None:
        """Run a sync that may end anyhow, and check what it must not do. It returns whether it was
        complete."""
        before, mine, wished = (
            await self.live(),
            await self.held(release),
            await self.wished_by_other(release),
        )
        try:
            complete = await sync
        except WaitingForOwner:
            complete = False
            # A Release that waits gives up what another one claims and its render lacks.
            given_up = mine - await self.held(release)
            assert not given_up & set(names)
            self.covered[release] -= given_up
        after = await self.live()
        if complete:
            self.covered[release] = set(names)
        else:
            assert before.keys() <= after.keys(), "pruned after a partial sync"
        assert not (before.keys() - after.keys()) & wished, "pruned what the other one has or claims"
        touched = {
            name for name in before.keys() | after.keys() if _version(before, name) != _version(after, name)
        }
        assert touched <= set(names) | mine, "wrote what is neither in the render nor in the inventory"

    @rule(sync=syncs, pruning=st.booleans())
    def a_sync(self, sync: tuple[str, list[str]], pruning: bool) -> None:
        release, names = sync

        async def synced() -> bool:
            render = self.render(release, names)
            await self.rig.sync(self.releases[release], render, pruning=pruning)
            versions = {name: _version(tree, name) for tree in [await self.live()] for name in tree}
            await self.rig.sync(self.releases[release], render, pruning=pruning)
            assert versions == {name: _version(tree, name) for tree in [await self.live()] for name in tree}
            return True

        self.run(self.watched(release, names, synced()))

    @rule(sync=syncs)
    def a_sync_that_fails(self, sync: tuple[str, list[str]]) -> None:
        release, names = sync

        async def failing() -> bool:
            try:
                await self.rig.sync(self.releases[release], self.render(release, names, bad=True), force=True)
            except DeployFailed:
                self.covered[release] |= set(names)
            return False

        self.run(self.watched(release, names, failing()))

    @rule(sync=syncs, after=st.integers(0, 3))
    def a_sync_that_is_interrupted(self, sync: tuple[str, list[str]], after: int) -> None:
        release, names = sync
        self.run(self.watched(release, names, self.apply_some(release, names, after, crash=False)))

    @rule(sync=syncs, after=st.integers(1, 3))
    def a_sync_that_crashes(self, sync: tuple[str, list[str]], after: int) -> None:
        release, names = sync
        self.run(self.watched(release, names, self.apply_some(release, names, after, crash=True)))

    async def apply_some(self, release: str, names: list[str], after: int, *, crash: bool) -> bool:
        model = self.releases[release]
        ledger = await MortalLedger.open(
            self.client, release=model, target_uid=self.rig.target.uid, epoch=epoch()
        )
        render = self.render(release, names)
        await self.rig.claim(ledger, render)
        done: list[str] = []

        def on_applied(index: int, applied: Applied) -> None:
            done.append(applied.key.name)
            self.covered[release].add(applied.key.name)
            if crash and len(done) == after:
                ledger.dead = True
                raise Crash

        with suppress(Crash, Interrupted):
            for _, objects in render.waves():
                await apply_wave(
                    self.rig.target,
                    ledger,
                    objects,
                    seen=None,
                    on_applied=on_applied,
                    should_stop=lambda: not crash and len(done) >= after,
                )
        return False

    @rule(shared=st.sampled_from(["n2", "n3"]))
    def both_want_one_object_at_once(self, shared: str) -> None:
        async def together() -> None:
            wants = {release: sorted({*self.covered[release], shared}) for release in "ab"}
            results = await asyncio.gather(
                *(self.rig.sync(self.releases[each], self.render(each, wants[each])) for each in "ab"),
                return_exceptions=True,
            )
            for release, result in zip("ab", results, strict=True):
                if not isinstance(result, BaseException):
                    self.covered[release] = set(wants[release])
                elif not isinstance(result, WaitingForOwner):
                    raise result
            assert any(isinstance(each, WaitingForOwner) for each in results)

        self.run(together())

    @rule(name=st.sampled_from(NAMES))
    def somebody_deletes(self, name: str) -> None:
        async def deleted() -> None:
            with suppress(NotFound):
                await self.client.delete(CONFIG_MAPS, self.rig.namespace, name)

        self.run(deleted())
        for names in self.covered.values():
            names.discard(name)  # a record in doubt goes once nothing is there

    @rule(name=st.sampled_from(NAMES))
    def somebody_makes_or_changes(self, name: str) -> None:
        body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%b"},"data":{"hand":"1"}}'
        self.run(
            self.client.apply(body % name.encode(), CONFIG_MAPS, self.rig.namespace, name, manager="somebody")
        )

    @invariant()
    def the_inventory_covers_what_was_applied(self) -> None:
        async def covers() -> None:
            for release, names in self.covered.items():
                assert names <= await self.held(release), f"{release} lost a record"

        if self.releases:
            self.run(covers())

    @invariant()
    def no_object_has_two_owners(self) -> None:
        async def one_owner() -> None:
            applied: dict[str, set[str]] = {"a": set(), "b": set()}
            for release, names in applied.items():
                with suppress(NotFound):
                    record = await self.rig.record(self.releases[release])
                    names.update(entry.key.name for entry in record.objects)
            assert not applied["a"] & applied["b"]

        if self.releases:
            self.run(one_owner())

    @invariant()
    def no_object_loses_its_owners_field(self) -> None:
        async def intact() -> None:
            live = await self.live()
            assert live["bystander"]["data"] == {"by": "nobody"}
            for name, tree in live.items():
                fields = {field for field in tree.get("data") or {} if field.startswith("by-")}
                assert len(fields) <= 1, f"{name} has fields of both"

        if self.releases:
            self.run(intact())


def _version(trees: dict[str, Manifest], name: str) -> str | None:
    return trees[name]["metadata"]["resourceVersion"] if name in trees else None


def test_random_histories_of_two_releases(stack: Stack, home: KubeClient) -> None:
    del home  # has installed the CRDs
    TwoReleases.kubeconfig = stack.kubeconfig
    run_state_machine_as_test(
        TwoReleases,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=20,
            phases=[Phase.generate],  # to shrink against a real server takes longer than to read the history
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
