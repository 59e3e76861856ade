"""renderRef: the same objects give the same ref, Secret values only through the installation's key (D40)."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from convoy.api.objects import key_of
from convoy.api.rendered import Render, RenderedObject
from convoy.render.ref import render_ref
from tests.unit.render.reading import objects

KEY = b"k" * 32
TREES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def rendered(spec: Any, kind: str = "ConfigMap", origin: str = "a.yaml") -> RenderedObject:
    manifest = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "b"}, "data": spec}
    return RenderedObject(key_of(manifest), "v1", 0, manifest, origin)


def shuffled(tree: Any, seed: random.Random) -> Any:
    if isinstance(tree, dict):
        pairs = [(key, shuffled(value, seed)) for key, value in tree.items()]
        seed.shuffle(pairs)
        return dict(pairs)
    return [shuffled(item, seed) for item in tree] if isinstance(tree, list) else tree


@given(TREES, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_the_files_have_no_say(tree: Any, seed: random.Random) -> None:
    assert render_ref([rendered(tree)], key=KEY) == render_ref(
        [rendered(shuffled(tree, seed), origin="b")], key=KEY
    )


@given(TREES)
def test_a_render_is_the_same_after_the_store(tree: Any) -> None:
    objects = (rendered(tree), rendered(tree, "Secret"))
    render = Render(render_ref(objects, key=KEY), "main@sha1:ab", objects)

    back = Render.decode(render.encode())

    assert back == render
    assert render_ref(back.objects, key=KEY) == render.ref


@given(TREES, TREES)
def test_other_objects_have_another_ref(one: Any, other: Any) -> None:
    equal = rendered(one).manifest == rendered(other).manifest and repr(one) == repr(other)

    if not equal and one != other:
        assert render_ref([rendered(one)], key=KEY) != render_ref([rendered(other)], key=KEY)


def test_the_order_of_objects_counts() -> None:
    one, other = rendered({"a": 1}), rendered({"a": 2})

    assert render_ref([one, other], key=KEY) != render_ref([other, one], key=KEY)


def test_a_secret_goes_through_the_key_and_other_kinds_do_not() -> None:
    other_key = b"o" * 32

    assert render_ref([rendered("x")], key=KEY) == render_ref([rendered("x")], key=other_key)
    secret = [rendered({"pw": "eA=="}, "Secret")]
    assert render_ref(secret, key=KEY) != render_ref(secret, key=other_key)
    assert render_ref(secret, key=KEY) != render_ref([rendered({"pw": "eQ=="}, "Secret")], key=KEY)


def test_yaml_and_json_of_the_same_objects_have_the_same_ref() -> None:
    yaml = objects(a="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 0x10, f: 1.0}\n")
    json = objects(
        b_json='{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"f":1,"a":16}}'
    )

    assert render_ref(yaml, key=KEY) == render_ref(json, key=KEY)
