"""What the API answers instead of a result: `metav1.Status` objects with the right code.

    Refusal
    ├── BadRequest      400  a parameter or a body that cannot be read
    ├── Unauthorized    401  the request did not come through the front proxy
    ├── Forbidden       403  RBAC does not allow it
    ├── NotFound        404  no such path, Release, render or hook
    ├── NotAllowed      405  the subresource has no such verb
    ├── Conflict        409  somebody wrote in between, or the Release is not in the state for it
    ├── Invalid         422  the body, or what the Release would be with it, is wrong
    ├── TooMany         429  the same work runs for this Release already
    ├── Broken          500  a fault of convoy's own
    ├── Unavailable     503  the source, the target cluster, the render store or Temporal does not answer
    └── TimedOut        504  not done within the deadline

An error that nobody foresaw is Broken without its text, since that may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from convoy.api.errors import ConvoyError, Hold, Terminal
from convoy.api.objects import Manifest
from convoy.kube import errors as kube
from convoy.kube.errors import ApiError, Cause


class Refusal(Exception):
    """An answer that is no result."""

    code: ClassVar[int]
    reason: ClassVar[str]

    def __init__(
        self,
        message: str,
        *,
        name: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.causes = causes
        self.retry_after = retry_after
        """Seconds; kubectl and client-go try again by themselves where it is set."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of the answer."""
        return {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}

    def tree(self) -> Manifest:
        """Return the Status."""
        details: dict[str, Any] = {}
        if self.name:
            details |= {"name": self.name, "kind": "releases"}
        if self.causes:
            details["causes"] = [_cause(each) for each in self.causes]
        if self.retry_after is not None:
            details["retryAfterSeconds"] = self.retry_after
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            **({"details": details} if details else {}),
            "code": self.code,
        }


class BadRequest(Refusal):
    """A parameter or a body that cannot be read."""

    code, reason = 400, "BadRequest"


class Unauthorized(Refusal):
    """The request did not come through the front proxy."""

    code, reason = 401, "Unauthorized"


class Forbidden(Refusal):
    """RBAC does not allow it."""

    code, reason = 403, "Forbidden"


class NotFound(Refusal):
    """No such path, Release, render or hook."""

    code, reason = 404, "NotFound"


class NotAllowed(Refusal):
    """The subresource has no such verb."""

    code, reason = 405, "MethodNotAllowed"


class Conflict(Refusal):
    """Somebody wrote in between, or the Release is not in the state for it."""

    code, reason = 409, "Conflict"


class Invalid(Refusal):
    """The body, or what the Release would be with it, is wrong."""

    code, reason = 422, "Invalid"


class TooMany(Refusal):
    """The same work runs for this Release already."""

    code, reason = 429, "TooManyRequests"


class Broken(Refusal):
    """A fault of convoy's own."""

    code, reason = 500, "InternalError"


class Unavailable(Refusal):
    """The source, the target cluster, the render store or Temporal does not answer."""

    code, reason = 503, "ServiceUnavailable"


class TimedOut(Refusal):
    """Not done within the deadline."""

    code, reason = 504, "Timeout"


def refusal_of(error: ConvoyError | ApiError, *, name: str = "") -> Refusal:
    """Translate an error of the domain, or of the home cluster's API server.

    What only another spec or render would mend is Invalid; what may be well a moment later is Unavailable.
    The reason of the Applied condition stands as the first cause.
    """
    if isinstance(error, ConvoyError):
        kind: type[Refusal] = Unavailable
        if isinstance(error, Terminal):
            kind = Invalid
        elif isinstance(error, Hold):
            kind = Conflict
        return kind(error.message, name=name, causes=(Cause("", error.reason, error.message),))
    for cause, answer in _ANSWERS:
        if isinstance(error, cause):
            return answer(error.message, name=name, causes=error.causes)
    return Unavailable(error.message, name=name)


_ANSWERS: tuple[tuple[type[ApiError], type[Refusal]], ...] = (
    (kube.NotFound, NotFound),
    (kube.Conflict, Conflict),
    (kube.AlreadyExists, Conflict),
    (kube.Rejected, Invalid),
    # What convoy may not do is no matter of the caller's rights.
    (kube.Forbidden, Unavailable),
)


def _cause(cause: Cause) -> dict[str, str]:
    tree = {"reason": cause.type, "message": cause.message, "field": cause.field}
    return {name: value for name, value in tree.items() if value}
