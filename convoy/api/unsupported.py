"""Fields that the schema accepts and that convoy does not act on yet.

A field that is silently ignored is worse than one that is refused, so each of them answers `Unsupported`
with its path. A room that implements a field deletes its row here.
"""

from __future__ import annotations

from collections.abc import Callable

from convoy.api.errors import Unsupported
from convoy.api.release import Release

_FIELDS: dict[str, Callable[[Release], object]] = {
    "lifecycle.preSync": lambda release: release.lifecycle.pre_sync,
    "lifecycle.postSync": lambda release: release.lifecycle.post_sync,
}


def field_paths() -> tuple[str, ...]:
    """Return the paths of all fields that convoy does not act on yet, for the reference pages."""
    return tuple(_FIELDS)


def unsupported_fields(release: Release) -> list[str]:
    """Return the paths of the fields that this Release sets and that convoy does not act on yet."""
    return [path for path, value in _FIELDS.items() if _is_set(value(release))]


def refuse_unsupported(release: Release) -> None:
    """Raise Unsupported naming each field that convoy does not act on yet."""
    fields = unsupported_fields(release)
    if fields:
        raise Unsupported(f"this version of convoy does not act on: {', '.join(fields)}")


def _is_set(value: object) -> bool:
    return value is not None and value is not False and value != ()
