"""`GET preview`: the desired render with waves, warnings and the prune plan, and nothing is changed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable

from convoy.kube.resources import CONFIG_MAPS
from tests.e2e.harness.api import Api
from tests.e2e.tenant import Tenant, config_map

MANUAL = {"automatic": False}


async def test_it_shows_waves_in_order_with_the_origin_of_each_object(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    files = {
        "a.yaml": config_map("late", tenant.namespace, wave=5, v="1"),
        "b.yaml": config_map("early", tenant.namespace, wave=-1, v="2"),
    }
    await tenant.release("app", files, policy=MANUAL)

    preview = await api("app").get("preview")

    tree = await tenant.applied("app", "WaitingForSync")
    assert preview["kind"] == "ReleasePreview"
    assert preview["desired"] == "fresh"
    waves = [(wave["wave"], [each["name"] for each in wave["objects"]]) for wave in preview["waves"]]
    assert waves == [(-1, ["early"]), (5, ["late"])]
    early = preview["waves"][0]["objects"][0]
    assert "b.yaml" in early["origin"]
    assert early["manifest"]["data"] == {"v": "2"}
    assert preview["renderRef"][:19] in json.dumps(tree["status"]), "messages shorten it"
    assert await tenant.config_map("early") is None


async def test_the_prune_plan_has_a_reason_for_each_object(tenant: Tenant, api: Callable[[str], Api]) -> None:
    names = ("a", "gone", "kept", "absent")
    policy = {**MANUAL, "prune": {"orphaned": True, "maxPercent": 10}}
    files = {f"{name}.yaml": config_map(name, tenant.namespace, v="1") for name in names}
    await tenant.release("app", files, policy=policy)
    await tenant.applied("app", "WaitingForSync")
    await api("app").call("POST", "sync")
    await tenant.applied("app")
    annotations = {"metadata": {"annotations": {"convoy.kumodo.io/prune": "disabled"}}}
    await tenant.home.patch(CONFIG_MAPS, tenant.namespace, "kept", annotations, manager="edit")
    await tenant.home.delete(CONFIG_MAPS, tenant.namespace, "absent")
    await tenant.files("app", {"gone.yaml": None, "kept.yaml": None, "absent.yaml": None})

    prune = (await api("app").get("preview"))["prune"]

    assert prune["enabled"] is True
    plan = {each["name"]: (each["action"], each["reason"]) for each in prune["objects"]}
    assert plan == {
        "gone": ("delete", "the render no longer contains it"),
        "kept": ("keep", "annotated convoy.kumodo.io/prune: disabled"),
        "absent": ("absent", "it is absent"),
    }
    assert "maxPercent" in prune["message"]
    assert await tenant.config_map("gone") is not None


async def test_without_prune_only_records_go(tenant: Tenant, api: Callable[[str], Api]) -> None:
    files = {f"{name}.yaml": config_map(name, tenant.namespace) for name in "ab"}
    await tenant.release("app", files)
    await tenant.applied("app")
    await tenant.patch("app", {"spec": {"syncPolicy": {"automatic": False}}})
    await tenant.files("app", {"b.yaml": None})

    prune = (await api("app").get("preview"))["prune"]

    assert prune["enabled"] is False
    assert [(each["name"], each["action"]) for each in prune["objects"]] == [("b", "keep")]


async def test_it_warns_of_what_will_not_go(tenant: Tenant, api: Callable[[str], Api]) -> None:
    group = f"x{secrets.token_hex(4)}.example"
    nowhere = f"n-{secrets.token_hex(4)}"
    crd = f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.{group}}}
spec:
  group: {group}
  names: {{kind: Thing, plural: things}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {{openAPIV3Schema: {{type: object}}}}
"""
    hook = config_map("hooked", tenant.namespace).replace(
        "metadata:\n", "metadata:\n  annotations: {helm.sh/hook: test}\n"
    )
    thing = f"apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: t, namespace: {tenant.namespace}}}\n"
    alien = f"apiVersion: {nowhere}.example/v1\nkind: Alien\nmetadata: {{name: a, namespace: {tenant.namespace}}}\n"
    files = {
        "1.yaml": thing,
        "2.yaml": crd,
        "3.yaml": config_map("lost", nowhere),
        "4.yaml": hook,
        "5.yaml": alien,
    }
    await tenant.release("app", files, policy=MANUAL)

    warnings = (await api("app").get("preview"))["warnings"]

    told = {each["object"]["name"]: each["message"] for each in warnings}
    assert set(told) == {"t", "lost", "hooked", "a"}
    assert "before its CustomResourceDefinition" in told["t"]
    assert "the same wave" in told["t"]
    assert f"no namespace {nowhere}" in told["lost"]
    assert "helm.sh/hook is ignored" in told["hooked"]
    assert "not in the render" in told["a"]


async def test_it_warns_of_an_object_that_another_release_has(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    files = {"a.yaml": config_map("shared", tenant.namespace)}
    await tenant.release("first", files)
    await tenant.applied("first")
    await tenant.release("second", files, policy=MANUAL)

    warnings = (await api("second").get("preview"))["warnings"]

    assert [each["object"]["name"] for each in warnings] == ["shared"]
    assert f"{tenant.namespace}/first" in warnings[0]["message"]


async def test_it_warns_of_a_mutation_that_matches_nothing_and_of_a_pin_that_is_gone(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)})
    ref = (await tenant.applied("app"))["status"]["lastSuccessful"]["renderRef"]
    unknown = f"sha256:{'0' * 64}"
    mutation = {"target": {"kind": "Secret"}, "merge": {"type": "Opaque"}}
    await tenant.patch("app", {"mutations": [mutation], "pin": {"renderRef": unknown}})

    preview = await api("app").get("preview")

    gone, idle = preview["warnings"]
    assert preview["desired"] == "fresh"
    assert unknown in gone["message"]
    assert "Pinned" in gone["message"]
    assert "object" not in gone
    assert idle["message"] == "mutations[0] matches nothing in the render"
    assert preview["renderRef"] == ref


async def test_what_cannot_be_rendered_is_refused_with_the_reason(
    tenant: Tenant, api: Callable[[str], Api]
) -> None:
    await tenant.release("bad", {"a.yaml": "kind: [\n"}, policy=MANUAL)
    await tenant.release(
        "far", None, policy=MANUAL, cluster="nowhere", source={"configMap": {"name": "none"}}
    )

    unsupported = await api("bad").call("GET", "preview", code=422)
    unready = await api("far").call("GET", "preview", code=503)

    assert unsupported["details"]["causes"][0]["reason"] == "Unsupported"
    assert "a.yaml" in unsupported["message"]
    assert unready["details"]["causes"][0]["reason"] == "ClusterNotReady"
