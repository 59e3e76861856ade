"""What one pass of Sync is to do, as every step of it is told."""

from __future__ import annotations

from dataclasses import dataclass

from convoy.api.hooks import HookStage
from convoy.policy.trigger import Trigger


@dataclass(frozen=True, slots=True)
class WavePlan:
    """One sync wave of the plan."""

    wave: int
    objects: int
    gate: bool = False
    """Strategy Health: the wave before it has to be healthy before this one starts."""
    timeout: float = 0.0
    """Seconds that the gate waits for; only of a gate."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """A run of a lifecycle hook. The run number is fixed when the pass begins, so that no crash runs it twice (D27)."""

    name: str
    run: int
    definition: str = ""
    """Digest of the hook as the pass has read it; of a chart's hook empty."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the steps of one pass need to know. Activities find the render by (`uid`, `render_ref`)."""

    uid: str = ""
    cluster: str = ""
    trigger: Trigger = Trigger.MANUAL
    requested_at: str = ""
    """Annotation value read when the pass began (D22)."""
    force_requested_at: str = ""
    """Annotation value of the force request that this pass uses up (D24); empty when not forced."""
    render_ref: str = ""
    revision: str = ""
    waves: tuple[WavePlan, ...] = ()
    prune: bool = False
    store: bool = False
    started_at: str = ""
    run_id: str = ""
    """The run that began the pass, as `status.sync` has it: the result of another run's pass is not overwritten."""
    generation: int = 0
    """metadata.generation of the Release as the pass read it."""
    spec_hash: str = ""
    """That of the spec as the pass read it: another one is something newer, whatever started the pass."""
    changed_render: bool = False
    """The render is another one than the one applied last."""
    unfinished: bool = False
    """The latest attempt, at whatever render, has not come to its end: what it changed no gate may have seen."""
    prune_after_healthy: bool = False
    """The prune waits until the whole render is healthy (D21)."""
    pre_sync: tuple[HookRun, ...] = ()
    """The preSync hooks that this pass has to see done, in their order; none where all have run for this render."""
    post_sync: tuple[HookRun, ...] = ()
    unrecorded: bool = False
    """This render is applied, and its postSync hooks are not known to be over."""
    failed_gate: int = 0
    """The wave, counted from 0, whose gate an attempt at this render has found closed and not open since: it and the
    gates before it get no time of their own again. 0: none."""
    closed_until: float = 0.0
    """Until when that gate may stay closed, in seconds since the epoch; 0: its time is up."""

    def runs(self, stage: HookStage) -> tuple[HookRun, ...]:
        """Return the runs of one stage of hooks."""
        return self.pre_sync if stage is HookStage.PRE_SYNC else self.post_sync

    @property
    def forced(self) -> bool:
        """A forced sync skips the dry run (`reference/sync-policy`, Forced sync)."""
        return bool(self.force_requested_at)

    @property
    def objects(self) -> int:
        """How many objects the render has."""
        return sum(wave.objects for wave in self.waves)
