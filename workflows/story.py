"""What the Temporal web UI tells a person about a workflow: its current details, as Markdown."""

from __future__ import annotations

from workflows.contract import Plan
from workflows.state import DriftState, HealthState


def sync_details(
    plan: Plan, *, phase: str, waves_done: int, reason: str = "", message: str = "", deadline: str = ""
) -> str:
    """Tell which render goes where, how far its waves are, and what the run waits for or died of."""
    lines = [f"**{phase}**" + (f" – {reason}: {message}" if reason else "")]
    if deadline:
        lines += ["", f"waits until {deadline} at most"]
    if plan.render_ref:
        lines += ["", f"render `{plan.render_ref}` from `{plan.revision}` to Cluster `{plan.cluster}`"]
    if plan.waves:
        lines += ["", "| wave | objects | state |", "| ---: | ---: | --- |"]
        lines += [
            f"| {wave.wave} | {wave.objects} | {'applied' if number < waves_done else 'to do'} |"
            for number, wave in enumerate(plan.waves)
        ]
    return "\n".join(lines)


def drift_details(state: DriftState, *, next_tick: str, next_try: str, rollout_due: str) -> str:
    """Tell the last verdict, and when the next pass, the next try and the end of the rollout's time are due."""
    last = state.last
    verdict = f"**{last.verdict.value}** – {last.message}" if last else "no pass yet"
    lines = [verdict, "", f"next pass and reconcile: {next_tick}"]
    if next_try:
        lines.append(f"next try of the failed sync: {next_try} (after {state.failures} failures)")
    if rollout_due:
        lines.append(f"the rollout has to be healthy by {rollout_due}")
    return "\n".join(lines)


def health_details(state: HealthState) -> str:
    """Tell what is waited for, and what was seen of it last."""
    lines = []
    if state.render is not None:
        wave = f"wave number {state.render.index + 1}" if state.render.index >= 0 else "all waves"
        lines.append(f"watches the health of render `{state.render.render_ref}`: {wave}")
    if state.jobs is not None:
        lines.append(f"watches the Jobs of hooks: {', '.join(state.jobs.jobs)}")
    if state.last.phase:
        lines += ["", f"**{state.last.phase}** – {state.last.message}"]
    return "\n".join(lines)
