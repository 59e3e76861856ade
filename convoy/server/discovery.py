"""What kube-apiserver and clients are told of this API: the groups, the version, the subresources.

In the aggregated form the parent `releases` has no kind, as it is served by the CRD's group and not here: clients
drop such a parent and keep its subresources, so that `kubectl get releases` stays unambiguous.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from convoy.kube.encode import encode
from convoy.server.names import API_VERSION, GROUP, SUBRESOURCES, VERBS, VERSION

_AGGREGATED: Final = "APIGroupDiscoveryList"
_VERSION: Final[dict[str, Any]] = {"groupVersion": API_VERSION, "version": VERSION}


@dataclass(frozen=True, slots=True)
class Document:
    """A discovery document as it is sent."""

    body: bytes
    content_type: str
    etag: str = ""


def document(path: str, accept: str) -> Document | None:
    """Return the discovery document at a path; None where there is none.

    `accept` is the Accept header: it asks for the aggregated form or not.
    """
    if path == "/apis" and f"as={_AGGREGATED}" in accept:
        return _aggregated("v2" if "v=v2;" in f"{accept.replace(',', ';').replace(' ', '')};" else "v2beta1")
    trees = {"/apis": _groups, f"/apis/{GROUP}": _group, f"/apis/{API_VERSION}": _resources}
    tree = trees.get(path)
    return Document(encode(tree()), "application/json") if tree is not None else None


def _groups() -> dict[str, Any]:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group_entry()]}


def _group() -> dict[str, Any]:
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_entry()}


def _group_entry() -> dict[str, Any]:
    return {"name": GROUP, "versions": [_VERSION], "preferredVersion": _VERSION}


def _resources() -> dict[str, Any]:
    resources = [
        {
            "name": f"releases/{name}",
            "singularName": "",
            "namespaced": True,
            "kind": kind,
            "verbs": [VERBS[method] for method in methods],
        }
        for name, (kind, methods) in SUBRESOURCES.items()
    ]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": API_VERSION,
        "resources": resources,
    }


def _aggregated(version: str) -> Document:
    subresources = [
        {
            "subresource": name,
            "responseKind": {"group": GROUP, "version": VERSION, "kind": kind},
            "verbs": [VERBS[method] for method in methods],
        }
        for name, (kind, methods) in SUBRESOURCES.items()
    ]
    parent = {
        "resource": "releases",
        "scope": "Namespaced",
        "singularResource": "release",
        "verbs": [],
        "subresources": subresources,
    }
    versions = [{"version": VERSION, "resources": [parent], "freshness": "Current"}]
    body = encode(
        {
            "kind": _AGGREGATED,
            "apiVersion": f"apidiscovery.k8s.io/{version}",
            "metadata": {},
            "items": [{"metadata": {"name": GROUP, "creationTimestamp": None}, "versions": versions}],
        }
    )
    media = f"application/json;g=apidiscovery.k8s.io;v={version};as={_AGGREGATED}"
    return Document(body, media, f'"{hashlib.sha256(body).hexdigest().upper()}"')
