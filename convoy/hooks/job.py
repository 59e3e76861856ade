"""The Job of one run of a hook: its name, its manifest, and what it came to (D27). Pure."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from convoy.api.names import (
    HOOK,
    HOOK_DELETE_POLICY,
    HOOK_FINALIZER,
    HOOK_RELEASE,
    HOOK_RENDER,
    HOOK_RUN,
    RELEASE_UID,
)
from convoy.api.objects import Manifest
from convoy.hooks.definition import JobTemplate
from convoy.kube.resources import JOBS

_MAX_NAME: Final = 63
"""A Job's name becomes a label of its Pods."""
_DIGEST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """Which run of which hook a Job is."""

    release: str
    """`namespace/name`."""
    uid: str
    render_ref: str
    hook: str
    number: int


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a Job ended."""

    succeeded: bool
    message: str = ""
    """Why it failed, in the words of its controller."""


def job_name(template: JobTemplate, run: JobRun) -> str:
    """Return the name of a run's Job: always the same for one run, another for every other.

    A second create of it is answered with 409, so that neither a crash nor a late attempt runs a hook twice.
    """
    told = "\0".join((run.uid, run.hook, run.render_ref, str(run.number)))
    suffix = hashlib.sha256(told.encode()).hexdigest()[:_DIGEST]
    readable = re.sub(r"[^a-z0-9]+", "-", template.name.lower()).strip("-")
    return f"{readable[: _MAX_NAME - _DIGEST - 1].rstrip('-')}-{suffix}"


def build_job(template: JobTemplate, run: JobRun, *, timeout: float) -> Manifest:
    """Return the Job to create for a run.

    It holds its result back with a finalizer until that is recorded, and ends by itself at the hook's deadline, also
    if no convoy is there to end it.
    """
    deadline = max(1, math.ceil(timeout))
    wanted = template.spec.get("activeDeadlineSeconds")
    if isinstance(wanted, int) and 0 < wanted < deadline:
        deadline = wanted
    return {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.kind,
        "metadata": {
            "name": job_name(template, run),
            "namespace": template.namespace,
            "labels": {**template.labels, RELEASE_UID: run.uid},
            "annotations": {
                **template.annotations,
                HOOK_RELEASE: run.release,
                HOOK: run.hook,
                HOOK_RUN: str(run.number),
                HOOK_RENDER: run.render_ref,
                HOOK_DELETE_POLICY: template.delete_policy,
            },
            "finalizers": [HOOK_FINALIZER],
        },
        "spec": {**template.spec, "activeDeadlineSeconds": deadline},
    }


def place_of(job: Manifest) -> str:
    """Return `namespace/name`, as status.hooks has it."""
    return f"{job['metadata']['namespace']}/{job['metadata']['name']}"


def is_of(job: Mapping[str, Any], uid: str) -> bool:
    """Tell whether convoy made a Job for a Release."""
    return (job["metadata"].get("labels") or {}).get(RELEASE_UID) == uid


def policy_of(job: Mapping[str, Any]) -> str:
    """Return when a Job is deleted, as its hook said when it was made."""
    return str((job["metadata"].get("annotations") or {}).get(HOOK_DELETE_POLICY, ""))


def end_of(job: Mapping[str, Any]) -> JobEnd | None:
    """Return how a Job ended, or None while it runs. A Job that somebody deletes while it runs has failed."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") != "True":
            continue
        if condition.get("type") == "Complete":
            return JobEnd(True)
        if condition.get("type") == "Failed":
            told = ": ".join(filter(None, (condition.get("reason"), condition.get("message"))))
            return JobEnd(False, told or "it failed")
    if job["metadata"].get("deletionTimestamp"):
        return JobEnd(False, "it was deleted while it ran")
    return None
