"""A git repository with a kustomization, over file:// and http: the revision is told, a new commit is synced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.tenant import Tenant
from tests.kube.sources.http_server import GitServer
from tests.unit.sources.repository import Repository

KUSTOMIZATION = """\
namespace: {namespace}
resources: [../base]
configMapGenerator:
  - name: settings
    literals: [greeting={greeting}]
    options: {{disableNameSuffixHash: true}}
"""
BASE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: base}
data: {from: base}
"""


class Shop:
    """The repository of one test."""

    def __init__(self, folder: Path, namespace: str) -> None:
        self.repository = Repository(folder)
        self._namespace = namespace
        self.repository.commit("base/base.yaml", BASE)
        self.repository.commit("base/kustomization.yaml", "resources: [base.yaml]\n")
        self.commit("hello")

    def commit(self, greeting: str) -> str:
        text = KUSTOMIZATION.format(namespace=self._namespace, greeting=greeting)
        return self.repository.commit("overlay/kustomization.yaml", text)


@pytest.fixture(params=["file", "http"])
def shop(request: pytest.FixtureRequest, tenant: Tenant, tmp_path: Path) -> Iterator[tuple[Shop, str]]:
    made = Shop(tmp_path / "shop", tenant.namespace)
    if request.param == "file":
        yield made, made.repository.url
        return
    with GitServer(tmp_path).running() as server:
        yield made, f"{server.url}/shop/.git"


async def test_a_commit_is_rendered_by_kustomize_and_named_as_the_revision(
    tenant: Tenant, shop: tuple[Shop, str]
) -> None:
    repository, url = shop
    head = repository.commit("hello again")
    await tenant.release(
        "shop",
        source={"git": {"url": url, "ref": {"branch": "main"}}},
        content={"path": "overlay", "kustomize": {}},
    )
    tree = await tenant.applied("shop")
    assert head in tree["status"]["lastSuccessful"]["revision"]
    settings = await tenant.config_map("settings")
    assert settings is not None
    assert settings["data"] == {"greeting": "hello again"}
    assert await tenant.config_map("base") is not None

    newer = repository.commit("bye")
    await tenant.sync("shop")
    tree = await tenant.applied("shop")
    assert newer in tree["status"]["lastSuccessful"]["revision"]
    settings = await tenant.config_map("settings")
    assert settings is not None
    assert settings["data"] == {"greeting": "bye"}


async def test_a_tag_stays_where_it_is_when_the_branch_moves(tenant: Tenant, shop: tuple[Shop, str]) -> None:
    repository, url = shop
    repository.repository.git("tag", "v2.0.0")
    await tenant.release(
        "shop",
        source={"git": {"url": url, "ref": {"semver": ">=2.0.0"}}},
        content={"path": "overlay", "kustomize": {}},
    )
    first = await tenant.applied("shop")
    repository.commit("bye")
    await tenant.sync("shop")
    second = await tenant.applied("shop")
    assert second["status"]["lastSuccessful"]["renderRef"] == first["status"]["lastSuccessful"]["renderRef"]
    assert len(second["status"]["history"]) == 1
