"""Releases with hooks, and what their status says of earlier runs."""

from __future__ import annotations

from typing import Any

from convoy.api.hooks import HookStage
from convoy.api.names import SELF_HEAL_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.objects import Manifest, key_of
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.hooks.definition import stage_hooks
from convoy.hooks.plan import Run, runs_due
from convoy.policy.trigger import Trigger

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "m:1"}]}}}


def job(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "job": JOB, **more}


def entry(name: str, phase: str, *, ref: str = A, run: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "phase": phase, "renderRef": ref, "run": run, **more}


def release(
    *pre: dict[str, Any],
    post: list[dict[str, Any]] | None = None,
    hooks: list[dict[str, Any]] | None = None,
    applied: tuple[str, ...] = (),
    asked: str = "",
    heal: str = "",
    **spec: Any,
) -> Release:
    annotations = {SYNC_REQUESTED_AT: asked} if asked else {}
    annotations |= {SELF_HEAL_REQUESTED_AT: heal} if heal else {}
    status: dict[str, Any] = {"hooks": hooks or [], "history": [{"renderRef": ref} for ref in applied]}
    if applied:
        status["lastSuccessful"] = {"renderRef": applied[0]}
    return Release.read(
        {
            "metadata": {"name": "shop", "namespace": "team", "uid": "u-1", "annotations": annotations},
            "spec": {
                "clusterRef": {"name": "c"},
                "source": {"inline": {"files": {}}},
                "content": {"manifests": {}},
                **spec,
            },
            "lifecycle": {"preSync": list(pre), "postSync": post or []},
            "status": status,
        }
    )


def chart_hook(
    kind: str, name: str, events: str, *, weight: str = "", policy: str = "", api: str = "batch/v1"
) -> Manifest:
    annotations = {"helm.sh/hook": events, "team": "shop"}
    annotations |= {"helm.sh/hook-weight": weight} if weight else {}
    annotations |= {"helm.sh/hook-delete-policy": policy} if policy else {}
    manifest: Manifest = {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": "web", "annotations": annotations, "labels": {"app": "x"}},
    }
    return manifest | ({"spec": JOB} if kind == "Job" else {})


def render(*hooks: Manifest, ref: str = A) -> Render:
    items = tuple(RenderedObject(key_of(each), each["apiVersion"], 0, each) for each in hooks)
    return Render(ref, "r", (), items)


def due(
    found: Release,
    *,
    ref: str = A,
    stage: HookStage = HookStage.PRE_SYNC,
    trigger: Trigger = Trigger.PERIODIC,
    forced: bool = False,
    rollback: bool = False,
    hooks: Any = (),
) -> list[tuple[str, int]]:
    wanted = stage_hooks(found, render(*hooks, ref=ref), stage)
    runs: tuple[Run, ...] = runs_due(
        wanted, found, render_ref=ref, stage=stage, trigger=trigger, forced=forced, rollback=rollback
    )
    return [(run.name, run.number) for run in runs]
