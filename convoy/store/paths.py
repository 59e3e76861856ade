"""Names in the render store: everything of a Release lies under its UID, so nobody finds another one's (D40)."""

from __future__ import annotations

from typing import Final

INPUTS: Final = "blob-input-"
"""How the files begin that tell what inputs became (D5), each a JSON tree with the `ref` of a render."""


def work_path(uid: str, ref: str) -> str:
    """Return where a render lies for the steps of a sync."""
    return f"{work_folder(uid)}/{_name(ref)}"


def published_path(uid: str, ref: str) -> str:
    """Return where a render lies that history, a pin and a rollback find."""
    return f"{published_folder(uid)}/{_name(ref)}"


def blob_path(uid: str, name: str) -> str:
    """Return where a small file of a Release lies."""
    return f"{work_folder(uid)}/blob-{name.replace('/', '-')}"


def work_folder(uid: str) -> str:
    """Return the folder of what is made again where it is lost."""
    return f"work/{uid}"


def published_folder(uid: str) -> str:
    """Return the folder of what is kept for pin and rollback."""
    return f"renders/{uid}"


def _name(ref: str) -> str:
    return ref.replace(":", "-").replace("/", "-")


def ref_of(path: str) -> str:
    """Return the ref of the render that lies here."""
    return path.rpartition("/")[2].replace("-", ":", 1)
