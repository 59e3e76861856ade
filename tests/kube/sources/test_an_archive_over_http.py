"""Source `http`: one .tar.gz; its digest, what an unchanged one costs, and where it may not lead."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import HttpSource
from convoy.sources import http as http_module
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.http import fetch_http
from tests.kube.sources.conftest import Fetch
from tests.kube.sources.site import Site
from tests.unit.sources.archives import link, packed, packed_files

ARCHIVE = packed_files({"app/a.yaml": "a: 1\n"})
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site({"shop.tar.gz": ARCHIVE}).running() as running:
        yield running


async def text_of(fetched: Fetched, name: str = "app/a.yaml") -> str:
    async with fetched.folder() as folder:
        return (folder / name).read_text()


async def test_the_revision_has_its_name_and_digest(fetch_source: Fetch, site: Site) -> None:
    fetched = await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})

    assert fetched.revision == f"shop.tar.gz@sha256:{SHA256}"
    assert await text_of(fetched) == "a: 1\n"


async def test_an_unchanged_one_costs_one_small_request(fetch_source: Fetch, site: Site) -> None:
    first = await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})
    second = await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})

    assert (first.revision, first.fingerprint) == (second.revision, second.fingerprint)
    assert await text_of(second) == "a: 1\n"
    assert [status for _, status in site.requests] == [200, 304]


async def test_a_changed_one_is_another_revision(fetch_source: Fetch, site: Site) -> None:
    first = await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})
    site.files["shop.tar.gz"] = packed_files({"app/a.yaml": "a: 2\n"})
    second = await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})

    assert first.revision != second.revision
    assert (await text_of(first), await text_of(second)) == ("a: 1\n", "a: 2\n")


async def test_with_a_digest_no_request_is_made_for_what_is_here(fetch_source: Fetch, site: Site) -> None:
    source = {"url": f"{site.url}/shop.tar.gz", "sha256": SHA256}
    await text_of(await fetch_source(http=source))

    assert await text_of(await fetch_source(http=source)) == "a: 1\n"
    assert len(site.requests) == 1


async def test_another_digest_is_refused(fetch_source: Fetch, site: Site) -> None:
    fetched = await fetch_source(http={"url": f"{site.url}/shop.tar.gz", "sha256": "0" * 64})

    with pytest.raises(SourceNotReady, match=f"has the digest sha256:{SHA256} and not sha256:000"):
        await text_of(fetched)


async def test_what_is_missing_names_the_url(fetch_source: Fetch, site: Site) -> None:
    with pytest.raises(SourceNotReady, match=rf"{site.url}/none\.tar\.gz answers 404"):
        await fetch_source(http={"url": f"{site.url}/none.tar.gz?token=quince"})


async def test_a_server_that_is_not_there(fetch_source: Fetch) -> None:
    with pytest.raises(SourceNotReady, match=r"http://127\.0\.0\.1:9/a\.tar\.gz: cannot connect"):
        await fetch_source(http={"url": "http://127.0.0.1:9/a.tar.gz"})


async def test_redirects_are_followed_a_few_times(fetch_source: Fetch, site: Site) -> None:
    site.redirects["a"] = "/shop.tar.gz"
    site.redirects["round"] = "/round"

    assert await text_of(await fetch_source(http={"url": f"{site.url}/a"})) == "a: 1\n"
    with pytest.raises(SourceNotReady, match="more than 5 redirects"):
        await fetch_source(http={"url": f"{site.url}/round"})


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 a zip", packed(link("a", "/etc/passwd"))], ids=["a zip", "a link out of it"]
)
async def test_a_bad_archive_is_named(fetch_source: Fetch, site: Site, data: bytes) -> None:
    site.files["bad.tar.gz"] = data

    with pytest.raises(Unsupported, match=rf"{site.url}/bad\.tar\.gz: "):
        await fetch_source(http={"url": f"{site.url}/bad.tar.gz"})


async def test_one_that_is_too_long_is_cut_off(
    fetch_source: Fetch, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_module, "MAX_ARCHIVE", 100)

    with pytest.raises(SourceNotReady, match="the file has more than 100 bytes"):
        await fetch_source(http={"url": f"{site.url}/shop.tar.gz"})


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:{port}/shop.tar.gz", "127.0.0.1 is a loopback address"),
        ("http://localhost:{port}/shop.tar.gz", "is a loopback address"),
        ("http://2130706433:{port}/shop.tar.gz", "is a loopback address"),
        ("http://[::1]:{port}/shop.tar.gz", "is a loopback address"),
        ("http://[::ffff:127.0.0.1]:{port}/shop.tar.gz", "is a loopback address"),
        ("http://169.254.169.254/latest/meta-data", "is a metadata service"),
        ("http://169.254.1.1/x", "is a link-local address"),
    ],
)
async def test_private_addresses_are_refused_and_not_asked(
    site: Site, tmp_path: Path, url: str, why: str
) -> None:
    source = HttpSource(url=url.format(port=site.url.rpartition(":")[2]))

    with pytest.raises(SourceNotReady) as caught:
        await fetch_http(source, "team", cache=tmp_path, options=SourceOptions())

    assert why in caught.value.message
    assert "allowed by --allow-addresses" in caught.value.message
    assert site.requests == []


async def test_a_network_can_be_allowed(site: Site, tmp_path: Path) -> None:
    options = SourceOptions(allowed_networks=(ip_network("127.0.0.1/32"),))
    for host in ("127.0.0.1", "localhost"):
        source = HttpSource(url=f"http://{host}:{site.url.rpartition(':')[2]}/shop.tar.gz")
        assert await text_of(await fetch_http(source, "team", cache=tmp_path, options=options)) == "a: 1\n"


async def test_a_redirect_to_a_private_address_is_refused(site: Site, tmp_path: Path) -> None:
    options = SourceOptions(allowed_networks=(ip_network("127.0.0.1/32"),))
    for target in ("http://169.254.169.254/x", "http://127.0.0.2/x", "http://[::1]/x", "file:///etc/passwd"):
        site.redirects["a"] = target
        with pytest.raises(SourceNotReady, match=r"is refused: |is no http or https URL"):
            await fetch_http(HttpSource(url=f"{site.url}/a"), "team", cache=tmp_path, options=options)


@pytest.mark.parametrize("url", ["http://user:quince@127.0.0.1/a", "http:///a", "http://127.0.0.1/a b"])
async def test_urls_that_are_not_taken(fetch_source: Fetch, url: str) -> None:
    with pytest.raises(Unsupported, match=r"spec\.source\.http\.url") as caught:
        await fetch_source(http={"url": url})

    assert "quince" not in caught.value.message
