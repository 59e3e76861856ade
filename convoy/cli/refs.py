"""renderRefs as people type them: whole, or the first characters that tables show."""

from __future__ import annotations

import re

from convoy.cli.errors import Failure
from convoy.cli.session import Session
from convoy.kube.resources import RELEASES

_WHOLE = re.compile(r"sha256:[0-9a-f]{64}")
_PART = re.compile(r"(sha256:)?[0-9a-f]{4,64}")


def find_ref(session: Session, name: str, ref: str) -> str:
    """Return the whole renderRef that a text means, looked up in the Release's history.

    Raises:
        Failure: it is no renderRef, or means none or several of the history.
        ApiError: the Release cannot be read.
    """
    if _WHOLE.fullmatch(ref):
        return ref
    if not _PART.fullmatch(ref):
        raise Failure(
            f"{ref!r} is no renderRef: it is sha256: and 64 hexadecimal digits, or the first of them"
        )
    start = "sha256:" + ref.removeprefix("sha256:")
    status = session.api.get(RELEASES, session.namespace, name).get("status") or {}
    entries = (status.get("unrecorded"), *(status.get("history") or ()))
    known: dict[str, None] = dict.fromkeys(entry["renderRef"] for entry in entries if entry)
    found = [each for each in known if each.startswith(start)]
    if len(found) != 1:
        what = "several renders" if found else "no render"
        raise Failure(f"{ref} is {what} in the history of Release {session.namespace}/{name}")
    return found[0]
