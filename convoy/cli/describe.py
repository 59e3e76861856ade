"""What `release get` and `cluster get` show a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convoy.api.names import APPLIED, HEALTHY, IN_SYNC, READY, RECONCILING, STALLED
from convoy.api.objects import Manifest
from convoy.cli.ages import age
from convoy.cli.hooks import hooks_of, phase_of
from convoy.cli.output import cell_of

_ORDER = {kind: place for place, kind in enumerate((APPLIED, IN_SYNC, HEALTHY, READY, RECONCILING, STALLED))}
"""Who writes first stands first in the list, which is different from Release to Release."""


def describe_release(tree: Manifest) -> Iterator[str]:
    """Return the lines about a Release."""
    spec, status = tree["spec"], tree.get("status") or {}
    policy = spec.get("syncPolicy") or {}
    applied = status.get("unrecorded") or status.get("lastSuccessful") or {}
    attempted = status.get("lastAttempted") or {}
    retry = status.get("retry") or {}
    yield from _pairs(
        ("Name", tree["metadata"]["name"]),
        ("Namespace", tree["metadata"]["namespace"]),
        ("Cluster", spec["clusterRef"]["name"]),
        ("Source", _source(spec["source"])),
        ("Sync", _sync(policy)),
        ("Suspended", "yes" if spec.get("suspend") else None),
        ("Pinned", (tree.get("pin") or {}).get("renderRef")),
        ("Applied", _render(applied, applied.get("appliedAgainAt") or applied.get("appliedAt"))),
        ("Last attempt", _attempt(attempted)),
        ("Retry", _retry(retry) if retry.get("failures") else None),
        ("Rollout", _rollout(status.get("rollout") or {})),
        ("Deleting", age(tree["metadata"].get("deletionTimestamp")) or None),
    )
    yield from _conditions(status, told={(status.get("rollout") or {}).get("message"): "Rollout"})
    yield from _section(
        "Waves",
        ["WAVE", "STRATEGY", "PHASE", "OBJECTS", "AGE"],
        [
            [
                wave["wave"],
                wave.get("strategy"),
                wave.get("phase"),
                f"{wave.get('applied', 0)}/{wave.get('objects', 0)}",
                age(wave.get("finishedAt") or wave.get("startedAt")),
            ]
            for wave in status.get("waves") or ()
        ],
    )
    yield from _section(
        "Hooks",
        ["NAME", "STAGE", "PHASE", "JOB", "APPROVED BY", "AGE", "MESSAGE"],
        [
            [
                hook["name"],
                hook["stage"],
                phase_of(hook),
                hook.get("job"),
                hook.get("approvedBy"),
                age(hook.get("finishedAt") or hook.get("startedAt")),
                hook.get("message"),
            ]
            for hook in hooks_of(tree)
        ],
    )


def describe_cluster(tree: Manifest) -> Iterator[str]:
    """Return the lines about a Cluster."""
    spec, status = tree["spec"], tree.get("status") or {}
    secret = spec.get("kubeconfigSecretRef") or {}
    yield from _pairs(
        ("Name", tree["metadata"]["name"]),
        ("Namespace", tree["metadata"]["namespace"]),
        (
            "Connects by",
            f"Secret {secret['name']}, key {secret.get('key', 'kubeconfig')}" if secret else "inCluster",
        ),
        ("Acts as", spec.get("serviceAccountName")),
        ("Kubernetes", status.get("kubernetesVersion")),
        ("Target UID", status.get("targetUID")),
    )
    yield from _conditions(status)


def _pairs(*pairs: tuple[str, object]) -> Iterator[str]:
    shown = [(name, value) for name, value in pairs if value not in (None, "")]
    width = max(len(name) for name, _ in shown) + 3
    for name, value in shown:
        yield f"{name + ':':<{width}}{value}"


def _conditions(status: dict[str, Any], *, told: Mapping[str | None, str] | None = None) -> Iterator[str]:
    """Return the conditions; a message that stands above already, under a name of `told` too, is not repeated."""
    known = sorted(status.get("conditions") or (), key=lambda each: _ORDER.get(each["type"], len(_ORDER)))
    above = dict(told or {})
    rows = []
    for condition in known:
        kind, message = condition["type"], condition.get("message")
        shown = f"as {above[message]}" if message and message in above else message
        rows.append(
            [
                kind,
                condition["status"],
                condition.get("reason"),
                age(condition.get("lastTransitionTime")),
                shown,
            ]
        )
        above.setdefault(message, kind)
    yield from _section("Conditions", ["TYPE", "STATUS", "REASON", "AGE", "MESSAGE"], rows)


def _section(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Return an indented table under a title, without columns that are empty; nothing where there are no rows."""
    lines = [[cell_of(value) for value in row] for row in rows]
    kept = [column for column in range(len(header)) if any(line[column] for line in lines)]
    if not kept:
        return
    yield ""
    yield f"{title}:"
    table = [[line[column] for column in kept] for line in ([*header], *lines)]
    widths = [max(len(line[column]) for line in table) + 2 for column in range(len(kept))]
    for line in table:
        yield ("  " + "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()


def _source(source: dict[str, Any]) -> str:
    if git := source.get("git"):
        ref = "".join(f" ({kind} {value})" for kind, value in (git.get("ref") or {}).items())
        return f"git {git['url']}{ref}"
    if config_map := source.get("configMap"):
        return f"ConfigMap {config_map['name']}"
    if inline := source.get("inline"):
        return f"inline, files {', '.join(sorted(inline['files']))}"
    kind, content = next(iter(source.items()))
    return f"{kind} {content.get('url', '')}"


def _sync(policy: dict[str, Any]) -> str:
    mode = "automatic" if policy.get("automatic") else "manual"
    interval = policy.get("interval")
    return mode if not interval or interval in ("0", "0s") else f"{mode}, every {interval}"


def _render(render: dict[str, Any], at: str | None) -> str | None:
    if not render:
        return None
    return f"{render.get('revision') or ''} {render.get('renderRef', '')} ({age(at)} ago)".strip()


def _attempt(attempt: dict[str, Any]) -> str | None:
    if not attempt:
        return None
    trigger = f", by {attempt['trigger']}" if attempt.get("trigger") else ""
    return f"{attempt.get('reason', 'running')} ({age(attempt.get('startedAt'))} ago{trigger})"


def _retry(retry: dict[str, Any]) -> str:
    due = f", next at {retry['at']}" if retry.get("at") else ""
    return f"after {retry['failures']} failures{due}"


def _rollout(rollout: dict[str, Any]) -> str | None:
    if not rollout.get("phase"):
        return None
    return f"{rollout['phase']} ({age(rollout.get('startedAt'))}) {rollout.get('message') or ''}".strip()
