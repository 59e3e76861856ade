"""Field changes for a person, and as a unified diff for tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convoy.cli.ages import age
from convoy.cli.output import key_in, say, say_painted
from convoy.cli.style import DIM, GREEN, RED, paint, paint_word, printable

_ABSENT = object()


def print_readable(drifted: Sequence[Mapping[str, Any]]) -> None:
    """Print each object with its fields: `-` what is live, `+` what is desired, and who owns the live field."""
    for found in drifted:
        say_painted(f"{paint(str(key_in(found)), bold=True)}  {paint_word(found['status'])}")
        for change in found.get("changes") or ():
            say_painted(f"  {printable(change['pointer'])}{_owner(change.get('owner'))}")
            for sign, colour, side in (("-", RED, "live"), ("+", GREEN, "desired")):
                for line in _value(change.get(side, _ABSENT)):
                    say_painted(f"    {paint(f'{sign} {line}', colour)}")
        say("")


def print_unified(drifted: Sequence[Mapping[str, Any]]) -> None:
    """Print a unified diff whose lines are `pointer: value`, a file an object."""
    for found in drifted:
        key = key_in(found)
        path = "/".join(filter(None, (key.namespace, f"{key.kind}.{key.group}".strip("."), key.name)))
        if found["status"] == "Missing":
            say(f"--- /dev/null\n+++ desired/{path}\n@@ -0,0 +1 @@\n+: {json.dumps('the object is missing')}")
            continue
        lines: list[str] = []
        for change in found.get("changes") or ():
            lines += [
                f"{sign}{change['pointer']}: {json.dumps(change[side], ensure_ascii=False)}"
                for sign, side in (("-", "live"), ("+", "desired"))
                if side in change
            ]
        old = sum(line.startswith("-") for line in lines)
        new = len(lines) - old
        say(f"--- live/{path}\n+++ desired/{path}\n@@ -{_range(old)} +{_range(new)} @@")
        for line in lines:
            say(line)


def _range(count: int) -> str:
    return "0,0" if count == 0 else f"1,{count}"


def _owner(owner: Mapping[str, str] | None) -> str:
    if owner is None:
        return ""
    ago = f", {age(owner['time'])} ago" if owner.get("time") else ""
    return "  " + paint(f"(owner: {owner['manager']}, {owner['operation']}{ago})", DIM)


def _value(value: Any) -> Iterator[str]:
    """Return the lines of a value: none where the side has no such field."""
    if value is _ABSENT:
        return
    if isinstance(value, (dict, list)) and value:
        import yaml

        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        yield from yaml.dump(value, Dumper=dumper, allow_unicode=True).rstrip().splitlines()
    elif isinstance(value, str) and "\n" in value:
        yield "|"
        yield from (f"  {line}" for line in value.rstrip("\n").split("\n"))
    else:
        yield json.dumps(value, ensure_ascii=False)
