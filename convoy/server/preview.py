"""`GET preview`: what a sync would apply, in which order, with what trouble, and what it would prune."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.drift.fingerprints import hide_secret_values
from convoy.hooks.definition import StageHook, stage_hooks
from convoy.hooks.plan import runs_due
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES
from convoy.kube.retry import with_retries
from convoy.policy.trigger import Trigger
from convoy.server.answers import ObjectRef, PreviewHook, PreviewObject, PreviewWave, ReleasePreview
from convoy.server.call import Call
from convoy.server.prune import prune_plan
from convoy.server.warnings import release_warnings, warnings_of
from convoy.sync.inventory import Entry, Record, plan


async def preview(call: Call) -> ReleasePreview:
    """Resolve the desired render as a sync would, and look at the target; nothing is changed."""
    release = await call.release()
    with call.alone():
        desired = await call.services.desired.resolve(release)
        render, target = desired.render, desired.destination.target
        ownership = call.services.ownership
        lookup = ownership.index.lookup(target.uid, release=f"{call.namespace}/{call.name}")
        record = await _record(call)
        warnings = [
            *release_warnings(release, desired),
            *await warnings_of(render, target=target, record=record, lookup=lookup),
        ]
        planned = plan(record, [Entry(item.key, item.wave) for item in render.objects])
        prune = await prune_plan(release, render, target=target, record=planned, lookup=lookup)
        waves = await asyncio.to_thread(_waves, release, render, call.services.key.hmac)
    return ReleasePreview(
        metadata=call.metadata(),
        render_ref=render.ref,
        revision=render.revision,
        desired=desired.origin,
        waves=waves,
        hooks=tuple(_hooks(release, render)),
        warnings=tuple(warnings),
        prune=prune,
    )


def _hooks(release: Release, render: Render) -> Iterator[PreviewHook]:
    for stage in HookStage:
        hooks = stage_hooks(release, render, stage)
        # As a forced one, since a person's request too runs again what has failed.
        runs = runs_due(
            hooks, release, render_ref=render.ref, stage=stage, trigger=Trigger.MANUAL, forced=True
        )
        due = {run.name for run in runs}
        for hook in hooks:
            yield PreviewHook(
                stage=stage,
                name=hook.name,
                kind=_kind_of(hook),
                runs=hook.name in due,
                objects=tuple(ObjectRef.of(item.key) for item in hook.objects),
            )


def _kind_of(hook: StageHook) -> str:
    if hook.job is not None:
        return "Job"
    return "Objects" if hook.objects else "Approval"


async def _record(call: Call) -> Record:
    home = call.services.home
    try:
        tree = await with_retries(lambda: home.get(INVENTORIES, call.namespace, call.name))
    except NotFound:
        return Record()
    return Record.from_tree(tree.get("spec") or {})


def _waves(release: Release, render: Render, key: bytes) -> tuple[PreviewWave, ...]:
    strategies = {each.wave: each.strategy for each in release.spec.sync_waves}
    return tuple(
        PreviewWave(
            wave=wave,
            strategy=strategies.get(wave, "Apply"),
            objects=tuple(
                PreviewObject.of(
                    item.key,
                    api_version=item.api_version,
                    origin=item.origin,
                    manifest=hide_secret_values(item.manifest, key=key),
                )
                for item in objects
            ),
        )
        for wave, objects in render.waves()
    )
