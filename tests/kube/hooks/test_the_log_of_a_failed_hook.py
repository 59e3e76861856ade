"""The tail of a failed hook's log, through a real API server, from a kubelet that the test plays."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from convoy.api.objects import Manifest
from convoy.hooks.logs import LINES, PODS, log_of
from convoy.hooks.masking import DROPPED
from convoy.kube.resources import SECRETS, Resource
from deploy.stack.certificates import make_certificates
from tests.kube.hooks.rig import HookRig

NODES = Resource("", "v1", "Node", "nodes", False)
NODE = "localhost"
"""Also the name that the API server finds the kubelet under."""


@dataclass
class Kubelet:
    """The logs that the containers of its Pods have written."""

    logs: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.query))
        lines = self.logs[request.match_info["container"]].splitlines()
        return web.Response(text="\n".join(lines[-int(request.query["tailLines"]) :]))


@pytest.fixture
async def kubelet(rig: HookRig, tmp_path: Path) -> AsyncIterator[Kubelet]:
    played = Kubelet()
    application = web.Application()
    application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", played.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    pair = make_certificates(tmp_path).server
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    await rig.client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}, NODES)
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "conditions": [{"type": "Ready", "status": "True", "reason": "Test", "message": ""}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": runner.addresses[0][1]}},
    }
    await rig.client.patch(NODES, None, NODE, {"status": status}, subresource="status")
    yield played
    await rig.client.delete(NODES, None, NODE)
    await runner.cleanup()


async def failed_pod(rig: HookRig, *, containers: list[Manifest] | None = None, **spec: Any) -> Manifest:
    """Make a Pod that has failed, and return the Job that it is of."""
    uid = secrets.token_hex(8)
    name = f"pod-{uid}"
    containers = containers or [{"name": "main", "image": "fake.local/never-ready:1"}]
    await rig.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": rig.namespace,
                "labels": {"batch.kubernetes.io/controller-uid": uid},
            },
            "spec": {"nodeName": NODE, "restartPolicy": "Never", "containers": containers, **spec},
        },
        PODS,
    )
    ended = [
        {"name": each["name"], "image": "", "imageID": "", "ready": False, "restartCount": 0,
         "state": {"terminated": {"exitCode": int(each["name"] != "side")}}}
        for each in containers
    ]  # fmt: skip
    status = {"phase": "Failed", "containerStatuses": ended}
    await rig.client.patch(PODS, rig.namespace, name, {"status": status}, subresource="status")
    return {"metadata": {"namespace": rig.namespace, "name": "job", "uid": uid}}


async def secret(rig: HookRig, **data: str) -> None:
    await rig.client.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "database", "namespace": rig.namespace},
            "stringData": data,
        },
        SECRETS,
    )


def env(**more: Any) -> list[Manifest]:
    ref = {"name": "database", "key": "password", **more}
    container = {"name": "main", "image": "fake.local/never-ready:1"}
    return [{**container, "env": [{"name": "P", "valueFrom": {"secretKeyRef": ref}}]}]


async def test_the_last_lines_of_the_container_that_failed_are_told(rig: HookRig, kubelet: Kubelet) -> None:
    images = [{"name": name, "image": "fake.local/never-ready:1"} for name in ("side", "main")]
    job = await failed_pod(rig, containers=images)
    kubelet.logs = {"side": "quiet", "main": "\n".join(f"line {number}" for number in range(100))}

    told = await log_of(rig.client, job)

    heading, *lines = told.splitlines()
    assert heading.startswith("the last lines of its Pod pod-")
    assert lines == [f"line {number}" for number in range(100 - LINES, 100)]
    assert kubelet.asked[-1]["tailLines"] == str(LINES)


async def test_long_lines_are_cut(rig: HookRig, kubelet: Kubelet) -> None:
    kubelet.logs = {"main": "x" * 5000}

    assert len(await log_of(rig.client, await failed_pod(rig))) < 500


@pytest.mark.parametrize("use", ["env", "envFrom", "volume", "projected"])
async def test_a_line_with_the_value_of_a_secret_that_the_pod_uses_is_left_out(
    rig: HookRig, kubelet: Kubelet, use: str
) -> None:
    await secret(rig, password="correct-horse-battery")
    kubelet.logs = {"main": "begin\npassword is correct-horse-battery\nend"}
    spec: dict[str, Any] = {}
    containers = env()
    if use == "envFrom":
        containers = [
            {
                "name": "main",
                "image": "fake.local/never-ready:1",
                "envFrom": [{"secretRef": {"name": "database"}}],
            }
        ]
    elif use != "env":
        containers = []
        source = (
            {"secret": {"secretName": "database"}}
            if use == "volume"
            else {"projected": {"sources": [{"secret": {"name": "database"}}]}}
        )
        spec = {"volumes": [{"name": "v", **source}]}

    told = await log_of(rig.client, await failed_pod(rig, containers=containers or None, **spec))

    assert told.splitlines()[1:] == ["begin", DROPPED, "end"]


async def test_the_log_is_left_out_where_a_secret_cannot_be_known(rig: HookRig, kubelet: Kubelet) -> None:
    kubelet.logs = {"main": "password is correct-horse-battery"}

    gone = await log_of(rig.client, await failed_pod(rig, containers=env()))
    fine = await log_of(rig.client, await failed_pod(rig, containers=env(optional=True)))
    job = await failed_pod(rig, containers=env())
    await secret(rig, password="other-than-it-was")
    pods = await rig.client.list(PODS, rig.namespace)
    younger = max(pod["metadata"]["creationTimestamp"] for pod in pods)
    made = await rig.client.get(SECRETS, rig.namespace, "database")

    assert gone == "its log is left out, since the Secret database, which it uses, is gone"
    assert fine.endswith("password is correct-horse-battery"), "it cannot have got a value"
    if made["metadata"]["creationTimestamp"] > younger:  # told to the second
        changed = await log_of(rig.client, job)
        assert (
            changed == "its log is left out, since the Secret database, which it uses, was changed meanwhile"
        )


async def test_a_log_that_is_gone_or_cannot_be_had_is_told_so(rig: HookRig, kubelet: Kubelet) -> None:
    nothing: Manifest = {"metadata": {"namespace": rig.namespace, "name": "job", "uid": "none"}}

    assert await log_of(rig.client, nothing) == "it has no Pod whose log could be read"
    assert (await log_of(rig.client, await failed_pod(rig))).startswith("its log cannot be read: ")
