"""The Cluster: how to reach a target."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints

from convoy.api.common import ApiModel, ConditionList, GoDuration, Name, Resource

KIND = "Cluster"
PLURAL = "clusters"


class InCluster(ApiModel):
    """The cluster that convoy runs in."""


class SecretKeyRef(ApiModel):
    """A key of a Secret in the Cluster's own namespace."""

    name: Name
    """Name of the Secret."""
    key: Annotated[str, StringConstraints(min_length=1, max_length=253)] = "kubeconfig"
    """Which of its keys holds the kubeconfig. Default: `kubeconfig`."""


class ClusterSpec(ApiModel):
    """How to reach a target: exactly one of inCluster and kubeconfigSecretRef."""

    one_of = ("inCluster", "kubeconfigSecretRef")

    in_cluster: InCluster | None = None
    kubeconfig_secret_ref: SecretKeyRef | None = None
    """A kubeconfig; exec and auth-provider plugins and file paths in it are refused."""
    service_account_name: Name | None = None
    """Impersonated on the target, as a ServiceAccount of the Release's namespace."""
    connect_timeout: GoDuration = timedelta(seconds=5)
    """How long a connection may take. Default: 5s."""
    request_timeout: GoDuration = timedelta(seconds=30)
    """How long a request may take; less than 1s counts as 1s. Default: 30s."""
    max_in_flight: Annotated[int, Field(ge=1, le=1024)] = 32
    """Simultaneous requests to this cluster from one worker. Default: 32."""


class ClusterStatus(ApiModel):
    """What convoy observed."""

    observed_generation: int | None = None
    """metadata.generation that it was observed of."""
    conditions: ConditionList = ()
    """Reachable."""
    kubernetes_version: str | None = None
    """Version of the API server."""
    target_uid: Annotated[str | None, Field(alias="targetUID")] = None
    """UID of the target's kube-system namespace."""


class Cluster(Resource):
    """A target cluster."""

    spec: ClusterSpec
    status: ClusterStatus = ClusterStatus()
