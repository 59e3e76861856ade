"""`diff`, `check` and `preview`: what differs, who did it, and the exit code that says so."""

from __future__ import annotations

import json

import pytest
import yaml

from convoy.api.objects import Manifest
from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.cli.conftest import BINARY, Cli, run
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}


@pytest.fixture
async def shop(cli: Cli, tenant: Tenant) -> Manifest:
    """A Release in manual mode, applied: drift stays."""
    files = {"a.yaml": config_map("a", tenant.namespace, v="1"), "b.yaml": config_map("b", tenant.namespace)}
    await tenant.release("shop", files, policy={**MANUAL, "prune": {"orphaned": True}})
    await tenant.applied("shop", "WaitingForSync")
    await cli("release", "sync", "shop", "--wait")
    return await tenant.applied("shop")


async def make_drift(tenant: Tenant) -> None:
    await tenant.home.patch(
        CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "by hand"}}, manager="kubectl-edit"
    )
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "b")


@pytest.mark.usefixtures("shop")
async def test_without_drift_diff_ends_with_0(cli: Cli) -> None:
    assert (await cli("release", "diff", "shop")).lines == ["2 objects in sync"]
    assert (await cli("release", "diff", "shop", "-o", "unified")).out == ""


@pytest.mark.usefixtures("shop")
async def test_drift_is_shown_by_object_with_the_owner_of_each_field(cli: Cli, tenant: Tenant) -> None:
    await make_drift(tenant)
    told = (await cli("release", "diff", "shop", code=1)).lines
    at = told.index(f"ConfigMap {tenant.namespace}/a  Modified")
    assert told[at + 1].startswith("  /data/v  (owner: kubectl-edit, Update, ")
    assert told[at + 2 : at + 4] == ['    - "by hand"', '    + "1"']
    assert f"ConfigMap {tenant.namespace}/b  Missing" in told


@pytest.mark.usefixtures("shop")
async def test_drift_that_the_reader_has_not_heard_of_is_not_0(cli: Cli, tenant: Tenant) -> None:
    await make_drift(tenant)
    script = '"$0" release diff shop -n "$1" | true; exit "${PIPESTATUS[0]}"'
    done = await run("bash", "-c", script, BINARY, cli.namespace, environment=cli.environment)
    assert (done.code, done.error) == (141, "")


@pytest.mark.usefixtures("shop")
async def test_a_unified_diff_is_for_tools(cli: Cli, tenant: Tenant) -> None:
    await make_drift(tenant)
    told = (await cli("release", "diff", "shop", "-o", "unified", code=1)).lines
    assert told[:5] == [
        f"--- live/{tenant.namespace}/ConfigMap/a",
        f"+++ desired/{tenant.namespace}/ConfigMap/a",
        "@@ -1,1 +1,1 @@",
        '-/data/v: "by hand"',
        '+/data/v: "1"',
    ]


@pytest.mark.usefixtures("shop")
async def test_the_answer_as_data(cli: Cli, tenant: Tenant) -> None:
    await make_drift(tenant)
    tree = json.loads((await cli("release", "diff", "shop", "-o", "json", code=1)).out)
    assert tree["inSync"]["status"] == "False"
    again = yaml.safe_load((await cli("release", "diff", "shop", "-o", "yaml", code=1)).out)
    assert again["objects"] == tree["objects"]


async def test_diff_with_a_stored_render(cli: Cli, tenant: Tenant, shop: Manifest) -> None:
    ref = shop["status"]["lastSuccessful"]["renderRef"]
    await tenant.files("shop", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.applied("shop", "WaitingForSync")
    assert '+ "2"' in (await cli("release", "diff", "shop", code=1)).out
    await cli("release", "diff", "shop", "--render", ref)
    await cli("release", "diff", "shop", "--render", ref.removeprefix("sha256:")[:12])
    assert "no render" in await cli.refused("release", "diff", "shop", "--render", "00000000", code=2)


async def test_a_release_that_cannot_be_rendered_has_no_answer(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("shop", {"a.yaml": "a: b: c"}, policy=MANUAL)
    await tenant.applied("shop", "Unsupported")
    assert "a.yaml" in await cli.refused("release", "diff", "shop", code=2)


@pytest.mark.usefixtures("shop")
async def test_check_makes_a_pass_now(cli: Cli, tenant: Tenant) -> None:
    assert (await cli("release", "check", "shop")).lines[-1].startswith("InSync: ")
    await make_drift(tenant)
    told = (await cli("release", "check", "shop", code=1)).lines
    assert told[-1].startswith("Drifted: ")
    assert (await tenant.in_sync("shop", "Drifted"))["status"]
    tree = json.loads((await cli("release", "check", "shop", "-o", "json", code=1)).out)
    assert tree["verdict"] == "Drifted"


@pytest.mark.usefixtures("shop")
async def test_preview_shows_waves_and_the_prune_plan(cli: Cli, tenant: Tenant) -> None:
    files = {"b.yaml": None, "c.yaml": config_map("c", tenant.namespace, wave=1)}
    await tenant.files("shop", files)
    await tenant.applied("shop", "WaitingForSync")
    told = (await cli("release", "preview", "shop")).out
    assert f"Wave 1: 1 object\n  ConfigMap {tenant.namespace}/c" in told
    assert "Prune: 1 object to delete" in told
    assert f"delete  ConfigMap {tenant.namespace}/b" in told
    tree = json.loads((await cli("release", "preview", "shop", "-o", "json")).out)
    assert [wave["wave"] for wave in tree["waves"]] == [0, 1]
    assert tree["waves"][1]["objects"][0]["manifest"]["kind"] == "ConfigMap"
