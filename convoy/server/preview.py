"""`GET preview`: what a sync would apply, in which order, with what trouble, and what it would prune."""

from __future__ import annotations

import asyncio

from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.drift.fingerprints import hide_secret_values
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES
from convoy.kube.retry import with_retries
from convoy.server.answers import PreviewObject, PreviewWave, ReleasePreview
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
        warnings=tuple(warnings),
        prune=prune,
    )


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
