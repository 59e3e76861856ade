"""What takes too long, what runs already, and what two replicas do at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from convoy.api.names import API_VERSION, SYNC_REQUESTED_AT
from convoy.kube.client import KubeClient
from convoy.kube.resources import CLUSTERS, RELEASES
from tests.kube.server.site import Site, make_config_map, running, until

INLINE = {"inline": {"files": {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}}}


async def make_release(home: KubeClient, namespace: str, source: object) -> None:
    await home.create(
        {
            "apiVersion": API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": "here", "namespace": namespace},
            "spec": {"inCluster": {}},
        },
        CLUSTERS,
    )
    spec = {"clusterRef": {"name": "here"}, "source": source, "content": {"manifests": {}}}
    metadata = {"name": "app", "namespace": namespace}
    await home.create(
        {"apiVersion": API_VERSION, "kind": "Release", "metadata": metadata, "spec": spec}, RELEASES
    )


@asynccontextmanager
async def silent_server() -> AsyncIterator[tuple[int, list[asyncio.StreamWriter]]]:
    """A server that takes connections and says nothing; the list has them."""
    connections: list[asyncio.StreamWriter] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], connections
    finally:
        for connection in connections:
            connection.close()
        server.close()


async def test_what_takes_too_long_is_given_up_with_a_hint(
    home: KubeClient, namespace: str, tmp_path: Path
) -> None:
    await make_config_map(home, namespace)
    async with silent_server() as (port, _), running(home, namespace, tmp_path, deadline=2.0) as site:
        await site.publish(site.keys)
        await make_release(home, namespace, {"git": {"url": f"http://127.0.0.1:{port}/app.git"}})

        for subresource in ("diff", "preview"):
            code, tree = await site.sub("GET", "app", subresource)
            assert (code, tree["reason"]) == (504, "Timeout")
            assert "check" in tree["message"]


async def test_one_diff_or_preview_of_a_release_runs_at_a_time(
    home: KubeClient, namespace: str, tmp_path: Path
) -> None:
    await make_config_map(home, namespace)
    async with (
        silent_server() as (port, connections),
        running(home, namespace, tmp_path, deadline=20.0) as site,
    ):
        await site.publish(site.keys)
        await make_release(home, namespace, {"git": {"url": f"http://127.0.0.1:{port}/app.git"}})
        first = asyncio.create_task(site.sub("GET", "app", "diff"))
        await until(lambda: bool(connections))

        code, tree = await site.sub("GET", "app", "preview")

        assert (code, tree["reason"]) == (429, "TooManyRequests")
        assert tree["details"]["retryAfterSeconds"] > 0
        assert (await site.sub("GET", "app", "pin"))[0] == 200
        for connection in connections:
            connection.close()
        code, tree = await first
        assert (code, tree["inSync"]["reason"]) == (200, "Undetermined")
        # The place is free again.
        source = {"git": None, **INLINE}
        await home.patch(RELEASES, namespace, "app", {"spec": {"source": source}})
        assert (await site.sub("GET", "app", "preview"))[0] == 200


async def test_two_replicas_lose_no_request(site: Site, tmp_path: Path) -> None:
    await make_release(site.home, site.namespace, INLINE)
    async with running(site.home, site.namespace, tmp_path / "second") as second:
        await until(lambda: second.trust.proxy is not None)
        # Both have the front proxy that the ConfigMap names.
        other = Site(
            site.home, site.namespace, second.port, second.trust, site.keys, second.serving, second.authority
        )

        answers = await asyncio.gather(
            *(each.sub("POST", "app", "sync") for _ in range(5) for each in (site, other))
        )

    assert [code for code, _ in answers] == [201] * 10
    times = [tree["requestedAt"] for _, tree in answers]
    assert len(set(times)) == 10
    release = await site.home.get(RELEASES, site.namespace, "app")
    assert release["metadata"]["annotations"][SYNC_REQUESTED_AT] == max(times)
