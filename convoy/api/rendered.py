"""The render: the objects that a Release wants on its cluster, as every room speaks of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from convoy.api.objects import Manifest, ObjectKey, key_of

_SHOWN = len("sha256:") + 12


def brief_ref(ref: str | None) -> str:
    """Return a renderRef as messages have it: unambiguous for a person, and taken by `pin` as it stands."""
    return (ref or "")[:_SHOWN]


@dataclass(frozen=True, slots=True)
class RenderedObject:
    """One object of a render, normalised (D1–D3)."""

    key: ObjectKey
    api_version: str
    wave: int
    """From the annotation `convoy.kumodo.io/sync-wave`; 0 without one."""
    manifest: Manifest = field(repr=False)
    """Shared between the steps: whoever needs another form copies it."""
    origin: str = ""
    """Where it was read, for messages: `app.yaml, document 2, line 14`."""

    def __str__(self) -> str:
        """Return the subject, as `ObjectKey` writes it."""
        return str(self.key)


@dataclass(frozen=True, slots=True)
class Render:
    """All objects of a Release in render order."""

    ref: str
    """`sha256:…`: equal for equal objects, on every worker of one installation."""
    revision: str
    """Where the source stood, in a form that a person recognises (`main@sha1:…`)."""
    objects: tuple[RenderedObject, ...]
    hooks: tuple[RenderedObject, ...] = ()
    """Hooks of a chart: no objects of the Release, but a part of the render, so that a pin brings them back (D6)."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What a preview tells besides, about the inputs and not the objects: not kept with the render."""

    def waves(self) -> list[tuple[int, tuple[RenderedObject, ...]]]:
        """Return the waves in ascending order, each in render order (`reference/apply-and-prune`, Apply)."""
        waves: dict[int, list[RenderedObject]] = {}
        for item in self.objects:
            waves.setdefault(item.wave, []).append(item)
        return [(wave, tuple(waves[wave])) for wave in sorted(waves)]

    def encode(self) -> bytes:
        """Return the bytes that the render store keeps, before their encryption."""
        tree = {"ref": self.ref, "revision": self.revision, "objects": _rows(self.objects)}
        return msgspec.json.encode(tree | ({"hooks": _rows(self.hooks)} if self.hooks else {}))

    @staticmethod
    def decode(data: bytes) -> Render:
        """Read what `encode` wrote.

        Raises:
            ValueError: the bytes are something else.
        """
        try:
            tree = msgspec.json.decode(data)
            objects, hooks = tuple(_objects(tree["objects"])), tuple(_objects(tree.get("hooks", ())))
            return Render(tree["ref"], tree["revision"], objects, hooks)
        except (KeyError, TypeError, msgspec.DecodeError) as error:
            raise ValueError("these bytes are no render") from error


def _rows(items: Iterable[RenderedObject]) -> list[tuple[int, str, Manifest]]:
    return [(item.wave, item.origin, item.manifest) for item in items]


def _objects(rows: Iterable[tuple[int, str, Manifest]]) -> Iterable[RenderedObject]:
    for wave, origin, manifest in rows:
        yield RenderedObject(key_of(manifest), manifest["apiVersion"], wave, manifest, origin)
