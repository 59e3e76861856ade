"""`kubectl wait --for=condition=Ready` ends when the present generation is ready, and not before."""

from __future__ import annotations

import asyncio
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest

from convoy.api.conditions import summary_conditions, with_condition
from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from tests.kube.crds.conftest import RELEASES
from tests.unit.api import full

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("applied", "healthy", "behind", "ends"),
    [
        (("True", "Applied"), ("True", "Healthy"), 0, True),
        (("True", "Applied"), ("False", "Progressing"), 0, False),
        (("False", "DeployFailed"), ("True", "Healthy"), 0, False),
        (("True", "Applied"), ("True", "Healthy"), 1, False),
    ],
    ids=["applied and healthy", "not healthy yet", "failed", "applied before the latest change"],
)
async def test_kubectl_wait(
    stack: Any,
    server: KubeClient,
    namespace: str,
    applied: tuple[str, str],
    healthy: tuple[str, str],
    behind: int,
    ends: bool,
) -> None:
    sent = full.release(namespace=namespace)
    generation = (await server.create(sent, RELEASES))["metadata"]["generation"]
    told = [
        with_condition(
            None,
            type=kind,
            status=status,
            reason=reason,
            message="m",
            generation=generation - behind,
            now=NOW,
        )
        for kind, (status, reason) in (("Applied", applied), ("Healthy", healthy))
    ]
    conditions = [*told, *summary_conditions(told, rollout=None, generation=generation, now=NOW)]
    status = {"status": {"observedGeneration": generation, "conditions": conditions}}
    sent = {key: sent[key] for key in ("apiVersion", "kind", "metadata")} | status
    await server.apply(apply_body(sent), RELEASES, namespace, "full", subresource="status")

    command = [stack.tool("kubectl"), "--kubeconfig", stack.kubeconfig, "-n", namespace]
    command += ["wait", "--for=condition=Ready", f"--timeout={30 if ends else 2}s", "rel/full"]
    waited = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
    assert (waited.returncode == 0) is ends, waited.stderr
