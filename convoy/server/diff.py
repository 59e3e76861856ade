"""`GET diff`: what a drift pass would find now, with the changes of each object (`reference/drift`, /diff).

It resolves and compares with the functions of the drift pass, so that /diff and InSync always agree; also where
nothing can be compared, which is Unknown there and here.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET

from convoy.api.errors import ConvoyError
from convoy.api.release import Release
from convoy.api.release_status import RENDER_REF
from convoy.api.rendered import Render
from convoy.drift.results import ScanResult
from convoy.drift.scan import scan
from convoy.drift.verdict import InSyncVerdict, undetermined, verdict_of
from convoy.kube.targets import Target
from convoy.server.answers import Counts, Failed, InSync, ReleaseDiff
from convoy.server.call import Call
from convoy.server.known_renders import unknown_render
from convoy.server.refusals import BadRequest
from convoy.store.renders import RenderMissing

NAMED: Final = "named"


async def diff(call: Call) -> ReleaseDiff:
    """Compare the desired render, or the stored one that `?render=` names, with the live objects.

    Raises:
        BadRequest: the parameter is no ref.
        NotFound: the render store has no such render.
        TooMany: a diff or a preview of this Release runs already.
        ApiError: the Release cannot be read.
    """
    ref = call.query.get("render", "")
    if ref and not re.fullmatch(RENDER_REF, ref):
        raise BadRequest("parameter render: expected sha256: and 64 hexadecimal digits")
    tree = await call.tree()
    with call.alone():
        try:
            release = Release.read(tree)
            if ref:
                render, origin = await _named(call, release, ref), NAMED
                target = (await call.services.desired.destination(release)).target
            else:
                desired = await call.services.desired.resolve(release)
                render, origin = desired.render, str(desired.origin)
                target = desired.destination.target
        except ConvoyError as error:
            return ReleaseDiff(metadata=call.metadata(), in_sync=_words(undetermined(error.message)))
        result = await _compare(call, release, render, target)
    return _answer(call, render, result, desired=origin)


async def _named(call: Call, release: Release, ref: str) -> Render:
    try:
        return await call.services.renders.load_published(release.metadata.uid, ref)
    except RenderMissing:
        raise await unknown_render(call, release, ref) from None


async def _compare(call: Call, release: Release, render: Render, target: Target) -> ScanResult:
    return await scan(
        render.objects,
        client=target.client,
        discovery=target.discovery,
        key=call.services.key.hmac,
        ignores=release.spec.ignore_differences,
    )


def _answer(call: Call, render: Render, result: ScanResult, *, desired: str) -> ReleaseDiff:
    failure = result.failure
    return ReleaseDiff(
        metadata=call.metadata(),
        render_ref=render.ref,
        revision=render.revision,
        desired=desired,
        in_sync=_words(verdict_of(result)),
        counts=Counts.of(result.counts),
        objects=tuple(each.tree() for each in result.objects),
        failure=UNSET if failure is None else Failed.of(failure.key, message=failure.message),
    )


def _words(verdict: InSyncVerdict) -> InSync:
    return InSync(status=verdict.status, reason=verdict.reason, message=verdict.message)
