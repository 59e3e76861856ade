"""What an API server can answer instead of an object.

    ApiError
    ├── NotFound              the object is absent
    │   └── NamespaceMissing  the namespace that it belongs to is absent
    ├── KindUnknown           the cluster does not serve the kind (or not in this version)
    ├── ScopeChanged          the kind is namespaced and the object is not, or the other way round
    ├── Conflict              somebody wrote in between (resourceVersion)
    │   └── UidMismatch       the object is not the one that was seen before: deleted, or made anew
    ├── AlreadyExists         a create of an object that is there
    ├── Rejected              the request itself is wrong, and will be at the next try
    │   └── Invalid           by schema, validation or an admission policy, with causes
    ├── Forbidden             by RBAC, quota or an admission webhook
    │   └── NamespaceTerminating
    ├── Unauthorized          the server does not know who asks
    ├── TooManyRequests       the server asks to wait
    ├── ServerFault           the server, or a webhook behind it, failed
    ├── Unreachable           no answer: DNS, TLS, refused, reset, timeout
    └── Gone                  a list or watch started from a resourceVersion that is too old

The status code alone does not tell them apart: `convoy.kube.classify` does. A response body that is no
Status never enters an error, since it may hold anything, and a message about a Secret is scrubbed before
the error is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that the server found wrong."""

    field: str
    """Path of the field, as the server writes it; may be empty."""
    type: str
    """The server's reason, such as `FieldValueInvalid`; may be empty."""
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.field, self.message or self.type) if part)


class ApiError(Exception):
    """The API server did not do what it was asked. `message` is safe to show to people."""

    is_users_fault: ClassVar[bool] = False
    """True if the dry run counts it as a rejection of the object (`reference/apply-and-prune`)."""
    is_retryable: ClassVar[bool] = False
    """True if the same request may succeed a moment later (D15)."""
    may_be_done: ClassVar[bool] = False
    """True if nobody knows whether the server did it: the answer is no refusal, or none came."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """HTTP status; 0 where no answer came."""
        self.causes = causes
        self.retry_after = retry_after
        """Seconds that the server asked to wait, if it did."""


class NotFound(ApiError):
    """The object is absent."""


class NamespaceMissing(NotFound):
    """The namespace of the object is absent."""

    is_users_fault = True


class KindUnknown(ApiError):
    """The cluster does not serve the kind, or not in this version. Neither retried nor a rejection (D9)."""


class ScopeChanged(ApiError):
    """The kind is namespaced and the object was named without a namespace, or the other way round: it was named
    before the cluster knew the kind, or the kind was defined anew. There is no such object."""


class Conflict(ApiError):
    """Somebody else wrote in between: read again."""

    is_retryable = True


class UidMismatch(Conflict):
    """The live object has another UID than the request, or was deleted. Trying again cannot help."""

    is_retryable = False


class AlreadyExists(ApiError):
    """A create of an object that is there."""


class Rejected(ApiError):
    """The request itself is wrong, and will be so at the next try."""

    is_users_fault = True


class Invalid(Rejected):
    """Refused by schema, validation or an admission policy; `causes` says by which field."""


class Forbidden(ApiError):
    """Refused by RBAC, quota or an admission webhook."""

    is_users_fault = True


class NamespaceTerminating(Forbidden):
    """The namespace is being deleted: a rejection for a dry run, retried by the real apply (D15)."""

    is_retryable = True


class Unauthorized(ApiError):
    """The server does not accept the credentials."""


class TooManyRequests(ApiError):
    """The server sheds load; see `retry_after`."""

    is_retryable = True


class ServerFault(ApiError):
    """The server, etcd or a webhook behind it failed."""

    is_retryable = True
    may_be_done = True


class Unreachable(ApiError):
    """No answer: name resolution, TLS, refused, reset, or nothing within the time limit."""

    is_retryable = True
    may_be_done = True


class Gone(ApiError):
    """The resourceVersion or the continue token is too old: list again."""
