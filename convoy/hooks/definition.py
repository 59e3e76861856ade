"""The hooks of one stage of a sync in their order: the Release's own, then its chart's (D6, D27). Pure.

A chart's hook Jobs need accounts, roles and configuration that Helm makes as hooks too. All of one weight that is no
Job is one step here, applied before the Jobs of that weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from convoy.api.hooks import APPROVAL_TIMEOUT, JOB_TIMEOUT, Hook, HookStage
from convoy.api.names import CHART_HOOKS
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.rendered import Render, RenderedObject
from convoy.api.spec_hash import digest
from convoy.render.chart_hooks import HOOK, goes_once_it_succeeded, runs_in, weight_of

_OWN: Final = 0
_OF_THE_CHART: Final = 1

BEFORE_CREATION: Final = "BeforeCreation"
ON_SUCCESS: Final = "OnSuccess"
NEVER: Final = "Never"


@dataclass(frozen=True, slots=True)
class JobTemplate:
    """What a Job is made from."""

    name: str
    """What the Job's name begins with, as far as there is room."""
    namespace: str
    spec: Manifest = field(repr=False)
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    delete_policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageHook:
    """One hook: a Job, objects to apply, or, without either, an approval."""

    name: str
    """Unique over both stages; as in status.hooks."""
    batch: tuple[int, ...]
    """Hooks of one batch run side by side, batches in this order."""
    timeout: float
    """Seconds from its start."""
    every_sync: bool = False
    definition: str = ""
    """Digest of what the Release says of it. Empty for a chart's hook, which only another render can change."""
    job: JobTemplate | None = None
    objects: tuple[RenderedObject, ...] = ()

    @property
    def is_approval(self) -> bool:
        """Whether it waits for a person."""
        return self.job is None and not self.objects


def stage_hooks(release: Release, render: Render, stage: HookStage) -> tuple[StageHook, ...]:
    """Return the hooks of a stage in the order in which they run; those of one batch stand together.

    Of a chart those of an installation count as long as no other render than this one was applied, later those of an
    upgrade.
    """
    own = release.lifecycle.pre_sync if stage is HookStage.PRE_SYNC else release.lifecycle.post_sync
    install = is_installation(release, render.ref)
    chart = [item for item in render.hooks if runs_in(item.manifest, stage, install=install)]
    hooks = [*(_own(hook, release) for hook in own), *_of_the_chart(chart, stage)]
    return tuple(sorted(hooks, key=lambda hook: hook.batch))  # stable: equal batches keep their order


def is_installation(release: Release, ref: str) -> bool:
    """Tell whether a render is the first one of its Release, as far as the history goes."""
    applied = {entry.render_ref for entry in release.status.renders}
    return applied | {release.status.applied_render_ref} <= {ref, ""}


def _own(hook: Hook, release: Release) -> StageHook:
    template = None
    if hook.job is not None:
        template = JobTemplate(
            name=f"{release.metadata.name}-{hook.name}",
            namespace=hook.namespace,
            spec=hook.job,
            labels={},
            annotations={},
            delete_policy=hook.delete_policy,
        )
    timeout = hook.timeout or (APPROVAL_TIMEOUT if template is None else JOB_TIMEOUT)
    return StageHook(
        name=hook.name,
        batch=(_OWN, hook.batch),
        timeout=timeout.total_seconds(),
        every_sync=hook.run_policy == "EverySync",
        definition=digest(hook.tree())[:16],
        job=template,
    )


def _of_the_chart(items: Iterable[RenderedObject], stage: HookStage) -> Iterable[StageHook]:
    prefix = CHART_HOOKS[stage]
    objects: dict[int, list[RenderedObject]] = {}
    for item in items:
        weight = weight_of(item.manifest)
        if (item.key.group, item.key.kind) != ("batch", "Job"):
            objects.setdefault(weight, []).append(item)
            continue
        yield StageHook(
            name=f"{prefix}{item.key.namespace}/{item.key.name}",
            batch=(_OF_THE_CHART, weight, 1),
            timeout=JOB_TIMEOUT.total_seconds(),
            job=_template(item),
        )
    for weight, found in objects.items():
        yield StageHook(
            name=f"{prefix}objects/{weight}",
            batch=(_OF_THE_CHART, weight, 0),
            timeout=JOB_TIMEOUT.total_seconds(),
            objects=tuple(found),
        )


def _template(item: RenderedObject) -> JobTemplate:
    metadata: Mapping[str, Any] = item.manifest["metadata"]
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(HOOK)
    }
    return JobTemplate(
        name=item.key.name,
        namespace=item.key.namespace,
        spec=item.manifest.get("spec") or {},
        labels=metadata.get("labels") or {},
        annotations=annotations,
        delete_policy=ON_SUCCESS if goes_once_it_succeeded(item.manifest) else BEFORE_CREATION,
    )
