"""Checking the hooks of a Release before they are kept: the target takes each Job as a dry run."""

from __future__ import annotations

from convoy.api.hooks import HookStage
from convoy.api.release import Release
from convoy.api.rendered import Render
from convoy.hooks.definition import stage_hooks
from convoy.hooks.job import JobRun, build_job
from convoy.hooks.jobs import check_job
from convoy.kube.client import KubeClient

_NO_RENDER = Render("", "", ())


async def refused_jobs(client: KubeClient, release: Release) -> list[str]:
    """Return the target's refusals of the Jobs of a Release's own hooks, in its words.

    Raises:
        DeployFailed: the target did not answer.
    """
    refused = []
    for stage in HookStage:
        for hook in stage_hooks(release, _NO_RENDER, stage):
            if hook.job is not None:
                run = JobRun(release="", uid=release.metadata.uid, render_ref="", hook=hook.name, number=0)
                why = await check_job(client, build_job(hook.job, run, timeout=hook.timeout))
                refused += [f"lifecycle.{stage}: hook {hook.name}: {why}"] if why else []
    return refused
