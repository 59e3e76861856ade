"""Manifests of things that have health, whose fate is chosen by their image (`deploy/stack/stages.py`)."""

from __future__ import annotations

READY = "fake.local/ready:1"
NEVER_READY = "fake.local/never-ready:1"
READY_AT = "convoy-tests/ready"
"""Label of a node; Pods that wait for a value of it are not ready before a node has it (`gated.make_ready`)."""


def deployment(
    name: str,
    namespace: str,
    image: str = READY,
    *,
    replicas: int = 1,
    wave: int | None = None,
    waits_for: str = "",
    **spec: object,
) -> str:
    """Return a Deployment as YAML; `spec` are further fields of it. Its Pods can be made to wait for a node."""
    selector = f"nodeSelector: {{{READY_AT}: {waits_for}}}, " if waits_for else ""
    annotations = f', annotations: {{convoy.kumodo.io/sync-wave: "{wave}"}}' if wave is not None else ""
    more = "".join(f"  {field}: {value}\n" for field, value in spec.items())
    return (
        "apiVersion: apps/v1\nkind: Deployment\n"
        f"metadata: {{name: {name}, namespace: {namespace}{annotations}}}\n"
        f"spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n{more}"
        f"  template:\n    metadata: {{labels: {{app: {name}}}}}\n"
        f"    spec: {{{selector}containers: [{{name: main, image: {image!r}}}]}}\n"
    )


def job(name: str, namespace: str, image: str = READY) -> str:
    """Return a Job as YAML."""
    return (
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"
        f"      containers: [{{name: main, image: {image!r}}}]\n"
    )
