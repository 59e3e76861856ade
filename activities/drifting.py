"""One drift pass (`reference/drift`): the desired render, the compare, the InSync condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

import msgspec
from temporalio import activity

from activities.context import this_release
from activities.in_sync import write_in_sync
from activities.lease import Lease
from activities.manual_mode import report_manual
from activities.rechecking import begin_recheck, recheck
from activities.services import Services
from convoy.api.errors import ConvoyError
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.spec_hash import spec_hash
from convoy.api.times import format_time
from convoy.drift.compare import ignore_live
from convoy.drift.fights import FightState, Heal, detect_fights
from convoy.drift.results import Counts, ScanResult
from convoy.drift.scan import scan
from convoy.drift.verdict import InSyncVerdict, undetermined, verdict_of
from convoy.health.assessment import Assessment
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES, RELEASES
from convoy.kube.retry import with_retries
from convoy.policy.heal import heals
from convoy.policy.request import force_pending, pending_request
from convoy.policy.spread import stored_interval, tick_period
from convoy.policy.trigger import is_unfinished, reasons_to_sync, seen
from convoy.sync.interruptions import Fenced
from convoy.sync.live import read_live
from convoy.sync.release_status import applied_ref
from workflows.contract import Activity, DriftInput, DriftReport, Verdict

CHANGES = "drift"
"""Name of the blob with the changes that the latest pass of a Release found (D37).

