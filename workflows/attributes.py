"""The search attributes of a Sync: what a person filters the web UI's list by (design 04, rule 15)."""

from __future__ import annotations

from typing import Any

from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from workflows.contract import Plan, ReleaseId, SearchAttribute

_PHASE = SearchAttributeKey.for_keyword(SearchAttribute.PHASE)
_TRIGGER = SearchAttributeKey.for_keyword(SearchAttribute.TRIGGER)
_RELEASE = SearchAttributeKey.for_keyword(SearchAttribute.RELEASE)
_CLUSTER = SearchAttributeKey.for_keyword(SearchAttribute.CLUSTER)
_RENDER = SearchAttributeKey.for_keyword(SearchAttribute.RENDER)
_CHANGED = SearchAttributeKey.for_bool(SearchAttribute.CHANGED)


def search_attributes(
    release: ReleaseId, plan: Plan, *, phase: str, changed: bool | None
) -> list[SearchAttributeUpdate[Any]]:
    """Return what to upsert as a phase begins. `changed` is None as long as the result is open."""
    updates: list[SearchAttributeUpdate[Any]] = [
        _RELEASE.value_set(str(release)),
        _PHASE.value_set(phase),
        _TRIGGER.value_set(plan.trigger),
    ]
    if plan.cluster:
        updates.append(_CLUSTER.value_set(f"{release.namespace}/{plan.cluster}"))
    if plan.render_ref:
        updates.append(_RENDER.value_set(plan.render_ref))
    if changed is not None:
        updates.append(_CHANGED.value_set(changed))
    return updates
