"""Ranges of semantic versions, as Helm and Flux users write them: `>=1.2 <2`, `^1.4`, `~1.2.3`, `1.x`, `1.2 - 1.4`.

A range takes a pre-release only where one of its own bounds is one, so that `>=1.0` never picks 2.0.0-rc.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from semver import Version

_COMPARATOR: Final = re.compile(
    r"(?P<op>=|==|!=|>=|=>|<=|=<|>|<|~|~>|\^)?\s*v?"
    r"(?P<major>\d{1,18}|[xX*])(?:\.(?P<minor>\d{1,18}|[xX*]))?(?:\.(?P<patch>\d{1,18}|[xX*]))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]{1,128}))?(?:\+[0-9A-Za-z.-]{1,128})?",
    re.ASCII,
)
_HYPHEN: Final = re.compile(r"(\S+)\s+-\s+(\S+)")


class BadRange(ValueError):
    """The text is no range of versions."""


def parse_version(text: str) -> Version | None:
    """Read a version with or without a leading `v`, parts may be missing; None if it is none."""
    if len(text) > 256:
        return None
    try:
        return Version.parse(text.removeprefix("v"), optional_minor_and_patch=True)
    except ValueError:
        return None


def highest(names: Iterable[str], wanted: str) -> str | None:
    """Return the name with the highest version in the range, or None.

    Raises:
        BadRange: `wanted` is no range.
    """
    alternatives = [_all_of(part) for part in wanted.split("||")]
    fitting = [
        (version, name)
        for name in names
        if (version := parse_version(name)) is not None
        and any(_fits(version, bounds) for bounds in alternatives)
    ]
    return max(fitting)[1] if fitting else None


_Bound = tuple[str, Version]


def _fits(version: Version, bounds: list[_Bound]) -> bool:
    if version.prerelease and not any(limit.prerelease for _, limit in bounds):
        return False
    return all(version.match(f"{operator}{limit}") for operator, limit in bounds)


def _all_of(text: str) -> list[_Bound]:
    text = _HYPHEN.sub(r">=\1 <=\2", text.strip())
    bounds: list[_Bound] = []
    at = 0
    while at < len(text):
        match = _COMPARATOR.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] not in " ,"):
            raise BadRange(f"{text!r} is no range of versions, such as '>=1.2 <2' or '^1.4'")
        bounds += _bounds(match)
        at = match.end()
        while at < len(text) and text[at] in " ,":
            at += 1
    if not bounds:
        raise BadRange("an empty range of versions")
    return bounds


def _bounds(match: re.Match[str]) -> list[_Bound]:
    given = [
        None if part in (None, "x", "X", "*") else int(part)
        for part in match.group("major", "minor", "patch")
    ]
    major, minor, patch = given
    if major is None:
        return [(">=", Version(0))]
    low = Version(major, minor or 0, patch or 0, match["pre"])
    after_major, after_minor = Version(major + 1), Version(major, (minor or 0) + 1)
    above = after_major if minor is None else after_minor if patch is None else None
    match match["op"]:
        case "^":
            return [(">=", low), ("<", _caret_end(major, minor, patch))]
        case "~" | "~>":
            return [(">=", low), ("<", after_major if minor is None else after_minor)]
        case ">=" | "=>":
            return [(">=", low)]
        case "<":
            return [("<", low)]
        case ">":
            return [(">", low)] if above is None else [(">=", above)]
        case "<=" | "=<":
            return [("<=", low)] if above is None else [("<", above)]
        case "!=":
            return [("!=", low)]
        case _:
            return [("==", low)] if above is None else [(">=", low), ("<", above)]


def _caret_end(major: int, minor: int | None, patch: int | None) -> Version:
    """The first version that may break: the left-most number that is not 0 goes up."""
    if major or minor is None:
        return Version(major + 1)
    if minor or patch is None:
        return Version(0, minor + 1)
    return Version(0, 0, patch + 1)
