"""Hooks and approvals on the command line."""

from __future__ import annotations

from tests.e2e.cli.conftest import Cli
from tests.e2e.hooked import GO, hook_of, hooked, job, new_render
from tests.e2e.tenant import Tenant


async def test_approve_finds_the_only_hook_that_waits(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, job("migrate"), {**GO, "batch": 1})
    await tenant.applied("app", "WaitingForApproval")

    done = await cli("release", "approve", "app")

    assert done.lines == ["release.convoy.kumodo.io/app hook go approved"]
    tree = await tenant.applied("app")
    assert hook_of(tree, "go")["phase"] == "Approved"


async def test_of_several_one_has_to_be_named(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, GO, {**GO, "name": "budget"})
    await tenant.applied("app", "WaitingForApproval")

    error = await cli.refused("release", "approve", "app")
    assert "several hooks" in error
    assert "go, budget" in error
    await cli("release", "approve", "app", "--hook", "budget")
    await tenant.until("app", lambda tree: hook_of(tree, "budget").get("phase") == "Approved")
    await cli("release", "approve", "app")

    await tenant.applied("app")


async def test_what_does_not_wait_is_an_error_in_one_line(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, job("migrate"))
    await tenant.applied("app")

    assert "no hook" in await cli.refused("release", "approve", "app")
    assert "no approval hook of this name" in await cli.refused(
        "release", "approve", "app", "--hook", "migrate"
    )


async def test_get_and_tree_show_hooks_and_who_approved(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, job("migrate"), GO)
    await tenant.applied("app", "WaitingForApproval")
    await cli("release", "approve", "app")
    tree = await tenant.applied("app")
    user, place = hook_of(tree, "go")["approvedBy"], hook_of(tree, "migrate")["job"]

    shown = (await cli("release", "get", "app")).out
    drawn = (await cli("release", "tree", "app")).out

    for text in (shown, drawn):
        (migrate,) = [line for line in text.splitlines() if "migrate" in line]
        (go,) = [line for line in text.splitlines() if line.lstrip(" │├└─").startswith("go ")]
        assert place in migrate
        assert "Succeeded" in migrate
        assert user in go
        assert "Approved" in go


async def test_sync_wait_tells_of_each_hook(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, job("migrate"), policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")

    done = await cli("release", "sync", "app", "--wait", "--timeout", "60s")

    assert "hook migrate: Running" in done.lines
    assert "hook migrate: Succeeded" in done.lines
    assert done.lines[-1].startswith("done: applied 1 object")


async def test_preview_shows_the_hooks_around_the_waves(tenant: Tenant, cli: Cli) -> None:
    await hooked(tenant, job("migrate"), GO, post=[job("smoke")], policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")

    lines = (await cli("release", "preview", "app")).lines

    before, wave, after = (
        lines.index(line)
        for line in ("Before it: 2 hooks (preSync)", "Wave 0: 1 object", "After it: 1 hook (postSync)")
    )
    assert before < wave < after
    assert lines[before + 1 : before + 3] == ["  Job       migrate", "  Approval  go"]
    assert lines[after + 1] == "  Job  smoke"


async def test_while_a_post_sync_hook_waits_what_is_applied_is_shown_and_rolled_back(
    tenant: Tenant, cli: Cli
) -> None:
    await hooked(tenant, post=[GO])
    await tenant.until("app", lambda tree: hook_of(tree, "go").get("phase") == "Pending")
    await cli("release", "approve", "app")
    tree = await tenant.recorded("app")
    first = tree["status"]["lastSuccessful"]["renderRef"]
    await new_render(tenant, "2")
    tree = await tenant.until("app", lambda tree: hook_of(tree, "go").get("run") == 2)
    second = hook_of(tree, "go")["renderRef"]
    await tenant.until("app", lambda tree: "unrecorded" in tree["status"])

    (applied,) = [line for line in (await cli("release", "get", "app")).lines if line.startswith("Applied:")]
    assert second in applied
    assert first in (await cli("release", "rollback", "app")).out
    tree = await tenant.until(
        "app", lambda tree: (tree["status"].get("unrecorded") or {}).get("renderRef") == first
    )
    assert [entry["renderRef"] for entry in tree["status"]["history"]] == [second, first]
    assert tree["status"]["unrecorded"]["desired"] == "pin"
