"""D1: an object without apiVersion, kind or name is refused, and so is the same identity twice."""

from __future__ import annotations

import pytest

from convoy.api.errors import Unsupported
from tests.unit.render.reading import objects

REFUSED = {
    "- just\n- a list\n": "a.yaml, document 1, line 1: an object is expected, but this is a list",
    "text": "but this is a text",
    "kind: ConfigMap\nmetadata: {name: a}\n": "an object has no apiVersion",
    "apiVersion: v1\nmetadata: {name: a}\n": "an object has no kind",
    "apiVersion: v1\nkind: ConfigMap\n": "ConfigMap has no metadata.name",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: []\n": "metadata must be an object",
    "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: sweep-}\n": "Job has a generateName and no name",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 12}\n": "metadata.name must be a text, but is a number",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../x}\n": "metadata.name may not hold /",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ..}\n": "metadata.namespace may not",
    "apiVersion: a/b/v1\nkind: ConfigMap\nmetadata: {name: a}\n": "more than one /",
}


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused_with_the_file(text: str) -> None:
    with pytest.raises(Unsupported) as caught:
        objects(a=text)

    assert "a.yaml" in caught.value.message
    assert REFUSED[text] in caught.value.message


def test_a_generate_name_beside_a_name_does_no_harm() -> None:
    (found,) = objects(a="apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, generateName: b-}\n")

    assert str(found) == "Job.batch default/a"


def test_one_object_twice_names_both_files_and_counts_the_default_namespace() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twin%s}\n"

    with pytest.raises(Unsupported) as caught:
        objects(upper=text % "", lower=text % ", namespace: default")

    assert "ConfigMap default/twin is in the render twice" in caught.value.message
    assert "upper.yaml" in caught.value.message
    assert "lower.yaml" in caught.value.message


def test_the_version_is_no_part_of_the_identity() -> None:
    text = "apiVersion: apps/%s\nkind: Deployment\nmetadata: {name: web, namespace: a}\n"

    with pytest.raises(Unsupported, match=r"Deployment\.apps a/web is in the render twice"):
        objects(a=text % "v1", b=text % "v1beta1")


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"surrogate"):
        objects(
            a_json=r'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "\ud800"}}'
        )
