"""The status of a Cluster, written by whichever Release's pass has just tried to reach it."""

from __future__ import annotations

from datetime import UTC, datetime

from activities.services import Services
from convoy.api.conditions import with_condition
from convoy.api.errors import ClusterNotReady, ConvoyError
from convoy.api.names import MANAGER, REACHABLE
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.errors import NotFound
from convoy.kube.resources import CLUSTERS
from convoy.kube.status import write_status
from convoy.kube.targets import Target


async def record_cluster(
    services: Services,
    release: Release,
    *,
    target: Target | None = None,
    error: ConvoyError | None = None,
    known: Manifest | None = None,
) -> None:
    """Write Reachable, the version and the target's UID, if one of them is not what the status says already.

    Errors other than `ClusterNotReady` say nothing about the Cluster.
    """
    if target is None and not isinstance(error, ClusterNotReady):
        return

    def build(tree: Manifest) -> Manifest | None:
        before = tree.get("status") or {}
        condition = with_condition(
            before.get("conditions"),
            type=REACHABLE,
            status="True" if target else "False",
            reason="Reachable" if target else "Unreachable",
            message="" if target else str(error),
            generation=tree["metadata"].get("generation", 0),
            now=datetime.now(UTC),
        )
        status: Manifest = {"conditions": [condition]}
        for name, value in (
            ("kubernetesVersion", target.version if target else before.get("kubernetesVersion")),
            ("targetUID", target.uid if target else before.get("targetUID")),
        ):
            if value:
                status[name] = value
        return status if any(before.get(name) != value for name, value in status.items()) else None

    try:
        await write_status(
            services.home,
            CLUSTERS,
            release.metadata.namespace,
            release.spec.cluster_ref.name,
            manager=MANAGER,
            build=build,
            known=known,
        )
    except NotFound:
        return  # there is no Cluster to write to; the Release's own condition says so
