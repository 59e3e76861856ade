"""A Release, a Cluster and an inventory that set every field there is."""

from __future__ import annotations

from typing import Any

REF = "sha256:" + "0" * 64
AT = "2026-01-02T03:04:05Z"


def release(name: str = "full", namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "convoy.kumodo.io/v1alpha1",
        "kind": "Release",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterRef": {"name": "prod-eu"},
            "clusterWave": -1,
            "suspend": False,
            "source": {
                "git": {
                    "url": "https://git.example.org/app.git",
                    "ref": {"semver": ">=1.2 <2"},
                    "secretRef": {"name": "git"},
                }
            },
            "content": {
                "path": "./deploy",
                "allowEmpty": False,
                "helm": {
                    "releaseName": "podinfo",
                    "namespace": "demo",
                    "values": {"replicas": 2, "nested": {"list": [1, None, "x"], "empty": {}}},
                    "valuesFrom": [
                        {"configMapRef": {"name": "values"}, "key": "values.yaml", "optional": False},
                        {"secretRef": {"name": "secret-values"}},
                    ],
                    "includeCRDs": True,
                },
            },
            "syncPolicy": {
                "automatic": True,
                "interval": "5m",
                "retryBackoff": {"initial": "5s", "factor": 0.5, "max": "1h30m"},
                "prune": {"orphaned": True, "afterHealthy": False, "maxPercent": 50},
                "onDelete": "Prune",
            },
            "syncWaves": [{"wave": 1, "strategy": "Health", "timeout": "10m"}, {"wave": -2}],
            "healthChecks": [
                {
                    "group": "example.org",
                    "kind": "Foo",
                    "healthy": "object.status.phase == 'Ready'",
                    "failed": "object.status.phase == 'Error'",
                }
            ],
            "ignoreDifferences": [
                {"group": "apps", "kind": "Deployment", "name": "*", "paths": ["/spec/replicas"]}
            ],
            "failurePolicy": {"action": "Rollback", "healthTimeout": "10m"},
            "historyLimit": 10,
        },
        "mutations": [
            {
                "target": {
                    "group": "apps",
                    "kind": "Deployment",
                    "name": "web-*",
                    "namespace": "demo",
                    "labelSelector": "app=web",
                },
                "patch": [
                    {"op": "replace", "path": "/spec/replicas", "value": 3},
                    {"op": "add", "path": "/metadata/annotations", "value": {"a": {"b": [None]}}},
                    {"op": "add", "path": "/spec/paused", "value": None},
                    {"op": "move", "from": "/a", "path": "/b"},
                ],
            },
            {"merge": {"spec": {"replicas": 3, "paused": None}}},
            {"image": {"name": "nginx", "newTag": "1.27", "newName": "", "digest": ""}},
        ],
        "lifecycle": {
            "preSync": [
                {
                    "name": "migrate",
                    "batch": 0,
                    "namespace": "default",
                    "job": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}},
                    "timeout": "10m",
                    "runPolicy": "OncePerRender",
                    "deletePolicy": "BeforeCreation",
                },
                {"name": "go", "batch": 1, "approval": {}, "timeout": "24h"},
            ],
            "postSync": [{"name": "notify", "job": {}, "runPolicy": "EverySync", "deletePolicy": "Never"}],
        },
        "pin": {"renderRef": REF},
    }


def release_status() -> dict[str, Any]:
    return {
        "observedGeneration": 3,
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "reason": kind,
                "message": "",
                "observedGeneration": 3,
                "lastTransitionTime": AT,
            }
            for kind in ("Applied", "InSync", "Healthy", "Ready", "Reconciling", "Stalled")
        ],
        "handled": {
            "uid": "u",
            "specHash": "h",
            "syncRequestedAt": AT,
            "syncForceRequestedAt": "no time",
            "lowerWaves": "d+pending",
            "health": "d",
            "deletionTimestamp": AT,
            "abandon": "true",
        },
        "lastAttempted": {
            "renderRef": REF,
            "revision": "main@abc",
            "requestedAt": AT,
            "startedAt": AT,
            "finishedAt": AT,
            "reason": "DeployFailed",
            "message": "m",
            "trigger": "Created",
        },
        "lastSuccessful": {"renderRef": REF, "revision": "main@abc", "appliedAt": AT},
        "lastHandledSyncAt": AT,
        "lastHandledForceSyncAt": AT,
        "waves": [
            {
                "wave": -2,
                "strategy": "Health",
                "phase": "WaitingForHealth",
                "objects": 3,
                "applied": 2,
                "startedAt": AT,
                "finishedAt": AT,
            }
        ],
        "rollout": {
            "phase": "RolledBack",
            "renderRef": REF,
            "lastHealthyRenderRef": REF,
            "startedAt": AT,
            "message": "m",
        },
        "unrecorded": {
            "renderRef": REF,
            "revision": "r",
            "appliedAt": AT,
            "appliedAgainAt": AT,
            "healthyAt": AT,
            "trigger": "Created",
            "desired": "pin",
            "objects": 3,
        },
        "history": [
            {
                "renderRef": REF,
                "revision": "r",
                "appliedAt": AT,
                "healthyAt": AT,
                "trigger": "Created",
                "desired": "pin",
                "objects": 3,
            }
        ],
        "hooks": [
            {
                "name": "migrate",
                "renderRef": REF,
                "run": 1,
                "phase": "Approved",
                "job": "default/x",
                "startedAt": AT,
                "finishedAt": AT,
                "approvedBy": "me",
                "message": "m",
            }
        ],
        "retry": {"failures": 2, "at": AT},
        "sync": {"workflowId": "sync/a/b", "runId": "r", "requestedAt": AT, "settledAt": AT},
    }


def cluster(name: str = "full", namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "convoy.kumodo.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "kubeconfigSecretRef": {"name": "x", "key": "kubeconfig"},
            "serviceAccountName": "deployer",
            "connectTimeout": "5s",
            "requestTimeout": "30s",
            "maxInFlight": 32,
        },
    }


def cluster_status() -> dict[str, Any]:
    return {
        "observedGeneration": 1,
        "conditions": [{"type": "Reachable", "status": "Unknown", "reason": "Invalid", "message": "m"}],
        "kubernetesVersion": "v1.34.4",
        "targetUID": "u",
    }


def inventory(name: str = "full", namespace: str = "default") -> dict[str, Any]:
    group = {
        "wave": -1,
        "group": "apps",
        "kind": "Deployment",
        "namespace": "demo",
        "recordedAt": "12",
        "items": [{"name": "podinfo", "uid": "u"}, {"name": "other"}],
    }
    return {
        "apiVersion": "convoy.kumodo.io/v1alpha1",
        "kind": "ReleaseInventory",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterRef": {"name": "prod-eu"},
            "targetUID": "u",
            "renderRef": REF,
            "epoch": "run/1",
            "objects": [group, group],
            "planned": [group],
            "claims": [group],
        },
    }


def inventory_status() -> dict[str, Any]:
    return {
        "health": {
            "renderRef": REF,
            "phase": "Progressing",
            "waves": [{"wave": 0, "phase": "Healthy"}],
            "unhealthy": [{"ref": "Deployment.apps demo/podinfo", "phase": "Degraded", "message": "m"}],
        }
    }
