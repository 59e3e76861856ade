"""Answers that a test server does not give on demand, and the rules that hold for all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convoy.kube import errors
from convoy.kube.classify import error_of, error_of_event
from convoy.kube.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    Rejected,
    ServerFault,
    TooManyRequests,
    Unauthorized,
)
from convoy.kube.resources import CONFIG_MAPS, SECRETS, Resource


def answer(
    code: int,
    message: str,
    *,
    resource: Resource = CONFIG_MAPS,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> ApiError:
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "message": message, **fields}
    return error_of(code, headers or {}, json.dumps(body).encode(), resource=resource, name="it")


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (500, "failed to prune fields: failed add back owned items: …", Invalid),
        (500, "items: [] is not a list", Invalid),
        (500, "etcdserver: request is too large", Invalid),
        (500, 'Internal error occurred: failed calling webhook "w": context deadline exceeded', ServerFault),
        (500, "etcdserver: leader changed", ServerFault),
        (503, "apiserver not ready", ServerFault),
        (504, "request did not complete within requested timeout", ServerFault),
        (401, "Unauthorized", Unauthorized),
        (403, 'admission webhook "w" denied the request: no', Forbidden),
        (403, "exceeded quota", Forbidden),
        (405, "the server does not allow this method on the requested resource", Rejected),
        (409, "the object has been modified", Conflict),
        (410, "The resourceVersion for the provided watch is too old.", Gone),
        (415, "Unsupported Media Type", Rejected),
        (429, "too many requests", TooManyRequests),
    ],
)
def test_each_answer_has_its_error(code: int, message: str, expected: type[ApiError]) -> None:
    error = answer(code, message)
    assert type(error) is expected
    assert error.message == message
    assert error.status == code


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    assert answer(429, "slow down", headers={"Retry-After": "7"}).retry_after == 7
    assert answer(500, "slow down", details={"retryAfterSeconds": 3}).retry_after == 3
    assert answer(429, "slow down", headers={"Retry-After": "soon"}).retry_after is None


def test_several_mistakes_of_one_manifest_become_causes() -> None:
    error = answer(
        500,
        "failed to create typed patch object (demo/web; apps/v1, Kind=Deployment): errors:\n"
        "  .spec.foo: field not declared in schema\n  .spec.replicas: expected numeric, got &{x}",
    )
    assert [(cause.field, cause.message) for cause in error.causes] == [
        ("spec.foo", "field not declared in schema"),
        ("spec.replicas", "expected numeric, got &{x}"),
    ]


def test_a_message_about_a_secret_is_cut_where_a_value_may_begin() -> None:
    for message in (
        ".data.pin: expected string, got &value.valueUnstructured{Value:4711}",
        'Secret "it" is invalid: data: Invalid value: "4711"',
        'admission webhook "w" denied the request: 4711',
        "json: cannot unmarshal number 4711 into Go struct field Secret.data of type []uint8",
        'strconv.ParseBool: parsing "4711": invalid syntax',
    ):
        for code in (400, 403, 422, 500):
            assert "4711" not in repr(vars(answer(code, message, resource=SECRETS)))


def test_a_secret_is_known_by_the_answer_too() -> None:
    error = answer(422, "x: got 4711", details={"kind": "Secret", "name": "it"})
    assert "4711" not in error.message


def test_a_huge_message_is_cut() -> None:
    error = answer(422, "x" * 1_000_000, details={"causes": [{"field": "a", "message": "y" * 1_000_000}]})
    assert len(error.message) < 5_000
    assert "more characters" in error.message
    assert len(error.causes[0].message) < 5_000


def test_what_is_cut_is_the_middle_since_the_reason_stands_at_the_end() -> None:
    cause = f"Invalid value: {'x' * 10_000}: field is immutable"
    error = answer(
        422,
        f'Job.batch "it" is invalid: spec.template: {cause}',
        details={"causes": [{"field": "spec.template", "message": cause}]},
    )

    assert error.message.startswith('Job.batch "it" is invalid: spec.template: Invalid value: xxx')
    assert error.message.endswith("x: field is immutable")
    assert error.causes[0].message in error.message


def test_an_error_event_is_classified_like_an_answer() -> None:
    assert type(error_of_event({"kind": "Status", "code": 410}, resource=CONFIG_MAPS)) is Gone
    assert type(error_of_event("nonsense", resource=CONFIG_MAPS)) is ServerFault


def test_what_is_the_users_fault_is_never_retried_but_for_a_terminating_namespace() -> None:
    classes = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ApiError)
    ]
    both = {each.__name__ for each in classes if each.is_users_fault and each.is_retryable}
    assert both == {"NamespaceTerminating"}
    retryable = {each.__name__ for each in classes if each.is_retryable}
    assert retryable == {"Conflict", "NamespaceTerminating", "TooManyRequests", "ServerFault", "Unreachable"}
