"""What the events of a Release tell of a pass."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from activities.drifting import CHANGES
from activities.rollouts import rollout_of
from activities.services import Services
from convoy.api.errors import DeployFailed, Hold, error_classes
from convoy.api.objects import Manifest, counted
from convoy.drift.results import ObjectDrift
from convoy.health.rollout import RolloutPhase
from convoy.policy.trigger import Trigger
from workflows.contract import Plan, RecordInput

_TOLD: Final = 5
"""Objects in an event, and fields of each."""


def is_news(plan: Plan) -> bool:
    """Return whether events tell of a pass even if it changes nothing: a resync of a large render is no news."""
    return plan.changed_render or plan.forced or plan.trigger is Trigger.SYNC_REQUESTED


async def announce(services: Services, tree: Manifest, done: RecordInput) -> None:
    """Emit the events of a pass that has ended: its failure or wait, or what it applied, healed and pruned."""
    plan, outcome, events = done.plan, done.outcome, services.events
    failed = error_classes().get(outcome.reason)
    if failed is not None:
        type_: Literal["Normal", "Warning"] = "Normal" if issubclass(failed, Hold) else "Warning"
        await events.emit(tree, reason=outcome.reason, note=outcome.note or outcome.message, type=type_)
        return
    if not outcome.changed and not (done.attempted and is_news(plan)):
        return
    if outcome.changed and not plan.changed_render and not _goes_back(tree, plan):
        found = await _found(services, plan) if plan.trigger is Trigger.SELF_HEAL else ""
        await events.emit(tree, reason="Healed", note=f"{outcome.message}{found}")
    else:
        await events.emit(tree, reason="SyncSucceeded", note=outcome.message)
    if outcome.pruned:
        note = f"deleted {counted(outcome.pruned, 'object')} that left the render"
        await events.emit(tree, reason="Pruned", note=note)


def _goes_back(tree: Manifest, plan: Plan) -> bool:
    """Whether the pass has put the last healthy render in the place of one that failed, and healed nothing."""
    rollout = rollout_of(tree)
    is_back = rollout is not None and rollout.phase == RolloutPhase.ROLLED_BACK
    return is_back and plan.trigger not in (Trigger.SELF_HEAL, Trigger.PERIODIC)


async def _found(services: Services, plan: Plan) -> str:
    """Tell which fields of which objects the drift pass found that asked for this sync: names, and no values."""
    try:
        data = await services.renders.load_blob(plan.uid, CHANGES)
    except DeployFailed:
        return ""  # the store does not answer: the event says less
    if data is None:
        return ""
    drifted = [ObjectDrift.from_tree(one) for one in msgspec.json.decode(data)]
    return f"; it was drift of {_listed([_told(one) for one in drifted], 'object', '; ')}"


def _told(one: ObjectDrift) -> str:
    if not one.changes:
        return f"{one.key} ({one.status.value})"
    return f"{one.key} ({_listed([change.pointer for change in one.changes], 'field', ', ')})"


def _listed(texts: list[str], noun: str, separator: str) -> str:
    more = len(texts) - _TOLD
    return separator.join([*texts[:_TOLD], *([f"{counted(more, noun)} more"] if more > 0 else [])])
