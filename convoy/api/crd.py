"""CRDs, generated from the models.

The API server wants structural schemas: no `$ref`, no `type: null`, no `anyOf` with types, no defaults (see
`release.py`). Pydantic's JSON schema has all of these; this module rewrites it and adds what stands outside
the schema: names, printer columns, the status subresource. CEL rules stand with the models.

`.venv/bin/python -m convoy.api.crd` prints them; with the argument `deploy/crds` it writes the checked-in files anew.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from convoy.api import cluster, inventory, release
from convoy.api.common import RULES, Resource
from convoy.api.names import APPLIED, GROUP, HEALTHY, IN_SYNC, REACHABLE, VERSION
from convoy.api.objects import Manifest

_KEPT = (
    "description",
    "enum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "nullable",
    "pattern",
    "type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-preserve-unknown-fields",
    RULES,
)

_FREE = {"x-kubernetes-preserve-unknown-fields": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    name: str
    path: str
    type: str = "string"
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    model: type[Resource]
    kind: str
    plural: str
    short_names: tuple[str, ...]
    columns: tuple[_Column, ...]


def _condition_column(name: str, condition: str, field: str = "status") -> _Column:
    path = f'.status.conditions[?(@.type=="{condition}")].{field}'
    return _Column(name=name, path=path, wide=field == "message")


_AGE = _Column(name="Age", path=".metadata.creationTimestamp", type="date")

_KINDS = (
    _Kind(
        model=release.Release,
        kind=release.KIND,
        plural=release.PLURAL,
        short_names=("rel",),
        columns=(
            _condition_column("Applied", APPLIED),
            _condition_column("In-Sync", IN_SYNC),
            _condition_column("Healthy", HEALTHY),
            _Column(name="Revision", path=".status.lastSuccessful.revision"),
            _Column(name="Cluster", path=".spec.clusterRef.name"),
            _AGE,
            _Column(name="Rollout", path=".status.rollout.phase", wide=True),
            _Column(name="Pinned", path=".pin.renderRef", wide=True),
            _condition_column("Applied-Message", APPLIED, "message"),
            _condition_column("In-Sync-Message", IN_SYNC, "message"),
            _condition_column("Healthy-Message", HEALTHY, "message"),
        ),
    ),
    _Kind(
        model=cluster.Cluster,
        kind=cluster.KIND,
        plural=cluster.PLURAL,
        short_names=(),
        columns=(
            _condition_column("Reachable", REACHABLE),
            _Column(name="Version", path=".status.kubernetesVersion"),
            _AGE,
            _condition_column("Message", REACHABLE, "message"),
        ),
    ),
    _Kind(
        model=inventory.ReleaseInventory,
        kind=inventory.KIND,
        plural=inventory.PLURAL,
        short_names=("relinv",),
        columns=(
            _Column(name="Cluster", path=".spec.clusterRef.name"),
            _Column(name="Health", path=".status.health.phase"),
            _AGE,
            _Column(name="Render", path=".spec.renderRef", wide=True),
        ),
    ),
)


def generate_crds() -> list[Manifest]:
    """Return the three CRDs."""
    return [_crd(kind) for kind in _KINDS]


def crds_yaml() -> dict[str, str]:
    """Return the CRDs as YAML, each under its file name."""
    return {f"{crd['metadata']['name']}.yaml": _to_yaml(crd) for crd in generate_crds()}


def _crd(kind: _Kind) -> Manifest:
    names: dict[str, Any] = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "categories": ["convoy"],
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _root_schema(kind.model)},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [_printer_column(column) for column in kind.columns],
                }
            ],
        },
    }


def _printer_column(column: _Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return entry | {"priority": 1} if column.wide else entry


def _root_schema(model: type[Resource]) -> dict[str, Any]:
    source = model.model_json_schema(by_alias=True)
    schema = _structural(source, source.get("$defs", {}))
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def _structural(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Rewrite one node of a JSON schema, with everything below it."""
    if "$ref" in schema:
        return _structural(
            _beside(schema, "$ref", definitions[schema["$ref"].rpartition("/")[2]]), definitions
        )
    if "anyOf" in schema:
        (only,) = (branch for branch in schema["anyOf"] if branch.get("type") != "null")
        return _structural(_beside(schema, "anyOf", only), definitions)
    result = {key: deepcopy(schema[key]) for key in _KEPT if key in schema}
    if "const" in schema:
        result["enum"] = [schema["const"]]
    if "type" not in schema:
        return result | _FREE | {"nullable": True}
    if "items" in schema:
        result["items"] = _structural(schema["items"], definitions)
    if schema.get("additionalProperties") is True:
        return result | _FREE
    if "additionalProperties" in schema:
        result["additionalProperties"] = _structural(schema["additionalProperties"], definitions)
    if "properties" in schema:
        below = schema["properties"].items()
        result["properties"] = {name: _structural(node, definitions) for name, node in below}
        result |= {"required": list(schema["required"])} if schema.get("required") else {}
    return result


def _beside(schema: dict[str, Any], key: str, target: dict[str, Any]) -> dict[str, Any]:
    """Merge what a reference points to with what stands beside the reference; CEL rules of both count."""
    merged = target | {name: value for name, value in schema.items() if name != key}
    rules = [*target.get(RULES, []), *schema.get(RULES, [])]
    return merged | {RULES: rules} if rules else merged


def _to_yaml(crd: Manifest) -> str:
    return yaml.safe_dump(crd, sort_keys=False, width=120, allow_unicode=True)


def write_crds(folder: Path) -> None:
    """Write the CRDs into a folder, one file each."""
    for name, text in crds_yaml().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_crds(Path(sys.argv[1]))
    else:
        sys.stdout.write("---\n".join(crds_yaml().values()))
