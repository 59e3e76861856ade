"""Hooks of real Releases on a real server, whose Jobs kwok runs; and a client that dies in the middle."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from convoy.api.hooks import HookStage
from convoy.api.names import API_VERSION, MANAGER_PROGRESS
from convoy.api.objects import Manifest, key_of
from convoy.api.release import Release
from convoy.api.release_status import HookStatus
from convoy.api.rendered import Render, RenderedObject
from convoy.hooks.definition import stage_hooks
from convoy.hooks.entries import with_entries
from convoy.hooks.plan import Run, runs_due
from convoy.hooks.stage import Grant, StagePass, advance
from convoy.hooks.standing import Standing
from convoy.kube.client import Answer, KubeClient
from convoy.kube.discovery import Discovery
from convoy.kube.errors import NotFound
from convoy.kube.resources import JOBS, NAMESPACES, RELEASES, Resource
from convoy.kube.status import write_status
from convoy.kube.targets import Target
from convoy.policy.trigger import Trigger

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
POLL = 0.1
SERVICE_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts", True)


class Died(Exception):
    """The process ended here."""


class Mortal(KubeClient):
    """A client that counts what it makes, and dies at its n-th request: before it is sent, or before its answer."""

    dies_at = 0
    answered = False
    """Whether the request that it dies at still arrives."""
    requests = 0
    jobs_made = 0

    async def request(self, method: str, path: str, **more: Any) -> Answer:
        """Send a request, if it is still alive."""
        self.requests += 1
        if self.requests == self.dies_at and not self.answered:
            raise Died
        answer = await super().request(method, path, **more)
        dry = "dryRun" in (more.get("params") or {})
        self.jobs_made += (method, answer.status, dry) == ("POST", 201, False) and path.endswith("/jobs")
        if self.requests == self.dies_at:
            raise Died
        return answer


def job(image: str = "fake.local/ready:1", **spec: Any) -> Manifest:
    """Return the spec of a Job whose Pods end as the image says."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}
    return {"backoffLimit": 0, "template": {"spec": pod}, **spec}


@dataclass
class HookRig:
    """One Release with hooks in a namespace of its own, which is also where its Jobs run."""

    client: KubeClient
    namespace: str = field(default_factory=lambda: f"hooks-{secrets.token_hex(5)}")
    lost: timedelta = timedelta()
    """How late it is by the clock of the hooks."""

    async def open(self) -> None:
        name = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.client.create(name, NAMESPACES)
        async with asyncio.timeout(30):  # a Pod that comes before its service account is refused
            while True:
                try:
                    await self.client.get(SERVICE_ACCOUNTS, self.namespace, "default")
                except NotFound:
                    await asyncio.sleep(POLL)
                else:
                    return

    async def close(self) -> None:
        for each in await self.client.list(JOBS, self.namespace):
            if each["metadata"].get("finalizers"):
                await self.client.patch(
                    JOBS, self.namespace, each["metadata"]["name"], {"metadata": {"finalizers": None}}
                )
        await self.client.delete(NAMESPACES, None, self.namespace)

    async def release(self, *hooks: Mapping[str, Any], name: str = "shop", post: Sequence[Any] = ()) -> None:
        """Make a Release; hooks that do not say where run in its namespace."""
        placed = [[{"namespace": self.namespace, **hook} for hook in stage] for stage in (hooks, post)]
        await self.client.create(
            {
                "apiVersion": API_VERSION,
                "kind": "Release",
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {
                    "clusterRef": {"name": "target"},
                    "source": {"inline": {"files": {}}},
                    "content": {"manifests": {}},
                },
                "lifecycle": {"preSync": placed[0], "postSync": placed[1]},
            },
            RELEASES,
        )

    async def change(self, *hooks: Mapping[str, Any], name: str = "shop") -> None:
        """Give a Release other preSync hooks."""
        patch = {"lifecycle": {"preSync": [{"namespace": self.namespace, **hook} for hook in hooks]}}
        await self.client.patch(RELEASES, self.namespace, name, patch)

    async def read(self, name: str = "shop") -> Release:
        return Release.model_validate(await self.client.get(RELEASES, self.namespace, name))

    async def entry(self, hook: str, name: str = "shop") -> HookStatus:
        return next(entry for entry in (await self.read(name)).status.hooks if entry.name == hook)

    async def jobs(self) -> list[Manifest]:
        return await self.client.list(JOBS, self.namespace)

    async def due(
        self, name: str = "shop", *, render: Render | None = None, stage: HookStage = HookStage.PRE_SYNC,
        forced: bool = False,
    ) -> tuple[Run, ...]:  # fmt: skip
        release, render = await self.read(name), render or render_of()
        hooks = stage_hooks(release, render, stage)
        return runs_due(
            hooks, release, render_ref=render.ref, stage=stage, trigger=Trigger.SYNC_REQUESTED, forced=forced
        )

    async def advance(
        self,
        name: str = "shop",
        *,
        client: KubeClient | None = None,
        render: Render | None = None,
        runs: Sequence[Run] | None = None,
        stage: HookStage = HookStage.PRE_SYNC,
        grants: Mapping[str, Grant] | None = None,
        forced: bool = False,
    ) -> Standing:
        """Make one call of the stage, as the activity does."""
        client, render = client or self.client, render or render_of()
        if runs is None:
            runs = await self.due(name, render=render, stage=stage, forced=forced)
        release = Release.model_validate(await client.get(RELEASES, self.namespace, name))

        async def write(entries: Sequence[HookStatus]) -> None:
            await write_status(
                client, RELEASES, self.namespace, name, manager=MANAGER_PROGRESS,
                build=lambda tree: with_entries(tree, entries),
            )  # fmt: skip

        target = Target(client=client, discovery=Discovery(client), uid="t", name="target", version="v1.34.4")
        return await advance(
            StagePass(
                target=target,
                release=release,
                render=render,
                requested_at="",
                stage=stage,
                runs=runs,
                grants=grants or {},
                write=write,
                now=datetime.now(UTC) + self.lost,
            )
        )

    async def finish(self, name: str = "shop", **more: Any) -> Standing:
        """Call the stage until it is done, with the runs that were due at first."""
        if "runs" not in more:
            due = {key: more[key] for key in ("render", "stage", "forced") if key in more}
            more["runs"] = await self.due(name, **due)
        async with asyncio.timeout(60):
            while True:
                standing = await self.advance(name, **more)
                if standing.done:
                    return standing
                await asyncio.sleep(POLL)

    async def no_job_is_left(self) -> None:
        async with asyncio.timeout(60):
            while await self.jobs():  # noqa: ASYNC110
                await asyncio.sleep(POLL)


def render_of(*hooks: Manifest, ref: str = A, objects: Sequence[Manifest] = ()) -> Render:
    def items(manifests: Sequence[Manifest]) -> tuple[RenderedObject, ...]:
        return tuple(RenderedObject(key_of(each), each["apiVersion"], 0, each) for each in manifests)

    return Render(ref, "test", items(objects), items(hooks))


@asynccontextmanager
async def mortal(client: KubeClient) -> AsyncIterator[Mortal]:
    """Open a client of the same server."""
    async with Mortal(replace(client.endpoint, refresh=None)) as opened:
        yield opened
