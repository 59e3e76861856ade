"""A worker's renders over a store in a folder."""

from __future__ import annotations

from pathlib import Path

from convoy.api.objects import key_of
from convoy.api.rendered import Render, RenderedObject
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from convoy.store.store import RenderStore

UID = "11111111-2222"
OTHER = "33333333-4444"


def render(name: str = "a", revision: str = "main@sha1:ab") -> Render:
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "b"},
        "data": {"k": "cXVpbmNl"},
    }
    return Render(
        f"sha256:{name}", revision, (RenderedObject(key_of(manifest), "v1", 0, manifest, "a.yaml"),)
    )


def bucket(folder: Path) -> RenderStore:
    return RenderStore.open(f"file://{folder}/store")


def worker(folder: Path, *, store: bool = True, machine: str = "one", key: bytes = b"k" * 32) -> Renders:
    return Renders(bucket(folder) if store else None, Cache(folder / machine), key=InstallationKey(key))


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
