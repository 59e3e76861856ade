"""Values of a chart: those of ConfigMaps and Secrets in their order, then `spec.content.helm.values` on top."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from convoy.api.content import HelmContent, ValuesRef
from convoy.api.errors import Unsupported, ValuesNotReady
from convoy.kube.client import KubeClient
from convoy.kube.encode import canonical
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import CONFIG_MAPS, SECRETS
from convoy.render.documents import Budget
from convoy.render.yaml_reader import read_documents

_SHORTEST: Final = 4
"""Shorter Secret values are no secrets, and taking them out would make a message unreadable."""


@dataclass(frozen=True, slots=True)
class Values:
    """What the chart gets."""

    files: tuple[bytes, ...] = field(repr=False)
    """Each a YAML or JSON mapping; a later one overrides."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts of Secrets that no message may hold."""

    def scrub(self, text: str) -> str:
        """Return a message without the values of Secrets."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


async def read_values(content: HelmContent, namespace: str, *, home: KubeClient) -> Values:
    """Read `valuesFrom` and append `values`.

    Raises:
        ValuesNotReady: a ConfigMap, Secret or key is missing and not optional, or holds no mapping; the message
        names it and no value.
    """
    files: list[bytes] = []
    secrets: set[str] = set()
    budget = Budget()
    for index, ref in enumerate(content.values_from):
        subject = f"spec.content.helm.valuesFrom[{index}]: {_name(ref, namespace)}"
        data = await _read(ref, namespace, home, subject)
        if data is None:
            continue
        tree = await asyncio.to_thread(_mapping, data, subject, budget)
        files.append(data)
        if ref.secret_ref is not None:
            secrets.update(_texts(tree))
    if content.values:
        files.append(canonical(content.values))
    return Values(tuple(files), tuple(secrets))


def _name(ref: ValuesRef, namespace: str) -> str:
    kind, local = ("ConfigMap", ref.config_map_ref) if ref.config_map_ref else ("Secret", ref.secret_ref)
    return f"{kind} {namespace}/{local.name if local else ''}"


async def _read(ref: ValuesRef, namespace: str, home: KubeClient, subject: str) -> bytes | None:
    resource, local = (CONFIG_MAPS, ref.config_map_ref) if ref.config_map_ref else (SECRETS, ref.secret_ref)
    try:
        tree = await home.get(resource, namespace, local.name if local else "")
    except NotFound:
        if ref.optional:
            return None
        raise ValuesNotReady(f"{subject} is missing") from None
    except ApiError as error:
        raise ValuesNotReady(f"{subject} cannot be read: {error.message}") from None
    found: str | None = (tree.get("data") or {}).get(ref.key)
    encoded = found if ref.secret_ref is not None else (tree.get("binaryData") or {}).get(ref.key)
    if encoded is not None:
        try:
            return base64.b64decode(encoded)
        except (binascii.Error, ValueError):
            raise ValuesNotReady(f"{subject}: key {ref.key} is no base64") from None
    if found is not None:
        return found.encode()
    if ref.optional:
        return None
    raise ValuesNotReady(f"{subject} has no key {ref.key}")


def _mapping(data: bytes, subject: str, budget: Budget) -> dict[str, Any]:
    """Check the YAML before helm reads it: bombs, other types, and a message that quotes no value."""
    try:
        documents = read_documents(data, name="values.yaml", budget=budget)
    except Unsupported as error:
        raise ValuesNotReady(f"{subject}: {error.message}") from None
    trees = [document.tree for document in documents if document.tree is not None]
    if len(trees) > 1 or not all(isinstance(tree, dict) for tree in trees):
        raise ValuesNotReady(f"{subject}: values are one mapping")
    return trees[0] if trees else {}


def _texts(tree: Any) -> Iterator[str]:
    """Yield each value, its lines and its base64, as a message might quote them."""
    if isinstance(tree, dict):
        for value in tree.values():
            yield from _texts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts(value)
    elif not isinstance(tree, bool) and tree is not None:
        text = str(tree)
        forms = {text, *text.splitlines(), base64.b64encode(text.encode()).decode()}
        yield from (form for form in forms if len(form) >= _SHORTEST)
