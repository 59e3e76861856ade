"""The error tree. Every reason of the Applied condition has exactly one class here.

    ConvoyError
    ├── Transient            tried again with backoff (`reference/sync-policy`, Requeue rules)
    │   ├── SourceNotReady   the source cannot be fetched
    │   ├── ValuesNotReady   a ConfigMap or Secret with values is missing
    │   ├── ClusterNotReady  the Cluster is missing, invalid or unreachable
    │   ├── DeployFailed     the apply, the render store or the API server failed
    │   └── PruneFailed      at least one delete failed
    ├── Terminal             checked again at the next periodic reconcile
    │   ├── Unsupported      the Release or its content is something convoy cannot or will not do
    │   ├── Unappliable      the target cluster rejected the dry run
    │   ├── Pinned           the pinned render is not in the render store
    │   └── HookFailed       a preSync hook failed
    └── Hold                 nothing is wrong; convoy waits (resets the failure count)
        ├── WaitingForSync, WaitingForClusterWave, WaitingForWave, WaitingForHook, WaitingForApproval,
        └── WaitingForOwner, WaitingForPrune, WaitingForHealth, Suspended

A message names the field, file or object and what to do, and never holds a Secret's value.
"""

from __future__ import annotations

from typing import ClassVar


class ConvoyError(Exception):
    """Something that ends a reconcile with a reason other than Applied."""

    reason: ClassVar[str]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __init_subclass__(cls) -> None:
        cls.reason = cls.__name__


class Transient(ConvoyError):
    """Retried with backoff."""


class Terminal(ConvoyError):
    """Not retried until something changes or the next periodic reconcile."""


class Hold(ConvoyError):
    """A wait. It is no failure and resets the failure count."""


class SourceNotReady(Transient):
    """The source cannot be fetched: unreachable, refused, missing reference, missing ConfigMap."""


class ValuesNotReady(Transient):
    """A ConfigMap or Secret that Helm values come from is missing."""


class ClusterNotReady(Transient):
    """The Cluster is missing, invalid, refused or unreachable."""


class DeployFailed(Transient):
    """The apply of an object, the write to the render store, or the API server failed."""


class PruneFailed(Transient):
    """At least one delete of the prune failed (D20)."""


class Unsupported(Terminal):
    """The Release or its render holds something that convoy cannot or will not do."""


class Unappliable(Terminal):
    """The target cluster rejected an object of the dry run."""


class Pinned(Terminal):
    """The pinned render is not in the render store."""


class HookFailed(Terminal):
    """A preSync hook failed; the sync stopped there."""


class WaitingForSync(Hold):
    """Manual mode: the render waits for a /sync request."""


class WaitingForClusterWave(Hold):
    """A Release of a lower cluster wave is not Applied and Healthy yet."""


class WaitingForWave(Hold):
    """The previous sync wave is not healthy yet."""


class WaitingForHook(Hold):
    """A lifecycle hook is still running."""


class WaitingForApproval(Hold):
    """An approval hook waits for a person."""


class WaitingForOwner(Hold):
    """Another Release has an object of this render (D14)."""


class WaitingForPrune(Hold):
    """The prune would delete more than `prune.maxPercent` allows (D21)."""


class WaitingForHealth(Hold):
    """`prune.afterHealthy`: the prune waits until the applied render is healthy (D21)."""


class Suspended(Hold):
    """`spec.suspend` is true."""


def error_classes() -> dict[str, type[ConvoyError]]:
    """Map each reason to its class."""
    return {leaf.reason: leaf for base in (Transient, Terminal, Hold) for leaf in base.__subclasses__()}


def is_reason_of(reason: str, kind: type[ConvoyError]) -> bool:
    """Tell whether a condition's reason is one of a kind of error: `Transient`, `Terminal` or `Hold`."""
    error = error_classes().get(reason)
    return error is not None and issubclass(error, kind)
