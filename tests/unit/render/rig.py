"""A renderer with everything real but the two clusters, which inline sources do not need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from convoy.api.release import Release
from convoy.kube.client import Endpoint, KubeClient
from convoy.render.objects import Capabilities, Render
from convoy.render.resolve import Renderer, RenderOptions
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"


class Known:
    """A target that knows some kinds and counts how often it was asked."""

    def __init__(self, kinds: Mapping[tuple[str, str], bool]) -> None:
        self.kinds = dict(kinds)
        self.asked = 0
        self.served = Capabilities("v1.34.4", ("apps/v1", "apps/v1/Deployment", "v1", "v1/ConfigMap"))

    async def namespaced(self, group: str, kind: str) -> bool | None:
        self.asked += 1
        return self.kinds.get((group, kind))

    async def capabilities(self) -> Capabilities:
        return self.served


class Rig:
    """One worker's renderer in a folder."""

    def __init__(self, folder: Path) -> None:
        key = InstallationKey(b"k" * 32)
        self.folder = folder
        self.renders = Renders(None, Cache(folder / "renders"), key=key)
        source = SourceOptions(allow_private_addresses=True)
        options = RenderOptions(cache=folder / "sources", source=source)
        self.renderer = Renderer(renders=self.renders, key=key, options=options)
        self.scope = Known(
            {
                ("", "ConfigMap"): True,
                ("", "Secret"): True,
                ("", "Namespace"): False,
                ("apps", "Deployment"): True,
            }
        )

    async def render(
        self,
        source: Mapping[str, Any],
        content: Mapping[str, Any],
        mutations: Sequence[Mapping[str, Any]] = (),
    ) -> Render:
        # No request is made: the address takes none.
        async with KubeClient(Endpoint(server="http://127.0.0.1:9")) as home:
            wanted = release(source, content, mutations)
            return await self.renderer.render(wanted, home=home, scope=self.scope)

    async def mutated(self, text: str, *mutations: Mapping[str, Any]) -> Render:
        return await self.render({"inline": {"files": {"all.yaml": text}}}, {"manifests": {}}, mutations)

    async def inline(self, files: Mapping[str, str], **content: Any) -> Render:
        return await self.render({"inline": {"files": files}}, content or {"manifests": {}})


def release(
    source: Mapping[str, Any], content: Mapping[str, Any], mutations: Sequence[Mapping[str, Any]] = ()
) -> Release:
    return Release.read(
        {
            "metadata": {"name": "shop", "namespace": "team", "uid": "11111111-2222"},
            "spec": {"clusterRef": {"name": "here"}, "source": source, "content": content},
            "mutations": mutations,
        }
    )


def needs_program(name: str) -> None:
    path = os.pathsep.join(filter(None, (os.environ.get("CONVOY_TOOLS"), os.environ.get("PATH"))))
    if shutil.which(name, path=path) is None:
        pytest.skip(f"no {name} in CONVOY_TOOLS or PATH")
