"""No value of a Secret is in a change or in an error; that it changed still shows (D40)."""

import base64

import pytest

from convoy.api.objects import Manifest
from convoy.drift.fingerprints import fingerprint
from convoy.kube.errors import Rejected
from tests.kube.drift.rig import KEY, Rig


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(rig: Rig, **data: object) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "locker", "namespace": rig.namespace},
        "data": data,
    }


async def test_a_changed_value_shows_as_two_fingerprints(rig: Rig) -> None:
    manifest = secret(rig, left=encoded("quince"))
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": {"left": encoded("pear")}})
    found = await rig.compare(manifest)
    (change,) = found.changes
    assert change.pointer == "/data/left"
    assert change.live == fingerprint(KEY, encoded("pear"))
    assert change.desired == fingerprint(KEY, encoded("quince"))
    for text in ("quince", "pear", encoded("quince"), encoded("pear")):
        assert text not in repr(found.tree())


async def test_a_whole_map_that_is_gone_shows_as_fingerprints(rig: Rig) -> None:
    manifest = secret(rig, left=encoded("quince"))
    await rig.apply(manifest)
    await rig.edit(manifest, {"data": None})
    found = await rig.compare(manifest)
    assert [change.pointer for change in found.changes] == ["/data"]
    assert encoded("quince") not in repr(found.tree())


async def test_a_rejected_value_is_not_in_the_error(rig: Rig) -> None:
    await rig.apply(secret(rig, pin=encoded("pear")))
    with pytest.raises(Rejected) as refused:
        await rig.compare(secret(rig, pin=7043318862))
    assert "7043318862" not in str(refused.value)
    assert "pin" in str(refused.value)
