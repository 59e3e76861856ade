"""The ready-made ClusterRoles allow and deny what they say, asked of the real authorizer through kube-apiserver."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from convoy.api.objects import ObjectKey
from convoy.server.names import SUBRESOURCES
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from tests.waiting import eventually

ROLES = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes" / "base" / "rbac-users.yaml"
RBAC = "rbac.authorization.k8s.io"
READS = {(name, "GET") for name, (_, methods) in SUBRESOURCES.items() if "GET" in methods}
RUNS = {("sync", "POST"), ("check", "POST"), ("approve", "POST"), ("pin", "PUT"), ("pin", "DELETE")}
ALL = {(name, method) for name, (_, methods) in SUBRESOURCES.items() for method in methods}
ALLOWED = {
    "nobody": set[tuple[str, str]](),
    "convoy-viewer": READS,
    "convoy-operator": READS | RUNS,
    "convoy-admin": ALL,
}


@pytest.fixture
async def users(convoy: Convoy, tenant: Tenant) -> AsyncIterator[dict[str, Api]]:
    """A user for each role, bound in the tenant's namespace alone."""
    mark = secrets.token_hex(4)
    found = {"nobody": Api(tenant.home, tenant.namespace, "app").as_user(f"nobody-{mark}")}
    made = []
    for role in yaml.safe_load_all(ROLES.read_text(encoding="utf-8")):
        name, user = role["metadata"]["name"], f"{role['metadata']['name']}-{mark}"
        role["metadata"] = {"name": user}
        binding = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": user, "namespace": tenant.namespace},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
        }
        await convoy.objects.apply(role, manager="test")
        await convoy.objects.apply(binding, manager="test")
        made.append(ObjectKey(RBAC, "ClusterRole", "", user))
        found[name] = Api(tenant.home, tenant.namespace, "app").as_user(user)
    yield found
    for key in made:
        await convoy.objects.delete(key)


async def test_each_verb_is_allowed_and_denied_as_the_roles_say(
    tenant: Tenant, users: dict[str, Api]
) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("app", "WaitingForSync")

    for role, allowed in ALLOWED.items():
        await _known(users[role], bool(allowed))
        answers = {
            (name, method): (await users[role].raw(method, name, None if method == "GET" else {})).status
            for name, method in sorted(ALL)
        }
        assert {call for call, code in answers.items() if code != 403} == allowed, role


async def test_a_role_in_one_namespace_says_nothing_in_another(tenant: Tenant, users: dict[str, Api]) -> None:
    await _known(users["convoy-admin"], True)
    elsewhere = Api(tenant.home, "default", "app", users["convoy-admin"].headers)

    answer = await elsewhere.call("POST", "sync", code=403)

    assert answer["reason"] == "Forbidden"


async def _known(api: Api, expected: bool) -> None:
    """The authorizer learns of a new role a moment later; a denial is remembered for some seconds."""

    async def as_expected() -> bool:
        return ((await api.raw("GET", "pin")).status != 403) == expected

    await eventually(as_expected, f"allowed: {expected}")
