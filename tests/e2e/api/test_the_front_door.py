"""The port that convoy serves on answers kube-apiserver and nobody else."""

from __future__ import annotations

import ssl

import aiohttp

from convoy.server.names import API_VERSION
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map

SPOOFED = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}


async def test_nobody_gets_past_kube_apiserver(convoy: Convoy) -> None:
    context = ssl.create_default_context(cafile=str(convoy.folder / "pki" / "convoy-apiserver-ca.crt"))
    url = f"https://{convoy.settings.api_address}/apis/{API_VERSION}/namespaces/n/releases/r/sync"
    connector = aiohttp.TCPConnector(ssl=context)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.post(url, headers=SPOOFED) as answer,
    ):
        assert answer.status == 401


async def test_kube_apiserver_lets_no_header_through_that_a_user_sets(tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    nobody = {"Impersonate-User": "nobody"}

    answer = await Api(tenant.home, tenant.namespace, "app", nobody | SPOOFED).call("POST", "sync", code=403)

    assert "nobody" in answer["message"]


async def test_each_write_leaves_a_line_in_the_audit_log(convoy: Convoy, tenant: Tenant) -> None:
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    mark = convoy.process.mark()

    await Api(tenant.home, tenant.namespace, "app").get("pin")
    await Api(tenant.home, tenant.namespace, "app").call("POST", "sync", force="true")
    await Api(tenant.home, tenant.namespace, "app").call("PUT", "pin", {"renderRef": "x"}, code=422)

    lines = [line for line in convoy.process.log_since(mark).splitlines() if '"event": "audit"' in line]
    assert len(lines) == 2
    assert f'"release": "{tenant.namespace}/app"' in lines[0]
    assert '"verb": "create"' in lines[0]
    assert '"subresource": "sync"' in lines[0]
    assert '"code": 201' in lines[0]
    assert '"code": 422' in lines[1]
