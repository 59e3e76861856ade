"""A mutating admission webhook of a test's own, over TLS on loopback, for the objects that carry its label."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import json
import secrets
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError
from convoy.kube.resources import CONFIG_MAPS, Resource

LABEL = "webhook.example.org/hooked"
CONFIGURATIONS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    namespaced=False,
)

Review = Callable[[dict[str, Any]], Awaitable[list[dict[str, Any]]]]
"""Answers the `request` of an AdmissionReview with a JSON patch."""


@asynccontextmanager
async def mutating_webhook(home: KubeClient, namespace: str, review: Review) -> AsyncIterator[None]:
    """Have all writes of labelled ConfigMaps of a namespace reviewed as long as the block runs."""
    in_force = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        in_force.set()
        patch = [] if asked["name"] == "probe" else await review(asked)
        response: dict[str, Any] = {"uid": asked["uid"], "allowed": True}
        if patch:
            encoded = base64.b64encode(json.dumps(patch).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": encoded}
        return web.json_response(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        )

    application = web.Application(client_max_size=2**24)
    application.router.add_post("/", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    context, authority = _certificate()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    port = runner.addresses[0][1]
    made = await home.create(_configuration(namespace, port, authority), CONFIGURATIONS)
    try:
        await _until(in_force, home, namespace)
        yield
    finally:
        await home.delete(CONFIGURATIONS, None, made["metadata"]["name"])
        await runner.cleanup()


def hooked(name: str, namespace: str, **data: str) -> str:
    """Return a ConfigMap with the webhook's label, as JSON."""
    return json.dumps(_config_map(name, namespace, data))


def _config_map(name: str, namespace: str, data: dict[str, str]) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": {LABEL: "yes"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def _until(in_force: asyncio.Event, home: KubeClient, namespace: str) -> None:
    """The API server learns of webhooks by a watch of its own."""
    async with asyncio.timeout(60):
        while not in_force.is_set():
            try:
                await home.create(_config_map("probe", namespace, {}), CONFIG_MAPS, dry_run=True)
            except ApiError as error:
                if "failed calling webhook" in error.message:
                    pytest.skip(f"the API server does not reach this machine: {error.message}")
                raise
            await asyncio.sleep(0.1)


def _configuration(namespace: str, port: int, authority: bytes) -> Manifest:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
        "operations": ["CREATE", "UPDATE"],
    }
    webhook = {
        "name": "mutate.webhook.example.org",
        "clientConfig": {
            "url": f"https://127.0.0.1:{port}/",
            "caBundle": base64.b64encode(authority).decode(),
        },
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "objectSelector": {"matchLabels": {LABEL: "yes"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 30,
    }
    return {
        "apiVersion": CONFIGURATIONS.api_version,
        "kind": CONFIGURATIONS.kind,
        "metadata": {"name": f"test-{secrets.token_hex(5)}"},
        "webhooks": [webhook],
    }


def _certificate() -> tuple[ssl.SSLContext, bytes]:
    """Return the server's side of TLS with a certificate of its own, and that certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook-of-a-test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "server.pem"
        file.write_bytes(private + pem)
        context.load_cert_chain(file)
    return context, pem
