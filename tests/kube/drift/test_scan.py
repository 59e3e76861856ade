"""A pass over a render: side by side, in render order, until the first error (`reference/drift`; D30, D31)."""

import asyncio
from dataclasses import replace

import pytest

from convoy.api.objects import Manifest
from convoy.drift.results import Counts, DriftStatus, ScanResult
from convoy.drift.scan import scan
from convoy.drift.verdict import verdict_of
from convoy.kube.client import KubeClient, Limits
from convoy.kube.discovery import Discovery
from convoy.kube.errors import Rejected
from tests.kube.drift.rig import KEY, Rig, rendered


async def run(rig: Rig, *manifests: Manifest, client: KubeClient | None = None) -> ScanResult:
    objects = [rendered(manifest) for manifest in manifests]
    return await scan(objects, client=client or rig.client, discovery=rig.discovery, key=KEY)


def unicorn(rig: Rig, name: str = "white") -> Manifest:
    return {
        "apiVersion": f"{rig.id}.example.org/v1",
        "kind": "Unicorn",
        "metadata": {"name": name, "namespace": rig.namespace},
    }


def broken(rig: Rig) -> Manifest:
    manifest = rig.config_map("broken", k="v")
    manifest["data"]["k"] = 1
    return manifest


async def test_results_stand_in_render_order_and_take_two_requests_an_object(rig: Rig) -> None:
    manifests = [rig.config_map(f"box-{number}", k="v") for number in range(60)]
    for manifest in manifests:
        await rig.apply(manifest)
    rig.client.requests.clear()
    result = await run(rig, *manifests)
    assert [found.key.name for found in result.objects] == [m["metadata"]["name"] for m in manifests]
    assert result.counts == Counts(total=60, in_sync=60)
    assert len(rig.client.requests) == 120


async def test_missing_and_modified_objects_do_not_stop_the_compare(rig: Rig) -> None:
    manifests = [rig.config_map(name, k="v") for name in ("a", "b", "c")]
    await rig.apply(manifests[0])
    await rig.apply(manifests[2])
    await rig.edit(manifests[2], {"data": {"k": "w"}})
    result = await run(rig, *manifests)
    statuses = [found.status for found in result.objects]
    assert statuses == [DriftStatus.IN_SYNC, DriftStatus.MISSING, DriftStatus.MODIFIED]
    verdict = verdict_of(result)
    assert (verdict.status, verdict.reason) == ("False", "Drifted")


async def test_an_unknown_kind_makes_it_undetermined_with_how_far_it_came(rig: Rig) -> None:
    a, b = rig.config_map("a", k="v"), rig.config_map("b", k="v")
    await rig.apply(a)
    result = await run(rig, a, b, unicorn(rig), rig.config_map("c", k="v"))
    verdict = verdict_of(result)
    assert (verdict.status, verdict.reason) == ("Unknown", "Undetermined")
    assert f"Unicorn.{rig.id}.example.org {rig.namespace}/white" in verdict.message
    assert "compared 2 of 4 objects: 1 in sync, 0 modified, 1 missing" in verdict.message


async def test_an_object_that_was_named_before_its_kind_was_known_makes_it_undetermined(rig: Rig) -> None:
    nowhere = rig.config_map("nowhere")
    del nowhere["metadata"]["namespace"]
    result = await run(rig, nowhere)
    assert result.failure is not None
    assert "its kind is namespaced" in result.failure.message


async def test_a_rejected_dry_run_makes_it_undetermined_with_the_servers_words(rig: Rig) -> None:
    await rig.apply(rig.config_map("broken", k="v"))
    verdict = verdict_of(await run(rig, broken(rig)))
    assert verdict.reason == "Undetermined"
    assert f"ConfigMap {rig.namespace}/broken" in verdict.message
    assert ".data.k" in verdict.message


async def test_a_value_that_the_server_cannot_convert_is_a_rejection_and_no_outage(rig: Rig) -> None:
    lease: Manifest = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "a", "namespace": rig.namespace},
        "spec": {"holderIdentity": "me"},
    }
    await rig.apply(lease)
    lease["spec"]["renewTime"] = "2026-01-01T00:00:00Z"
    with pytest.raises(Rejected, match="parsing time"):
        await rig.compare(lease)


async def test_the_error_is_the_first_in_render_order_whatever_came_first(rig: Rig) -> None:
    await rig.apply(rig.config_map("broken", k="v"))
    # The unknown kind fails without a request, long before the rejected object is answered.
    await run(rig, unicorn(rig))
    result = await run(rig, broken(rig), *(unicorn(rig, f"u{number}") for number in range(5)))
    assert result.failure is not None
    assert result.failure.key.kind == "ConfigMap"


async def test_what_stands_behind_an_error_is_not_asked_for(rig: Rig) -> None:
    await run(rig, unicorn(rig))
    rig.client.requests.clear()
    behind = [rig.config_map(f"box-{number}", k="v") for number in range(200)]
    result = await run(rig, unicorn(rig), *behind)
    assert result.objects == ()
    assert len(rig.client.requests) <= 2 * rig.client.limits.max_in_flight


async def test_an_empty_render_is_in_sync(rig: Rig) -> None:
    assert verdict_of(await run(rig)).reason == "InSync"


async def test_a_cluster_that_accepts_and_never_answers_is_undetermined_after_one_time_limit(
    rig: Rig,
) -> None:
    held: list[asyncio.StreamWriter] = []

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        endpoint = replace(rig.client.endpoint, server=f"http://127.0.0.1:{port}", ssl=None)
        async with KubeClient(endpoint, limits=Limits(request_timeout=0.5)) as client:
            objects = [rendered(rig.config_map(f"box-{number}", k="v")) for number in range(100)]
            result = await scan(objects, client=client, discovery=Discovery(client), key=KEY)
        for writer in held:
            writer.close()
            await writer.wait_closed()
    verdict = verdict_of(result)
    assert verdict.reason == "Undetermined"
    assert "compared 0 of 100 objects" in verdict.message
    assert len(held) == 2  # /api and /apis, once: nobody else went on waiting for the same silence.
