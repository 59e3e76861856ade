"""From a Release to its render: source, content, normaliser, ref (step 3 of a reconcile).

Most passes find nothing new, so a render is remembered by the digest of everything that went into it: the
files of the source, `spec.content`, `mutations`, and what the target said about the kinds in it (D5). An unchanged git
source then costs one `git ls-remote`, and nothing is parsed.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from convoy.api.errors import Unsupported
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.encode import canonical
from convoy.render.drafts import Draft, read_objects
from convoy.render.kustomize import kustomize_files
from convoy.render.manifests import manifest_files, manifest_files_in_memory
from convoy.render.mutations import mutate
from convoy.render.normalise import normalise
from convoy.render.objects import File, Render, Scope
from convoy.render.ref import render_ref
from convoy.sources.fetch import fetch, tidy
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.store.crypto import InstallationKey
from convoy.store.renders import RenderMissing, Renders

_MAX_REMEMBERED: Final = 20_000
_FORMAT: Final = "1"
"""Goes into the digest: raise it when the same input would give another render."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """Where tools and folders are."""

    cache: Path
    """Working folder for sources; several processes may share it."""
    kustomize: str = "kustomize"
    """The kustomize program."""
    source: SourceOptions = field(default_factory=SourceOptions)


class _Remembered(msgspec.Struct):
    """What inputs became."""

    ref: str
    scopes: list[tuple[str, str, bool | None]]
    """Group, kind, and what the target said about it."""
    warnings: list[str] = []


class Renderer:
    """Renders Releases, each new input once."""

    def __init__(self, *, renders: Renders, key: InstallationKey, options: RenderOptions) -> None:
        self._renders = renders
        self._key = key
        self._options = options
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()
        options.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        tidy(options.cache)

    async def render(self, release: Release, *, home: KubeClient, scope: Scope) -> Render:
        """Return the fresh render of a Release, saved so that later steps can load it.

        Args:
            release: with the fields that are built; others are answered before.
            home: the cluster that holds the Release, its ConfigMaps and its Secrets.
            scope: what the target cluster knows.

        Raises:
            SourceNotReady: the source cannot be fetched.
            Unsupported: the content cannot be rendered; the message names the file or the object.
            DeployFailed: the working folder or the store failed.
            ApiError: the target cluster did not say what it knows.
        """
        uid = release.metadata.uid
        fetched = await fetch(release, home=home, cache=self._options.cache, options=self._options.source)
        digest = _digest(release, fetched)
        render = await self._known(uid, digest, fetched.revision, scope)
        if render is None:
            files = await self._files(release, fetched)
            drafts = await asyncio.to_thread(read_objects, files)
            scopes = {kind: await scope.namespaced(*kind) for kind in {draft.group_kind for draft in drafts}}
            render = await asyncio.to_thread(self._finish, drafts, scopes, release, fetched.revision)
            answers = [(*kind, answer) for kind, answer in sorted(scopes.items())]
            found = _Remembered(render.ref, answers, list(render.warnings))
            await self._renders.save(uid, render)
            await self._remember(uid, digest, found)
        else:
            await self._renders.save(uid, render)
        return render

    def _finish(
        self,
        drafts: tuple[Draft, ...],
        scopes: dict[tuple[str, str], bool | None],
        release: Release,
        revision: str,
    ) -> Render:
        mutated = mutate(drafts, scopes, release.mutations)
        objects = normalise(mutated.drafts, scopes, allow_empty=release.spec.content.allow_empty)
        return Render(render_ref(objects, key=self._key.hmac), revision, objects, mutated.warnings)

    async def _files(self, release: Release, fetched: Fetched) -> list[File]:
        content = release.spec.content
        if content.manifests is not None and fetched.files is not None:
            return manifest_files_in_memory(fetched.files, content.path, content.manifests)
        async with fetched.folder() as root:
            if content.manifests is not None:
                return await asyncio.to_thread(manifest_files, root, content.path, content.manifests)
            if content.kustomize is None:
                raise Unsupported("spec.content: convoy renders manifests and kustomize")
            home = await asyncio.to_thread(tempfile.mkdtemp, prefix="home-", dir=self._options.cache)
            try:
                program = self._options.kustomize
                return await kustomize_files(root, content.path, kustomize=program, home=Path(home))
            finally:
                await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)

    async def _known(self, uid: str, digest: str, revision: str, scope: Scope) -> Render | None:
        """Return the remembered render if the target still says the same about its kinds."""
        found = self._remembered.get(digest)
        if found is None:
            data = await self._renders.load_blob(uid, f"input-{digest}")
            found = msgspec.json.decode(data, type=_Remembered) if data is not None else None
        if found is None:
            return None
        for group, kind, answer in found.scopes:
            if await scope.namespaced(group, kind) != answer:
                return None
        try:
            render = await self._renders.load(uid, found.ref)
        except RenderMissing:
            return None
        self._note(digest, found)
        return replace(render, revision=revision, warnings=tuple(found.warnings))

    async def _remember(self, uid: str, digest: str, found: _Remembered) -> None:
        await self._renders.save_blob(uid, f"input-{digest}", msgspec.json.encode(found))
        self._note(digest, found)

    def _note(self, digest: str, found: _Remembered) -> None:
        self._remembered[digest] = found
        self._remembered.move_to_end(digest)
        if len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)


def _digest(release: Release, fetched: Fetched) -> str:
    mutations = [mutation.tree() for mutation in release.mutations]
    inputs = [_FORMAT, release.metadata.uid, fetched.fingerprint, release.spec.content.tree(), mutations]
    return hashlib.sha256(canonical(inputs)).hexdigest()
