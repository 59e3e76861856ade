"""Releases with lifecycle hooks, and what there is to see of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convoy.api.objects import Manifest
from convoy.kube.resources import EVENTS, JOBS, RELEASES
from tests.e2e.tenant import Tenant, config_map

READY, FAILS, HANGS = "fake.local/ready:1", "fake.local/job-fails:1", "fake.local/job-hangs:1"
GO: dict[str, Any] = {"name": "go", "approval": {}}


def job(name: str, image: str = READY, **hook: Any) -> dict[str, Any]:
    """Return a hook with a Job whose Pod ends as its image says; for a namespace see `hooked`."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}
    spec = hook.pop("spec", {})
    return {"name": name, "job": {"backoffLimit": 0, "template": {"spec": pod}, **spec}, **hook}


def placed(tenant: Tenant, hooks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Have the Jobs of hooks run in the tenant's namespace, which goes with the test."""
    return [{"namespace": tenant.namespace, **hook} for hook in hooks]


async def hooked(
    tenant: Tenant,
    *pre: Mapping[str, Any],
    post: Sequence[Mapping[str, Any]] = (),
    policy: Mapping[str, Any] | None = None,
    name: str = "app",
    cluster: str = "here",
) -> None:
    """Make a Release of one ConfigMap `box` with hooks; in automatic mode unless the policy says."""
    await tenant.create(
        RELEASES,
        name,
        {
            "spec": {
                "clusterRef": {"name": cluster},
                "content": {"manifests": {}},
                "source": {"inline": {"files": {"box.yaml": config_map("box", tenant.namespace, v="1")}}},
                "syncPolicy": {"automatic": True, **(policy or {})},
            },
            "lifecycle": {"preSync": placed(tenant, pre), "postSync": placed(tenant, post)},
        },
    )


async def new_render(tenant: Tenant, version: str, name: str = "app") -> None:
    await tenant.files(name, {"box.yaml": config_map("box", tenant.namespace, v=version)})


def hook_of(tree: Manifest, name: str) -> dict[str, Any]:
    """Return what status.hooks tells of a hook; an empty mapping where it tells nothing."""
    hooks: list[dict[str, Any]] = (tree.get("status") or {}).get("hooks") or []
    return next((hook for hook in hooks if hook["name"] == name), {})


def runs(tree: Manifest) -> dict[str, tuple[str, int]]:
    """Return phase and run of each hook."""
    return {
        hook["name"]: (hook["phase"], hook["run"]) for hook in (tree.get("status") or {}).get("hooks") or []
    }


async def jobs(tenant: Tenant) -> list[Manifest]:
    """Return the Jobs that are there and not being deleted."""
    found = await tenant.home.list(JOBS, tenant.namespace)
    return [each for each in found if "deletionTimestamp" not in each["metadata"]]


async def told(tenant: Tenant, name: str = "app") -> list[tuple[str, str]]:
    """Return reason and note of the events about a Release's hooks."""
    events = await tenant.home.list(EVENTS, tenant.namespace)
    ours = [each for each in events if each["regarding"]["name"] == name and each.get("action") == "Hook"]
    return [(each["reason"], each["note"]) for each in sorted(ours, key=lambda each: each["eventTime"])]
