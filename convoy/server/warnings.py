"""What a render holds that will not go as its author may think: told in a preview, before a sync runs into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from convoy.api.objects import DEFAULT_NAMESPACE, ObjectKey
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.kube.resources import NAMESPACES
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.render.chart_hooks import HOOK
from convoy.server.answers import ObjectRef, Warning
from convoy.sync.claims import Lookup, rule
from convoy.sync.desired import Desired
from convoy.sync.desired_order import Origin, pin_advice
from convoy.sync.inventory import Entry, Record
from convoy.sync.live import read_live
from convoy.sync.pool import run_pool

_CRD: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")
_NAMESPACE: Final = ("", "Namespace")
_BEFORE_NAMESPACE: Final = (
    "it comes before its Namespace in the order of the apply, so that the apply stops there"
)


def release_warnings(release: Release, desired: Desired) -> Iterator[Warning]:
    """What a sync does not follow of what the Release says: a pin that is gone, a failed render, idle mutations."""
    if desired.pin_missing and release.pin is not None:
        yield Warning(
            message=f"pin.renderRef: the render store has no sound render {release.pin.render_ref} of this Release: "
            f"a sync holds Pinned, and this preview shows the render that a drift pass compares; "
            f"{pin_advice(release)}"
        )
    if desired.lost:
        yield Warning(message=f"status.rollout is RolledBack: {desired.lost}")
    if desired.origin is Origin.LAST_HEALTHY and release.status.rollout is not None:
        yield Warning(message=f"status.rollout is RolledBack: {release.status.rollout.message or ''}".strip())
    for message in desired.render.warnings:
        yield Warning(message=message)


async def warnings_of(render: Render, *, target: Target, record: Record, lookup: Lookup) -> list[Warning]:
    """Return all warnings; raises ApiError where the target does not answer."""
    order = in_apply_order(render)
    names = sorted({item.key.namespace for item in order} - {"", DEFAULT_NAMESPACE})

    async def exists(name: str) -> bool:
        key = NAMESPACES.key(None, name)
        return await with_retries(lambda: read_live(target.client, NAMESPACES, key)) is not None

    found = await run_pool(names, exists, at_once=target.client.limits.max_in_flight)
    kinds = {(item.key.group, item.key.kind) for item in order}
    served = {kind: await target.discovery.namespaced(*kind) is not None for kind in kinds}
    there = dict(zip(names, found, strict=True))
    return [
        *kind_warnings(order, served),
        *namespace_warnings(order, there),
        *hook_warnings(order),
        *owner_warnings(order, record, lookup),
    ]


def in_apply_order(render: Render) -> list[RenderedObject]:
    """Return the objects wave by wave, each in render order."""
    return [item for _, objects in render.waves() for item in objects]


def kind_warnings(
    order: Sequence[RenderedObject], served: Mapping[tuple[str, str], bool]
) -> Iterator[Warning]:
    """Custom resources whose kind is not there when they are applied."""
    defined = {_defines(item.manifest): at for at, item in enumerate(order) if _kind(item) == _CRD}
    for at, item in enumerate(order):
        kind = _kind(item)
        if served.get(kind, True):
            continue
        if kind not in defined:
            yield _about(
                item.key,
                "the cluster does not serve this kind, and its CustomResourceDefinition is not in the render",
            )
        elif defined[kind] > at:
            crd = order[defined[kind]]
            where = "the same wave" if crd.wave == item.wave else f"wave {crd.wave}"
            yield _about(
                item.key,
                f"it comes before its {crd.key} (in {where}), so that the apply stops there; give the "
                "CustomResourceDefinition a lower sync wave",
            )


def namespace_warnings(order: Sequence[RenderedObject], there: Mapping[str, bool]) -> Iterator[Warning]:
    """Objects whose namespace is not there when they are applied: the first one of each namespace."""
    made = {item.key.name: at for at, item in enumerate(order) if _kind(item) == _NAMESPACE}
    told = set()
    for at, item in enumerate(order):
        name = item.key.namespace
        if there.get(name, True) or name in told or made.get(name, len(order)) < at:
            continue
        told.add(name)
        if name in made:
            yield _about(item.key, f"{_BEFORE_NAMESPACE}; give the Namespace a lower sync wave")
        else:
            yield _about(item.key, f"there is no namespace {name}, neither on the cluster nor in the render")


def hook_warnings(order: Sequence[RenderedObject]) -> Iterator[Warning]:
    """Objects that Helm would run as hooks."""
    for item in order:
        annotations: Mapping[str, Any] = item.manifest["metadata"].get("annotations") or {}
        if HOOK in annotations:
            yield _about(item.key, f"{HOOK} is ignored: it is applied like any other object")


def owner_warnings(order: Sequence[RenderedObject], record: Record, lookup: Lookup) -> Iterator[Warning]:
    """Objects that another Release has (D14)."""
    for loss in rule(record, [Entry(item.key, item.wave) for item in order], lookup).losses:
        yield _about(loss.key, f"the Release {loss.owner} has it: a sync holds WaitingForOwner")


def _kind(item: RenderedObject) -> tuple[str, str]:
    return item.key.group, item.key.kind


def _defines(crd: Mapping[str, Any]) -> tuple[str, str]:
    spec = crd.get("spec")
    names = spec.get("names") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(names, Mapping):
        return "", ""
    return str(spec.get("group", "")), str(names.get("kind", ""))


def _about(key: ObjectKey, message: str) -> Warning:
    return Warning(message=message, object=ObjectRef.of(key))
