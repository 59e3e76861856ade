"""Short ways to read a text as convoy does."""

from __future__ import annotations

from typing import Any

from convoy.render.drafts import read_objects
from convoy.render.normalise import normalise
from convoy.render.objects import File, RenderedObject
from convoy.render.yaml_reader import read_documents

KNOWN = {("", "ConfigMap"): True, ("", "Secret"): True, ("", "Namespace"): False, ("batch", "Job"): True}


def tree(text: str, name: str = "a.yaml") -> Any:
    """Return the only document of a text."""
    (document,) = read_documents(text.encode(), name=name)
    return document.tree


def objects(allow_empty: bool = False, **files: str) -> tuple[RenderedObject, ...]:
    """Normalise files, given as `name="text"`; `__` in a name is a slash, `_json` at its end makes it JSON."""
    named = [
        File(
            name.replace("__", "/").replace("_json", ".json") + ("" if "_json" in name else ".yaml"),
            text.encode(),
        )
        for name, text in files.items()
    ]
    return normalise(read_objects(named), KNOWN, allow_empty=allow_empty)


def only(text: str) -> dict[str, Any]:
    """Return the manifest of the only object of a text."""
    (found,) = objects(a=text)
    return found.manifest
