"""Objects of each kind on a real cluster, whose Pods progress, fail or hang as their image says (D26)."""

from __future__ import annotations

import pytest

from convoy.api.release import HealthCheck
from convoy.api.rendered import RenderedObject
from convoy.health.checks import health_checks
from convoy.kube.resources import CRDS
from tests.kube.health.rig import Rig
from tests.waiting import until_served

READY, LATE = "fake.local/ready:1", "fake.local/ready-after-2s:1"
NEVER, CRASHES = "fake.local/never-ready:1", "fake.local/crash-loop:1"
FAILS, HANGS = "fake.local/job-fails:1", "fake.local/job-hangs:1"


def pods(image: str) -> str:
    return (
        "selector: {matchLabels: {app: it}}, template: {metadata: {labels: {app: it}}, "
        f"spec: {{containers: [{{name: main, image: '{image}'}}]}}}}"
    )


def workload(kind: str, image: str, **spec: object) -> str:
    more = "".join(f", {field}: {value}" for field, value in spec.items())
    return f"{{apiVersion: apps/v1, kind: {kind}, metadata: {{name: it}}, spec: {{{pods(image)}{more}}}}}"


def job(image: str, **spec: object) -> str:
    more = "".join(f", {field}: {value}" for field, value in spec.items())
    template = f"{{spec: {{restartPolicy: Never, containers: [{{name: main, image: '{image}'}}]}}}}"
    return (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, "
        f"spec: {{backoffLimit: 0, template: {template}{more}}}}}"
    )


def pod(image: str) -> str:
    containers = f"[{{name: main, image: '{image}'}}]"
    return f"{{apiVersion: v1, kind: Pod, metadata: {{name: it}}, spec: {{containers: {containers}}}}}"


CLAIM = (
    "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: it}}, spec: {{storageClassName: {name}, "
    "accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}"
)

SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: it}
spec: {type: LoadBalancer, ports: [{port: 80}]}
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: it}
spec: {minAvailable: 1, selector: {matchLabels: {app: it}}}
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: it}
spec: {defaultBackend: {service: {name: it, port: {number: 80}}}}
"""
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: it}
spec:
  schedule: 0 0 * * *
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: "fake.local/ready:1"}]}}}}
"""

OUTCOMES: list[tuple[str, str, str, str]] = [
    ("a Deployment whose Pods become ready", workload("Deployment", LATE, replicas=2), "Healthy", ""),
    (
        "a Deployment whose Pods never do",
        workload("Deployment", NEVER),
        "Progressing",
        "0 of 1 replicas available",
    ),
    (
        "a Deployment that is too late",
        workload("Deployment", NEVER, progressDeadlineSeconds=1),
        "Degraded",
        "has timed out progressing",
    ),
    ("a paused Deployment", workload("Deployment", NEVER, paused="true"), "Healthy", ""),
    ("a Deployment of no replicas", workload("Deployment", NEVER, replicas=0), "Healthy", ""),
    ("a StatefulSet", workload("StatefulSet", LATE, replicas=2), "Healthy", ""),
    (
        "a StatefulSet that hangs",
        workload("StatefulSet", NEVER, replicas=2),
        "Progressing",
        "1 of 2 replicas",
    ),
    (
        "a StatefulSet updated by hand",
        workload("StatefulSet", NEVER, updateStrategy="{type: OnDelete}"),
        "Healthy",
        "",
    ),
    ("a DaemonSet", workload("DaemonSet", LATE), "Healthy", ""),
    ("a DaemonSet that hangs", workload("DaemonSet", NEVER), "Progressing", "0 of 1 Pods available"),
    ("a ReplicaSet", workload("ReplicaSet", LATE, replicas=2), "Healthy", ""),
    ("a Job that completes", job(READY), "Healthy", ""),
    ("a Job that fails", job(FAILS), "Degraded", "backoff limit"),
    ("a Job that hangs", job(HANGS), "Progressing", "is running"),
    ("a Job past its deadline", job(HANGS, activeDeadlineSeconds=1), "Degraded", "active longer"),
    ("a suspended Job", job(HANGS, suspend="true"), "Healthy", ""),
    ("a Pod", pod(READY), "Healthy", ""),
    ("a Pod that crashes again and again", pod(CRASHES), "Degraded", "main"),
    ("a Pod that is never ready", pod(NEVER), "Progressing", "is not ready"),
    ("a Service without an address outside", SERVICE, "Progressing", "no load balancer address"),
    ("a disruption budget", BUDGET, "Healthy", ""),
    ("an Ingress", INGRESS, "Healthy", ""),
    ("a CronJob", CRON_JOB, "Healthy", ""),
    ("a claim whose class nobody serves", CLAIM.format(name="nobody"), "Progressing", "is not bound yet"),
]


