"""No value of a Secret leaves the render: not into conditions, events, logs, inventories or workflow payloads."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from convoy.kube.resources import CONFIG_MAPS, EVENTS, INVENTORIES, SECRETS
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map
from workflows.contract import ReleaseId

SECRET = """\
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: {namespace}}}
{body}
"""


async def test_no_secret_value_is_told_anywhere(convoy: Convoy, tenant: Tenant) -> None:
    value = f"hunter2-{secrets.token_hex(8)}"
    encoded = base64.b64encode(value.encode()).decode()
    mark = convoy.process.mark()

    # Applied, changed by hand, found, healed.
    good = SECRET.format(name="good", namespace=tenant.namespace, body=f"stringData: {{password: {value}}}")
    await tenant.create(CONFIG_MAPS, "good-files", {"data": {"a.yaml": good}})
    await tenant.release("good", source={"configMap": {"name": "good-files"}})
    await tenant.applied("good")
    await tenant.home.patch(SECRETS, tenant.namespace, "good", {"data": {"password": "b3RoZXI="}})
    report = await convoy.check(ReleaseId(tenant.namespace, "good"))
    changes = str(await convoy.changes(report))
    assert value not in changes
    assert encoded not in changes

    # Whatever a server or a parser might quote: a wrong type, a bad base64, an immutable Secret, broken YAML.
    await tenant.create(SECRETS, "frozen", {"immutable": True, "stringData": {"a": "1"}})
    faults = {
        "type": SECRET.format(
            name="bad", namespace=tenant.namespace, body=f"data: {{password: [{value}, {encoded}]}}"
        ),
        "base64": SECRET.format(
            name="bad", namespace=tenant.namespace, body=f"data: {{password: '{value}!'}}"
        ),
        "field": SECRET.format(
            name="bad", namespace=tenant.namespace, body=f"unknown: {encoded}\nstringData: {value}"
        ),
        "frozen": SECRET.format(
            name="frozen", namespace=tenant.namespace, body=f"stringData: {{a: {value}}}"
        ),
        "yaml": SECRET.format(
            name="bad", namespace=tenant.namespace, body=f"stringData:\n  a: {value}\n  b: '{value}\n c"
        ),
        "wave": config_map("fine", tenant.namespace)
        + "---\n"
        + SECRET.format(name="bad", namespace="missing-" + tenant.namespace, body=f"data: {{a: {encoded}}}"),
    }
    for name, text in faults.items():
        await tenant.create(CONFIG_MAPS, f"{name}-files", {"data": {"a.yaml": text}})
        await tenant.release(
            name,
            source={"configMap": {"name": f"{name}-files"}},
            policy={"retryBackoff": {"initial": "1h"}},
        )
    names = ["good", *faults]
    for name in names:
        await tenant.until(name, lambda tree: "settledAt" in (tree.get("status") or {}).get("sync", {}))

    leaks = [
        place for place, text in await told(convoy, tenant, names, mark) if value in text or encoded in text
    ]
    assert leaks == []


async def told(convoy: Convoy, tenant: Tenant, names: Sequence[str], mark: int) -> list[tuple[str, str]]:
    """Return everything that convoy has written anywhere, by place."""
    texts = [(f"status of {name}", json.dumps((await tenant.get(name))["status"])) for name in names]
    for resource in (EVENTS, INVENTORIES):
        for tree in await tenant.home.list(resource, tenant.namespace):
            texts.append((f"{tree['kind']} {tree['metadata']['name']}", json.dumps(tree)))
    for name in names:
        for kind in ("sync", "drift"):
            for history in await tenant.histories(name, kind):
                texts.append((f"history of {kind}/{name}", readable(history.to_json())))
    for folder in (convoy.folder / "store", convoy.folder / "work" / "renders"):
        files = [(str(path), text) for path in folder.rglob("*") if (text := text_of(path)) is not None]
        assert files
        texts += files
    return [*texts, ("the log", convoy.process.log_since(mark))]


def text_of(path: Path) -> str | None:
    """Return the text of a file; None for a folder and for what convoy has removed meanwhile."""
    try:
        return path.read_text(errors="replace")
    except (IsADirectoryError, FileNotFoundError):
        return None


def readable(history: str) -> str:
    """Return a history with its payloads decoded."""
    texts: list[str] = []

    def walk(node: object) -> None:
        match node:
            case dict():
                for key, each in node.items():
                    if key == "data" and isinstance(each, str):
                        texts.append(base64.b64decode(each).decode(errors="replace"))
                    walk(each)
            case list():
                for each in node:
                    walk(each)
            case str():
                texts.append(node)

    walk(json.loads(history))
    return "\n".join(texts)
