"""Scripted activities: they stand under the contract's names, note their calls, and answer as a test tells them.

The real ones are tested on real clusters elsewhere; here it is the workflows' turn.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, get_type_hints

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.applying import Applying
from activities.asking import Asking
from activities.drifting import Drifting
from activities.gating import Gating
from activities.hooking import Hooking
from activities.observing import Observing
from activities.recording import Recording
from activities.resolving import Resolving
from activities.tearing_down import TearingDown
from convoy.api.times import format_time
from convoy.policy.trigger import Trigger
from workflows.contract import (
    RENDER_MISSING,
    Activity,
    ClaimResult,
    Decision,
    DriftReport,
    DryRunResult,
    HealthAnswer,
    HooksAnswer,
    Observed,
    Plan,
    PruneResult,
    ReapplyResult,
    Recorded,
    RecordInput,
    RecordRetry,
    ReleaseId,
    Resolved,
    Verdict,
    WaveInput,
    WavePlan,
    WaveResult,
    release_of,
)

REAL: dict[Activity, Callable[..., Any]] = {
    Activity.RESOLVE: Resolving.resolve,
    Activity.CLAIM: Applying.claim,
    Activity.DRY_RUN: Applying.dry_run,
    Activity.STORE_RENDER: Applying.store_render,
    Activity.APPLY_WAVE: Applying.apply_wave,
    Activity.CHECK_HEALTH: Gating.check_health,
    Activity.RUN_HOOKS: Hooking.run_hooks,
    Activity.APPROVE_HOOK: Hooking.approve_hook,
    Activity.PRUNE: Applying.prune,
    Activity.WRITE_INVENTORY: Applying.write_inventory,
    Activity.REAPPLY: Applying.reapply,
    Activity.RECORD: Recording.record,
    Activity.RECORD_RETRY: Recording.record_retry,
    Activity.TEARDOWN: TearingDown.teardown,
    Activity.ASK_SYNC: Asking.ask_sync,
    Activity.DRIFT_PASS: Drifting.drift_pass,
    Activity.OBSERVE_HEALTH: Observing.observe_health,
}
"""The activities that the doubles stand for; their signatures are the doubles' signatures."""

SAFETY = 60.0
"""Seconds after which a test that waits for something that will not come gives up."""


def failure(reason: str, message: str = "as the script says") -> ApplicationError:
    """Return how an activity says that a step failed or waits."""
    return ApplicationError(message, type=reason, non_retryable=True)


def render_missing() -> ApplicationError:
    """Return how an activity says that the render is gone from the working store."""
    return failure(RENDER_MISSING, "render r1 is gone")


class Gate:
    """Holds one call of an activity until the test opens it."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._open = asyncio.Event()

    async def reached(self) -> None:
        """Wait until the activity runs."""
        async with asyncio.timeout(SAFETY):
            await self._reached.wait()

    def open(self) -> None:
        """Let the activity answer."""
        self._open.set()

    async def hold(self) -> None:
        """Called by the double."""
        self._reached.set()
        await self._open.wait()


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt of one activity."""

    name: Activity
    arg: Any


