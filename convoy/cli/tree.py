"""`release tree`: what was applied, wave by wave, from the inventory; as data, and drawn from that for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convoy.api.conditions import find_condition
from convoy.api.names import APPLIED, HEALTHY, IN_SYNC, READY
from convoy.api.objects import Manifest, ObjectKey
from convoy.cli.hooks import hooks_of, phase_of
from convoy.cli.output import key_in, say_painted, short_ref
from convoy.cli.style import DIM, paint, paint_word, printable_tree


def tree_of(release: Manifest, inventory: Manifest) -> Manifest:
    """Return the tree as data; `inventory` is empty where nothing was applied yet."""
    status = release.get("status") or {}
    health = (inventory.get("status") or {}).get("health") or {}
    phases = {each["wave"]: each for each in status.get("waves") or ()}
    objects = _objects(inventory, health)
    return {
        "namespace": release["metadata"]["namespace"],
        "name": release["metadata"]["name"],
        "renderRef": (inventory.get("spec") or {}).get("renderRef"),
        "conditions": [
            {name: condition.get(name) for name in ("type", "status", "reason", "message")}
            for kind in (APPLIED, IN_SYNC, HEALTHY, READY)
            if (condition := find_condition(status.get("conditions"), kind)) is not None
        ],
        "rollout": status.get("rollout"),
        "waves": [
            {
                "wave": wave,
                "strategy": phases.get(wave, {}).get("strategy"),
                "phase": phases.get(wave, {}).get("phase"),
                "health": next(
                    (each["phase"] for each in health.get("waves") or () if each["wave"] == wave), None
                ),
                "objects": objects.get(wave, []),
            }
            for wave in sorted({*phases, *objects})
        ],
        "hooks": hooks_of(release),
    }


def _objects(inventory: Manifest, health: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    sick = {each["ref"]: each for each in health.get("unhealthy") or ()}
    otherwise = "Healthy" if health.get("phase") else None
    waves: dict[int, list[dict[str, Any]]] = {}
    for group in (inventory.get("spec") or {}).get("objects") or ():
        for item in group["items"]:
            key = ObjectKey(
                group.get("group") or "", group["kind"], group.get("namespace") or "", item["name"]
            )
            found = sick.get(str(key), {"phase": otherwise})
            waves.setdefault(group.get("wave", 0), []).append(
                {**key._asdict(), "health": found["phase"], "message": found.get("message")}
            )
    return waves


@dataclass(frozen=True, slots=True)
class _Node:
    """A line, and what hangs below it."""

    text: str
    below: list[_Node] = field(default_factory=list)


def draw(tree: Manifest) -> None:
    """Print what `tree_of` returns."""
    root = _root(printable_tree(tree))
    say_painted(root.text)
    for line in _lines(root.below, ""):
        say_painted(line)


def _root(tree: Manifest) -> _Node:
    key = ObjectKey("convoy.kumodo.io", "Release", tree["namespace"], tree["name"])
    told = [_standing(condition) for condition in tree["conditions"]]
    rollout = (
        [f"rollout {paint_word(tree['rollout']['phase'])}"] if (tree["rollout"] or {}).get("phase") else []
    )
    render = [paint(f"render {short_ref(tree['renderRef'])}", DIM)] if tree["renderRef"] else []
    hooks = [_Node(_hook(hook)) for hook in tree["hooks"]]
    return _Node(
        " ".join([str(key), *told, *rollout, *render]),
        [*map(_wave, tree["waves"]), *([_Node("hooks", hooks)] if hooks else [])],
    )


def _standing(condition: Mapping[str, Any]) -> str:
    told = f"{condition['type']}={paint_word(condition['status'])}"
    return told if condition["status"] == "True" else f"{told} ({condition['reason']})"


def _wave(wave: Mapping[str, Any]) -> _Node:
    told = [f"wave {wave['wave']}", paint_word(wave["phase"] or "")]
    if wave["strategy"] == "Health":
        told.append("(waits for health)")
    if wave["health"] and wave["health"] != wave["phase"]:
        told.append(paint_word(wave["health"]))
    return _Node(_joined(told), [_Node(_object(each)) for each in wave["objects"]])


def _object(each: Mapping[str, Any]) -> str:
    return _joined([str(key_in(each)), paint_word(each["health"] or ""), each["message"]])


def _hook(hook: Mapping[str, Any]) -> str:
    by = f"by {hook['approvedBy']}" if hook.get("approvedBy") else None
    return _joined(
        [
            hook["name"],
            hook["stage"],
            paint_word(phase_of(hook)),
            hook.get("job"),
            hook.get("message"),
            by,
        ]
    )


def _joined(parts: Sequence[str | None]) -> str:
    """Return one line: a message may have several, which would break the drawing."""
    return " ".join(" ".join(part.split()) for part in parts if part)


def _lines(nodes: Sequence[_Node], indent: str) -> Iterator[str]:
    for number, node in enumerate(nodes, 1):
        last = number == len(nodes)
        yield f"{indent}{'└── ' if last else '├── '}{node.text}"
        yield from _lines(node.below, indent + ("    " if last else "│   "))
