"""What a Release tells of its hooks: the entries of its status, each with the list that it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convoy.api.names import CHART_HOOKS
from convoy.api.objects import Manifest

WAITS = "WaitingForApproval"
"""What a person is shown in the place of an approval's phase while it is asked for."""
_OPEN = ("Pending", "Running")


def hooks_of(release: Manifest) -> list[dict[str, Any]]:
    """Return `status.hooks`, each with its `stage` and whether it `waits` for a person.

    A hook that was taken out of the Release has no stage any more.
    """
    lifecycle = release.get("lifecycle") or {}
    own = [(hook, stage) for stage in CHART_HOOKS for hook in lifecycle.get(stage) or ()]
    stages = {hook["name"]: stage for hook, stage in own}
    approvals = {hook["name"] for hook, _ in own if "approval" in hook}
    return [
        {
            **hook,
            "stage": stages.get(hook["name"]) or _stage_of_chart(hook["name"]),
            "waits": hook["name"] in approvals and hook.get("phase") in _OPEN,
        }
        for hook in (release.get("status") or {}).get("hooks") or ()
    ]


def phase_of(hook: Mapping[str, Any]) -> str:
    """Return how far a hook is, for a person."""
    return WAITS if hook["waits"] else hook.get("phase") or ""


def _stage_of_chart(name: str) -> str | None:
    return next((stage for stage, prefix in CHART_HOOKS.items() if name.startswith(prefix)), None)
