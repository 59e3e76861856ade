"""Source `helm`: an index over HTTP, ranges of versions, digests, and a login that goes to one place only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import HelmSource
from convoy.kube.client import KubeClient
from convoy.sources.fetched import SourceOptions
from convoy.sources.helm_repository import fetch_helm
from tests.kube.sources.conftest import Fetch, Keep
from tests.kube.sources.site import Site, basic
from tests.unit.sources.archives import packed_files


def chart(version: str) -> bytes:
    text = f"apiVersion: v2\nname: shop\nversion: {version}\n"
    return packed_files({"shop/Chart.yaml": text, "shop/templates/a.yaml": "a: 1\n"})


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


CHARTS = {version: chart(version) for version in ("1.0.0", "1.1.0", "2.0.0-rc.1")}


def index(**changes: dict[str, Any]) -> bytes:
    """Return an index; `changes` go to versions with _ for a point."""
    entries = [
        {"version": version, "urls": [f"charts/shop-{version}.tgz"], "digest": sha256(data)}
        | changes.get("v" + version.replace(".", "_"), {})
        for version, data in CHARTS.items()
    ]
    return json.dumps({"apiVersion": "v1", "entries": {"shop": entries}}).encode()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    files = {f"repo/charts/shop-{version}.tgz": data for version, data in CHARTS.items()}
    async with Site(files | {"repo/index.yaml": index()}).running() as running:
        yield running


def source(site: Site, **more: Any) -> dict[str, Any]:
    return {"url": f"{site.url}/repo", "chart": "shop", **more}


async def test_the_latest_stable_version_with_its_digest(fetch_source: Fetch, site: Site) -> None:
    fetched = await fetch_source(helm=source(site))

    assert fetched.revision == f"1.1.0@sha256:{sha256(CHARTS['1.1.0'])}"
    async with fetched.folder() as folder:
        assert "version: 1.1.0" in (folder / "Chart.yaml").read_text()
        assert (folder / "templates" / "a.yaml").is_file()


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.0.0", "1.0.0"), ("<1.1", "1.0.0"), ("^1", "1.1.0"), (">=2.0.0-0", "2.0.0-rc.1")],
)
async def test_versions_and_ranges(fetch_source: Fetch, site: Site, version: str, expected: str) -> None:
    assert (await fetch_source(helm=source(site, version=version))).revision.startswith(f"{expected}@sha256:")


async def test_an_unchanged_repository_costs_one_small_request(fetch_source: Fetch, site: Site) -> None:
    for _ in range(2):
        async with (await fetch_source(helm=source(site))).folder():
            pass

    assert site.requests == [
        ("/repo/index.yaml", 200),
        ("/repo/charts/shop-1.1.0.tgz", 200),
        ("/repo/index.yaml", 304),
    ]


async def test_a_new_version_is_found(fetch_source: Fetch, site: Site) -> None:
    await fetch_source(helm=source(site))
    site.files["repo/index.yaml"] = index(v1_0_0={"version": "1.2.0"})

    assert (await fetch_source(helm=source(site))).revision.startswith("1.2.0@")


async def test_a_chart_with_another_digest_is_refused(fetch_source: Fetch, site: Site) -> None:
    site.files["repo/charts/shop-1.1.0.tgz"] = chart("6.6.6")

    with pytest.raises(SourceNotReady, match=r"shop-1\.1\.0\.tgz has the digest .*, the index says sha256:"):
        async with (await fetch_source(helm=source(site))).folder():
            pass


async def test_an_index_without_digests_is_taken(fetch_source: Fetch, site: Site) -> None:
    site.files["repo/index.yaml"] = index(v1_1_0={"digest": ""})

    fetched = await fetch_source(helm=source(site))

    assert fetched.revision == f"1.1.0@sha256:{sha256(CHARTS['1.1.0'])}"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"chart": "none"}, "has no chart none"),
        ({"version": "^9"}, r"has no version '\^9' of chart shop"),
        ({"url": "{site}/nowhere"}, r"/nowhere/index\.yaml answers 404"),
        ({"url": "{site}/repo/charts/shop-1.0.0.tgz?x="}, "answers 404"),
    ],
)
async def test_what_is_missing_is_named(
    fetch_source: Fetch, site: Site, wanted: dict[str, str], message: str
) -> None:
    wanted = {name: value.format(site=site.url) for name, value in wanted.items()}

    with pytest.raises(SourceNotReady, match=message):
        await fetch_source(helm=source(site) | wanted)


async def test_a_range_that_is_none(fetch_source: Fetch, site: Site) -> None:
    with pytest.raises(Unsupported, match=r"spec\.source\.helm\.version: .*is no range"):
        await fetch_source(helm=source(site, version="newest"))


async def test_basic_auth_out_of_a_secret(fetch_source: Fetch, keep_secret: Keep, site: Site) -> None:
    site.login = ("me", "quince")
    await keep_secret("login", username="me", password="quince")
    await keep_secret("wrong", username="me", password="medlar")

    async with (await fetch_source(helm=source(site, secretRef={"name": "login"}))).folder():
        pass
    with pytest.raises(SourceNotReady, match=r"answers 401 \(are credentials missing\?\)") as caught:
        await fetch_source(helm=source(site, secretRef={"name": "wrong"}))
    assert "medlar" not in caught.value.message


async def test_the_login_does_not_follow_the_index_to_another_host(
    fetch_source: Fetch, keep_secret: Keep, site: Site
) -> None:
    await keep_secret("login", username="me", password="quince")
    async with Site({"shop.tgz": CHARTS["1.1.0"]}).running() as elsewhere:
        site.files["repo/index.yaml"] = index(v1_1_0={"urls": [f"{elsewhere.url}/shop.tgz"]})

        async with (await fetch_source(helm=source(site, secretRef={"name": "login"}))).folder():
            pass

        assert site.logins == [basic("me", "quince")]
        assert elsewhere.logins == [None]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"other": "x"}, "has none of the keys password, token"),
        ({"password": "x"}, "has a password and no username"),
        ({"username": "a\nb", "password": "x"}, "username holds a line break"),
        ({"ca__crt": "no"}, "are no PEM"),
    ],
)
async def test_a_secret_that_does_not_fit_is_named(
    fetch_source: Fetch, keep_secret: Keep, site: Site, keys: dict[str, str], message: str
) -> None:
    await keep_secret("login", **keys)

    with pytest.raises(SourceNotReady, match=message):
        await fetch_source(helm=source(site, secretRef={"name": "login"}))
    with pytest.raises(SourceNotReady, match=r"/gone of spec\.source\.helm\.secretRef is missing"):
        await fetch_source(helm=source(site, secretRef={"name": "gone"}))


async def test_private_addresses_are_refused_of_the_index_and_of_a_chart(
    home: KubeClient, site: Site, tmp_path: Path
) -> None:
    wanted = HelmSource.model_validate(source(site))
    with pytest.raises(SourceNotReady, match=r"is refused: 127\.0\.0\.1 is a loopback address"):
        await fetch_helm(wanted, "team", home=home, cache=tmp_path, options=SourceOptions())
    assert site.requests == []

    site.files["repo/index.yaml"] = index(v1_1_0={"urls": ["http://169.254.169.254/latest/meta-data"]})
    here = SourceOptions(allowed_networks=(ip_network("127.0.0.0/8"),))
    fetched = await fetch_helm(wanted, "team", home=home, cache=tmp_path, options=here)
    with pytest.raises(SourceNotReady, match=r"is refused: 169\.254\.169\.254 is a metadata service"):
        async with fetched.folder():
            pass
