"""Syncs with a wave that waits for the health of the one before it."""

from __future__ import annotations

from dataclasses import replace

from convoy.policy.trigger import Trigger
from tests.workflows.doubles import Script
from workflows.contract import HealthAnswer, SyncRequest, WavePlan

SICK = HealthAnswer(healthy=False, message="Deployment.apps shop/mill: 0 of 1 replicas are ready")
CLOSED = (SICK, SICK)
"""A gate that is found closed is looked at once more before it is a wait."""

REACHED = SyncRequest(trigger=Trigger.HEALTH_REACHED, uid="uid-1", id="2026-01-02T00:00:00Z")
LONG = 600.0


def put_gate(script: Script, *, timeout: float = LONG) -> Script:
    """Plan three waves; the last one waits until the one before it is healthy."""
    script.plan = replace(
        script.plan,
        waves=(WavePlan(0, 1), WavePlan(1, 1), WavePlan(5, 1, gate=True, timeout=timeout)),
        trigger=Trigger.SYNC_REQUESTED,
        started_at="2026-01-01T00:00:01Z",
        prune=True,
        changed_render=True,
    )
    return script
