"""Inputs of any size, the same at every run: applications of a Deployment, a Service and a ConfigMap each.

The Deployments are paused, so that no controller makes Pods: the numbers are about what is sent, and the load that
controllers put on a small machine afterwards would be measured with whoever comes next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from convoy.api.objects import Manifest

Files = dict[str, str]


def applications(count: int, *, namespace: str) -> list[Manifest]:
    """Return `count` objects in apply order: for each application its ConfigMap, Deployment and Service."""
    objects: list[Manifest] = []
    for number in range((count + 2) // 3):
        name = f"app-{number:04d}"
        objects += [_config_map(name, namespace), _deployment(name, namespace), _service(name, namespace)]
    return objects[:count]


def config_maps(count: int, *, namespace: str) -> list[Manifest]:
    """Return `count` ConfigMaps."""
    return [_config_map(f"config-{number:05d}", namespace) for number in range(count)]


def files_of(objects: list[Manifest], *, each: int = 3) -> Files:
    """Return the objects as YAML files of `each`, one an application, in order by name."""
    files = {}
    for start in range(0, len(objects), each):
        group = objects[start : start + each]
        files[f"{start // each:05d}.yaml"] = yaml.dump_all(group, Dumper=yaml.CSafeDumper, sort_keys=False)
    return files


def write_files(files: Files, folder: Path) -> Path:
    """Write the files into a new folder and return it."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _metadata(name: str, namespace: str) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "bench"}
    return {"name": name, "namespace": namespace, "labels": labels}


def _config_map(name: str, namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(name, namespace),
        "data": {"app.properties": "\n".join(f"{name}.option.{line} = value-{line}" for line in range(8))},
    }


def _deployment(name: str, namespace: str) -> Manifest:
    container = {
        "name": "main",
        "image": f"registry.example.org/{name}:1.0.0",
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": f"OPTION_{number}", "value": f"value-{number}"} for number in range(4)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(name, namespace),
        "spec": {
            "paused": True,
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "containers": [container],
                    "volumes": [{"name": "config", "configMap": {"name": name}}],
                },
            },
        },
    }


def _service(name: str, namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(name, namespace),
        "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }
