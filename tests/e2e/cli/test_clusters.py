"""`cluster list|get|check`."""

from __future__ import annotations

import base64
import json

import yaml

from convoy.kube.resources import SECRETS
from tests.e2e.cli.conftest import Cli
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map


async def use(tenant: Tenant, cluster: str) -> None:
    """Have convoy connect to a Cluster."""
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)}, cluster=cluster)
    await tenant.applied("shop")


async def kubeconfig_secret(tenant: Tenant, kubeconfig: bytes) -> None:
    data = {"kubeconfig": base64.b64encode(kubeconfig).decode()}
    await tenant.create(SECRETS, "there", {"data": data})
    await tenant.cluster("there", {"kubeconfigSecretRef": {"name": "there"}})


async def test_list_and_get(cli: Cli, tenant: Tenant) -> None:
    await use(tenant, "here")
    assert (await cli("cluster", "list")).lines[1].startswith("here ")
    assert (await cli("cluster", "list", "-o", "name")).lines == ["cluster.convoy.kumodo.io/here"]
    told = (await cli("cluster", "get", "here")).out
    assert "inCluster" in told
    assert "Reachable" in told
    assert json.loads((await cli("cluster", "get", "here", "-o", "json")).out)["kind"] == "Cluster"


async def test_check_of_an_in_cluster_cluster_tells_what_convoy_found(cli: Cli, tenant: Tenant) -> None:
    assert "has not connected yet" in (await cli("cluster", "check", "here")).out
    await use(tenant, "here")
    assert (await cli("cluster", "check", "here")).out.startswith("convoy: Reachable")


async def test_check_connects_with_the_kubeconfig_of_the_secret(
    cli: Cli, tenant: Tenant, convoy: Convoy
) -> None:
    kubeconfig = convoy.stack.kubeconfig.read_bytes()
    await kubeconfig_secret(tenant, kubeconfig)
    await use(tenant, "there")
    first, second = (await cli("cluster", "check", "there")).lines
    assert first.startswith("from here: reachable, Kubernetes v1.")
    assert second.startswith("convoy: Reachable")
    tree = json.loads((await cli("cluster", "check", "there", "-o", "json")).out)
    assert f"target UID {tree['fromHere']['targetUID']}" in first


async def test_check_refuses_what_convoy_refuses(cli: Cli, tenant: Tenant, convoy: Convoy) -> None:
    tree = yaml.safe_load(convoy.stack.kubeconfig.read_bytes())
    tree["users"][0]["user"] = {"exec": {"command": "true", "apiVersion": "client.authentication.k8s.io/v1"}}
    await kubeconfig_secret(tenant, yaml.safe_dump(tree).encode())
    refused = await cli.refused("cluster", "check", "there")
    assert "exec" in refused


async def test_check_of_a_cluster_without_its_secret(cli: Cli, tenant: Tenant) -> None:
    await tenant.cluster("there", {"kubeconfigSecretRef": {"name": "there"}})
    assert "there" in await cli.refused("cluster", "check", "there")
