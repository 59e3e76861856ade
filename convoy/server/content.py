"""Bodies in and out: JSON, or YAML for whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec
import yaml
from multidict import CIMultiDictProxy

from convoy.api.errors import Unsupported
from convoy.api.objects import Manifest
from convoy.render.documents import Budget
from convoy.render.yaml_reader import read_documents
from convoy.server.names import API_VERSION
from convoy.server.refusals import BadRequest, Invalid

JSON: Final = "application/json"
YAML: Final = "application/yaml"
_YAMLS: Final = (YAML, "application/x-yaml", "text/yaml")
_MAX_BODY: Final = 4 * 1024 * 1024
"""Text of a body, aliases of YAML written out; more than a Release can hold."""


def accepted(headers: CIMultiDictProxy[str]) -> str:
    """Return the media type of the answer: the first one of `Accept` that is known, else JSON."""
    for wanted in ",".join(headers.getall("Accept", ())).split(","):
        media = wanted.partition(";")[0].strip().lower()
        if media in _YAMLS:
            return YAML
        if media in (JSON, "application/*", "*/*"):
            return JSON
    return JSON


def encode(tree: Any, media: str) -> bytes:
    """Write an answer."""
    if media == YAML:
        plain = msgspec.to_builtins(tree)
        return yaml.dump(plain, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True).encode()
    return msgspec.json.encode(tree)


def decode(body: bytes, headers: CIMultiDictProxy[str]) -> Manifest:
    """Read the body of a write; an empty one is an empty object.

    Raises:
        BadRequest: it is neither JSON nor YAML, or no object. No message quotes it.
    """
    if not body.strip():
        return {}
    media = headers.get("Content-Type", JSON).partition(";")[0].strip().lower()
    name = "body.yaml" if media in _YAMLS else "body.json"
    try:
        documents = read_documents(body, name=name, budget=Budget(_MAX_BODY))
    except Unsupported as error:
        raise BadRequest(error.message) from None
    trees = [each.tree for each in documents if each.tree is not None]
    if len(trees) != 1 or not isinstance(trees[0], dict):
        raise BadRequest("the body is not one object")
    return trees[0]


def expect(tree: Manifest, *, kind: str, fields: tuple[str, ...]) -> Manifest:
    """Check what a PUT sends, and return what the Release's metadata must have for it: nothing, or one field.

    The generation is enough where it is told: each write of a status makes another resourceVersion, and what a person
    may write none of convoy's does.

    A misspelt field would otherwise erase what it was meant to replace.

    Raises:
        BadRequest: it is of another kind.
        Invalid: it has fields of which this subresource knows nothing, or lacks all of its own.
    """
    for name, value in (("apiVersion", API_VERSION), ("kind", kind)):
        if tree.get(name, value) != value:
            raise BadRequest(f"{name}: expected {value}")
    unknown = sorted(tree.keys() - {"apiVersion", "kind", "metadata", "requestedAt", *fields})
    if unknown:
        raise Invalid(f"unknown field {', '.join(unknown)}; {kind} has {', '.join(fields)}")
    if not tree.keys() & set(fields):
        raise Invalid(f"the body has none of {', '.join(fields)}")
    metadata = tree.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    told = (name for name in ("generation", "resourceVersion") if metadata.get(name))
    return {name: metadata[name] for name in islice(told, 1)}