@pytest.mark.parametrize(
    ("text", "phase", "says"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES]
)
async def test_on_a_real_cluster(rig: Rig, text: str, phase: str, says: str) -> None:
    item = await rig.apply(text)
    went_through = await rig.until(item, phase, says)
    assert went_through in ([phase], ["Progressing", phase])


async def test_the_good_health_of_the_old_replicas_does_not_count(rig: Rig) -> None:
    await rig.until(await rig.apply(workload("Deployment", READY)), "Healthy")
    item = await rig.apply(workload("Deployment", NEVER))
    for _ in range(20):
        assert (await rig.health(item)).phase == "Progressing"


async def test_a_claim_that_binds_with_its_first_pod_is_healthy(rig: Rig) -> None:
    name = f"late-{rig.namespace}"
    await rig.apply(
        f"{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, "
        "provisioner: example.org/none, volumeBindingMode: WaitForFirstConsumer}"
    )
    item = await rig.apply(CLAIM.format(name=name))
    await rig.until(item, "Healthy")


async def test_an_object_that_somebody_deletes_is_degraded(rig: Rig) -> None:
    item = await rig.apply(pod(NEVER))
    await rig.until(item, "Progressing")
    await rig.delete(item.key, await rig.resource(item.manifest))
    await rig.until(item, "Degraded", "does not exist")


async def custom_kind(rig: Rig) -> tuple[RenderedObject, str]:
    """A CRD of the test's own, and its group."""
    group = f"{rig.namespace}.example.org"
    schema = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
    crd = await rig.apply(
        f"{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: boxes.{group}}}, "
        f"spec: {{group: {group}, scope: Namespaced, names: {{plural: boxes, kind: Box}}, versions: [{{name: v1, "
        f"served: true, storage: true, subresources: {{status: {{}}}}, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
    )
    return crd, group


async def test_a_custom_resource_by_its_conditions_and_by_a_check_of_the_release(rig: Rig) -> None:
    crd, group = await custom_kind(rig)
    await rig.until(crd, "Healthy")
    item = await box(rig, group)
    resource = await rig.resource(item.manifest)
    assert (await rig.health(item)).phase == "Healthy"
    check = HealthCheck(
        group=group,
        kind="Box",
        healthy="object.status.phase == 'Ready'",
        failed="object.status.phase == 'Error'",
    )
    checks = health_checks([check])
    assert (await rig.health(item, checks=checks)).phase == "Progressing"
    for phase, expected in (("Error", "Degraded"), ("Ready", "Healthy")):
        status = {"status": {"phase": phase, "conditions": [{"type": "Ready", "status": "False"}]}}
        await rig.client.patch(resource, rig.namespace, "it", status, subresource="status")
        assert (await rig.health(item, checks=checks)).phase == expected
        assert (await rig.health(item)).phase == "Progressing", "by its conditions"
    await rig.client.delete(CRDS, None, crd.key.name)
    await rig.until(item, "Degraded")


async def box(rig: Rig, group: str) -> RenderedObject:
    """A custom resource, as soon as its kind is served."""
    await until_served(rig.client, f"boxes.{group}", rig.discovery)
    return await rig.apply(f"{{apiVersion: {group}/v1, kind: Box, metadata: {{name: it}}, spec: {{}}}}")
