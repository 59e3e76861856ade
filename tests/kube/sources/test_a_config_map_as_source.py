"""Each key of a ConfigMap is a file."""

from __future__ import annotations

import pytest

from convoy.api.errors import SourceNotReady
from convoy.kube.client import KubeClient
from convoy.kube.resources import CONFIG_MAPS
from tests.kube.sources.conftest import Fetch, Keep

SOURCE = {"configMap": {"name": "files"}}


async def test_its_keys_are_the_files(fetch_source: Fetch, keep_config_map: Keep) -> None:
    await keep_config_map("files", data={"a.yaml": "text: é"}, binaryData={"b.yaml": "AP8="})

    fetched = await fetch_source(**SOURCE)

    async with fetched.folder() as folder:
        assert (folder / "a.yaml").read_bytes() == "text: é".encode()
        assert (folder / "b.yaml").read_bytes() == b"\x00\xff"


async def test_its_revision_is_its_resource_version(
    fetch_source: Fetch, keep_config_map: Keep, home: KubeClient, namespace: str
) -> None:
    await keep_config_map("files", data={"a.yaml": "one"})
    before = await fetch_source(**SOURCE)
    live = await home.get(CONFIG_MAPS, namespace, "files")
    await home.patch(CONFIG_MAPS, namespace, "files", {"metadata": {"labels": {"a": "b"}}})
    after = await fetch_source(**SOURCE)

    assert before.revision == f"configmap/files@{live['metadata']['resourceVersion']}"
    assert after.revision != before.revision
    assert after.fingerprint == before.fingerprint


async def test_a_missing_one_is_named(fetch_source: Fetch, namespace: str) -> None:
    with pytest.raises(
        SourceNotReady, match=rf"ConfigMap {namespace}/files of spec\.source\.configMap is missing"
    ):
        await fetch_source(**SOURCE)


async def test_an_empty_one_has_no_files(fetch_source: Fetch, keep_config_map: Keep) -> None:
    await keep_config_map("files")

    assert (await fetch_source(**SOURCE)).files == {}
