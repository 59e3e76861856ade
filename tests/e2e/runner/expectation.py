"""What a case may expect. Every field is optional; only what is written is checked."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from tests.e2e.runner.strict import OfRelease, Strict

Status = Literal["True", "False", "Unknown"]


class Condition(OfRelease):
    """A condition of a Release."""

    type: str
    status: Status | None = None
    reason: str | tuple[str, ...] | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    max_length: int | None = None


class Drifted(OfRelease):
    """What the last drift pass says of one object."""

    object: str
    status: Literal["InSync", "Modified", "Missing"] | None = None
    paths: tuple[str, ...] | None = None
    managers: dict[str, str] = Field(default_factory=dict)


class Object(Strict):
    """A live object."""

    object: str
    exists: bool = True
    same_uid: bool = False
    fields: dict[str, Any] = Field(default_factory=dict)
    absent: tuple[str, ...] = ()
    owners: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)


class Inventory(OfRelease):
    """What the ReleaseInventory records as applied."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    count: int | None = None
    max_bytes: int | None = None


class ReleaseFields(OfRelease):
    """Fields of a Release."""

    fields: dict[str, Any] = Field(default_factory=dict)
    absent: tuple[str, ...] = ()


class Hook(OfRelease):
    """What `status.hooks` shows of a hook."""

    name: str
    state: Literal["Succeeded", "Failed"] | None = None
    runs: int | None = None
    jobs: int | None = None


class Count(Strict):
    """How many live objects of a kind there are."""

    kind: str
    namespace: str | None = None
    selector: str | None = None
    count: int


class Expectation(Strict):
    """Everything that is checked at one moment."""

    conditions: tuple[Condition, ...] = ()
    drift: tuple[Drifted, ...] = ()
    objects: tuple[Object, ...] = ()
    inventory: tuple[Inventory, ...] = ()
    releases: tuple[ReleaseFields, ...] = ()
    hooks: tuple[Hook, ...] = ()
    counts: tuple[Count, ...] = ()
    order: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
