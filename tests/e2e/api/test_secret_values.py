"""No value of a Secret leaves: diff, preview, check and history show fingerprints, which still tell changes."""

from __future__ import annotations

import base64
from collections.abc import Callable

from convoy.kube.resources import SECRETS
from tests.e2e.harness.api import Api
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant

VALUES = ("first-hidden-value", "second-hidden-value", "third-hidden-value")


def secret(namespace: str, value: str) -> str:
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: {namespace}\n  annotations:\n"
        f'    kubectl.kubernetes.io/last-applied-configuration: \'{{"stringData":{{"p":"{value}"}}}}\'\n'
        f"stringData: {{p: {value}}}\n"
    )


async def test_no_answer_and_no_log_holds_a_value(
    convoy: Convoy, tenant: Tenant, api: Callable[[str], Api]
) -> None:
    mark = convoy.process.mark()
    await tenant.release("app", {"s.yaml": secret(tenant.namespace, VALUES[0])})
    await tenant.applied("app")
    await tenant.files("app", {"s.yaml": secret(tenant.namespace, VALUES[1])})
    await tenant.applied("app")
    await tenant.patch("app", {"spec": {"suspend": True}})
    edit = {"data": {"p": base64.b64encode(VALUES[2].encode()).decode()}}
    await tenant.home.patch(SECRETS, tenant.namespace, "s", edit, manager="edit")

    answers = [
        (await api("app").raw(method, subresource)).body
        for method, subresource in (
            ("GET", "diff"),
            ("GET", "preview"),
            ("GET", "history"),
            ("POST", "check"),
        )
    ]

    shown = b"".join(answers).decode() + convoy.process.log_since(mark)
    for value in VALUES:
        assert value not in shown
        assert base64.b64encode(value.encode()).decode() not in shown
    assert all(b"hmac:" in answers[at] for at in (0, 1, 3))
    assert b"/data/p" in answers[2]
