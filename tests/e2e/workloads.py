"""Manifests of things that have health, whose fate is chosen by their image (`deploy/stack/stages.py`)."""

from __future__ import annotations

READY = "fake.local/ready:1"
NEVER_READY = "fake.local/never-ready:1"


def deployment(
    name: str,
    namespace: str,
    image: str = READY,
    *,
    replicas: int = 1,
    wave: int | None = None,
    **spec: object,
) -> str:
    """Return a Deployment as YAML; `spec` are further fields of it."""
    annotations = f', annotations: {{convoy.kumodo.io/sync-wave: "{wave}"}}' if wave is not None else ""
    more = "".join(f"  {field}: {value}\n" for field, value in spec.items())
    return (
        "apiVersion: apps/v1\nkind: Deployment\n"
        f"metadata: {{name: {name}, namespace: {namespace}{annotations}}}\n"
        f"spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n{more}"
        f"  template:\n    metadata: {{labels: {{app: {name}}}}}\n"
        f"    spec: {{containers: [{{name: main, image: {image!r}}}]}}\n"
    )


def job(name: str, namespace: str, image: str = READY) -> str:
    """Return a Job as YAML."""
    return (
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"
        f"      containers: [{{name: main, image: {image!r}}}]\n"
    )
