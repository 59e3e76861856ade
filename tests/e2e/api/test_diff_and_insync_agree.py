"""/diff uses the compare of the drift loop: both say the same of the same live objects (`reference/drift`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import condition_of
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}
FILES = ("a", "b", "c")


async def untouched(tenant: Tenant) -> None:
    """Leave everything as it is."""


async def one_modified(tenant: Tenant) -> None:
    """Change a field by hand."""
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "a", {"data": {"v": "hand"}}, manager="edit")


async def one_missing(tenant: Tenant) -> None:
    """Delete an object by hand."""
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "b")


async def both(tenant: Tenant) -> None:
    """Do both."""
    await one_modified(tenant)
    await one_missing(tenant)


async def a_foreign_field(tenant: Tenant) -> None:
    """Add a field that the render does not have, which is no drift."""
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "a", {"data": {"w": "x"}}, manager="edit")


async def a_newer_render(tenant: Tenant) -> None:
    """Change what is desired: in manual mode it waits, and differs (`reference/drift`, The desired render)."""
    await tenant.files("app", {"c.yaml": config_map("c", tenant.namespace, v="2")})


async def no_source(tenant: Tenant) -> None:
    """Make the source unusable."""
    await tenant.files("app", {"d.yaml": "a: b\n"})


async def an_unknown_kind(tenant: Tenant) -> None:
    """Add an object that the cluster cannot compare: the compare stops at it (D31)."""
    unknown = (
        f"apiVersion: nowhere.example/v1\nkind: Gone\nmetadata: {{name: x, namespace: {tenant.namespace}}}\n"
    )
    await tenant.files("app", {"bb.yaml": unknown})


CHANGES: dict[str, Callable[[Tenant], Awaitable[None]]] = {
    each.__name__: each
    for each in (
        untouched,
        one_modified,
        one_missing,
        both,
        a_foreign_field,
        a_newer_render,
        no_source,
        an_unknown_kind,
    )
}
EXPECTED = {
    "untouched": "InSync",
    "a_foreign_field": "InSync",
    "no_source": "Undetermined",
    "an_unknown_kind": "Undetermined",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_diff_and_the_condition_say_the_same(
    tenant: Tenant, api: Callable[[str], Api], change: str
) -> None:
    files = {f"{name}.yaml": config_map(name, tenant.namespace, v="1") for name in FILES}
    await tenant.release("app", files, policy=MANUAL)
    await tenant.applied("app", "WaitingForSync")
    await tenant.sync("app")
    await tenant.applied("app")
    await CHANGES[change](tenant)

    diff = await api("app").get("diff")
    check = await api("app").call("POST", "check", code=201)

    condition = condition_of(await tenant.get("app"), "InSync")
    said = {name: condition[name] for name in ("status", "reason", "message")}
    assert diff["inSync"] == said
    assert said["reason"] == EXPECTED.get(change, "Drifted")
    assert (check["verdict"], check["message"]) == (said["reason"], said["message"])
    drifted = [each for each in diff["objects"] if each["status"] != "InSync"]
    assert check["objects"] == drifted
    assert bool(drifted) == (said["reason"] == "Drifted")
