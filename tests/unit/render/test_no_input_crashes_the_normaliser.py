"""Bad input gives Unsupported and nothing else, whatever stands where."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from convoy.api.errors import Unsupported
from convoy.api.names import SYNC_WAVE
from convoy.render.ref import render_ref
from tests.unit.render.reading import objects

VALID: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "a", "namespace": "b", "generateName": "a", "annotations": {SYNC_WAVE: "1"}},
    "spec": {"group": "e.org", "scope": "Cluster", "names": {"kind": "Foo"}},
    "data": {"a": "eA=="},
    "stringData": {"a": "x"},
    "items": [{"metadata": {"name": "a"}}],
    "aggregationRule": {},
}
KINDS = ["v1 Secret", "v1 List", "v1 SecretList", "apiextensions.k8s.io/v1 CustomResourceDefinition"]
PLACES = [
    *((name,) for name in VALID),
    *(("metadata", name) for name in VALID["metadata"]),
    *(("spec", name) for name in VALID["spec"]),
    ("metadata", "annotations", SYNC_WAVE),
    ("spec", "names", "kind"),
    ("data", "a"),
    ("stringData", "a"),
]
ODD: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, False, 0, 1.5, "", "a", "..", "a/b", "List", "\ud800", "é"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "name", "items"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def changed(kind: str, changes: list[tuple[tuple[str, ...], Any]]) -> Any:
    tree = copy.deepcopy(VALID)
    tree["apiVersion"], _, tree["kind"] = kind.partition(" ")
    for place, value in changes:
        at: Any = tree
        for name in place[:-1]:
            at = at.get(name) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at[place[-1]] = value
    return tree


@settings(max_examples=1000)
@given(st.sampled_from(KINDS), st.lists(st.tuples(st.sampled_from(PLACES), ODD), max_size=2))
def test_odd_objects(kind: str, changes: list[tuple[tuple[str, ...], Any]]) -> None:
    with suppress(Unsupported):
        found = objects(allow_empty=True, a_json=json.dumps(changed(kind, changes)))
        assert render_ref(found, key=b"k" * 32).startswith("sha256:")


@given(st.text(alphabet="abk:-[]{}&*!|>'\"\n #?,%@~<0", max_size=40))
def test_odd_yaml(text: str) -> None:
    with suppress(Unsupported):
        objects(allow_empty=True, a=text)
