"""The OpenAPI v3 document: made from the types of the answers, so that it cannot say anything else than they do."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import msgspec

from convoy.api.crd import generate_crds
from convoy.kube.encode import encode
from convoy.server.answers import ANSWERS
from convoy.server.names import API_VERSION, GROUP, SUBRESOURCES, VERBS, VERSION

INDEX: Final = "/openapi/v3"
PATH: Final = f"{INDEX}/apis/{API_VERSION}"

_REF: Final = "#/components/schemas/{name}"
_PARAMETERS: Final[dict[tuple[str, str], list[dict[str, Any]]]] = {
    ("sync", "POST"): [{"name": "force", "in": "query", "schema": {"type": "boolean"}}],
    ("diff", "GET"): [{"name": "render", "in": "query", "schema": {"type": "string"}}],
    ("approve", "POST"): [{"name": "hook", "in": "query", "required": True, "schema": {"type": "string"}}],
}
_MEDIA: Final = ("application/json", "application/yaml")


@cache
def index() -> bytes:
    """Return which documents there are."""
    digest = hashlib.sha256(spec()).hexdigest().upper()
    paths = {f"apis/{API_VERSION}": {"serverRelativeURL": f"{PATH}?hash={digest}"}}
    return encode({"paths": paths})


@cache
def spec() -> bytes:
    """Return the document of the one version."""
    _, schemas = msgspec.json.schema_components(ANSWERS, ref_template=_REF)
    for kind, fields in _from_release().items():
        schemas[kind]["properties"] |= fields
    for kind, _ in SUBRESOURCES.values():
        schemas[kind]["x-kubernetes-group-version-kind"] = [
            {"group": GROUP, "version": VERSION, "kind": kind}
        ]
    return encode(
        {
            "openapi": "3.0.0",
            "info": {"title": "convoy", "version": version("convoy-release")},
            "paths": {
                f"/apis/{API_VERSION}/namespaces/{{namespace}}/releases/{{name}}/{name}": _path(name)
                for name in SUBRESOURCES
            },
            "components": {"schemas": schemas},
        }
    )


def _from_release() -> dict[str, dict[str, Any]]:
    """What stands in the Release itself has its schema there."""
    release = next(each for each in generate_crds() if each["spec"]["names"]["kind"] == "Release")
    fields = release["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return {
        "ReleaseMutations": {"mutations": fields["mutations"]},
        "ReleaseLifecycle": {
            name: fields["lifecycle"]["properties"][name] for name in ("preSync", "postSync")
        },
    }


def _path(name: str) -> dict[str, Any]:
    kind, methods = SUBRESOURCES[name]
    path: dict[str, Any] = {
        "parameters": [
            {"name": each, "in": "path", "required": True, "schema": {"type": "string"}}
            for each in ("namespace", "name")
        ]
    }
    for method in methods:
        operation: dict[str, Any] = {
            "operationId": f"{VERBS[method]}NamespacedRelease{name.capitalize()}",
            "tags": ["subresourcesConvoy_v1alpha1"],
            "parameters": _PARAMETERS.get((name, method), []),
            "responses": {
                "201" if method == "POST" else "200": {"description": "OK", "content": _content(kind)}
            },
            "x-kubernetes-action": VERBS[method],
            "x-kubernetes-group-version-kind": {"group": GROUP, "version": VERSION, "kind": kind},
        }
        if method == "PUT":
            operation["requestBody"] = {"required": True, "content": _content(kind)}
        path[method.lower()] = operation
    return path


def _content(kind: str) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=kind)}
    return {media: {"schema": schema} for media in _MEDIA}
