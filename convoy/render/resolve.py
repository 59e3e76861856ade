"""From a Release to its render: source, content, normaliser, ref (step 3 of a reconcile).

Most passes find nothing new, so a render is remembered by the digest of everything that went into it: the
files of the source, `spec.content`, `mutations`, a chart's values and capabilities, and what the target said about the
kinds in it (D5): a chart that makes passwords up makes each one up once. An unchanged git
source then costs one `git ls-remote`, and nothing is parsed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.encode import canonical
from convoy.render.chart_hooks import take_apart
from convoy.render.drafts import Draft, read_objects
from convoy.render.helm import HelmInputs, helm_files
from convoy.render.helm_values import read_values
from convoy.render.kustomize import kustomize_files
from convoy.render.manifests import manifest_files, manifest_files_in_memory
from convoy.render.mutations import mutate
from convoy.render.normalise import Scopes, in_chart_namespace, normalise, with_own_crds
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
    helm: str = "helm"
    """The helm program."""
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

    async def render(
        self, release: Release, *, home: KubeClient, scope: Scope, fetched: Fetched | None = None
    ) -> Render:
        """Return the fresh render of a Release, saved so that later steps can load it.

        Args:
            release: with the fields that are built; others are answered before.
            home: the cluster that holds the Release, its ConfigMaps and its Secrets.
            scope: what the target cluster knows.
            fetched: the files in the place of those of `spec.source`, such as a checkout of it.

        Raises:
            SourceNotReady: the source cannot be fetched.
            ValuesNotReady: a chart's values are missing.
            Unsupported: the content cannot be rendered; the message names the file or the object.
            DeployFailed: the working folder or the store failed.
            ApiError: the target cluster did not say what it knows.
        """
        uid = release.metadata.uid
        if fetched is None:
            cache, options = self._options.cache, self._options.source
            fetched = await fetch(release, home=home, cache=cache, options=options, key=self._key.hmac)
        chart = await _helm_inputs(release, home, scope)
        digest = self._digest(release, fetched, chart)
        render = await self._known(uid, digest, fetched.revision, scope)
        if render is None:
            files, warnings = await self._files(release, fetched, chart)
            drafts = await asyncio.to_thread(read_objects, files)
            scopes = {kind: await scope.namespaced(*kind) for kind in {draft.group_kind for draft in drafts}}
            render = await asyncio.to_thread(
                self._finish, drafts, scopes, release, fetched.revision, warnings
            )
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
        scopes: Scopes,
        release: Release,
        revision: str,
        warnings: tuple[str, ...],
    ) -> Render:
        content = release.spec.content
        hooks: tuple[Draft, ...] = ()
        if content.helm is not None:
            parts = take_apart(in_chart_namespace(drafts, scopes, content.helm.namespace))
            drafts, hooks, warnings = parts.objects, parts.hooks, warnings + parts.warnings
        mutated = mutate(drafts + hooks, scopes, release.mutations)
        known = with_own_crds(drafts + hooks, scopes)
        objects = normalise(mutated.drafts[: len(drafts)], known, allow_empty=content.allow_empty)
        chart_hooks = normalise(mutated.drafts[len(drafts) :], known, allow_empty=True)
        ref = render_ref(objects, chart_hooks, key=self._key.hmac)
        warnings += mutated.warnings
        return Render(ref, revision, objects, chart_hooks, warnings)

    async def _files(
        self, release: Release, fetched: Fetched, chart: HelmInputs | None
    ) -> tuple[list[File], tuple[str, ...]]:
        """Return the files with manifests, and what a preview tells about them."""
        content = release.spec.content
        if content.manifests is not None and fetched.files is not None:
            return manifest_files_in_memory(fetched.files, content.path, content.manifests), ()
        async with fetched.folder() as root, self._home_folder() as home:
            if content.manifests is not None:
                return await asyncio.to_thread(manifest_files, root, content.path, content.manifests), ()
            if content.helm is not None and chart is not None:
                name, program = release.metadata.name, self._options.helm
                return await helm_files(
                    root, content.path, content.helm, chart, name=name, helm=program, home=home
                )
            program = self._options.kustomize
            return await kustomize_files(root, content.path, kustomize=program, home=home), ()

    @asynccontextmanager
    async def _home_folder(self) -> AsyncIterator[Path]:
        """Open an empty folder that a child process takes for its user's."""
        path = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="home-", dir=self._options.cache))
        try:
            yield path
        finally:
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)

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

    def _digest(self, release: Release, fetched: Fetched, chart: HelmInputs | None) -> str:
        """Return the name of what goes in. Keyed, since values of Secrets are a part of it (D40)."""
        mutations = [mutation.tree() for mutation in release.mutations]
        inputs = [_FORMAT, release.metadata.uid, fetched.fingerprint, release.spec.content.tree(), mutations]
        mac = hmac.new(self._key.hmac, b"inputs\x00" + canonical(inputs), hashlib.sha256)
        if chart is not None:
            told = [release.metadata.name, chart.capabilities.kube_version, *chart.capabilities.api_versions]
            for part in (canonical(told), *chart.values.files):
                mac.update(len(part).to_bytes(8, "big") + part)
        return mac.hexdigest()

    async def _remember(self, uid: str, digest: str, found: _Remembered) -> None:
        await self._renders.save_blob(uid, f"input-{digest}", msgspec.json.encode(found))
        self._note(digest, found)

    def _note(self, digest: str, found: _Remembered) -> None:
        self._remembered[digest] = found
        self._remembered.move_to_end(digest)
        if len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)


async def _helm_inputs(release: Release, home: KubeClient, scope: Scope) -> HelmInputs | None:
    content = release.spec.content.helm
    if content is None:
        return None
    values = await read_values(content, release.metadata.namespace, home=home)
    return HelmInputs(values, await scope.capabilities())
