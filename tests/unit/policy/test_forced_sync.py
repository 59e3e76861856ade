"""reference/sync-policy, Forced sync; D24."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.policy.request import force_pending
from tests.unit.policy.releases import A_SECOND_LATER, AT, release

FORCED: dict[str, tuple[dict[str, Any], bool]] = {
    "the next reconcile uses a force request": ({"forced": AT}, True),
    "a force request has effect for one reconcile only": (
        {"forced": AT, "status": {"lastHandledForceSyncAt": AT}},
        False,
    ),
    "it is used up when that reconcile failed": (
        {
            "forced": AT,
            "status": {"lastHandledForceSyncAt": AT, "lastAttempted": {"reason": "DeployFailed"}},
        },
        False,
    ),
    "a new force request has effect again": (
        {"forced": A_SECOND_LATER, "status": {"lastHandledForceSyncAt": AT}},
        True,
    ),
    "a force request has effect in automatic mode": ({"automatic": True, "forced": AT}, True),
    "a plain sync request forces nothing": ({"requested": AT}, False),
    "an annotation that is no time forces nothing": ({"forced": "yes"}, False),
    "that the sync was handled does not use up the force": (
        {"forced": AT, "requested": AT, "status": {"lastHandledSyncAt": AT}},
        True,
    ),
}


@pytest.mark.parametrize("sentence", FORCED)
def test_force(sentence: str) -> None:
    arguments, forced = FORCED[sentence]
    assert force_pending(release(**arguments)) == (arguments["forced"] if forced else None)
