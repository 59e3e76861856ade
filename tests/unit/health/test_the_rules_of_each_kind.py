"""The health of one live object, kind by kind (D26)."""

from __future__ import annotations

import pytest

from convoy.api.objects import key_of
from convoy.health.builtin import RULES
from convoy.health.judge import judge
from tests.unit.health.objects import CASES, Case

LATE = frozenset({"late"})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_object_in_a_state_has_this_health(case: Case) -> None:
    found = judge(key_of(case.tree), case.tree, late_classes=LATE)
    assert found.phase == case.phase, found.message
    assert case.says in found.message
    assert bool(case.says) == bool(found.message)


def test_an_object_that_is_gone_is_degraded() -> None:
    found = judge(key_of(CASES[0].tree), None)
    assert (found.phase, found.message) == ("Degraded", "does not exist")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("junk", [None, [], "text", 7, {"conditions": "text"}, {"conditions": [None, 1, {}]}])
def test_no_status_whatever_its_shape_raises(case: Case, junk: object) -> None:
    judge(key_of(case.tree), {**case.tree, "status": junk, "spec": junk}, late_classes=LATE)


def test_every_kind_with_a_rule_is_in_the_table() -> None:
    tested = {(key_of(case.tree).group, key_of(case.tree).kind) for case in CASES}
    assert set(RULES) <= tested
