"""The compare: two answers of the API server in, field changes out (`reference/drift`, steps 3 and 4; D29).

Both sides come from the server, so equal means equal JSON trees and nothing cleverer: absent, `{}` and `[]`
differ, and so do `1`, `"1"` and `true`. Whatever would make two different trees equal here would hide drift;
whatever would make two equal trees differ would heal for ever. List keys only decide how precisely a
difference is pointed at, never whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from convoy.api.objects import Manifest
from convoy.drift.owners import Owner, Path, list_keys, owner_of, owner_of_absent
from convoy.kube.encode import encode

CLEARED_METADATA: Final = frozenset(
    {"resourceVersion", "uid", "generation", "creationTimestamp", "managedFields"}
)


class Absent(Enum):
    """The type of `ABSENT`: there is no such field, which is not the same as null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A difference: a JSON pointer (RFC 6901) into the live object, both values, and the live field's owner.

    An element that only the desired side has is pointed at by its index there.
    """

    pointer: str
    live: Any
    desired: Any
    owner: Owner | None = None

    def tree(self) -> dict[str, Any]:
        """Return the change as a JSON tree; a side that is absent has no key."""
        tree: dict[str, Any] = {"pointer": self.pointer}
        if self.live is not ABSENT:
            tree["live"] = self.live
        if self.desired is not ABSENT:
            tree["desired"] = self.desired
        if self.owner is not None:
            tree["owner"] = self.owner.tree()
        return tree

    @staticmethod
    def from_tree(tree: Mapping[str, Any]) -> FieldChange:
        """Read what `tree` has written."""
        owner = tree.get("owner")
        return FieldChange(
            tree["pointer"],
            tree.get("live", ABSENT),
            tree.get("desired", ABSENT),
            None if owner is None else Owner.from_tree(owner),
        )


def cleared(manifest: Manifest) -> Manifest:
    """Return the object without the fields that the page clears on both sides (step 3)."""
    tree = {name: value for name, value in manifest.items() if name != "status"}
    if isinstance(metadata := tree.get("metadata"), dict):
        tree["metadata"] = {name: value for name, value in metadata.items() if name not in CLEARED_METADATA}
    return tree


def field_changes(*, live: Manifest, desired: Manifest) -> tuple[FieldChange, ...]:
    """Compare the live object with the dry run's answer; no change means InSync."""
    sides = cleared(live), cleared(desired)
    if encode(sides[0]) == encode(sides[1]):
        # Equal bytes are equal trees, and tell so twenty times faster than the walk: nearly every object is in sync.
        return ()
    return tuple(_Comparer(live).differences(*sides, ()))


def pointer_of(path: Path) -> str:
    """Write a path as a JSON pointer."""
    return "".join("/" + str(segment).replace("~", "~0").replace("/", "~1") for segment in path)


@dataclass(frozen=True, slots=True)
class _Comparer:
    live: Manifest

    def differences(self, live: Any, desired: Any, path: Path) -> Iterator[FieldChange]:
        if isinstance(live, dict) and isinstance(desired, dict):
            yield from self._maps(live, desired, path)
        elif isinstance(live, list) and isinstance(desired, list):
            yield from self._lists(live, desired, path)
        elif not _same_scalar(live, desired):
            yield self._change(live, desired, path)

    def _maps(self, live: dict[str, Any], desired: dict[str, Any], path: Path) -> Iterator[FieldChange]:
        for name in sorted(live.keys() | desired.keys()):
            yield from self._pair(live.get(name, ABSENT), desired.get(name, ABSENT), (*path, name))

    def _lists(self, live: list[Any], desired: list[Any], path: Path) -> Iterator[FieldChange]:
        keys = () if live == desired else list_keys(self.live, path)
        by_key = _by_key(live, keys), _by_key(desired, keys)
        if by_key[0] is not None and by_key[1] is not None:
            yield from self._keyed(live, desired, by_key[0], by_key[1], path)
        elif len(live) == len(desired):
            yield from self._positions(live, desired, path)
        else:
            yield self._change(live, desired, path)

    def _positions(self, live: list[Any], desired: list[Any], path: Path) -> Iterator[FieldChange]:
        for index, pair in enumerate(zip(live, desired, strict=True)):
            yield from self.differences(*pair, (*path, index))

    def _keyed(
        self,
        live: list[Any],
        desired: list[Any],
        live_at: dict[tuple[Any, ...], int],
        desired_at: dict[tuple[Any, ...], int],
        path: Path,
    ) -> Iterator[FieldChange]:
        if [key for key in live_at if key in desired_at] != [key for key in desired_at if key in live_at]:
            yield self._change(live, desired, path)
            return
        for key, index in live_at.items():
            other = desired[desired_at[key]] if key in desired_at else ABSENT
            yield from self._pair(live[index], other, (*path, index))
        for key, index in desired_at.items():
            if key not in live_at:
                yield self._change(ABSENT, desired[index], (*path, index))

    def _pair(self, live: Any, desired: Any, path: Path) -> Iterator[FieldChange]:
        if live is ABSENT or desired is ABSENT:
            yield self._change(live, desired, path)
        else:
            yield from self.differences(live, desired, path)

    def _change(self, live: Any, desired: Any, path: Path) -> FieldChange:
        owner = owner_of_absent(self.live, path[:-1]) if live is ABSENT else owner_of(self.live, path)
        return FieldChange(pointer_of(path), live, desired, owner)


def _by_key(elements: list[Any], keys: tuple[str, ...]) -> dict[tuple[Any, ...], int] | None:
    """Map each element's key to its index; None where the elements cannot be told apart by `keys`."""
    if not keys or not all(isinstance(element, dict) for element in elements):
        return None
    found = {tuple(element.get(key) for key in keys): index for index, element in enumerate(elements)}
    return found if len(found) == len(elements) else None


def _same_scalar(live: Any, desired: Any) -> bool:
    # Python takes True for 1; JSON does not.
    return isinstance(live, bool) == isinstance(desired, bool) and bool(live == desired)
