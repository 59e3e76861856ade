"""The hash by which a change of the spec is seen."""

from __future__ import annotations

from convoy.api.spec_hash import spec_hash
from tests.unit.api import full


def test_the_order_of_keys_does_not_count() -> None:
    release = full.release()
    turned = release | {"spec": dict(reversed(release["spec"].items()))}
    assert spec_hash(turned) == spec_hash(release)


def test_the_order_of_a_list_counts() -> None:
    release = full.release()
    turned = release | {"spec": release["spec"] | {"syncWaves": release["spec"]["syncWaves"][::-1]}}
    assert spec_hash(turned) != spec_hash(release)


def test_mutations_lifecycle_pin_metadata_and_status_do_not_count() -> None:
    release = full.release()
    changed = release | {"mutations": [], "lifecycle": {}, "pin": None, "metadata": {}, "status": {"a": 1}}
    assert spec_hash(changed) == spec_hash(release)


def test_a_field_that_this_version_does_not_know_counts() -> None:
    release = full.release()
    assert spec_hash(release | {"spec": release["spec"] | {"later": True}}) != spec_hash(release)
