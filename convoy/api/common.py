"""What the models of all resources share: names in camelCase, tolerant reading, "exactly one of".

The API server's schema is the guard; the models repeat it so that `validate -f FILE` works without a
cluster. Status is read tolerantly (an unknown phase is a text like any other): a newer convoy may have
written it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from convoy.api.errors import Unsupported
from convoy.api.objects import Manifest
from convoy.api.times import DURATION_PATTERN, MAX_DURATION, format_duration, parse_duration

RULES = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class CelRule:
    """A rule that the API server checks, and what it answers where it does not hold."""

    rule: str
    message: str

    def tree(self) -> dict[str, str]:
        """Return the rule as a schema has it."""
        return {"rule": self.rule, "message": self.message}


class ApiModel(BaseModel):
    """Base of all resource models. Immutable; a change is `model_copy(update=...)`."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,
    )

    one_of: ClassVar[tuple[str, ...]] = ()
    """Names as in JSON: exactly one of them is set."""

    at_most_one_of: ClassVar[tuple[str, ...]] = ()
    """Names as in JSON: one of them is set, or none."""

    nullable: ClassVar[frozenset[str]] = frozenset()
    """Names as in JSON for which null is a value. For all others null means not set (D3)."""

    rules: ClassVar[tuple[CelRule, ...]] = ()
    """Further CEL rules for the API server."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Add the CEL rules to the schema."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        rules = [*_choice_rules(cls), *cls.rules]
        if rules:
            schema[RULES] = [rule.tree() for rule in rules]
        return schema

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        return {name: value for name, value in data.items() if value is not None or name in cls.nullable}

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        chosen = {self._alias(name) for name in self.model_fields_set if getattr(self, name) is not None}
        if self.one_of and len(chosen.intersection(self.one_of)) != 1:
            raise ValueError(_exactly_one(self.one_of))
        if len(chosen.intersection(self.at_most_one_of)) > 1:
            raise ValueError(_at_most_one(self.at_most_one_of))
        return self

    @classmethod
    def _alias(cls, name: str) -> str:
        return cls.model_fields[name].alias or name

    def tree(self) -> Manifest:
        """Return the plain camelCase JSON tree, without what is not set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)

    @classmethod
    def read(cls, tree: Mapping[str, Any]) -> Self:
        """Read a tree. Raise Unsupported naming each field at fault, never its value."""
        try:
            return cls.model_validate(tree)
        except ValidationError as error:
            raise Unsupported(f"{cls.__name__}: {faults(error)}") from None


def _exactly_one(names: tuple[str, ...]) -> str:
    return f"exactly one of {', '.join(names)} must be set"


def _at_most_one(names: tuple[str, ...]) -> str:
    return f"at most one of {', '.join(names)} may be set"


def _choice_rules(model: type[ApiModel]) -> list[CelRule]:
    def count(names: tuple[str, ...]) -> str:
        return f"[{', '.join(f'has(self.{name})' for name in names)}].filter(set, set).size()"

    one, at_most = model.one_of, model.at_most_one_of
    rules = [CelRule(f"{count(one)} == 1", _exactly_one(one))] if one else []
    return [*rules, CelRule(f"{count(at_most)} <= 1", _at_most_one(at_most))] if at_most else rules


def faults(error: ValidationError) -> str:
    """Return `spec.content: message` for each fault, separated by semicolons, paths as in the YAML."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
        lines.append(f"{path.lstrip('.') or '(root)'}: {fault['msg'].removeprefix('Value error, ')}")
    return "; ".join(lines)


def _read_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError("a duration is a text such as 90s, 5m or 1h30m")
    return parse_duration(value)


GoDuration = Annotated[
    timedelta,
    BeforeValidator(_read_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": 32,
            "pattern": DURATION_PATTERN,
            RULES: [
                CelRule(
                    rule=f"duration(self) <= duration('{format_duration(MAX_DURATION)}')",
                    message=f"must not be longer than {format_duration(MAX_DURATION)}",
                ).tree()
            ],
        }
    ),
]
"""A Go duration (`90s`, `5m`, `1h30m`), never negative."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=253)]
"""A short text that is not empty."""

Name = Text
"""The name of an object."""

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""An RFC 3339 time as text (`convoy.api.times` reads and writes it)."""


def one_of_texts(*texts: str) -> WithJsonSchema:
    """Mark a status text whose values the schema lists, but which is read tolerantly."""
    return WithJsonSchema({"type": "string", "enum": list(texts)})


class LocalRef(ApiModel):
    """Names an object in the Release's own namespace."""

    name: Name
    """Its name."""


class OwnerReference(ApiModel):
    """An entry of metadata.ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Metadata(ApiModel):
    """The part of an object's metadata that convoy reads."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class Condition(ApiModel):
    """One observation about a resource."""

    type: Annotated[str, StringConstraints(max_length=316)]
    """What is observed."""
    status: Annotated[str, one_of_texts("True", "False", "Unknown")]
    """Whether it is so."""
    reason: Annotated[str, Field(max_length=1024)] = ""
    """Why, in one word."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Why, for a person."""
    observed_generation: int | None = None
    """metadata.generation of the resource that it was observed of."""
    last_transition_time: Time | None = None
    """When the status changed last."""


class Resource(ApiModel):
    """Base of the three resources."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Metadata()


ConditionList = Annotated[
    tuple[Condition, ...],
    Field(json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
]
"""Conditions, merged by type so that each writer owns its own."""


def condition_of(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of a type, or None."""
    return next((condition for condition in conditions if condition.type == kind), None)
