"""`release get` for a person: each thing once, and in the same place for every Release."""

from __future__ import annotations

from typing import Any

from convoy.cli.describe import describe_release

WHY = "The render sha256:1fcbad10b653 was not applied and healthy within 30s."


def release(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "mill", "namespace": "team"},
        "spec": {"clusterRef": {"name": "here"}, "source": {"inline": {"files": {"a.yaml": ""}}}},
        "status": status,
    }


def condition(kind: str, reason: str, message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": "False", "reason": reason, "message": message}


def section(tree: dict[str, Any], title: str) -> list[list[str]]:
    lines = list(describe_release(tree))
    rows = lines[lines.index(f"{title}:") + 1 :]
    return [line.split() for line in rows[: rows.index("") if "" in rows else None]]


def test_a_message_stands_there_once() -> None:
    tree = release(
        rollout={"phase": "RolledBack", "message": WHY},
        conditions=[
            condition("Healthy", "Degraded", "one object has failed"),
            condition("Ready", "RolledBack", WHY),
            condition("Applied", "DeployFailed", "namespace x does not exist"),
            condition("Reconciling", "RolledBack"),
            condition("Stalled", "RolledBack", WHY),
        ],
    )
    assert sum(WHY in line for line in describe_release(tree)) == 1
    header, *rows = section(tree, "Conditions")
    assert header == ["TYPE", "STATUS", "REASON", "MESSAGE"]
    assert [row[0] for row in rows] == ["Applied", "Healthy", "Ready", "Reconciling", "Stalled"]
    assert rows[2][3:] == rows[4][3:] == ["as", "Rollout"]
    assert rows[3][3:] == []


def test_a_message_of_two_conditions_stands_at_the_first() -> None:
    tree = release(conditions=[condition(kind, "DeployFailed", "no") for kind in ("Ready", "Applied")])
    assert [row[3:] for row in section(tree, "Conditions")[1:]] == [["no"], ["as", "Applied"]]


def test_a_hook_tells_its_stage_and_whether_a_person_is_asked() -> None:
    tree = release(
        hooks=[
            {"name": "migrate", "phase": "Running"},
            {"name": "go", "phase": "Pending"},
            {"name": "smoke", "phase": "Succeeded"},
            {"name": "chart-pre/x/init", "phase": "Succeeded"},
            {"name": "gone", "phase": "Failed"},
        ]
    )
    tree["lifecycle"] = {
        "preSync": [{"name": "migrate", "job": {}}, {"name": "go", "approval": {}}],
        "postSync": [{"name": "smoke", "job": {}}],
    }
    assert section(tree, "Hooks")[1:] == [
        ["migrate", "preSync", "Running"],
        ["go", "preSync", "WaitingForApproval"],
        ["smoke", "postSync", "Succeeded"],
        ["chart-pre/x/init", "preSync", "Succeeded"],
        ["gone", "Failed"],
    ]
