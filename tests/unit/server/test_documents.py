"""Discovery and OpenAPI say the same as the routes and the types of the answers."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from convoy.server import discovery, openapi
from convoy.server.answers import ANSWERS, Metadata, ReleaseMutations
from convoy.server.names import API_VERSION, GROUP, SUBRESOURCES
from convoy.server.refusals import NotAllowed, NotFound
from convoy.server.routes import HANDLERS, route

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
ROOT = f"/apis/{API_VERSION}/namespaces/team/releases/shop"


def test_every_verb_of_discovery_has_a_handler_and_the_other_way_round() -> None:
    assert set(HANDLERS) == {
        (name, method) for name, (_, methods) in SUBRESOURCES.items() for method in methods
    }


def test_every_kind_of_discovery_is_the_type_of_an_answer() -> None:
    assert {kind for kind, _ in SUBRESOURCES.values()} == {answer.__name__ for answer in ANSWERS}


@pytest.mark.parametrize(
    ("accept", "version"),
    [(f"{V2},{V2BETA1},application/json", "v2"), (f"{V2BETA1},application/json", "v2beta1")],
)
def test_aggregated_discovery_has_the_version_that_was_asked_for(accept: str, version: str) -> None:
    found = discovery.document("/apis", accept)
    assert found is not None
    assert f"v={version};" in found.content_type
    assert json.loads(found.body)["apiVersion"] == f"apidiscovery.k8s.io/{version}"
    assert found.etag.startswith('"')


def test_legacy_discovery_is_what_nobody_asks_otherwise_for() -> None:
    kinds = {"/apis": "APIGroupList", f"/apis/{GROUP}": "APIGroup", f"/apis/{API_VERSION}": "APIResourceList"}
    for path, kind in kinds.items():
        found = discovery.document(path, "application/json")
        assert found is not None
        assert json.loads(found.body)["kind"] == kind
    assert discovery.document("/apis/apps", "") is None


def test_the_openapi_document_has_each_call_and_resolves_each_reference() -> None:
    document = json.loads(openapi.spec())
    calls = {
        (path.rpartition("/")[2], method.upper()) for path, at in document["paths"].items() for method in at
    }
    assert calls - {(name, "PARAMETERS") for name in SUBRESOURCES} == set(HANDLERS)
    schemas = document["components"]["schemas"]
    for ref in _refs(document):
        assert ref.removeprefix("#/components/schemas/") in schemas


def test_an_answer_fits_its_schema() -> None:
    document = json.loads(openapi.spec())
    answer = ReleaseMutations(
        metadata=Metadata(name="a", namespace="b"), mutations=({"image": {"name": "x", "newTag": "1"}},)
    )
    schema = {"$ref": "#/components/schemas/ReleaseMutations", "components": document["components"]}
    jsonschema.validate(json.loads(msgspec.json.encode(answer)), schema)


def _refs(tree: object) -> list[str]:
    if isinstance(tree, dict):
        own = [tree["$ref"]] if isinstance(tree.get("$ref"), str) else []
        return own + [ref for value in tree.values() for ref in _refs(value)]
    return [ref for value in tree for ref in _refs(value)] if isinstance(tree, list) else []


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_a_route_has_the_verb_of_rbac(method: str) -> None:
    if method == "POST":
        found = route("POST", f"{ROOT}/sync")
        assert (found.access.verb, found.writes) == ("create", True)
        return
    found = route(method, f"{ROOT}/pin")
    assert (found.access.namespace, found.access.name) == ("team", "shop")
    assert found.access.verb == {"GET": "get", "PUT": "update", "DELETE": "delete"}[method]
    assert found.writes == (method != "GET")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/apis",
        ROOT,
        f"{ROOT}/",
        f"{ROOT}/nothing",
        f"{ROOT}/sync/",
        f"{ROOT}/sync/x",
        f"/apis/{API_VERSION}/namespaces//releases/shop/sync",
        f"/apis/{API_VERSION}/namespaces/team/releases//sync",
        f"/apis/{API_VERSION}/namespaces/team/releases/a%2Fb/sync",
        f"/apis/{API_VERSION}/namespaces/team/clusters/shop/sync",
        f"/apis/{API_VERSION}/releases/shop/sync",
    ],
)
def test_other_paths_lead_nowhere(path: str) -> None:
    with pytest.raises(NotFound):
        route("POST", path)


@pytest.mark.parametrize("method", ["GET", "PATCH", "HEAD", "OPTIONS"])
def test_other_methods_are_refused(method: str) -> None:
    with pytest.raises(NotAllowed, match="it has POST"):
        route(method, f"{ROOT}/sync")
