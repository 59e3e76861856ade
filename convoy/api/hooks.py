"""Lifecycle hooks: Jobs and approvals before and after a sync."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from convoy.api.common import ApiModel, CelRule, GoDuration

JOB_TIMEOUT = timedelta(minutes=10)
APPROVAL_TIMEOUT = timedelta(hours=24)


class HookStage(StrEnum):
    """Which list of hooks."""

    PRE_SYNC = "preSync"
    POST_SYNC = "postSync"


class Approval(ApiModel):
    """Waits for a person."""


class Hook(ApiModel):
    """One step: exactly one of job and approval."""

    one_of = ("job", "approval")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
    """Unique among all hooks of the Release."""
    batch: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] = 0
    """Hooks of one batch run side by side, batches in order. Default: 0."""
    namespace: Annotated[str, StringConstraints(min_length=1, max_length=63)] = "default"
    """Where the Job runs. Default: `default`."""
    job: dict[str, Any] | None = None
    """The spec of a batch/v1 Job."""
    approval: Approval | None = None
    timeout: GoDuration | None = None
    """Deadline of the hook. Default: 10m for a Job, 24h for an approval."""
    run_policy: Literal["OncePerRender", "EverySync"] = "OncePerRender"
    """Whether it runs again for a render that it has succeeded for. Default: OncePerRender."""
    delete_policy: Literal["BeforeCreation", "OnSuccess", "Never"] = "BeforeCreation"
    """When the Job goes: before the next run, or once it succeeded (a failed one stays). Default: BeforeCreation."""


_Hooks = Annotated[
    tuple[Hook, ...],
    Field(
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    ),
]


class Lifecycle(ApiModel):
    """Hooks of a sync. Names are unique over both lists, since status.hooks lists both."""

    rules = (
        CelRule(
            "!has(self.preSync) || !has(self.postSync) || "
            "self.preSync.all(before, self.postSync.all(after, before.name != after.name))",
            "the names of preSync and postSync hooks must differ",
        ),
    )

    pre_sync: _Hooks = ()
    """Before the first wave. A failure stops the sync."""
    post_sync: _Hooks = ()
    """After the inventory is written. A failure does not change the result."""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = [hook.name for hook in (*self.pre_sync, *self.post_sync)]
        if len(set(names)) < len(names):
            raise ValueError("the names of hooks must differ")
        return self
