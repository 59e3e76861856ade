"""No value of a Secret gets into an error, whatever is wrong with the Secret."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.encode import apply_body
from convoy.kube.errors import ApiError, Invalid
from convoy.kube.resources import SECRETS

VALUE = "pear-blossom"
NUMBER = 7043318862


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"data": {"pin": NUMBER}}, "data.pin"),
        ({"stringData": {"pin": NUMBER}}, "stringData.pin"),
        ({"data": [VALUE]}, "data"),
        ({"type": {"a": VALUE}}, "type"),
        ({"immutable": VALUE}, "immutable"),
        ({"extra": {"a": VALUE}}, "extra"),
        ({"metadata": {"annotations": {"a": [VALUE]}}}, "annotations.a"),
        ({"metadata": {"labels": {"a": f"{VALUE} {VALUE}"}}}, "metadata.labels"),
        (
            {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": VALUE}},
            "dockerconfigjson",
        ),
        ({"stringData": {"bad key!": VALUE}}, "bad key!"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_field_is_named_and_the_value_is_not(
    home: KubeClient, namespace: str, fields: dict[str, Any], named: str
) -> None:
    metadata = {"name": "padlock", "namespace": namespace, **fields.get("metadata", {})}
    tree = {"apiVersion": "v1", "kind": "Secret", **fields, "metadata": metadata}
    with pytest.raises(ApiError) as caught:
        await home.apply(apply_body(tree), SECRETS, namespace, "padlock", dry_run=True)
    error = caught.value
    said = repr((str(error), error.args, error.message, error.causes))
    assert type(error) is Invalid
    assert named in error.message
    assert VALUE not in said
    assert str(NUMBER) not in said


async def test_a_create_that_cannot_be_decoded_shows_no_value(home: KubeClient, namespace: str) -> None:
    tree: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "data": {"pin": NUMBER}}
    tree["metadata"] = {"name": "padlock", "namespace": namespace}
    with pytest.raises(ApiError) as caught:
        await home.create(tree, SECRETS)
    assert str(NUMBER) not in caught.value.message
