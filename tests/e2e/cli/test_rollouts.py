"""What a person sees of a rollout that has failed, and what the command line does about it."""

from __future__ import annotations

from tests.e2e.cli.conftest import Cli
from tests.e2e.tenant import Tenant
from tests.e2e.test_rollout import BAD, SHORT, back, healthy, push, rollout_of


async def test_get_history_and_preview_show_a_rollback(cli: Cli, tenant: Tenant) -> None:
    good = await healthy(tenant)
    await push(tenant, BAD, SHORT)
    tree = await back(tenant, good)
    bad = rollout_of(tree)["renderRef"]

    shown = (await cli("release", "get", "app")).out
    assert "RolledBack" in shown
    assert f"The last healthy render {good[:19]} (inline@" in shown
    lines = (await cli("release", "history", "app")).lines
    assert [line.split()[0] for line in lines[1:]] == [ref[7:19] for ref in (good, bad, good)]
    assert "(failed, rolled back)" in lines[2]
    assert "failed" not in lines[1] + lines[3]
    assert ["(rollback)" in line for line in lines[1:]] == [True, False, False]
    preview = (await cli("release", "preview", "app")).out
    assert good in preview
    assert "the latest healthy render, after a rollback" in preview
    assert "status.rollout is RolledBack: The render" in preview

    refused = await cli.refused("release", "rollback", "app")
    assert "no other render in its history" in refused, "not the one that failed"
    waited = await cli.refused("release", "sync", "app", "--wait")
    assert waited.startswith("rollout RolledBack: The render")
