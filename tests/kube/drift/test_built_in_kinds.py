"""No false positive and no false negative, kind by kind (`kinds.yaml`).

Each object is applied and in sync; somebody changes one field and exactly that one shows; the next apply heals it.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from convoy.api.objects import Manifest, key_of
from convoy.drift.results import DriftStatus
from tests.kube.drift.rig import Rig, pointers

TEXT = Path(__file__).with_name("kinds.yaml").read_text()
KINDS: list[dict[str, Any]] = list(yaml.safe_load_all(TEXT))


def own(tree: Any, rig: Rig) -> Any:
    """Return the tree with the names of this run."""
    if isinstance(tree, dict):
        return {name: own(value, rig) for name, value in tree.items()}
    if isinstance(tree, list):
        return [own(value, rig) for value in tree]
    return tree.replace("$NS", rig.namespace).replace("$ID", rig.id) if isinstance(tree, str) else tree


@pytest.mark.parametrize("case", KINDS, ids=lambda case: str(key_of(case["object"])).replace(" ", "-"))
async def test_only_what_somebody_changed_is_drift(rig: Rig, case: dict[str, Any]) -> None:
    manifest: Manifest = own(case["object"], rig)
    await rig.apply(manifest)
    try:
        assert pointers(await rig.compare(manifest)) == []

        await rig.edit(manifest, own(case["patch"], rig), kind="json", manager="somebody")
        (change,) = (await rig.compare(manifest)).changes
        assert change.pointer == case["pointer"]
        assert change.owner is not None
        assert change.owner.manager == "somebody"

        await rig.apply(manifest)
        assert (await rig.compare(manifest)).status is DriftStatus.IN_SYNC
    finally:
        await rig.delete(manifest)
