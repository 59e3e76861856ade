"""An artifact in an OCI registry, as `flux push artifact`, `helm push` and `oras push` make it.

Which layers are files is told by media types and annotations:
* Flux and Helm push one gzipped tar; a chart's has one folder, which becomes the root.
* ORAS pushes each file as a layer with its name in `org.opencontainers.image.title`, and a folder as a gzipped tar
  with `io.deis.oras.content.unpack`.
Whatever else there is (signatures, provenance, attestations) is left.

An index is followed where only one artifact stands in it beside attestations, as `docker buildx` pushes one. Flux would
take the one for linux/amd64 out of several; here they are refused: what a Release applies may not depend on a platform.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import OciSource
from convoy.kube.client import KubeClient
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.http import MAX_ARCHIVE, unpack_file
from convoy.sources.kept import Kept
from convoy.sources.login import Keys, read_keys
from convoy.sources.oci_reference import OciName, check_tag, parse_oci_url
from convoy.sources.oci_registry import MANIFESTS, Registry
from convoy.sources.semver_range import BadRange, highest
from convoy.sources.web import Login, Web

CHART: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_ARCHIVES: Final = frozenset(
    {
        "application/vnd.cncf.flux.content.v1.tar+gzip",
        "application/vnd.oci.image.layer.v1.tar+gzip",
        "application/vnd.oci.image.layer.v1.tar",
        "application/vnd.docker.image.rootfs.diff.tar.gzip",
        CHART,
    }
)
_TITLE: Final = "org.opencontainers.image.title"
_UNPACK: Final = "io.deis.oras.content.unpack"
_ATTESTATION: Final = "vnd.docker.reference.type"
_MAX_LAYERS: Final = 10_000


async def fetch_oci(
    source: OciSource, namespace: str, *, home: KubeClient, cache: Path, options: SourceOptions
) -> Fetched:
    """Find out which artifact is meant now; its layers are downloaded when the folder is opened.

    Raises:
        SourceNotReady: the registry cannot be reached, refuses, or lacks the artifact; the message names it.
        Unsupported: the URL or the range is none.
    """
    name = parse_oci_url(source.url, insecure=source.insecure)
    keys = await read_keys(
        source.secret_ref, namespace, home=home, field_path="spec.source.oci.secretRef", host=name.host
    )
    artifact = _Artifact(name, keys, options)
    tag, digest = await artifact.find(source)
    secret = source.secret_ref.name if source.secret_ref else ""
    kept = Kept.of(cache, "oci", namespace, str(name), secret)

    async def fill(files: Path, scratch: Path) -> None:
        await artifact.download(digest, files, scratch)

    revision = f"{tag}@{digest}" if tag else digest
    return Fetched(revision, f"oci:{digest}", lambda: kept.open(digest.removeprefix("sha256:"), fill))


@dataclass(frozen=True, slots=True)
class _Layer:
    digest: str
    size: int
    media_type: str
    title: str
    is_archive: bool


@dataclass(frozen=True, slots=True)
class _Artifact:
    name: OciName
    keys: Keys
    options: SourceOptions

    async def find(self, source: OciSource) -> tuple[str, str]:
        """Return tag and digest; the tag is empty where the Release names a digest."""
        if source.digest is not None:
            return "", source.digest
        async with self._web() as web:
            registry = Registry(web, self.name, self.keys)
            tag = check_tag(source.tag or "latest")
            if source.semver is not None:
                tag = await self._highest(registry, source.semver)
            return tag, await registry.digest_of(tag)

    async def _highest(self, registry: Registry, wanted: str) -> str:
        # A tag cannot hold the + of a version with build metadata; Helm writes _ in its place.
        tags = {tag.replace("_", "+"): tag for tag in await registry.tags()}
        try:
            found = highest(tags, wanted)
        except BadRange as error:
            raise Unsupported(f"spec.source.oci.semver: {error}") from None
        if found is None:
            raise SourceNotReady(f"{self.name} has no tag in the range {wanted!r}")
        return tags[found]

    async def download(self, digest: str, files: Path, scratch: Path) -> None:
        """Write the files of an artifact."""
        async with self._web() as web:
            registry = Registry(web, self.name, self.keys)
            manifest = await registry.manifest(digest)
            if "manifests" in manifest:
                manifest = await registry.manifest(_only_one(manifest["manifests"], str(self.name)))
            layers = list(_layers(manifest, str(self.name)))
            if sum(layer.size for layer in layers) > MAX_ARCHIVE:
                raise Unsupported(f"{self.name}: the artifact has more than {MAX_ARCHIVE} bytes")
            for number, layer in enumerate(layers):
                blob = scratch / str(number)
                await registry.blob(layer.digest, layer.size, blob)
                await self._place(layer, blob, files)

    async def _place(self, layer: _Layer, blob: Path, files: Path) -> None:
        subject = f"{self.name}, layer {layer.title or layer.digest}"
        if layer.is_archive:
            await unpack_file(blob, files, subject=subject, strip=1 if layer.media_type == CHART else 0)
            return
        title = PurePosixPath(layer.title)
        if title.is_absolute() or ".." in title.parts or "\0" in layer.title or "\\" in layer.title:
            raise Unsupported(f"{subject}: its title leads out of the artifact")
        try:
            await asyncio.to_thread(_move, blob, files, files / title)
        except OSError as error:
            raise Unsupported(f"{subject} cannot be written: {error.strerror or error}") from None

    def _web(self) -> AbstractAsyncContextManager[Web]:
        # The registry says itself which login it wants, and where.
        login = Login(ca=self.keys.ca)
        return Web.open(self.name.url(""), login=login, options=self.options)


def _move(blob: Path, root: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(root.resolve()):
        raise OSError("a symlink of another layer leads it out of the artifact")
    if target.exists() or target.is_symlink():
        raise OSError("another layer has this name too")
    blob.replace(target)


def _only_one(manifests: Any, name: str) -> str:
    """Return the digest of the only artifact of an index."""
    try:
        found = {
            str(entry["digest"]): "/".join((entry.get("platform") or {}).values())
            for entry in manifests
            if _ATTESTATION not in (entry.get("annotations") or {})
        }
    except (AttributeError, KeyError, TypeError):
        raise Unsupported(f"{name}: the index is not what the OCI specification says") from None
    if len(found) == 1:
        return next(iter(found))
    told = ", ".join(f"{digest[:19]} ({platform or 'no platform'})" for digest, platform in found.items())
    raise Unsupported(
        f"{name}: this is an index of {len(found)} artifacts; name one by its digest: {told[:500]}"
    )


def _layers(manifest: dict[str, Any], name: str) -> Iterator[_Layer]:
    """Yield the layers that are files."""
    if "manifests" in manifest:
        raise Unsupported(f"{name}: this is an index in an index, which convoy does not read")
    media_type = manifest.get("mediaType", MANIFESTS[0])
    layers = manifest.get("layers")
    if media_type not in MANIFESTS or not isinstance(layers, list) or len(layers) > _MAX_LAYERS:
        raise Unsupported(
            f"{name}: the manifest is of the type {str(media_type)[:100]!r}, which convoy does not read"
        )
    found = False
    for layer in layers:
        try:
            digest, size, kind = str(layer["digest"]), int(layer["size"]), str(layer["mediaType"])
            annotations = layer.get("annotations") or {}
            title, is_packed = str(annotations.get(_TITLE, "")), annotations.get(_UNPACK) == "true"
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Unsupported(
                f"{name}: the manifest's layers are not what the OCI specification says"
            ) from None
        is_archive = is_packed or (kind in _ARCHIVES and (not title or kind == CHART))
        if is_archive or title:
            found = True
            yield _Layer(digest, size, kind, title, is_archive)
    if not found:
        kinds = sorted({str(layer["mediaType"])[:100] for layer in layers})
        raise Unsupported(f"{name}: none of its layers holds files ({', '.join(kinds) or 'there is none'})")
