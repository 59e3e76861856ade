"""Finalizers on the Release, its Cluster and the kubeconfig Secret, so that teardown can still reach the
target.

Without them a deletion of the namespace would take the Secret first, and a Release with `onDelete: Prune`
could never delete anything. A list in a merge patch replaces the whole list, so each patch carries the
version it was made from. Of a Secret only the metadata is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from convoy.api.cluster import Cluster
from convoy.api.errors import ClusterNotReady, DeployFailed
from convoy.api.names import CLUSTER_FINALIZER, FINALIZER, MANAGER
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.classify import error_of
from convoy.kube.client import KubeClient
from convoy.kube.encode import decode, encode
from convoy.kube.errors import ApiError, NotFound, UidMismatch
from convoy.kube.resources import CLUSTERS, INVENTORIES, RELEASES, SECRETS, Resource
from convoy.kube.retry import with_retries
from convoy.sync.live import METADATA_ONLY


async def ensure_finalizers(home: KubeClient, release: Release, cluster: Cluster) -> None:
    """Put the finalizers on a Release, its Cluster and the Cluster's Secret, before anything is applied.

    Costs a read of the Secret's metadata where there is one, and a write only where a finalizer is missing.

    Raises:
        ClusterNotReady: the Cluster or its Secret is missing or being deleted.
        DeployFailed: a finalizer cannot be written.
    """
    namespace = release.metadata.namespace
    if FINALIZER not in release.metadata.finalizers:
        await _add(home, RELEASES, namespace, release.metadata.name, FINALIZER)
    if CLUSTER_FINALIZER not in cluster.metadata.finalizers:
        await _add(home, CLUSTERS, namespace, cluster.metadata.name, CLUSTER_FINALIZER)
    ref = cluster.spec.kubeconfig_secret_ref
    if ref is not None:
        await _add(home, SECRETS, namespace, ref.name, CLUSTER_FINALIZER)


async def let_release_go(home: KubeClient, release: Release) -> None:
    """Take the finalizer from a Release: the last step of its teardown.

    Raises:
        DeployFailed: it cannot be written.
    """
    metadata = release.metadata
    await remove_finalizer(home, RELEASES, metadata.namespace, metadata.name, FINALIZER, uid=metadata.uid)


async def let_inventory_go(home: KubeClient, inventory: Mapping[str, Any]) -> None:
    """Delete an inventory and take the finalizer from it; its objects stay.

    Raises:
        DeployFailed: it cannot be written.
    """
    metadata = inventory["metadata"]
    namespace, name, uid = metadata["namespace"], metadata["name"], metadata["uid"]
    try:
        await with_retries(lambda: home.delete(INVENTORIES, namespace, name, uid=uid))
    except (NotFound, UidMismatch):
        return
    except ApiError as error:
        raise DeployFailed(
            f"the ReleaseInventory {namespace}/{name} cannot be deleted: {error.message}"
        ) from error
    await remove_finalizer(home, INVENTORIES, namespace, name, FINALIZER, uid=uid)


async def let_cluster_go(home: KubeClient, release: Release) -> None:
    """Take the finalizers from the Cluster of a Release, and from its Secret, unless another Release needs
    them.

    The inventory of this Release is gone by now. Of several Releases that are deleted together each might
    otherwise leave it to the other; so one that is being deleted and has no inventory any more needs nothing,
    and the last one to see that takes the finalizers away.

    Raises:
        DeployFailed: they cannot be read or written.
    """
    namespace, name = release.metadata.namespace, release.spec.cluster_ref.name
    clusters = {tree["metadata"]["name"]: tree for tree in await _list(home, CLUSTERS, namespace)}
    if name not in clusters:
        return
    releases = await _list(home, RELEASES, namespace)
    others = [tree for tree in releases if tree["metadata"]["uid"] != release.metadata.uid]
    needed = {_cluster_of(tree) for tree in others if await _needs_its_target(home, tree)}
    if name in needed:
        return
    secret = _secret_of(clusters[name])
    if secret and secret not in {_secret_of(clusters[each]) for each in needed if each in clusters}:
        await remove_finalizer(home, SECRETS, namespace, secret, CLUSTER_FINALIZER)
    await remove_finalizer(home, CLUSTERS, namespace, name, CLUSTER_FINALIZER)


async def _needs_its_target(home: KubeClient, release: Mapping[str, Any]) -> bool:
    metadata = release["metadata"]
    if "deletionTimestamp" not in metadata:
        return True
    try:
        await with_retries(lambda: _metadata(home, INVENTORIES, metadata["namespace"], metadata["name"]))
    except NotFound:
        return False
    except ApiError as error:
        raise DeployFailed(
            f"the ReleaseInventory {metadata['namespace']}/{metadata['name']} cannot be read: {error.message}"
        ) from error
    return True


def _cluster_of(release: Mapping[str, Any]) -> str:
    return str(release["spec"]["clusterRef"]["name"])


def _secret_of(cluster: Mapping[str, Any]) -> str:
    return str((cluster["spec"].get("kubeconfigSecretRef") or {}).get("name", ""))


async def _list(home: KubeClient, resource: Resource, namespace: str) -> list[Manifest]:
    try:
        return await with_retries(lambda: home.list(resource, namespace))
    except ApiError as error:
        raise DeployFailed(f"the {resource.plural} of {namespace} cannot be read: {error.message}") from error


async def _add(home: KubeClient, resource: Resource, namespace: str, name: str, finalizer: str) -> None:
    subject = f"{resource.kind} {namespace}/{name}"

    async def add() -> None:
        metadata = await _metadata(home, resource, namespace, name)
        finalizers = metadata.get("finalizers") or []
        if finalizer in finalizers:
            return
        if metadata.get("deletionTimestamp"):
            # The server accepts no new finalizer any more, so nothing would keep it for the teardown.
            error = DeployFailed if resource is RELEASES else ClusterNotReady
            raise error(f"{subject} is being deleted")
        await _write(home, resource, namespace, name, metadata, [*finalizers, finalizer])

    try:
        await with_retries(add)
    except NotFound as error:
        missing = DeployFailed if resource is RELEASES else ClusterNotReady
        raise missing(f"{subject} does not exist") from error
    except ApiError as error:
        raise DeployFailed(f"{subject} cannot be given a finalizer: {error.message}") from error


async def remove_finalizer(
    home: KubeClient, resource: Resource, namespace: str, name: str, finalizer: str, *, uid: str = ""
) -> None:
    """Take a finalizer from an object, if it is there, has it, and is the one with this UID.

    Raises:
        DeployFailed: it cannot be written.
    """

    async def remove() -> None:
        metadata = await _metadata(home, resource, namespace, name)
        left = [each for each in metadata.get("finalizers") or () if each != finalizer]
        if (uid and metadata["uid"] != uid) or left == (metadata.get("finalizers") or []):
            return
        await _write(home, resource, namespace, name, metadata, left)

    try:
        # A conflict is tried again as well: each try reads anew.
        await with_retries(remove)
    except NotFound:
        return
    except ApiError as error:
        raise DeployFailed(
            f"the finalizer of {resource.kind} {namespace}/{name} cannot be removed: {error.message}"
        ) from error


async def _metadata(home: KubeClient, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
    answer = await home.request("GET", resource.path(namespace, name), accept=METADATA_ONLY)
    if answer.status >= 300:
        raise error_of(answer.status, answer.headers, answer.body, resource=resource, name=name)
    metadata: dict[str, Any] = decode(answer.body)["metadata"]
    return metadata


async def _write(
    home: KubeClient,
    resource: Resource,
    namespace: str,
    name: str,
    metadata: Mapping[str, Any],
    finalizers: Iterable[str],
) -> None:
    guard = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    patch = {"metadata": {**guard, "finalizers": list(finalizers)}}
    answer = await home.request(
        "PATCH",
        resource.path(namespace, name),
        params={"fieldManager": MANAGER},
        body=encode(patch),
        content_type="application/merge-patch+json",
        accept=METADATA_ONLY,
    )
    if answer.status >= 300:
        raise error_of(answer.status, answer.headers, answer.body, resource=resource, name=name)
