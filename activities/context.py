"""What an activity knows from where it runs: which Release, which attempt."""

from __future__ import annotations

from temporalio import activity

from workflows.contract import ReleaseId, release_of


def this_release() -> ReleaseId:
    """Return the Release that the calling workflow is about: from its id alone (D39)."""
    return release_of(activity.info().workflow_id or "")


def epoch() -> str:
    """Return what fences this attempt from all others: unlike in any other run, step or try."""
    info = activity.info()
    # The id alone would not do: it is the same in every pass of a run.
    return f"{info.workflow_run_id}/{info.activity_id}@{info.scheduled_time:%H:%M:%S.%f}.{info.attempt}"
