"""On the local stack a Pod's fate is chosen by its image."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from deploy.stack.local import Stack

Kubectl = Callable[..., str]
Tree = dict[str, Any]
SERVER = "registry.local/server:1"


@pytest.fixture
def kubectl(stack: Stack, namespace: str) -> Kubectl:
    """Run kubectl in the test's namespace."""

    def run(*arguments: str, manifest: Tree | None = None) -> str:
        answer = subprocess.run(
            [stack.tool("kubectl"), "--kubeconfig", stack.kubeconfig, "--namespace", namespace, *arguments],
            input=json.dumps(manifest) if manifest else None,
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    return run


def pod(image: str, **spec: Any) -> Tree:
    return {"containers": [{"name": "main", "image": image}], **spec}


def create_pod(kubectl: Kubectl, image: str) -> None:
    tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "box"}, "spec": pod(image)}
    kubectl("create", "-f", "-", manifest=tree)


def create_job(kubectl: Kubectl, image: str) -> None:
    template = {"spec": pod(image, restartPolicy="Never")}
    spec = {"backoffLimit": 0, "template": template}
    tree = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "box"}, "spec": spec}
    kubectl("create", "-f", "-", manifest=tree)


def wait(kubectl: Kubectl, what: str, condition: str) -> None:
    kubectl("wait", what, f"--for={condition}", "--timeout=60s")


def test_a_deployment_becomes_available(kubectl: Kubectl) -> None:
    labels = {"app": "box"}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod(SERVER)},
    }
    tree = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "box"}, "spec": spec}

    kubectl("create", "-f", "-", manifest=tree)

    wait(kubectl, "deployment/box", "jsonpath={.status.availableReplicas}=3")


def test_a_job_completes(kubectl: Kubectl) -> None:
    create_job(kubectl, SERVER)

    wait(kubectl, "job/box", "condition=Complete")


def test_a_job_with_the_failing_image_fails(kubectl: Kubectl) -> None:
    create_job(kubectl, "fake.local/job-fails:1")

    wait(kubectl, "job/box", "condition=Failed")


def test_a_job_with_the_hanging_image_runs_and_does_not_complete(kubectl: Kubectl) -> None:
    create_job(kubectl, "fake.local/job-hangs:1")
    wait(kubectl, "job/box", "jsonpath={.status.ready}=1")

    create_job_that_completes_later = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "other"},
        "spec": {"template": {"spec": pod(SERVER, restartPolicy="Never")}},
    }
    kubectl("create", "-f", "-", manifest=create_job_that_completes_later)
    wait(kubectl, "job/other", "condition=Complete")

    assert json.loads(kubectl("get", "job", "box", "-o", "json"))["status"]["active"] == 1


def test_a_pod_with_the_never_ready_image_runs_and_is_not_ready(kubectl: Kubectl) -> None:
    create_pod(kubectl, "fake.local/never-ready:1")

    wait(kubectl, "pod/box", "jsonpath={.status.phase}=Running")
    wait(kubectl, "pod/box", "condition=Ready=False")


def test_a_pod_with_a_late_image_is_first_unready_and_then_ready(kubectl: Kubectl) -> None:
    create_pod(kubectl, "fake.local/ready-after-3s:1")

    wait(kubectl, "pod/box", "condition=Ready=False")
    wait(kubectl, "pod/box", "condition=Ready")


def test_a_pod_with_the_crashing_image_waits_in_crash_loop(kubectl: Kubectl) -> None:
    create_pod(kubectl, "fake.local/crash-loop:1")

    reason = "{.status.containerStatuses[0].state.waiting.reason}"
    wait(kubectl, "pod/box", f"jsonpath={reason}=CrashLoopBackOff")


def test_a_deleted_pod_is_gone(kubectl: Kubectl) -> None:
    create_pod(kubectl, SERVER)
    wait(kubectl, "pod/box", "condition=Ready")

    kubectl("delete", "pod", "box", "--wait=false")

    wait(kubectl, "pod/box", "delete")
