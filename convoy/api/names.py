"""Every name that convoy writes into a cluster: group, annotations, finalizers, field managers.

They stand in one place since a second spelling of any of them would be a bug that no type checker sees.
"""

from __future__ import annotations

GROUP = "convoy.kumodo.io"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

SYNC_REQUESTED_AT = f"{GROUP}/sync-requested-at"
"""On a Release: the latest /sync request, an RFC 3339 time (`reference/sync-policy`, The /sync request)."""

SYNC_FORCE_REQUESTED_AT = f"{GROUP}/sync-force-requested-at"
"""On a Release: the latest forced request (`reference/sync-policy`, Forced sync)."""

SELF_HEAL_REQUESTED_AT = f"{GROUP}/sync-self-heal-requested-at"
"""On a Release: the latest /sync request that the observer made since it found drift."""

HEALTH_REQUESTED_AT = f"{GROUP}/sync-health-requested-at"
"""On a Release: the latest /sync request of the health loop. Where it equals `SYNC_REQUESTED_AT`, no person asked."""

ABANDON = f"{GROUP}/abandon"
"""On a Release being deleted: `"true"` gives up on an unreachable target."""

ACCEPT_TARGET = f"{GROUP}/accept-target"
"""On a Cluster: the UID of a target that may take the place of the recorded one (D38)."""

SYNC_WAVE = f"{GROUP}/sync-wave"
"""On a rendered object: its wave, an integer, default 0."""

PRUNE = f"{GROUP}/prune"
"""On a live object: `"disabled"` keeps it from the prune (D17)."""

PRUNE_DISABLED = "disabled"

HELM_RESOURCE_POLICY = "helm.sh/resource-policy"
"""On a live object: `"keep"` keeps it from the prune (D6, D17)."""

HELM_RESOURCE_POLICY_KEEP = "keep"

FINALIZER = f"{GROUP}/teardown"
"""On a Release and its inventory, until teardown is done; removed from the inventory last."""

CLUSTER_FINALIZER = f"{GROUP}/in-use"
"""On a Cluster and its kubeconfig Secret while a Release refers to them: teardown needs both."""

HOOK_FINALIZER = f"{GROUP}/hook-result"
"""On a hook's Job until its result is recorded (D27)."""

RELEASE_UID = f"{GROUP}/release-uid"
"""Label of a hook's Job: which Release it is of."""

HOOK = f"{GROUP}/hook"
"""Annotation of a hook's Job: the hook's name."""

HOOK_RUN = f"{GROUP}/hook-run"
"""Annotation of a hook's Job: the number of the run."""

HOOK_RELEASE = f"{GROUP}/release"
"""Annotation of a hook's Job: `namespace/name` of the Release."""

HOOK_RENDER = f"{GROUP}/render-ref"
"""Annotation of a hook's Job: the render that it runs for."""

HOOK_DELETE_POLICY = f"{GROUP}/hook-delete-policy"
"""Annotation of a hook's Job: what the hook says about its deletion, for the Release's teardown."""

MANAGER = "convoy"
"""Applies renders; in status: observedGeneration, Applied, last*, history, rollout, handled, sync."""

MANAGER_PROGRESS = "convoy-progress"
"""In status: waves and hooks."""

MANAGER_OBSERVE = "convoy-observe"
"""In status: InSync; of an inventory: its health data."""

MANAGER_HEALTH = "convoy-health"
"""In status: Healthy."""

MANAGER_RETRY = "convoy-retry"
"""In status: retry."""

APPLIED = "Applied"
IN_SYNC = "InSync"
HEALTHY = "Healthy"
READY = "Ready"
RECONCILING = "Reconciling"
STALLED = "Stalled"
REACHABLE = "Reachable"

CHART_HOOKS = {"preSync": "chart-pre/", "postSync": "chart-post/"}
"""What the names of a chart's hooks begin with, by stage; no hook of a Release may be named so."""
