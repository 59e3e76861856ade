"""References to objects: `Kind[.group] [namespace/]name`."""

from __future__ import annotations

import pytest

from convoy.api.objects import ObjectKey
from tests.e2e.runner.reference import BadReference, parse_kind, parse_reference


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("ConfigMap team/box", ObjectKey("", "ConfigMap", "team", "box")),
        ("Deployment.apps team/web", ObjectKey("apps", "Deployment", "team", "web")),
        ("Namespace team", ObjectKey("", "Namespace", "", "team")),
        (
            "ClusterRole.rbac.authorization.k8s.io system:a reader",
            ObjectKey("rbac.authorization.k8s.io", "ClusterRole", "", "system:a reader"),
        ),
        ("Event team/harvest.1", ObjectKey("", "Event", "team", "harvest.1")),
        ("Odd.example.org team/a/b", ObjectKey("example.org", "Odd", "team", "a/b")),
    ],
)
def test_a_reference_is_split_at_its_first_space_and_its_first_slash(text: str, key: ObjectKey) -> None:
    assert parse_reference(text) == key


@pytest.mark.parametrize("text", ["", "ConfigMap", "ConfigMap ", "ConfigMap team/", "ConfigMap /box", " box"])
def test_a_text_that_names_no_object_is_refused_showing_it(text: str) -> None:
    with pytest.raises(BadReference) as raised:
        parse_reference(text)

    assert text in str(raised.value)


def test_a_kind_of_the_core_group_has_no_group() -> None:
    assert parse_kind("ConfigMap") == ("", "ConfigMap")
    assert parse_kind("Job.batch") == ("batch", "Job")
