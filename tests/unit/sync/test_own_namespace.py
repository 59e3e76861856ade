"""convoy's own namespace is not for Releases (D16)."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.api.errors import Unsupported
from convoy.api.hooks import Lifecycle
from convoy.api.objects import key_of
from convoy.api.rendered import Render, RenderedObject
from convoy.sync.own_namespace import refuse_own_namespace


def render(kind: str, name: str, namespace: str = "") -> Render:
    manifest: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    if namespace:
        manifest["metadata"]["namespace"] = namespace
    return Render("sha256:0", "r", (RenderedObject(key_of(manifest), "v1", 0, manifest),))


def test_refuses_an_object_inside_it() -> None:
    with pytest.raises(
        Unsupported, match="Secret convoy-system/key: convoy itself runs in namespace convoy-system"
    ):
        refuse_own_namespace(render("Secret", "key", "convoy-system"), "convoy-system")


def test_refuses_the_namespace_itself() -> None:
    with pytest.raises(Unsupported, match="Namespace convoy-system"):
        refuse_own_namespace(render("Namespace", "convoy-system"), "convoy-system")


def test_lets_everything_else_through() -> None:
    refuse_own_namespace(render("Secret", "convoy-system", "demo"), "convoy-system")
    refuse_own_namespace(render("ClusterRole", "convoy-system"), "convoy-system")


def test_refuses_what_a_hook_would_run_there() -> None:
    hook = {"name": "migrate", "namespace": "convoy-system", "job": {}}
    lifecycle = Lifecycle.model_validate({"postSync": [hook]})
    with pytest.raises(Unsupported, match="hook migrate: convoy itself runs"):
        refuse_own_namespace(render("Secret", "key", "demo"), "convoy-system", lifecycle)
    refuse_own_namespace(render("Secret", "key", "demo"), "other", lifecycle)


def test_refuses_a_hook_of_a_chart_in_it() -> None:
    objects = render("ConfigMap", "settings", "convoy-system").objects
    with pytest.raises(Unsupported, match="ConfigMap convoy-system/settings"):
        refuse_own_namespace(Render("sha256:0", "r", (), objects), "convoy-system")
