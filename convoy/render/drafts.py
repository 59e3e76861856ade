"""From files to objects with an identity; the first half of the normaliser (D1, D3). Pure.

It decides what counts as an object and which of its fields are never sent. Namespaces need the target
cluster's word and are settled by `convoy.render.normalise`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from convoy.api.errors import Unsupported
from convoy.api.objects import Manifest, split_api_version
from convoy.render.documents import MAX_DEPTH, Budget
from convoy.render.objects import File
from convoy.render.yaml_reader import read_documents

_MAX_LISTS: Final = 10


@dataclass(frozen=True, slots=True)
class Draft:
    """An object that was read and has an identity, before its namespace is settled."""

    manifest: Manifest = field(repr=False)
    origin: str

    @property
    def group_kind(self) -> tuple[str, str]:
        """Group and kind."""
        return split_api_version(self.manifest["apiVersion"])[0], self.manifest["kind"]


def read_objects(files: Iterable[File]) -> tuple[Draft, ...]:
    """Return the objects of all files in render order: files by path (bytes), documents, list items (D1).

    Raises:
        Unsupported: naming the file, the document and the line.
    """
    budget = Budget()
    return tuple(
        draft
        for file in sorted(files, key=lambda file: file.path.encode())
        for document in read_documents(file.data, name=file.path, budget=budget)
        for draft in _drafts(document.tree, f"{file.path}, document {document.number}, line {document.line}")
    )


def read_object(tree: object, subject: str, *, origin: str) -> Draft:
    """Read one object that something else than a file gave, a mutation for one.

    Args:
        tree: the object. subject: how messages begin. origin: where it was read first.

    Raises:
        Unsupported: it is no object, or has no identity.
    """
    if not isinstance(tree, dict):
        raise Unsupported(f"{subject}: an object is expected, but this is a {_word(tree)}")
    manifest = _clean(tree, subject, 0)
    _check_identity(manifest, subject)
    _never_sent(manifest)
    return Draft(manifest, origin)


def _drafts(tree: Any, origin: str, lists: int = 0) -> Iterator[Draft]:
    """Flatten lists, drop empty documents, refuse what has no identity (D1)."""
    if tree is None:
        return
    if not isinstance(tree, dict):
        raise Unsupported(f"{origin}: an object is expected, but this is a {_word(tree)}")
    items = _list_items(tree, origin)
    if items is None:
        yield read_object(tree, origin, origin=origin)
        return
    if lists >= _MAX_LISTS:
        raise Unsupported(f"{origin}: lists in lists, more than {_MAX_LISTS} deep")
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise Unsupported(f"{origin}, item {number}: an object is expected, but this is a {_word(item)}")
        if tree["kind"] != "List":
            # Go's typed lists leave out what their kind already says.
            kind = tree["kind"].removesuffix("List")
            item = {"apiVersion": tree["apiVersion"], "kind": kind, **item}
        yield from _drafts(item, f"{origin}, item {number}", lists + 1)


def _list_items(tree: Manifest, origin: str) -> list[Any] | None:
    """Return the items if this is a list; a custom resource may have a field `items` without being one."""
    kind, version = tree.get("kind"), tree.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str) or not kind.endswith("List"):
        return None
    if (version, kind) != ("v1", "List"):
        metadata = tree.get("metadata")
        if isinstance(metadata, dict) and (metadata.get("name") or metadata.get("generateName")):
            return None
        if "items" not in tree:
            return None
    items = tree.get("items") or []
    if not isinstance(items, list):
        raise Unsupported(f"{origin}: items of {kind} must be a list, but is a {_word(items)}")
    return items


def _clean(tree: Any, origin: str, depth: int) -> Any:
    """Return the tree without nulls, which mean "not set" (D3); in a list they stay, each place counts."""
    if depth > MAX_DEPTH:
        raise Unsupported(f"{origin}: nested more than {MAX_DEPTH} levels deep")
    if isinstance(tree, dict):
        return {
            _text(key, origin): _clean(value, origin, depth + 1)
            for key, value in tree.items()
            if value is not None
        }
    if isinstance(tree, list):
        return [_clean(item, origin, depth + 1) for item in tree]
    return _text(tree, origin) if isinstance(tree, str) else tree


def _text(text: str, origin: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Unsupported(
                f"{origin}: half a surrogate pair (\\uD800 to \\uDFFF) is no character"
            ) from None
    return text


def _check_identity(tree: Manifest, origin: str) -> None:
    for name in ("apiVersion", "kind"):
        _check_name(tree, name, f"{origin}: an object", name)
    kind = f"{origin}: {tree['kind']}"
    if tree["apiVersion"].count("/") > 1:
        raise Unsupported(f"{kind} has an apiVersion with more than one /")
    metadata = tree.get("metadata", {})
    if not isinstance(metadata, dict):
        raise Unsupported(f"{kind}: metadata must be an object, but is a {_word(metadata)}")
    if not metadata.get("name") and metadata.get("generateName"):
        raise Unsupported(f"{kind} has a generateName and no name; server-side apply needs metadata.name")
    _check_name(metadata, "name", kind, "metadata.name")
    if metadata.get("namespace", "") != "":
        _check_name(metadata, "namespace", kind, "metadata.namespace")
    for field_name in ("name", "namespace"):
        value = metadata.get(field_name, "")
        if value in {".", ".."} or "/" in value or "%" in value:
            raise Unsupported(f"{kind}: metadata.{field_name} may not hold / or %, nor be . or ..")


def _check_name(tree: Manifest, name: str, subject: str, path: str) -> None:
    value = tree.get(name)
    if value is None or value == "":
        raise Unsupported(f"{subject} has no {path}")
    if not isinstance(value, str):
        raise Unsupported(f"{subject}: {path} must be a text, but is a {_word(value)}: put it in quotes")


def _never_sent(tree: Manifest) -> None:
    """Take out what others write, and turn stringData into data, so that each key is owned (D3)."""
    tree.pop("status", None)
    group, _ = split_api_version(tree["apiVersion"])
    if (group, tree["kind"]) == ("rbac.authorization.k8s.io", "ClusterRole") and "aggregationRule" in tree:
        tree.pop("rules", None)
    if (group, tree["kind"]) == ("", "Secret"):
        _string_data(tree)


def _string_data(secret: Manifest) -> None:
    """Move stringData into data. A value that is no text goes over as it is: the dry run refuses it."""
    texts = secret.get("stringData")
    data = secret.get("data", {})
    if not isinstance(texts, dict) or not isinstance(data, dict):
        return
    del secret["stringData"]
    if texts:
        encoded = {
            name: base64.b64encode(value.encode()).decode() if isinstance(value, str) else value
            for name, value in texts.items()
        }
        secret["data"] = {**data, **encoded}


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else "mapping"