It holds the objects that are Modified or Missing, as `ObjectDrift.tree` writes them, and none that is in sync: an
object of the render without an entry is InSync. So its size is that of the drift, and a pass that finds nothing
writes no blob and answers with the empty ref.
"""

_FIELDS_TOLD = 20
"""Drifted fields in the answer of a pass; all of them are in the stored changes."""

_TORN_PASSES = 2
"""Passes that are made again at once because a sync wrote in between (D35)."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """The Release that a pass is about, as it was when the pass began."""

    tree: Manifest
    release: Release
    tick: float
    marks: tuple[object, ...]
    """What a sync changes (D35)."""

    @property
    def uid(self) -> str:
        return self.release.metadata.uid


@dataclass(frozen=True, slots=True)
class _Pass:
    """What one pass found: the verdict, and what it compared."""

    verdict: InSyncVerdict
    result: ScanResult | None = None
    render_ref: str = ""
    """The render that a sync would apply; empty where it would apply none."""
    health: Assessment | None = None
    """What the live objects say about it; None where it is not the render that is applied."""


class Drifting:
    """The activity `drift-pass`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.DRIFT_PASS)
    async def drift_pass(self, asked: DriftInput) -> DriftReport:
        """Compare the desired render with the cluster and write InSync."""
        began_at = format_time(datetime.now(UTC))
        async with Lease() as lease:
            report = await self._report_of_a_pass(asked, lease)
        return replace(report, began_at=began_at)

    async def _report_of_a_pass(self, asked: DriftInput, lease: Lease) -> DriftReport:
        for _ in range(_TORN_PASSES):
            subject = await self._subject(asked)
            if isinstance(subject, DriftReport):
                return subject
            found = await self._pass(subject.release)
            if await self._is_undisturbed(subject):
                return await self._conclude(asked, subject, found, lease)
        return DriftReport(Verdict.BUSY, subject.uid, tick=subject.tick)

    async def _subject(self, asked: DriftInput) -> _Subject | DriftReport:
        """Read the Release as it is now; a report where there is nothing to compare."""
        tree = await self._read()
        if tree is None:
            return DriftReport(Verdict.GONE)
        uid = tree["metadata"]["uid"]
        if tree["metadata"].get("deletionTimestamp"):
            # The observer skips a Release that is being deleted (`reference/drift`, When the observer checks).
            # Its teardown is asked for at each tick, since a run that was terminated by hand asks for nothing.
            return DriftReport(Verdict.SKIPPED, uid, tick=self._tick(tree), reconcile=True)
        try:
            release = Release.read(tree)
        except ConvoyError as error:
            await write_in_sync(self._services.home, tree, undetermined(error.message))
            return DriftReport(
                Verdict.UNDETERMINED,
                uid,
                error.message,
                tick=self._tick(tree),
                spec_hash=spec_hash(tree),
                render_ref=applied_ref(tree),
            )
        tick = self._tick(tree)
        if self._sync_is_running(tree, release) and (not asked.ticked or await self._run_is_open()):
            return DriftReport(Verdict.BUSY, uid, tick=tick)
        return _Subject(tree, release, tick, await self._marks(tree))

    async def _conclude(
        self, asked: DriftInput, subject: _Subject, found: _Pass, lease: Lease
    ) -> DriftReport:
        """Say what a pass found, on the Release and to the workflow."""
        if lease.lost:
            raise Fenced  # this worker was frozen: another one has made the pass again
        release = subject.release
        await write_in_sync(self._services.home, subject.tree, found.verdict)
        await recheck(self._services, subject.tree, found.health)
        report = await self._report(asked, release, found)
        if asked.ticked and not release.spec.sync_policy.automatic:
            await report_manual(self._services.home, subject.tree, release, found.render_ref)
        return replace(
            report,
            uid=subject.uid,
            tick=subject.tick,
            spec_hash=spec_hash(subject.tree),
            render_ref=applied_ref(subject.tree),
            desired=found.render_ref,
        )

    async def _read(self) -> Manifest | None:
        name, home = this_release(), self._services.home
        try:
            return await with_retries(lambda: home.get(RELEASES, name.namespace, name.name))
        except NotFound:
            return None

    def _tick(self, tree: Manifest) -> float:
        period = tick_period(stored_interval(tree), self._services.settings.resync)
        return period.total_seconds() if period else 0.0

    def _sync_is_running(self, tree: Manifest, release: Release) -> bool:
        """Half-applied waves are no drift (D35): a sync runs, or is about to."""
        if is_unfinished(release):
            return True
        siblings = self._services.siblings.lower(release)
        return bool(reasons_to_sync(release, seen(release, spec_hash=spec_hash(tree), siblings=siblings)))

    async def _run_is_open(self) -> bool:
        """Whether Temporal knows the sync that the status tells of: one ended by hand will never say that it is."""
        return await self._services.signals.sync_is_open(this_release())

    async def _is_undisturbed(self, subject: _Subject) -> bool:
        """Whether no sync wrote during the compare: its verdict is about no state that ever was otherwise (D35)."""
        latest = await self._read()
        return latest is None or await self._marks(latest) == subject.marks

    async def _marks(self, tree: Manifest) -> tuple[object, ...]:
        """What a sync changes: the inventory's generation and `lastAttempted`."""
        name = this_release()
        key = INVENTORIES.key(name.namespace, name.name)
        live = await with_retries(lambda: read_live(self._services.home, INVENTORIES, key))
        generation = live.generation if live is not None else None
        return generation, (tree.get("status") or {}).get("lastAttempted")

    async def _pass(self, release: Release) -> _Pass:
        try:
            desired = await self._services.desired.resolve(release)
        except ConvoyError as error:
            return _Pass(undetermined(error.message))
        target, render = desired.destination.target, desired.render
        health = await begin_recheck(release, target, render)
        result = await scan(
            render.objects,
            client=target.client,
            discovery=target.discovery,
            key=self._services.key.hmac,
            ignores=release.spec.ignore_differences,
            on_live=health.see if health is not None else ignore_live,
        )
        return _Pass(verdict_of(result), result, desired.to_apply, health)

    async def _report(self, asked: DriftInput, release: Release, found: _Pass) -> DriftReport:
        verdict = found.verdict
        counts = verdict.counts or Counts(total=0)
        changes = ""
        if found.result is not None and found.result.drifted:
            data = msgspec.json.encode([one.tree() for one in found.result.drifted])
            await self._services.renders.save_blob(release.metadata.uid, CHANGES, data)
            changes = CHANGES
        heal = verdict.drifted and bool(found.render_ref) and heals(release)
        fights = await self._fights(asked, release, found, heal=heal)
        return DriftReport(
            Verdict(verdict.reason),
            message=verdict.message,
            compared=counts.compared,
            in_sync=counts.in_sync,
            modified=counts.modified,
            missing=counts.missing,
            changes=changes,
            drifted=tuple(islice(_drifted_fields(found), _FIELDS_TOLD)),
            heal=heal,
            reconcile=not release.spec.suspend and await self._reconcile_is_due(release, found),
            fights=fights,
        )

    async def _reconcile_is_due(self, release: Release, found: _Pass) -> bool:
        """A tick asks Sync for a reconcile, unless this pass can report all that a manual-mode reconcile would."""
        if release.spec.sync_policy.automatic or not found.render_ref:
            return True
        asked = pending_request(release) is not None or force_pending(release) is not None
        if asked or is_unfinished(release):
            return True  # one that was ended by hand is made again
        # It goes on with the postSync hooks of what is applied, where nobody waits for them any more.
        return release.status.unrecorded is not None and not await self._run_is_open()

    async def _fights(
        self, asked: DriftInput, release: Release, found: _Pass, *, heal: bool
    ) -> tuple[tuple[str, ...], ...]:
        """Report whoever changes a field back as often as convoy heals it (D32)."""
        drifted = found.result.drifted if found.result is not None and heal else ()
        heals = [Heal(one.key, change.pointer, change.owner) for one in drifted for change in one.changes]
        state, fights = detect_fights(FightState(asked.fights), heals)
        for fight in fights:
            await self._services.events.emit(
                release.tree(), reason="FightDetected", note=fight.message, type="Warning", action="Heal"
            )
        return state.passes


def _drifted_fields(found: _Pass) -> Iterator[str]:
    for one in found.result.drifted if found.result is not None else ():
        if not one.changes:
            yield f"{one.key}: "
        for change in one.changes:
            yield f"{one.key}: {change.pointer}"
