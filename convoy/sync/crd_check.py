"""Custom resources against the CRD of the same render, where the cluster cannot check them yet (D8).

A dry run skips a kind that the cluster does not know, and judges by the old schema where the render changes it.
Without this check the first install of an operator would apply its CRD and fail half-way on a misspelt custom
resource, and an upgrade could never use a field that it brings. The check is made to let through what
it cannot judge (CEL rules, formats, defaults): the API server has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft4Validator, validators
from jsonschema.exceptions import ValidationError

from convoy.api.objects import split_api_version
from convoy.api.rendered import RenderedObject

Kind = tuple[str, str]
"""API group and kind."""

_CRD: Kind = ("apiextensions.k8s.io", "CustomResourceDefinition")
_PLAIN = (
    *("type", "description", "enum", "format", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_FAULTS = 20
"""Faults named of one object."""
_TAME = 2
"""Quantifiers, groups and options that a pattern may have: then its time grows with the cube of a text at most."""
_TAME_LENGTH = 100
_ONE_CHARACTER = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


class RenderedCrds:
    """The CRDs of a render; each schema is made ready once."""

    def __init__(self, objects: Iterable[RenderedObject]) -> None:
        self._crds: dict[Kind, RenderedObject] = {}
        self._validators: dict[tuple[str, str], Draft4Validator | None] = {}
        for item in objects:
            spec = item.manifest.get("spec")
            if (item.key.group, item.key.kind) == _CRD and isinstance(spec, dict):
                names = spec.get("names")
                kind = names.get("kind") if isinstance(names, dict) else None
                self._crds[str(spec.get("group")), str(kind)] = item

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds that the render defines."""
        return frozenset(self._crds)

    def of(self, objects: Iterable[RenderedObject]) -> dict[Kind, RenderedObject]:
        """Return the CRDs that define the kinds of these objects."""
        kinds = {(item.key.group, item.key.kind) for item in objects}
        return {kind: crd for kind, crd in self._crds.items() if kind in kinds}

    def has(self, item: RenderedObject) -> bool:
        """Return whether the render holds the CRD of this object."""
        return (item.key.group, item.key.kind) in self._crds

    def faults(self, item: RenderedObject) -> list[str]:
        """Return what the CRD of this render finds wrong with an object: `spec.cups: 9 is greater than …`."""
        spec = self._crds[item.key.group, item.key.kind].manifest["spec"]
        _, version = split_api_version(item.api_version)
        served = _served(spec)
        if version not in served:
            known = ", ".join(sorted(served)) or "none"
            return [
                f"version {version} is not served by the CustomResourceDefinition of this render ({known})"
            ]
        instance = {k: v for k, v in _without_nulls(item.manifest).items() if k not in {"metadata", "status"}}
        try:
            validator = self._validator(item.api_version, item.key.kind, served[version])
            faults = list(validator.iter_errors(instance)) if validator is not None else []
        except Exception:  # noqa: BLE001 (a schema that is none, `minLength: x`: the CRD's own dry run says so)
            return []
        found = sorted(faults, key=lambda error: list(map(str, error.absolute_path)))
        lines = list(dict.fromkeys(_line(error) for error in found))
        more = [f"{len(lines) - _FAULTS} more"] if len(lines) > _FAULTS else []
        return lines[:_FAULTS] + more

    def _validator(self, api_version: str, kind: str, version: Mapping[str, Any]) -> Draft4Validator | None:
        known = (api_version, kind)
        if known not in self._validators:
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            self._validators[known] = _Validator(_root(schema)) if isinstance(schema, dict) else None
        return self._validators[known]


