"""Mutations: changes that a Release makes to its own render."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer

from convoy.api.common import ApiModel, Text

_Pointer = Annotated[str, StringConstraints(pattern=r"^(/.*)?$", max_length=1024)]
_ImagePart = Annotated[str, StringConstraints(max_length=512)]


class MutationTarget(ApiModel):
    """Which objects are changed. What is not set matches everything."""

    group: Annotated[str, StringConstraints(max_length=253)] | None = None
    """The group; the empty text is the core group."""
    kind: Text | None = None
    """The kind."""
    name: Text | None = None
    """A glob."""
    namespace: Text | None = None
    """A glob over the effective namespace; with it, objects without a namespace do not match."""
    label_selector: Annotated[str, StringConstraints(max_length=1024)] | None = None
    """As in `kubectl get --selector`."""


class JsonPatchOperation(ApiModel):
    """One operation of a JSON Patch (RFC 6902)."""

    nullable = frozenset({"value"})

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    """What it does."""
    path: _Pointer
    """JSON pointer of the field that it changes or tests."""
    from_: Annotated[_Pointer | None, Field(alias="from")] = None
    """JSON pointer of the field to take; only of move and copy."""
    value: Any = None
    """Any JSON value; null is one."""

    @model_serializer(mode="wrap")
    def _keep_null(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree: dict[str, Any] = serialise(self)
        return tree | {"value": None} if "value" in self.model_fields_set and self.value is None else tree


class ImageMutation(ApiModel):
    """Changes an image wherever a container names it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    """The image without tag and digest."""
    new_name: _ImagePart | None = None
    """What stands in the place of the name."""
    new_tag: _ImagePart | None = None
    """The new tag. Without `digest` the old digest goes."""
    digest: _ImagePart | None = None
    """The new digest. Without `newTag` the old tag goes."""


class Mutation(ApiModel):
    """One change: exactly one of patch, merge and image."""

    one_of = ("patch", "merge", "image")

    target: MutationTarget = MutationTarget()
    patch: Annotated[tuple[JsonPatchOperation, ...], Field(min_length=1, max_length=256)] | None = None
    """A JSON Patch (RFC 6902)."""
    merge: dict[str, Any] | None = None
    """A JSON merge patch (RFC 7396)."""
    image: ImageMutation | None = None
