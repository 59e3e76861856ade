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
    assert report.message.startswith("The render sha256:bbbbbbbbbbbb waits for /sync. ")
    assert "The applied render is sha256:aaaaaaaaaaaa." in report.message
    assert report.message.endswith("kubectl convoy release sync web -n team")


def test_a_rollback_waits_for_sync_like_any_other_render_and_the_message_says_what_it_is() -> None:
    rollout = {"phase": "RolledBack", "renderRef": REF, "lastHealthyRenderRef": OTHER_REF}
    report = decide_manual(release(status=APPLIED_BEFORE | {"rollout": rollout}), render_ref=OTHER_REF)
    assert report is not None
    assert report.reason == "WaitingForSync"
    assert report.message == (
        "The render sha256:bbbbbbbbbbbb waits for /sync. "
        "It is the last healthy one, and takes the place of sha256:aaaaaaaaaaaa, which failed. "
        "The applied render is sha256:aaaaaaaaaaaa. To apply it: kubectl convoy release sync web -n team"
    )


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


def test_what_is_applied_and_has_postsync_hooks_running_is_no_news_that_waits_for_sync() -> None:
    status = APPLIED_BEFORE | {"unrecorded": {"renderRef": OTHER_REF}}
    report = decide_manual(release(status=status), render_ref=OTHER_REF)
    assert report is not None
    assert (report.status, report.reason) == ("True", "Applied")


def test_in_manual_mode_a_pending_request_applies_an_equal_render_too() -> None:
    assert (
        decide_manual(release(requested=AT, status={"lastSuccessful": {"renderRef": REF}}), render_ref=REF)
        is None
    )


def test_a_force_annotation_alone_is_no_sync_request() -> None:
    assert decide_manual(release(forced=AT), render_ref=REF) is not None


def test_a_request_that_is_earlier_than_the_latest_one_is_none_and_the_message_says_so() -> None:
    earlier = "2026-01-02T03:00:00Z"
    report = decide_manual(release(requested=earlier, status=APPLIED_BEFORE), render_ref=REF)
    assert report is not None
    assert (report.status, report.reason) == ("True", "Applied")
    assert report.message.endswith(
        f" The annotation convoy.kumodo.io/sync-requested-at is {earlier}, which is before the latest request "
        f"({AT}), and counts as none."
    )
    handled = decide_manual(release(requested=AT, status=APPLIED_BEFORE), render_ref=REF)
    assert handled is not None
    assert "annotation" not in handled.message


def test_a_forced_request_that_is_earlier_than_the_latest_one_is_told_too() -> None:
    status = APPLIED_BEFORE | {"lastHandledForceSyncAt": AT}
    report = decide_manual(release(forced="2026-01-02T03:00:00Z", status=status), render_ref=REF)
    assert report is not None
    assert "sync-force-requested-at is 2026-01-02T03:00:00Z, which is before" in report.message


def test_an_annotation_that_is_no_time_is_reported_beside_the_result() -> None:
    report = decide_manual(release(requested="tomorrow", status=APPLIED_BEFORE), render_ref=REF)
    assert report is not None
    assert (report.status, report.reason) == ("True", "Applied")
    assert report.message.startswith("The Release is in sync; the apply waits for /sync. ")
    assert "convoy.kumodo.io/sync-requested-at is no RFC 3339 time" in report.message
    assert "'tomorrow'" in report.message