@dataclass(slots=True)
class Script:
    """What the activities of one Release answer, and what they were asked."""

    release: ReleaseId
    uid: str
    plan: Plan
    tick: float = 0.0
    """Seconds of `DriftReport.tick` in the answers that no test gave."""
    calls: list[Call] = field(default_factory=list)
    _answers: defaultdict[Activity, list[Any]] = field(default_factory=lambda: defaultdict(list))
    _gates: defaultdict[Activity, list[Gate]] = field(default_factory=lambda: defaultdict(list))
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _annotations: int = 0

    def answer(self, name: Activity, *answers: Any) -> None:
        """Queue answers: values, exceptions, or functions of the argument. Without any the usual answer is given."""
        self._answers[name] += answers

    def reads(self, trigger: Trigger, **changes: object) -> None:
        """Let the next `resolve` find the same render, later and with another trigger."""
        plan = replace(self.plan, trigger=trigger, started_at="2026-01-01T09:09:09Z", **changes)  # type: ignore[arg-type]
        self.answer(Activity.RESOLVE, Resolved(Decision.APPLY, plan))

    def hold(self, name: Activity) -> Gate:
        """Hold the next call of this activity that nobody holds yet."""
        gate = Gate()
        self._gates[name].append(gate)
        return gate

    def steps(self, *without: Activity) -> list[Activity]:
        """Return the names of the calls so far, in order."""
        return [call.name for call in self.calls if call.name not in without]

    def args(self, name: Activity) -> list[Any]:
        """Return what an activity was asked so far."""
        return [call.arg for call in self.calls if call.name == name]

    async def called(self, name: Activity, times: int = 1) -> Any:
        """Wait until an activity was called so often; returns the argument of that call."""
        async with asyncio.timeout(SAFETY), self._news:
            await self._news.wait_for(lambda: len(self.args(name)) >= times)
        return self.args(name)[times - 1]

    async def run(self, name: Activity, arg: Any) -> Any:
        """Play an activity."""
        answers, gates = self._answers[name], self._gates[name]
        answer = answers.pop(0) if answers else partial(self._usual, name)
        gate = gates.pop(0) if gates else None
        async with self._news:
            self.calls.append(Call(name, arg))
            self._news.notify_all()
        if gate is not None:
            await gate.hold()
        if isinstance(answer, BaseException):
            raise answer
        return answer(arg) if callable(answer) else answer

    def _usual(self, name: Activity, arg: Any) -> Any:
        match name, arg:
            case Activity.RESOLVE, _:
                return Resolved(Decision.APPLY, self.plan)
            case Activity.CLAIM, _:
                return ClaimResult(planned=1)
            case Activity.DRY_RUN, Plan():
                return DryRunResult(checked=arg.objects, skipped=0, seen="seen")
            case Activity.APPLY_WAVE, WaveInput():
                return WaveResult(applied=arg.plan.waves[arg.index].objects, changed=1)
            case Activity.CHECK_HEALTH, _:
                return HealthAnswer(healthy=True)
            case Activity.RUN_HOOKS, _:
                return HooksAnswer(done=True)
            case Activity.APPROVE_HOOK, _:
                return ""
            case Activity.PRUNE, _:
                return PruneResult(deleted=1, kept=0)
            case Activity.REAPPLY, _:
                return ReapplyResult(changed=0, pruned=0)
            case Activity.RECORD, RecordInput():
                return Recorded("True" if arg.outcome.applied else "False", arg.outcome.message)
            case Activity.RECORD_RETRY, RecordRetry():
                return arg.at
            case Activity.TEARDOWN, _:
                return "deleted 3 objects, left 0 on the cluster"
            case Activity.ASK_SYNC, _:
                self._annotations += 1
                return format_time(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._annotations))
            case Activity.OBSERVE_HEALTH, _:
                return Observed(
                    render_settled=True, jobs_settled=True, phase="Healthy", message="all healthy"
                )
            case Activity.DRIFT_PASS, _:
                return DriftReport(Verdict.IN_SYNC, uid=self.uid, tick=self.tick)
        return None


class Doubles:
    """The doubles of one worker, for any number of Releases at once."""

    def __init__(self) -> None:
        self._scripts: dict[ReleaseId, Script] = {}

    def script(self, release: ReleaseId, *, uid: str, waves: int = 2) -> Script:
        """Start a script for a Release of its own."""
        plan = Plan(
            uid=uid,
            cluster="here",
            requested_at="2026-01-01T00:00:00Z",
            render_ref="r1",
            revision="main@1",
            waves=tuple(WavePlan(wave, 2) for wave in range(waves)),
            generation=1,
        )
        self._scripts[release] = Script(release, uid, plan)
        return self._scripts[release]

    def activities(self) -> list[Callable[..., Any]]:
        """Return what a worker registers."""
        return [self._double(name, real) for name, real in REAL.items()]

    def _double(self, name: Activity, real: Callable[..., Any]) -> Callable[..., Any]:
        async def double(arg: Any) -> Any:
            return await self._scripts[release_of(activity.info().workflow_id or "")].run(name, arg)

        hints = get_type_hints(real)
        (arg_type,) = (hint for arg, hint in hints.items() if arg != "return")
        double.__annotations__ = {"arg": arg_type, "return": hints["return"]}
        return activity.defn(name=name)(double)
