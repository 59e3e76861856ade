"""Changes container images, wherever in a tree a container names one. Pure."""

from __future__ import annotations

from typing import Any, Final

from convoy.api.mutations import ImageMutation

_LISTS: Final = frozenset({"containers", "initContainers", "ephemeralContainers"})


def change_images(tree: Any, change: ImageMutation) -> tuple[Any, bool]:
    """Return the tree with the image changed, and whether any container named it.

    The tree itself stays as it is. An image counts by its name as it is written: `nginx` is not
    `docker.io/library/nginx`. A new tag without a digest drops an old digest, and the other way round.
    """
    if isinstance(tree, list):
        changed = [change_images(item, change) for item in tree]
        return [item for item, _ in changed], any(hit for _, hit in changed)
    if not isinstance(tree, dict):
        return tree, False
    result, found = {}, False
    for key, value in tree.items():
        if key in _LISTS and isinstance(value, list):
            value, hit = _containers(value, change)
        else:
            value, hit = change_images(value, change)
        result[key] = value
        found = found or hit
    return result, found


def _containers(containers: list[Any], change: ImageMutation) -> tuple[list[Any], bool]:
    result, found = [], False
    for container in containers:
        image = container.get("image") if isinstance(container, dict) else None
        name, tag, digest = _split(image) if isinstance(image, str) else ("", "", "")
        if name == change.name:
            container = {**container, "image": _changed(name, tag, digest, change)}
            found = True
        result.append(container)
    return result, found


def _split(image: str) -> tuple[str, str, str]:
    """Split `host:5000/name:tag@sha256:…`; only a colon behind the last slash begins a tag."""
    name, _, digest = image.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return folder + slash + last, tag, digest


def _changed(name: str, tag: str, digest: str, change: ImageMutation) -> str:
    if change.new_tag or change.digest:
        tag, digest = change.new_tag or "", change.digest or ""
    return (change.new_name or name) + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
