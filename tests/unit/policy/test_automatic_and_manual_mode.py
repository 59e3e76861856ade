"""reference/sync-policy, Automatic and manual mode."""

from __future__ import annotations

from convoy.policy.decide import decide_manual
from tests.unit.policy.releases import AT, OTHER_REF, REF, release

APPLIED_BEFORE = {"lastSuccessful": {"renderRef": REF}, "lastHandledSyncAt": AT}


def test_if_you_do_not_set_automatic_the_release_uses_manual_mode() -> None:
    report = decide_manual(release(automatic=None), render_ref=REF)
    assert report is not None
    assert report.reason == "WaitingForSync"


def test_automatic_false_is_manual_mode() -> None:
    assert decide_manual(release(automatic=False), render_ref=REF) is not None


def test_in_automatic_mode_convoy_applies_at_each_reconcile_also_when_nothing_changed() -> None:
    assert decide_manual(release(automatic=True, status=APPLIED_BEFORE), render_ref=REF) is None


def test_equal_is_applied_and_the_message_says_in_sync_and_that_the_apply_waits_for_sync() -> None:
    report = decide_manual(release(status=APPLIED_BEFORE), render_ref=REF)
    assert report is not None
    assert (report.status, report.reason) == ("True", "Applied")
    assert report.message == "The Release is in sync; the apply waits for /sync."


def test_different_is_waiting_for_sync_and_the_message_says_how_to_sync() -> None:
    report = decide_manual(release(status=APPLIED_BEFORE), render_ref=OTHER_REF)
    assert report is not None
    assert (report.status, report.reason) == ("False", "WaitingForSync")
    assert OTHER_REF in report.message
    assert f"The applied render is {REF}." in report.message
    assert report.message.endswith("kubectl convoy release sync web -n team")


def test_no_render_applied_yet_is_waiting_for_sync() -> None:
    report = decide_manual(release(), render_ref=REF)
    assert report is not None
    assert (report.status, report.reason) == ("False", "WaitingForSync")
    assert "No render is applied yet." in report.message


def test_convoy_compares_with_the_last_successful_render_and_not_with_the_last_attempted() -> None:
    status = APPLIED_BEFORE | {"lastAttempted": {"renderRef": OTHER_REF, "reason": "DeployFailed"}}
    report = decide_manual(release(status=status), render_ref=OTHER_REF)
    assert report is not None
    assert report.reason == "WaitingForSync"


def test_in_manual_mode_a_pending_request_applies_an_equal_render_too() -> None:
    assert (
        decide_manual(release(requested=AT, status={"lastSuccessful": {"renderRef": REF}}), render_ref=REF)
        is None
    )


def test_a_force_annotation_alone_is_no_sync_request() -> None:
    assert decide_manual(release(forced=AT), render_ref=REF) is not None


def test_an_annotation_that_is_no_time_is_reported_beside_the_result() -> None:
    report = decide_manual(release(requested="tomorrow", status=APPLIED_BEFORE), render_ref=REF)
    assert report is not None
    assert (report.status, report.reason) == ("True", "Applied")
    assert report.message.startswith("The Release is in sync; the apply waits for /sync. ")
    assert "convoy.kumodo.io/sync-requested-at is no RFC 3339 time" in report.message
    assert "'tomorrow'" in report.message
