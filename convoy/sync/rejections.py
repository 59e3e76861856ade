"""How a list of objects at fault becomes one message: every object with the server's own words, in render
order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convoy.api.objects import ObjectKey
from convoy.kube.errors import ApiError


@dataclass(frozen=True, slots=True)
class Rejection:
    """An object that could not be applied or deleted, and why."""

    key: ObjectKey
    message: str
    """The server's message and causes, scrubbed where the object is a Secret."""

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def rejection(key: ObjectKey, error: ApiError) -> Rejection:
    """Return a rejection with the server's causes, each once."""
    more = [
        str(cause)
        for cause in error.causes
        if cause.message not in error.message or cause.field not in error.message
    ]
    return Rejection(key, "; ".join([error.message, *more]))


def join(rejections: Sequence[Rejection]) -> str:
    """Return one line an object. The condition cuts what is too long for it."""
    return "\n".join(map(str, rejections))
