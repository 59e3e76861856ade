"""What the watcher makes of a Release: the request that Sync gets, and the clock that a Drift starts with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from convoy.api.names import ABANDON
from convoy.policy.trigger import Trigger
from tests.unit.policy.releases import AT, tree
from watcher.views import view_release
from watcher.watcher import request_of


def deletion(**annotations: str) -> str:
    going = tree()
    going["metadata"] |= {"deletionTimestamp": AT, "annotations": annotations}
    return request_of(view_release(going), Trigger.DELETED).id


def test_the_same_deletion_is_one_request() -> None:
    assert deletion() == deletion()


def test_giving_up_on_the_target_while_the_teardown_runs_is_another_request() -> None:
    assert deletion(**{ABANDON: "true"}) not in ("", deletion())


@pytest.mark.parametrize(
    ("policy", "interval"),
    [
        ({"interval": "90s"}, timedelta(seconds=90)),
        ({}, None),
        ({"interval": "0s"}, timedelta()),
        ({"interval": "soon"}, None),
        ({"interval": 7}, None),
    ],
    ids=str,
)
def test_it_knows_the_interval_also_of_a_release_that_is_not_valid(
    policy: dict[str, Any], interval: timedelta | None
) -> None:
    assert view_release(tree(syncPolicy=policy)).interval == interval