def _served(spec: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    versions = spec.get("versions")
    if not isinstance(versions, list):
        return {}
    return {
        str(each["name"]): each
        for each in versions
        if isinstance(each, dict) and "name" in each and each.get("served") is True
    }


def _root(schema: Mapping[str, Any]) -> dict[str, Any]:
    converted = _convert(schema, embedded=True)
    # The API server checks metadata by itself, and status is never sent.
    for name in ("metadata", "status"):
        converted.get("properties", {}).pop(name, None)
    if "required" in converted:
        converted["required"] = [name for name in converted["required"] if name not in {"metadata", "status"}]
        if not converted["required"]:
            del converted["required"]
    return converted


def _convert(schema: Mapping[str, Any], *, embedded: bool = False) -> dict[str, Any]:
    """Turn a structural schema into JSON schema (draft 4, whose exclusive limits OpenAPI 3.0 has)."""
    result: dict[str, Any] = {name: schema[name] for name in _PLAIN if name in schema}
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and _is_judged(pattern):
        result["pattern"] = pattern
    if schema.get("x-kubernetes-int-or-string") is True:
        result.pop("type", None)
        result["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        return result
    properties = schema.get("properties")
    if isinstance(properties, dict):
        result["properties"] = {
            name: _convert(each) for name, each in properties.items() if isinstance(each, dict)
        }
    items = schema.get("items")
    if isinstance(items, dict):
        result["items"] = _convert(items)
    _close(result, schema, embedded=embedded or schema.get("x-kubernetes-embedded-resource") is True)
    required = _required(schema)
    if required:
        result["required"] = required
    for name in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            result[name] = [_value_rules(each) for each in schema[name] if isinstance(each, dict)]
    if isinstance(schema.get("not"), dict):
        result["not"] = _value_rules(schema["not"])
    if schema.get("nullable") is True:
        return {"anyOf": [{"type": "null"}, result]}
    return result


def _close(result: dict[str, Any], schema: Mapping[str, Any], *, embedded: bool) -> None:
    """Refuse fields that the schema does not declare, as server-side apply does."""
    if schema.get("type") != "object" or schema.get("x-kubernetes-preserve-unknown-fields") is True:
        return
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        result["additionalProperties"] = _convert(more)
    elif more is not True:
        result["additionalProperties"] = False
        result.setdefault("properties", {})
        if embedded:
            for name in ("apiVersion", "kind", "metadata"):
                result["properties"].setdefault(name, {})


def _value_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a schema inside allOf, anyOf, oneOf or not: it only narrows values, so it closes nothing."""
    result = {name: schema[name] for name in _PLAIN if name in schema}
    if isinstance(schema.get("pattern"), str) and _is_judged(schema["pattern"]):
        result["pattern"] = schema["pattern"]
    if isinstance(schema.get("required"), list):
        result["required"] = schema["required"]
    if isinstance(schema.get("properties"), dict):
        result["properties"] = {
            name: _value_rules(each) for name, each in schema["properties"].items() if isinstance(each, dict)
        }
    if isinstance(schema.get("items"), dict):
        result["items"] = _value_rules(schema["items"])
    for name in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            result[name] = [_value_rules(each) for each in schema[name] if isinstance(each, dict)]
    if isinstance(schema.get("not"), dict):
        result["not"] = _value_rules(schema["not"])
    return result


def _required(schema: Mapping[str, Any]) -> list[str]:
    # The server fills defaults in before it looks for what is missing.
    properties = schema.get("properties") or {}
    names = schema.get("required") or []
    return [name for name in names if "default" not in (properties.get(name) or {})]


def _is_judged(pattern: str) -> bool:
    """Return whether a pattern is safe to try here; any other one is left to the server.

    Go's syntax is not quite Python's. And Go's takes no more time than the text is long, while Python's tries all
    ways to share a text out: for ever, with the whole process, where quantifiers stand in each other or in a row.
    """
    try:
        re.compile(pattern)
    except re.error:
        return False
    bare = _ONE_CHARACTER.sub("x", pattern).replace("(?", "(")
    many = len(re.findall(r"[*+{]", bare))
    groups, optional = bare.count("("), bare.count("?")
    return ")*" not in bare and ")+" not in bare and "){" not in bare and max(many, groups, optional) <= _TAME


def _judge_pattern(
    validator: Any, pattern: str, instance: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if isinstance(instance, str) and len(instance) <= _TAME_LENGTH:
        yield from Draft4Validator.VALIDATORS["pattern"](validator, pattern, instance, schema)


def _without_nulls(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _without_nulls(value) for name, value in tree.items() if value is not None}
    if isinstance(tree, list):
        return [_without_nulls(value) for value in tree]
    return tree


def _line(error: ValidationError) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return f"{path.lstrip('.')}: {message}" if path else message


_Validator: type[Draft4Validator] = validators.extend(  # type: ignore[no-untyped-call]
    Draft4Validator, {"pattern": _judge_pattern}
)
