"""`pin`, `mutations` and `lifecycle`: what is refused, what is written, and the sync request that comes with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from convoy.api.names import SYNC_REQUESTED_AT
from tests.e2e.harness.api import Api
from tests.e2e.hooked import job, jobs, runs
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}
UNKNOWN = "sha256:" + "0" * 64
MUTATION = {"target": {"kind": "ConfigMap"}, "merge": {"data": {"v": "2"}}}
UNFIT = {
    "target": {"kind": "ConfigMap"},
    "patch": [{"op": "remove", "path": "/data/none"}],
}
"""Removes what is not there."""
HOOK = {"name": "go", "approval": {}}


@pytest.fixture
async def app(tenant: Tenant, api: Callable[[str], Api]) -> Api:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    return api("app")


async def two_renders(tenant: Tenant) -> tuple[str, str]:
    """Apply two renders of the Release `app`; returns both refs, oldest first."""
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    first = await tenant.applied("app")
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    second = await tenant.applied("app")
    return first["status"]["lastSuccessful"]["renderRef"], second["status"]["lastSuccessful"]["renderRef"]


async def annotation(tenant: Tenant) -> str | None:
    value: str | None = (await tenant.get("app"))["metadata"].get("annotations", {}).get(SYNC_REQUESTED_AT)
    return value


async def test_what_is_not_set_reads_as_empty(app: Api) -> None:
    assert (await app.get("pin"))["renderRef"] == ""
    assert (await app.get("mutations"))["mutations"] == []
    lifecycle = await app.get("lifecycle")
    assert (lifecycle["preSync"], lifecycle["postSync"]) == ([], [])


@pytest.mark.parametrize(
    ("subresource", "body", "told"),
    [
        ("mutations", {"mutatoins": []}, "mutatoins"),
        ("mutations", {}, "mutations"),
        ("mutations", {"mutations": {}}, "expected a list"),
        ("mutations", {"mutations": [{"image": {"name": "a", "newTg": "1"}}]}, "mutations[0].image.newTg"),
        ("mutations", {"mutations": [{"target": {}}]}, "exactly one of patch, merge, image"),
        ("lifecycle", {"presync": []}, "presync"),
        ("lifecycle", {"preSync": [{"name": "x"}]}, "exactly one of job, approval"),
        ("pin", {"renderRef": "latest"}, "renderRef"),
        ("pin", {"ref": UNKNOWN}, "ref"),
    ],
)
async def test_a_wrong_body_is_refused_naming_the_field_and_nothing_is_written(
    tenant: Tenant, app: Api, subresource: str, body: object, told: str
) -> None:
    answer = await app.call("PUT", subresource, body, code=422)

    assert answer["reason"] == "Invalid"
    assert told in answer["message"]
    assert await annotation(tenant) is None


async def test_a_body_of_another_kind_or_form_is_refused(app: Api) -> None:
    assert (await app.call("PUT", "pin", {"kind": "ReleaseDiff"}, code=400))["reason"] == "BadRequest"
    assert (await app.call("PUT", "pin", b"{", code=400))["reason"] == "BadRequest"
    assert (await app.call("PUT", "pin", [], code=400))["reason"] == "BadRequest"


async def test_a_job_that_the_target_refuses_is_refused_in_its_words(tenant: Tenant, app: Api) -> None:
    good, bad = job("good", namespace=tenant.namespace), job("bad", namespace=tenant.namespace)
    bad["job"]["completions"] = -1

    answer = await app.call("PUT", "lifecycle", {"preSync": [good], "postSync": [bad]}, code=422)

    assert "lifecycle.postSync: hook bad: Job.batch" in answer["message"]
    assert "completions" in answer["message"]
    assert "good" not in answer["message"]
    assert await annotation(tenant) is None
    assert await jobs(tenant) == []


async def test_hooks_are_written_with_a_request(tenant: Tenant, app: Api) -> None:
    await app.call("PUT", "lifecycle", {"preSync": [job("migrate", namespace=tenant.namespace)]})

    tree = await tenant.applied("app")
    assert runs(tree) == {"migrate": ("Succeeded", 1)}


async def test_a_stored_render_is_pinned_with_a_request(tenant: Tenant, api: Callable[[str], Api]) -> None:
    first, second = await two_renders(tenant)
    app = api("app")

    pinned = await app.call("PUT", "pin", {"renderRef": first})

    tree = await tenant.applied("app")
    assert tree["pin"] == {"renderRef": first}
    assert pinned["renderRef"] == first
    assert pinned["requestedAt"] == await annotation(tenant)
    assert tree["status"]["lastSuccessful"]["renderRef"] == first
    for answer in (await app.get("diff"), await app.get("preview")):
        assert (answer["desired"], answer["renderRef"]) == ("pin", first)
    items = (await app.get("history"))["items"]
    assert [(each["renderRef"], each["pinned"]) for each in items] == [
        (first, True),
        (second, False),
        (first, True),
    ]

    gone = await app.call("DELETE", "pin")

    tree = await tenant.applied("app")
    assert "pin" not in tree
    assert gone["requestedAt"] == await annotation(tenant)
    assert tree["status"]["lastSuccessful"]["renderRef"] == second
    assert (await app.get("diff"))["desired"] == "fresh"


async def test_a_render_that_is_not_stored_is_no_pin(tenant: Tenant, api: Callable[[str], Api]) -> None:
    first, second = await two_renders(tenant)

    answer = await api("app").call("PUT", "pin", {"renderRef": UNKNOWN}, code=404)

    assert [each["field"] for each in answer["details"]["causes"]] == [second, first]
    assert first in answer["message"]
    assert "pin" not in await tenant.get("app")
    assert await annotation(tenant) is None


async def test_a_dry_run_of_a_pin_writes_nothing(tenant: Tenant, api: Callable[[str], Api]) -> None:
    first, _ = await two_renders(tenant)

    assert (await api("app").call("PUT", "pin", {"renderRef": first}, dryRun="All"))["renderRef"] == first

    assert "pin" not in await tenant.get("app")
    assert await annotation(tenant) is None


async def test_mutations_are_written_with_a_request(tenant: Tenant, app: Api) -> None:
    written = await app.call("PUT", "mutations", {"mutations": [MUTATION]})

    tree = await tenant.applied("app")
    assert tree["mutations"] == written["mutations"] == [MUTATION]
    assert written["requestedAt"] == await annotation(tenant)
    live = await tenant.config_map("a")
    assert live is not None
    assert live["data"] == {"v": "2"}


async def test_mutations_that_cannot_be_rendered_are_refused_also_where_a_pin_holds_the_release(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    first, _ = await two_renders(tenant)
    await tenant.patch("app", {"pin": {"renderRef": first}})

    answer = await api("app").call("PUT", "mutations", {"mutations": [UNFIT]}, code=422)

    assert answer["details"]["causes"][0]["reason"] == "Unsupported"
    assert "mutations[0]" in answer["message"]
    assert "mutations" not in await tenant.get("app")
    assert await annotation(tenant) is None


async def test_taking_everything_away_is_written_with_a_request(tenant: Tenant, app: Api) -> None:
    await tenant.patch("app", {"mutations": [MUTATION], "lifecycle": {"preSync": [HOOK]}})

    mutations = await app.call("PUT", "mutations", {"mutations": []})
    lifecycle = await app.call("PUT", "lifecycle", {"preSync": [], "postSync": []})

    tree = await tenant.applied("app")
    assert "mutations" not in tree
    assert tree.get("lifecycle", {}) == {}
    assert mutations["requestedAt"] < lifecycle["requestedAt"] == await annotation(tenant)


async def test_a_pin_goes_with_a_request_and_none_without_a_pin(tenant: Tenant, app: Api) -> None:
    nothing = await app.call("DELETE", "pin")
    assert "requestedAt" not in nothing
    assert await annotation(tenant) is None
    await tenant.patch("app", {"pin": {"renderRef": UNKNOWN}})
    assert (await app.get("pin"))["renderRef"] == UNKNOWN

    gone = await app.call("DELETE", "pin")

    assert gone["renderRef"] == ""
    assert await annotation(tenant) == gone["requestedAt"]
    assert "pin" not in await tenant.get("app")


@pytest.mark.parametrize("told", ["generation", "resourceVersion"])
async def test_a_version_that_is_not_the_latest_is_a_conflict(tenant: Tenant, app: Api, told: str) -> None:
    read = await app.get("mutations")
    metadata = {name: read["metadata"][name] for name in ("name", "namespace", told)}
    await tenant.patch("app", {"spec": {"historyLimit": 7}})

    answer = await app.call("PUT", "mutations", {**read, "metadata": metadata, "mutations": []}, code=409)

    assert answer["reason"] == "Conflict"
    assert await annotation(tenant) is None


async def test_what_convoy_writes_into_the_status_is_no_conflict(tenant: Tenant, app: Api) -> None:
    read = await app.get("mutations")
    await tenant.patch("app", {"metadata": {"labels": {"changed": "yes"}}})
    await app.call("PUT", "mutations", {**read, "mutations": []})


async def test_a_dry_run_writes_nothing(tenant: Tenant, app: Api) -> None:
    await tenant.patch("app", {"pin": {"renderRef": UNKNOWN}})

    await app.call("DELETE", "pin", dryRun="All")

    assert (await tenant.get("app"))["pin"] == {"renderRef": UNKNOWN}
    assert (await app.call("POST", "check", code=400, dryRun="All"))["reason"] == "BadRequest"


async def test_approvals_are_refused_until_one_waits(tenant: Tenant, app: Api) -> None:
    await tenant.patch("app", {"lifecycle": {"preSync": [HOOK]}})

    unknown = await app.call("POST", "approve", code=404, hook="other")
    early = await app.call("POST", "approve", code=409, hook="go")

    assert "go" in unknown["message"]
    assert early["reason"] == "Conflict"
    assert (await app.call("POST", "approve", code=400))["reason"] == "BadRequest"


async def test_yaml_goes_in_and_out(tenant: Tenant, app: Api) -> None:
    read = await app.raw("GET", "mutations", accept="application/yaml")
    assert read.headers["Content-Type"].startswith("application/yaml")
    assert b"kind: ReleaseMutations\n" in read.body

    written = await app.raw(
        "PUT", "mutations", read.body, content_type="application/yaml", accept="application/yaml"
    )

    assert written.status == 200
    assert b"requestedAt: " in written.body
    refused = await app.raw("GET", "nothing", accept="application/yaml")
    assert refused.status == 404
