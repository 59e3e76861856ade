"""`-o` of commands that change a Release, and of views that are no resources: stdout holds the data only."""

from __future__ import annotations

import json

import yaml

from convoy.api.names import SYNC_REQUESTED_AT
from tests.e2e.cli.conftest import Cli
from tests.e2e.cli.test_pins import shop
from tests.e2e.hooked import GO, hooked
from tests.e2e.tenant import Tenant, config_map

__all__ = ["shop"]

NAME = "release.convoy.kumodo.io/shop"


async def test_the_release_as_it_is_after_the_command(cli: Cli, shop: tuple[str, str]) -> None:
    back = await cli("release", "rollback", "shop", "-o", "json")
    assert json.loads(back.out)["pin"] == {"renderRef": shop[0]}
    assert shop[0] in (await cli("release", "list", "-o", "wide")).lines[1].split()
    assert "pin" not in yaml.safe_load((await cli("release", "unpin", "shop", "-o", "yaml")).out)
    pinned = await cli("release", "pin", "shop", shop[1], "-o", "json")
    assert json.loads(pinned.out)["pin"] == {"renderRef": shop[1]}
    assert pinned.error == f"{NAME} pinned to {shop[1]}\n"
    assert json.loads((await cli("release", "suspend", "shop", "-o=json")).out)["spec"]["suspend"] is True
    assert (await cli("release", "resume", "shop", "-o", "name")).lines == [NAME]


async def test_a_sync_that_was_waited_for(cli: Cli, tenant: Tenant) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("shop", "WaitingForSync")
    done = await cli("release", "sync", "shop", "--wait", "-o", "json")
    tree = json.loads(done.out)
    assert tree["metadata"]["annotations"][SYNC_REQUESTED_AT] == tree["status"]["lastHandledSyncAt"]
    assert "managedFields" not in tree["metadata"]
    assert "wave 0: Applied, 1 of 1 objects" in done.error.splitlines()
    assert (await cli("release", "sync", "shop", "-o", "name")).lines == [NAME]


async def test_an_approval(cli: Cli, tenant: Tenant) -> None:
    await hooked(tenant, GO)
    await tenant.applied("app", "WaitingForApproval")
    assert json.loads((await cli("release", "approve", "app", "-o", "json")).out)["kind"] == "Release"


async def test_the_tree(cli: Cli, tenant: Tenant, shop: tuple[str, str]) -> None:
    tree = json.loads((await cli("release", "tree", "shop", "-o", "json")).out)
    assert tree["renderRef"] == shop[1]
    ((found,),) = [wave["objects"] for wave in tree["waves"]]
    assert (found["kind"], found["namespace"], found["name"]) == ("ConfigMap", tenant.namespace, "a")
    again = yaml.safe_load((await cli("release", "tree", "shop", "-o", "yaml")).out)
    assert again["waves"][0]["objects"][0]["name"] == "a"


async def test_history_and_preview(cli: Cli, tenant: Tenant, shop: tuple[str, str]) -> None:
    assert (await cli("release", "history", "shop", "-o", "name")).lines == list(shop[::-1])
    wide = (await cli("release", "history", "shop", "-o", "wide")).lines
    assert [line.split()[0] for line in wide[1:]] == list(shop[::-1])
    assert (await cli("release", "preview", "shop", "-o", "name")).lines == [
        f"ConfigMap {tenant.namespace}/a"
    ]


async def test_a_check_of_a_cluster(cli: Cli, shop: tuple[str, str]) -> None:
    found = json.loads((await cli("cluster", "check", "here", "-o", "json")).out)
    assert found["fromHere"] is None
    assert found["convoy"]["reason"] == "Reachable"
