"""`release tree`: what was applied, wave by wave, from the inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convoy.api.conditions import find_condition
from convoy.api.names import APPLIED, HEALTHY, IN_SYNC
from convoy.api.objects import Manifest, ObjectKey
from convoy.cli.output import say, short_ref
from convoy.cli.style import DIM, paint, paint_word


@dataclass(frozen=True, slots=True)
class Node:
    """A line, and what hangs below it."""

    text: str
    below: list[Node] = field(default_factory=list)


def draw(release: Manifest, inventory: Manifest) -> None:
    """Print the tree; `inventory` is empty where nothing was applied yet."""
    root = _root(release, inventory)
    say(root.text)
    for line in _lines(root.below, ""):
        say(line)


def _root(release: Manifest, inventory: Manifest) -> Node:
    metadata, status = release["metadata"], release.get("status") or {}
    told = [
        _standing(condition)
        for kind in (APPLIED, IN_SYNC, HEALTHY)
        if (condition := find_condition(status.get("conditions"), kind)) is not None
    ]
    key = ObjectKey("convoy.kumodo.io", "Release", metadata["namespace"], metadata["name"])
    ref = short_ref((inventory.get("spec") or {}).get("renderRef"))
    root = Node(" ".join([str(key), *told, *([paint(f"render {ref}", DIM)] if ref else [])]))
    health = ((inventory.get("status") or {}).get("health") or {}) if inventory else {}
    phases = {each["wave"]: each for each in status.get("waves") or ()}
    objects = _objects(inventory)
    for wave in sorted({*phases, *objects}):
        root.below.append(_wave(wave, phases.get(wave, {}), objects.get(wave, []), health))
    hooks = [Node(_hook(hook)) for hook in status.get("hooks") or ()]
    if hooks:
        root.below.append(Node("hooks", hooks))
    return root


def _standing(condition: Mapping[str, Any]) -> str:
    told = f"{condition['type']}={paint_word(condition['status'])}"
    return told if condition["status"] == "True" else f"{told} ({condition['reason']})"


def _objects(inventory: Manifest) -> dict[int, list[ObjectKey]]:
    waves: dict[int, list[ObjectKey]] = {}
    for group in (inventory.get("spec") or {}).get("objects") or ():
        kind, namespace = group["kind"], group.get("namespace") or ""
        waves.setdefault(group.get("wave", 0), []).extend(
            ObjectKey(group.get("group") or "", kind, namespace, item["name"]) for item in group["items"]
        )
    return waves


def _wave(number: int, status: dict[str, Any], objects: list[ObjectKey], health: dict[str, Any]) -> Node:
    phase = next((each["phase"] for each in health.get("waves") or () if each["wave"] == number), None)
    told = [f"wave {number}", paint_word(status.get("phase") or "")]
    if status.get("strategy") == "Health":
        told.append("(waits for health)")
    if phase and phase != status.get("phase"):
        told.append(paint_word(phase))
    sick = {each["ref"]: each for each in health.get("unhealthy") or ()}
    known = bool(health.get("phase"))
    return Node(
        " ".join(part for part in told if part), [_object(key, sick.get(str(key)), known) for key in objects]
    )


def _object(key: ObjectKey, sick: dict[str, Any] | None, known: bool) -> Node:
    if sick is not None:
        return Node(f"{key} {paint_word(sick['phase'])} {sick.get('message') or ''}".rstrip())
    return Node(f"{key} {paint_word('Healthy')}" if known else str(key))


def _hook(hook: dict[str, Any]) -> str:
    told = [hook["name"], paint_word(hook.get("phase") or ""), hook.get("job"), hook.get("message")]
    if hook.get("approvedBy"):
        told.append(f"by {hook['approvedBy']}")
    return " ".join(part for part in told if part)


def _lines(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for number, node in enumerate(nodes, 1):
        last = number == len(nodes)
        yield f"{indent}{'└── ' if last else '├── '}{node.text}"
        yield from _lines(node.below, indent + ("    " if last else "│   "))
