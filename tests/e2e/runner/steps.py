"""What a case may do. A step is a mapping with exactly one key, its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from tests.e2e.runner.expectation import Expectation
from tests.e2e.runner.strict import OfRelease, Strict


class Live(Strict):
    """Create objects by somebody else than convoy."""

    objects: tuple[dict[str, Any], ...]
    manager: str = "kubectl-create"
    op: Literal["create", "apply"] = "create"


class Edit(Strict):
    """Patch a live object."""

    object: str
    patch: Any
    type: Literal["merge", "json", "apply"] = "merge"
    manager: str = "kubectl-edit"
    subresource: str | None = None


class Remove(Strict):
    """Delete a live object."""

    object: str
    wait: bool = True


class UseRender(OfRelease):
    """Put a render's files into a Release."""

    use: str


class PatchRelease(OfRelease):
    """Patch a Release."""

    patch: dict[str, Any]


class Sync(OfRelease):
    """Request a sync."""

    force: bool = False
    wait: bool = True
    timeout: float = 60


class Drift(OfRelease):
    """Make a drift pass."""

    timeout: float = 60


class Wait(Strict):
    """Wait for seconds, or until a live object is as described."""

    seconds: float | None = None
    object: str | None = None
    path: str | None = None
    equals: Any = None
    exists: bool = True
    timeout: float = 30

    @model_validator(mode="after")
    def _one_purpose(self) -> Self:
        if (self.seconds is None) == (self.object is None):
            raise ValueError("exactly one of seconds and object must be set")
        if "equals" in self.model_fields_set and self.path is None:
            raise ValueError("equals needs a path")
        return self

    @property
    def has_value(self) -> bool:
        """Whether a value is waited for, null included."""
        return "equals" in self.model_fields_set


class Remember(Strict):
    """Keep the UIDs of objects."""

    objects: tuple[str, ...] = Field(min_length=1)


class Check(Strict):
    """Check an expectation now."""

    expectation: Expectation


Step = Live | Edit | Remove | UseRender | PatchRelease | Sync | Drift | Wait | Remember | Check

_NAMES: Mapping[str, Callable[[Any], Step]] = {
    "live": Live.model_validate,
    "edit": Edit.model_validate,
    "remove": Remove.model_validate,
    "render": lambda value: UseRender.model_validate({"use": value} if isinstance(value, str) else value),
    "release": PatchRelease.model_validate,
    "sync": Sync.model_validate,
    "drift": Drift.model_validate,
    "wait": Wait.model_validate,
    "remember": lambda value: Remember.model_validate({"objects": value}),
    "expect": lambda value: Check(expectation=Expectation.model_validate(value)),
}


def step_name(tree: Any) -> str:
    """Return the name of a step. Raises ValueError where it is none, naming what is wrong."""
    if not isinstance(tree, dict) or len(tree) != 1:
        keys = ", ".join(map(str, tree)) if isinstance(tree, dict) else repr(tree)
        raise ValueError(f"a step has exactly one key, not: {keys}")
    name = str(next(iter(tree)))
    if name not in _NAMES:
        raise ValueError(f"unknown step {name!r}; known are {', '.join(_NAMES)}")
    return name


def read_step(tree: Any) -> Step:
    """Read one step. Raises ValueError (pydantic's ValidationError is one) naming what is wrong."""
    name = step_name(tree)
    return _NAMES[name](tree[name])
