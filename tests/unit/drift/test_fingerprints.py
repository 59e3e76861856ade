"""Values of a Secret leave the compare as keyed fingerprints only (D40)."""

from typing import Any

import pytest

from convoy.api.objects import ObjectKey
from convoy.drift.changes import ABSENT, FieldChange
from convoy.drift.fingerprints import LAST_APPLIED, fingerprint, hide_secret_values, without_secret_values

KEY = b"k" * 32
SECRET = ObjectKey("", "Secret", "demo", "locker")


def hidden(pointer: str, live: Any, desired: Any, *, subject: ObjectKey = SECRET) -> FieldChange:
    (change,) = without_secret_values((FieldChange(pointer, live, desired),), subject=subject, key=KEY)
    return change


def test_equal_values_have_equal_fingerprints_and_others_do_not() -> None:
    assert fingerprint(KEY, "cXVpbmNl") == fingerprint(KEY, "cXVpbmNl")
    assert fingerprint(KEY, "cXVpbmNl") != fingerprint(KEY, "cXVpbmNm")


def test_another_installation_has_other_fingerprints() -> None:
    assert fingerprint(KEY, "a") != fingerprint(b"x" * 32, "a")


@pytest.mark.parametrize("pointer", ["/data/a", "/stringData/a", "/data/a~1b"])
def test_a_value_is_replaced_on_both_sides(pointer: str) -> None:
    change = hidden(pointer, "quince", "pear")
    assert (change.live, change.desired) == (fingerprint(KEY, "quince"), fingerprint(KEY, "pear"))


def test_an_absent_side_stays_absent() -> None:
    change = hidden("/data/a", ABSENT, "pear")
    assert change.live is ABSENT


def test_a_misspelt_field_of_a_secret_is_hidden() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringdata": {"pw": "quince"}}
    assert "quince" not in str(hide_secret_values(secret, key=KEY))
    assert hidden("/stringdata/pw", "quince", ABSENT).live == fingerprint(KEY, "quince")


def test_a_whole_map_keeps_its_names_and_hides_its_values() -> None:
    assert hidden("/data", {"a": "quince"}, ABSENT).live == {"a": fingerprint(KEY, "quince")}


@pytest.mark.parametrize("value", [7043318862, ["quince"], {"deep": "quince"}, None])
def test_a_value_of_any_type_is_hidden(value: Any) -> None:
    assert hidden("/data/a", value, ABSENT).live == fingerprint(KEY, value)
    assert hidden("/data", value, {}).live != value


def test_the_annotation_in_which_kubectl_keeps_the_whole_object_is_hidden() -> None:
    pointer = "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"
    assert hidden(pointer, "{quince}", ABSENT).live == fingerprint(KEY, "{quince}")
    annotations = hidden("/metadata/annotations", {LAST_APPLIED: "{quince}", "note": "hand"}, ABSENT).live
    assert annotations == {LAST_APPLIED: fingerprint(KEY, "{quince}"), "note": "hand"}


def test_labels_and_type_of_a_secret_stay_readable() -> None:
    assert hidden("/metadata/labels/a", "x", "y").live == "x"
    assert hidden("/type", "Opaque", "other").live == "Opaque"


@pytest.mark.parametrize(
    "subject", [ObjectKey("", "ConfigMap", "a", "b"), ObjectKey("x.org", "Secret", "a", "b")]
)
def test_other_kinds_stay_readable(subject: ObjectKey) -> None:
    assert hidden("/data/a", "plum", "fig", subject=subject).live == "plum"
