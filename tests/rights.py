"""A user of an API server who has rights on the ConfigMaps of a namespace and none else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from convoy.kube.client import KubeClient
from convoy.kube.connection import impersonating
from convoy.kube.errors import Forbidden, NotFound
from convoy.kube.resources import CONFIG_MAPS, Resource

_RBAC = "rbac.authorization.k8s.io"
_ROLES = Resource(_RBAC, "v1", "Role", "roles", True)
_BINDINGS = Resource(_RBAC, "v1", "RoleBinding", "rolebindings", True)


async def allow_config_maps(
    client: KubeClient, namespace: str, user: str, *, verbs: Sequence[str] = ("*",)
) -> None:
    """Give a user rights on the ConfigMaps of a namespace, to read them at least; they hold when this returns."""
    parts: list[tuple[Resource, Mapping[str, object]]] = [
        (_ROLES, {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs)}]}),
        (
            _BINDINGS,
            {
                "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": "maps"},
                "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
            },
        ),
    ]
    for resource, content in parts:
        metadata = {"name": "maps", "namespace": namespace}
        head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        await client.create({**head, **content}, resource, manager="tests")
    async with impersonating(client, user) as poor, asyncio.timeout(60):
        while True:
            try:
                await poor.get(CONFIG_MAPS, namespace, "probe")
            except Forbidden:
                await asyncio.sleep(0.05)
            except NotFound:
                return
