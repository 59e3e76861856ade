"""References to objects as the cases write them: `Kind[.group] [namespace/]name`."""

from __future__ import annotations

from convoy.api.objects import ObjectKey


class BadReference(ValueError):
    """A text that names no object."""


def parse_kind(text: str) -> tuple[str, str]:
    """Split `Deployment.apps` into group `apps` and kind `Deployment`; the core group is empty."""
    kind, _, group = text.partition(".")
    if not kind or " " in text:
        raise BadReference(f"{text!r} is no kind; expected Kind or Kind.group")
    return group, kind


def parse_reference(text: str) -> ObjectKey:
    """Read a reference: the name may hold spaces, colons, dots and slashes.

    Raises:
        BadReference: the text is none; the message shows it.
    """
    kind_text, space, rest = text.partition(" ")
    namespace, slash, name = rest.partition("/")
    if not slash:
        namespace, name = "", rest
    if not kind_text or not space or not name or (slash and not namespace):
        raise BadReference(f"{text!r} is no reference; expected Kind[.group] [namespace/]name")
    group, kind = parse_kind(kind_text)
    return ObjectKey(group, kind, namespace, name)
