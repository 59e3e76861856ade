"""Hooks of a Helm chart in whole syncs: as Helm runs them, and kept with the render (D6)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from convoy.api.objects import Manifest
from convoy.kube.errors import NotFound
from convoy.kube.resources import Resource
from tests.e2e.harness.api import Api
from tests.e2e.hooked import jobs, runs
from tests.e2e.tenant import Tenant

SERVICE_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts", True)
BOX = """
apiVersion: v1
kind: ConfigMap
metadata: {name: box}
data: {v: "{{ .Values.version }}"}
"""
ACCOUNT = """
apiVersion: v1
kind: ServiceAccount
metadata:
  name: migrate
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "-5"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  labels: {app: shop}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {helm.sh/hook: "%s", helm.sh/hook-delete-policy: %s}
spec:
  backoffLimit: 0
  template:
    spec:
      serviceAccountName: %s
      restartPolicy: Never
      containers: [{name: main, image: "fake.local/ready:{{ .Values.version }}"}]
"""
FILES = {
    "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "values.yaml": "version: '1'\n",
    "templates/box.yaml": BOX,
    "templates/account.yaml": ACCOUNT,
    "templates/migrate.yaml": JOB % ("migrate", "pre-install,pre-upgrade", "before-hook-creation", "migrate"),
    "templates/welcome.yaml": JOB % ("welcome", "post-install", "hook-succeeded", "default"),
    "templates/tests/test.yaml": JOB % ("check", "test", "hook-succeeded", "default"),
}


async def install(tenant: Tenant, values: Mapping[str, Any]) -> None:
    await tenant.release("app", FILES, content={"helm": {"namespace": tenant.namespace, "values": values}})


def names(tenant: Tenant) -> tuple[str, str, str]:
    space = tenant.namespace
    return "chart-pre/objects/-5", f"chart-pre/{space}/migrate", f"chart-post/{space}/welcome"


async def account_is_there(tenant: Tenant) -> bool:
    try:
        await tenant.home.get(SERVICE_ACCOUNTS, tenant.namespace, "migrate")
    except NotFound:
        return False
    return True


async def only_job(tenant: Tenant) -> Manifest:
    """Return the only Job that is left; one that goes with its success goes a moment after that is recorded."""
    async with asyncio.timeout(30):
        while len(left := await jobs(tenant)) != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return left[0]


async def test_they_run_at_an_installation_and_at_an_upgrade_as_helm_runs_them(tenant: Tenant) -> None:
    account, migrate, welcome = names(tenant)
    await install(tenant, {})

    tree = await tenant.until("app", lambda tree: runs(tree).get(welcome) == ("Succeeded", 1))
    assert runs(tree) == {
        account: ("Succeeded", 1),
        migrate: ("Succeeded", 1),
        welcome: ("Succeeded", 1),
    }
    assert not await account_is_there(tenant), "hook-succeeded: it goes once its stage has succeeded"
    left = await only_job(tenant)
    assert left["spec"]["template"]["spec"]["serviceAccountName"] == "migrate"
    assert await tenant.config_map("box") is not None
    assert (await tenant.recorded("app"))["status"]["history"][0]["objects"] == 1, "hooks are no objects"

    await tenant.patch("app", {"spec": {"content": {"helm": {"values": {"version": "2"}}}}})

    tree = await tenant.until("app", lambda tree: runs(tree).get(migrate) == ("Succeeded", 2))
    tree = await tenant.applied("app")
    assert runs(tree) == {account: ("Succeeded", 2), migrate: ("Succeeded", 2)}, "no installation any more"
    left = await only_job(tenant)
    assert left["spec"]["template"]["spec"]["containers"][0]["image"] == "fake.local/ready:2"


async def test_a_pin_brings_the_hooks_of_its_render_back(tenant: Tenant) -> None:
    _, migrate, _ = names(tenant)
    await install(tenant, {})
    first = (await tenant.recorded("app"))["status"]["lastSuccessful"]["renderRef"]
    await tenant.patch("app", {"spec": {"content": {"helm": {"values": {"version": "2"}}}}})
    await tenant.until("app", lambda tree: runs(tree).get(migrate) == ("Succeeded", 2))
    await tenant.applied("app")

    await Api(tenant.home, tenant.namespace, "app").call("PUT", "pin", {"renderRef": first})

    await tenant.until("app", lambda tree: runs(tree).get(migrate) == ("Succeeded", 3))
    tree = await tenant.recorded("app")
    assert tree["status"]["lastSuccessful"]["renderRef"] == first
    left = await only_job(tenant)
    assert left["spec"]["template"]["spec"]["containers"][0]["image"] == "fake.local/ready:1"


async def test_a_preview_shows_them_and_what_has_run(tenant: Tenant) -> None:
    account, migrate, welcome = names(tenant)
    api = Api(tenant.home, tenant.namespace, "app")
    await tenant.release(
        "app", FILES, policy={"automatic": False}, content={"helm": {"namespace": tenant.namespace}}
    )
    await tenant.applied("app", "WaitingForSync")

    before = (await api.get("preview"))["hooks"]

    assert [(each["stage"], each["name"], each["kind"], each["runs"]) for each in before] == [
        ("preSync", account, "Objects", True),
        ("preSync", migrate, "Job", True),
        ("postSync", welcome, "Job", True),
    ]
    assert [each["name"] for each in before[0]["objects"]] == ["migrate"]
    await api.call("POST", "sync")
    await tenant.until("app", lambda tree: runs(tree).get(welcome) == ("Succeeded", 1))
    after = (await api.get("preview"))["hooks"]
    assert [each["runs"] for each in after] == [False, False, False]
