"""Commands about Clusters: list, get, check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from convoy.api.names import REACHABLE
from convoy.api.objects import Manifest
from convoy.cli.arguments import all_namespaces, cluster_name, data_output, resource_output, selector
from convoy.cli.errors import Failure
from convoy.cli.output import Data, Format, print_tree, say
from convoy.cli.session import Session, connected
from convoy.kube.resources import CLUSTERS, SECRETS

if TYPE_CHECKING:
    from convoy.api.cluster import Cluster


@click.command("list")
@all_namespaces
@selector
@resource_output
@connected
def list_clusters(
    session: Session, all_namespaces: bool, selector: str | None, output: Format | None
) -> None:
    """List Clusters."""
    from convoy.cli.listing import print_list

    print_list(session, CLUSTERS, all_namespaces=all_namespaces, selector=selector, output=output)


@click.command()
@cluster_name
@resource_output
@connected
def get(session: Session, name: str, output: Format | None) -> None:
    """Show a Cluster: how convoy connects to it, and what it found."""
    tree = session.api.get(CLUSTERS, session.namespace, name)
    if output is None:
        from convoy.cli.describe import describe_cluster

        for line in describe_cluster(tree):
            say(line)
        return
    from convoy.cli.listing import print_one

    print_one(session, CLUSTERS, tree, output)


@click.command()
@cluster_name
@data_output
@connected
def check(session: Session, name: str, output: Data | None) -> None:
    """Connect to the target from here, and tell what convoy found when it last did.

    Reads the kubeconfig Secret with your own rights and takes only what convoy would take. Ends with 1 if either
    failed. Of an inCluster Cluster only convoy itself can tell.
    """
    from convoy.api.cluster import Cluster
    from convoy.api.conditions import find_condition

    tree = session.api.get(CLUSTERS, session.namespace, name)
    cluster = Cluster.read(tree)
    here = _connect(session, cluster) if cluster.spec.kubeconfig_secret_ref is not None else None
    found = find_condition((tree.get("status") or {}).get("conditions"), REACHABLE)
    if output is not None:
        print_tree({"fromHere": here, "convoy": found}, output)
    else:
        _tell(here, found)
    recorded = cluster.status.target_uid
    if here is not None and recorded and recorded != here["targetUID"]:
        raise Failure(f"Cluster {session.namespace}/{name} led to another API server before: {recorded}")
    if found is not None and found["status"] != "True":
        raise Failure(f"convoy cannot use Cluster {session.namespace}/{name}: {found['reason']}")


def _tell(here: Mapping[str, str] | None, found: Mapping[str, Any] | None) -> None:
    if here is not None:
        say(f"from here: reachable, Kubernetes {here['kubernetesVersion']}, target UID {here['targetUID']}")
    if found is None:
        say("convoy: has not connected yet; it does when a Release that names the Cluster is reconciled")
    else:
        say("convoy: " + f"{found.get('reason')}: {found.get('message')}".rstrip(": "))


def _connect(session: Session, cluster: Cluster) -> dict[str, str]:
    import asyncio
    import base64

    from convoy.api.errors import ClusterNotReady
    from convoy.kube.connection import connect_secret
    from convoy.kube.errors import ApiError
    from convoy.kube.resources import NAMESPACES

    reference = cluster.spec.kubeconfig_secret_ref
    assert reference is not None
    secret = session.api.get(SECRETS, session.namespace, reference.name)
    data = (secret.get("data") or {}).get(reference.key)
    if not data:
        raise Failure(f"Secret {session.namespace}/{reference.name} has no key {reference.key}")

    async def ask() -> dict[str, str]:
        # Private addresses: whether convoy may use them is its operator's setting (D41), and it says so itself.
        async with await connect_secret(base64.b64decode(data), allow_private=True) as client:
            answer = await client.request("GET", "/version")
            system = await client.get(NAMESPACES, None, "kube-system")
            version: Manifest = _decoded(answer.body)
            return {"kubernetesVersion": version["gitVersion"], "targetUID": system["metadata"]["uid"]}

    try:
        return asyncio.run(ask())
    except (ClusterNotReady, ApiError) as error:
        raise Failure(
            f"from here, Cluster {session.namespace}/{cluster.metadata.name}: {error.message}"
        ) from None


def _decoded(body: bytes) -> Manifest:
    from convoy.kube.encode import decode

    tree: Manifest = decode(body)
    return tree


COMMANDS = (list_clusters, get, check)
