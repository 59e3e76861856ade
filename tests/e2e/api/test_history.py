"""`GET history`: what was applied, newest first, with what differs between neighbours."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.harness.api import Api
from tests.e2e.tenant import Tenant, config_map


async def test_each_entry_tells_what_it_changed(tenant: Tenant, api: Callable[[str], Api]) -> None:
    files = {name: config_map(name[0], tenant.namespace, v="1") for name in ("a.yaml", "b.yaml")}
    await tenant.release("app", files)
    await tenant.applied("app")
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2"), "b.yaml": None})
    await tenant.applied("app")
    await tenant.files("app", {"c.yaml": config_map("c", tenant.namespace)})
    tree = await tenant.applied("app")

    items = (await api("app").get("history"))["items"]

    assert [each["renderRef"] for each in items] == [each["renderRef"] for each in tree["status"]["history"]]
    assert all(each["stored"] and not each["pinned"] for each in items)
    newest, middle, oldest = items
    assert [each["name"] for each in newest["changes"]["added"]] == ["c"]
    assert [each["name"] for each in middle["changes"]["removed"]] == ["b"]
    assert [(each["name"], each["fields"]) for each in middle["changes"]["changed"]] == [("a", ["/data/v"])]
    assert "changes" not in oldest


async def test_a_render_of_the_history_can_be_compared(tenant: Tenant, api: Callable[[str], Api]) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")})
    first = (await tenant.applied("app"))["status"]["lastSuccessful"]["renderRef"]
    await tenant.files("app", {"a.yaml": config_map("a", tenant.namespace, v="2")})
    await tenant.applied("app")

    diff = await api("app").get("diff", render=first)

    assert (diff["desired"], diff["renderRef"]) == ("named", first)
    change = diff["objects"][0]["changes"][0]
    assert (change["pointer"], change["live"], change["desired"]) == ("/data/v", "2", "1")
    assert change["owner"]["manager"] == "convoy"


async def test_an_unknown_render_is_refused_with_those_that_are_known(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    ref = (await tenant.applied("app"))["status"]["lastSuccessful"]["renderRef"]
    await tenant.release("other", {"b.yaml": config_map("b", tenant.namespace)})
    others = (await tenant.applied("other"))["status"]["lastSuccessful"]["renderRef"]

    answer = await api("app").call("GET", "diff", code=404, render=others)

    assert [each["field"] for each in answer["details"]["causes"]] == [ref]
    assert ref in answer["message"]
    assert (await api("app").call("GET", "diff", code=400, render="latest"))["reason"] == "BadRequest"
