"""The base of everything a case file may say: a key that nobody knows is an error that names it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Strict(BaseModel):
    """A mapping with known keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class OfRelease(Strict):
    """Something about one Release of the case."""

    release: str = "a"
