"""What examples/ shows is what convoy reads and renders: both shops, in two waves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from convoy.api.cluster import Cluster
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import Endpoint, KubeClient
from convoy.render.objects import Render
from convoy.render.resolve import Renderer, RenderOptions
from convoy.render.yaml_reader import read_documents
from convoy.sources.fetched import SourceOptions
from convoy.store.cache import Cache
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from tests.unit.render.rig import Known, needs_program
from tests.unit.sources.repository import Repository

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMESPACED = [("", "ConfigMap"), ("", "Secret"), ("", "Service"), ("apps", "Deployment"), ("batch", "Job")]
WAVES = {
    0: ["Namespace shop", "ConfigMap shop/settings", "Secret shop/database", "Job.batch shop/migrate-1"],
    1: ["Deployment.apps shop/web", "Service shop/web"],
}


def read(*names: str) -> Manifest:
    path = EXAMPLES.joinpath(*names)
    (document,) = [
        each.tree for each in read_documents(path.read_bytes(), name=path.name) if each.tree is not None
    ]
    return {**document, "metadata": {**document["metadata"], "uid": "1"}}


async def render(release: Release, folder: Path) -> Render:
    key = InstallationKey(b"k" * 32)
    renders = Renders(None, Cache(folder / "renders"), key=key)
    options = RenderOptions(cache=folder / "sources", source=SourceOptions(allow_private_addresses=True))
    scope = Known({**dict.fromkeys(NAMESPACED, True), ("", "Namespace"): False})
    async with KubeClient(Endpoint(server="http://127.0.0.1:9")) as home:
        return await Renderer(renders=renders, key=key, options=options).render(
            release, home=home, scope=scope
        )


async def test_the_inline_shop(tmp_path: Path) -> None:
    release = Release.read(read("shop-inline", "3-release.yaml"))

    rendered = await render(release, tmp_path)

    assert {wave: [str(each) for each in objects] for wave, objects in rendered.waves()} == WAVES


async def test_the_shop_in_git(tmp_path: Path) -> None:
    needs_program("kustomize")
    repository = Repository(tmp_path / "repository")
    shutil.copytree(EXAMPLES / "shop-git" / "repository", repository.folder, dirs_exist_ok=True)
    commit = repository.commit("README", "The shop")
    tree = read("shop-git", "3-release.yaml")
    tree["spec"]["source"]["git"]["url"] = repository.url

    rendered = await render(Release.read(tree), tmp_path)

    assert rendered.revision == f"main@sha1:{commit}"
    assert {wave: [str(each) for each in objects] for wave, objects in rendered.waves()} == WAVES


@pytest.mark.parametrize("shop", ["shop-inline", "shop-git"])
def test_they_fit_together(shop: str) -> None:
    release = Release.read(read(shop, "3-release.yaml"))
    cluster = Cluster.read(read(shop, "2-cluster.yaml"))
    namespace = read(shop, "1-namespace.yaml")["metadata"]["name"]

    assert release.spec.cluster_ref.name == cluster.metadata.name
    assert release.metadata.namespace == cluster.metadata.namespace == namespace
