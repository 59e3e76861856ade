"""`tree`: the same tree as data and as a drawing."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.cli.tree import draw, tree_of

RELEASE: dict[str, Any] = {
    "metadata": {"name": "shop", "namespace": "team"},
    "lifecycle": {"preSync": [{"name": "go", "approval": {}}]},
    "status": {
        "conditions": [
            {"type": "Healthy", "status": "False", "reason": "Degraded", "message": "m"},
            {"type": "Applied", "status": "True", "reason": "Applied", "message": "m"},
            {"type": "Ready", "status": "False", "reason": "RolledBack", "message": "m"},
        ],
        "rollout": {"phase": "RolledBack", "renderRef": "sha256:" + "cd" * 32},
        "waves": [
            {"wave": 0, "strategy": "Apply", "phase": "Applied"},
            {"wave": 1, "strategy": "Health", "phase": "Pending"},
        ],
        "hooks": [{"name": "go", "phase": "Approved", "approvedBy": "me", "message": "a\nb"}],
    },
}
INVENTORY: dict[str, Any] = {
    "spec": {
        "renderRef": "sha256:" + "ab" * 32,
        "objects": [
            {"group": "apps", "kind": "Deployment", "namespace": "x", "items": [{"name": "web"}]},
            {"kind": "Namespace", "items": [{"name": "x"}]},
        ],
    },
    "status": {
        "health": {
            "phase": "Degraded",
            "waves": [{"wave": 0, "phase": "Degraded"}],
            "unhealthy": [
                {"ref": "Deployment.apps x/web", "phase": "Degraded", "message": "one\n\x1b[2Jtwo"}
            ],
        }
    },
}


def test_it_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    draw(tree_of(RELEASE, INVENTORY))
    assert capsys.readouterr().out.splitlines() == [
        "Release.convoy.kumodo.io team/shop Applied=True Healthy=False (Degraded) Ready=False (RolledBack) "
        "rollout RolledBack render abababababab",
        "├── wave 0 Applied Degraded",
        "│   ├── Deployment.apps x/web Degraded one \\u001b[2Jtwo",
        "│   └── Namespace x Healthy",
        "├── wave 1 Pending (waits for health)",
        "└── hooks",
        "    └── go preSync Approved a b by me",
    ]


def test_as_data_it_holds_what_is_drawn_and_nothing_is_escaped() -> None:
    tree = tree_of(RELEASE, INVENTORY)
    assert [condition["type"] for condition in tree["conditions"]] == ["Applied", "Healthy", "Ready"]
    assert tree["rollout"] == RELEASE["status"]["rollout"]
    first, second = tree["waves"]
    assert (first["wave"], first["phase"], first["health"]) == (0, "Applied", "Degraded")
    assert first["objects"][0] == {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "x",
        "name": "web",
        "health": "Degraded",
        "message": "one\n\x1b[2Jtwo",
    }
    assert (second["strategy"], second["objects"]) == ("Health", [])
    (hook,) = RELEASE["status"]["hooks"]
    assert tree["hooks"] == [{**hook, "stage": "preSync", "waits": False}]


def test_before_the_first_apply_there_is_only_the_release(capsys: pytest.CaptureFixture[str]) -> None:
    tree = tree_of({"metadata": RELEASE["metadata"]}, {})
    draw(tree)
    assert capsys.readouterr().out == "Release.convoy.kumodo.io team/shop\n"
    assert (tree["renderRef"], tree["waves"]) == (None, [])
