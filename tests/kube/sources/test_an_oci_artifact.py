"""Source `oci`, against a real registry: tags, ranges and digests; what Flux, Helm and ORAS push; logins; digests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import OciSource
from convoy.kube.client import KubeClient
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.oci import fetch_oci
from tests.kube.sources.conftest import Fetch, Keep
from tests.kube.sources.registry import LOGIN, Layer, PushRegistry, TokenDoor, running_registry
from tests.unit.sources.archives import link, packed, packed_files

FLUX = "application/vnd.cncf.flux.content.v1.tar+gzip"
HELM = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
INDEX = "application/vnd.oci.image.index.v1+json"
AMD64 = {"os": "linux", "architecture": "amd64"}
TAR = "application/vnd.oci.image.layer.v1.tar"
TITLE = "org.opencontainers.image.title"
UNPACK = "io.deis.oras.content.unpack"


@pytest.fixture(scope="module")
async def registry(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PushRegistry]:
    async with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="module")
async def locked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PushRegistry]:
    async with running_registry(tmp_path_factory.mktemp("locked"), with_login=True) as running:
        yield running


def flux(text: str = "a: 1\n") -> list[Layer]:
    return [Layer(packed_files({"./a.yaml": text}), FLUX)]


def source(registry: PushRegistry | TokenDoor, repository: str, **more: Any) -> dict[str, Any]:
    return {"url": f"oci://{registry.host}/{repository}", "insecure": True, **more}


async def files_of(fetched: Fetched) -> dict[str, str]:
    async with fetched.folder() as folder:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


async def test_tags_ranges_and_digests(fetch_source: Fetch, registry: PushRegistry) -> None:
    digests = {
        tag: await registry.push("team/shop", tag, flux(f"v: {tag}\n"))
        for tag in ("6.5.3", "6.5.4", "7.0.0-rc.1", "latest", "1.0.0_build.1")
    }
    expected = {
        "6.5.3": {"tag": "6.5.3"},
        "6.5.4": {"semver": "^6"},
        "7.0.0-rc.1": {"semver": ">=7.0.0-0"},
        "latest": {},
        "1.0.0_build.1": {"semver": "1.0.0"},
    }

    for tag, wanted in expected.items():
        fetched = await fetch_source(oci=source(registry, "team/shop", **wanted))
        assert fetched.revision == f"{tag}@{digests[tag]}"
        assert await files_of(fetched) == {"a.yaml": f"v: {tag}\n"}
    by_digest = await fetch_source(oci=source(registry, "team/shop", digest=digests["6.5.3"]))
    assert by_digest.revision == digests["6.5.3"]
    assert await files_of(by_digest) == {"a.yaml": "v: 6.5.3\n"}


async def test_a_chart_is_its_own_folder(fetch_source: Fetch, registry: PushRegistry) -> None:
    layers = [
        Layer(packed_files({"shop/Chart.yaml": "c", "shop/templates/a.yaml": "a"}), HELM),
        Layer(b"signed", "application/vnd.cncf.helm.chart.provenance.v1.prov"),
    ]
    await registry.push("charts/shop", "1.2.3", layers)

    fetched = await fetch_source(oci=source(registry, "charts/shop", semver="*"))

    assert await files_of(fetched) == {"Chart.yaml": "c", "templates/a.yaml": "a"}


async def test_what_oras_pushes(fetch_source: Fetch, registry: PushRegistry) -> None:
    layers = [
        Layer(b"a: 1\n", TAR, {TITLE: "a.yaml"}),
        Layer(b"b: 1\n", "application/yaml", {TITLE: "more/b.yaml"}),
        Layer(packed_files({"app/c.yaml": "c: 1\n"}), f"{TAR}+gzip", {TITLE: "app", UNPACK: "true"}),
        Layer(b"untitled", "application/octet-stream"),
    ]
    await registry.push("oras/shop", "latest", layers)

    fetched = await fetch_source(oci=source(registry, "oras/shop"))

    assert await files_of(fetched) == {"a.yaml": "a: 1\n", "more/b.yaml": "b: 1\n", "app/c.yaml": "c: 1\n"}


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([Layer(b"x", "text/plain")], r"none of its layers holds files \(text/plain\)"),
        ([Layer(b"x", "text/plain", {TITLE: "../x"})], r"layer \.\./x: its title leads out of the artifact"),
        ([Layer(b"x", "text/plain", {TITLE: "/x"})], r"layer /x: its title leads out of the artifact"),
        ([Layer(packed(link("a", "/etc/passwd")), FLUX)], "a: the symlink leads out of the archive"),
        (
            [
                Layer(packed(link("a", ".")), FLUX),
                Layer(b"1", "t/x", {TITLE: "b"}),
                Layer(b"2", "t/x", {TITLE: "a/b"}),
            ],
            "another layer has this name too",
        ),
    ],
)
async def test_layers_that_are_not_taken(
    fetch_source: Fetch, registry: PushRegistry, layers: list[Layer], message: str
) -> None:
    await registry.push("bad/layers", "latest", layers)

    with pytest.raises(Unsupported, match=message):
        await files_of(await fetch_source(oci=source(registry, "bad/layers")))


async def test_a_changed_blob_is_refused(fetch_source: Fetch, registry: PushRegistry) -> None:
    layer = Layer(packed_files({"a.yaml": "a: changed\n"}), FLUX)
    await registry.push("bad/blob", "latest", [layer])
    descriptor = layer.descriptor()
    changed = bytearray(layer.data)
    changed[20] ^= 1
    registry.blob(descriptor["digest"]).write_bytes(changed)

    with pytest.raises(SourceNotReady, match=f"and not {descriptor['digest']}"):
        await files_of(await fetch_source(oci=source(registry, "bad/blob")))


def entry_of(digest: str, **more: Any) -> dict[str, Any]:
    """Return what stands in an index about a manifest."""
    return {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 1, **more}


async def test_of_an_index_the_only_artifact_is_taken(fetch_source: Fetch, registry: PushRegistry) -> None:
    built = await registry.push("team/built", "one", flux())
    proof = await registry.push("team/built", "proof", [Layer(b"{}", "application/vnd.in-toto+json")])
    entries = [
        entry_of(built, platform=AMD64),
        entry_of(proof, annotations={"vnd.docker.reference.type": "attestation-manifest"}),
    ]
    digest = await registry.push("team/built", "latest", [], mediaType=INDEX, manifests=entries)

    fetched = await fetch_source(oci=source(registry, "team/built"))

    assert fetched.revision == f"latest@{digest}"
    assert await files_of(fetched) == {"a.yaml": "a: 1\n"}


async def test_an_index_of_several_artifacts_is_refused_with_their_digests(
    fetch_source: Fetch, registry: PushRegistry
) -> None:
    first = await registry.push("bad/index", "one", flux())
    second = await registry.push("bad/index", "two", flux("a: 2\n"))
    entries = [entry_of(first, platform=AMD64), entry_of(second)]
    await registry.push("bad/index", "latest", [], mediaType=INDEX, manifests=entries)

    with pytest.raises(Unsupported) as caught:
        await files_of(await fetch_source(oci=source(registry, "bad/index")))

    assert "this is an index of 2 artifacts; name one by its digest: " in caught.value.message
    assert f"{first[:19]} (linux/amd64), {second[:19]} (no platform)" in caught.value.message
    by_digest = await fetch_source(oci=source(registry, "bad/index", digest=second))
    assert await files_of(by_digest) == {"a.yaml": "a: 2\n"}


async def test_what_is_missing_is_named(fetch_source: Fetch, registry: PushRegistry) -> None:
    await registry.push("team/some", "1.0.0", flux())
    name = f"oci://{registry.host}"

    for wanted, message in (
        ({"repository": "team/none"}, f"{name}/team/none has no tag latest"),
        ({"repository": "team/some", "tag": "gone"}, f"{name}/team/some has no tag gone"),
        ({"repository": "team/some", "semver": "^2"}, f"{name}/team/some has no tag in the range '^2'"),
    ):
        with pytest.raises(SourceNotReady) as caught:
            await fetch_source(oci=source(registry, **wanted))
        assert caught.value.message == message


@pytest.mark.parametrize(
    "url", ["oci://h/Team/Shop", "oci://h/a:tag", "oci://u:p@h/a", "oci://h", "oci://h/a/../b"]
)
async def test_urls_that_are_none(fetch_source: Fetch, url: str) -> None:
    with pytest.raises(Unsupported, match=r"spec\.source\.oci\.url must be oci://host/repository"):
        await fetch_source(oci={"url": url})


async def test_basic_auth(fetch_source: Fetch, keep_secret: Keep, locked: PushRegistry) -> None:
    await locked.push("team/shop", "latest", flux())
    auths = {"auths": {locked.host: {"username": LOGIN[0], "password": LOGIN[1]}}}
    await keep_secret("login", username=LOGIN[0], password=LOGIN[1])
    await keep_secret("wrong", username="me", password="medlar")
    await keep_secret("docker", **{"__dockerconfigjson": json.dumps(auths)})
    await keep_secret("other", **{"__dockerconfigjson": '{"auths": {"elsewhere": {"auth": "eDp5"}}}'})

    for name in ("login", "docker"):
        fetched = await fetch_source(oci=source(locked, "team/shop", secretRef={"name": name}))
        assert await files_of(fetched) == {"a.yaml": "a: 1\n"}
    for name, message in (
        ("wrong", "does not take the credentials of Secret "),
        ("other", "has no entry for 127.0.0.1"),
    ):
        with pytest.raises(SourceNotReady, match=message) as caught:
            await fetch_source(oci=source(locked, "team/shop", secretRef={"name": name}))
        assert "medlar" not in caught.value.message
    with pytest.raises(SourceNotReady, match="wants credentials: set secretRef"):
        await fetch_source(oci=source(locked, "team/shop"))


async def test_a_token_is_fetched_once(
    fetch_source: Fetch, keep_secret: Keep, registry: PushRegistry
) -> None:
    digest = await registry.push("team/token", "latest", flux())
    await keep_secret("login", username=LOGIN[0], password=LOGIN[1])

    async with TokenDoor(registry).running() as door:
        wanted = source(door, "team/token", secretRef={"name": "login"})
        assert await files_of(await fetch_source(oci=wanted)) == {"a.yaml": "a: 1\n"}
        door.requests.clear()
        again = await fetch_source(oci=wanted)
        assert await files_of(again) == {"a.yaml": "a: 1\n"}

    assert again.revision == f"latest@{digest}"
    assert door.requests == [("HEAD", "/v2/team/token/manifests/latest", 200)], "one small request"
    assert door.tokens == 1


async def test_an_ended_token_is_replaced(fetch_source: Fetch, registry: PushRegistry) -> None:
    await registry.push("team/ended", "latest", flux())

    async with TokenDoor(registry, anonymous=True).running() as door:
        await fetch_source(oci=source(door, "team/ended"))
        door.tokens += 1  # the first one is not taken any more
        await fetch_source(oci=source(door, "team/ended"))

    asked = next(path for _, path, _ in door.requests if path.startswith("/token"))
    assert asked == "/token?service=convoy-test&scope=repository:team/ended:pull"
    assert door.tokens == 3


async def test_private_addresses_are_refused(
    home: KubeClient, registry: PushRegistry, tmp_path: Path
) -> None:
    wanted = OciSource.model_validate(source(registry, "team/shop"))

    with pytest.raises(SourceNotReady, match=r"is refused: 127\.0\.0\.1 is a loopback address"):
        await fetch_oci(wanted, "team", home=home, cache=tmp_path, options=SourceOptions())
