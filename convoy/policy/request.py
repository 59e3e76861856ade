"""What the annotations of a Release ask for (`reference/sync-policy`, The /sync request and Forced sync).

Annotations are written by people too. A text that is no time must neither block a Release nor apply
anything: it is no request, and `with_annotation_faults` says so in the condition. Times are compared to the
second, and only with each other, never with a clock: a writer whose clock is an hour ahead blocks nobody
(D22).
"""

from __future__ import annotations

from collections.abc import Mapping

from convoy.api.names import SYNC_FORCE_REQUESTED_AT, SYNC_REQUESTED_AT
from convoy.api.release import Release
from convoy.api.times import LATEST, second_or_none


def requested_at(release: Release) -> str | None:
    """Return the value of the /sync annotation, or None where there is none or it is no time."""
    return _time_of(release, SYNC_REQUESTED_AT)


def pending_request(release: Release) -> str | None:
    """Return the annotation value of a pending /sync request, or None.

    Pending is a time later than status.lastHandledSyncAt. In automatic mode nothing is ever pending: there
    a request only starts a reconcile.
    """
    if release.spec.sync_policy.automatic:
        return None
    return _later(requested_at(release), release.status.last_handled_sync_at)


def force_pending(release: Release) -> str | None:
    """Return the annotation value of a force request that no reconcile has used up yet, or None (D24)."""
    return _later(_time_of(release, SYNC_FORCE_REQUESTED_AT), release.status.last_handled_force_sync_at)


def with_annotation_faults(
    message: str, annotations: Mapping[str, str], handled: Mapping[str, str | None]
) -> str:
    """Return the message of Applied with a sentence on each request annotation that counts as none, once.

    `handled` has the latest request that was handled by the annotation's name; only of those annotations that have to
    be later than it.
    """
    faults = (
        _fault(name, annotations.get(name), handled.get(name))
        for name in (SYNC_REQUESTED_AT, SYNC_FORCE_REQUESTED_AT)
    )
    return " ".join([message, *(fault for fault in faults if fault and fault not in message)])


def _fault(name: str, text: str | None, handled: str | None) -> str:
    if text is None:
        return ""
    asked, done = second_or_none(text), second_or_none(handled)
    if asked is None:
        return f"The annotation {name} is no RFC 3339 time and counts as no request: {text[:64]!r}."
    if done is not None and asked < done < LATEST:
        return f"The annotation {name} is {text}, which is before the latest request ({handled}), and counts as none."
    return ""


def _time_of(release: Release, name: str) -> str | None:
    text = release.metadata.annotations.get(name)
    return text if second_or_none(text) is not None else None


def _later(value: str | None, handled: str | None) -> str | None:
    asked, done = second_or_none(value), second_or_none(handled)
    is_later = done is None or (asked is not None and (asked > done or asked < done == LATEST))
    return value if asked is not None and is_later else None
